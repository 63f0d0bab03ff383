//! The reader of ELF files: sections that cannot be read, relocations, symbols and segments. The host (`host.rs`) has
//! code at 0x200..0x240, and the SFrame section of 80 bytes at 0x240..0x290.

use crate::host::{Host, PC64, SFRAME, Section, TEXT, func, linked, object};
use crate::sound::{AMD64, V3, bytes, first, of, second};
use crate::{broken, check, findings};
use sframe_validator::elf::{
    Class, Elf, ElfError, ElfKind, PF_R, PF_X, PT_LOAD, Segment, SymbolTable,
};
use sframe_validator::finding::Report;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::elf::claims;

const SHT_REL: u32 = 9;

fn shared() -> Host {
    let mut builder = of(V3, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
    builder.address(SFRAME);
    linked(bytes(&builder))
}

fn relocatable() -> Host {
    let mut builder = of(V3, AMD64, [first(AMD64, 0), second(AMD64, 16)]);
    let built = builder.relocatable().build().expect("it fits");
    object(built.bytes, &built.start_fields, &[0, 16], PC64)
}

fn reasons(report: &Report) -> Vec<&str> {
    report.undecided.iter().map(|undecided| undecided.reason.as_str()).collect()
}

/// Its header is still judged. The section is no longer than the file, so it need not share bytes with others.
#[test]
fn a_section_outside_the_file_is_undecided() {
    let size = shared().bytes().len() as u64 - 100;
    let data = shared().with(|host| {
        host.header().flags |= 1;
        host.header().size = size;
    });
    let report = check(&data.bytes());
    let broken: Vec<_> = report.counts.iter().map(|(rule, _)| rule.name).collect();
    assert_eq!(broken, ["section-writable", "section-outside-load", "segment-short"]);
    let reason = format!("section 2 at file offset 0x240, {size:#x} bytes, ends outside the file");
    assert_eq!(reasons(&report), [reason]);
    assert!(!report.sections[0].certain_layout);
}

/// A section longer than the file shares bytes with something else, and not even its header is judged.
#[test]
fn a_section_that_shares_its_bytes_is_not_judged() {
    let data = shared().with(|host| {
        host.header().flags |= 1;
        host.header().size = 1 << 20;
    });
    let report = check(&data.bytes());
    assert!(report.counts.is_empty(), "{:?}", report.counts);
    assert_eq!(reasons(&report), [ElfError::SharedBytes.to_string()]);
}

#[test]
fn errors_name_the_place() {
    assert_eq!(ElfError::NotElf.to_string(), "not an ELF file");
    assert!(ElfError::UnknownIdent.to_string().contains("e_ident"));
    assert!(ElfError::SharedBytes.to_string().contains("overlap"));
    let error = |data: &[u8]| Elf::parse(data).map(|_| ()).expect_err("refused");
    assert_eq!(error(b"\x7fELG"), ElfError::NotElf);
    assert_eq!(error(b"\x7fELF\x03"), ElfError::UnknownIdent);
    assert_eq!(error(b"\x7fELF"), ElfError::UnknownIdent);
    // e_shoff, 8 bytes at 40, leads out of the file, which has no program headers either.
    let mut data = relocatable().bytes();
    data[46] = 1;
    let ElfError::Malformed(_) = error(&data) else { panic!("{:?}", error(&data)) };
    assert!(!error(&data).to_string().is_empty());
}

/// In `SHT_REL`, relocations have 16 bytes and no addend (gABI, "Relocation"). They are reported once, and are not
/// missing.
#[test]
fn relocations_without_addends() {
    let data = relocatable().with(|host| {
        let mut header = host.sections[2].header;
        // .rel.sframe applies to section 2 and refers to the symbols in section 5.
        (header.sh_type, header.flags, header.info, header.link) = (SHT_REL, 0, 2, 5);
        (header.offset, header.size, header.entry_size) = (0, 0, 16);
        host.relocations.clear();
        let entries = [28_u64, 1 << 32 | 24, 44, 1 << 32 | 24];
        let data = entries.into_iter().flat_map(u64::to_le_bytes).collect();
        host.sections.push(Section { name: ".rel.sframe", header, data });
    });
    assert_eq!(broken(&data.bytes()), ["relocation-type", "symbol-uncovered"]);
    let [finding] = &findings(&data.bytes(), "relocation-type")[..] else { panic!("one") };
    assert_eq!(finding.message, "2 relocations have no addend (SHT_REL)");
}

/// `SHT_CREL` (LLVM's "CREL relocation format"): a header, 2 relocations with addends; the first at 28 with symbol 1 and
/// type 24; the second 16 bytes later, with an addend that is 16 larger.
#[test]
fn compact_relocations() {
    let data = relocatable().with(|host| {
        let mut header = host.sections[2].header;
        (header.sh_type, header.flags, header.info, header.link) = (0x4000_0014, 0, 2, 5);
        (header.offset, header.size, header.entry_size) = (0, 0, 1);
        host.relocations.clear();
        let data = vec![2 << 3 | 4, 0xe3, 1, 1, 24, 0x84, 1, 16];
        host.sections.push(Section { name: ".crel.sframe", header, data });
    });
    assert!(broken(&data.bytes()).is_empty(), "{:?}", broken(&data.bytes()));
}

/// Sections of relocations for the same bytes of the file: reading them all would take longer than the file is long.
#[test]
fn relocations_that_share_bytes_are_undecided() {
    let file = |copies: u32| {
        let many = |host: &mut Host| {
            let none = host.relocations[0];
            host.relocations.resize(
                100,
                sframe_validator::write::elf::Relocation { kind: 0, symbol: 0, ..none },
            );
        };
        let plain = relocatable().with(many).bytes();
        let elf = Elf::parse(&plain).expect("readable");
        let table = *elf.sections().iter().find(|s| s.name == b".rela.sframe").expect("there");
        let copied = relocatable().with(many).with(|host| {
            let mut header = host.sections[2].header;
            (header.sh_type, header.flags, header.info) = (table.sh_type, 0, 2);
            (header.offset, header.size, header.entry_size) = (table.offset, table.size, 24);
            header.link = copies + 5;
            let copy = Section { name: ".rela.sframe", header, data: Vec::new() };
            host.sections.extend((0..copies).map(|_| copy.clone()));
        });
        check(&copied.bytes())
    };
    assert!(reasons(&file(0)).is_empty());
    let report = file(20);
    let reason = format!("relocations of the section not checked: {}", ElfError::SharedBytes);
    assert_eq!(reasons(&report), [reason]);
    assert!(report.counts.iter().all(|(rule, _)| rule.group.name() != "relocations"));
}

/// Many sections of relocations may refer to the same symbols, which are read once.
#[test]
fn many_sections_of_relocations_are_read() {
    let data = relocatable().with(|host| {
        let mut header = host.sections[2].header;
        (header.sh_type, header.flags, header.info, header.link) = (4, 0, 2, 30 + 5);
        (header.offset, header.size, header.entry_size) = (0, 0, 24);
        let copy = Section { name: ".rela.sframe", header, data: vec![0; 24] };
        host.sections.extend((0..30).map(|_| copy.clone()));
    });
    let report = check(&data.bytes());
    assert!(report.undecided.is_empty(), "{:?}", report.undecided);
    let [finding] = &findings(&data.bytes(), "relocation-none")[..] else { panic!("one") };
    assert_eq!(finding.message, "30 of the section's 32 relocations are R_*_NONE");
}

/// `SHT_RELR` (gABI): an even entry is an address. An odd one is a bitmap of the 63 words of 8 bytes after it.
#[test]
fn compact_dynamic_relocations() {
    let at = |entries: &[u64]| {
        let data = shared().with(|host| {
            let mut header = host.sections[2].header;
            (header.sh_type, header.flags, header.address) = (19, 2, 0x1000);
            (header.offset, header.size, header.entry_size) = (0, 0, 8);
            let data = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
            host.sections.push(Section { name: ".relr.dyn", header, data });
        });
        findings(&data.bytes(), "dynamic-relocation").first().and_then(|finding| finding.offset)
    };
    assert_eq!(at(&[SFRAME + 8]), Some(8));
    assert_eq!(at(&[SFRAME - 8]), None);
    // The second word after the address: bit 2.
    assert_eq!(at(&[SFRAME - 8, 0b101]), Some(8));
}

/// A global symbol is the better name; a local one may reach further. A symbol reaches up to its size.
#[test]
fn symbols_of_places() {
    let data = shared().with(|host| {
        let local = |name, value, size| {
            let mut symbol = func(name, 1, value, size);
            symbol.info = 2;
            symbol
        };
        host.symbols = vec![
            local("local", 0x200, 16),
            local("short", 0x200, 4),
            func("global", 1, 0x200, 8),
            func("unsized", 1, 0x230, 0),
        ];
    });
    let data = data.bytes();
    let elf = Elf::parse(&data).expect("readable");
    let symbols = SymbolTable::load(&elf).expect("readable");
    let name = |address| {
        let symbol = symbols.find(CodeAddress::absolute(address))?;
        String::from_utf8(symbol.name.bytes().to_vec()).ok()
    };
    let names = [0x1ff, 0x200, 0x207, 0x208, 0x20f, 0x210, 0x230, 0x231].map(name);
    let expected = [
        None,
        Some("global"),
        Some("global"),
        Some("local"),
        Some("local"),
        None,
        Some("unsized"),
        None,
    ];
    assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
    let global: Vec<_> = symbols.symbols().iter().map(|symbol| symbol.global).collect();
    assert_eq!(global, [true, false, false, true]);
    assert_eq!(symbols.find(CodeAddress { section: 1, address: 0x204 }), None);
}

/// Without section headers, code is in executable PT_LOAD segments.
#[test]
fn code_of_files_without_sections() {
    let code = |p_type, flags| {
        let mut data = shared()
            .with(|host| {
                host.segments.truncate(1);
                (host.segments[0].p_type, host.segments[0].flags) = (p_type, flags);
            })
            .bytes();
        claims::no_sections(&mut data).expect("a file");
        let elf = Elf::parse(&data).expect("readable");
        (elf.code().collect::<Vec<_>>(), elf.executable().collect::<Vec<_>>())
    };
    let place = vec![(CodeAddress::absolute(TEXT), 64)];
    assert_eq!(code(PT_LOAD, PF_R | PF_X), (place.clone(), place.clone()));
    assert_eq!(code(PT_LOAD, PF_X), (place.clone(), place));
    assert_eq!(code(PT_LOAD, PF_R), (vec![], vec![]));
    assert_eq!(code(4, PF_R | PF_X), (vec![], vec![]));
}

#[test]
fn places_in_sections_and_segments() {
    let elf = shared().bytes();
    let elf = Elf::parse(&elf).expect("readable");
    let text = elf.section(1).expect("there");
    let inside =
        |start, size| (text.contains(start, size), elf.segments()[0].contains(start, size));
    for (start, size, expected) in [
        (0x200, 64, true),
        (0x200, 65, false),
        (0x23f, 1, true),
        (0x23f, 2, false),
        (0x240, 0, true),
        (0x241, 0, false),
        (0x1ff, 1, false),
        (0x210, u64::MAX, false),
    ] {
        assert_eq!(inside(start, size), (expected, expected), "{start:#x} {size}");
    }
    let sframe = elf.section(2).expect("there");
    let load = Segment { ..elf.segments()[1] };
    assert!(load.loads(sframe));
    assert!(!Segment { offset: load.offset + 1, ..load }.loads(sframe));
    assert!(!Segment { file_size: 79, ..load }.loads(sframe));
    assert!(Segment { file_size: 80, memory_size: 0, ..load }.loads(sframe));
    assert_eq!((elf.section(99).is_none(), elf.further_sframe_sections()), (true, 0));
    assert_eq!((elf.class(), elf.kind(), elf.machine()), (Class::Elf64, ElfKind::Shared, 62));
    assert_eq!(elf.abi(), Some(AMD64));
}
