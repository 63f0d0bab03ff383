//! Packages, archives and compressed files, nested in each other. Nothing panics, and sizes that a package states do
//! not determine the cost of reading it.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Seek, Write};

use sframe_input::archive;
use sframe_input::package::{Content, Limits, Member, Remedies, Unpacker};
use sframe_validator::elf::Elf;

/// A thousandth of the program's limits, so that an input takes a fraction of a second.
const LIMITS: Limits = Limits {
    member_size: 1 << 20,
    held: u64::MAX,
    unpacked_size: 8 << 20,
    ratio: 500,
    remedies: Remedies::NONE,
    depth: 6,
    members: 1_000,
};
/// No longer name or header is kept in memory.
const NAME: usize = 1 << 20;

thread_local! {
    static ROOM: RefCell<Option<File>> = const { RefCell::new(None) };
}

/// Visits everything in an input, and checks the files that are returned.
///
/// # Panics
/// Panics if [`Unpacker::visit`] violates a guarantee, or if there is no space for a file.
pub fn run(data: &[u8]) {
    ROOM.with_borrow_mut(|room| {
        let mut file = match room {
            Some(file) => &*file,
            None => room.insert(tempfile::tempfile().expect("disk space")),
        };
        file.set_len(0).and_then(|()| file.rewind()).expect("our own file");
        file.write_all(data).and_then(|()| file.rewind()).expect("disk space");
        judge(file, data);
    });
}

fn judge(file: &File, data: &[u8]) {
    let (mut members, mut held) = (0, 0);
    let ended = Unpacker::new(LIMITS).visit(file, &mut |member: Member<'_>| {
        members += 1;
        let name = member.name.unwrap_or_default();
        assert!(name.len() <= NAME * LIMITS.depth as usize, "a name of {} bytes", name.len());
        match member.content {
            Content::Elf(bytes) => {
                assert!(Elf::is_elf(bytes));
                held += bytes.len() as u64;
                assert!(bytes.len() as u64 <= LIMITS.member_size);
            }
            Content::Archive(archive) => {
                let bytes = archive.data();
                assert!(archive::is_archive(bytes));
                held += bytes.len() as u64;
                members += archive.count() as u64;
                assert!(bytes.len() as u64 <= LIMITS.member_size);
            }
            Content::Unreadable(reason) => assert!(!reason.is_empty()),
            Content::LinuxImage | Content::Other | Content::Empty | Content::Special(_) => {}
        }
    });
    // Every listed member, and in addition one for each damaged container.
    assert!(members <= 2 * LIMITS.members + 1, "{members} members");
    // Bytes that are not the output of a decompressor are in the input itself, once for each container around them.
    let stored = data.len() as u64 * u64::from(LIMITS.depth);
    assert!(held <= LIMITS.unpacked_size + stored, "{held} bytes held");
    assert!(ended.is_ok() || !data.is_empty(), "{ended:?} of nothing");
}
