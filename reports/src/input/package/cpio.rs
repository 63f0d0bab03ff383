//! `cpio` archives in the portable forms `newc` and `crc`, which RPM packages and initial RAM disks
//! have (cpio(5); Linux, `Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::io::Read;

use super::stream::{Part, drain, fill};
use super::{Content, Failure, HEADERS, Place, Visit, damaged, relative};
use crate::input::Special;

/// The magic number and 13 fields of 8 hexadecimal digits.
const HEADER: usize = 110;
const TRAILER: &[u8] = b"TRAILER!!!";
/// The kind of file in a mode (`S_IFMT`).
const KIND: u32 = 0o17_0000;

/// A member's header, as far as it matters.
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
        visit.count()?;
        let mut part = Part::new(stream, header.size.into());
        member(visit, &place.member(relative(name)), &header, &mut part)?;
        part.skip()?;
        pad(stream, header.size.into())?;
    }
}

fn member(
    visit: &mut Visit<'_>,
    place: &Place,
    header: &Header,
    part: &mut Part<'_>,
) -> Result<(), Failure> {
    let special = match header.mode & KIND {
        // Of several names of a file, only the last has its bytes.
        0o10_0000 if header.links > 1 && header.size == 0 => Special::StoredLink,
        0o10_0000 => return Ok(visit.content(place, part)?),
        0o12_0000 => Special::StoredLink,
        0o01_0000 => Special::Fifo,
        0o02_0000 | 0o06_0000 => Special::Device,
        0o14_0000 => Special::Socket,
        _ => return Ok(()),
    };
    visit.report(place, Content::Special(special));
    Ok(())
}

/// Skips to the next multiple of 4 bytes.
fn pad(stream: &mut dyn Read, length: u64) -> Result<(), Failure> {
    let padding = length.next_multiple_of(4) - length;
    Ok(Part::new(stream, padding).skip()?)
}

impl Header {
    fn parse(bytes: &[u8; HEADER]) -> Option<Header> {
        let (magic, fields) = bytes.split_at_checked(6)?;
        if magic != b"070701" && magic != b"070702" {
            return None;
        }
        let (fields, _) = fields.as_chunks::<8>();
        let field = |index: usize| {
            let digits = str::from_utf8(fields.get(index)?).ok()?;
            u32::from_str_radix(digits, 16).ok()
        };
        Some(Header { mode: field(1)?, links: field(4)?, size: field(6)?, name_size: field(11)? })
    }
}
