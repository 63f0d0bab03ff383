//! Files around a section in which every header field can be set. They are valid unless a field is changed.

use sframe_validator::Abi;
use sframe_validator::elf::{
    Class, ElfKind, PF_R, PF_X, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE,
    SHT_GNU_SFRAME, SHT_NOBITS, SHT_PROGBITS, Segment,
};
use sframe_validator::write::elf::{ElfWriter, Relocation, SectionHeader, Symbol};

/// `R_X86_64_PC64` and `R_X86_64_PC32`.
pub const PC64: u32 = 24;
pub const PC32: u32 = 2;
/// The place of the hosts' code (both its address and its file offset), and its size.
pub const TEXT: u64 = 0x200;
pub const TEXT_SIZE: u64 = 0x40;
/// The place of the SFrame section in linked hosts (both its address and its file offset).
pub const SFRAME: u64 = 0x240;

/// `STT_SECTION`.
const SECTION_SYMBOL: u8 = 3;

/// A section. Offset and size in its header are those of the data, unless they are set explicitly.
#[derive(Clone)]
pub struct Section {
    pub name: &'static str,
    pub header: SectionHeader,
    pub data: Vec<u8>,
}

/// An x86-64 file being built.
#[derive(Clone)]
pub struct Host {
    pub class: Class,
    pub kind: ElfKind,
    /// The sections without the null section, and without the symbol table and the string tables, which come last.
    pub sections: Vec<Section>,
    pub segments: Vec<Segment>,
    pub symbols: Vec<Symbol<'static>>,
    pub relocations: Vec<Relocation>,
}

fn section(name: &'static str, sh_type: u32, flags: u64, offset: u64, data: Vec<u8>) -> Section {
    let alignment = if sh_type == SHT_GNU_SFRAME { 8 } else { 1 };
    let header = SectionHeader { sh_type, flags, offset, alignment, ..SectionHeader::default() };
    Section { name, header, data }
}

/// A function symbol.
pub const fn func(name: &'static str, section: u16, value: u64, size: u64) -> Symbol<'static> {
    Symbol { name, info: 0x12, section, value, size }
}

const fn section_symbol(section: u16) -> Symbol<'static> {
    Symbol { name: "", info: SECTION_SYMBOL, section, value: 0, size: 0 }
}

/// An x86-64 shared object with 64 bytes of code, and functions at 0x200 and 0x210.
pub fn linked(sframe: Vec<u8>) -> Host {
    let size = sframe.len() as u64;
    let at = |mut section: Section| {
        section.header.address = section.header.offset;
        section
    };
    let data_at = SFRAME + size.next_multiple_of(16) + 64;
    let load = |flags, start: u64, size| Segment {
        p_type: PT_LOAD,
        flags,
        offset: start,
        address: start,
        file_size: size,
        memory_size: size,
    };
    let code = SHF_ALLOC | SHF_EXECINSTR;
    Host {
        class: Class::Elf64,
        kind: ElfKind::Shared,
        sections: vec![
            at(section(".text", SHT_PROGBITS, code, TEXT, vec![0x90; 64])),
            at(section(".sframe", SHT_GNU_SFRAME, SHF_ALLOC, SFRAME, sframe)),
            at(section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, data_at, vec![0; 16])),
        ],
        segments: vec![
            load(PF_R | PF_X, TEXT, TEXT_SIZE),
            load(PF_R, SFRAME, data_at + 16 - SFRAME),
            Segment { p_type: PT_GNU_SFRAME, ..load(PF_R, SFRAME, size) },
        ],
        symbols: vec![func("first", 1, 0x200, 16), func("second", 1, 0x210, 16)],
        relocations: Vec::new(),
    }
}

/// An x86-64 object with 64 bytes of code. Its functions start at the offsets `starts` in the code, and the start
/// fields have relocations of type `kind`.
pub fn object(sframe: Vec<u8>, fields: &[u64], starts: &[i64], kind: u32) -> Host {
    let relocation =
        |(&offset, &addend): (&u64, &i64)| Relocation { offset, symbol: 1, kind, addend };
    Host {
        class: Class::Elf64,
        kind: ElfKind::Relocatable,
        sections: vec![
            section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, vec![0x90; 64]),
            section(".sframe", SHT_GNU_SFRAME, SHF_ALLOC, 0, sframe),
            section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, vec![0; 16]),
        ],
        segments: Vec::new(),
        symbols: vec![
            section_symbol(1),
            section_symbol(3),
            Symbol { name: "elsewhere", info: 0x10, section: 0, value: 0, size: 0 },
            func("first", 1, 0, 16),
            func("second", 1, 16, 16),
        ],
        relocations: fields.iter().zip(starts).map(relocation).collect(),
    }
}

impl Host {
    pub fn with(mut self, change: impl FnOnce(&mut Host)) -> Host {
        change(&mut self);
        self
    }

    /// The SFrame section's bytes.
    pub fn sframe(&mut self) -> &mut Vec<u8> {
        &mut self.sections[1].data
    }

    /// The SFrame section's header.
    pub fn header(&mut self) -> &mut SectionHeader {
        &mut self.sections[1].header
    }

    /// The PT_GNU_SFRAME segment.
    pub fn segment(&mut self) -> &mut Segment {
        &mut self.segments[2]
    }

    /// The file's bytes, little-endian.
    pub fn bytes(&self) -> Vec<u8> {
        let mut file = ElfWriter::of_class(self.class, Abi::Amd64, self.kind);
        file.reserve_segments(self.segments.len());
        self.segments.iter().for_each(|segment| file.segment(*segment));
        for Section { name, header, data } in &self.sections {
            // Sections without bytes in the file keep the size of their former bytes.
            let absent = header.sh_type == SHT_NOBITS;
            let data_size = data.len() as u64;
            let data: &[u8] = if absent { &[] } else { data };
            let offset = match header.offset {
                0 => file.append(data, 8),
                offset => {
                    file.place(offset, data);
                    offset
                }
            };
            let size = if header.size == 0 { data_size } else { header.size };
            file.section(name, SectionHeader { offset, size, ..*header });
        }
        // The symbols follow the relocations.
        let symbols = file.next_index() + u32::from(!self.relocations.is_empty());
        if !self.relocations.is_empty() {
            file.relocations(".rela.sframe", (2, symbols), &self.relocations);
        }
        if self.class == Class::Elf64 {
            file.symbols(&self.symbols).expect("few");
        }
        file.finish().expect("small")
    }
}

/// A `.a` file of objects.
pub fn archive(objects: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in objects {
        let name = format!("{name}/");
        let size = bytes.len();
        out.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).bytes());
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}
