//! What flexible rows say (version 3): pairs of a control word and an offset.

use super::context::{Check, RowContext, WordCount};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::abi::Abi;
use crate::section::{Control, ErrorKind};

/// The control words of a flexible row whose layout is sound: index, and what it is for.
fn controls(row: &RowContext<'_>) -> impl Iterator<Item = (&'static str, usize, Control)> {
    let indices: &[(&str, usize)] = match row.row.words.count() {
        2 => &[("CFA", 0)],
        4 => &[("CFA", 0), ("RA", 2)],
        5 => &[("CFA", 0), ("FP", 3)],
        6 => &[("CFA", 0), ("RA", 2), ("FP", 4)],
        _ => &[],
    };
    let readable = row.layout.flexible && row.frame.is_ok();
    let indices = if readable { indices } else { &[] };
    let words = row.row.words;
    indices
        .iter()
        .filter_map(move |&(name, index)| Some((name, index, Control(words.unsigned(index)?))))
}

pub(super) static FLEX_WORD_COUNT: Rule = Rule {
    name: "flex-word-count",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a flexible row has 0, 2, 4, 5 or 6 data words",
    consequence: "Words are left over or missing: the kernel refuses the section, libsframe \
                  overwrites memory for more than 6.",
    remedy: "Write a pair for each of CFA, RA and FP that has a rule, and one zero in RA's place \
             where only FP has.",
    source: "V3 3.2; observed: the kernel's patches, libsframe 2.47",
    example: "a flexible row with 3 data words",
    check: Check::RowContent(|row, report| {
        let count = row.row.info.word_count();
        if row.layout.flexible && !matches!(count, 0 | 2 | 4 | 5 | 6) {
            report.field(
                row.info(),
                WordCount(count),
                "0, 2, 4, 5 or 6",
                format_args!("flexible row {} has {}", row.index, WordCount(count)),
            );
        }
    }),
};

pub(super) static FLEX_LAYOUT: Rule = Rule {
    name: "flex-layout",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "the control words of a flexible row lead to its number of data words",
    consequence: "A zero in a control word's place is padding, one word instead of two: readers \
                  take every word behind it for another.",
    remedy: "Write one zero for RA where only FP has a rule, and pairs otherwise.",
    source: "V3 3.2",
    example: "a flexible row of 4 words whose third is 0",
    check: Check::RowContent(|row, report| {
        let Err(error) = row.frame else { return };
        if error.kind == ErrorKind::FlexLayout {
            let index =
                if error.offset == row.row.word_offset(2) { 2 } else { row.row.words.count() - 2 };
            report.field(
                row.word(index),
                row.row.words.unsigned(index).unwrap_or(0),
                if row.row.words.count() == 5 && index == 2 { "0" } else { "a control word" },
                format_args!(
                    "flexible row {} has {} data words, its control words lead to another number",
                    row.index,
                    row.row.words.count()
                ),
            );
        }
    }),
};

pub(super) static FLEX_CFA_BASE: Rule = Rule {
    name: "flex-cfa-base",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "the CFA of a flexible row is based on a register",
    consequence: "The CFA would be computed from itself; the kernel refuses the section.",
    remedy: "Set bit 0 of the first control word and name the register.",
    source: "V3 3.2, appendix; observed: the kernel's patches",
    example: "a flexible row whose first control word is 0x38",
    check: Check::RowContent(|row, report| {
        let Err(error) = row.frame else { return };
        if error.kind == ErrorKind::CfaWithoutRegister {
            let control = row.row.words.unsigned(0).unwrap_or(0);
            report.field(
                row.word(0),
                format_args!("{control:#x}"),
                "bit 0x1 set",
                format_args!("flexible row {}'s CFA has no base register", row.index),
            );
        }
    }),
};

pub(super) static FLEX_CONTROL_RESERVED: Rule = Rule {
    name: "flex-control-reserved",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "bit 2 of a control word is zero",
    consequence: "A later version may give it a meaning.",
    remedy: "Write 0.",
    source: "V3 3.2",
    example: "a flexible row whose first control word is 0x3d",
    check: Check::RowContent(|row, report| {
        for (name, index, control) in controls(row) {
            if control.0 & 4 != 0 {
                report.field(
                    row.word(index),
                    format_args!("{:#x}", control.0),
                    "bit 0x4 clear",
                    format_args!(
                        "row {}'s control word for {name} has its unused bit set",
                        row.index
                    ),
                );
            }
        }
    }),
};

pub(super) static FLEX_REGISTER: Rule = Rule {
    name: "flex-register",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a control word names a register that the machine has",
    consequence: "There is no such register: the frame cannot be recovered.",
    remedy: "Use the machine's DWARF numbers: AMD64 0 to 15 and 130 to 145, the others 0 to 31.",
    source: "the machines' ELF ABIs, register number mapping",
    example: "an AMD64 flexible row whose CFA is based on register 16, the return address column",
    check: Check::RowContent(|row, report| {
        let amd64 = row.layout.abi == Abi::Amd64;
        for (name, index, control) in controls(row) {
            let register = control.register().0;
            // AMD64 numbers APX's r16 to r31 from 130 (System V ABI, figure 3.36).
            let exists = match register {
                0..=15 => true,
                130..=145 => amd64,
                16..=31 => !amd64,
                _ => false,
            };
            if control.reg_p() && !exists {
                report.field(
                    row.word(index),
                    format_args!("{:#x} (register {register})", control.0),
                    if amd64 { "register 0 to 15, 130 to 145" } else { "register 0 to 31" },
                    format_args!(
                        "row {} bases {name} on register {register}, which {} does not have",
                        row.index, row.layout.abi
                    ),
                );
            }
        }
    }),
};

pub(super) static FLEX_UNUSED_REGISTER: Rule = Rule {
    name: "flex-unused-register",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a control word without base register names none",
    consequence: "None: the number counts only with bit 0 set. Perhaps that bit was forgotten.",
    remedy: "Write register 0, or set bit 0.",
    source: "V3 3.2 (\"effective only if reg_p is 1\")",
    example: "a flexible row whose FP control word is 0x32",
    check: Check::RowContent(|row, report| {
        for (name, index, control) in controls(row) {
            if !control.reg_p() && control.deref_p() && control.register().0 != 0 {
                report.field(
                    row.word(index),
                    format_args!("{:#x}", control.0),
                    "register 0, or bit 0x1 set",
                    format_args!(
                        "row {}'s control word for {name} names register {}, but does not use it",
                        row.index,
                        control.register().0
                    ),
                );
            }
        }
    }),
};

pub(super) static FLEX_NOT_LOADED: Rule = Rule {
    name: "flex-not-loaded",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "RA and FP that are based on the CFA are loaded from memory",
    consequence: "The register would hold an address in the stack frame itself.",
    remedy: "Set bit 1 (deref_p) of the control word.",
    source: "V3 3.2 (the rule RA = CFA + 0 \"should not be needed for any ABI\")",
    example: "a flexible row whose FP control word is 0x30",
    check: Check::RowValues(|row, report| {
        for (name, index, control) in controls(row) {
            if name != "CFA" && !control.reg_p() && !control.deref_p() {
                report.field(
                    row.word(index),
                    format_args!("{:#x}", control.0),
                    "bit 0x2 set",
                    format_args!("row {} takes an address in the frame for {name}", row.index),
                );
            }
        }
    }),
};

pub(super) static FLEX_SP_LOADED: Rule = Rule {
    name: "flex-sp-loaded",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a CFA that is loaded from memory is not found through SP",
    consequence: "Compilers keep such a CFA at a place found through a frame pointer; through SP it \
                  moves with every push.",
    remedy: "Check the CFI of hand-written code.",
    source: "observed: GCC's realigned frames use *(rbp + n)",
    example: "an AMD64 flexible row that says CFA = *(SP + 8)",
    check: Check::RowValues(|row, report| {
        for (name, index, control) in controls(row) {
            let sp = control.register() == row.layout.abi.sp();
            if name == "CFA" && control.reg_p() && control.deref_p() && sp {
                report.field(
                    row.word(index),
                    format_args!("{:#x}", control.0),
                    "another register than SP",
                    format_args!("row {} loads the CFA from a place found through SP", row.index),
                );
            }
        }
    }),
};

pub(super) static FLEX_BASE_BIT: Rule = Rule {
    name: "flex-base-bit",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "bit 0 of a flexible row's info byte is 0",
    consequence: "None: the control word names the base register.",
    remedy: "Write 0.",
    source: "observed: GNU as 2.47",
    example: "a flexible row with info byte 0x05",
    check: Check::RowContent(|row, report| {
        let info = row.row.info;
        if row.layout.flexible && info.base_is_sp() {
            report.field(
                row.info(),
                format_args!("{:#04x}", info.0),
                "bit 0x01 clear",
                format_args!("flexible row {} has the base bit of default rows set", row.index),
            );
        }
    }),
};

pub(super) static FLEX_ABI: Rule = Rule {
    name: "flex-abi",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::AARCH64,
    summary: "functions of FDE type FLEX are on AMD64 and s390x",
    consequence: "Readers for AArch64 may not know the type: no producer writes it there.",
    remedy: "Write FDE type DEFAULT where the rows allow it.",
    source: "observed: GNU as 2.47 writes FLEX for AMD64 and s390x alone",
    example: "an AArch64 function of FDE type FLEX",
    check: Check::Attributes(|function, report| {
        let Some(readable) = function.readable() else { return };
        if readable.is_flexible() && readable.num_rows() > 0 {
            report.field(
                function.field(crate::section::FunctionField::Info2),
                format_args!("{:#04x}", readable.attributes().info2.0),
                "0 (DEFAULT)",
                format_args!("a function for AArch64 is of FDE type FLEX"),
            );
        }
    }),
};

pub(super) static FLEX_NEEDLESS: Rule = Rule {
    name: "flex-needless",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    summary: "a function of FDE type FLEX has a row that FDE type DEFAULT cannot express",
    consequence: "Its rows take up to twice the bytes they need.",
    remedy: "Write FDE type DEFAULT.",
    source: "V3 2.3.3.2",
    example: "a flexible function whose only row says CFA = SP + 8",
    check: Check::RowsOf(|rows, report| {
        if rows.function.is_flexible() && rows.count > 0 && !rows.needs_flexible {
            let place = rows.function.entry().field(crate::section::FunctionField::Info2);
            report.field(
                place,
                format_args!("{:#04x}", rows.function.attributes().info2.0),
                "0 (DEFAULT)",
                format_args!("all {} rows of the flexible function are ordinary ones", rows.count),
            );
        }
    }),
};

pub(super) static PAUTH_KEY_UNUSED: Rule = Rule {
    name: "pauth-key-unused",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    summary: "a function that names the B key has a row with a signed return address",
    consequence: "None: the key has no use there.",
    remedy: "Clear bit 5 of the info byte.",
    source: "V3 2.3.3",
    example: "an AArch64 function with the B key bit and no signed row",
    check: Check::RowsOf(|rows, report| {
        let info = rows.function.attributes().info;
        if info.pauth_key_b() && rows.count > 0 && !rows.mangled {
            let place = rows.function.entry().field(crate::section::FunctionField::Info);
            report.field(
                place,
                format_args!("{:#04x}", info.0),
                "bit 0x20 clear",
                format_args!(
                    "the B key signs the function's return addresses, but no row is signed"
                ),
            );
        }
    }),
};
