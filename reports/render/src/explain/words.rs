//! The pages of the other words by which reports name a cause: the fields that differ or that a version cannot express,
//! and why the machine code does not decide who is wrong.

use std::io::{self, Write};

use super::rules::sentence;
use super::{BOLD, parts};
use crate::report::wrap;

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
const REASON: &str = "why a difference is undecided";
const OPEN_REMEDY: &str = "compare both tables of the finding with the instructions by hand";

/// All of them.
pub(super) const ALL: [Word; 13] = [
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
        summary: "machine code of this machine is not examined",
        applies: "other machines than AMD64 and AArch64",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "no-function",
        kind: REASON,
        summary: "the code is in no function that can be examined",
        applies: "code outside of symbols and CFI, and functions with instructions that are not known",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "no-path",
        kind: REASON,
        summary: "no known path through the machine code leads to the place",
        applies: "code after jumps through tables or registers, and dead code",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "not-in-code",
        kind: REASON,
        summary: "machine code does not show what differs",
        applies: "marks of signal frames and outermost frames",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "sframe-right",
        kind: REASON,
        summary: "the machine code proves that SFrame is right, and not that CFI is wrong",
        applies: "places where CFI's rule recovers a value that is not known: it may happen to be the same",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "cfi-right",
        kind: REASON,
        summary: "the machine code proves that CFI is right, and not that SFrame is wrong",
        applies: "places where SFrame's row recovers a value that is not known: it may happen to be the same",
        remedy: OPEN_REMEDY,
    },
    Word {
        name: "open",
        kind: REASON,
        summary: "the machine code is known, and proves neither SFrame nor CFI right or wrong",
        applies: "places where the value of a register is not known",
        remedy: OPEN_REMEDY,
    },
];

pub(super) fn page(out: &mut dyn Write, word: &Word, width: Option<usize>) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#} ({})\n", word.name, word.kind)?;
    writeln!(out, "  {}", wrap(&sentence(word.summary), 2, width))?;
    let pages = [("Where", sentence(word.applies)), ("What to do", sentence(word.remedy))];
    parts(out, &pages, width)
}

#[cfg(test)]
mod tests {
    use sframe_oracle::compare::{Fields, Unproven};
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
