//! The row stream: whether rows can be read, and where they stand in their function.

use super::context::Check;
use super::{Abis, Group, Rule, Severity, Versions};
use crate::section::ErrorKind;

pub(super) static ROW_TRUNCATED: Rule = Rule {
    name: "row-truncated",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "every row of a function ends inside the FRE sub-section",
    consequence: "A reader that trusts the count reads behind the section; readelf crashes.",
    remedy: "Correct the function's number of rows, or its rows' offset.",
    source: "V3 2.4; observed: readelf 2.47",
    example: "a function of 1 row that says it has 2, at the section's end",
    check: Check::UnreadableRow(|row, report| {
        let ErrorKind::Truncated { needed, available } = row.error.kind else { return };
        let start = row.error.offset;
        let count = row.function.num_rows();
        let s = if count == 1 { "" } else { "s" };
        report.bytes(
            start..start + available,
            format_args!(
                "the row at {start:#x} takes {needed} bytes, and {available} are left of the FRE \
                 sub-section; the function has {count} row{s}"
            ),
        );
    }),
};

pub(super) static WORD_SIZE_RESERVED: Rule = Rule {
    name: "word-size-reserved",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the data word size code is 0, 1 or 2",
    consequence: "The row's length is unknown, and with it where the next row is. libsframe goes on \
                  with a wrong one and says nothing; the kernel and LLVM refuse.",
    remedy: "Write 0 (1 byte), 1 (2 bytes) or 2 (4 bytes).",
    source: "V3 2.4.1; observed: libsframe 2.47, the kernel's patches, LLVM 23",
    example: "a row with info byte 0x63",
    check: Check::UnreadableRow(|row, report| {
        if row.error.kind == ErrorKind::ReservedWordSize {
            let start = row.error.offset;
            report.bytes(
                start..start + 1,
                format_args!(
                    "the row's data word size code is 3, which does not exist: this row and those \
                     behind it cannot be read"
                ),
            );
        }
    }),
};

pub(super) static FIRST_ROW_OFFSET: Rule = Rule {
    name: "first-row-offset",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a function's first row starts at the function's start",
    consequence: "Look-ups fail for the PCs before the first row.",
    remedy: "Describe the function from its entry on. Legal where hand-written code with \
             .cfi_startproc simple gives no rule at entry.",
    source: "V3 2.4; observed: every reader fails for such PCs",
    example: "a function whose only row starts at 4",
    check: Check::RowPlace(|row, report| {
        if row.index == 0 && row.row.start != 0 {
            report.field(
                row.start(),
                format_args!("{:#x}", row.row.start),
                "0",
                format_args!(
                    "the first row starts at {:#x}: the code before it has none",
                    row.row.start
                ),
            );
        }
    }),
};

pub(super) static ROW_ORDER: Rule = Rule {
    name: "row-order",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "rows are in the order of their starts",
    consequence: "Readers stop at the first row that starts behind the PC: rows out of order are \
                  never found, or in another's place. The kernel's validation refuses the section.",
    remedy: "Sort the function's rows.",
    source: "V3 2.4; observed: libsframe, glibc and the kernel search linearly",
    example: "rows at 0, 8 and 4",
    check: Check::RowPlace(|row, report| {
        let Some(previous) = row.previous else { return };
        if row.row.start < previous.start {
            report.field(
                row.start(),
                format_args!("{:#x}", row.row.start),
                format_args!("above {:#x}", previous.start),
                format_args!(
                    "row {} starts at {:#x}, before row {} at {:#x}",
                    row.index,
                    row.row.start,
                    row.index - 1,
                    previous.start
                ),
            );
        }
    }),
};

pub(super) static ROW_DUPLICATE_START: Rule = Rule {
    name: "row-duplicate-start",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "no two rows of a function start at the same place",
    consequence: "The first of them covers nothing; the kernel's validation refuses the section.",
    remedy: "Keep the last of the rows.",
    source: "V3 2.4; observed: GNU as and LLVM write both across an empty alignment",
    example: "rows at 0, 4 and 4",
    check: Check::RowPlace(|row, report| {
        let Some(previous) = row.previous else { return };
        if row.row.start == previous.start {
            report.field(
                row.start(),
                format_args!("{:#x}", row.row.start),
                format_args!("above {:#x}", previous.start),
                format_args!(
                    "rows {} and {} both start at {:#x}",
                    row.index - 1,
                    row.index,
                    row.row.start
                ),
            );
        }
    }),
};

pub(super) static ROW_PAST_END: Rule = Rule {
    name: "row-past-end",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "rows start inside their function",
    consequence: "The row is never found, or found for PCs of another function; readelf up to 2.44 \
                  aborts.",
    remedy: "Correct the row's start or the function's size.",
    source: "V3 2.4; observed: binutils PR 33131",
    example: "a row at 17 in a function of 16 bytes",
    check: Check::RowPlace(|row, report| {
        let repeats = row.function.attributes().info.is_pc_mask();
        if !repeats && row.row.start > row.function.size() {
            report.field(
                row.start(),
                format_args!("{:#x}", row.row.start),
                format_args!("below {:#x}", row.function.size()),
                format_args!(
                    "row {} starts at {:#x}, past the end of the function ({:#x} bytes)",
                    row.index,
                    row.row.start,
                    row.function.size()
                ),
            );
        }
    }),
};

pub(super) static ROW_AT_END: Rule = Rule {
    name: "row-at-end",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "no row starts at the end of its function",
    consequence: "The row covers nothing; readelf, objdump and ld 2.40 to 2.44 abort on it.",
    remedy: "Drop the CFI that follows the last instruction.",
    source: "V3 2.4; observed: GNU as and LLVM write such a row; binutils PR 33131",
    example: "a row at 16 in a function of 16 bytes",
    check: Check::RowPlace(|row, report| {
        let repeats = row.function.attributes().info.is_pc_mask();
        let size = row.function.size();
        if !repeats && size > 0 && row.row.start == size {
            report.field(
                row.start(),
                format_args!("{:#x}", row.row.start),
                format_args!("below {size:#x}"),
                format_args!("row {} starts at the function's end and covers nothing", row.index),
            );
        }
    }),
};

pub(super) static ROW_OUTSIDE_BLOCK: Rule = Rule {
    name: "row-outside-block",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "rows that repeat start inside the repeated block",
    consequence: "The row is never found: look-ups go by the offset in the block.",
    remedy: "Correct the row's start or the block size.",
    source: "V3 2.3.3.1",
    example: "a row at 16 in a block of 16 bytes",
    check: Check::RowPlace(|row, report| {
        let Ok(Some(block)) = row.function.repeat_size() else { return };
        if row.row.start >= u32::from(block) {
            report.field(
                row.start(),
                format_args!("{:#x}", row.row.start),
                format_args!("below {block:#x}"),
                format_args!(
                    "row {} starts at {:#x}, outside of the repeated block ({block:#x} bytes)",
                    row.index, row.row.start
                ),
            );
        }
    }),
};

pub(super) static ROW_ALIGNMENT: Rule = Rule {
    name: "row-alignment",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AARCH64.or(Abis::S390X),
    summary: "a row starts at a possible instruction address: a multiple of 4, on s390x of 2",
    consequence: "The row starts inside an instruction, so it is found too late by a part of it.",
    remedy: "Check how the row's start was computed.",
    source: "the machines' instruction sets",
    example: "an AArch64 row at 2",
    check: Check::RowPlace(|row, report| {
        let alignment = row.layout.abi.instruction_alignment();
        if !row.row.start.is_multiple_of(alignment) {
            report.field(
                row.start(),
                format_args!("{:#x}", row.row.start),
                format_args!("a multiple of {alignment}"),
                format_args!(
                    "row {} starts at {:#x}, where no instruction of {} can be",
                    row.index, row.row.start, row.layout.abi
                ),
            );
        }
    }),
};

pub(super) static ROW_REDUNDANT: Rule = Rule {
    name: "row-redundant",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a row says something else than the row before it",
    consequence: "None; the row takes room.",
    remedy: "Merge equal neighbours.",
    source: "observed: GNU as writes such rows, as the last of a function for example",
    example: "two rows that say CFA = SP + 8",
    check: Check::RowPlace(|row, report| {
        let Some(previous) = row.previous else { return };
        let before = row.layout.interpret(previous);
        if before.is_ok() && before == row.frame {
            report.bytes(
                row.row.offset..row.row.offset + row.row.size(),
                format_args!("row {} says the same as row {}", row.index, row.index - 1),
            );
        }
    }),
};

pub(super) static ROW_AFTER_OUTERMOST: Rule = Rule {
    name: "row-after-outermost",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "behind a row that marks the outermost frame there is none with a return address",
    consequence: "A function is the outermost in a part of its code only: unusual, and worth a \
                  look at its CFI.",
    remedy: "Compare with the function's CFI.",
    source: "V2 errata 2, V3 2.4.1",
    example: "a row without data words, followed by one that says CFA = SP + 8",
    check: Check::RowPlace(|row, report| {
        let Some(previous) = row.previous else { return };
        if previous.words.count() == 0 && row.row.words.count() > 0 {
            report.bytes(
                row.row.offset..row.row.offset + row.row.size(),
                format_args!(
                    "row {} has a return address, row {} before it marks the outermost frame",
                    row.index,
                    row.index - 1
                ),
            );
        }
    }),
};

pub(super) static ENTRY_CFA: Rule = Rule {
    name: "entry-cfa",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "at a function's entry the CFA is SP + 8 (AMD64), SP (AArch64), SP + 160 (s390x)",
    consequence: "The function is not entered by a call: a cold part, a PLT entry, or hand-written \
                  code.",
    remedy: "Check that the function is one of these.",
    source: "the machines' ELF ABIs",
    example: "an AMD64 function whose first row says CFA = SP + 16",
    check: Check::RowPlace(|row, report| {
        use crate::unwind::Cfa;
        let abi = row.layout.abi;
        let offset = match abi {
            crate::Abi::Amd64 => 8,
            crate::Abi::S390x => 160,
            crate::Abi::Aarch64Big | crate::Abi::Aarch64Little => 0,
        };
        let expected = Cfa::RegisterOffset { register: abi.sp(), offset };
        let Ok(frame) = row.frame else { return };
        let outermost = frame.cfa == Cfa::Undefined;
        if row.index == 0 && row.row.start == 0 && !outermost && frame.cfa != expected {
            report.bytes(
                row.row.offset..row.row.offset + row.row.size(),
                format_args!("at the function's entry the CFA is {}, not {expected}", frame.cfa),
            );
        }
    }),
};

pub(super) static MANGLED_AT_ENTRY: Rule = Rule {
    name: "mangled-at-entry",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    summary: "at a function's entry the return address is not signed yet",
    consequence: "A tracer strips a signature that is not there, or the function is a part of \
                  another.",
    remedy: "Check that the function is a cold part.",
    source: "AArch64's ELF ABI: paciasp is an instruction of the function",
    example: "an AArch64 function whose first row is marked as signed",
    check: Check::RowPlace(|row, report| {
        if row.index == 0 && row.row.start == 0 && row.row.info.mangled_ra() {
            report.field(
                row.info(),
                format_args!("{:#04x}", row.row.info.0),
                "bit 0x80 clear",
                format_args!("the return address is marked as signed at the function's entry"),
            );
        }
    }),
};
