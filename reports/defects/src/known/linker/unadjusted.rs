//! Start fields that count from themselves, in a file whose linker did not adjust them.

use sframe_record::Weight;

use super::{GOLD, LINKER, LLD};
use crate::case::Case;
use crate::defect::Defect;
use crate::evidence::is_linked_without_sframe;
use crate::known::gnu_as;
use crate::signs::{ANY, Extent, Files, Signs};

/// A finding of a file in which CFI shows the right place of each function of the section.
const PROVEN: Signs = Signs {
    versions: &[1, 2],
    files: Files::Linked,
    also: |case| case.unadjusted().is_some(),
    extent: Extent::Rule,
    ..ANY
};

pub(super) static STARTS_NOT_ADJUSTED: Defect = Defect {
    id: "starts-not-adjusted",
    weight: Weight::Useless,
    title: "start addresses are too low, because the linker does not adjust those of GNU as",
    affected: &[gnu_as("2.40", "2.44"), LLD, GOLD],
    recognised: "in files of lld or gold whose starts are relative to the section, functions begin where there is no code, or \
                 each start plus the offset of its field in the section is a function of CFI",
    effect: "readers find other functions than the right ones, or none",
    workaround: "link with GNU ld, or use an assembler that writes field-relative starts (GNU as 2.46, LLVM)",
    input: "corpus/differences/starts-not-adjusted/input.s",
    upstream: "binutils-gdb commit dcb0cf7bb2a4, which defines the flag for field-relative starts",
    pages: &[
        "docs/upstream/gold/starts-not-adjusted.md",
        "docs/upstream/lld/starts-not-adjusted.md",
    ],
    is_of_rows: true,
    signs: &[
        Signs {
            rules: &["function-outside-code"],
            also: |case| !case.is_field_relative() && is_linked_without_sframe(case.record),
            ..PROVEN
        },
        // The entries are at wrong places.
        Signs {
            rules: &[
                "function-alignment",
                "function-overlap",
                "function-past-code",
                "sframe-without-cfi",
            ],
            ..PROVEN
        },
        // Nothing is at the right places.
        Signs {
            rules: &["unexplained-loss"],
            also: |case| is_at_right_place(case) && !has_others(case),
            ..PROVEN
        },
        Signs {
            rules: &["unexplained-loss"],
            also: |case| is_at_right_place(case) && has_others(case),
            extent: Extent::Finding,
            ..PROVEN
        },
        // Such a linker neither sorts functions nor adds a program header.
        Signs { rules: &["unsorted-linked", "segment-missing"], ..PROVEN },
    ],
    ..LINKER
};

/// Whether the section describes the code, but as if it were elsewhere.
fn is_at_right_place(case: &Case<'_>) -> bool {
    let code = case.finding.code.as_ref();
    let range = code.map(|code| (code.start.0, code.end.0));
    case.unadjusted()
        .zip(range)
        .is_some_and(|(functions, (start, end))| functions.contains(start, end))
}

/// Whether there may be losses of other functions among those that are counted and not listed.
fn has_others(case: &Case<'_>) -> bool {
    case.unadjusted().is_some_and(|functions| functions.has_others())
}
