//! SFrame against CFI: what rows recover at the same PC.

use sframe_validator::rules::{Group, Page, Rule, Severity};

use crate::compare::Fields;

pub(crate) static CFA_MISMATCH: Rule = Rule::elsewhere(
    "cfa-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "rows give the CFA that CFI gives",
        consequence: "Everything else is found from the CFA: a stack trace takes another word of the stack \
                      for the return address, and ends or goes on in code that never called.",
        remedy: "The instructions of the range tell which side is right. Correct the CFI directives, or \
                 report the producer that makes a row from them that says something else.",
        source: "V3 2.4; DWARF 5 6.4.1",
        example: "the row of a stub in .plt.got with CFA = SP+16 where CFI says SP+8",
    },
);

pub(crate) static RA_MISMATCH: Rule = Rule::elsewhere(
    "ra-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "rows find the return address where CFI finds it",
        consequence: "A stack trace goes on at an address that is no return address, or stops.",
        remedy: "Correct the directives for the return address. AMD64 rows of FDE type DEFAULT have RA at \
                 a fixed offset: code that keeps it elsewhere needs a flexible row (version 3) or no entry.",
        source: "V3 2.4.2; DWARF 5 6.4.2.3; observed: GNU as loses an RA other than CFA-8",
        example: "a function with .cfi_offset of column 16 to CFA-16, and a row without an RA word",
    },
);

pub(crate) static FP_MISMATCH: Rule = Rule::elsewhere(
    "fp-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "rows find the caller's frame pointer where CFI finds it",
        consequence: "The frame itself is found. A caller whose CFA counts from FP is not, and the trace is \
                      wrong from there on.",
        remedy: "Correct the directives for the frame pointer, or report the producer.",
        source: "V3 2.4.2; DWARF 5 6.4.2.3; observed: GNU as forgets what the row before a remember_state changed",
        example: "a row without an FP word where CFI says that FP is at CFA-16",
    },
);

pub(crate) static RA_SIGNING_MISMATCH: Rule = Rule::elsewhere(
    "ra-signing-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "rows mark the return address as signed, and with the key, where CFI does (AArch64)",
        consequence: "A reader leaves the authentication code in the address, or cuts bits of a plain one; \
                      an unwinder that authenticates with the other key faults.",
        remedy: "Check .cfi_negate_ra_state and .cfi_b_key_frame, or report the producer.",
        source: "V3 2.4.1, 2.3.2; AArch64 DWARF ABI: RA_SIGN_STATE",
        example: "bit 7 of the info byte clear behind a negate_ra_state",
    },
);

pub(crate) static OUTERMOST_MISMATCH: Rule = Rule::elsewhere(
    "outermost-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "version 3 marks an outermost frame where CFI has an undefined return address",
        consequence: "A trace ends too early, or goes on past the thread's first function into whatever \
                      the stack holds.",
        remedy: "Check .cfi_undefined of the return-address column, or report the producer.",
        source: "V3 2.4, 1.2; DWARF 5 6.4.2.3; observed: GNU as 2.47.50 writes no rows for a signal frame that \
                 it cannot describe",
        example: "a row without data words, or a function without rows, where CFI has RA at CFA-8",
    },
);

pub(crate) static SIGNAL_MISMATCH: Rule = Rule::elsewhere(
    "signal-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "version 3 functions are marked as signal frames where CFI has augmentation S",
        consequence: "The PC of an interrupted frame is that of an instruction not yet run, and not behind \
                      a call: with the wrong mark, a reader looks up the function beside it.",
        remedy: "Check .cfi_signal_frame, or report the producer.",
        source: "V3 2.3.2; LSB 10.6.1.1.1",
        example: "__restore_rt with bit 7 of sfda_func_info clear",
    },
);

pub(crate) static UNEXPLAINED_LOSS: Rule = Rule::elsewhere(
    "unexplained-loss",
    Group::Comparison,
    Severity::Warning,
    Page {
        summary: "SFrame describes what CFI describes, unless it has no word for it",
        consequence: "Stack traces through the function end or skip frames, though nothing in it is unusual.",
        remedy: "Look whether the object was assembled without --gsframe or with another version than the \
                 others (linkers drop those sections), and whether a linker script discards .sframe. In \
                 assembly, look for .cfi_label and for a .cfi_escape that spells a directive: GNU as leaves \
                 out the function, and the CFI shows no trace of either.",
        source: "V3 1; observed: GNU ld from 2.46 on and mold leave out inputs of another version",
        example: "a library with one object that was assembled without --gsframe",
    },
);

pub(crate) static SFRAME_WITHOUT_CFI: Rule = Rule::elsewhere(
    "sframe-without-cfi",
    Group::Comparison,
    Severity::Warning,
    Page {
        summary: "code that SFrame describes has CFI as well, in a file that has any",
        consequence: "Nothing shows that the rows are right. Where the entry is out of place, a reader \
                      applies another function's rows.",
        remedy: "Look whether the function's start and size are right; a linker that makes stubs with rows \
                 and without CFI says so in its documentation.",
        source: "V3 2.3.1; observed: every assembler makes SFrame from the function's CFI",
        example: "an entry that was relocated to the gap behind its function",
    },
);

/// The rule that a difference in `fields` breaks: where there are several, the one that comes first.
pub(crate) fn of(fields: Fields) -> &'static Rule {
    const ORDER: [(Fields, &Rule); 5] = [
        (Fields::CFA, &CFA_MISMATCH),
        (Fields::RA, &RA_MISMATCH),
        (Fields::FP, &FP_MISMATCH),
        (Fields::RA_SIGNING, &RA_SIGNING_MISMATCH),
        (Fields::UNDEFINED_RA, &OUTERMOST_MISMATCH),
    ];
    let first = ORDER.iter().find(|(field, _)| fields.contains(*field));
    first.map_or(&SIGNAL_MISMATCH, |(_, rule)| rule)
}
