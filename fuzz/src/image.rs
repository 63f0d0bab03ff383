//! Minimal linked ELF files: code, an SFrame section, and CFI where it is asked for.

mod object;

pub use object::Object;

use sframe_validator::elf::{
    EM_AARCH64, EM_S390, EM_X86_64, PF_R, PF_X, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR,
    SHT_GNU_SFRAME, SHT_NOBITS, SHT_PROGBITS,
};
use sframe_validator::{Abi, Endian};

const ET_DYN: u16 = 3;
const SHT_STRTAB: u32 = 3;
/// Where the file's contents start: behind the header and four program headers.
const CONTENT: usize = 64 + 4 * 56;

/// A linked file to be written.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The machine, and with it the byte order.
    pub abi: Abi,
    /// The range of code. Its bytes are zero, and not in the file where they are many.
    pub code: (u64, u64),
    /// The SFrame section and its address.
    pub sframe: (&'a [u8], u64),
    /// Whether the section has the type that errata 1 of version 2 brought.
    pub typed: bool,
    /// `.eh_frame` and its address.
    pub eh_frame: Option<(&'a [u8], u64)>,
}

/// Code of more bytes is not in the file.
const MOST_CODE: u64 = 0x10_0000;

struct Section<'a> {
    name: &'static str,
    sh_type: u32,
    flags: u64,
    address: u64,
    size: u64,
    data: &'a [u8],
    /// `sh_link`, `sh_info` and `sh_entsize`.
    links: (u32, u32, u64),
}

impl Image<'_> {
    /// The file's bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let size = self.code.1 - self.code.0;
        let code = vec![0; if size <= MOST_CODE { size as usize } else { 0 }];
        let sections = self.sections(&code);
        let mut out = Out { bytes: vec![0; CONTENT], endian: self.abi.endian() };
        let (offsets, table) = out.sections(&sections);
        let header = self.headers(&sections, &offsets, table);
        out.bytes[..header.len()].copy_from_slice(&header);
        out.bytes
    }

    fn sections<'s>(&'s self, code: &'s [u8]) -> Vec<Section<'s>> {
        let size = self.code.1 - self.code.0;
        let absent = code.len() as u64 != size;
        let data = |name, sh_type, (data, address): (&'s [u8], u64)| Section {
            name,
            sh_type,
            flags: SHF_ALLOC,
            address,
            size: data.len() as u64,
            data,
            links: (0, 0, 0),
        };
        let mut sections = vec![
            Section {
                name: ".text",
                sh_type: if absent { SHT_NOBITS } else { SHT_PROGBITS },
                flags: SHF_ALLOC | SHF_EXECINSTR,
                address: self.code.0,
                size,
                data: code,
                links: (0, 0, 0),
            },
            data(".sframe", if self.typed { SHT_GNU_SFRAME } else { SHT_PROGBITS }, self.sframe),
        ];
        sections.extend(self.eh_frame.map(|cfi| data(".eh_frame", SHT_PROGBITS, cfi)));
        sections
    }

    /// The file header and the program headers.
    fn headers(&self, sections: &[Section<'_>], offsets: &[u64], table: u64) -> Vec<u8> {
        let mut out = Out { bytes: Vec::new(), endian: self.abi.endian() };
        out.file_header(ET_DYN, self.abi, table, (sections.len(), sections.len()));
        for (section, offset) in sections.iter().zip(offsets) {
            let flags = if section.flags & SHF_EXECINSTR != 0 { PF_R | PF_X } else { PF_R };
            out.program_header(PT_LOAD, flags, section, *offset);
            if section.name == ".sframe" {
                out.program_header(PT_GNU_SFRAME, PF_R, section, *offset);
            }
        }
        out.bytes
    }
}

impl Section<'_> {
    const fn null() -> Section<'static> {
        let links = (0, 0, 0);
        Section { name: "", sh_type: 0, flags: 0, address: 0, size: 0, data: &[], links }
    }
}

struct Out {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Out {
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

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

    /// The file header, for a section header table at `table` and so many program headers and
    /// sections besides the first and the one of names.
    fn file_header(&mut self, e_type: u16, abi: Abi, table: u64, counts: (usize, usize)) {
        let order = if abi.endian() == Endian::Big { 2 } else { 1 };
        self.bytes.extend([0x7f, b'E', b'L', b'F', 2, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        self.u16(e_type);
        self.u16(match abi {
            Abi::Amd64 => EM_X86_64,
            Abi::S390x => EM_S390,
            Abi::Aarch64Big | Abi::Aarch64Little => EM_AARCH64,
        });
        self.u32(1);
        self.u64(0);
        self.u64(if counts.0 == 0 { 0 } else { 64 });
        self.u64(table);
        self.u32(0);
        let (segments, sections) = (counts.0 as u16, counts.1 as u16);
        // One more program header, for SFrame.
        let segments = if segments == 0 { 0 } else { segments + 1 };
        for number in [64, 56, segments, 64, sections + 2, sections + 1] {
            self.u16(number);
        }
    }

    /// The sections' contents and their headers, with those of the first and of the names; where
    /// each is, and where the headers are.
    fn sections(&mut self, sections: &[Section<'_>]) -> (Vec<u64>, u64) {
        let mut offsets = Vec::new();
        for section in sections {
            self.align();
            offsets.push(self.bytes.len() as u64);
            self.bytes.extend_from_slice(section.data);
        }
        let mut names = vec![0];
        for section in sections {
            names.extend(section.name.bytes().chain([0]));
        }
        names.extend(b".shstrtab\0");
        let names_at = self.bytes.len() as u64;
        self.bytes.extend(&names);
        self.align();
        let table = self.bytes.len() as u64;
        self.section_header(0, &Section::null(), 0);
        let mut name = 1;
        for (section, offset) in sections.iter().zip(&offsets) {
            self.section_header(name, section, *offset);
            name += section.name.len() as u32 + 1;
        }
        let size = names.len() as u64;
        let strings = Section { sh_type: SHT_STRTAB, size, ..Section::null() };
        self.section_header(name, &strings, names_at);
        (offsets, table)
    }

    fn section_header(&mut self, name: u32, section: &Section<'_>, offset: u64) {
        self.u32(name);
        self.u32(section.sh_type);
        for value in [section.flags, section.address, offset, section.size] {
            self.u64(value);
        }
        self.u32(section.links.0);
        self.u32(section.links.1);
        self.u64(8);
        self.u64(section.links.2);
    }

    fn program_header(&mut self, p_type: u32, flags: u32, section: &Section<'_>, offset: u64) {
        self.u32(p_type);
        self.u32(flags);
        let data = section.data.len() as u64;
        for value in [offset, section.address, section.address, data, section.size, 8] {
            self.u64(value);
        }
    }
}
