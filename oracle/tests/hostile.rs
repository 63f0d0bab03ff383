//! Tests with sections that claim to contain far more than they do. The work must depend on the bytes. No test asserts
//! a time, but a walk that followed the claims would not end.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_oracle::cfi::{Cfi, Kind, RowContext};
use sframe_oracle::code::Program;
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::elf::{ElfWriter, SectionHeader, Symbol};

/// A CIE, and `count` FDEs with the instructions `program`, which all cover nearly the whole address space.
fn section(count: usize, program: &[u8]) -> Vec<u8> {
    let mut bytes = vec![14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0, 0];
    for _ in 0..count {
        let length = u32::try_from(20 + program.len()).expect("short");
        let id = u32::try_from(bytes.len() + 4).expect("short");
        bytes.extend(length.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        bytes.extend(0x1000_u64.to_le_bytes());
        bytes.extend((u64::MAX / 2).to_le_bytes());
        bytes.extend(program);
    }
    bytes
}

fn rows(bytes: &[u8]) -> usize {
    let cfi = Cfi::from_bytes(bytes, Kind::EhFrame, 0, Abi::Amd64);
    assert!(!cfi.is_empty(), "{:?}", cfi.defects());
    let mut context = RowContext::new(&cfi);
    cfi.functions().map(|function| function.rows(&mut context).count()).sum()
}

#[test]
fn a_linkage_table_as_large_as_the_address_space() {
    // breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
    let program = [0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
    let bytes = section(10_000, &program);
    assert!(rows(&bytes) <= bytes.len());
}

/// A file cannot have more blocks of 16 bytes than its own size allows. The addresses are far apart, so the size of the
/// function counts, and not where it is.
#[test]
fn a_linkage_table_as_large_as_the_file() {
    let program = [0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
    let mut bytes = section(1, &program);
    let blocks = bytes.len() / 16;
    // The CIE has 18 bytes, so the FDE's range starts at 18 + 8, and its size at 18 + 16.
    let mut split = |size: usize| {
        bytes[34..42].copy_from_slice(&(size as u64).to_le_bytes());
        rows(&bytes)
    };
    // Two rows for each block, and one for the beginning of another.
    assert_eq!(split(16 * blocks), 2 * blocks);
    assert_eq!(split(16 * blocks + 1), 2 * blocks + 1);
    assert_eq!(split(16 * blocks + 15), 2 * blocks + 2);
    assert_eq!(split(16 * blocks + 16), 1);
}

#[test]
fn remembered_states_without_end() {
    let bytes = section(2, &[0x0a; 1_000_000]);
    assert_eq!(rows(&bytes), 2);
}

#[test]
fn expressions_that_reach_over_each_other() {
    let mut program = vec![0x0f, 0xff, 0x07];
    program.extend([0x96; 1023]); // nop
    let bytes = section(1_000, &program);
    assert_eq!(rows(&bytes), 2_000 - 1_000);
}

/// Whether the function of an object is examined whose sections of code all have the same 1,000 relocations, 24 bytes each.
fn is_examined(count: usize) -> bool {
    let header = |sh_type| SectionHeader { sh_type, alignment: 8, ..SectionHeader::default() };
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Relocatable);
    let code = SectionHeader { flags: 6, ..header(1) };
    let sections: Vec<u32> =
        (0..count).map(|_| file.section_of(".text", &[0x90, 0xc3], code)).collect();
    let section = u16::try_from(sections[0]).expect("few");
    let function = Symbol { name: "f", info: 0x12, section, value: 0, size: 2 };
    let link = file.symbols(&[function]).expect("short");
    // R_X86_64_PC32 with the symbol 1.
    let relocation = [0x100_u64, 1 << 32 | 2, 0].map(u64::to_le_bytes).concat();
    let table = relocation.repeat(1000);
    let offset = file.append(&table, 8);
    for info in &sections {
        let size = table.len() as u64;
        let table = SectionHeader { offset, size, link, info: *info, entry_size: 24, ..header(4) };
        file.section(".rela.text", table);
    }
    let bytes = file.finish().expect("a file");
    let elf = Elf::parse(&bytes).expect("ELF");
    let code = Program::of(&elf, &[], &[]).expect("AMD64");
    code.function(CodeAddress { section: sections[0], address: 0 }).is_some()
}

#[test]
fn relocations_are_not_read_once_for_each_header() {
    assert!(is_examined(1) && is_examined(5));
    // More than the file has room for.
    assert!(!is_examined(20));
}
