//! Tests of where machine code is, and where its bytes are found.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[path = "malformed/host.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, clippy::cast_possible_truncation)]
mod host;

use host::{Host, Section};
use sframe_validator::check::Checker;
use sframe_validator::elf::{Elf, ElfKind, PF_R, PF_X, PT_LOAD, SHT_NOBITS, SHT_PROGBITS, Segment};
use sframe_validator::finding::{Report, SectionSummary};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::elf::{SectionHeader, claims};

/// A shared object without an SFrame section, with the given sections.
fn file(change: impl FnOnce(&mut Host)) -> Vec<u8> {
    let mut host = host::linked(Vec::new());
    host.sections.remove(1);
    host.segments.clear();
    host.symbols.clear();
    change(&mut host);
    host.bytes()
}

fn code_bytes(data: &[u8]) -> u64 {
    Checker::default().elf(&Elf::parse(data).expect("readable")).code_bytes
}

fn text(change: impl FnOnce(&mut SectionHeader)) -> Vec<u8> {
    file(|host| change(&mut host.sections[0].header))
}

/// The host's `.text` has 64 bytes.
#[test]
fn only_bytes_in_the_file_are_code() {
    assert_eq!(code_bytes(&text(|_| {})), 64);
    assert_eq!(code_bytes(&text(|text| text.sh_type = SHT_NOBITS)), 0);
    assert_eq!(code_bytes(&text(|text| text.size = 1 << 20)), 0);
    assert_eq!(code_bytes(&text(|text| text.size = u64::MAX)), 0);
}

/// Two sections whose sizes add up to 2^64, which is 0 in 64 bits.
#[test]
fn sizes_that_wrap_are_not_added_up() {
    for sh_type in [SHT_PROGBITS, SHT_NOBITS] {
        for kind in [ElfKind::Relocatable, ElfKind::Shared] {
            let data = file(|host| {
                host.kind = kind;
                let mut huge = host.sections[0].clone();
                (huge.header.sh_type, huge.header.size) = (sh_type, 1 << 63);
                let header = SectionHeader { address: 1 << 63, ..huge.header };
                host.sections.extend([huge.clone(), Section { header, ..huge }]);
            });
            assert_eq!(code_bytes(&data), 64, "{sh_type} {kind:?}");
        }
    }
}

/// GNU readelf 2.47.50: `.text` has 0x61 bytes, and `.sizes` 0x30303, which is executable and has type NOBITS.
/// Functions may be there, and no rule objects.
#[test]
fn functions_without_bytes_are_in_executable_memory() {
    let data = sframe_corpus::read("golden/2.47.50/x86_64/sizes.so");
    let report = Checker::default().elf(&Elf::parse(&data).expect("readable"));
    assert_eq!((report.code_bytes, report.findings.len()), (0x61, 0));
    assert!(report.covered_bytes() <= 0x61, "{}", report.covered_bytes());
}

/// Without section headers, the code of an executable segment is its bytes in the file.
#[test]
fn code_of_segments_is_in_the_file() {
    let segment = |file_size, memory_size| {
        let mut data = file(|host| {
            let (offset, address) = (host::TEXT, host::TEXT);
            host.segments.push(Segment {
                p_type: PT_LOAD,
                flags: PF_R | PF_X,
                offset,
                address,
                file_size,
                memory_size,
            });
        });
        claims::no_sections(&mut data).expect("a file");
        code_bytes(&data)
    };
    assert_eq!(segment(64, 64), 64);
    assert_eq!(segment(64, 1 << 63), 64);
    assert_eq!(segment(1 << 63, 1 << 63), 0);
}

#[test]
fn sums_of_reports_do_not_wrap() {
    let summary = SectionSummary {
        index: None,
        name: String::new(),
        address: 0,
        file_offset: 0,
        size: 0,
        header: None,
        certain_layout: true,
        functions: 0,
        rows: 0,
        covered_bytes: 1 << 63,
    };
    let report = Report { sections: vec![summary.clone(), summary], ..Report::default() };
    assert_eq!(report.covered_bytes(), u64::MAX);
}

/// The bytes at a place are those of a section that contains it, even if sections overlap. The expected bytes come from
/// looking at each section header.
#[test]
fn code_is_found_where_sections_overlap() {
    // Starts and sizes: nested, crossing, equal, apart, empty, at the end of the address space.
    let sections: [(u64, u64); 9] = [
        (0x1000, 64),
        (0x1010, 8),
        (0x1030, 64),
        (0x1030, 16),
        (0x2000, 4),
        (0x2004, 4),
        (0x3000, 0),
        (0x1000, 64),
        (u64::MAX - 8, 64),
    ];
    for rotation in 0..sections.len() {
        let mut order = sections;
        order.rotate_left(rotation);
        let data = file(|host| {
            for (number, (address, size)) in (1..).zip(order) {
                let mut section = host.sections[0].clone();
                (section.header.address, section.header.offset) = (address, 0);
                section.data = vec![number; usize::try_from(size).unwrap()];
                host.sections.push(section);
            }
        });
        let elf = Elf::parse(&data).expect("readable");
        for address in (0xff0..0x1100).chain(0x1ff0..0x2010).chain([0x3000, u64::MAX - 8]) {
            let bytes = elf.code_bytes(CodeAddress::absolute(address), 1);
            let has = |place: usize| {
                address.checked_sub(order[place].0).is_some_and(|d| d < order[place].1)
            };
            match bytes {
                Some([number]) => assert!(has(usize::from(*number) - 1), "{address:#x}"),
                None => assert!(!(0..order.len()).any(has), "{address:#x}"),
                Some(other) => panic!("{other:?}"),
            }
        }
    }
}
