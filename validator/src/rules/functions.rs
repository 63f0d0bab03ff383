//! The function table: attributes of single entries.

use super::context::Check;
use super::{Abis, Group, Rule, Severity, Versions};
use crate::section::{FreType, FunctionField, FunctionInfo2, Version};

pub(super) static ROWS_OFFSET_OUTSIDE: Rule = Rule {
    name: "rows-offset-outside",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a function's rows start inside the FRE sub-section",
    consequence: "A reader that trusts the offset reads behind the section; readelf crashes.",
    remedy: "Correct the offset; it counts from the start of the FRE sub-section.",
    source: "V3 2.3.1; observed: readelf 2.47",
    example: "a function whose rows start at 0xffff0000",
    check: Check::Function(|function, report| {
        let offset = u64::from(function.entry.fre_offset());
        let length = u64::from(function.whole.header().fre_len);
        let attributes = function.whole.header().version.attribute_size();
        // Up to version 2 a function without rows may point at the end.
        let needed = match function.readable() {
            Some(readable) if attributes == 0 => u64::from(readable.num_rows() > 0),
            _ => attributes,
        };
        if offset + needed > length {
            report.field(
                function.field(FunctionField::FreOffset),
                format_args!("{offset:#x}"),
                format_args!("at most {:#x}", length.saturating_sub(needed)),
                format_args!(
                    "the function's rows start at {offset:#x} of an FRE sub-section of {length:#x} \
                     bytes"
                ),
            );
        }
    }),
};

pub(super) static FRE_TYPE: Rule = Rule {
    name: "fre-type",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the FRE type is 0, 1 or 2",
    consequence: "The width of the rows' start fields is unknown, so no row can be read; readelf \
                  aborts.",
    remedy: "Write 0 (ADDR1), 1 (ADDR2) or 2 (ADDR4).",
    source: "V3 2.3.3.3; observed: readelf 2.47",
    example: "a function of FRE type 3",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let info = readable.attributes().info;
        if FreType::from_code(info.fre_type_code()).is_none() {
            report.field(
                function.field(FunctionField::Info),
                format_args!("{:#04x}", info.0),
                "0, 1 or 2 in bits 0 to 3",
                format_args!("the FRE type is {}, which does not exist", info.fre_type_code()),
            );
        }
    }),
};

pub(super) static FUNCTION_INFO_RESERVED: Rule = Rule {
    name: "function-info-reserved",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "unused bits of the info byte are zero: 6 and 7, in version 3 only 6",
    consequence: "A later version may give them a meaning; version 3 did so with bit 7.",
    remedy: "Write 0.",
    source: "V1 1.3.1, V2 2.3.1, V3 2.3.3",
    example: "a function with info byte 0x40",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let info = readable.attributes().info.0;
        let unused = match function.whole.header().version {
            Version::V1 | Version::V2 => 0xc0,
            Version::V3 => 0x40,
        };
        if info & unused != 0 {
            report.field(
                function.field(FunctionField::Info),
                format_args!("{info:#04x}"),
                format_args!("bits {unused:#04x} clear"),
                format_args!("unused bits {:#04x} of the info byte are set", info & unused),
            );
        }
    }),
};

pub(super) static PAUTH_KEY: Rule = Rule {
    name: "pauth-key",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::S390X),
    summary: "the pointer-authentication key bit is clear on machines without such keys",
    consequence: "None known; the bit is unused on AMD64 and s390x.",
    remedy: "Clear bit 5 of the info byte.",
    source: "V3 2.3.3",
    example: "an AMD64 function with info byte 0x20",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let info = readable.attributes().info;
        if info.pauth_key_b() {
            report.field(
                function.field(FunctionField::Info),
                format_args!("{:#04x}", info.0),
                "bit 0x20 clear",
                format_args!("the function says that AArch64's B key signs its return addresses"),
            );
        }
    }),
};

pub(super) static FDE_TYPE: Rule = Rule {
    name: "fde-type",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "the FDE type is 0 (DEFAULT) or 1 (FLEX)",
    consequence: "What the data words mean is unknown. The kernel refuses the function, libsframe \
                  silently reads it as a default one.",
    remedy: "Write 0 or 1.",
    source: "V3 2.3.3.2; observed: libsframe 2.47, the kernel's patches",
    example: "a function of FDE type 2",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let info2 = readable.attributes().info2;
        if info2.fde_type_code() > FunctionInfo2::FLEX {
            report.field(
                function.field(FunctionField::Info2),
                format_args!("{:#04x}", info2.0),
                "0 or 1 in bits 0 to 4",
                format_args!("the FDE type is {}, which does not exist", info2.fde_type_code()),
            );
        }
    }),
};

pub(super) static FUNCTION_INFO2_RESERVED: Rule = Rule {
    name: "function-info2-reserved",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "unused bits of the second info byte are zero: 5 to 7",
    consequence: "A later version may give them a meaning.",
    remedy: "Write 0.",
    source: "V3 2.3.3",
    example: "a function with a second info byte 0x20",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let info2 = readable.attributes().info2.0;
        if info2 & 0xe0 != 0 {
            report.field(
                function.field(FunctionField::Info2),
                format_args!("{info2:#04x}"),
                "bits 0xe0 clear",
                format_args!("unused bits {:#04x} of the second info byte are set", info2 & 0xe0),
            );
        }
    }),
};

pub(super) static FUNCTION_PADDING: Rule = Rule {
    name: "function-padding",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V2,
    abis: Abis::ALL,
    summary: "the entry's padding is zero",
    consequence: "Uninitialised memory of the producer may have been written to the file.",
    remedy: "Clear the padding before the entry is written.",
    source: "V2 2.3",
    example: "a version 2 function with padding 0xbeef",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let padding = readable.attributes().padding;
        if padding != 0 {
            report.field(
                function.field(FunctionField::Padding),
                format_args!("{padding:#06x}"),
                "0",
                format_args!("the entry's padding is not zero"),
            );
        }
    }),
};

pub(super) static FUNCTION_WITHOUT_ROWS: Rule = Rule {
    name: "function-without-rows",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    summary: "up to version 2 every function has a row",
    consequence: "Look-ups find the function, but no row: the trace ends there with an error.",
    remedy: "Leave functions out that cannot be described.",
    source: "observed: GNU as up to 2.44 never writes such an entry; libsframe fails on it",
    example: "a version 2 function with 0 rows beside one with 1",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        // A section without any row has a rule of its own.
        if readable.num_rows() == 0 && function.whole.header().num_fres > 0 {
            report.field(
                function.field(FunctionField::NumFres),
                0,
                "at least 1",
                format_args!("the function has no rows"),
            );
        }
    }),
};

pub(super) static FLEXIBLE_WITHOUT_ROWS: Rule = Rule {
    name: "flexible-without-rows",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a function of FDE type FLEX has rows",
    consequence: "The absence of rows has a meaning only for FDE type DEFAULT: the outermost frame.",
    remedy: "Write FDE type DEFAULT.",
    source: "V3 1.2",
    example: "a function of FDE type FLEX with 0 rows",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        if readable.num_rows() == 0 && readable.is_flexible() {
            report.field(
                function.field(FunctionField::Info2),
                format_args!("{:#04x}", readable.attributes().info2.0),
                "0 (DEFAULT)",
                format_args!("a function of FDE type FLEX has no rows"),
            );
        }
    }),
};

pub(super) static OUTERMOST_BY_ABSENCE: Rule = Rule {
    name: "outermost-by-absence",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a function without rows is an outermost frame, and meant to be one",
    consequence: "A stack trace ends there as if it were complete. GNU as also writes such an \
                  entry for a function whose CFI it cannot express.",
    remedy: "Look at the function's CFI: only an undefined return address makes it outermost.",
    source: "V3 1.2; observed: GNU as 2.47 for .cfi_startproc simple without rules",
    example: "a function with 0 rows that is no signal frame",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let ordinary = !readable.is_flexible() && !readable.is_signal_frame();
        if readable.num_rows() == 0 && ordinary {
            report.field(
                function.field(FunctionField::NumFres),
                0,
                "at least 1, unless outermost",
                format_args!("the function has no rows, so readers take it for the outermost"),
            );
        }
    }),
};

pub(super) static SIGNAL_FRAME_SIZE: Rule = Rule {
    name: "signal-frame-size",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a signal frame's function is a short trampoline: 64 bytes at most",
    consequence: "In ordinary functions the mark makes tracers look up the wrong PC: not the call, \
                  but the instruction behind it.",
    remedy: "Check that .cfi_signal_frame stands in the right function.",
    source: "V3 2.3.3; restorers load a number and make a system call: 2 to 16 bytes",
    example: "a signal frame of 256 bytes",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        if readable.is_signal_frame() && readable.size() > 64 {
            report.field(
                function.field(FunctionField::Size),
                readable.size(),
                "at most 64",
                format_args!("a signal frame's function is {} bytes long", readable.size()),
            );
        }
    }),
};

pub(super) static FRE_TYPE_WIDE: Rule = Rule {
    name: "fre-type-wide",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the FRE type is the narrowest that holds every offset in the function",
    consequence: "Each row takes 1 to 3 bytes more than it needs.",
    remedy: "Choose ADDR1 up to 256 bytes of code, ADDR2 up to 65,536.",
    source: "observed: GNU as chooses by the function's size",
    example: "a function of 16 bytes with FRE type ADDR4",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        let Ok(fre_type) = readable.fre_type() else { return };
        // GNU as compares the size itself, so 256 and 65,536 bytes count as wide.
        let needed = FreType::for_start(readable.size());
        if fre_type > needed {
            report.field(
                function.field(FunctionField::Info),
                format_args!("ADDR{}", fre_type.width()),
                format_args!("ADDR{}", needed.width()),
                format_args!(
                    "rows of a function of {} bytes have start fields of {} bytes",
                    readable.size(),
                    fre_type.width()
                ),
            );
        }
    }),
};
