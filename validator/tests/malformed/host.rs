//! Minimal ELF files around a section, of which every header field can be set to what it must not
//! be. A writer of sound files would refuse most of what these tests need.

/// `R_X86_64_PC64` and `R_X86_64_PC32`.
pub const PC64: u32 = 24;
pub const PC32: u32 = 2;
/// Where the hosts have their code: address and file offset, and its size.
pub const TEXT: u64 = 0x200;
pub const TEXT_SIZE: u64 = 0x40;
/// Where linked hosts have their SFrame section: address and file offset.
pub const SFRAME: u64 = 0x240;

const SHT_PROGBITS: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_RELA: u32 = 4;
const SHT_GNU_SFRAME: u32 = 0x6fff_fff4;
const PT_LOAD: u32 = 1;
pub const PT_GNU_SFRAME: u32 = 0x6474_e554;
const AX: u64 = 6;
const A: u64 = 2;
const WA: u64 = 3;

#[derive(Clone)]
pub struct Sec {
    pub name: &'static str,
    pub sh_type: u32,
    pub flags: u64,
    pub address: u64,
    /// Where the bytes go; 0: behind what was written before.
    pub offset: u64,
    pub data: Vec<u8>,
    /// `sh_size`, where it is not that of the data.
    pub size: Option<u64>,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entsize: u64,
}

#[derive(Clone)]
pub struct Seg {
    pub p_type: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub file_size: u64,
    pub memory_size: u64,
}

#[derive(Clone)]
pub struct Rela {
    pub offset: u64,
    pub symbol: u32,
    pub kind: u32,
    pub addend: i64,
}

#[derive(Clone)]
pub struct Sym {
    pub name: &'static str,
    pub info: u8,
    pub shndx: u16,
    pub value: u64,
    pub size: u64,
}

/// An ELF file in the making.
#[derive(Clone)]
pub struct Host {
    pub class: u8,
    pub e_type: u16,
    pub machine: u16,
    /// Without the null section, the symbol table and the string tables, which come last.
    pub sections: Vec<Sec>,
    pub segments: Vec<Seg>,
    pub symbols: Vec<Sym>,
    pub relocations: Vec<Rela>,
}

fn sec(name: &'static str, sh_type: u32, flags: u64, offset: u64, data: Vec<u8>) -> Sec {
    let align = if sh_type == SHT_GNU_SFRAME { 8 } else { 1 };
    Sec {
        name,
        sh_type,
        flags,
        address: 0,
        offset,
        data,
        size: None,
        link: 0,
        info: 0,
        align,
        entsize: 0,
    }
}

/// A function symbol.
pub fn func(name: &'static str, shndx: u16, value: u64, size: u64) -> Sym {
    Sym { name, info: 0x12, shndx, value, size }
}

fn section_symbol(shndx: u16) -> Sym {
    Sym { name: "", info: 3, shndx, value: 0, size: 0 }
}

/// An x86-64 shared object with 64 bytes of code, and functions at 0x200 and 0x210.
pub fn linked(sframe: Vec<u8>) -> Host {
    let size = sframe.len() as u64;
    let at = |mut section: Sec| {
        section.address = section.offset;
        section
    };
    let data_at = SFRAME + size.next_multiple_of(16) + 64;
    let load = |flags, start: u64, size| Seg {
        p_type: PT_LOAD,
        flags,
        offset: start,
        address: start,
        file_size: size,
        memory_size: size,
    };
    Host {
        class: 2,
        e_type: 3,
        machine: 62,
        sections: vec![
            at(sec(".text", SHT_PROGBITS, AX, TEXT, vec![0x90; 64])),
            at(sec(".sframe", SHT_GNU_SFRAME, A, SFRAME, sframe)),
            at(sec(".data", SHT_PROGBITS, WA, data_at, vec![0; 16])),
        ],
        segments: vec![
            load(5, TEXT, TEXT_SIZE),
            load(4, SFRAME, data_at + 16 - SFRAME),
            Seg { p_type: PT_GNU_SFRAME, ..load(4, SFRAME, size) },
        ],
        symbols: vec![func("first", 1, 0x200, 16), func("second", 1, 0x210, 16)],
        relocations: Vec::new(),
    }
}

/// An x86-64 object with 64 bytes of code, whose functions start at `starts` in it; the fields are
/// relocated with type `kind`.
pub fn object(sframe: Vec<u8>, fields: &[u64], starts: &[i64], kind: u32) -> Host {
    let relocation = |(&offset, &addend): (&u64, &i64)| Rela { offset, symbol: 1, kind, addend };
    Host {
        class: 2,
        e_type: 1,
        machine: 62,
        sections: vec![
            sec(".text", SHT_PROGBITS, AX, 0, vec![0x90; 64]),
            sec(".sframe", SHT_GNU_SFRAME, A, 0, sframe),
            sec(".data", SHT_PROGBITS, WA, 0, vec![0; 16]),
        ],
        segments: Vec::new(),
        symbols: vec![
            section_symbol(1),
            section_symbol(3),
            Sym { name: "elsewhere", info: 0x10, shndx: 0, value: 0, size: 0 },
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

    /// The SFrame section.
    pub fn sframe(&mut self) -> &mut Sec {
        &mut self.sections[1]
    }

    /// The PT_GNU_SFRAME segment.
    pub fn segment(&mut self) -> &mut Seg {
        &mut self.segments[2]
    }

    /// The file's bytes, little-endian.
    pub fn bytes(&self) -> Vec<u8> {
        let mut sections = self.sections.clone();
        self.add_tables(&mut sections);
        let mut out = Out { bytes: vec![0; self.header_size()], wide: self.class == 2 };
        for section in &mut sections {
            if section.offset == 0 {
                section.offset = (out.bytes.len() as u64).next_multiple_of(8);
            }
            if section.sh_type != 8 {
                let end = section.offset as usize + section.data.len();
                out.bytes.resize(end.max(out.bytes.len()), 0);
                out.bytes[section.offset as usize..end].copy_from_slice(&section.data);
            }
        }
        let table = out.bytes.len().next_multiple_of(8);
        out.bytes.resize(table, 0);
        out.section_header(0, &sec("", 0, 0, 0, Vec::new()));
        let mut name = 1;
        for section in &sections {
            out.section_header(name, section);
            name += section.name.len() as u32 + 1;
        }
        let header = self.file_header(table as u64, sections.len() as u16 + 1);
        out.bytes[..header.len()].copy_from_slice(&header);
        out.bytes
    }

    fn header_size(&self) -> usize {
        if self.class == 2 { 64 + 56 * self.segments.len() } else { 52 }
    }

    /// Relocations, symbols and string tables.
    fn add_tables(&self, sections: &mut Vec<Sec>) {
        let mut strings = vec![0];
        let mut symbols = vec![0; 24];
        for symbol in &self.symbols {
            symbols.extend((strings.len() as u32).to_le_bytes());
            symbols.extend([symbol.info, 0]);
            symbols.extend(symbol.shndx.to_le_bytes());
            symbols.extend(symbol.value.to_le_bytes());
            symbols.extend(symbol.size.to_le_bytes());
            strings.extend(symbol.name.bytes().chain([0]));
        }
        let symtab = sections.len() as u32 + 1 + u32::from(!self.relocations.is_empty());
        if !self.relocations.is_empty() {
            let mut data = Vec::new();
            for relocation in &self.relocations {
                data.extend(relocation.offset.to_le_bytes());
                data.extend(relocation.kind.to_le_bytes());
                data.extend(relocation.symbol.to_le_bytes());
                data.extend(relocation.addend.to_le_bytes());
            }
            let mut section = sec(".rela.sframe", SHT_RELA, 0, 0, data);
            (section.link, section.info, section.entsize) = (symtab, 2, 24);
            sections.push(section);
        }
        if self.class == 2 {
            let mut section = sec(".symtab", SHT_SYMTAB, 0, 0, symbols);
            let locals = self.symbols.iter().take_while(|symbol| symbol.info == 3).count() as u32;
            (section.link, section.info, section.entsize) = (symtab + 1, locals + 1, 24);
            sections.push(section);
            sections.push(sec(".strtab", SHT_STRTAB, 0, 0, strings));
        }
        let mut names = vec![0];
        for section in sections.iter() {
            names.extend(section.name.bytes().chain([0]));
        }
        names.extend(b".shstrtab\0");
        sections.push(sec(".shstrtab", SHT_STRTAB, 0, 0, names));
    }

    fn file_header(&self, section_table: u64, count: u16) -> Vec<u8> {
        let mut out = Out { bytes: Vec::new(), wide: self.class == 2 };
        out.bytes.extend([0x7f, b'E', b'L', b'F', self.class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        out.u16(self.e_type);
        out.u16(self.machine);
        out.u32(1);
        out.word(0);
        out.word(if self.segments.is_empty() { 0 } else { 64 });
        out.word(section_table);
        out.u32(0);
        let sizes = if out.wide { [64, 56, 64] } else { [52, 32, 40] };
        out.u16(sizes[0]);
        out.u16(if self.segments.is_empty() { 0 } else { sizes[1] });
        out.u16(self.segments.len() as u16);
        out.u16(sizes[2]);
        out.u16(count);
        out.u16(count - 1);
        for segment in &self.segments {
            out.u32(segment.p_type);
            out.u32(segment.flags);
            out.word(segment.offset);
            out.word(segment.address);
            out.word(segment.address);
            out.word(segment.file_size);
            out.word(segment.memory_size);
            out.word(8);
        }
        out.bytes
    }
}

struct Out {
    bytes: Vec<u8>,
    wide: bool,
}

impl Out {
    fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// 8 bytes in a 64-bit file, 4 in a 32-bit one.
    fn word(&mut self, value: u64) {
        if self.wide {
            self.bytes.extend(value.to_le_bytes());
        } else {
            self.u32(value as u32);
        }
    }

    fn section_header(&mut self, name: u32, section: &Sec) {
        self.u32(if section.sh_type == 0 { 0 } else { name });
        self.u32(section.sh_type);
        self.word(section.flags);
        self.word(section.address);
        self.word(section.offset);
        self.word(section.size.unwrap_or(section.data.len() as u64));
        self.u32(section.link);
        self.u32(section.info);
        self.word(section.align);
        self.word(section.entsize);
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
