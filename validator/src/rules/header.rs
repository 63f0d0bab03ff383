//! The preamble and the header.

use super::context::{Check, FileKind};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::abi::{Abi, Endian};
use crate::section::{Flags, HEADER_SIZE, MAGIC, Version, field};

/// The magic number in a byte order, where there are bytes enough.
fn magic(data: &[u8], endian: Endian) -> Option<u16> {
    let bytes = data.first_chunk::<2>()?;
    Some(match endian {
        Endian::Little => u16::from_le_bytes(*bytes),
        Endian::Big => u16::from_be_bytes(*bytes),
    })
}

pub(super) static SECTION_EMPTY: Rule = Rule {
    name: "section-empty",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section is not empty",
    consequence: "Readers that look for a header in 0 bytes read past the end or fail.",
    remedy: "Leave the section out where there is nothing to say.",
    source: "observed: ld -r of an object without functions (glibc's Scrt1.o), mold issue 1646",
    example: "a section of 0 bytes",
    check: Check::Preamble(|first, report| {
        if first.data.is_empty() {
            report.file(format_args!("the section is empty, not even a header is there"));
        }
    }),
};

pub(super) static SECTION_TRUNCATED: Rule = Rule {
    name: "section-truncated",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section holds a whole header, 28 bytes",
    consequence: "A reader that casts the section to a header reads past its end.",
    remedy: "Find out what cut the section; a header without functions takes 28 bytes.",
    source: "V3 2.2",
    example: "the first 27 bytes of a section",
    check: Check::Preamble(|first, report| {
        let size = first.data.len() as u64;
        if size > 0 && size < HEADER_SIZE {
            report.bytes(
                0..size,
                format_args!("the section has {size} bytes, a header takes {HEADER_SIZE}"),
            );
        }
    }),
};

pub(super) static BAD_MAGIC: Rule = Rule {
    name: "bad-magic",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section starts with the magic number 0xdee2",
    consequence: "No reader takes the section for SFrame.",
    remedy: "Find out what overwrote or misplaced the section.",
    source: "V3 2.1.1",
    example: "a section that starts with 0xdee3",
    check: Check::Preamble(|first, report| {
        let endian = first.endian.unwrap_or(Endian::Little);
        let Some(magic) = magic(first.data, endian) else { return };
        if first.data.len() as u64 >= HEADER_SIZE && magic != MAGIC && magic != MAGIC.swap_bytes() {
            report.field(
                field::MAGIC,
                format_args!("{magic:#06x}"),
                format_args!("{MAGIC:#06x}"),
                format_args!("the magic number is {magic:#06x}, not {MAGIC:#06x}"),
            );
        }
    }),
};

pub(super) static FOREIGN_ENDIAN: Rule = Rule {
    name: "foreign-endian",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section has the byte order of its file",
    consequence: "glibc and the kernel refuse the section; libsframe swaps it, and everybody else \
                  reads nonsense.",
    remedy: "Assemble for the byte order the file is linked for.",
    source: "V3 2.1.1 (\"the endianness of the target system\")",
    example: "a big-endian section in a little-endian file",
    check: Check::Preamble(|first, report| {
        let Some(endian) = first.endian else { return };
        let Some(magic) = magic(first.data, endian) else { return };
        if first.data.len() as u64 >= HEADER_SIZE && magic == MAGIC.swap_bytes() {
            report.field(
                field::MAGIC,
                format_args!("{magic:#06x}"),
                format_args!("{MAGIC:#06x}"),
                format_args!("the section has the other byte order than the file"),
            );
        }
    }),
};

pub(super) static UNKNOWN_VERSION: Rule = Rule {
    name: "unknown-version",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the version is 1, 2 or 3",
    consequence: "Only the preamble has a layout that every version shares: nothing else of the \
                  section can be read.",
    remedy: "Use a newer reader, if there is such a version; otherwise find out what wrote it.",
    source: "V3 2.1.2",
    example: "a section of version 4",
    check: Check::Preamble(|first, report| {
        let endian = first.endian.unwrap_or(match first.data {
            [0xde, 0xe2, ..] => Endian::Big,
            _ => Endian::Little,
        });
        let readable = first.data.len() as u64 >= HEADER_SIZE;
        let known = first.data.get(2).copied().map(|number| (number, Version::from_number(number)));
        if let (true, Some(MAGIC), Some((number, None))) =
            (readable, magic(first.data, endian), known)
        {
            report.field(
                field::VERSION,
                number,
                "1, 2 or 3",
                format_args!("the section says it is of version {number}, which does not exist"),
            );
        }
    }),
};

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
        if section.kind == FileKind::Linked && !flags.sorted() {
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
                  libsframe before 2.47 looks PCs up wrongly in newer files and older ones alike.",
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

pub(super) static UNKNOWN_ABI: Rule = Rule {
    name: "unknown-abi",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the ABI identifier is one the version defines",
    consequence: "What rows mean depends on the ABI; GNU objdump aborts on an unknown one.",
    remedy: "Write 1 or 2 (AArch64), 3 (AMD64), or since version 2 errata 1, 4 (s390x).",
    source: "V3 2.2.1; V1 1.2.1",
    example: "ABI 5",
    check: Check::Section(|section, report| {
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
    check: Check::Section(|section, report| {
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
    check: Check::Section(|section, report| {
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
    check: Check::Section(|section, report| {
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
