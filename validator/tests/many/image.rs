//! x86-64 ELF files with very many section headers or symbols, including malicious ones.

use sframe_validator::elf::{
    ElfKind, SHF_ALLOC, SHF_EXECINSTR, SHT_GNU_SFRAME, SHT_PROGBITS, SHT_RELA,
};
use sframe_validator::unwind::{Cfa, Frame, Recovery};
use sframe_validator::write::elf::{ElfWriter, SectionHeader, Symbol, claims};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Version};

/// The address of the code.
pub const TEXT: u64 = 0x100_0000;

/// The items of which a file has too many.
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

/// A file of the given kind, with `count` of the items.
pub fn file(case: &str, count: u64) -> Vec<u8> {
    match case {
        "code sections" => code_sections(count, ".text", |index| (index * 16, 16), 0),
        // Each section extends from its start to the end of all of them.
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

/// `count` sections of code at `place(index)`, which returns offset and size relative to [`TEXT`], with a function in
/// each.
fn code_sections(count: u64, name: &str, place: impl Fn(u64) -> (u64, u64), repeat: u8) -> Vec<u8> {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
    let text = file.append(&vec![0x90; count as usize * 16], 1);
    add_sframe(&mut file, &sframe(count, 0x1000, repeat), 0x1000);
    for index in 0..count {
        let (offset, size) = place(index);
        file.section(name, code(TEXT + offset, (text + offset, size)));
    }
    finish(file)
}

/// One section of code, with as many symbols and functions.
fn symbols(count: u64, place: impl Fn(u64) -> (u64, u64)) -> Vec<u8> {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
    let text = file.append(&vec![0x90; count as usize * 16], 1);
    add_sframe(&mut file, &sframe(count, 0x1000, 0), 0x1000);
    file.section(".text", code(TEXT, (text, count * 16)));
    add_symbols(&mut file, count, place);
    finish(file)
}

/// An object with one section of code, and `count` empty sections of relocations for `.sframe`, which refer alternately
/// to the symbols of `tables` tables.
fn relocation_sections(count: u64, tables: u32) -> Vec<u8> {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Relocatable);
    let text = file.append(&[0x90; 16], 1);
    let sframe = add_sframe(&mut file, &sframe(1, 0, 0), 0);
    file.section(".text", code(0, (text, 16)));
    let tables: Vec<u32> = (0..tables).map(|_| add_symbols(&mut file, 1, |_| (0, 16))).collect();
    for symbols in tables.iter().copied().cycle().take(count as usize) {
        let header = SectionHeader {
            sh_type: SHT_RELA,
            offset: text,
            link: symbols,
            info: sframe,
            alignment: 8,
            entry_size: 24,
            ..SectionHeader::default()
        };
        file.section(".rela.sframe", header);
    }
    finish(file)
}

/// `count` SFrame sections that share the bytes of the first, and symbols.
fn sframe_sections(count: u64, symbols: u64) -> Vec<u8> {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
    let text = file.append(&[0x90; 16], 1);
    let data = sframe(1, 0x1000, 0);
    let header = sframe_header(&mut file, &data, 0x1000);
    file.section(".sframe", header);
    file.section(".text", code(TEXT, (text, 16)));
    add_symbols(&mut file, symbols, |index| (TEXT + index, 1));
    // Sections are checked until their sizes add up to the size of the file, to which each header adds. None is empty.
    for _ in 1..count {
        file.section(".sframe", header);
    }
    finish(file)
}

/// The header of code at an address, with its offset and size in the file.
fn code(address: u64, (offset, size): (u64, u64)) -> SectionHeader {
    let flags = SHF_ALLOC | SHF_EXECINSTR;
    let sh_type = SHT_PROGBITS;
    SectionHeader {
        sh_type,
        flags,
        address,
        offset,
        size,
        alignment: 8,
        ..SectionHeader::default()
    }
}

fn sframe_header(file: &mut ElfWriter<'_>, data: &[u8], address: u64) -> SectionHeader {
    SectionHeader {
        sh_type: SHT_GNU_SFRAME,
        flags: SHF_ALLOC,
        address,
        offset: file.append(data, 8),
        size: data.len() as u64,
        alignment: 8,
        ..SectionHeader::default()
    }
}

fn add_sframe(file: &mut ElfWriter<'_>, data: &[u8], address: u64) -> u32 {
    let header = sframe_header(file, data, address);
    file.section(".sframe", header)
}

/// Adds `.symtab` with global function symbols in section 2.
fn add_symbols(file: &mut ElfWriter<'_>, count: u64, place: impl Fn(u64) -> (u64, u64)) -> u32 {
    let symbol = |index| {
        let (value, size) = place(index);
        Symbol { name: "name", info: 0x12, section: 2, value, size }
    };
    let symbols: Vec<_> = (0..count).map(symbol).collect();
    file.symbols(&symbols).expect("they can be counted")
}

/// Finishes the file. The numbers of sections are stored in the null section, as if they did not fit in the file header
/// (gABI, "ELF Header").
fn finish(file: ElfWriter<'_>) -> Vec<u8> {
    let last = file.next_index();
    let mut file = file.finish().expect("it is not that large");
    let claim = |tables: &mut claims::Tables| {
        (tables.section_count, tables.names_index) = (0, 0xffff);
    };
    claims::tables(&mut file, claim).expect("a file");
    let numbers = |null: &mut SectionHeader| (null.size, null.link) = (u64::from(last) + 1, last);
    claims::section(&mut file, 0, numbers).expect("a section");
    file
}
