//! Debian packages: an archive of control files and one of the package's files (deb(5)).

use std::io::Read;

use super::stream::{Part, fill};
use super::{Failure, Place, Visit, compression, damaged, tar};

/// `!<arch>\n`.
const MAGIC: usize = 8;
/// Position of the decimal size field in a member header.
const SIZE: std::ops::Range<usize> = 48..58;

pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    fill(stream, &mut [0; MAGIC])?;
    let mut any = false;
    let mut header = [0; 60];
    loop {
        match fill(stream, &mut header)?.len() {
            0 => break,
            60 if header.ends_with(b"`\n") => {}
            _ => return Err(damaged("a member has no header")),
        }
        let size = size(&header).ok_or_else(|| damaged("a member's size is not a number"))?;
        let mut part = Part::new(stream, size);
        // The name may end with a slash. Other members do not contain the package's files.
        let prefix: Option<&[u8]> = match header.split(|byte| b" /".contains(byte)).next() {
            // `dpkg-deb --raw-extract` puts them into this folder.
            Some(name) if name.starts_with(b"control.tar") => Some(b"DEBIAN/"),
            Some(name) if name.starts_with(b"data.tar") => Some(b""),
            _ => None,
        };
        if let Some(prefix) = prefix {
            any |= prefix.is_empty();
            let meter = visit.meter;
            // `control` has the name of the package, and other files may come before it.
            if !prefix.is_empty() {
                visit.wait();
            }
            let read = compression::opened(&mut part, meter, |files| {
                tar::visit(visit, place, prefix, files)
            });
            visit.release();
            read?;
        }
        part.skip()?;
        // Members start at even offsets; the padding of the last one may be missing.
        if !size.is_multiple_of(2) {
            fill(stream, &mut [0])?;
        }
    }
    if any { Ok(()) } else { Err(damaged("it has no data.tar")) }
}

fn size(header: &[u8]) -> Option<u64> {
    str::from_utf8(header.get(SIZE)?).ok()?.trim_end().parse().ok()
}
