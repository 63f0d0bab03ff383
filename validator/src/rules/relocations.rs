//! What a linker goes by: an object's relocations, one per function, and that inputs match.

use super::context::{Check, FileContext};
use super::tiling::concatenated_at;
use super::{Abis, Group, Rule, Severity, Versions};
use crate::elf::{Class, EM_AARCH64, EM_S390, EM_X86_64, Relocation};
use crate::section::{FunctionEntry, FunctionField, Section, Starts, Version};

/// The relocation type of start fields: its number and name.
fn start_type(machine: u16, version: Version) -> Option<(u32, &'static str)> {
    Some(match (machine, version) {
        (EM_X86_64, Version::V3) => (24, "R_X86_64_PC64"),
        (EM_X86_64, _) => (2, "R_X86_64_PC32"),
        (EM_AARCH64, Version::V3) => (260, "R_AARCH64_PREL64"),
        (EM_AARCH64, _) => (261, "R_AARCH64_PREL32"),
        (EM_S390, Version::V3) => (23, "R_390_PC64"),
        (EM_S390, _) => (5, "R_390_PC32"),
        _ => return None,
    })
}

/// The section, where it is one of a 64-bit relocatable object whose relocations can be read, with
/// its function table inside.
fn object_section<'a>(file: &FileContext<'a>) -> Option<&'a Section<'a>> {
    file.relocations?;
    let relocatable = file.is_relocatable() && file.elf.class() == Class::Elf64;
    let section = file.section.filter(|_| relocatable)?;
    (section.header().fde_table_end() <= section.data().len() as u64).then_some(section)
}

fn all<'a>(file: &FileContext<'a>) -> &'a [Relocation] {
    file.relocations.map_or(&[], |table| &table.relocations)
}

/// Number of relocations that have no addend (`SHT_REL`).
fn without_addend(file: &FileContext<'_>) -> u64 {
    file.relocations.map_or(0, |table| table.without_addend)
}

/// Relocations that do something, with their place in the table.
fn effective<'a>(file: &FileContext<'a>) -> impl Iterator<Item = (usize, &'a Relocation)> {
    all(file).iter().enumerate().filter(|(_, relocation)| !relocation.is_none())
}

/// Relocations that apply to no start field of the section. Those of a section that an unaware
/// linker appended to this one are not counted: they are where that section's start fields are.
fn misplaced<'a>(
    file: &FileContext<'a>,
    section: &'a Section<'a>,
) -> impl Iterator<Item = (usize, &'a Relocation)> {
    let end = concatenated_at(section).unwrap_or(u64::MAX);
    effective(file).filter(move |(_, relocation)| {
        relocation.offset < end && function_at(section, relocation.offset).is_none()
    })
}

/// The function whose start field is at `offset`.
fn function_at<'a>(section: &'a Section<'a>, offset: u64) -> Option<FunctionEntry<'a>> {
    let header = section.header();
    let before = offset.checked_sub(header.fde_table_start())?;
    let index = u32::try_from(before / header.version.entry_size()).ok()?;
    section.entry(index).filter(|entry| entry.offset() == offset)
}

pub(super) static RELOCATION_MISSING: Rule = Rule {
    name: "relocation-missing",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the start field of each function has a relocation",
    consequence: "The linker cannot tell which function is meant; GNU ld fails an assertion.",
    remedy: "Emit one PC-relative relocation for each function.",
    source: "observed: GNU as writes one each; GNU ld and mold pair functions with relocations",
    example: "an object whose only function has no relocation",
    check: Check::File(|file, report| {
        let Some(section) = object_section(file) else { return };
        let Starts::Relocated(starts) = section.placement().starts else { return };
        // Relocations without addend have a rule of their own.
        if without_addend(file) > 0 {
            return;
        }
        if starts.is_empty() && section.entry_count() > 0 {
            report.file(format_args!(
                "the section has no relocations: where its {} functions are is lost",
                section.entry_count()
            ));
            return;
        }
        // Relocations in wrong places are the cause, and have a rule of their own.
        if misplaced(file, section).next().is_some() {
            return;
        }
        for entry in section.entries() {
            let place = entry.field(FunctionField::Start);
            if starts.binary_search_by_key(&place.offset, |start| start.field_offset).is_err() {
                report.field(
                    place,
                    entry.start_field(),
                    "a relocated field",
                    format_args!("no relocation applies to function #{}'s start", entry.index()),
                );
            }
        }
    }),
};

pub(super) static RELOCATION_ORDER: Rule = Rule {
    name: "relocation-order",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "relocations are in the order of the functions",
    consequence: "GNU ld pairs functions with relocations by their order, not by their offset: it \
                  keeps the rows of a function that it discards, and loses others.",
    remedy: "Sort the relocations by offset.",
    source: "observed: GNU ld 2.47; GNU as and LLVM write them in order",
    example: "an object of 2 functions whose relocations are swapped",
    check: Check::File(|file, report| {
        let Some(section) = object_section(file) else { return };
        let mut highest = 0;
        for (index, relocation) in effective(file) {
            let Some(entry) = function_at(section, relocation.offset) else { continue };
            if relocation.offset < highest {
                report.field(
                    entry.field(FunctionField::Start),
                    format_args!("relocation {index}"),
                    "relocations in ascending order",
                    format_args!(
                        "relocation {index}, of the field at {:#x}, follows that of the field at \
                         {highest:#x}",
                        relocation.offset
                    ),
                );
            }
            highest = highest.max(relocation.offset);
        }
    }),
};

pub(super) static RELOCATION_MISPLACED: Rule = Rule {
    name: "relocation-misplaced",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "relocations apply to start fields alone",
    consequence: "The linker overwrites a field that holds no address.",
    remedy: "Relocate start fields only; all else in the section is independent of addresses.",
    source: "V3 2.3.1; observed: GNU as, LLVM",
    example: "an object with a second relocation, at its function's size",
    check: Check::File(|file, report| {
        let Some(section) = object_section(file) else { return };
        for (index, relocation) in misplaced(file, section) {
            let size = section.data().len() as u64;
            let start = relocation.offset.min(size);
            report.bytes(
                start..start.saturating_add(1).min(size),
                format_args!(
                    "relocation {index} applies to offset {:#x}, where no start field is",
                    relocation.offset
                ),
            );
        }
    }),
};

pub(super) static RELOCATION_TYPE: Rule = Rule {
    name: "relocation-type",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "start fields have the version's PC-relative relocation type, with addend",
    consequence: "The linker writes an absolute address, or too few bytes, into the field.",
    remedy: "Use R_X86_64_PC32, R_AARCH64_PREL32 or R_390_PC32 up to version 2, and \
             R_X86_64_PC64, R_AARCH64_PREL64 or R_390_PC64 in version 3.",
    source: "V3 2.3.1 (64-bit start offsets); observed: GNU as, LLVM",
    example: "a version 2 object whose function is relocated with R_X86_64_64",
    check: Check::File(|file, report| {
        let Some(section) = object_section(file) else { return };
        let Some((wanted, name)) = start_type(file.elf.machine(), section.header().version) else {
            return;
        };
        for (index, relocation) in effective(file) {
            let Some(entry) = function_at(section, relocation.offset) else { continue };
            if relocation.kind != wanted {
                report.field(
                    entry.field(FunctionField::Start),
                    format_args!("type {}", relocation.kind),
                    format_args!("type {wanted} ({name})"),
                    format_args!(
                        "relocation {index} is of type {}, start fields have {name}",
                        relocation.kind
                    ),
                );
            }
        }
        if without_addend(file) > 0 {
            report.elf_field(
                "sh_type",
                "9 (SHT_REL)",
                "4 (SHT_RELA)",
                format_args!("{} relocations have no addend (SHT_REL)", without_addend(file)),
            );
        }
    }),
};

pub(super) static RELOCATION_TARGET: Rule = Rule {
    name: "relocation-target",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a start field leads to a place in an executable section of the object",
    consequence: "The rows describe what is no code, or another file's.",
    remedy: "Relocate against the text section's symbol, or a local label in it.",
    source: "observed: GNU as relocates against the section's symbol",
    example: "an object whose function is relocated against .data",
    check: Check::File(|file, report| {
        let Some(section) = object_section(file) else { return };
        for (index, relocation) in effective(file) {
            let Some(entry) = function_at(section, relocation.offset) else { continue };
            let place = entry.field(FunctionField::Start);
            let Some(target) = relocation.target() else {
                report.field(
                    place,
                    format_args!("relocation {index}"),
                    "a symbol in a section of the object",
                    format_args!(
                        "relocation {index} is against a symbol that no section of the object \
                         defines"
                    ),
                );
                continue;
            };
            let Some(code) = file.elf.section(target.section) else { continue };
            if !code.is_executable() {
                report.field(
                    place,
                    format_args!("section {}", target.section),
                    "an executable section",
                    format_args!(
                        "function #{} starts in section {}, which is not executable",
                        entry.index(),
                        target.section
                    ),
                );
            } else if target.address > code.size {
                report.field(
                    place,
                    format_args!("{:#x}", target.address),
                    format_args!("at most {:#x}", code.size),
                    format_args!(
                        "function #{} starts at {:#x}, behind the end {:#x} of section {}",
                        entry.index(),
                        target.address,
                        code.size,
                        target.section
                    ),
                );
            }
        }
    }),
};

pub(super) static RELOCATION_NONE: Rule = Rule {
    name: "relocation-none",
    group: Group::Relocations,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "no relocation is R_*_NONE",
    consequence: "The object is the output of ld -r, which leaves such entries for functions that \
                  it discarded; tools that count relocations come to another number than functions.",
    remedy: "None needed.",
    source: "observed: ld -r of binutils 2.47 (binutils PR 33401)",
    example: "an object with an R_X86_64_NONE besides its function's relocation",
    check: Check::File(|file, report| {
        let count = all(file).iter().filter(|relocation| relocation.is_none()).count();
        if file.is_relocatable() && count > 0 {
            report.file(format_args!(
                "{count} of the section's {} relocations are R_*_NONE",
                all(file).len()
            ));
        }
    }),
};

pub(super) static RELOCATION_DUPLICATE: Rule = Rule {
    name: "relocation-duplicate",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a start field has one relocation",
    consequence: "Linkers apply the last or add them up; llvm-readobj warns.",
    remedy: "Emit one relocation for each function.",
    source: "observed: llvm-readobj 23",
    example: "an object whose function has two relocations",
    check: Check::File(|file, report| {
        let Some(section) = object_section(file) else { return };
        let mut offsets: alloc::vec::Vec<u64> = effective(file).map(|(_, r)| r.offset).collect();
        offsets.sort_unstable();
        let mut last_reported = None;
        for pair in offsets.windows(2) {
            let [first, second] = pair else { continue };
            if first != second || last_reported == Some(*first) {
                continue;
            }
            last_reported = Some(*first);
            let Some(entry) = function_at(section, *first) else { continue };
            report.field(
                entry.field(FunctionField::Start),
                "more than one relocation",
                "one relocation",
                format_args!("more than one relocation applies to the field at {first:#x}"),
            );
        }
    }),
};

pub(super) static RELOCATED_FIELD_NONZERO: Rule = Rule {
    name: "relocated-field-nonzero",
    group: Group::Relocations,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "relocated start fields are stored as 0",
    consequence: "The relocation's own addend counts, so the stored value is lost; a reader that \
                  does not apply relocations takes it for an address.",
    remedy: "Store 0.",
    source: "observed: GNU as, LLVM and mold store 0",
    example: "an object whose start field holds 16",
    check: Check::File(|file, report| {
        let Some(section) = object_section(file) else { return };
        for entry in section.entries() {
            if entry.start_field() != 0 {
                report.field(
                    entry.field(FunctionField::Start),
                    entry.start_field(),
                    "0",
                    format_args!("the relocated start field holds {}", entry.start_field()),
                );
            }
        }
    }),
};

pub(super) static MIXED_INPUTS: Rule = Rule {
    name: "mixed-inputs",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "inputs of one link agree in version, ABI, fixed offsets and the PC-relative flag",
    consequence: "GNU ld since 2.46 and mold leave out what does not match, GNU ld up to 2.44 fails \
                  the link or writes no section: the functions of some inputs, or of all, are lost.",
    remedy: "Assemble all inputs with the same assembler.",
    source: "observed: GNU ld 2.44 and 2.47, mold 3.0",
    example: "an archive of a version 2 object and a version 3 object",
    check: Check::LinkSet(|inputs, report| {
        let Some(((first, header), others)) = inputs.split_first() else { return };
        for (name, other) in others {
            let differs = if other.version != header.version {
                "versions"
            } else if other.abi != header.abi || other.endian != header.endian {
                "ABIs"
            } else if other.fixed_offsets != header.fixed_offsets {
                "fixed offsets"
            } else if other.flags.pcrel() != header.flags.pcrel() {
                "ways to count start fields"
            } else {
                continue;
            };
            report.file(format_args!(
                "the sections of {first} and {name} have different {differs}: one link cannot \
                 merge them"
            ));
        }
    }),
};
