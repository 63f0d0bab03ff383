//! ELF files for AMD64 with any headers, whether they make sense or not.

use sframe_validator::elf::EM_X86_64;

/// `ET_REL`.
pub(super) const ET_REL: u16 = 1;
/// `ET_DYN`.
pub(super) const ET_DYN: u16 = 3;

/// Bytes of the ELF header.
const START: u64 = 64;

/// A file: in this order the ELF header, contents, program headers, and section headers.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    /// `e_type`.
    kind: u16,
    contents: Vec<u8>,
    /// The program headers.
    pub(super) segments: Vec<Segment>,
    /// The section headers; the fourth is the section of names.
    pub(super) sections: Vec<SectionHeader>,
}

/// A section header.
#[derive(Clone, Debug, Default)]
pub(super) struct SectionHeader {
    pub(super) name: u32,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) link: u32,
    pub(super) info: u32,
    pub(super) entry_size: u64,
}

/// A program header of bytes that are loaded at address 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl Headers {
    /// A file of type `kind` without contents or headers.
    pub(super) const fn new(kind: u16) -> Headers {
        Headers { kind, contents: Vec::new(), segments: Vec::new(), sections: Vec::new() }
    }

    /// Adds contents, and returns their file offset.
    pub(super) fn append(&mut self, bytes: &[u8]) -> u64 {
        let offset = START + self.contents.len() as u64;
        self.contents.extend_from_slice(bytes);
        self.contents.resize(self.contents.len().next_multiple_of(8), 0);
        offset
    }

    /// The file's bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let programs = START + self.contents.len() as u64;
        let table = programs + 56 * self.segments.len() as u64;
        // gABI, `e_phoff`: 0 if there are none.
        let programs = if self.segments.is_empty() { 0 } else { programs };
        let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        out.extend([self.kind, EM_X86_64].map(u16::to_le_bytes).concat());
        out.extend(1_u32.to_le_bytes());
        out.extend([0, programs, table].map(u64::to_le_bytes).concat());
        out.extend(0_u32.to_le_bytes());
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let counts = [64, 56, count(self.segments.len()), 64, count(self.sections.len()), 3];
        out.extend(counts.map(u16::to_le_bytes).concat());
        out.extend_from_slice(&self.contents);
        for Segment { kind, flags, offset, size } in &self.segments {
            out.extend([*kind, *flags].map(u32::to_le_bytes).concat());
            out.extend([*offset, 0, 0, *size, *size, 4].map(u64::to_le_bytes).concat());
        }
        for header in &self.sections {
            out.extend([header.name, header.kind].map(u32::to_le_bytes).concat());
            let places = [header.flags, header.address, header.offset, header.size];
            out.extend(places.map(u64::to_le_bytes).concat());
            out.extend([header.link, header.info].map(u32::to_le_bytes).concat());
            out.extend([4, header.entry_size].map(u64::to_le_bytes).concat());
        }
        out
    }
}
