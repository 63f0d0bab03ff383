//! The ELF file: section headers, segments, stubs and code. The host (`host.rs`) has code at 0x200..0x240, the SFrame
//! section of 80 bytes at 0x240..0x290, and a segment that loads 0x240..0x2e0. Addresses equal file offsets.

use crate::host::{Host, PC64, SFRAME, Section, TEXT, func, linked, object};
use crate::sound::{
    AARCH64, AMD64, S390X, V2, V3, based, bytes, entry, first, function, of, second,
};
use crate::{allowed, broken, findings};
use sframe_validator::elf::{Elf, SHF_ALLOC, SHT_NOBITS, SHT_PROGBITS, SHT_RELA, Segment};
use sframe_validator::write::FunctionBuilder;
use sframe_validator::write::elf::{Image, SectionHeader, Symbol};
use sframe_validator::{Abi, Version};

const NONE: [&str; 0] = [];
const SIZE: u64 = 80;

fn shared(version: Version, flags: u8) -> Host {
    let mut builder = of(version, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
    builder.address(SFRAME).with(|section| section.header.flags = flags);
    linked(bytes(&builder))
}

fn with(change: impl FnOnce(&mut Host)) -> Vec<&'static str> {
    broken(&shared(V3, 5).with(change).bytes())
}

fn in_object(change: impl FnOnce(&mut Host)) -> Vec<&'static str> {
    let mut builder = of(V3, AMD64, [first(AMD64, 0), second(AMD64, 16)]);
    let built = builder.relocatable().build().expect("it fits");
    broken(&object(built.bytes, &built.start_fields, &[0, 16], PC64).with(change).bytes())
}

/// The header's fields of 4 bytes need an alignment of 4. An address is a multiple of the alignment (gABI,
/// "sh_addralign").
#[test]
fn alignments() {
    for (alignment, expected) in [(3, &["section-alignment"][..]), (4, &[]), (64, &[])] {
        assert_eq!(with(|host| host.header().alignment = alignment), expected, "{alignment}");
        assert_eq!(in_object(|host| host.header().alignment = alignment), expected);
    }
    let large = |host: &mut Host| host.header().alignment = 128;
    assert_eq!(with(large), ["section-alignment"]);
    let field = |data: &[u8]| findings(data, "section-alignment")[0].field.clone().expect("one");
    assert_eq!(field(&shared(V3, 5).with(large).bytes()).name, "sh_addr");
    assert_eq!(in_object(large), NONE);
}

#[test]
fn fields_without_a_meaning() {
    assert_eq!(with(|host| host.header().link = 1), ["section-links"]);
    assert_eq!(with(|host| host.header().info = 1), ["section-links"]);
    assert_eq!(with(|host| host.header().entry_size = 1), ["section-links"]);
}

/// `SHF_ALLOC` is 2, `SHF_WRITE` 1, `SHF_EXECINSTR` 4, and `SHF_GROUP` 0x200, which linkers clear.
#[test]
fn flags_of_sections() {
    let object = |flags| in_object(|host| host.header().flags = flags);
    let file = |flags| with(|host| host.header().flags = flags);
    assert_eq!((object(2), file(2)), (vec![], vec![]));
    assert_eq!((object(0x202), file(0x202)), (vec!["section-in-group"], vec![]));
    assert_eq!((object(3), file(3)), (vec!["section-writable"], vec!["section-writable"]));
    assert_eq!(object(6)[..1], ["section-executable"]);
    assert_eq!((object(0), file(0)), (vec!["section-not-loaded"], vec!["section-not-loaded"]));
    // Other flags, such as SHF_MERGE (0x10), change nothing.
    assert_eq!((object(0x12), file(0x12)), (vec![], vec![]));
}

/// Version 2, errata 1: the type belongs to PC-relative start fields. Version 3 always has it.
#[test]
fn types_of_sections() {
    let file = |version, flags, sh_type| {
        broken(&shared(version, flags).with(|host| host.header().sh_type = sh_type).bytes())
    };
    const GNU: u32 = 0x6fff_fff4;
    assert_eq!(file(V3, 5, GNU), NONE);
    assert_eq!(file(V3, 5, SHT_PROGBITS), ["section-type"]);
    assert_eq!(file(V3, 1, SHT_PROGBITS), ["section-type", "pcrel-flag-missing"]);
    assert_eq!(file(V2, 5, GNU), NONE);
    assert_eq!(file(V2, 5, SHT_PROGBITS), ["section-type"]);
    assert_eq!(file(V2, 1, SHT_PROGBITS), ["pcrel-flag-clear"]);
    assert_eq!(file(V2, 1, GNU), ["section-type-early", "pcrel-flag-clear"]);
}

/// `objcopy --only-keep-debug` leaves no bytes in any loaded section.
#[test]
fn sections_without_bytes() {
    let nobits = |host: &mut Host| host.header().sh_type = SHT_NOBITS;
    assert_eq!(with(nobits), ["section-nobits"]);
    let debug = |host: &mut Host| {
        nobits(host);
        host.sections[0].header.sh_type = SHT_NOBITS;
    };
    assert_eq!(with(debug), NONE);
    let empty = |host: &mut Host| {
        nobits(host);
        host.sframe().clear();
        host.segments.truncate(2);
        host.symbols.clear();
    };
    assert_eq!(with(empty), NONE);
}

/// `e_machine` is at 18 (gABI, "ELF Header"): 62 is x86-64, 183 AArch64, and 8 MIPS.
#[test]
fn machines() {
    let file = |machine| {
        let mut data = shared(V3, 5).bytes();
        data[18] = machine;
        data
    };
    assert_eq!(broken(&file(62)), NONE);
    assert_eq!(allowed(&file(183), "machine-abi"), (Some(4), "2 (AArch64)".to_owned()));
    assert_eq!(allowed(&file(8), "machine-abi"), (Some(4), "the file's machine".to_owned()));
}

/// Relocations of type `R_X86_64_RELATIVE` at these addresses.
fn relative(addresses: &[u64]) -> impl Fn(&mut Host) {
    let entries = addresses.iter().flat_map(|address| [*address, 8, 0]);
    let data: Vec<u8> = entries.flat_map(u64::to_le_bytes).collect();
    move |host: &mut Host| {
        let header = SectionHeader {
            sh_type: SHT_RELA,
            flags: SHF_ALLOC,
            address: 0x1000,
            entry_size: 24,
            alignment: 1,
            ..SectionHeader::default()
        };
        host.sections.push(Section { name: ".rela.dyn", header, data: data.clone() });
    }
}

#[test]
fn dynamic_relocations() {
    let at = |addresses: &[u64]| {
        let data = shared(V3, 5).with(relative(addresses)).bytes();
        findings(&data, "dynamic-relocation").first().map(|finding| finding.bytes.clone())
    };
    assert_eq!(at(&[SFRAME]), Some(0..8));
    assert_eq!(at(&[SFRAME + SIZE - 1]), Some(79..80));
    assert_eq!((at(&[SFRAME - 1]), at(&[SFRAME + SIZE])), (None, None));
    assert_eq!(at(&[SFRAME + SIZE, SFRAME + 40, SFRAME + 9, 0]), Some(9..17));
    // Nobody relocates a section that is not loaded, and objects have no dynamic relocations.
    let unloaded = with(|host| {
        relative(&[SFRAME])(host);
        host.header().flags = 0;
    });
    assert_eq!(unloaded, ["section-not-loaded"]);
    assert_eq!(in_object(relative(&[0, 8])), NONE);
    // A table that is not loaded applies to nothing.
    let table = |host: &mut Host| {
        relative(&[SFRAME])(host);
        host.sections.last_mut().expect("pushed").header.flags = 0;
    };
    assert_eq!(with(table), NONE);
}

#[test]
fn the_segment_that_loads_the_section() {
    const OUTSIDE: [&str; 1] = ["section-outside-load"];
    assert_eq!(with(|host| host.segments[1].file_size = SIZE), NONE);
    assert_eq!(with(|host| host.segments[1].file_size = SIZE - 1), OUTSIDE);
    // Other bytes of the file, no permission to read, another type of segment, and one that starts later.
    assert_eq!(with(|host| host.segments[1].offset += 8), OUTSIDE);
    assert_eq!(with(|host| host.segments[1].flags = 2), OUTSIDE);
    assert_eq!(with(|host| host.segments[1].p_type = 4), OUTSIDE);
    let later = |host: &mut Host| {
        host.segments[1].offset += 1;
        host.segments[1].address += 1;
    };
    assert_eq!(with(later), OUTSIDE);
    assert_eq!(with(|host| host.segments[1].flags = 5), ["section-in-code-segment"]);
    assert_eq!(with(|host| host.segments[1].flags = 6), NONE);
    // A segment of another type loads nothing, whatever its permissions are.
    let other = |host: &mut Host| {
        let mut note = host.segments[1];
        (note.p_type, note.flags) = (4, 5);
        host.segments.push(note);
    };
    assert_eq!(with(other), NONE);
    // Without program headers, nothing is loaded.
    assert_eq!(with(|host| host.segments.clear()), OUTSIDE);
}

#[test]
fn the_segment_for_readers() {
    assert_eq!(with(|host| host.segment().offset += 8), ["segment-address"]);
    assert_eq!(with(|host| host.segment().address += 8), ["segment-address"]);
    let offset = shared(V3, 5).with(|host| host.segment().offset += 8).bytes();
    let field = findings(&offset, "segment-address")[0].field.clone().expect("one");
    assert_eq!((field.name, &*field.allowed), ("p_offset", "0x240"));
    // A relocatable object has no addresses yet.
    let reader = *shared(V3, 5).segment();
    assert_eq!(in_object(|host| host.segments.push(reader)), NONE);
    for flags in [5, 6, 0] {
        assert_eq!(with(|host| host.segment().flags = flags), ["segment-permissions"]);
    }
    let sized = |file_size, memory_size| {
        with(|host| {
            (host.segment().file_size, host.segment().memory_size) = (file_size, memory_size);
        })
    };
    assert_eq!(sized(SIZE, SIZE), NONE);
    assert_eq!(sized(SIZE - 1, SIZE - 1), ["segment-short"]);
    assert_eq!(sized(SIZE + 1, SIZE + 1), ["segment-long"]);
    assert_eq!(sized(SIZE, SIZE + 1), ["segment-memory-size"]);
    assert_eq!(sized(SIZE, SIZE - 1), ["segment-memory-size"]);
    // The PT_LOAD segment ends at 0x2e0.
    assert_eq!(sized(SIZE + 80, SIZE + 80), ["segment-long"]);
    assert_eq!(sized(SIZE, SIZE + 80), ["segment-memory-size"]);
    assert_eq!(sized(SIZE, SIZE + 81), ["segment-memory-size", "segment-outside-load"]);
    // Two segments for readers: the first one counts.
    let twice = |host: &mut Host| {
        let mut copy = host.segments[2];
        copy.flags = 5;
        host.segments.push(copy);
    };
    assert_eq!(with(twice), ["segment-duplicate"]);
    // The segment may be longer than the file.
    assert_eq!(sized(1 << 20, 1 << 20), ["segment-outside-load"]);
}

/// The bytes after the section in its segment are zero, or left over from the linker's inputs.
#[test]
fn bytes_after_the_section_in_its_segment() {
    let followed_by = |extra: &[u8]| {
        with(|host| {
            host.header().size = SIZE;
            host.sframe().extend(extra);
            host.segment().file_size += 4;
            host.segment().memory_size += 4;
        })
    };
    assert_eq!(followed_by(&[0; 4]), ["segment-long"]);
    assert_eq!(followed_by(&[0, 0, 0, 1]), ["segment-stale-bytes"]);
    assert_eq!(followed_by(&[1, 0, 0, 0]), ["segment-stale-bytes"]);
    assert_eq!(followed_by(&[0, 0, 0, 0, 1]), ["segment-long"]);
}

/// A section of size 0 has no bytes after it: the segment itself is the defect, whatever it contains.
#[test]
fn segments_over_empty_sections() {
    for byte in [0, 1] {
        let empty = |host: &mut Host| {
            host.sframe().clear();
            let mut other = host.sections[2].clone();
            (other.header.flags, other.header.address) = (0, 0);
            (other.header.offset, other.data) = (SFRAME, vec![byte; 28]);
            host.sections.push(other);
            (host.segment().file_size, host.segment().memory_size) = (28, 28);
            host.symbols.clear();
        };
        assert_eq!(with(empty), ["segment-over-empty", "section-empty"]);
    }
}

/// A section of linker stubs at 0x1f0..0x200, and a function there.
fn stubs(name: &'static str, start: u64, size: u32, block: Option<u8>) -> Vec<&'static str> {
    let stub = FunctionBuilder::new(start, size).row(0, entry(AMD64));
    let stub = block.iter().fold(stub, |stub, block| stub.repeat(*block));
    let mut builder = of(V3, AMD64, [stub, second(AMD64, TEXT + 16)]);
    builder.address(SFRAME);
    let host = linked(bytes(&builder)).with(|host| {
        let mut plt = host.sections[0].clone();
        (plt.name, plt.data) = (name, vec![0x90; 16]);
        (plt.header.address, plt.header.offset) = (0x1f0, 0x1f0);
        host.sections.push(plt);
        let load = &mut host.segments[0];
        (load.offset, load.address) = (0x1f0, 0x1f0);
        (load.file_size, load.memory_size) = (load.file_size + 16, load.memory_size + 16);
        host.symbols.clear();
    });
    broken(&host.bytes())
}

#[test]
fn stubs_of_linkers() {
    for name in [".plt", ".plt.sec", ".plt.got", ".iplt"] {
        assert_eq!(stubs(name, 0x1f0, 16, None), NONE, "{name}");
        assert_eq!(stubs(name, 0x1f0, 15, None), ["stubs-uncovered"], "{name}");
        assert_eq!(stubs(name, 0x1f1, 15, None), ["stubs-uncovered"], "{name}");
        assert_eq!(stubs(name, 0x1f0, 16, Some(16)), NONE, "{name}");
    }
    assert_eq!(stubs(".text.a", 0x1f0, 8, None), NONE);
    assert_eq!(stubs(".text.a", 0x1f0, 16, Some(16)), ["repeat-outside-stubs"]);
    let past = stubs(".plt", 0x1f0, 32, Some(16));
    assert_eq!(past, ["function-past-code", "repeat-outside-stubs"]);
}

/// After BOLT, a function with a symbol in the old section is still executed there, and so is the one at the entry point.
#[test]
fn code_that_bolt_has_replaced() {
    let [first, second] = [func("first", 1, TEXT, 16), func("second", 1, TEXT + 16, 16)];
    let after = |name, symbols: &[Symbol<'static>], entry: u64| {
        let host = shared(V3, 5).with(|host| {
            host.sections[0].name = name;
            host.symbols = symbols.to_vec();
        });
        let mut file = host.bytes();
        file[24..32].copy_from_slice(&entry.to_le_bytes());
        let elf = Elf::parse(&file).expect("readable");
        let code: u64 = elf.code().map(|(_, size)| size).sum();
        let messages = findings(&file, "stale-after-rewriting");
        let messages: Vec<_> = messages.into_iter().map(|finding| finding.message).collect();
        (messages, code)
    };
    let stale = |number: u64| {
        vec![format!(
            "{number} of 2 functions describe code in .bolt.org.text that nothing executes any longer: BOLT has \
             replaced it by code in .text"
        )]
    };
    assert_eq!(after(".text", &[], 0), (vec![], 64));
    assert_eq!(after(".bolt.org.text", &[], 0), (stale(2), 0));
    assert_eq!(after(".bolt.org", &[], 0), (vec![], 64));
    assert_eq!(after(".bolt.org.text", &[first, second], 0), (vec![], 64));
    assert_eq!(after(".bolt.org.text", &[second], 0), (stale(1), 64));
    // The entry point is in the section, and no symbol says that a function has moved away.
    let elsewhere = func("third", 1, TEXT + 32, 16);
    assert_eq!(after(".bolt.org.text", &[elsewhere], 0), (stale(2), 64));
    assert_eq!(after(".bolt.org.text", &[first], TEXT), (stale(1), 64));
}

/// A segment with one byte of a section has one, and segments without bytes or without PF_X have no code.
#[test]
fn code_that_no_section_has() {
    let with_segment = |flags, address, size| {
        with(|host| {
            let first = host.segments[0];
            let added = Segment { flags, address, file_size: size, memory_size: 32, ..first };
            host.segments.insert(2, added);
        })
    };
    // .text is 0x200..0x240, and the last section ends at 0x2e0.
    assert_eq!(with_segment(5, 0x3000, 32), ["code-without-section"]);
    assert_eq!(with_segment(5, 0x2e0, 32), ["code-without-section"]);
    assert_eq!(with_segment(5, 0x2df, 32), NONE);
    assert_eq!(with_segment(5, 0x1e0, 32), ["code-without-section"]);
    assert_eq!(with_segment(5, 0x1e1, 32), NONE);
    assert_eq!(with_segment(4, 0x3000, 32), NONE);
    assert_eq!(with_segment(5, 0x3000, 0), NONE);
}

#[test]
fn code_of_objects_is_not_replaced() {
    let mut builder = of(V3, AMD64, [first(AMD64, 0), second(AMD64, 16)]);
    let built = builder.relocatable().build().expect("it fits");
    let host = object(built.bytes, &built.start_fields, &[0, 16], PC64);
    let file = host.with(|host| host.sections[0].name = ".bolt.org.text").bytes();
    let elf = Elf::parse(&file).expect("readable");
    assert!(elf.is_rewritten() && elf.replaced_code().is_none());
    assert_eq!(elf.code().map(|(_, size)| size).sum::<u64>(), 64);
}

/// `.eh_frame_hdr` (LSB, "Exception Frames") at 0x1000: its encodings, and a table of functions' starts.
#[test]
fn functions_in_the_table_of_cfi() {
    let listed = |encodings: [u8; 4], starts: &[i32], count: u32, function: FunctionBuilder| {
        let mut builder = of(V3, AMD64, [function, second(AMD64, TEXT + 16)]);
        builder.address(SFRAME);
        let mut data = encodings.to_vec();
        data.extend([0; 4]);
        data.extend(count.to_le_bytes());
        for start in starts {
            data.extend((start - 0x1000).to_le_bytes());
            data.extend([0; 4]);
        }
        let host = linked(bytes(&builder)).with(|host| {
            let mut header = host.sections[2].header;
            (header.flags, header.offset, header.address) = (SHF_ALLOC, 0, 0x1000);
            host.sections.push(Section { name: ".eh_frame_hdr", header, data });
            host.symbols.clear();
        });
        broken(&host.bytes())
    };
    const USUAL: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let of = |starts: &[i32], function| {
        let count = starts.len().try_into().expect("few");
        listed(USUAL, starts, count, function)
    };
    assert_eq!(of(&[0x200, 0x210], first(AMD64, TEXT)), NONE);
    assert_eq!(of(&[0x210, 0x200], first(AMD64, TEXT)), NONE);
    assert_eq!(of(&[0x208, 0x210], first(AMD64, TEXT)), ["function-without-cfi"]);
    assert_eq!(of(&[], first(AMD64, TEXT)), ["function-without-cfi"]);
    // A function of size 0 has no CFI.
    let empty = FunctionBuilder::new(TEXT, 0).row(0, entry(AMD64));
    assert_eq!(of(&[0x210], empty), ["function-size-zero"]);
    // Tables that cannot be read: another version, another encoding, and too few entries.
    assert_eq!(listed([2, 0x1b, 0x03, 0x3b], &[0x210], 1, first(AMD64, TEXT)), NONE);
    assert_eq!(listed([1, 0x1b, 0xff, 0xff], &[0x210], 1, first(AMD64, TEXT)), NONE);
    assert_eq!(listed(USUAL, &[0x210], 2, first(AMD64, TEXT)), NONE);
}

/// The rules that a function breaks whose code starts with these bytes, with rows at 0 and at `row`.
fn rows_in_code(abi: Abi, code: &[u8], row: u32) -> Vec<&'static str> {
    let moved = based(abi, abi.sp(), 176);
    let function = function().row(0, entry(abi)).row(row, moved);
    let mut builder = of(V3, abi, [function]);
    let built = builder.address(0x4000).build().expect("it fits");
    let image = Image {
        abi,
        code: 0x1000..0x1040,
        sframe: (&built.bytes, 0x4000),
        typed: true,
        eh_frame: None,
    };
    let mut data = image.bytes().expect("small");
    let text = Elf::parse(&data).expect("readable").sections()[1];
    let at = usize::try_from(text.offset).expect("small");
    data[at..at + code.len()].copy_from_slice(code);
    broken(&data)
}

/// x86-64 (Intel's manual, volume 2): push rbp; mov rbp, rsp; sub rsp, 16; nop. s390x (Principles of Operation, 5): the
/// first two bits are the length, 00 for 2 bytes, 01 and 10 for 4, 11 for 6. AArch64: 4 bytes.
#[test]
fn rows_start_at_instructions() {
    let starts = |abi, code: &[u8], candidates: &[u32]| {
        let sound = |row: &&u32| match rows_in_code(abi, code, **row)[..] {
            [] => true,
            ["row-inside-instruction"] => false,
            ref other => panic!("{other:?}"),
        };
        candidates.iter().filter(sound).copied().collect::<Vec<_>>()
    };
    let amd64 = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x90];
    let all: Vec<u32> = (1..=9).collect();
    assert_eq!(starts(AMD64, &amd64, &all), [1, 4, 8, 9]);
    let s390x = [0x07, 0x07, 0x47, 0, 0, 0, 0xa7, 0, 0, 0, 0xc0, 0];
    assert_eq!(starts(S390X, &s390x, &[2, 4, 6, 8, 10, 12, 14]), [2, 6, 10]);
    assert_eq!(starts(AARCH64, &[0; 8], &[4, 8]), [4, 8]);
    // 0x06 is no instruction in 64-bit mode, so it is unknown where the following ones start.
    assert_eq!(starts(AMD64, &[0x90, 0x06, 0x48, 0x89, 0xe5], &[1, 2, 3, 4]), [1, 2, 3, 4]);
}
