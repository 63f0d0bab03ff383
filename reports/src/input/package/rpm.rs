//! RPM packages: a lead, two headers, and a compressed cpio archive (RPM's "Package Format V4").

use std::io::Read;

use super::stream::{Part, fill};
use super::{Failure, Place, Visit, compression, cpio, damaged};
use crate::input::kind::{Compression, HEAD};

/// The lead's size.
const LEAD: u64 = 96;
/// Magic number and version of a header.
const HEADER: [u8; 4] = [0x8e, 0xad, 0xe8, 1];
/// Of an index entry.
const INDEX_ENTRY: u64 = 16;

pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    Part::new(stream, LEAD).skip()?;
    let signature = header(stream)?;
    // The signatures' end, and nothing else, is padded to 8 bytes.
    Part::new(stream, signature.next_multiple_of(8) - signature).skip()?;
    header(stream)?;
    payload(visit, place, stream)
}

/// Skips a header; its size.
fn header(stream: &mut dyn Read) -> Result<u64, Failure> {
    let mut intro = [0; 16];
    fill(stream, &mut intro)?;
    if !intro.starts_with(&HEADER) {
        return Err(damaged("it has no header where one has to be"));
    }
    let field = |place: usize| {
        let bytes = intro.get(place..).and_then(|rest| rest.first_chunk().copied());
        u64::from(u32::from_be_bytes(bytes.unwrap_or_default()))
    };
    let content = INDEX_ENTRY * field(8) + field(12);
    Part::new(stream, content).skip()?;
    Ok(intro.len() as u64 + content)
}

/// The archive of the package's files.
fn payload(visit: &mut Visit<'_>, place: &Place, stream: &mut dyn Read) -> Result<(), Failure> {
    let mut head = [0; HEAD];
    let head = fill(stream, &mut head)?;
    let compression = Compression::of(head);
    let mut stream = head.chain(stream);
    let Some(compression) = compression else { return files(visit, place, &mut stream) };
    let mut stream = compression::decoder(compression, &mut stream, visit.meter)?;
    files(visit, place, &mut stream)
}

fn files(visit: &mut Visit<'_>, place: &Place, stream: &mut dyn Read) -> Result<(), Failure> {
    let mut magic = [0; 6];
    let magic = fill(stream, &mut magic)?;
    match magic {
        b"070701" | b"070702" => cpio::visit(visit, place, &mut magic.chain(stream)),
        // Names and sizes are in the header then: for files of 4 GiB and more.
        b"07070X" => Err(damaged("its files are in the form for those of 4 GiB and more")),
        // A package may be without files.
        b"" => Ok(()),
        _ => Err(damaged("its files are in no known form")),
    }
}
