//! The pages of the other words by which reports name a cause: the fields that differ or that a version cannot express,
//! and why the machine code does not decide who is wrong.

use sframe_oracle::code::Unproven;

use super::page::{Kind, Page};
use super::rules::sentence;

/// A word of reports.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub(super) name: &'static str,
    kind: &'static str,
    summary: &'static str,
    applies: &'static str,
    remedy: &'static str,
}

const FIELD: &str = "field of a frame";
const LIMIT: &str = "limit of a format version";
const REASON: &str = "why the machine code decides nothing";
const OPEN_REMEDY: &str = "compare both tables of the finding with the instructions by hand";

/// All of them.
pub(super) const ALL: [Word; 25] = [
    Word {
        name: "cfa",
        kind: FIELD,
        summary: "the canonical frame address: the value of SP before the call of the function; on s390x, 160 more",
        applies: "every version; see the rule cfa-mismatch",
        remedy: "",
    },
    Word {
        name: "ra",
        kind: FIELD,
        summary: "the place of the return address",
        applies: "every version; see the rule ra-mismatch",
        remedy: "",
    },
    Word {
        name: "fp",
        kind: FIELD,
        summary: "the place of the caller's frame pointer",
        applies: "every version; see the rule fp-mismatch",
        remedy: "",
    },
    Word {
        name: "ra-signing",
        kind: FIELD,
        summary: "whether the return address is signed, and with which key",
        applies: "AArch64; see the rule ra-signing-mismatch",
        remedy: "",
    },
    Word {
        name: "undefined-ra",
        kind: LIMIT,
        summary: "CFI says that the return address is undefined: the function is the outermost frame, where the stack ends",
        applies: "versions 1 and 2, which cannot express it: walkers continue past the end of the stack. Version 3 has outermost \
                  frames; if SFrame and CFI differ there, see the rule outermost-mismatch",
        remedy: "use version 3, which GNU as writes from 2.46 on",
    },
    Word {
        name: "signal",
        kind: LIMIT,
        summary: "CFI marks the function as a signal frame (augmentation S): its return address is the interrupted instruction, \
                  not one after a call",
        applies: "versions 1 and 2, which cannot express it: walkers subtract one from that address, and may find the wrong \
                  function. Version 3 has the mark; if SFrame and CFI differ there, see the rule signal-mismatch",
        remedy: "use version 3, which GNU as writes from 2.46 on",
    },
    Word {
        name: "machine",
        kind: REASON,
        summary: Unproven::Machine.description(),
        applies: "other machines than AMD64 and AArch64",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "no-function",
        kind: REASON,
        summary: Unproven::NoFunction.description(),
        applies: "code outside of symbols and CFI",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "padding",
        kind: REASON,
        summary: Unproven::Padding.description(),
        applies: "instructions that do nothing or trap, after a jump, a return or a call that does not return, up to the next code",
        remedy: "",
    },
    Word {
        name: "no-path",
        kind: REASON,
        summary: Unproven::NoPath.description(),
        applies: "code that nothing jumps to, after a jump, a return or a call that does not return; code that only a debugger or another thread enters; the rest of a table of jumps whose end is not known",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "signal-frame",
        kind: REASON,
        summary: Unproven::SignalFrame.description(),
        applies: "functions that CFI marks as signal frames (augmentation S), apart from the code by which a signal handler returns",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "entered-with-frame",
        kind: REASON,
        summary: Unproven::EnteredWithFrame.description(),
        applies: "functions whose CFA is not counted from SP at their start: the ends of other functions, which jump to them in ways that are not all known",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "unknown-entry",
        kind: REASON,
        summary: Unproven::UnknownEntry.description(),
        applies: "code that is entered with the frame of another function by jumps that could not be followed; the start of a function at which both tables say that it is not entered by a call; a function that returns with another stack than it was entered with",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "not-decoded",
        kind: REASON,
        summary: Unproven::NotDecoded.description(),
        applies: "code after bytes that are no instruction, or one that is not known. `--thorough` shows the bytes of the first",
        remedy: "if the instruction is a new one, report it with its bytes",
    },
    Word {
        name: "indirect-jump",
        kind: REASON,
        summary: Unproven::IndirectJump.description(),
        applies: "functions with a jump through a register or a table that could not be followed: it may enter any code of the function",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "after-call",
        kind: REASON,
        summary: Unproven::AfterCall.description(),
        applies: "traps that compilers put after calls that do not return",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "paths-disagree",
        kind: REASON,
        summary: Unproven::PathsDisagree.description(),
        applies: "places that paths reach with different frames, or where instructions overlap",
        remedy: "check whether the function pushes, or allocates, on one path only; `lookup --why` shows one of the paths",
    },
    Word {
        name: "unknown-value",
        kind: REASON,
        summary: Unproven::UnknownValue.description(),
        applies: "code after the stack or the frame pointer was loaded from memory, or computed from a value that is not known, as where stacks are switched",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "not-in-code",
        kind: REASON,
        summary: Unproven::NotInCode.description(),
        applies: "outermost frames and marks of signal frames; rows that are DWARF expressions, or name a caller in the same file",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "unreadable-row",
        kind: REASON,
        summary: Unproven::UnreadableRow.description(),
        applies: "rows of CFI or SFrame that cannot be read; the check reports why",
        remedy: "",
    },
    Word {
        name: "too-large",
        kind: REASON,
        summary: Unproven::TooLarge.description(),
        applies: "functions of a size that compilers hardly ever write",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "limit-reached",
        kind: REASON,
        summary: Unproven::LimitReached.description(),
        applies: "files whose code was made to take long, and functions with very many branches",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "sframe-right",
        kind: REASON,
        summary: Unproven::SframeRight.description(),
        applies: "places where CFI's rule recovers a value that is not known: it may happen to be the same",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "cfi-right",
        kind: REASON,
        summary: Unproven::CfiRight.description(),
        applies: "places where SFrame's row recovers a value that is not known: it may happen to be the same",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "open",
        kind: REASON,
        summary: Unproven::Open.description(),
        applies: "none of the other reasons",
        remedy: OPEN_REMEDY,
    },
];

pub(super) fn page(word: &Word) -> Page {
    Page::new(Kind::Word, word.name, word.kind.to_owned(), sentence(word.summary))
        .text("applies", "Where", sentence(word.applies))
        .text("remedy", "What to do", sentence(word.remedy))
}

#[cfg(test)]
mod tests {
    use sframe_oracle::code::Unproven;
    use sframe_oracle::compare::Fields;
    use sframe_oracle::coverage::Cause;

    use crate::explain::subjects_named;

    /// The fields of findings and limits.
    fn fields() -> impl Iterator<Item = &'static str> {
        let all = [
            Fields::CFA,
            Fields::RA,
            Fields::FP,
            Fields::RA_SIGNING,
            Fields::UNDEFINED_RA,
            Fields::SIGNAL,
        ];
        all.into_iter().fold(Fields::default(), Fields::with).names()
    }

    #[test]
    fn every_word_that_names_a_cause_is_explained() {
        let causes = Cause::ALL.into_iter().map(Cause::name).chain(["unexplained"]);
        let reasons = Unproven::ALL.map(Unproven::name);
        for word in causes.chain(fields()).chain(reasons) {
            let pages = subjects_named(word).unwrap_or_else(|error| panic!("{error}"));
            assert!(!pages.is_empty(), "{word}");
        }
    }
}
