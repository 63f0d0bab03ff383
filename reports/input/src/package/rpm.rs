//! RPM packages: a lead, two headers, and a compressed cpio archive (RPM's "Package Format V4").

mod header;
mod stripped;

use std::io::Read;

use super::stream::{Part, fill};
use super::{Failure, Place, Visit, compression, cpio, damaged};
use header::{Header, Tag};
use stripped::Files;

/// The lead's size.
const LEAD: u64 = 96;

pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    Part::new(stream, LEAD).skip()?;
    let signature = Header::read(stream, std::mem::take(&mut visit.room))?;
    // Only the signature header is padded, to a multiple of 8 bytes.
    Part::new(stream, signature.size.next_multiple_of(8) - signature.size).skip()?;
    let header = Header::read(stream, signature.into_room())?;
    visit.enter(header.package());
    let large = header.value::<8>(Tag::LongFileSizes, 0).is_some();
    let files = if large {
        Some(Files::of(header, visit.limits.members)?)
    } else {
        visit.room = header.into_room();
        None
    };
    let meter = visit.meter;
    compression::opened(stream, meter, |stream| payload(visit, place, files.as_ref(), stream))
}

/// Visits the archive of the package's files.
fn payload(
    visit: &mut Visit<'_>,
    place: &Place,
    listed: Option<&Files>,
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    let mut magic = [0; 6];
    let magic = fill(stream, &mut magic)?;
    match (magic, listed) {
        (b"070701" | b"070702", _) => cpio::visit(visit, place, &mut magic.chain(stream)),
        (b"07070X", Some(files)) => files.visit(visit, place, &mut magic.chain(stream)),
        (b"07070X", None) => Err(damaged("neither its header nor its archive lists its files")),
        // A package may have no files.
        (b"", _) => Ok(()),
        _ => Err(damaged("its payload has an unknown format")),
    }
}
