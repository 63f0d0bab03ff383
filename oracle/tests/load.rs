//! Tests of CFI sections in ELF files written by hand: bases of pointers, relocations, classes, and sections that share
//! bytes.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::by_hand::{eh_frame, entry};
use sframe_oracle::cfi::{Cfi, CfiErrorKind, Kind};
use sframe_validator::Abi;
use sframe_validator::elf::{Class, Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::elf::{ElfWriter, Relocation, SectionHeader, Symbol};

const PROGBITS: SectionHeader = SectionHeader {
    name: 0,
    sh_type: 1,
    flags: 2,
    address: 0,
    offset: 0,
    size: 0,
    link: 0,
    info: 0,
    alignment: 8,
    entry_size: 0,
};

fn number(length: usize) -> u32 {
    u32::try_from(length).expect("short")
}

/// A CIE with augmentation `zR`, which gives the encoding of pointers, and one FDE. The CIE has 4 + 4 + 12 bytes, so the
/// FDE's start is at 28.
fn encoded(encoding: u8, range: &[u8]) -> Vec<u8> {
    let cie = entry(0, &[1, b'z', b'R', 0, 1, 0x78, 16, 1, encoding, 0x0c, 7, 8]);
    assert_eq!(cie.len(), 20);
    [cie, entry(24, &[range, &[0]].concat())].concat()
}

/// The place of that FDE's start.
const START: u64 = 28;

/// Reads a file, and returns what `look` finds in its CFI sections.
fn of<T>(file: ElfWriter<'_>, look: impl FnOnce(&[Cfi<'_>]) -> T) -> T {
    let bytes = file.finish().expect("a file");
    let elf = Elf::parse(&bytes).expect("ELF");
    look(&Cfi::load_all(&elf).expect("readable"))
}

/// A defect: its place and its kind.
type Defect = (u64, CfiErrorKind);

/// The places of the functions, and the defects.
fn content(cfi: &Cfi<'_>) -> (Vec<(CodeAddress, u64)>, Vec<Defect>) {
    let functions = cfi.functions().map(|function| (function.start(), function.size()));
    let defects = cfi.defects().iter().map(|defect| (defect.offset, defect.kind));
    (functions.collect(), defects.collect())
}

/// LSB 10.5.1: relative to the field, to `.text`, and to `.got`.
#[test]
fn pointers_are_relative_to_sections() {
    for (encoding, base) in [(0x1b, 0x8000 + START), (0x2b, 0x1000), (0x3b, 0x6000)] {
        let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
        file.section_of(".data", &[0; 16], SectionHeader { address: 0x7000, ..PROGBITS });
        file.section_of(".text", &[0; 16], SectionHeader { address: 0x1000, ..PROGBITS });
        file.section_of(".got", &[0; 16], SectionHeader { address: 0x6000, ..PROGBITS });
        let bytes = encoded(encoding, &[0x10, 0, 0, 0, 9, 0, 0, 0]);
        file.section_of(".eh_frame", &bytes, SectionHeader { address: 0x8000, ..PROGBITS });
        let (functions, defects) = of(file, |cfi| content(&cfi[0]));
        assert_eq!(functions, [(CodeAddress::absolute(base + 0x10), 9)], "{encoding:#x}");
        assert_eq!(defects, []);
    }
}

/// In a file of class 32 (x32), addresses have 4 bytes.
#[test]
fn addresses_have_the_size_of_the_class() {
    let bytes = encoded(0, &[0, 0x10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (class, range) in [(Class::Elf32, (0x1000, 9)), (Class::Elf64, (0x9_0000_1000, 0))] {
        let mut file = ElfWriter::of_class(class, Abi::Amd64, ElfKind::Executable);
        file.section_of(".eh_frame", &bytes, PROGBITS);
        let (functions, _) = of(file, |cfi| content(&cfi[0]));
        assert_eq!(functions, [(CodeAddress::absolute(range.0), range.1)]);
    }
}

/// The psABI of AMD64: 1 is R_X86_64_64 (S + A, 8 bytes), 2 is R_X86_64_PC32 and 24 R_X86_64_PC64 (S + A - P), 10 is
/// R_X86_64_32, and 0 R_X86_64_NONE. The encodings are absptr, absolute sdata4, pcrel sdata4 and sdata8, and textrel.
#[test]
fn relocations_give_the_start_if_they_fit_the_field() {
    let wide = [0; 16];
    let narrow = [0; 8];
    let kind = |kind| Err((START, CfiErrorKind::RelocationType(kind)));
    /// The encoding, the range, the relocation's offset and type, the symbol's section, and the result.
    type Case<'r> = (u8, &'r [u8], u64, u32, u16, Result<(), Defect>);
    let cases: [Case<'_>; 16] = [
        (0x00, &wide, START, 1, 1, Ok(())),
        (0x50, &wide, START + 4, 1, 1, Ok(())),
        (0x0b, &narrow, START, 10, 1, Ok(())),
        (0x1b, &narrow, START, 2, 1, Ok(())),
        (0x1c, &wide, START, 24, 1, Ok(())),
        // Another formula, another width, both, or no address at all.
        (0x00, &wide, START, 24, 1, kind(24)),
        (0x00, &wide, START, 10, 1, kind(10)),
        (0x1b, &narrow, START, 10, 1, kind(10)),
        (0x1b, &narrow, START, 24, 1, kind(24)),
        (0x1b, &narrow, START, 1, 1, kind(1)),
        (0x1b, &narrow, START, 9, 1, kind(9)),
        // At another place, for another symbol, or discarded.
        (0x1b, &narrow, START + 1, 2, 1, Err((START, CfiErrorKind::MissingRelocation))),
        (0x1b, &narrow, START - 1, 2, 1, Err((START, CfiErrorKind::MissingRelocation))),
        (0x1b, &narrow, START, 2, 0, Err((START, CfiErrorKind::UnresolvedRelocation))),
        (0x1b, &narrow, START, 0, 1, Err((START, CfiErrorKind::Discarded))),
        (0x2b, &narrow, START, 10, 1, Err((START, CfiErrorKind::PointerEncoding(0x2b)))),
    ];
    for (encoding, range, offset, kind, section, wanted) in cases {
        let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Relocatable);
        let text = file.section_of(".text", &[0; 0x40], PROGBITS);
        let padding: &[u8] = if encoding == 0x50 { &[0; 4] } else { &[] };
        let bytes = encoded(encoding, &[padding, range].concat());
        let target = file.section_of(".eh_frame", &bytes, PROGBITS);
        // A symbol of type STT_SECTION, defined or not.
        let symbol = Symbol { name: "", info: 3, section, value: 8, size: 0 };
        let symbols = file.symbols(&[symbol]).expect("few");
        let relocation = Relocation { offset, symbol: 1, kind, addend: 0x10 };
        // One before and one after it, which belong to no field.
        let before = Relocation { offset: 0, ..relocation };
        let after = Relocation { offset: 0x100, ..relocation };
        file.relocations(".rela.eh_frame", (target, symbols), &[after, relocation, before]);
        let (functions, defects) = of(file, |cfi| content(&cfi[0]));
        let start = CodeAddress { section: text, address: 0x18 };
        match wanted {
            Ok(()) => assert_eq!(
                (functions, defects),
                (vec![(start, 0)], vec![(20, CfiErrorKind::EmptyRange)])
            ),
            Err(defect) => assert_eq!((functions, defects), (vec![], vec![defect])),
        }
    }
}

/// Sections for unwinders come first. Each is read under its own name and index.
#[test]
fn sections_are_read_by_name_and_index() {
    let mut debug_frame = entry(u32::MAX, &[1, 0, 1, 0x78, 16, 0x0c, 7, 8]);
    let range = [0x1000_u64.to_le_bytes(), 9_u64.to_le_bytes()].concat();
    debug_frame.extend(entry(0, &range));
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
    file.section_of(".text", &[0; 16], SectionHeader { address: 0x1000, ..PROGBITS });
    file.section_of(".debug_frame", &debug_frame, PROGBITS);
    file.section_of(".eh_frame", &eh_frame(&[(0x2000, 8, &[])]), PROGBITS);
    file.section_of(".eh_frame_hdr", &[0; 8], PROGBITS);
    of(file, |cfi| {
        let found: Vec<_> = cfi.iter().map(|c| (c.name(), c.kind(), c.section())).collect();
        let wanted =
            [(".eh_frame", Some(Kind::EhFrame), 3), (".debug_frame", Some(Kind::DebugFrame), 2)];
        assert_eq!(found, wanted);
        assert_eq!(content(&cfi[0]).0, [(CodeAddress::absolute(0x2000), 8)]);
        assert_eq!(content(&cfi[1]).0, [(CodeAddress::absolute(0x1000), 9)]);
        assert!(cfi.iter().all(|cfi| cfi.len() == 1 && !cfi.is_empty() && cfi.abi() == Abi::Amd64));
    });
}

/// Many headers that lead to the same bytes do not multiply the work.
#[test]
fn sections_that_share_bytes_or_end_outside_are_not_read() {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
    let padding = vec![0; 400];
    let bytes = [eh_frame(&[(0x1000, 8, &[])]), padding].concat();
    let offset = file.append(&bytes, 8);
    let size = u64::from(number(bytes.len()));
    for _ in 0..8 {
        file.section(".eh_frame", SectionHeader { offset, size, ..PROGBITS });
    }
    file.section(".eh_frame", SectionHeader { offset, size: 1 << 32, ..PROGBITS });
    let file = file.finish().expect("a file");
    let elf = Elf::parse(&file).expect("ELF");
    let cfi = Cfi::load_all(&elf).expect("readable");
    // As many as fit into the size of the file.
    let fit = file.len() / bytes.len();
    assert!((1..8).contains(&fit));
    let unreadable = |why| vec![(0, CfiErrorKind::UnreadableSection(why))];
    for (number, cfi) in cfi.iter().enumerate() {
        let (functions, defects) = content(cfi);
        assert_eq!(functions.len(), usize::from(number < fit), "{number}");
        assert_eq!(cfi.is_empty(), number >= fit);
        let wanted = match number {
            8 => unreadable("it ends outside the file"),
            _ if number >= fit => unreadable("it shares its bytes with other sections"),
            _ => vec![],
        };
        assert_eq!(defects, wanted, "{number}");
    }
    assert_eq!(cfi.len(), 9);
}
