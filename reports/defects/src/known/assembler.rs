//! Rows that assemblers make wrongly from right CFI. [`RowDefects`](crate::RowDefects) recognises them.

pub(super) mod return_address;

use sframe_record::{Owner, Weight};

use super::{LLVM_MC, NONE, gnu_as};
use crate::defect::Defect;
use crate::signs::{ANY, Signs};

pub(super) const ALL: &[&Defect] = &[
    &REMEMBERED_IN_PLACE,
    &REMEMBERS_ONE_STATE,
    &REGISTER_IN_PLACE,
    &CFA_IN_OTHER_REGISTER,
    &SAME_VALUE_IGNORED,
    &FRAME_POINTER_UNDEFINED,
    &FRAME_POINTER_IN_REGISTER,
    &RELATIVE_SAVE_IGNORED,
    &RESTORE_TO_FIRST_ROW,
    &RESTORE_WITH_OLDER_CIE,
    &FRAME_POINTER_RESTORED,
    &FRAME_POINTER_ONLY,
    &VALUE_OFFSET_IGNORED,
    &NO_INITIAL_RULES,
    &ODD_OFFSET,
];

const ASSEMBLER: Defect = Defect {
    owner: Owner::Assembler,
    effect: "a walker that stops at such a PC takes a wrong frame",
    workaround: "use a version of the assembler that is not affected, or assemble the file without SFrame",
    is_of_rows: true,
    ..NONE
};

static REMEMBERED_IN_PLACE: Defect = Defect {
    id: "remembered-in-place",
    weight: Weight::Partial,
    pcs: "after the .cfi_restore_state, up to the next change of the rule",
    title: "a rule and .cfi_remember_state at one place: .cfi_restore_state does not restore the rule",
    affected: &[gnu_as("2.40", "2.44")],
    recognised: "CFI remembers a state where a rule changes, has restored it, and SFrame has the rules from before that place",
    input: "corpus/differences/remembered-in-place/input.s",
    pages: &["docs/upstream/gnu-as/remembered-in-place.md"],
    ..ASSEMBLER
};

static REMEMBERS_ONE_STATE: Defect = Defect {
    id: "remembers-one-state",
    weight: Weight::Partial,
    pcs: "after the outer .cfi_restore_state, up to the next change of the rules",
    title: "of nested .cfi_remember_state, only the last one is kept",
    affected: &[gnu_as("2.40", "2.47.50")],
    recognised: "CFI has remembered two states at a time and restored both, and SFrame has the rules of the second one",
    input: "corpus/differences/remembers-one-state/input.s",
    pages: &["docs/upstream/gnu-as/remembers-one-state.md"],
    ..ASSEMBLER
};

static REGISTER_IN_PLACE: Defect = Defect {
    id: "register-in-place",
    weight: Weight::Partial,
    pcs: "up to the next rule for the CFA",
    title: ".cfi_def_cfa_offset and .cfi_def_cfa_register at one place: the offset is lost",
    affected: &[gnu_as("2.40", "2.47.50")],
    recognised: "CFI changes offset and register of the CFA at one PC, and SFrame has the new register with the old offset",
    workaround: "write .cfi_def_cfa instead of the two directives",
    input: "corpus/differences/register-in-place/input.s",
    pages: &["docs/upstream/gnu-as/register-in-place.md"],
    ..ASSEMBLER
};

static CFA_IN_OTHER_REGISTER: Defect = Defect {
    id: "cfa-in-other-register",
    weight: Weight::Partial,
    pcs: "where the CFA is counted from another register",
    title: "a CFA counted from a register other than SP and FP is written as counted from SP",
    affected: &[gnu_as("2.40", "2.40")],
    recognised: "in version 1, CFI counts the CFA from another register, and SFrame from SP at the same distance",
    input: "corpus/differences/cfa-in-other-register/input.s",
    pages: &["docs/upstream/gnu-as/cfa-in-other-register.md"],
    ..ASSEMBLER
};

static SAME_VALUE_IGNORED: Defect = Defect {
    id: "same-value-ignored",
    weight: Weight::Partial,
    pcs: "after the .cfi_same_value, up to the next rule for the register",
    title: "after .cfi_same_value, FP is still read from its old slot",
    affected: &[gnu_as("2.40", "2.44"), LLVM_MC],
    recognised: "CFI has same_value for FP or RA, and SFrame the old rule; for RA on AMD64, GNU as 2.47.50 does it, too",
    input: "corpus/differences/same-value-ignored/input.s",
    upstream: "PR gas/32953, binutils-gdb commit 5bd7ac079aee (GNU as)",
    pages: &[
        "docs/upstream/gnu-as/same-value-ignored.md",
        "docs/upstream/llvm/same-value-ignored.md",
    ],
    ..ASSEMBLER
};

static FRAME_POINTER_UNDEFINED: Defect = Defect {
    id: "frame-pointer-undefined",
    weight: Weight::Partial,
    pcs: "where FP is undefined",
    title: "a lost FP is written as unchanged",
    affected: &[gnu_as("2.40", "2.44"), LLVM_MC],
    recognised: "CFI says that FP is undefined, and SFrame that it is unchanged",
    input: "corpus/differences/frame-pointer-undefined/input.s",
    pages: &[
        "docs/upstream/gnu-as/frame-pointer-undefined.md",
        "docs/upstream/llvm/frame-pointer-undefined.md",
    ],
    ..ASSEMBLER
};

static FRAME_POINTER_IN_REGISTER: Defect = Defect {
    id: "frame-pointer-in-register",
    weight: Weight::Partial,
    pcs: "where FP is in another register",
    title: "an FP kept in another register is written as unchanged",
    affected: &[LLVM_MC],
    recognised: "CFI has the caller's FP in another register, and SFrame says that it is unchanged",
    input: "corpus/differences/frame-pointer-in-register/input.s",
    pages: &["docs/upstream/llvm/frame-pointer-in-register.md"],
    ..ASSEMBLER
};

static RELATIVE_SAVE_IGNORED: Defect = Defect {
    id: "relative-save-ignored",
    weight: Weight::Partial,
    pcs: "after the .cfi_rel_offset, up to the next rule for FP",
    title: "an FP saved by .cfi_rel_offset is written as unchanged",
    affected: &[LLVM_MC],
    recognised: "CFI has a slot for FP, and SFrame says that it is unchanged, in LLVM's version 2",
    workaround: "write .cfi_offset",
    input: "corpus/differences/relative-save-ignored/input.s",
    pages: &["docs/upstream/llvm/relative-save-ignored.md"],
    ..ASSEMBLER
};

static RESTORE_TO_FIRST_ROW: Defect = Defect {
    id: "restore-to-first-row",
    weight: Weight::Partial,
    pcs: "after the .cfi_restore, up to the next rule for FP",
    title: ".cfi_restore goes back to the function's first rule, not to the CIE's",
    affected: &[LLVM_MC],
    recognised: "CFI restores the initial rule for FP, and SFrame has the slot of the function's first row",
    input: "corpus/differences/restore-to-first-row/input.s",
    pages: &["docs/upstream/llvm/restore-to-first-row.md"],
    ..ASSEMBLER
};

static RESTORE_WITH_OLDER_CIE: Defect = Defect {
    id: "restore-with-older-cie",
    weight: Weight::Partial,
    pcs: "after the .cfi_restore, up to the next rule for FP",
    title: ".cfi_restore goes back to the function's first rule, although its CIE is that of an earlier function",
    affected: &[gnu_as("2.40", "2.47.50")],
    recognised: "CFI restores the initial rule for FP, and SFrame has the slot of the function's first row",
    input: "corpus/differences/restore-with-older-cie/input.s",
    pages: &["docs/upstream/gnu-as/restore-with-older-cie.md"],
    ..ASSEMBLER
};

static FRAME_POINTER_RESTORED: Defect = Defect {
    id: "frame-pointer-restored",
    weight: Weight::Partial,
    pcs: "after the .cfi_restore, up to the next row",
    title: "after .cfi_register and .cfi_restore of an FP saved by the first row, FP's control word is 0, which is padding",
    affected: &[gnu_as("2.47.50", "2.47.50")],
    recognised: "a flexible row has five words: the offset of FP follows a control word of 0, as if RA needed two words of padding",
    effect: "readers take the row as damaged, or as one without FP",
    input: "corpus/differences/frame-pointer-restored/input.s",
    pages: &["docs/upstream/gnu-as/frame-pointer-restored.md"],
    signs: &[Signs {
        rules: &["flex-layout"],
        versions: &[3],
        machines: &["AMD64"],
        also: |case| {
            case.field("padding") == Some("0")
                && case.field("FP control") == Some("0x0")
                && case.field("FP offset").is_some()
        },
        ..ANY
    }],
    ..ASSEMBLER
};

static FRAME_POINTER_ONLY: Defect = Defect {
    id: "frame-pointer-only",
    weight: Weight::Partial,
    pcs: "where FP is saved and the return address is not",
    title: "on AArch64, FP's slot is written as the slot of the return address",
    affected: &[gnu_as("2.40", "2.40")],
    recognised: "in version 1, SFrame has RA where CFI has FP, and the other one unchanged",
    input: "corpus/differences/frame-pointer-only/input.s",
    pages: &["docs/upstream/gnu-as/frame-pointer-only.md"],
    ..ASSEMBLER
};

static VALUE_OFFSET_IGNORED: Defect = Defect {
    id: "value-offset-ignored",
    weight: Weight::Partial,
    pcs: "where FP is computed from the CFA",
    title: "an FP computed from the CFA is written as unchanged",
    affected: &[LLVM_MC],
    recognised: "CFI computes FP from the CFA, and SFrame says that it is unchanged, in LLVM's version 2",
    input: "corpus/differences/value-offset-ignored/input.s",
    pages: &["docs/upstream/llvm/value-offset-ignored.md"],
    ..ASSEMBLER
};

static NO_INITIAL_RULES: Defect = Defect {
    id: "no-initial-rules",
    weight: Weight::Partial,
    pcs: "where CFI has no rule for the CFA",
    title: "code without any CFA rule gets one, FP+0 or SP+0",
    affected: &[gnu_as("2.40", "2.47.50"), LLVM_MC],
    recognised: "CFI has no rule for the CFA, and SFrame has FP+0, in LLVM's version 2, or a CFA as for an offset of 0",
    workaround: "give the function CFI rules, or leave out .cfi_startproc",
    input: "corpus/differences/no-initial-rules/input.s",
    pages: &["docs/upstream/gnu-as/no-initial-rules.md", "docs/upstream/llvm/no-initial-rules.md"],
    ..ASSEMBLER
};

static ODD_OFFSET: Defect = Defect {
    id: "odd-offset",
    weight: Weight::Partial,
    pcs: "where the CFA offset is no multiple of 8",
    title: "on s390x, a CFA offset that is no multiple of 8 is rounded down",
    affected: &[gnu_as("2.47.50", "2.47.50")],
    recognised: "on s390x, SFrame has CFI's offset of the CFA rounded down to a multiple of 8",
    input: "corpus/differences/odd-offset/input.s",
    pages: &["docs/upstream/gnu-as/odd-offset.md"],
    ..ASSEMBLER
};
