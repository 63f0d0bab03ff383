//! Defects of linkers.

mod unadjusted;

use sframe_record::{Owner, Weight};

use super::{GOLD, LLD, NONE, gnu_ld};
use crate::case::Case;
use crate::defect::{Affected, Defect};
use crate::signs::{ANY, Extent, Files, Signs};

pub(super) const ALL: &[&Defect] = &[
    &PLT_GOT,
    &PLT_SEC,
    &SECTIONS_APPENDED,
    &unadjusted::STARTS_NOT_ADJUSTED,
    &RELOCATIONS_NOT_MOVED,
    &SEGMENT_BEFORE_MERGE,
    &SEGMENT_OVER_NOTHING,
    &HEADER_OF_ZEROS,
    &HEADER_LOST,
    &NO_UNWIND_INFO,
    &FUNCTION_HIDDEN,
    &FUNCTION_UNLISTED,
];

const LINKER: Defect = Defect { owner: Owner::Linker, ..NONE };

static PLT_GOT: Defect = Defect {
    id: "ld-plt-got",
    weight: Weight::Partial,
    pcs: "the stubs of .plt.got",
    title: "the rows for stubs of .plt.got are one slot off",
    affected: &[gnu_ld("2.44", "2.47.50")],
    recognised: "in .plt.got, SFrame has CFA = SP+16 where CFI has SP+8, and the code is a jump",
    effect: "a walker that stops in such a stub takes data of the caller for its return address; the stub is one \
                  instruction, so that samples rarely hit it",
    workaround: "none is needed for sampling; mold writes right rows",
    input: "corpus/differences/ld-plt-got/input.s",
    pages: &["docs/upstream/gnu-ld/ld-plt-got.md"],
    is_of_rows: true,
    ..LINKER
};

static PLT_SEC: Defect = Defect {
    id: "ld-plt-sec",
    weight: Weight::Partial,
    pcs: "the stubs of .plt.sec, and the code after them that the entry runs into",
    title: ".plt.sec is described as if it began with a head",
    affected: &[gnu_ld("2.40", "2.40")],
    recognised: "in .plt.sec of version 1, SFrame has CFA = SP+16 or SP+24 where CFI has SP+8; the entry for the rest of \
                 .plt.sec, whose rows repeat, describes the section after it",
    effect: "a walker that stops in such a stub takes a wrong return address",
    workaround: "use a later linker, or -z noibtplt",
    input: "corpus/differences/ld-plt-sec/input.s",
    upstream: "PR ld/32296, binutils-gdb commit 938fb512184d",
    pages: &["docs/upstream/gnu-ld/ld-plt-sec.md"],
    is_of_rows: true,
    signs: &[Signs {
        rules: &["function-overlap", "function-past-code"],
        beside: "cfa-mismatch",
        also: is_rest_of_plt_sec,
        ..OF_PLT_SEC
    }],
    ..LINKER
};

const OF_PLT_SEC: Signs =
    Signs { versions: &[1], machines: &["AMD64"], files: Files::Linked, ..ANY };

/// The entry is for whole stubs of 16 bytes whose rows repeat (type PCMASK), which this linker alone writes, and it is not
/// in `.plt`, the only section for which it does so rightly.
fn is_rest_of_plt_sec(case: &Case<'_>) -> bool {
    let size = case.finding.function.as_ref().map_or(0, |function| function.size);
    let info = case.field("sfde_func_info").and_then(|info| info.strip_prefix("0x"));
    let info = info.and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let section = case.finding.elf_section.as_deref();
    size > 0
        && size.is_multiple_of(16)
        && info.is_some_and(|info| info & PCMASK != 0)
        && section != Some(".plt")
}

/// The bit of `sfde_func_info` for functions whose rows repeat.
const PCMASK: u8 = 0x10;

static SECTIONS_APPENDED: Defect = Defect {
    id: "sections-appended",
    weight: Weight::Partial,
    pcs: "the functions of every input but the first",
    title: "the sections of the inputs are appended to each other instead of merged",
    affected: &[LLD, GOLD],
    recognised: "another header follows the content of the section, and there is no program header",
    effect: "readers find the functions of the first input alone",
    workaround: "link with GNU ld or mold, or assemble without SFrame",
    input: "corpus/differences/sections-appended/input.s",
    upstream: "https://github.com/llvm/llvm-project/issues/156667 (lld)",
    pages: &["docs/upstream/gold/sections-appended.md", "docs/upstream/lld/sections-appended.md"],
    signs: &[
        Signs { rules: &["concatenated-section"], extent: Extent::Rule, ..ANY },
        Signs {
            rules: &["segment-missing"],
            files: Files::Linked,
            beside: "concatenated-section",
            extent: Extent::Rule,
            ..ANY
        },
    ],
    ..LINKER
};

/// `ld -r` of these versions sets the flag in a relocatable object.
fn is_from_ld_r(case: &Case<'_>) -> bool {
    case.header().is_some_and(|header| header.flags & 1 != 0) && !case.is_field_relative()
}

static RELOCATIONS_NOT_MOVED: Defect = Defect {
    id: "relocations-left-behind",
    weight: Weight::Partial,
    pcs: "the functions of the second and later inputs",
    title: "ld -r moves the entries of functions, but not their relocations",
    affected: &[gnu_ld("2.40", "2.44")],
    recognised: "a relocatable object with sorted functions, a relocation that is for no start field, and the size of all \
                 inputs together",
    effect: "nothing says where the functions of the second and later inputs are; a linker that uses the object writes \
                  wrong start addresses",
    workaround: "do not link objects with .sframe with -r, or use a later linker",
    input: "corpus/differences/relocations-left-behind/input.s",
    upstream: "https://patchwork.sourceware.org/project/binutils/patch/20250308073853.78738-5-indu.bhagat@oracle.com/",
    pages: &["docs/upstream/gnu-ld/relocations-left-behind.md"],
    signs: &[
        Signs {
            rules: &["relocation-misplaced"],
            versions: &[1, 2],
            files: Files::Relocatable,
            also: is_from_ld_r,
            extent: Extent::Rule,
            ..ANY
        },
        Signs {
            rules: &["sorted-object", "trailing-bytes"],
            versions: &[1, 2],
            files: Files::Relocatable,
            beside: "relocation-misplaced",
            also: is_from_ld_r,
            extent: Extent::Rule,
            ..ANY
        },
    ],
    ..LINKER
};

static SEGMENT_BEFORE_MERGE: Defect = Defect {
    id: "ld-segment-size",
    title: "the program header has the size that the sections had before they were merged",
    affected: &[gnu_ld("2.40", "2.47.50")],
    recognised: "PT_GNU_SFRAME is longer than the section, in a linked file",
    effect: "a reader that takes the extent from PT_GNU_SFRAME sees more bytes, some of which may be left over from the \
                  inputs; the header's counts say where the content ends",
    workaround: "none is needed for readers that use the counts; strip sets the size right",
    pages: &["docs/upstream/gnu-ld/ld-segment-size.md"],
    input: "docs/upstream/gnu-ld/ld-segment-size.md",
    signs: &[Signs {
        rules: &["segment-stale-bytes", "segment-long"],
        files: Files::Linked,
        extent: Extent::Rule,
        ..ANY
    }],
    ..LINKER
};

static SEGMENT_OVER_NOTHING: Defect = Defect {
    id: "ld-segment-over-nothing",
    weight: Weight::Partial,
    pcs: "PCs that entries left over from the inputs describe",
    title: "a section without bytes has a program header with some",
    affected: &[gnu_ld("2.47.50", "2.47.50")],
    recognised: "the section of a linked file is empty, and PT_GNU_SFRAME is not",
    effect: "readers of the segment see zeros or bytes left over from the inputs",
    workaround: "discard the section with --discard-sframe if the program has no code with SFrame",
    pages: &["docs/upstream/gnu-ld/ld-segment-over-nothing.md"],
    input: "docs/upstream/gnu-ld/ld-segment-over-nothing.md",
    signs: &[
        Signs { rules: &["segment-over-empty"], files: Files::Linked, extent: Extent::Rule, ..ANY },
        Signs {
            rules: &["section-empty"],
            files: Files::Linked,
            beside: "segment-over-empty",
            extent: Extent::Rule,
            ..ANY
        },
    ],
    ..LINKER
};

static HEADER_OF_ZEROS: Defect = Defect {
    id: "ld-header-of-zeros",
    weight: Weight::Useless,
    title: "ld -r of inputs without functions writes a section of 28 zero bytes",
    affected: &[gnu_ld("2.40", "2.44")],
    recognised: "a relocatable object whose section has 28 bytes and no magic number",
    effect: "readers and linkers refuse the section",
    workaround: "leave inputs without functions out of ld -r, or use a later linker",
    pages: &["docs/upstream/gnu-ld/ld-header-of-zeros.md"],
    input: "docs/upstream/gnu-ld/ld-header-of-zeros.md",
    signs: &[Signs {
        rules: &["bad-magic"],
        files: Files::Relocatable,
        also: |case| {
            let field = case.finding.field.as_ref();
            let is_zero = field.is_some_and(|field| field.value.as_str() == "0x0000");
            let place = case.finding.section.and_then(|place| case.record.sections.get(place));
            is_zero && place.is_some_and(|section| section.size == 28)
        },
        extent: Extent::Rule,
        ..ANY
    }],
    ..LINKER
};

static HEADER_LOST: Defect = Defect {
    id: "ld-header-lost",
    title: "ld -r of inputs without functions writes a section without bytes",
    affected: &[gnu_ld("2.47.50", "2.47.50")],
    recognised: "a relocatable object whose section is empty",
    effect: "readers that expect a header refuse the section",
    workaround: "leave inputs without functions out of ld -r",
    pages: &["docs/upstream/gnu-ld/ld-header-lost.md"],
    input: "docs/upstream/gnu-ld/ld-header-lost.md",
    signs: &[Signs {
        rules: &["section-empty"],
        files: Files::Relocatable,
        extent: Extent::Rule,
        ..ANY
    }],
    ..LINKER
};

static NO_UNWIND_INFO: Defect = Defect {
    id: "no-unwind-info",
    title: "SFrame describes the PLT, although its CFI was left out on request",
    affected: &[gnu_ld("2.47.50", "2.47.50")],
    recognised: "SFrame alone describes .plt or .plt.got",
    effect: "none: the rows of .plt are right, those of .plt.got are one slot off (ld-plt-got)",
    workaround: "link without --no-ld-generated-unwind-info",
    input: "corpus/golden/2.47.50/x86_64/plt-only.so",
    signs: &[Signs {
        rules: &["sframe-without-cfi"],
        versions: &[3],
        machines: &["AMD64"],
        files: Files::Linked,
        sections: &[".plt", ".plt.got"],
        ..ANY
    }],
    ..LINKER
};

static FUNCTION_HIDDEN: Defect = Defect {
    id: "ld-function-hidden",
    weight: Weight::Partial,
    pcs: "functions with the start of one without code",
    title: "a function without code hides another one with the same start",
    affected: &[gnu_ld("2.40", "2.47.50")],
    recognised: "in a linked file whose linker is not known to be another one, the table is sorted by start, and of two functions with \
                 one start the one without code is last",
    effect: "readers find no row for any PC of the other function",
    workaround: "link with mold, or leave out functions without code, such as empty cold parts",
    input: "docs/upstream/gnu-ld/ld-function-hidden.md",
    pages: &["docs/upstream/gnu-ld/ld-function-hidden.md"],
    hides_functions: true,
    signs: &[Signs {
        rules: &["function-hidden"],
        files: Files::Linked,
        also: |case| !case.record.producers.iter().any(|producer| producer.is_linker()),
        ..ANY
    }],
    ..LINKER
};

static FUNCTION_UNLISTED: Defect = Defect {
    id: "lld-function-unlisted",
    weight: Weight::Partial,
    pcs: "functions with the start of an earlier FDE",
    title: "of two FDEs with one start, .eh_frame_hdr has the first, also if that describes no code",
    affected: &[Affected { tool: "lld", first: "22.1.8", last: "23" }],
    recognised: "the file names lld as its linker, and the entry for the start of a function leads to another FDE",
    effect: "unwinders find no FDE for the function: an exception that passes through it ends the program",
    workaround: "link with GNU ld or mold, or leave out functions without code",
    input: "docs/upstream/lld/lld-function-unlisted.md",
    upstream: "https://github.com/llvm/llvm-project/issues/218124, https://github.com/llvm/llvm-project/issues/224944",
    pages: &["docs/upstream/lld/lld-function-unlisted.md"],
    hides_functions: true,
    signs: &[Signs {
        rules: &["search-table-hidden"],
        files: Files::Linked,
        also: |case| case.record.producers.iter().any(|producer| producer.name.as_str() == "LLD"),
        extent: Extent::Rule,
        ..ANY
    }],
    ..LINKER
};
