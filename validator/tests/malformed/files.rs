//! The ELF file around the section: section header, segments, relocations, symbols.

use super::{at, elf, field};
use crate::Case;
use crate::host::{Host, PC32, PC64, SFRAME, Section, TEXT, archive, func, linked, object};
use crate::sound::{AMD64, V2, V3, bytes, first, of, second};
use sframe_validator::Version;
use sframe_validator::elf::{Class, SHF_ALLOC, SHF_EXECINSTR, SHT_RELA, Segment};
use sframe_validator::write::elf::{Relocation, SectionHeader, claims};

/// Two functions in a shared object.
fn shared() -> Host {
    let mut builder = of(V3, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
    builder.address(SFRAME);
    linked(bytes(&builder))
}

/// Two functions in an object. The start fields are at 28 and 44 in version 3, and at 28 and 48 in version 2.
fn relocatable(version: Version) -> Host {
    let mut builder = of(version, AMD64, [first(AMD64, 0), second(AMD64, 16)]);
    builder.relocatable();
    let built = builder.build().expect("the section can be written");
    let kind = if version == V3 { PC64 } else { PC32 };
    object(built.bytes, &built.start_fields, &[0, 16], kind)
}

fn broken(change: impl FnOnce(&mut Host)) -> Vec<u8> {
    shared().with(change).bytes()
}

fn broken_object(change: impl FnOnce(&mut Host)) -> Vec<u8> {
    relocatable(V3).with(change).bytes()
}

pub fn cases() -> Vec<Case> {
    let mut cases = container();
    cases.extend(section_flags());
    cases.extend(segments());
    cases.extend(relocations());
    cases.extend(coverage());
    cases
}

fn container() -> Vec<Case> {
    let sound = || shared().bytes();
    let early = || {
        let mut builder = of(V2, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
        builder.address(SFRAME).with(|s| s.header.flags = 1);
        linked(bytes(&builder))
    };
    let narrow = relocatable(V3).with(|host| {
        (host.class, host.symbols) = (Class::Elf32, Vec::new());
        host.relocations.clear();
    });
    let twice = |host: &mut Host| {
        let mut copy: Section = host.sections[1].clone();
        (copy.header.offset, copy.header.address) = (SFRAME + 96, SFRAME + 96);
        // The section's start fields are relative to its place.
        let mut builder = of(V3, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
        builder.address(SFRAME + 96);
        copy.data = bytes(&builder);
        host.sections.insert(2, copy);
        host.sections[3].header.offset += 128;
        host.sections[3].header.address += 128;
        host.segments[1].file_size += 128;
        host.segments[1].memory_size += 128;
    };
    vec![
        elf("elf-class", relocatable(V3).bytes(), narrow.bytes(), "EI_CLASS"),
        at("section-duplicate", sound(), broken(twice), None),
        elf("section-type", sound(), broken(|host| host.header().sh_type = 1), "sh_type"),
        elf(
            "section-type-early",
            early().with(|host| host.header().sh_type = 1).bytes(),
            early().bytes(),
            "sh_type",
        )
        .besides(&["pcrel-flag-clear"]),
        elf("section-nobits", sound(), broken(|host| host.header().sh_type = 8), "sh_type"),
        elf(
            "section-alignment",
            sound(),
            broken(|host| host.header().alignment = 1),
            "sh_addralign",
        ),
        elf("section-links", sound(), broken(|host| host.header().entry_size = 20), "sh_entsize"),
        elf(
            "section-outside-load",
            sound(),
            broken(|host| {
                host.segments.remove(1);
            }),
            "sh_addr",
        ),
        elf(
            "section-in-code-segment",
            sound(),
            broken(|host| host.segments[1].flags = 5),
            "p_flags",
        ),
        at("dynamic-relocation", sound(), broken(dynamic_relocation), Some(28)),
    ]
}

/// R_X86_64_RELATIVE at the first function's start field.
fn dynamic_relocation(host: &mut Host) {
    let mut data = Vec::new();
    data.extend((SFRAME + 28).to_le_bytes());
    data.extend(8_u64.to_le_bytes());
    data.extend(0_u64.to_le_bytes());
    let header = SectionHeader {
        sh_type: SHT_RELA,
        flags: SHF_ALLOC,
        address: 0x1000,
        entry_size: 24,
        alignment: 1,
        ..SectionHeader::default()
    };
    host.sections.push(Section { name: ".rela.dyn", header, data });
}

fn section_flags() -> Vec<Case> {
    let sound = || relocatable(V3).bytes();
    let flags = |flags| broken_object(|host| host.header().flags = flags);
    vec![
        elf("section-not-loaded", sound(), flags(0), "sh_flags"),
        elf("section-executable", sound(), flags(6), "sh_flags"),
        elf("section-writable", sound(), flags(3), "sh_flags"),
        elf("section-in-group", sound(), flags(0x202), "sh_flags"),
    ]
}

fn segments() -> Vec<Case> {
    let sound = || shared().bytes();
    let longer = |by: u64| {
        move |host: &mut Host| {
            host.segment().file_size += by;
            host.segment().memory_size += by;
        }
    };
    let empty = || {
        shared().with(|host| {
            host.sframe().clear();
            host.segment().file_size = 28;
            host.segment().memory_size = 28;
            host.symbols.clear();
        })
    };
    let no_segment = |host: &mut Host| {
        host.segments.pop();
    };
    vec![
        at("segment-missing", sound(), broken(no_segment), None),
        at(
            "segment-without-section",
            sound(),
            broken(|host| {
                (host.sections[1].name, host.header().sh_type) = (".frames", 1);
            }),
            None,
        ),
        at(
            "section-headers-unusable",
            sound(),
            with_tables(sound(), |tables| tables.sections_offset = 1 << 40),
            None,
        ),
        at(
            "code-without-section",
            sound(),
            broken(|host| {
                let added = Segment {
                    address: 0x3000,
                    file_size: 0x20,
                    memory_size: 0x20,
                    ..host.segments[0]
                };
                host.segments.insert(2, added);
            }),
            None,
        ),
        at("segment-duplicate", sound(), broken(|host| host.segments.push(host.segments[2])), None),
        elf("segment-address", sound(), broken(|host| host.segment().address += 8), "p_vaddr"),
        elf("segment-permissions", sound(), broken(|host| host.segment().flags = 6), "p_flags"),
        elf(
            "segment-memory-size",
            sound(),
            broken(|host| host.segment().memory_size += 8),
            "p_memsz",
        ),
        elf(
            "segment-short",
            sound(),
            broken(|host| {
                host.segment().file_size -= 8;
                host.segment().memory_size -= 8;
            }),
            "p_filesz",
        ),
        elf("segment-long", sound(), broken(longer(8)), "p_filesz"),
        elf(
            "segment-stale-bytes",
            sound(),
            broken(|host| {
                longer(8)(host);
                host.header().size = host.sframe().len() as u64;
                host.sframe().extend(*b"leftover");
            }),
            "p_filesz",
        ),
        elf("segment-over-empty", empty().with(no_segment).bytes(), empty().bytes(), "p_filesz")
            .besides(&["section-empty"]),
        elf(
            "segment-outside-load",
            sound(),
            broken(|host| {
                // The PT_LOAD segment ends with the section, which is at the end of the file.
                let size = host.sframe().len() as u64;
                (host.segments[1].file_size, host.segments[1].memory_size) = (size, size);
                longer(4096)(host);
            }),
            "p_memsz",
        ),
    ]
}

/// The file with other places and sizes of tables in its header.
fn with_tables(mut file: Vec<u8>, change: impl FnOnce(&mut claims::Tables)) -> Vec<u8> {
    claims::tables(&mut file, change).expect("a 64-bit file");
    file
}

fn relocations() -> Vec<Case> {
    let sound = || relocatable(V3).bytes();
    let relocation = |offset, symbol, kind, addend| Relocation { offset, symbol, kind, addend };
    // Version 2 has relocation types of its own, so each object is valid on its own.
    let set = |first, second| {
        let objects = [first, second].map(|version| relocatable(version).bytes());
        let [a, b] = objects;
        archive(&[("a.o", a), ("b.o", b)])
    };
    vec![
        at("mixed-inputs", set(V3, V3), set(V2, V3), None),
        field(
            "relocation-missing",
            sound(),
            broken_object(|host| {
                host.relocations.pop();
            }),
            44,
            "sfdi_func_start_offset",
        ),
        field(
            "relocation-order",
            sound(),
            broken_object(|host| host.relocations.swap(0, 1)),
            28,
            "sfdi_func_start_offset",
        ),
        at(
            "relocation-misplaced",
            sound(),
            broken_object(|host| host.relocations.insert(1, relocation(36, 1, PC64, 0))),
            Some(36),
        ),
        field(
            "relocation-type",
            relocatable(V2).bytes(),
            // R_X86_64_64.
            relocatable(V2).with(|host| host.relocations[1].kind = 1).bytes(),
            48,
            "sfde_func_start_address",
        ),
        field(
            "relocation-target",
            sound(),
            // The symbol of .data.
            broken_object(|host| host.relocations[1].symbol = 2),
            44,
            "sfdi_func_start_offset",
        ),
        at(
            "relocation-none",
            sound(),
            broken_object(|host| host.relocations.push(relocation(0, 0, 0, 0))),
            None,
        ),
        field(
            "relocation-duplicate",
            sound(),
            broken_object(|host| host.relocations.insert(1, relocation(28, 1, PC64, 0))),
            28,
            "sfdi_func_start_offset",
        ),
        field(
            "relocated-field-nonzero",
            sound(),
            broken_object(|host| host.sframe()[44] = 16),
            44,
            "sfdi_func_start_offset",
        ),
    ]
}

fn coverage() -> Vec<Case> {
    let sound = || shared().bytes();
    let stubs = broken(|host| {
        let mut plt: Section = host.sections[0].clone();
        (plt.name, plt.data) = (".plt", vec![0x90; 16]);
        (plt.header.address, plt.header.offset) = (0x1f0, 0x1f0);
        host.sections.push(plt);
        host.segments[0].offset = 0x1f0;
        host.segments[0].address = 0x1f0;
        host.segments[0].file_size += 16;
        host.segments[0].memory_size += 16;
    });
    // The table for the functions at 0x200 and 0x210; it is at 0x1000.
    let listed = |count: u32| {
        broken(|host| {
            let mut data = vec![1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0];
            data.extend(count.to_le_bytes());
            for start in [0x200_i32, 0x210].into_iter().take(count as usize) {
                data.extend((start - 0x1000).to_le_bytes());
                data.extend([0; 4]);
            }
            let mut header = host.sections[2].header;
            (header.flags, header.offset, header.address) = (SHF_ALLOC, 0, 0x1000);
            host.sections.push(Section { name: ".eh_frame_hdr", header, data });
        })
    };
    let repeating = {
        let mut builder = of(V3, AMD64, [first(AMD64, TEXT).repeat(16), second(AMD64, TEXT + 16)]);
        builder.address(SFRAME);
        linked(bytes(&builder)).bytes()
    };
    let short = {
        let function = second(AMD64, TEXT + 16);
        let mut builder = of(V3, AMD64, [first(AMD64, TEXT), function]);
        builder.address(SFRAME);
        linked(bytes(&builder)).with(|host| host.symbols[1].size = 24)
    };
    // As BOLT leaves it: the old code has another name, and the functions' symbols are in the new code.
    let rewritten = broken(|host| {
        host.sections[0].name = ".bolt.org.text";
        let mut header = host.sections[2].header;
        (header.flags, header.offset, header.address) = (SHF_ALLOC | SHF_EXECINSTR, 0, 0x2000);
        host.sections.push(Section { name: ".text", header, data: vec![0x90; 32] });
        host.symbols = vec![func("first", 4, 0x2000, 16), func("second", 4, 0x2010, 16)];
    });
    vec![
        at("stale-after-rewriting", sound(), rewritten, None),
        at(
            "symbol-uncovered",
            sound(),
            broken(|host| host.symbols.push(func("third", 1, TEXT + 32, 16))),
            None,
        ),
        field("function-size-symbol", sound(), short.bytes(), 52, "sfdi_func_size"),
        at("stubs-uncovered", sound(), stubs, None),
        // The second row of the first function is at 4; instruction 0x31 has a second byte.
        at(
            "row-inside-instruction",
            sound(),
            broken(|host| host.sections[0].data[3] = 0x31),
            Some(68),
        ),
        field("function-without-cfi", listed(2), listed(1), 44, "sfdi_func_start_offset"),
        field("repeat-outside-stubs", sound(), repeating, 62, "sfda_func_info"),
    ]
}
