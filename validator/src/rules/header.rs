//! The header's other fields.

use super::context::{Check, FileKind};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::abi::Abi;
use crate::section::{HEADER_SIZE, Version, field};

pub(super) static OBSOLETE_VERSION: Rule = Rule {
    name: "obsolete-version",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::V1,
    abis: Abis::ALL,
    summary: "version 1 is obsolete",
    consequence: "Only binutils 2.40 reads version 1; every other reader refuses the section.",
    remedy: "Build with binutils 2.41 or later.",
    source: "V3 1.3 (\"should not be used\")",
    example: "a section of version 1",
    check: Check::Section(|section, report| {
        let _ = section;
        report.field(
            field::VERSION,
            1,
            "2 or 3",
            format_args!("the section is of version 1, which is obsolete"),
        );
    }),
};

pub(super) static UNKNOWN_ABI: Rule = Rule {
    name: "unknown-abi",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the ABI identifier is one the version defines",
    consequence: "What rows mean depends on the ABI; GNU objdump aborts on flexible rows of an unknown one.",
    remedy: "Write 1 or 2 (AArch64), 3 (AMD64), or since version 2 errata 1, 4 (s390x).",
    source: "V3 2.2.1; V1 1.2.1",
    example: "ABI 5",
    check: Check::Layout(|section, report| {
        let id = section.header().abi_arch;
        let version = section.header().version;
        let known = match Abi::from_id(id) {
            Some(Abi::S390x) => version > Version::V1,
            abi => abi.is_some(),
        };
        if !known && section.section.placement().abi.is_none() {
            let last = if version > Version::V1 { 4 } else { 3 };
            report.field(
                field::ABI_ARCH,
                id,
                format_args!("1 to {last}"),
                format_args!("version {} defines no ABI {id}", version.number()),
            );
        }
    }),
};

pub(super) static FIXED_RA_OFFSET: Rule = Rule {
    name: "fixed-ra-offset",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the fixed RA offset is the ABI's: -8 for AMD64, 0 (none) for the others",
    consequence: "It decides whether rows have a data word for RA: with a wrong value every reader \
                  takes one data word for another.",
    remedy: "Write the ABI's value.",
    source: "V3 2.2, 3.1.1 to 3.1.3",
    example: "an AMD64 section with a fixed RA offset of 0",
    check: Check::Layout(|section, report| {
        let Some(abi) = section.abi() else { return };
        let value = section.header().cfa_fixed_ra_offset;
        let expected = abi.fixed_ra_offset();
        if value != expected {
            report.field(
                field::FIXED_RA,
                value,
                expected,
                format_args!("the fixed RA offset is {value}, on {abi} it is {expected}"),
            );
        }
    }),
};

pub(super) static FIXED_FP_OFFSET: Rule = Rule {
    name: "fixed-fp-offset",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the fixed FP offset is 0: no ABI saves FP at one place",
    consequence: "It decides whether rows have a data word for FP: with a wrong value every reader \
                  takes one data word for another.",
    remedy: "Write 0.",
    source: "V3 2.2; observed: every producer writes 0",
    example: "an AMD64 section with a fixed FP offset of -16",
    check: Check::Layout(|section, report| {
        let value = section.header().cfa_fixed_fp_offset;
        if value != 0 {
            report.field(
                field::FIXED_FP,
                value,
                "0",
                format_args!("the fixed FP offset is {value}, no ABI has one"),
            );
        }
    }),
};

pub(super) static AUXILIARY_HEADER: Rule = Rule {
    name: "auxiliary-header",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "there is no auxiliary header: no ABI defines one",
    consequence: "The kernel refuses the section; libsframe refuses it in the other byte order.",
    remedy: "Write 0.",
    source: "V3 2.2; observed: the kernel's patches, libsframe 2.47",
    example: "an auxiliary header of 4 bytes",
    check: Check::Section(|section, report| {
        let length = section.header().auxhdr_len;
        if length != 0 && section.header().size() <= section.size() {
            report.field(
                field::AUXHDR_LEN,
                length,
                "0",
                format_args!("the header has {length} auxiliary bytes that no ABI defines"),
            );
        }
    }),
};

pub(super) static AUXILIARY_HEADER_OUTSIDE: Rule = Rule {
    name: "auxiliary-header-outside",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the auxiliary header ends inside the section",
    consequence: "Every offset counts from its end, so nothing of the section can be found. \
                  readelf has crashed on it.",
    remedy: "Write 0.",
    source: "V3 2.2; observed: readelf 2.47",
    example: "an auxiliary header of 255 bytes in a shorter section",
    check: Check::Layout(|section, report| {
        let header = section.header();
        if header.size() > section.size() {
            report.field(
                field::AUXHDR_LEN,
                header.auxhdr_len,
                format_args!("at most {}", section.size() - HEADER_SIZE),
                format_args!(
                    "the auxiliary header ends at {:#x}, behind the section's end {:#x}",
                    header.size(),
                    section.size()
                ),
            );
        }
    }),
};

pub(super) static NO_FUNCTIONS: Rule = Rule {
    name: "no-functions",
    group: Group::Header,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section of a linked file describes a function at least",
    consequence: "The kernel refuses the section; it takes room and says nothing.",
    remedy: "Leave the section out (--discard-sframe).",
    source: "observed: the kernel's patches; GNU as for code whose CFI it cannot express",
    example: "a shared object with a header alone",
    check: Check::Section(|section, report| {
        if section.kind == FileKind::Linked && section.header().num_fdes == 0 {
            report.field(
                field::NUM_FDES,
                0,
                "at least 1",
                format_args!("the section describes no function"),
            );
        }
    }),
};

pub(super) static NO_ROWS: Rule = Rule {
    name: "no-rows",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    summary: "a section with functions has rows",
    consequence: "The kernel refuses the section; no look-up ever succeeds.",
    remedy: "Leave functions without rows out.",
    source: "observed: the kernel's patches",
    example: "a version 2 section with 1 function and 0 rows",
    check: Check::Section(|section, report| {
        let header = section.header();
        if header.num_fdes > 0 && header.num_fres == 0 {
            report.field(
                field::NUM_FRES,
                0,
                "at least 1",
                format_args!("the section has {} functions and no row", header.num_fdes),
            );
        }
    }),
};
