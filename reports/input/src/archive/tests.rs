#![allow(clippy::indexing_slicing, reason = "tests: they may panic")]

use super::*;

/// A member (ar(5)): a header with name, date, owner, group, mode, size and end mark, and content padded to an even
/// size.
fn member(name: &str, size: usize, content: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes();
    bytes.extend(content);
    if !content.len().is_multiple_of(2) {
        bytes.push(b'\n');
    }
    bytes
}

fn stored(name: &str, content: &[u8]) -> Vec<u8> {
    member(name, content.len(), content)
}

fn archive(magic: &[u8], members: &[Vec<u8>]) -> Vec<u8> {
    [magic, &members.concat()].concat()
}

/// The name and bytes of each member, up to the first error.
fn read(data: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut count = MemberCount::default();
    let members = members(data, &mut count).map_while(Result::ok);
    let parts = members.map(|member| {
        let bytes = match member.content {
            Content::Bytes(bytes) => bytes.to_vec(),
            Content::File(path) => path.as_os_str().as_encoded_bytes().to_vec(),
            Content::Damaged(why) => why.to_string().into_bytes(),
        };
        (member.name.to_vec(), bytes)
    });
    parts.collect()
}

/// Like [`read`], but parsed by the `object` crate.
fn read_by_object(data: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let archive = object::read::archive::ArchiveFile::parse(data).expect("valid");
    let members = archive.members().map(|member| member.expect("valid"));
    let bytes = |member: &object::read::archive::ArchiveMember<'_>| match archive.is_thin() {
        true => member.name().to_vec(),
        false => member.data(data).expect("valid").to_vec(),
    };
    members.map(|member| (member.name().to_vec(), bytes(&member))).collect()
}

/// GNU names end with a slash, and long COFF names with a NUL. Long BSD names precede the content.
#[test]
fn members_match_the_object_crate() {
    let names = b"a long name with spaces.o/\nsub/folder/another.o/\n";
    let tail = [stored("x.o/", b"odd"), stored("spaces in.o/", b""), stored("plain.o", b"even")];
    let named = [&[stored("/0", b"first"), stored("/27", b"second")], &tail[..]].concat();
    let gnu = [&[stored("/", b"\0\0\0\0"), stored("//", names)], &named[..]].concat();
    let without_symbols = [&[stored("//", names)], &named[..]].concat();
    let gnu64 =
        [&[stored("/SYM64/", b"\0\0\0\0\0\0\0\0"), stored("//", names)], &named[..]].concat();
    let coff_names = b"a long name with spaces.o\0\0sub/folder/another.o\0";
    let coff =
        [&[stored("/", b"\0"), stored("/", b"\0"), stored("//", coff_names)], &named[..]].concat();
    let bsd = [
        &[
            stored("#1/20", b"__.SYMDEF SORTED\0\0\0\0table"),
            stored("#1/12", b"long.o\0\0\0\0\0\0bytes"),
        ],
        &tail[..],
    ]
    .concat();
    for members in [gnu, without_symbols, gnu64, coff, bsd, tail.to_vec(), Vec::new()] {
        let data = archive(b"!<arch>\n", &members);
        assert_eq!(read(&data), read_by_object(&data), "{}", data.escape_ascii());
    }
    let thin = [
        stored("/", b"\0\0\0\0"),
        stored("//", names),
        member("/0", 1000, b""),
        member("/27", 7, b""),
        member("x.o/", 3, b""),
    ];
    let thin = archive(b"!<thin>\n", &thin);
    assert_eq!(read(&thin), read_by_object(&thin));
}

/// Damage in a member affects only this member, but a damaged header ends the list of members.
#[test]
fn damage_is_reported_for_the_damaged_member() {
    let sound = stored("sound.o/", b"1234");
    let data =
        archive(b"!<arch>\n", &[stored("/99", b""), stored("#1/9", b"short"), sound.clone()]);
    let found = read(&data);
    assert_eq!(found[0], (b"/99".to_vec(), b"its name is not in the table of names".to_vec()));
    assert_eq!(found[1], (b"#1/9".to_vec(), b"its bytes end before its name does".to_vec()));
    assert_eq!(found[2], (b"sound.o".to_vec(), b"1234".to_vec()));
    let data = archive(b"!<arch>\n", &[sound, member("long.o/", 5000, b"1234")]);
    assert_eq!(
        read(&data)[1],
        (b"long.o".to_vec(), b"it extends past the end of the archive".to_vec())
    );
    let mut count = MemberCount::default();
    let data = archive(b"!<arch>\n", &[stored("a.o/", b""), vec![b' '; 60]]);
    let found: Vec<_> = members(&data, &mut count).collect();
    assert!(matches!(&found[..], [Ok(_), Err(why)] if *why == ArchiveError::NoHeader(0x44)));
}

/// 100,000 members share a name of one megabyte. Copying or searching it for each member would process 100 GB.
#[test]
fn a_long_name_shared_by_all_members_is_cheap() {
    let mut table = vec![b'a'; 1 << 20];
    table.extend(b"/\n");
    let mut data = archive(b"!<arch>\n", &[stored("//", &table)]);
    for _ in 0..100_000 {
        data.extend(stored("/0", b""));
    }
    let mut count = MemberCount::new(1_000_000, u64::MAX, "");
    let mut found = members(&data, &mut count);
    let of_table = data.as_ptr_range();
    assert!(found.by_ref().all(|member| {
        let name = member.expect("valid").name;
        name.len() == NAME && of_table.contains(&name.as_ptr())
    }));
    // The limit for names is 128 MiB, and each counts as 4096 bytes.
    assert_eq!(count.members(), (1 << 27) / 4096 + 1);
    assert_eq!(reached(&count).as_deref(), Some("the names in it take more than 128 MiB"));
    let mut count = MemberCount::new(1_000_000, 1 << 20, "a remedy");
    assert_eq!(members(&data, &mut count).count(), (1 << 20) / 4096);
    let reason = "the names in it take more than 1 MiB (a remedy)";
    assert_eq!(reached(&count).as_deref(), Some(reason));
}

fn reached(count: &MemberCount) -> Option<String> {
    count.reached().map(|limit| limit.to_string())
}

#[test]
fn members_end_at_the_limit() {
    let data = archive(b"!<arch>\n", &vec![stored("x/", b""); 11]);
    for (most, found, limit) in [(11, 11, None), (10, 10, Some("it has more than 10 members"))] {
        let mut count = MemberCount::new(most, u64::MAX, "");
        assert_eq!(members(&data, &mut count).count(), found);
        assert_eq!(reached(&count).as_deref(), limit);
    }
}

/// A truncated path would name a different file.
#[test]
fn a_thin_archive_never_opens_a_truncated_path() {
    let mut table = vec![b'a'; NAME];
    table.extend(b"b/\n");
    let data = archive(b"!<thin>\n", &[stored("//", &table), member("/0", 1, b"")]);
    assert_eq!(read(&data)[0].1, LONG_NAME.as_bytes());
}
