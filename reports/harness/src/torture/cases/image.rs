//! An ELF file with nothing but a section, for readers that take only files.

use std::ops::Range;

use sframe_validator::elf::{
    EM_AARCH64, EM_S390, EM_X86_64, PF_R, PF_X, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR,
    SHT_GNU_SFRAME, SHT_NOBITS, SHT_PROGBITS,
};
use sframe_validator::{Abi, Endian};

const SHT_STRTAB: u32 = 3;
const NAMES: &[u8] = b"\0.text\0.sframe\0.shstrtab\0";
/// The ELF header, and the program headers of the code, the section and `PT_GNU_SFRAME`.
const HEADERS: u64 = 64 + 3 * 56;

/// A linked file with a section at address 0 and code that has no bytes in the file.
#[derive(Clone, Debug)]
pub(super) struct Image<'a> {
    /// The machine, which also decides the byte order.
    pub(super) abi: Abi,
    /// Whether the section has the type `SHT_GNU_SFRAME`, which version 2, errata 1 introduced.
    pub(super) typed: bool,
    /// Addresses of code.
    pub(super) code: Range<u64>,
    /// The section's bytes.
    pub(super) section: &'a [u8],
    /// Replaces the section's size in the section header.
    pub(super) claimed_size: Option<u64>,
}

impl Image<'_> {
    /// The file's bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let size = self.section.len() as u64;
        let names = HEADERS + size;
        let table = (names + NAMES.len() as u64).next_multiple_of(8);
        let mut out = Out { bytes: Vec::new(), endian: self.abi.endian() };
        self.file_header(&mut out, table);
        let code = (self.code.start, self.code.end.saturating_sub(self.code.start));
        out.program_header(PT_LOAD, PF_R | PF_X, HEADERS, code.0, (0, code.1));
        out.program_header(PT_LOAD, PF_R, HEADERS, 0, (size, size));
        out.program_header(PT_GNU_SFRAME, PF_R, HEADERS, 0, (size, size));
        out.bytes.extend_from_slice(self.section);
        out.bytes.extend_from_slice(NAMES);
        out.bytes.resize(out.bytes.len().next_multiple_of(8), 0);
        let typed = if self.typed { SHT_GNU_SFRAME } else { SHT_PROGBITS };
        let claimed = self.claimed_size.unwrap_or(size);
        let code_flags = SHF_ALLOC | SHF_EXECINSTR;
        out.section_header(0, 0, 0, [0; 3]);
        out.section_header(1, SHT_NOBITS, code_flags, [code.0, HEADERS, code.1]);
        out.section_header(7, typed, SHF_ALLOC, [0, HEADERS, claimed]);
        out.section_header(15, SHT_STRTAB, 0, [0, names, NAMES.len() as u64]);
        out.bytes
    }

    fn file_header(&self, out: &mut Out, table: u64) {
        let order = if out.endian == Endian::Big { 2 } else { 1 };
        out.bytes.extend([0x7f, b'E', b'L', b'F', 2, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        out.u16(3); // ET_DYN
        out.u16(match self.abi {
            Abi::Amd64 => EM_X86_64,
            Abi::S390x => EM_S390,
            Abi::Aarch64Big | Abi::Aarch64Little => EM_AARCH64,
        });
        out.u32(1);
        for value in [0, 64, table] {
            out.u64(value);
        }
        out.u32(0);
        for value in [64, 56, 3, 64, 4, 3] {
            out.u16(value);
        }
    }
}

struct Out {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Out {
    fn ordered<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.endian == Endian::Big {
            little.reverse();
        }
        self.bytes.extend_from_slice(&little);
    }

    fn u16(&mut self, value: u16) {
        self.ordered(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.ordered(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.ordered(value.to_le_bytes());
    }

    /// `size` is the number of bytes in the file, and in memory.
    fn program_header(&mut self, kind: u32, flags: u32, offset: u64, at: u64, size: (u64, u64)) {
        self.u32(kind);
        self.u32(flags);
        for value in [offset, at, at, size.0, size.1, 4] {
            self.u64(value);
        }
    }

    /// `place` is address, file offset, and size.
    fn section_header(&mut self, name: u32, kind: u32, flags: u64, place: [u64; 3]) {
        self.u32(name);
        self.u32(kind);
        self.u64(flags);
        for value in place {
            self.u64(value);
        }
        self.u32(0);
        self.u32(0);
        self.u64(4);
        self.u64(0);
    }
}
