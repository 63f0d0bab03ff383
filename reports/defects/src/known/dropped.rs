//! Functions and sections that producers lose, although nothing in their CFI is a reason. The files that they write do not
//! show which defect it was: `unexplained-loss` reports the function.

use sframe_record::{Owner, Weight};

use super::{GOLD, LLD, LLVM_MC, NONE, gnu_as, gnu_ld};
use crate::defect::Defect;

pub(super) const ALL: &[&Defect] = &[
    &ESCAPE_OF_DIRECTIVE,
    &BASE_IN_PASSING,
    &FRAME_POINTER_IN_PASSING,
    &OTHER_REGISTER,
    &SECTION_COLLECTED,
    &VERSION_DROPPED,
    &IPLT,
];

const DROPPED: Defect =
    Defect { effect: "the function has no SFrame: walkers stop at it or fall back", ..NONE };

static ESCAPE_OF_DIRECTIVE: Defect = Defect {
    id: "escape-of-directive",
    weight: Weight::Partial,
    pcs: "all of the function",
    title: "a function is lost because of a .cfi_escape of an instruction that has a directive",
    affected: &[gnu_as("2.40", "2.47.50"), LLVM_MC],
    owner: Owner::Assembler,
    recognised: "the assembler prints \"no SFrame FDE emitted; .cfi_escape with op\" or \"unknown side effects\"",
    workaround: "write the directive",
    input: "corpus/differences/escape-of-directive/input.s",
    pages: &[
        "docs/upstream/gnu-as/escape-of-directive.md",
        "docs/upstream/llvm/escape-of-directive.md",
    ],
    ..DROPPED
};

static BASE_IN_PASSING: Defect = Defect {
    id: "base-in-passing",
    weight: Weight::Partial,
    pcs: "all of the function",
    title: "a function is lost because the CFA is counted from another register, and from SP again at the same place",
    affected: &[gnu_as("2.44", "2.47.50"), LLVM_MC],
    owner: Owner::Assembler,
    recognised: "the assembler prints \"non-SP/FP register 9 in .cfi_def_cfa\"",
    workaround: "leave out directives that apply to no instruction",
    input: "corpus/differences/base-in-passing/input.s",
    pages: &["docs/upstream/gnu-as/base-in-passing.md"],
    ..DROPPED
};

static FRAME_POINTER_IN_PASSING: Defect = Defect {
    id: "frame-pointer-in-passing",
    weight: Weight::Partial,
    pcs: "all of the function",
    title: "a function is lost because of a rule for FP that applies to no instruction",
    affected: &[gnu_as("2.44", "2.47.50")],
    owner: Owner::Assembler,
    recognised: "the assembler prints \"FP reg 6 in .cfi_undefined\"",
    workaround: "leave out directives that apply to no instruction",
    input: "corpus/differences/frame-pointer-in-passing/input.s",
    pages: &["docs/upstream/gnu-as/frame-pointer-in-passing.md"],
    ..DROPPED
};

static OTHER_REGISTER: Defect = Defect {
    id: "other-register-saved",
    weight: Weight::Partial,
    pcs: "all of the function",
    title: "a function with any .cfi_register is lost without a message, also for registers that SFrame does not have",
    affected: &[gnu_as("2.40", "2.40")],
    owner: Owner::Assembler,
    recognised: "coverage reports the cause other-register-save, in version 1",
    workaround: "use a later assembler",
    pages: &["docs/upstream/gnu-as/other-register-saved.md"],
    input: "docs/upstream/gnu-as/other-register-saved.md",
    ..DROPPED
};

static SECTION_COLLECTED: Defect = Defect {
    id: "section-collected",
    weight: Weight::Useless,
    title: "--gc-sections discards .sframe",
    affected: &[gnu_ld("2.40", "2.44"), LLD, GOLD],
    owner: Owner::Linker,
    recognised: "the program has no .sframe, although its objects have (--require-section reports it)",
    effect: "the program has no SFrame",
    workaround: "link without --gc-sections, or with a later GNU ld or mold",
    input: "corpus/differences/section-collected/input.s",
    upstream: "PR ld/32769, binutils-gdb commit 4b5ff658b499 (GNU ld)",
    pages: &["docs/upstream/gnu-ld/section-collected.md"],
    ..DROPPED
};

static VERSION_DROPPED: Defect = Defect {
    id: "version-dropped",
    weight: Weight::Partial,
    pcs: "the functions of the inputs that are left out",
    title: "inputs of another SFrame version are left out, with a message that is wrong (2.44), or without any (mold)",
    affected: &[gnu_ld("2.44", "2.47.50"), super::Affected { tool: "mold", first: "", last: "" }],
    owner: Owner::Linker,
    recognised: "GNU ld prints \"input SFrame sections with different format versions\"",
    effect: "the section describes a part of the program",
    workaround: "assemble all inputs, including libraries, with one version",
    input: "corpus/golden/2.44/x86_64/mixed-3-into-2.exe",
    ..DROPPED
};

static IPLT: Defect = Defect {
    id: "ld-iplt",
    weight: Weight::Partial,
    pcs: "the stubs of .iplt",
    title: ".iplt is not described",
    affected: &[gnu_ld("2.40", "2.47.50")],
    owner: Owner::Linker,
    recognised: "coverage lists the stubs of indirect functions in static programs",
    input: "corpus/golden/2.44/x86_64/ifunc.exe",
    workaround: "none is known",
    pages: &["docs/upstream/gnu-ld/ld-iplt.md"],
    ..DROPPED
};
