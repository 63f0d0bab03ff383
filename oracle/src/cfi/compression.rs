//! Compressed sections (gABI, "Section Compression", and the older `.zdebug_*`).

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::ZlibDecoder;
use gimli::Reader;
use ruzstd::decoding::StreamingDecoder;
use sframe_validator::Endian;
use sframe_validator::elf::{Class, Elf, ElfSection, SHF_COMPRESSED};

use super::pointer::{Slice, byte_order};

/// The compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `ELFCOMPRESS_ZLIB`.
    Zlib,
    /// `ELFCOMPRESS_ZSTD`.
    Zstd,
}

pub(super) fn is_compressed(section: &ElfSection<'_>) -> bool {
    section.flags & SHF_COMPRESSED != 0 || section.name.bytes().starts_with(b".zdebug_")
}

/// The bytes of a section, decompressed if necessary, if there are at most `room` of them.
///
/// # Errors
/// The reason why the bytes cannot be read, for people.
pub fn section_bytes<'a>(
    elf: &Elf<'a>,
    section: &ElfSection<'_>,
    room: u64,
) -> Result<Cow<'a, [u8]>, &'static str> {
    let data = elf.section_data(section).map_err(|_| "it ends outside the file")?;
    if is_compressed(section) {
        inflate(elf, section, data, room).map(Cow::Owned)
    } else if data.len() as u64 > room {
        Err("it is too large")
    } else {
        Ok(Cow::Borrowed(data))
    }
}

/// Decompresses the section whose bytes in the file are `data`, if the result has at most `room` bytes.
///
/// Memory is allocated as bytes are decompressed, not according to the size stated in the header.
pub(super) fn inflate(
    elf: &Elf<'_>,
    section: &ElfSection<'_>,
    data: &[u8],
    room: u64,
) -> Result<Vec<u8>, &'static str> {
    let header = if section.flags & SHF_COMPRESSED != 0 {
        compression_header(data, elf.class(), elf.endian())
    } else {
        zdebug_header(data)
    };
    let (format, size, content) = header.ok_or("its compression is unknown")?;
    if size > room {
        return Err("it is too large when decompressed");
    }
    let mut bytes = Vec::new();
    // Decompressing one more byte than expected reveals that there are too many.
    let limit = size + 1;
    let read = match format {
        Format::Zlib => ZlibDecoder::new(content).take(limit).read_to_end(&mut bytes).ok(),
        Format::Zstd => StreamingDecoder::new(content)
            .ok()
            .and_then(|decoder| decoder.take(limit).read_to_end(&mut bytes).ok()),
    };
    let whole = read.is_some() && bytes.len() as u64 == size;
    if whole { Ok(bytes) } else { Err("its compressed bytes are broken") }
}

/// `Elf32_Chdr` and `Elf64_Chdr`: type, (padding,) size, alignment.
fn compression_header(data: &[u8], class: Class, endian: Endian) -> Option<(Format, u64, &[u8])> {
    let mut input = Slice::new(data, byte_order(endian));
    let format = match input.read_u32().ok()? {
        1 => Format::Zlib,
        2 => Format::Zstd,
        _ => return None,
    };
    let (size, alignment) = match class {
        Class::Elf32 => (input.read_u32().ok()?.into(), 4),
        Class::Elf64 => {
            input.skip(4).ok()?;
            (input.read_u64().ok()?, 8)
        }
    };
    input.skip(alignment).ok()?;
    Some((format, size, input.slice()))
}

/// `ZLIB`, then the size as a big-endian number of 8 bytes on every machine.
fn zdebug_header(data: &[u8]) -> Option<(Format, u64, &[u8])> {
    let (size, content) = data.strip_prefix(b"ZLIB")?.split_first_chunk()?;
    Some((Format::Zlib, u64::from_be_bytes(*size), content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_by_class_and_byte_order() {
        // Elf64_Chdr: ch_type, ch_reserved, ch_size, ch_addralign.
        let mut wide = vec![2, 0, 0, 0, 0xaa, 0xaa, 0xaa, 0xaa, 0x10, 1, 0, 0, 0, 0, 0, 0];
        wide.extend([8, 0, 0, 0, 0, 0, 0, 0, b'x']);
        let expected = Some((Format::Zstd, 0x110, b"x".as_slice()));
        assert_eq!(compression_header(&wide, Class::Elf64, Endian::Little), expected);
        // Elf32_Chdr: ch_type, ch_size, ch_addralign.
        let narrow = [0, 0, 0, 1, 0, 0, 1, 0x10, 0, 0, 0, 4, b'x'];
        let expected = Some((Format::Zlib, 0x110, b"x".as_slice()));
        assert_eq!(compression_header(&narrow, Class::Elf32, Endian::Big), expected);
        assert_eq!(compression_header(&narrow[..11], Class::Elf32, Endian::Big), None);
        assert_eq!(compression_header(&wide, Class::Elf64, Endian::Big), None);
    }
}
