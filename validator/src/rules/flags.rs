//! The section-wide flags.

use super::context::{Check, FileKind};
use super::tiling::concatenated_at;
use super::{Abis, Group, Rule, Severity, Versions};
use crate::section::{Flags, field};

pub(super) static RESERVED_FLAGS: Rule = Rule {
    name: "reserved-flags",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "flags that the version does not define are zero",
    consequence: "libsframe and glibc reject the whole section; binutils 2.44 reports \"Out of \
                  Memory\" for the PC-relative flag, which it does not know.",
    remedy: "Clear the bits, or write the version that defines them.",
    source: "V3 2.1.3; V2 2.1.3 with errata 1",
    example: "flags 0x15 in a version 3 section",
    check: Check::Section(|section, report| {
        let header = section.header();
        // The frame-pointer flag in version 3 has a rule of its own.
        let defined = header.version.defined_flags() | Flags::FRAME_POINTER;
        let reserved = header.flags.0 & !defined;
        if reserved != 0 {
            report.field(
                field::FLAGS,
                format_args!("{:#04x}", header.flags.0),
                format_args!("bits of {:#04x}", header.version.defined_flags()),
                format_args!(
                    "flag bits {reserved:#04x} are set, which version {} does not define",
                    header.version.number()
                ),
            );
        }
    }),
};

pub(super) static FRAME_POINTER_FLAG: Rule = Rule {
    name: "frame-pointer-flag",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "the flag SFRAME_F_FRAME_POINTER is clear in version 3",
    consequence: "libsframe rejects the whole section.",
    remedy: "Clear bit 0x2.",
    source: "V3 2.1.3; observed: libsframe 2.47",
    example: "flags 0x7 in a version 3 section",
    check: Check::Section(|section, report| {
        let flags = section.header().flags;
        if flags.frame_pointer() {
            report.field(
                field::FLAGS,
                format_args!("{:#04x}", flags.0),
                "bit 0x02 clear",
                format_args!("SFRAME_F_FRAME_POINTER is set, which version 3 has no more"),
            );
        }
    }),
};

pub(super) static FRAME_POINTER_CLAIM: Rule = Rule {
    name: "frame-pointer-claim",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    summary: "the flag SFRAME_F_FRAME_POINTER is clear",
    consequence: "A reader that trusts the flag follows the frame pointer through functions that \
                  may not keep it. No producer has ever set it.",
    remedy: "Clear bit 0x2.",
    source: "V2 2.1.3; observed: GNU as, ld and LLVM never set it",
    example: "flags 0x3 in a version 2 section",
    check: Check::Section(|section, report| {
        let flags = section.header().flags;
        if flags.frame_pointer() {
            report.field(
                field::FLAGS,
                format_args!("{:#04x}", flags.0),
                "bit 0x02 clear",
                format_args!(
                    "SFRAME_F_FRAME_POINTER claims that every function keeps the frame pointer"
                ),
            );
        }
    }),
};

pub(super) static UNSORTED_LINKED: Rule = Rule {
    name: "unsorted-linked",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the flag SFRAME_F_FDE_SORTED is set in a linked file",
    consequence: "glibc and libsframe refuse to look up PCs without it.",
    remedy: "Link with a linker that merges SFrame sections: GNU ld or mold.",
    source: "V3 2.1.3, 2.3.1; observed: lld 23 and gold append input sections unsorted",
    example: "flags 0x4 in a shared object",
    check: Check::Section(|section, report| {
        let flags = section.header().flags;
        // Appended sections are unsorted as well: that is their linker's one defect.
        let appended = concatenated_at(section.section).is_some();
        if section.kind == FileKind::Linked && !flags.sorted() && !appended {
            report.field(
                field::FLAGS,
                format_args!("{:#04x}", flags.0),
                "bit 0x01 set",
                format_args!("SFRAME_F_FDE_SORTED is clear in a linked file"),
            );
        }
    }),
};

pub(super) static SORTED_OBJECT: Rule = Rule {
    name: "sorted-object",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the flag SFRAME_F_FDE_SORTED is clear in a relocatable object",
    consequence: "Before layout no function has an address to sort by; a linker that copies the \
                  flag makes a false promise.",
    remedy: "Clear bit 0x1 in objects.",
    source: "observed: GNU as, LLVM and ld -r leave it clear",
    example: "flags 0x5 in an object",
    check: Check::Section(|section, report| {
        let flags = section.header().flags;
        if section.kind == FileKind::Relocatable && flags.sorted() {
            report.field(
                field::FLAGS,
                format_args!("{:#04x}", flags.0),
                "bit 0x01 clear",
                format_args!("SFRAME_F_FDE_SORTED is set before functions have addresses"),
            );
        }
    }),
};

pub(super) static PCREL_FLAG_MISSING: Rule = Rule {
    name: "pcrel-flag-missing",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "the flag SFRAME_F_FDE_FUNC_START_PCREL is set in version 3",
    consequence: "The kernel's reader refuses the section, GNU ld refuses the input, and libsframe \
                  looks PCs up as if the flag were set: it finds wrong functions.",
    remedy: "Write start fields relative to themselves and set bit 0x4.",
    source: "observed: libsframe 2.47, GNU ld 2.47, the kernel's version 3 patches",
    example: "flags 0x1 in a version 3 section",
    check: Check::Section(|section, report| {
        let flags = section.header().flags;
        if !flags.pcrel() {
            report.field(
                field::FLAGS,
                format_args!("{:#04x}", flags.0),
                "bit 0x04 set",
                format_args!(
                    "SFRAME_F_FDE_FUNC_START_PCREL is clear, readers of version 3 rely on it"
                ),
            );
        }
    }),
};

pub(super) static PCREL_FLAG_CLEAR: Rule = Rule {
    name: "pcrel-flag-clear",
    group: Group::Header,
    severity: Severity::Lint,
    versions: Versions::V2,
    abis: Abis::ALL,
    summary: "the flag SFRAME_F_FDE_FUNC_START_PCREL is set in version 2",
    consequence: "The file is from binutils before 2.45: start fields count from the section, and \
                  libsframe since 2.45 looks PCs up as if they counted from themselves.",
    remedy: "Build with binutils 2.45 or later.",
    source: "V2 errata 1; observed: GNU as and ld 2.41 to 2.44",
    example: "flags 0x1 in a version 2 section",
    check: Check::Section(|section, report| {
        let flags = section.header().flags;
        if !flags.pcrel() {
            report.field(
                field::FLAGS,
                format_args!("{:#04x}", flags.0),
                "bit 0x04 set",
                format_args!("start fields count from the section, as before errata 1"),
            );
        }
    }),
};
