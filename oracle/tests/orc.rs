//! Tests of the kernel's ORC tables. Flags and meanings are worked out by hand from Linux's
//! `arch/x86/include/asm/orc_types.h` and `arch/x86/kernel/unwind_orc.c`, of the versions that are named.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::compare::{Fields, Sums, Verdict, compare};
use sframe_oracle::orc::{Doubt, Layout, Meaning, Orc, OrcError, OrcErrorKind, OrcFunctions};
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Register};
use sframe_validator::write::elf::{ElfWriter, Relocation, SectionHeader, Symbol};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Placement, Section, Version};

/// `.orc_header`: the output of `scripts/orc_hash.sh` for Linux 6.3 and 6.12.
const LINUX_6_3: [u8; 20] = [
    0xdb, 0x84, 0xae, 0xd4, 0x10, 0x3b, 0x31, 0xdd, 0x51, 0xe0, 0x17, 0xf8, 0xf7, 0x97, 0x83, 0xca,
    0x98, 0x5c, 0x2c, 0x51,
];
const LINUX_6_12: [u8; 20] = [
    0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9, 0xa5, 0xc6, 0x5b, 0xa5, 0xa6, 0x25,
    0xea, 0xb3, 0xfe, 0x24,
];
const LINUX_7_2: [u8; 20] = [
    0x13, 0x7c, 0x36, 0xad, 0x76, 0x27, 0xc4, 0xdd, 0x55, 0x93, 0x21, 0x76, 0xbb, 0x0e, 0xcd, 0xbd,
    0x50, 0x41, 0xfc, 0x82,
];

/// The code of the files: 0x1000..0x1100.
const TEXT: u64 = 0x1000;
const IPS: u64 = 0x2000;

/// `sp_offset`, `bp_offset` and the flags.
type Raw = (i16, i16, u16);

fn progbits(flags: u64, address: u64) -> SectionHeader {
    SectionHeader { sh_type: 1, flags, address, alignment: 1, ..SectionHeader::default() }
}

fn bytes_of(entries: &[Raw]) -> Vec<u8> {
    let entry =
        |(sp, bp, flags): &Raw| [sp.to_le_bytes(), bp.to_le_bytes(), flags.to_le_bytes()].concat();
    entries.iter().flat_map(entry).collect()
}

/// A linked file with 256 bytes of code, and entries at their addresses.
fn linked(header: Option<&[u8]>, entries: &[(u64, Raw)]) -> Vec<u8> {
    tables(header, entries).finish().expect("a file")
}

/// Such a file in the layout of Linux 6.12, with function symbols.
fn with_symbols(entries: &[(u64, Raw)], places: &[u64]) -> Vec<u8> {
    let mut file = tables(Some(&LINUX_6_12), entries);
    let symbol = |value: &u64| Symbol { name: "f", info: 2, section: 1, value: *value, size: 1 };
    file.symbols(&places.iter().map(symbol).collect::<Vec<_>>()).expect("few");
    file.finish().expect("a file")
}

fn tables(header: Option<&[u8]>, entries: &[(u64, Raw)]) -> ElfWriter<'static> {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
    file.section_of(".text", &[0x90; 0x100], progbits(6, TEXT));
    let fields = (0_u64..).zip(entries).flat_map(|(number, (address, _))| {
        let distance = address.wrapping_sub(IPS + 4 * number).cast_signed();
        i32::try_from(distance).expect("near").to_le_bytes()
    });
    file.section_of(".orc_unwind_ip", &fields.collect::<Vec<u8>>(), progbits(2, IPS));
    let raw: Vec<Raw> = entries.iter().map(|(_, raw)| *raw).collect();
    file.section_of(".orc_unwind", &bytes_of(&raw), progbits(2, 0x3000));
    if let Some(header) = header {
        file.section_of(".orc_header", header, progbits(2, 0x4000));
    }
    file
}

fn load(file: &[u8]) -> Result<Orc, OrcError> {
    Ok(Orc::load(&Elf::parse(file).expect("ELF"))?.expect("tables"))
}

fn register(number: u32) -> Register {
    Register(number)
}

fn frame(cfa: Cfa, ra: Recovery, fp: Recovery, signal: bool) -> Meaning {
    Meaning::Frame { frame: Frame { cfa, ra, fp, ra_signed: false }, signal }
}

/// The frame of a call: the CFA is `register + offset`.
fn call(number: u32, offset: i64, fp: Recovery) -> Meaning {
    let cfa = Cfa::RegisterOffset { register: register(number), offset };
    frame(cfa, Recovery::AtCfa(-8), fp, false)
}

/// RA and FP in memory at `register + offset`, and the CFA too.
fn at(number: u32, offset: i64) -> Recovery {
    Recovery::AtRegister { register: register(number), offset }
}

fn loaded(number: u32, offset: i64) -> Cfa {
    Cfa::Dereference { register: register(number), offset }
}

/// DWARF numbers: RDX 1, RDI 5, RBP 6, RSP 7. `struct pt_regs`: BP at 32, IP at 128, SP at 152.
#[test]
fn entries_of_linux_6_12_have_their_meaning() {
    use Recovery::{AtCfa, Unchanged};
    let unwound = |doubt| Meaning::Undecided(doubt);
    let cases: [(Raw, Meaning); 22] = [
        ((0, 0, 0x000), Meaning::Undefined),
        ((0, 0, 0x100), Meaning::Frame { frame: Frame::OUTERMOST, signal: false }),
        ((8, 0, 0x205), call(7, 8, Unchanged)),
        ((24, -16, 0x215), call(7, 24, AtCfa(-16))),
        ((16, -16, 0x214), call(6, 16, AtCfa(-16))),
        ((-8, 0, 0x205), call(7, -8, Unchanged)),
        ((8, -8, 0x245), call(7, 8, at(6, -8))),
        // The unwinder does not use the offset with R10, R13, DI and DX.
        ((8, 0, 0x246), call(10, 0, at(6, 0))),
        ((0, 0, 0x207), call(13, 0, Unchanged)),
        ((0, 0, 0x203), call(5, 0, Unchanged)),
        ((0, 0, 0x202), call(1, 0, Unchanged)),
        ((-24, 0, 0x248), frame(loaded(6, -24), AtCfa(-8), at(6, 0), false)),
        ((0, 0, 0x209), frame(loaded(7, 0), AtCfa(-8), Unchanged, false)),
        ((8, 0, 0x209), unwound(Doubt::LoadedAndAdded)),
        ((0, 0, 0xb05), frame(loaded(7, 152), at(7, 128), at(7, 32), true)),
        ((16, 0, 0xb05), frame(loaded(7, 168), at(7, 144), at(7, 48), true)),
        ((8, 0, 0xc05), frame(loaded(7, 32), at(7, 8), Unchanged, true)),
        ((0, 40, 0xc15), frame(loaded(7, 24), at(7, 0), at(7, 40), true)),
        ((0, 0, 0xb09), unwound(Doubt::LoadedTwice)),
        ((8, 0, 0x505), unwound(Doubt::Type(5))),
        ((8, 0, 0x201), unwound(Doubt::SpBase(1))),
        ((8, 0, 0x225), unwound(Doubt::BpBase(2))),
    ];
    let entries: Vec<_> = (0_u64..).zip(&cases).map(|(n, (raw, _))| (TEXT + n, *raw)).collect();
    let orc = load(&linked(Some(&LINUX_6_12), &entries)).expect("tables");
    assert_eq!(orc.layouts(), [Layout::Linux6_4]);
    for (entry, (raw, wanted)) in orc.entries().iter().zip(&cases) {
        assert_eq!(entry.meaning, *wanted, "{raw:x?}");
    }
    // A signal frame that is no pt_regs.
    let orc = load(&linked(Some(&LINUX_6_12), &[(TEXT, (8, 0, 0xa05))])).expect("tables");
    let Meaning::Frame { signal, .. } = orc.entries()[0].meaning else { panic!("a frame") };
    assert!(signal);
}

/// Linux 7.1 has AX, and numbers the bases anew.
#[test]
fn entries_of_linux_7_2_have_their_meaning() {
    use Recovery::{AtCfa, Unchanged};
    let cases: [(Raw, Meaning); 17] = [
        ((0, 0, 0x000), Meaning::Undefined),
        ((0, 0, 0x100), Meaning::Frame { frame: Frame::OUTERMOST, signal: false }),
        ((8, 0, 0x203), call(7, 8, Unchanged)),
        ((24, -16, 0x283), call(7, 24, AtCfa(-16))),
        ((16, -16, 0x284), call(6, 16, AtCfa(-16))),
        ((8, -8, 0x243), call(7, 8, at(6, -8))),
        ((8, 0, 0x201), call(0, 0, Unchanged)),
        ((8, 0, 0x202), call(1, 0, Unchanged)),
        ((8, 0, 0x205), call(5, 0, Unchanged)),
        ((8, 0, 0x246), call(10, 0, at(6, 0))),
        ((0, 0, 0x207), call(13, 0, Unchanged)),
        ((-24, 0, 0x24a), frame(loaded(6, -24), AtCfa(-8), at(6, 0), false)),
        ((0, 0, 0x209), frame(loaded(7, 0), AtCfa(-8), Unchanged, false)),
        ((0, 0, 0xb03), frame(loaded(7, 152), at(7, 128), at(7, 32), true)),
        ((8, 0, 0x208), Meaning::Undecided(Doubt::SpBase(8))),
        ((8, 0, 0x20b), Meaning::Undecided(Doubt::SpBase(11))),
        ((8, 0, 0x213), Meaning::Undecided(Doubt::BpBase(1))),
    ];
    let entries: Vec<_> = (0_u64..).zip(&cases).map(|(n, (raw, _))| (TEXT + n, *raw)).collect();
    let orc = load(&linked(Some(&LINUX_7_2), &entries)).expect("tables");
    assert_eq!(orc.layouts(), [Layout::Linux7_1]);
    for (entry, (raw, wanted)) in orc.entries().iter().zip(&cases) {
        assert_eq!(entry.meaning, *wanted, "{raw:x?}");
    }
}

/// Up to 6.2, bit 10 marks the end of the stack. In 6.3, it marks a signal frame, and bit 11 marks the end.
#[test]
fn entries_of_older_kernels_have_their_meaning() {
    use Recovery::Unchanged;
    let outermost = Meaning::Frame { frame: Frame::OUTERMOST, signal: false };
    let regs = |signal| frame(loaded(7, 152), at(7, 128), at(7, 32), signal);
    let partial = |signal| frame(loaded(7, 24), at(7, 0), Unchanged, signal);
    let raws = [(0, 0, 0), (8, 0, 5), (0, 0, 0x105), (0, 0, 0x205)];
    let normal = call(7, 8, Unchanged);
    let meanings = |raws: &[Raw], layouts: &[Layout]| {
        let entries: Vec<_> = (TEXT..).zip(raws.iter().copied()).collect();
        let orc = load(&linked(None, &entries)).expect("tables");
        assert_eq!(orc.layouts(), layouts);
        orc.entries().iter().map(|entry| entry.meaning).collect::<Vec<_>>()
    };
    // In 4.14 all saved registers are those of an interrupted frame; in 6.3 only with the mark.
    let unknown = Meaning::Undecided(Doubt::Layout);
    let both = [raws.as_slice(), &[(8, 0, 5)]].concat();
    let found = meanings(&both, &[Layout::Linux4_14, Layout::Linux6_3]);
    assert_eq!(found, [Meaning::Undefined, normal, unknown, unknown, normal]);
    let old = [both.as_slice(), &[(0, 0, 0x400)]].concat();
    let found = meanings(&old, &[Layout::Linux4_14]);
    let wanted = [Meaning::Undefined, normal, regs(true), partial(true), normal, outermost];
    assert_eq!(found, wanted);

    let new = [(0, 0, 0x800), (0, 0, 0x505), (0, 0, 0x605), (8, 0, 5), (8, 0, 5), (8, 0, 5)];
    let entries: Vec<_> = (TEXT..).zip(raws.into_iter().chain(new)).collect();
    let wanted = [Meaning::Undefined, normal, regs(false), partial(false), outermost];
    let wanted = [wanted.as_slice(), &[regs(true), partial(true), normal, normal, normal]].concat();
    for header in [None, Some(LINUX_6_3.as_slice())] {
        let orc = load(&linked(header, &entries)).expect("tables");
        assert_eq!(orc.layouts(), [Layout::Linux6_3]);
        let meanings: Vec<_> = orc.entries().iter().map(|entry| entry.meaning).collect();
        assert_eq!(meanings, wanted);
    }
}

/// Without a header, the layout follows from what objtool writes: an undefined entry has no bases, and most frames are those
/// of calls. With an unknown header, nothing is known.
#[test]
fn the_layout_is_known_or_undecided() {
    let layouts = |header: Option<&[u8]>, raws: &[Raw]| {
        let entries: Vec<_> = (TEXT..).zip(raws.iter().copied()).collect();
        load(&linked(header, &entries)).expect("tables").layouts().to_vec()
    };
    use Layout::{Linux4_14, Linux6_3, Linux6_4};
    // RHEL 9.6 has the layout of 6.4 without a header.
    assert_eq!(layouts(None, &[(8, 0, 0x205), (24, -16, 0x215), (0, 0, 0)]), [Linux6_4]);
    assert_eq!(layouts(None, &[(8, 0, 5), (24, -16, 0x15), (0, 0, 0)]), [Linux4_14, Linux6_3]);
    // One damaged entry does not make another layout possible.
    assert_eq!(layouts(None, &[(8, 0, 0x205), (8, 0, 0x205), (8, 0, 5)]), []);
    assert_eq!(layouts(None, &[(8, 0, 0x8005)]), []);
    assert_eq!(layouts(None, &[(0, 0, 0)]), Layout::WITHOUT_HEADER);
    assert_eq!(layouts(Some(&LINUX_6_12), &[(8, 0, 5)]), [Linux6_4]);
    assert_eq!(layouts(Some(&[0; 20]), &[(8, 0, 0x205)]), []);
    let orc = load(&linked(Some(&[0; 20]), &[(TEXT, (8, 0, 0x205))])).expect("tables");
    assert_eq!(orc.entries()[0].meaning, Meaning::Undecided(Doubt::Layout));
}

/// A module: `.text` with 0x20 bytes, a section of data, and `.init.text` with 0x10, whose symbols are 1, 2 and 3.
fn module(raws: &[Raw], relocations: &[Relocation]) -> Vec<u8> {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Relocatable);
    file.section_of(".text", &[0x90; 0x20], progbits(6, 0));
    file.section_of(".data", &[0; 0x20], progbits(3, 0));
    file.section_of(".init.text", &[0x90; 0x10], progbits(6, 0));
    let ips = file.section_of(".orc_unwind_ip", &vec![0; 4 * raws.len()], progbits(2, 0));
    file.section_of(".orc_unwind", &bytes_of(raws), progbits(2, 0));
    file.section_of(".orc_header", &LINUX_6_12, progbits(2, 0));
    let symbol = |section| Symbol { name: "", info: 3, section, value: 0, size: 0 };
    let symbols = file.symbols(&[symbol(1), symbol(2), symbol(3), symbol(0)]).expect("few");
    file.relocations(".rela.orc_unwind_ip", (ips, symbols), relocations);
    file.finish().expect("a file")
}

fn pc32(number: u64, symbol: u32, addend: i64) -> Relocation {
    Relocation { offset: 4 * number, symbol, kind: 2, addend }
}

/// The entries of a module are in any order. Those at the ends of sections describe nothing. An undefined entry gives way to
/// another one at its address, and two others that differ are undecided.
#[test]
fn entries_are_sorted_as_the_kernel_sorts_them() {
    let raws = [
        (16, -16, 0x215),
        (8, 0, 0x205),
        (0, 0, 0),
        (8, 0, 0x205),
        (0, 0, 0),
        (32, 0, 0x205),
        (0, 0, 0),
        (40, 0, 0x205),
        (48, 0, 0x205),
    ];
    let at = [(1, 4), (1, 0), (1, 0x20), (3, 0), (3, 0x10), (1, 0x10), (1, 0x10), (3, 8), (3, 8)];
    let relocations: Vec<_> =
        (0..).zip(at).map(|(number, (symbol, addend))| pc32(number, symbol, addend)).collect();
    let orc = load(&module(&raws, &relocations)).expect("tables");
    assert_eq!(orc.defects(), []);
    let normal = |offset, fp| call(7, offset, fp);
    let unchanged = Recovery::Unchanged;
    let wanted = [
        (1, 0, 4, normal(8, unchanged)),
        (1, 4, 0x10, normal(16, Recovery::AtCfa(-16))),
        (1, 0x10, 0x10, Meaning::Undefined),
        (1, 0x10, 0x20, normal(32, unchanged)),
        (1, 0x20, 0x20, Meaning::Undefined),
        (3, 0, 8, normal(8, unchanged)),
        (3, 8, 8, normal(40, unchanged)),
        (3, 8, 0x10, Meaning::Undecided(Doubt::Conflict)),
        (3, 0x10, 0x10, Meaning::Undefined),
    ];
    let found: Vec<_> = orc
        .entries()
        .iter()
        .map(|entry| (entry.start.section, entry.start.address, entry.end, entry.meaning))
        .collect();
    assert_eq!(found, wanted);
    let find = |section, address| orc.find(CodeAddress { section, address }).map(|e| e.index);
    let found = [(1, 0), (1, 3), (1, 4), (1, 0x1f), (1, 0x20), (2, 0), (3, 7), (3, 8), (3, 0x10)];
    let wanted = [Some(1), Some(1), Some(0), Some(5), None, None, Some(3), Some(8), None];
    assert_eq!(found.map(|(section, address)| find(section, address)), wanted);
}

/// The functions of a file's tables: section, start, end, and whether it is a signal frame.
fn functions(file: &[u8]) -> Vec<(u32, u64, u64, bool)> {
    let elf = Elf::parse(file).expect("ELF");
    let functions = OrcFunctions::of(&elf, &load(file).expect("tables")).expect("few");
    let of = |cfi: &Cfi<'_>| {
        assert_eq!((cfi.kind(), cfi.name(), cfi.defects().len()), (None, ".orc_unwind", 0));
        let range = |fde: sframe_oracle::cfi::Fde<'_>| {
            let start = fde.start();
            (start.section, start.address, start.address + fde.size(), fde.cie().signal)
        };
        cfi.sorted().map(range).collect()
    };
    of(&functions.cfi())
}

/// A function starts at a symbol, after a gap, and where signal frames start or end. Each PC has the entry's frame.
#[test]
fn entries_are_rows_of_functions() {
    let entries = [
        (0x1000, (8, 0, 0x205)),
        (0x1008, (16, -16, 0x215)),
        (0x1028, (0, 0, 0)),
        (0x1030, (24, -16, 0x214)),
        (0x1034, (0, 0, 0xb05)),
        (0x1038, (8, 0, 0xc05)),
        (0x103c, (0, 0, 0x209)),
        (0x1040, (0, 0, 0x246)),
        (0x1044, (0, 0, 0x100)),
        (0x1048, (8, 0, 0x705)),
        (0x104c, (0x7fff, -0x8000, 0x215)),
        (0x1050, (8, 0, 0x205)),
    ];
    // Two symbols at one place, one in code that is not described, and one in the middle of an entry.
    let file = with_symbols(&entries, &[0x1010, 0x1010, 0x102c, 0x1060]);
    let wanted = [
        (0, 0x1000, 0x1010, false),
        (0, 0x1010, 0x1028, false),
        (0, 0x1030, 0x1034, false),
        (0, 0x1034, 0x103c, true),
        (0, 0x103c, 0x1060, false),
        (0, 0x1060, 0x1100, false),
    ];
    assert_eq!(functions(&file), wanted);
    let elf = Elf::parse(&file).expect("ELF");
    let orc = load(&file).expect("tables");
    let functions = OrcFunctions::of(&elf, &orc).expect("few");
    let cfi = functions.cfi();
    let mut context = RowContext::new(&cfi);
    for address in 0x1000..0x1100 {
        let place = CodeAddress::absolute(address);
        let meaning = orc.find(place).expect("an entry").meaning;
        let Some(function) = cfi.find(place) else {
            assert_eq!(meaning, Meaning::Undefined, "{address:#x}");
            continue;
        };
        let mut rows = function.rows(&mut context);
        let row = loop {
            let row = rows.next_row().expect("readable").expect("a row for each PC");
            if row.contains(address) {
                break *row;
            }
        };
        match meaning {
            // The CFA of an outermost frame does not matter.
            Meaning::Frame { frame: Frame { cfa: Cfa::Undefined, ra, fp, .. }, .. } => {
                assert_eq!((row.frame.ra, row.frame.fp), (ra, fp), "{address:#x}");
            }
            Meaning::Frame { frame, signal } => {
                assert_eq!((row.frame, function.cie().signal), (frame, signal), "{address:#x}");
            }
            Meaning::Undecided(_) => {
                let Frame { cfa, ra, fp, .. } = row.frame;
                assert!(matches!(cfa, Cfa::Expression(_)), "{address:#x}");
                assert!(matches!(ra, Recovery::AtExpression(_)), "{address:#x}");
                assert!(matches!(fp, Recovery::AtExpression(_)), "{address:#x}");
            }
            Meaning::Undefined => panic!("{address:#x} is in a function"),
        }
    }
}

/// In a module, places are relative to sections.
#[test]
fn functions_of_modules_are_in_their_sections() {
    let raws = [(8, 0, 0x205), (16, -16, 0x215), (0, 0, 0), (8, 0, 0x205), (8, 0, 0x705)];
    let at = [(1, 2), (1, 3), (1, 9), (3, 1), (3, 5)];
    let relocations: Vec<_> =
        (0..).zip(at).map(|(n, (symbol, addend))| pc32(n, symbol, addend)).collect();
    let wanted = [(1, 2, 9, false), (3, 1, 0x10, false)];
    assert_eq!(functions(&module(&raws, &relocations)), wanted);
}

#[test]
fn malformed_tables_are_errors() {
    let error = |section, offset, kind| OrcError { section, offset, kind };
    let parts = |ips: Option<&[u8]>, entries: Option<&[u8]>, header: Option<&[u8]>| {
        let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
        file.section_of(".text", &[0x90; 0x100], progbits(6, TEXT));
        let parts = [(".orc_unwind_ip", ips), (".orc_unwind", entries), (".orc_header", header)];
        for (name, bytes) in parts {
            if let Some(bytes) = bytes {
                file.section_of(name, bytes, progbits(2, IPS));
            }
        }
        let file = file.finish().expect("a file");
        Orc::load(&Elf::parse(&file).expect("ELF")).map(|orc| orc.map(|orc| orc.entries().len()))
    };
    assert_eq!(parts(None, None, None), Ok(None));
    assert_eq!(parts(Some(&[]), Some(&[]), None), Ok(Some(0)));
    let (ips, entries) = (".orc_unwind_ip", ".orc_unwind");
    assert_eq!(parts(None, Some(&[0; 6]), None), Err(error(ips, 0, OrcErrorKind::Missing)));
    assert_eq!(parts(Some(&[0; 4]), None, None), Err(error(entries, 0, OrcErrorKind::Missing)));
    let size = |size, entry| OrcErrorKind::Size { size, entry };
    assert_eq!(parts(Some(&[0; 5]), Some(&[0; 6]), None), Err(error(ips, 0, size(5, 4))));
    assert_eq!(parts(Some(&[0; 4]), Some(&[0; 7]), None), Err(error(entries, 0, size(7, 6))));
    let counts = OrcErrorKind::Counts { addresses: 2, entries: 1 };
    assert_eq!(parts(Some(&[0; 8]), Some(&[0; 6]), None), Err(error(entries, 0, counts)));
    let header = error(".orc_header", 0, OrcErrorKind::HeaderSize(19));
    assert_eq!(parts(Some(&[0; 4]), Some(&[0; 6]), Some(&[0; 19])), Err(header));

    // The end of the code is a valid place, the next byte is not.
    let entries = [(TEXT + 0x101, (8, 0, 0x205)), (TEXT + 0x100, (0, 0, 0)), (TEXT, (8, 0, 0x205))];
    let orc = load(&linked(Some(&LINUX_6_12), &entries)).expect("tables");
    let outside = OrcErrorKind::OutsideCode(CodeAddress::absolute(TEXT + 0x101));
    assert_eq!(orc.defects(), [error(ips, 0, outside)]);
    assert_eq!(orc.entries().len(), 2);

    // No relocation, of another type (R_X86_64_64), to data, and to an undefined symbol.
    let other = Relocation { kind: 1, ..pc32(1, 1, 0) };
    let relocations = [other, pc32(2, 2, 0), pc32(3, 4, 0), pc32(4, 1, 0)];
    let orc = load(&module(&[(8, 0, 0x205); 5], &relocations)).expect("tables");
    let data = CodeAddress { section: 2, address: 0 };
    let wanted = [
        error(ips, 0, OrcErrorKind::MissingRelocation),
        error(ips, 4, OrcErrorKind::RelocationType(1)),
        error(ips, 8, OrcErrorKind::OutsideCode(data)),
        error(ips, 12, OrcErrorKind::UndefinedSymbol),
    ];
    assert_eq!(orc.defects(), wanted);
    assert_eq!(orc.entries().len(), 1);

    let mut file = ElfWriter::new(Abi::Aarch64Little, ElfKind::Executable);
    file.section_of(ips, &[0; 4], progbits(2, IPS));
    file.section_of(".orc_unwind", &[0; 6], progbits(2, IPS));
    let machine = error(".orc_unwind", 0, OrcErrorKind::Machine(183));
    assert_eq!(load(&file.finish().expect("a file")).map(|_| ()), Err(machine));
}

/// SFrame has functions at 0x1000 and 0x1020, of 16 bytes each, ORC describes 0x1000..0x1018 and 0x1020..0x1030, and the
/// rest is undefined. They differ about 0x100c..0x1010, and ORC is undecided about 0x102c..0x1030.
#[test]
fn sframe_is_compared_with_orc() {
    let sp = |offset| {
        let cfa = Cfa::RegisterOffset { register: register(7), offset };
        Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false }
    };
    let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
    builder.address(0x8000);
    for start in [0x1000, 0x1020, 0x1040] {
        builder.function(FunctionBuilder::new(start, 16).row(0, sp(8)).row(4, sp(16)));
    }
    let sframe = builder.build().expect("a section").bytes;
    let entries = [
        (0x1000, (8, 0, 0x205)),
        (0x1004, (16, 0, 0x205)),
        (0x100c, (24, 0, 0x205)),
        (0x1018, (0, 0, 0)),
        (0x1020, (8, 0, 0x205)),
        (0x1024, (16, 0, 0x205)),
        (0x102c, (16, 0, 0x705)),
        (0x1030, (0, 0, 0)),
    ];
    let file = linked(Some(&LINUX_6_12), &entries);
    let elf = Elf::parse(&file).expect("ELF");
    let sections = [Section::parse(&sframe, Placement::at(0x8000)).expect("a section")];
    let functions = OrcFunctions::of(&elf, &load(&file).expect("tables")).expect("few");
    let mut ranges = Vec::new();
    let totals = compare(&elf, &sections, &[functions.cfi()], |range| {
        ranges.push((range.start, range.end, range.verdict));
    });
    let wanted = [
        (0x100c, 0x1010, Verdict::Different(Fields::CFA)),
        (0x1010, 0x1018, Verdict::OnlyCfi),
        (0x1018, 0x1020, Verdict::Neither),
        (0x102c, 0x1030, Verdict::Undecided),
        (0x1030, 0x1040, Verdict::Neither),
        // Two rows.
        (0x1040, 0x1044, Verdict::OnlySframe),
        (0x1044, 0x1050, Verdict::OnlySframe),
        (0x1050, 0x1100, Verdict::Neither),
    ];
    assert_eq!(ranges, wanted);
    let wanted = Sums {
        equal: 12 + 12,
        different: 4,
        only_cfi: 8,
        only_sframe: 16,
        neither: 8 + 16 + 0xb0,
        undecided: 4,
        limited: 0,
    };
    assert_eq!(totals.bytes, wanted);
}
