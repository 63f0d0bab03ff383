//! The ELF section that carries the bytes: its file, type, flags, place.

use super::context::Check;
use super::{Abis, Group, Rule, Severity, Versions};
use crate::elf::{
    Class, PF_R, PF_X, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHF_GROUP, SHF_WRITE, SHT_GNU_SFRAME,
    SHT_NOBITS, SHT_PROGBITS,
};
use crate::section::{Version, field};

pub(super) static ELF_CLASS: Rule = Rule {
    name: "elf-class",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "SFrame is defined for 64-bit ELF files only",
    consequence: "Readers take addresses and saved registers to be 8 bytes long. In a 32-bit file \
                  (x32 and ILP32 included) they load the wrong stack slots.",
    remedy: "Do not ask the assembler for SFrame when it builds for a 32-bit ABI.",
    source: "observed: GNU as refuses --gsframe for every 32-bit target",
    example: "an ELFCLASS32 object with a .sframe section",
    check: Check::File(|file, report| {
        if file.elf.class() == Class::Elf32 {
            report.elf_field(
                "EI_CLASS",
                "1 (ELFCLASS32)",
                "2 (ELFCLASS64)",
                format_args!("the file is a 32-bit ELF file, SFrame is defined for 64 bits only"),
            );
        }
    }),
};

pub(super) static MACHINE_ABI: Rule = Rule {
    name: "machine-abi",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the header's ABI is that of the ELF file's machine and byte order",
    consequence: "The ABI decides which registers and how many data words a row has: with the \
                  wrong one every frame is wrong. GNU ld and mold reject such an input.",
    remedy: "Assemble for the machine the file is linked for; do not copy .sframe between files.",
    source: "V3 2.2.1; observed: GNU ld 2.40 to 2.47, mold 3.0",
    example: "an x86-64 file whose header says AArch64",
    check: Check::File(|file, report| {
        let Some(section) = file.section else { return };
        let Ok(abi) = section.abi() else { return };
        match file.elf.abi() {
            Some(expected) if expected == abi => {}
            Some(expected) => report.field(
                field::ABI_ARCH,
                format_args!("{} ({abi})", abi.id()),
                format_args!("{} ({expected})", expected.id()),
                format_args!("the header is for {abi}, the file for {expected}"),
            ),
            None => report.field(
                field::ABI_ARCH,
                format_args!("{} ({abi})", abi.id()),
                "the file's machine",
                format_args!(
                    "the header is for {abi}, the file for e_machine {}, for which SFrame is not \
                     defined",
                    file.elf.machine()
                ),
            ),
        }
    }),
};

pub(super) static SECTION_DUPLICATE: Rule = Rule {
    name: "section-duplicate",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a file has one SFrame section",
    consequence: "Readers take the first and never see the others.",
    remedy: "Let one linker merge the sections; do not rename or add sections with objcopy.",
    source: "observed: libsframe's and LLVM's readers stop at the first section",
    example: "a shared object with .sframe twice",
    check: Check::File(|file, report| {
        let first = file.elf.sframe_sections().next();
        if let Some(first) = first.filter(|first| first.index != file.sframe.index) {
            report.file(format_args!(
                "section {} is an SFrame section, and so is section {} before it: readers stop at \
                 the first",
                file.sframe.index, first.index
            ));
        }
    }),
};

pub(super) static SECTION_TYPE: Rule = Rule {
    name: "section-type",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "sh_type is SHT_GNU_SFRAME where start fields are PC-relative, and in version 3",
    consequence: "GNU ld 2.46 and later ignore the section (\"unexpected SFrame section type\"): \
                  the output has no stack-trace data for this input.",
    remedy: "Set the type 0x6ffffff4, or let the assembler write the section.",
    source: "V2 errata 1; observed: GNU ld 2.47",
    example: "a version 3 section of type SHT_PROGBITS",
    check: Check::File(|file, report| {
        let Some(section) = file.section else { return };
        let header = section.header();
        let typed = header.version == Version::V3 || header.flags.pcrel();
        let sh_type = file.sframe.sh_type;
        if typed && sh_type != SHT_GNU_SFRAME && sh_type != SHT_NOBITS {
            report.elf_field(
                "sh_type",
                format_args!("{sh_type:#x}"),
                "0x6ffffff4 (SHT_GNU_SFRAME)",
                format_args!("the section's type is {sh_type:#x}, not SHT_GNU_SFRAME"),
            );
        }
    }),
};

pub(super) static SECTION_TYPE_EARLY: Rule = Rule {
    name: "section-type-early",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    summary: "sections from before errata 1 have the type SHT_PROGBITS",
    consequence: "None for readers; the producer is none of the known ones.",
    remedy: "Find out which tool wrote the section.",
    source: "observed: GNU as and ld 2.40 to 2.44",
    example: "a version 2 section without the PC-relative flag, of type SHT_GNU_SFRAME",
    check: Check::File(|file, report| {
        let Some(section) = file.section else { return };
        let sh_type = file.sframe.sh_type;
        let early = !section.header().flags.pcrel();
        if early && sh_type != SHT_PROGBITS && sh_type != SHT_NOBITS {
            report.elf_field(
                "sh_type",
                format_args!("{sh_type:#x}"),
                "0x1 (SHT_PROGBITS)",
                format_args!(
                    "the section's type is {sh_type:#x}, but no producer gave one without \
                     PC-relative starts a type of its own"
                ),
            );
        }
    }),
};

pub(super) static SECTION_NOBITS: Rule = Rule {
    name: "section-nobits",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section has bytes in the file, unless the code has none either",
    consequence: "The stack-trace data is gone, but the headers still promise it.",
    remedy: "Keep the section's contents when the file is stripped.",
    source: "observed: objcopy --only-keep-debug makes .sframe SHT_NOBITS, and the code as well",
    example: "a shared object with code, and .sframe of type SHT_NOBITS",
    check: Check::File(|file, report| {
        let has_code = file.elf.code_sections().next().is_some();
        if file.sframe.sh_type == SHT_NOBITS && file.sframe.size > 0 && has_code {
            report.elf_field(
                "sh_type",
                "8 (SHT_NOBITS)",
                "0x6ffffff4 (SHT_GNU_SFRAME)",
                format_args!("the section has no bytes in the file, though the file has its code"),
            );
        }
    }),
};

pub(super) static SECTION_NOT_LOADED: Rule = Rule {
    name: "section-not-loaded",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section has the flag SHF_ALLOC",
    consequence: "The section is not in memory at run time, where stack tracers look for it.",
    remedy: "Add \"a\" to the section's flags.",
    source: "V3 1.1 (\"a loaded section\")",
    example: "an object whose .sframe has no flags",
    check: Check::File(|file, report| {
        if file.sframe.flags & SHF_ALLOC == 0 {
            report.elf_field(
                "sh_flags",
                format_args!("{:#x}", file.sframe.flags),
                "0x2 (SHF_ALLOC)",
                format_args!("the section is not loaded: SHF_ALLOC is clear"),
            );
        }
    }),
};

pub(super) static SECTION_EXECUTABLE: Rule = Rule {
    name: "section-executable",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section does not have the flag SHF_EXECINSTR",
    consequence: "The linker places the data among code, where it can be executed.",
    remedy: "Remove \"x\" from the section's flags.",
    source: "V3 1.1; observed: every producer sets SHF_ALLOC alone",
    example: "an object whose .sframe has the flags \"ax\"",
    check: Check::File(|file, report| {
        if file.sframe.flags & SHF_EXECINSTR != 0 {
            report.elf_field(
                "sh_flags",
                format_args!("{:#x}", file.sframe.flags),
                "0x2 (SHF_ALLOC)",
                format_args!("the section is marked as machine code: SHF_EXECINSTR is set"),
            );
        }
    }),
};

pub(super) static SECTION_WRITABLE: Rule = Rule {
    name: "section-writable",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section does not have the flag SHF_WRITE",
    consequence: "Stack-trace data in writable memory can be changed by what it is to trace, and \
                  its pages are not shared.",
    remedy: "Remove \"w\" from the section's flags in every input.",
    source: "observed: GNU ld's default script places a read-only .sframe among read-only data",
    example: "an object whose .sframe has the flags \"aw\"",
    check: Check::File(|file, report| {
        if file.sframe.flags & SHF_WRITE != 0 {
            report.elf_field(
                "sh_flags",
                format_args!("{:#x}", file.sframe.flags),
                "0x2 (SHF_ALLOC)",
                format_args!("the section is writable: SHF_WRITE is set"),
            );
        }
    }),
};

pub(super) static SECTION_IN_GROUP: Rule = Rule {
    name: "section-in-group",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section of an object is not a member of a section group",
    consequence: "When the linker discards the group, the entries of functions outside it go too.",
    remedy: "Write one .sframe section per object, outside of every COMDAT group.",
    source: "observed: GNU as and LLVM write one section per object, outside of groups",
    example: "an object whose .sframe has the flag SHF_GROUP",
    check: Check::File(|file, report| {
        if file.is_relocatable() && file.sframe.flags & SHF_GROUP != 0 {
            report.elf_field(
                "sh_flags",
                format_args!("{:#x}", file.sframe.flags),
                "0x2 (SHF_ALLOC)",
                format_args!("the section is a member of a section group: SHF_GROUP is set"),
            );
        }
    }),
};

pub(super) static SECTION_ALIGNMENT: Rule = Rule {
    name: "section-alignment",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section is aligned to 4 bytes at least, and its address obeys its alignment",
    consequence: "Readers that load header fields as aligned 32-bit words fault or are slow.",
    remedy: "Align the section to 8 bytes, as the assemblers do.",
    source: "V2 1.1 (naturally aligned header); observed: GNU as, LLVM and mold align to 8",
    example: "an object whose .sframe is aligned to 1 byte",
    check: Check::File(|file, report| {
        let alignment = file.sframe.alignment;
        if alignment < 4 {
            report.elf_field(
                "sh_addralign",
                alignment,
                "8, at least 4",
                format_args!("the section is aligned to {alignment} bytes, its header needs 4"),
            );
        } else if file.is_linked() && !file.sframe.address.is_multiple_of(alignment) {
            report.elf_field(
                "sh_addr",
                format_args!("{:#x}", file.sframe.address),
                format_args!("a multiple of {alignment}"),
                format_args!(
                    "the section's address {:#x} is no multiple of its alignment {alignment}",
                    file.sframe.address
                ),
            );
        }
    }),
};

pub(super) static SECTION_LINKS: Rule = Rule {
    name: "section-links",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "sh_entsize, sh_link and sh_info are 0",
    consequence: "None known; no producer uses these fields for SFrame.",
    remedy: "Leave them 0.",
    source: "observed: GNU as, ld, LLVM and mold write 0",
    example: "an object whose .sframe has sh_entsize 20",
    check: Check::File(|file, report| {
        let fields = [
            ("sh_entsize", file.sframe.entry_size),
            ("sh_link", u64::from(file.sframe.link)),
            ("sh_info", u64::from(file.sframe.info)),
        ];
        for (name, value) in fields {
            if value != 0 {
                report.elf_field(
                    name,
                    value,
                    "0",
                    format_args!("{name} is {value}, which has no meaning for SFrame"),
                );
            }
        }
    }),
};

pub(super) static SECTION_OUTSIDE_LOAD: Rule = Rule {
    name: "section-outside-load",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "in a linked file the section lies in one readable PT_LOAD segment",
    consequence: "The section, or a part of it, is not in memory at run time.",
    remedy: "Keep .sframe among the read-only data in the linker script.",
    source: "V3 1.1; observed: the kernel's SFrame patches check the section's memory mapping",
    example: "a shared object without a PT_LOAD over .sframe",
    check: Check::File(|file, report| {
        let (start, size) = (file.sframe.address, file.sframe.size);
        let loaded = file.elf.segments().iter().any(|segment| {
            segment.p_type == PT_LOAD && segment.flags & PF_R != 0 && segment.loads(file.sframe)
        });
        if file.is_linked()
            && file.sframe.flags & SHF_ALLOC != 0
            && file.sframe.sh_type != SHT_NOBITS
            && size > 0
            && !loaded
        {
            report.elf_field(
                "sh_addr",
                format_args!("{start:#x}..{:#x}", file.addresses().end),
                "inside one readable PT_LOAD",
                format_args!("no readable PT_LOAD segment loads the whole section from the file"),
            );
        }
    }),
};

pub(super) static SECTION_IN_CODE_SEGMENT: Rule = Rule {
    name: "section-in-code-segment",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the PT_LOAD segment that holds the section is not executable",
    consequence: "Stack-trace data is mapped executable. Legitimate with -z noseparate-code.",
    remedy: "Link with -z separate-code.",
    source: "observed: the kernel's SFrame patches look at the mapping's protection",
    example: "a shared object with one PT_LOAD, readable and executable",
    check: Check::File(|file, report| {
        let (start, size) = (file.sframe.address, file.sframe.size);
        let executable = file.elf.segments().iter().find(|segment| {
            segment.p_type == PT_LOAD && segment.flags & PF_X != 0 && segment.contains(start, size)
        });
        if let Some(segment) = executable.filter(|_| file.is_linked() && size > 0) {
            report.elf_field(
                "p_flags",
                format_args!("{:#x}", segment.flags),
                "0x4 (R)",
                format_args!("the PT_LOAD segment that holds the section is executable"),
            );
        }
    }),
};

pub(super) static DYNAMIC_RELOCATION: Rule = Rule {
    name: "dynamic-relocation",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "no dynamic relocation applies to the section",
    consequence: "The dynamic linker overwrites a field at run time, or faults because the section \
                  is read-only. Every value in the section is position-independent.",
    remedy: "Make the linker resolve the section's PC-relative relocations itself.",
    source: "V3 2.3.1 (start offsets are relative to the section or the field)",
    example: "a shared object with R_X86_64_RELATIVE in .sframe",
    check: Check::File(|file, report| {
        let addresses = file.addresses();
        let first = file.dynamic.partition_point(|&address| address < addresses.start);
        let found = file.dynamic.get(first).filter(|&&address| address < addresses.end);
        if let Some(&address) = found.filter(|_| file.section.is_some()) {
            let offset = address.saturating_sub(addresses.start);
            let end = offset.saturating_add(8).min(file.sframe.size);
            report.bytes(
                offset..end,
                format_args!(
                    "a dynamic relocation applies to address {address:#x} inside the section"
                ),
            );
        }
    }),
};
