//! The PT_GNU_SFRAME program header, by which dynamic consumers find the section.

use super::context::{Check, FileContext};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::elf::{ElfSection, PF_R, PT_GNU_SFRAME, PT_LOAD, SHT_NOBITS, Segment};

/// The file's first PT_GNU_SFRAME, which is to lead to its first SFrame section.
fn sframe_segment<'a>(file: &FileContext<'a>) -> Option<&'a Segment> {
    file.elf.sframe_sections().next().filter(|first| first.index == file.sframe.index)?;
    file.elf.segments().iter().find(|segment| segment.p_type == PT_GNU_SFRAME)
}

/// The segment, where it starts where the section does, and the section has bytes.
fn segment_of_section<'a>(file: &FileContext<'a>) -> Option<(&'a Segment, &'a ElfSection<'a>)> {
    let segment = sframe_segment(file)?;
    let section = file.sframe;
    let related = segment.address == section.address
        && segment.offset == section.offset
        && section.sh_type != SHT_NOBITS;
    related.then_some((segment, section))
}

/// The bytes of the file that the segment holds behind the section.
fn slack<'a>(file: &FileContext<'a>) -> Option<&'a [u8]> {
    let (segment, section) = segment_of_section(file)?;
    let start = section.offset.checked_add(section.size)?;
    let end = segment.offset.checked_add(segment.file_size)?;
    file.elf.data().get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

pub(super) static SEGMENT_MISSING: Rule = Rule {
    name: "segment-missing",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a linked file with an SFrame section has a PT_GNU_SFRAME segment",
    consequence: "The dynamic linker, glibc's unwinder and profilers find the section by this \
                  program header, and so find none.",
    remedy: "Link with GNU ld 2.40 or later, or mold; lld 23 does not write the segment.",
    source: "V3 1.1; observed: lld 23 leaves it out",
    example: "a shared object with .sframe and without PT_GNU_SFRAME",
    check: Check::File(|file, report| {
        let segments = file.elf.segments();
        let none = segments.iter().all(|segment| segment.p_type != PT_GNU_SFRAME);
        if file.is_linked() && file.sframe.size > 0 && !segments.is_empty() && none {
            report.file(format_args!(
                "the file has an SFrame section, but no PT_GNU_SFRAME segment that leads to it"
            ));
        }
    }),
};

pub(super) static SEGMENT_DUPLICATE: Rule = Rule {
    name: "segment-duplicate",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a file has one PT_GNU_SFRAME segment at most",
    consequence: "Readers take the first or the last, and disagree.",
    remedy: "Write one program header for the one section.",
    source: "observed: every linker writes one",
    example: "a shared object with PT_GNU_SFRAME twice",
    check: Check::File(|file, report| {
        let segments = file.elf.segments().iter();
        let count = segments.filter(|segment| segment.p_type == PT_GNU_SFRAME).count();
        if count > 1 && sframe_segment(file).is_some() {
            report.file(format_args!("the file has {count} PT_GNU_SFRAME segments, not one"));
        }
    }),
};

pub(super) static SEGMENT_ADDRESS: Rule = Rule {
    name: "segment-address",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "PT_GNU_SFRAME starts where the section starts, in memory and in the file",
    consequence: "A reader that comes by the program header takes other bytes for the header.",
    remedy: "Run the tool that moved the section again with one that updates program headers.",
    source: "V3 1.1; observed: glibc's dl_find_object and the kernel's patches use p_vaddr",
    example: "a shared object whose PT_GNU_SFRAME is 8 bytes off",
    check: Check::File(|file, report| {
        let Some(segment) = sframe_segment(file) else { return };
        let section = file.sframe;
        if !file.is_linked() || section.size == 0 || section.sh_type == SHT_NOBITS {
            return;
        }
        if segment.address != section.address {
            report.elf_field(
                "p_vaddr",
                format_args!("{:#x}", segment.address),
                format_args!("{:#x}", section.address),
                format_args!("PT_GNU_SFRAME does not start at the section's address"),
            );
        } else if segment.offset != section.offset {
            report.elf_field(
                "p_offset",
                format_args!("{:#x}", segment.offset),
                format_args!("{:#x}", section.offset),
                format_args!("PT_GNU_SFRAME does not start at the section's file offset"),
            );
        }
    }),
};

pub(super) static SEGMENT_PERMISSIONS: Rule = Rule {
    name: "segment-permissions",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "PT_GNU_SFRAME is readable, and neither writable nor executable",
    consequence: "A loader that goes by p_flags maps the data wrongly, or refuses it.",
    remedy: "Make every input's .sframe read-only.",
    source: "observed: GNU ld and mold write R",
    example: "a shared object whose PT_GNU_SFRAME is RW",
    check: Check::File(|file, report| {
        let Some(segment) = sframe_segment(file) else { return };
        if file.is_linked() && segment.flags != PF_R {
            report.elf_field(
                "p_flags",
                format_args!("{:#x}", segment.flags),
                "0x4 (R)",
                format_args!("PT_GNU_SFRAME has other permissions than to be read"),
            );
        }
    }),
};

pub(super) static SEGMENT_MEMORY_SIZE: Rule = Rule {
    name: "segment-memory-size",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "PT_GNU_SFRAME has the same size in the file and in memory",
    consequence: "A reader that takes the size in memory reads bytes that no file gave.",
    remedy: "Set p_memsz to p_filesz.",
    source: "observed: GNU ld and mold write equal sizes",
    example: "a shared object whose PT_GNU_SFRAME has p_memsz = p_filesz + 8",
    check: Check::File(|file, report| {
        let Some(segment) = sframe_segment(file) else { return };
        if file.is_linked()
            && file.sframe.sh_type != SHT_NOBITS
            && segment.file_size != segment.memory_size
        {
            report.elf_field(
                "p_memsz",
                format_args!("{:#x}", segment.memory_size),
                format_args!("{:#x} (p_filesz)", segment.file_size),
                format_args!("PT_GNU_SFRAME is not as long in memory as in the file"),
            );
        }
    }),
};

pub(super) static SEGMENT_SHORT: Rule = Rule {
    name: "segment-short",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "PT_GNU_SFRAME holds the whole section",
    consequence: "A reader that comes by the program header sees a truncated section.",
    remedy: "Set p_filesz to the section's size.",
    source: "V3 1.1; observed: the kernel's patches take the section's end from the segment",
    example: "a shared object whose PT_GNU_SFRAME is 8 bytes shorter than .sframe",
    check: Check::File(|file, report| {
        let Some((segment, section)) = segment_of_section(file) else { return };
        if file.is_linked() && segment.file_size < section.size {
            report.elf_field(
                "p_filesz",
                format_args!("{:#x}", segment.file_size),
                format_args!("{:#x} (sh_size)", section.size),
                format_args!("PT_GNU_SFRAME ends before the section does"),
            );
        }
    }),
};

pub(super) static SEGMENT_LONG: Rule = Rule {
    name: "segment-long",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "PT_GNU_SFRAME ends where the section ends",
    consequence: "A reader that comes by the program header sees bytes behind the section.",
    remedy: "objcopy or strip sets the size right.",
    source: "observed: GNU ld 2.40 to 2.47 keep the size from before merging in p_filesz",
    example: "a shared object whose PT_GNU_SFRAME is 8 bytes longer than .sframe, all zero",
    check: Check::File(|file, report| {
        let Some((segment, section)) = segment_of_section(file) else { return };
        let zero = slack(file).is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
        if section.size > 0 && segment.file_size > section.size && zero {
            report.elf_field(
                "p_filesz",
                format_args!("{:#x}", segment.file_size),
                format_args!("{:#x} (sh_size)", section.size),
                format_args!(
                    "PT_GNU_SFRAME is {} bytes longer than the section",
                    segment.file_size.saturating_sub(section.size)
                ),
            );
        }
    }),
};

pub(super) static SEGMENT_STALE_BYTES: Rule = Rule {
    name: "segment-stale-bytes",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "what PT_GNU_SFRAME holds behind the section is zero",
    consequence: "A reader that takes the extent from the program header sees what is left of the \
                  linker's inputs behind the section, and may take it for data.",
    remedy: "objcopy or strip sets the size right; mold writes it right.",
    source: "observed: GNU ld 2.40 to 2.47 keep the size, and the bytes, from before merging",
    example: "a shared object linked by GNU ld from two objects",
    check: Check::File(|file, report| {
        let Some((segment, section)) = segment_of_section(file) else { return };
        let stale = match slack(file) {
            Some(bytes) => bytes.iter().any(|&byte| byte != 0),
            None => false,
        };
        if section.size > 0 && stale {
            report.elf_field(
                "p_filesz",
                format_args!("{:#x}", segment.file_size),
                format_args!("{:#x} (sh_size)", section.size),
                format_args!(
                    "PT_GNU_SFRAME is {} bytes longer than the section, and these are not zero",
                    segment.file_size.saturating_sub(section.size)
                ),
            );
        }
    }),
};

pub(super) static SEGMENT_OVER_EMPTY: Rule = Rule {
    name: "segment-over-empty",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a file whose section is empty has no PT_GNU_SFRAME segment",
    consequence: "A reader that comes by the program header takes what follows for a header.",
    remedy: "Discard the empty section (--discard-sframe), or keep one function with data.",
    source: "observed: GNU ld when no function of its inputs is left",
    example: "a shared object with an empty .sframe and PT_GNU_SFRAME of 28 bytes",
    check: Check::File(|file, report| {
        let Some(segment) = sframe_segment(file) else { return };
        if file.is_linked() && file.sframe.size == 0 && !file.sframe.is_segment() {
            report.elf_field(
                "p_filesz",
                format_args!("{:#x}", segment.file_size),
                "no PT_GNU_SFRAME",
                format_args!("PT_GNU_SFRAME leads to a section of size 0"),
            );
        }
    }),
};

pub(super) static SEGMENT_OUTSIDE_LOAD: Rule = Rule {
    name: "segment-outside-load",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "PT_GNU_SFRAME lies in one PT_LOAD segment",
    consequence: "The end of what the program header promises is not mapped: reading it faults.",
    remedy: "Correct the program headers; objcopy or strip may set the size right.",
    source: "V3 1.1; observed: the kernel's patches check the mapping of the whole segment",
    example: "a shared object whose PT_GNU_SFRAME ends 4096 bytes behind its PT_LOAD",
    check: Check::File(|file, report| {
        let Some(segment) = sframe_segment(file) else { return };
        let loaded = file.elf.segments().iter().any(|load| {
            load.p_type == PT_LOAD && load.contains(segment.address, segment.memory_size)
        });
        let section_loaded = file.elf.segments().iter().any(|load| {
            load.p_type == PT_LOAD && load.contains(file.sframe.address, file.sframe.size)
        });
        let here = segment.address == file.sframe.address;
        if file.is_linked() && here && section_loaded && !loaded {
            report.elf_field(
                "p_memsz",
                format_args!("{:#x}", segment.memory_size),
                "an end inside a PT_LOAD",
                format_args!(
                    "PT_GNU_SFRAME {:#x}..{:#x} is in no PT_LOAD segment",
                    segment.address,
                    segment.address.saturating_add(segment.memory_size)
                ),
            );
        }
    }),
};

pub(super) static SEGMENT_WITHOUT_SECTION: Rule = Rule {
    name: "segment-without-section",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a file with section headers and a PT_GNU_SFRAME segment has an SFrame section",
    consequence: "Tools that go by section headers find no stack-trace data, while the program \
                  header promises some; where the section was removed, it leads to other bytes.",
    remedy: "Remove the program header with the section, or keep the section.",
    source: "observed: objcopy -R .sframe leaves the program header",
    example: "a shared object whose .sframe is renamed and of type SHT_PROGBITS",
    check: Check::File(|file, report| {
        if file.sframe.is_segment() && !file.elf.sections().is_empty() {
            report.file(format_args!(
                "PT_GNU_SFRAME leads to {:#x}..{:#x}, but the file has no SFrame section",
                file.addresses().start,
                file.addresses().end
            ));
        }
    }),
};
