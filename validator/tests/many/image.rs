//! Small writer of x86-64 ELF files with very many section headers or symbols, hostile ones too.

use sframe_validator::Abi;
use sframe_validator::Version;
use sframe_validator::builder::{FunctionBuilder, SectionBuilder};
use sframe_validator::unwind::{Cfa, Frame, Recovery};

const ET_REL: u16 = 1;
const ET_DYN: u16 = 3;
const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const RELA: u32 = 4;
const GNU_SFRAME: u32 = 0x6fff_fff4;
const ALLOC: u64 = 2;
const CODE: u64 = 6;
/// Where the code starts.
pub const TEXT: u64 = 0x100_0000;

/// What there is too much of.
pub const CASES: [&str; 9] = [
    "code sections",
    "nested code sections",
    "stub sections",
    "symbols",
    "symbols at one place",
    "relocation sections",
    "symbol tables by turns",
    "SFrame sections",
    "SFrame sections and symbols",
];

/// A file of the given kind with `count` of what it has too much of.
pub fn file(case: &str, count: u64) -> Vec<u8> {
    match case {
        "code sections" => code_sections(count, ".text", |index| (index * 16, 16), 0),
        // Each reaches from its start to the end of them all.
        "nested code sections" => {
            code_sections(count, ".text", |index| (index * 16, (count - index) * 16), 0)
        }
        "stub sections" => code_sections(count, ".plt", |index| (index * 16, 16), 16),
        "symbols" => symbols(count, |index| (TEXT + index * 16, 16)),
        "symbols at one place" => symbols(count, |index| (TEXT, index % 8)),
        "relocation sections" => relocation_sections(count, 1),
        "symbol tables by turns" => relocation_sections(count, 2),
        "SFrame sections" => sframe_sections(count, 0),
        _ => sframe_sections(count / 2, count / 2),
    }
}

fn sframe(functions: u64, address: u64, repeat: u8) -> Vec<u8> {
    let register = Abi::Amd64.sp();
    let row = |offset| Frame {
        cfa: Cfa::RegisterOffset { register, offset },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
    let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
    builder.address(address);
    for index in 0..functions {
        let function = FunctionBuilder::new(TEXT + index * 16, 16);
        let function = if repeat == 0 { function } else { function.repeat(repeat) };
        builder.function(function.row(0, row(8)).row(4, row(16)));
    }
    builder.build().expect("it fits").bytes
}

/// `count` sections of code at `place(index)`, offset and size from [`TEXT`], and a function in each.
fn code_sections(count: u64, name: &str, place: impl Fn(u64) -> (u64, u64), repeat: u8) -> Vec<u8> {
    let mut image = Image::new(ET_DYN);
    let text = image.put(&vec![0x90; count as usize * 16]);
    image.sframe(&sframe(count, 0x1000, repeat), 0x1000);
    for index in 0..count {
        let (offset, size) = place(index);
        image.section(name, PROGBITS, CODE, TEXT + offset, (text + offset, size), (0, 0));
    }
    image.finish()
}

/// One section of code, and as many symbols and functions.
fn symbols(count: u64, place: impl Fn(u64) -> (u64, u64)) -> Vec<u8> {
    let mut image = Image::new(ET_DYN);
    let text = image.put(&vec![0x90; count as usize * 16]);
    image.sframe(&sframe(count, 0x1000, 0), 0x1000);
    image.section(".text", PROGBITS, CODE, TEXT, (text, count * 16), (0, 0));
    image.symbols(count, place);
    image.finish()
}

/// An object with one section of code, and `count` empty sections of relocations for `.sframe`,
/// against the symbols of as many tables by turns.
fn relocation_sections(count: u64, tables: u64) -> Vec<u8> {
    let mut image = Image::new(ET_REL);
    let text = image.put(&[0x90; 16]);
    image.sframe(&sframe(1, 0, 0), 0);
    image.section(".text", PROGBITS, CODE, 0, (text, 16), (0, 0));
    for _ in 0..tables {
        image.symbols(1, |_| (0, 16));
    }
    for index in 0..count {
        // Each table of symbols is followed by its strings.
        let symbols = 3 + 2 * (index % tables);
        image.section(".rela.sframe", RELA, 0, 0, (text, 0), (symbols, 1));
    }
    image.finish()
}

/// `count` SFrame sections that share the bytes of the first, and symbols.
fn sframe_sections(count: u64, symbols: u64) -> Vec<u8> {
    let mut image = Image::new(ET_DYN);
    let text = image.put(&[0x90; 16]);
    let data = sframe(1, 0x1000, 0);
    let place = image.sframe(&data, 0x1000);
    image.section(".text", PROGBITS, CODE, TEXT, (text, 16), (0, 0));
    image.symbols(symbols, |index| (TEXT + index, 1));
    // As much as other headers leave room for is checked: none of these is empty.
    for _ in 1..count {
        image.section(".sframe", GNU_SFRAME, ALLOC, 0x1000, (place, data.len() as u64), (0, 0));
    }
    image.finish()
}

struct Image {
    kind: u16,
    bytes: Vec<u8>,
    names: Vec<u8>,
    headers: Vec<[u64; 10]>,
}

impl Image {
    fn new(kind: u16) -> Image {
        Image { kind, bytes: vec![0; 64], names: vec![0], headers: vec![[0; 10]] }
    }

    fn put(&mut self, data: &[u8]) -> u64 {
        let place = self.bytes.len() as u64;
        self.bytes.extend(data);
        place
    }

    fn name(&mut self, name: &str) -> u64 {
        let name: Vec<u8> = name.bytes().chain([0]).collect();
        let known = self.names.windows(name.len()).position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.extend(&name);
            self.names.len() - name.len()
        }) as u64
    }

    /// A header: bytes from the file's start and their number, and `sh_link` and `sh_info`.
    fn section(
        &mut self,
        name: &str,
        kind: u32,
        flags: u64,
        address: u64,
        (offset, size): (u64, u64),
        (link, info): (u64, u64),
    ) {
        let name = self.name(name);
        let entry = if kind == SYMTAB || kind == RELA { 24 } else { 0 };
        let kind = u64::from(kind);
        self.headers.push([name, kind, flags, address, offset, size, link, info, 8, entry]);
    }

    fn sframe(&mut self, data: &[u8], address: u64) -> u64 {
        let place = self.put(data);
        self.section(".sframe", GNU_SFRAME, ALLOC, address, (place, data.len() as u64), (0, 0));
        place
    }

    /// `.symtab` with global function symbols in section 2, and its `.strtab`.
    fn symbols(&mut self, count: u64, place: impl Fn(u64) -> (u64, u64)) {
        let mut table = vec![0; 24];
        for index in 0..count {
            let (start, size) = place(index);
            table.extend([1, 0, 0, 0, 0x12, 0, 2, 0]);
            table.extend(start.to_le_bytes());
            table.extend(size.to_le_bytes());
        }
        let link = self.headers.len() as u64 + 1;
        let size = table.len() as u64;
        let offset = self.put(&table);
        self.section(".symtab", SYMTAB, 0, 0, (offset, size), (link, 1));
        let offset = self.put(b"\0name\0");
        self.section(".strtab", STRTAB, 0, 0, (offset, 6), (0, 0));
    }

    /// The file; numbers of sections that do not fit are in the null section (gABI, "ELF Header").
    fn finish(mut self) -> Vec<u8> {
        self.name(".shstrtab");
        let names = std::mem::take(&mut self.names);
        let offset = self.put(&names);
        self.names = names;
        self.section(".shstrtab", STRTAB, 0, 0, (offset, self.names.len() as u64), (0, 0));
        let (count, last) = (self.headers.len() as u64, self.headers.len() as u64 - 1);
        self.headers[0][5] = count;
        self.headers[0][6] = last;
        let table = self.bytes.len() as u64;
        for header in &self.headers {
            let widths = [4, 4, 8, 8, 8, 8, 4, 4, 8, 8];
            for (value, width) in header.iter().zip(widths) {
                self.bytes.extend(&value.to_le_bytes()[..width]);
            }
        }
        let mut head = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        head.extend([self.kind, 62].iter().flat_map(|half| half.to_le_bytes()));
        // e_version, e_entry, e_phoff.
        head.extend([1, 0, 0, 0].iter().chain(&[0; 16]));
        head.extend(table.to_le_bytes());
        // Flags; sizes and numbers of program headers; 64 bytes a section header, both numbers in
        // the null section.
        head.extend([0, 0, 0, 0]);
        for half in [64_u16, 56, 0, 64, 0, 0xffff] {
            head.extend(half.to_le_bytes());
        }
        self.bytes[..64].copy_from_slice(&head);
        self.bytes
    }
}
