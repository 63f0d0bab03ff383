//! Packages that are damaged, or made to cost: the reason is told, and what stands beside is still
//! checked.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::process::Command;

use packing::{Folder, Value, newc_member, rpm, rpm_with, tar_header, tar_sum};

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";

/// A folder with one program in it.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("hostile-{name}"));
    folder.copy(PROGRAM, "program");
    folder
}

/// Checks a package beside a sound file: the scan goes on, and is not complete. What was told of the
/// package.
fn refused(folder: &Folder, arguments: &[&str], package: &str) -> String {
    let (status, text) = folder.check(&[&["-v"], arguments, &[package, "program"]].concat());
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("\nprogram: .sframe V3"), "{text}");
    text
}

/// Every container this program knows, with one program in it.
fn each(folder: &Folder) -> Vec<&'static str> {
    let program = folder.read("program");
    let mut cpio = newc_member("program", 0o10_0755, 1, &program);
    cpio.extend(newc_member("TRAILER!!!", 0, 1, b""));
    folder.write("x.cpio", &cpio);
    folder.write("x.rpm", &rpm(&cpio));
    let mut made = vec!["x.cpio", "x.rpm"];
    let control =
        "Package: x\\nVersion: 1\\nArchitecture: amd64\\nMaintainer: x <x@y>\\nDescription: x\\n";
    let deb = format!(
        "mkdir -p d/DEBIAN && cp program d && printf '{control}' > d/DEBIAN/control \
         && dpkg-deb -Zxz -b d x.deb && rm -r d"
    );
    for (name, tool, command) in [
        ("x.tar", "tar", "tar -cf x.tar program"),
        ("x.gz", "gzip", "gzip -c x.tar > x.gz"),
        ("x.xz", "xz", "xz -c x.tar > x.xz"),
        ("x.zst", "zstd", "zstd -q -c x.tar > x.zst"),
        ("x.bz2", "bzip2", "bzip2 -c x.tar > x.bz2"),
        ("x.zip", "zip", "zip -q x.zip program"),
        ("x.deb", "dpkg-deb", &deb),
    ] {
        if folder.make(tool, command) {
            made.push(name);
        }
    }
    made
}

#[test]
fn truncated_packages_are_told() {
    let folder = folder("truncated");
    for name in each(&folder) {
        let bytes = folder.read(name);
        // The last kilobyte of a tar archive is its end, of which a part may be missing.
        let end = if name == "x.tar" { bytes.len() - 10_240 } else { bytes.len() - 1 };
        for length in
            [600, bytes.len() / 3, bytes.len() / 2, bytes.len() * 2 / 3, end.min(bytes.len() - 10)]
        {
            folder.write("cut", &bytes[..length]);
            let text = refused(&folder, &[], "cut");
            let told =
                text.lines().any(|line| line.starts_with("cut") && line.contains("cannot be read"));
            assert!(told, "{name}, {length} of {}: {text}", bytes.len());
        }
    }
}

/// No panic, no endless loop, and an exit status that says something.
#[test]
fn flipped_bytes_end_in_a_report() {
    let folder = folder("flipped");
    for name in each(&folder) {
        let bytes = folder.read(name);
        // Headers are at the start; of a zip, its table is at the end.
        let places =
            (0..700).step_by(23).chain((0..200).step_by(13).map(|back| bytes.len() - 1 - back));
        for (turn, place) in places.filter(|place| *place < bytes.len()).enumerate() {
            let mut damaged = bytes.clone();
            damaged[place] ^= [0xff, 0x01, 0x80][turn % 3];
            folder.write("damaged", &damaged);
            let (status, text) = folder.check(&["damaged", "program"]);
            assert!((0..=2).contains(&status), "{name} at {place}: {text}");
        }
    }
}

#[test]
fn ten_gigabytes_of_zeros_are_not_unpacked() {
    let folder = folder("bomb");
    // 64 MiB of zeros 160 times: gzip files behind each other are one.
    let command = "head -c 64M /dev/zero | gzip > zeros && for n in $(seq 160); do cat zeros; done > many && rm zeros";
    if !folder.make("gzip", command) {
        return;
    }
    folder.write("header", &tar_header("zeros", 0o777_7777_7777, b'0'));
    assert!(folder.make("gzip", "gzip -c header | cat - many > bomb"));
    let text = refused(&folder, &["--max-ratio", "10"], "bomb");
    assert!(
        text.contains("bomb: cannot be read: it unpacks to more than 10 times its size"),
        "{text}"
    );
    let text = refused(&folder, &["--max-unpacked-size", "100"], "bomb");
    assert!(text.contains("bomb: cannot be read: it unpacks to more than 100 MiB"), "{text}");
    // As a member of a sound package it ends that, and what stands before it has been checked.
    assert!(folder.make("tar", "tar -cf outer program bomb program"));
    let text = refused(&folder, &["--max-unpacked-size", "100"], "outer");
    assert!(text.contains("outer!program: .sframe V3"), "{text}");
    assert!(text.contains("outer: cannot be read: it unpacks to more than 100 MiB"), "{text}");
}

#[test]
fn compression_in_compression_has_an_end() {
    let folder = folder("deep");
    let command = "cp program x && for n in $(seq 30); do gzip -c x > y && mv y x; done";
    if folder.make("gzip", command) {
        let text = refused(&folder, &[], "x");
        assert!(text.contains("x: cannot be read: it is inside 12 other"), "{text}");
    }
}

#[test]
fn members_that_do_not_fit_are_left_out() {
    let folder = folder("large");
    assert!(
        folder.make("tar", "cp program large && truncate -s 3M large && tar -cf x large program")
    );
    let text = refused(&folder, &["--max-member-size", "2"], "x");
    assert!(text.contains("x!large: cannot be read: it is larger than 2 MiB"), "{text}");
    assert!(text.contains("x!program: .sframe V3"), "{text}");
}

#[test]
fn headers_of_tar_archives_are_not_believed() {
    let folder = folder("tar");
    let program = folder.read("program");
    let mut sound = tar_header("program", program.len() as u64, b'0');
    sound.extend(&program);
    sound.resize(sound.len().next_multiple_of(512), 0);

    let mut wrong_sum = tar_header("wrong", 0, b'0');
    wrong_sum[0] ^= 1;
    let endless = tar_header("endless", 0o777_7777_7777, b'0');
    // GNU tar's own number form: 2^64 - 1 bytes.
    let mut overflow = tar_header("overflow", 0, b'0');
    overflow[124..136].fill(0xff);
    tar_sum(&mut overflow);
    // A name of 8 GiB, of which no more than a header's worth is to be held.
    let mut long_name = tar_header("././@LongLink", 0o777_7777_7777, b'L');
    let mut extended = tar_header("pax", 0o777_7777_7777, b'x');
    long_name.resize(3 << 20, b'n');
    extended.resize(3 << 20, b'x');
    for (name, tail, reason) in [
        ("sum", wrong_sum, "checksum"),
        ("endless", endless, "ends 8589934591 bytes before the end of a member"),
        ("overflow", overflow, "cannot be read"),
        ("long", long_name, "headers of more than"),
        ("extended", extended, "headers of more than"),
    ] {
        folder.write(name, &[sound.as_slice(), &tail].concat());
        let text = refused(&folder, &[], name);
        assert!(text.contains(&format!("{name}!program: .sframe V3")), "{text}");
        let told = text.lines().any(|line| line.starts_with(name) && line.contains(reason));
        assert!(told, "no {reason} in {text}");
    }
}

#[test]
fn zip_members_that_share_bytes_count_each() {
    let folder = folder("overlap");
    if !folder.make("zip", "cp program large && truncate -s 4M large && zip -q one.zip large") {
        return;
    }
    let zip = folder.read("one.zip");
    // The table is between the signature of its one entry and that of the end record.
    let find = |signature: &[u8]| {
        zip.windows(4).rposition(|window| window == signature).expect("zip has written it")
    };
    let (table, end) = (find(b"PK\x01\x02"), find(b"PK\x05\x06"));
    let entries: u16 = 200;
    let mut overlapping = zip[..end].to_vec();
    for _ in 1..entries {
        overlapping.extend(&zip[table..end]);
    }
    let mut record = zip[end..].to_vec();
    record[8..10].copy_from_slice(&entries.to_le_bytes());
    record[10..12].copy_from_slice(&entries.to_le_bytes());
    let length = u32::try_from((end - table) * usize::from(entries)).expect("short");
    record[12..16].copy_from_slice(&length.to_le_bytes());
    overlapping.extend(record);
    folder.write("x", &overlapping);
    let text = refused(&folder, &["--max-unpacked-size", "100"], "x");
    // 25 times 4 MiB are not more: the 26th is, for nothing else counts.
    assert!(text.contains("it unpacks to more than 100 MiB"), "{text}");
    assert!(text.contains("read up to there: 26 members"), "{text}");
}

#[test]
fn a_sum_that_is_wrong_is_damage() {
    let folder = folder("sums");
    if folder.make("zip", "zip -q -0 x.zip program") {
        let mut zip = folder.read("x.zip");
        let place = zip.len() / 2;
        zip[place] ^= 1;
        folder.write("x.zip", &zip);
        assert!(refused(&folder, &[], "x.zip").contains("x.zip!program: cannot be read: zip data"));
    }
    if folder.make("gzip", "gzip -c program > x.gz") {
        let mut gzip = folder.read("x.gz");
        let place = gzip.len() - 8;
        gzip[place] ^= 1;
        folder.write("x.gz", &gzip);
        assert!(refused(&folder, &[], "x.gz").contains("x.gz: cannot be read: gzip data"));
    }
}

#[test]
fn sizes_in_debian_packages_are_not_believed() {
    let folder = folder("deb");
    let member = |name: &str, size: &str| format!("{name:<16}{:<32}{size:<10}`\n", "0");
    let binary = member("debian-binary", "4") + "2.0\n";
    for (name, tail, reason) in [
        ("number", member("data.tar", "many"), "a member's size is not a number"),
        ("beyond", member("_extra", "9999999999"), "it ends 9999999999 bytes before"),
        ("header", "no header".to_owned(), "a member has no header"),
        ("files", member("control.tar", "0"), "it has no data.tar"),
        ("tar", member("data.tar", "512") + &"x".repeat(512), "cannot be read"),
    ] {
        folder.write(name, format!("!<arch>\n{binary}{tail}").as_bytes());
        let text = refused(&folder, &[], name);
        let told = text.lines().any(|line| line.starts_with(name) && line.contains(reason));
        assert!(told, "no {reason} in {text}");
    }
}

/// POSIX: a type that is not known is a regular file's. GNU tar unpacks it as one, too.
#[test]
fn tar_members_of_unknown_types_are_files() {
    let folder = folder("types");
    let program = folder.read("program");
    for kind in [b'0', b'7', b'Z', b'!'] {
        let mut member = tar_header("odd", program.len() as u64, kind);
        member.extend(&program);
        member.resize(member.len().next_multiple_of(512) + 1024, 0);
        folder.write("x", &member);
        assert!(folder.make("tar", "tar -xf x 2> said && cmp odd program && rm odd"));
        let (status, text) = folder.check(&["-v", "x"]);
        assert!(status == 0 && text.contains("x!odd: .sframe V3"), "{}: {text}", char::from(kind));
    }
}

/// A mode says what a member is: one that says nothing is told.
#[test]
fn modes_that_are_none_are_told() {
    let folder = folder("modes");
    let program = folder.read("program");
    let mut cpio = Vec::new();
    for (name, mode) in
        [("none", 0o755), ("fifo", 0o1_0644), ("socket", 0o14_0644), ("last", 0o10_0755)]
    {
        let content = if matches!(name, "none" | "last") { program.as_slice() } else { b"" };
        cpio.extend(newc_member(name, mode, 1, content));
    }
    cpio.extend(newc_member("TRAILER!!!", 0, 1, b""));
    folder.write("x", &cpio);
    let text = refused(&folder, &[], "x");
    for told in [
        "x!none: cannot be read: its mode denotes no known type of file",
        "x!fifo: not checked, named pipe",
        "x!socket: not checked, socket",
        "x!last: .sframe V3",
    ] {
        assert!(text.contains(told), "no {told} in {text}");
    }
}

/// Names are held until all members have been checked: an RPM package's list may have one long name of a folder, which
/// each of many members has.
#[test]
fn names_have_an_end() {
    let folder = folder("long-names");
    let count = 40_000;
    let folder_name = format!("/{}/", "n".repeat(5_000));
    let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    let tags = [
        (1030, Value::Shorts(vec![0o10_0755; count])),
        (1116, Value::Words(vec![0; count])),
        (1117, Value::Texts(names)),
        (1118, Value::Texts(vec![folder_name])),
        (5008, Value::Longs(vec![0; count])),
    ];
    let mut archive = Vec::new();
    for number in 0..count {
        archive.extend(format!("07070X{number:08X}\0\0").bytes());
    }
    archive.extend(newc_member("TRAILER!!!", 0, 1, b""));
    folder.write("x", &rpm_with(&tags, &archive));
    let (status, text) = folder.check(&["x"]);
    // No more than 4096 bytes of a name are kept: 2^27 / 4096 = 32,768 of them fit.
    let reason = "the names in it take more than 128 MiB; read up to there: 32769 members";
    assert!(status == 2 && text.contains(reason), "{} bytes", text.len());
}

#[test]
fn sizes_in_rpm_and_cpio_headers_are_not_believed() {
    let folder = folder("rpm");
    let sound = newc_member("program", 0o10_0755, 1, &folder.read("program"));
    let mut long = newc_member("n", 0o10_0644, 1, b"");
    long[94..102].copy_from_slice(b"FFFFFFFF");
    let mut endless = newc_member("n", 0o10_0644, 1, b"");
    endless[54..62].copy_from_slice(b"FFFFFFFF");
    for (name, tail, reason) in [
        ("name", long, "a member's name is too long"),
        ("size", endless, "it ends 4294967295 bytes before"),
        ("magic", vec![b'x'; 200], "a member has no header"),
        ("nothing", Vec::new(), "a member has no header"),
    ] {
        folder.write(name, &rpm(&[sound.as_slice(), &tail].concat()));
        let text = refused(&folder, &[], name);
        assert!(text.contains(&format!("{name}!program: .sframe V3")), "{text}");
        assert!(text.contains(reason), "no {reason} in {text}");
    }
    let mut header = rpm(b"");
    header[96 + 8..96 + 16].fill(0xff);
    folder.write("header", &header);
    assert!(refused(&folder, &[], "header").contains("before the end of a member"));
    folder.write("large", &rpm(b"07070X00000000"));
    assert!(refused(&folder, &[], "large").contains("neither its header nor its archive"));
}

/// A package of 512 MiB passes through 300 MiB of address space.
#[test]
fn memory_is_that_of_the_largest_member() {
    let folder = folder("memory");
    let command = "for n in $(seq 64); do cp program $n && truncate -s 8M $n; done && tar -c [0-9]* | gzip -1 > x \
                   && rm [0-9]*";
    if !folder.make("gzip", command) {
        return;
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 307200 && exec \"$0\" --threads 1 x"])
        .arg(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(folder.path(""))
        .output()
        .expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("64 files checked, 64 with an SFrame section"), "{output:?}");
}
