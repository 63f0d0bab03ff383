//! `cpio` archives in the portable formats `newc` and `crc`, which RPM packages and initial RAM disks use (cpio(5);
//! Linux, `Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::io::Read;

use super::mode::Mode;
use super::stream::{Part, drain, fill};
use super::{Content, Failure, HEADERS, Place, Stop, Visit, damaged, relative};
use crate::Special;

/// The magic number and 13 fields of 8 hexadecimal digits.
const HEADER: usize = 110;
const TRAILER: &[u8] = b"TRAILER!!!";

/// The relevant fields of a member header.
struct Header {
    mode: u32,
    links: u32,
    size: u32,
    name_size: u32,
}

pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    loop {
        let mut bytes = [0; HEADER];
        fill(stream, &mut bytes)?;
        let header = Header::parse(&bytes).ok_or_else(|| damaged("a member has no header"))?;
        if u64::from(header.name_size) > HEADERS {
            return Err(damaged("a member's name is too long"));
        }
        let mut name = Vec::new();
        Part::new(stream, header.name_size.into()).read_to_end(&mut name)?;
        pad(stream, HEADER as u64 + u64::from(header.name_size))?;
        let name = name.strip_suffix(b"\0").unwrap_or(&name);
        if name == TRAILER {
            return Ok(drain(stream)?);
        }
        let place = visit.member(place, relative(name))?;
        let mut part = Part::new(stream, header.size.into());
        match Mode::of(header.mode) {
            // If a file has several names, only the last one carries its bytes.
            Mode::Regular if header.links > 1 && header.size == 0 => {
                visit.report(&place, Content::Special(Special::StoredLink));
            }
            mode => member(visit, &place, mode, &mut part)?,
        }
        part.skip()?;
        pad(stream, header.size.into())?;
    }
}

/// Visits a member with the file type `mode`.
pub(super) fn member(
    visit: &mut Visit<'_>,
    place: &Place,
    mode: Mode,
    part: &mut Part<'_>,
) -> Result<(), Stop> {
    let content = match mode {
        Mode::Regular => return visit.content(place, part),
        Mode::Folder => return Ok(()),
        Mode::Link => Content::Special(Special::StoredLink),
        Mode::Special(special) => Content::Special(special),
        Mode::Unknown => Content::Unreadable("its mode denotes no known type of file".to_owned()),
    };
    visit.report(place, content);
    Ok(())
}

/// Skips the padding to a multiple of 4 bytes after `length` bytes.
pub(super) fn pad(stream: &mut dyn Read, length: u64) -> Result<(), Failure> {
    let padding = length.checked_next_multiple_of(4).map_or(0, |padded| padded - length);
    Ok(Part::new(stream, padding).skip()?)
}

impl Header {
    fn parse(bytes: &[u8; HEADER]) -> Option<Header> {
        let (magic, fields) = bytes.split_at_checked(6)?;
        if magic != b"070701" && magic != b"070702" {
            return None;
        }
        let (fields, _) = fields.as_chunks::<8>();
        let field = |index: usize| hexadecimal(fields.get(index)?);
        Some(Header { mode: field(1)?, links: field(4)?, size: field(6)?, name_size: field(11)? })
    }
}

/// The value of a header field.
pub(super) fn hexadecimal(field: &[u8; 8]) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(field).ok()?, 16).ok()
}
