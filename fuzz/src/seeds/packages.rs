//! Packages of each format, each with a small program inside.

use std::io::{Cursor, Write};

use flate2::write::GzEncoder;

/// A file for each container and form of compression, and for some of them nested in each other.
///
/// # Panics
/// Panics if a container cannot be written, which does not happen in memory.
#[must_use]
pub fn packages(program: &[u8]) -> Vec<Vec<u8>> {
    let tar = tar(&[("usr/lib/libfoo.so", program)]);
    let archive = archive(&[("foo.o/", program)]);
    let cpio = cpio(&[("./usr/bin/foo", program), ("TRAILER!!!", b"")]);
    let deb = |data: (&str, Vec<u8>)| {
        let control = gzip(&self::tar(&[("./control", b"Package: foo\n")]));
        let members = [("debian-binary", b"2.0\n".to_vec()), ("control.tar.gz", control), data];
        self::archive(&members.each_ref().map(|(name, bytes)| (*name, &**bytes)))
    };
    let zip_deflated = zip(program, ::zip::CompressionMethod::Deflated);
    vec![
        gzip(program),
        xz(program),
        zstd(program),
        bzip2(program),
        tar.clone(),
        gzip(&tar),
        xz(&tar),
        zstd(&tar),
        bzip2(&tar),
        deb(("data.tar.xz", xz(&tar))),
        deb(("data.tar.zst", zstd(&tar))),
        deb(("data.tar", tar.clone())),
        cpio.clone(),
        rpm(&cpio),
        rpm(&zstd(&cpio)),
        rpm(&gzip(&cpio)),
        zip(program, ::zip::CompressionMethod::Stored),
        zip_deflated.clone(),
        self::tar(&[("lib/libfoo.a", &archive), ("foo.whl", &zip_deflated)]),
        gzip(&gzip(&gzip(&tar))),
        // Version 3, which is refused by name.
        b"ADB.0000".to_vec(),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("disk space")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("disk space")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(bytes, 3).expect("disk space")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("disk space")
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = ::tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = ::tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).expect("disk space");
    }
    builder.into_inner().expect("disk space")
}

fn zip(program: &[u8], method: ::zip::CompressionMethod) -> Vec<u8> {
    let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = ::zip::write::SimpleFileOptions::default().compression_method(method);
    writer.start_file("foo/_native.so", options).expect("disk space");
    writer.write_all(program).expect("disk space");
    writer.finish().expect("disk space").into_inner()
}

/// ar(5): a header of 60 bytes of text for each member, and an even number of bytes.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        archive
            .extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).bytes());
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    archive
}

/// cpio(5), the portable format: 13 fields of 8 hexadecimal digits, name and content, both padded to 4 bytes.
fn cpio(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes) in members {
        let fields = [1, 0o10_0755, 0, 0, 1, 0, bytes.len(), 0, 0, 0, 0, name.len() + 1, 0];
        archive.extend(b"070701");
        fields.iter().for_each(|field| archive.extend(format!("{field:08X}").bytes()));
        archive.extend(name.bytes());
        archive.push(0);
        archive.resize(archive.len().next_multiple_of(4), 0);
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
    archive
}

/// RPM's "Package Format V4": a lead, a header with signatures and one for the package, both empty.
fn rpm(payload: &[u8]) -> Vec<u8> {
    let mut package = vec![0xed, 0xab, 0xee, 0xdb, 3, 0];
    package.resize(96, 0);
    for _ in 0..2 {
        package.extend([0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    package.extend_from_slice(payload);
    package
}

#[cfg(test)]
mod tests {
    use super::packages;
    use sframe_input::archive;
    use sframe_input::package::{Content, Limits, Member, Unpacker};
    use std::io::{Seek, Write};

    #[test]
    fn every_package_contains_the_program() {
        let program = [b"\x7fELF".as_slice(), &[7; 100]].concat();
        let packages = packages(&program);
        let count = packages.len();
        for (number, package) in packages.into_iter().enumerate() {
            let mut file = tempfile::tempfile().expect("disk space");
            file.write_all(&package).and_then(|()| file.rewind()).expect("disk space");
            let mut found = 0;
            let unpacker = Unpacker::new(Limits::default());
            let ended = unpacker.visit(&file, &mut |member: Member<'_>| match member.content {
                Content::Elf(bytes) => found += u64::from(bytes == program),
                Content::Archive(members) => {
                    let same = |member: &archive::Member<'_>| matches!(member.content, archive::Content::Bytes(bytes) if bytes == program);
                    found += members.flatten().filter(same).count() as u64;
                }
                Content::Unreadable(why) => assert!(number + 1 == count, "{number}: {why}"),
                _ => {}
            });
            assert!(ended.is_ok(), "{ended:?}");
            // The program is in both the library and the wheel, but not in apk's package.
            let wanted = if number + 3 == count { 2 } else { u64::from(number + 1 < count) };
            assert_eq!(found, wanted, "{number}");
        }
    }
}
