//! Rows with a wrong return address, and functions that are wrongly taken for the outermost one.

use sframe_record::Weight;

use super::ASSEMBLER;
use crate::defect::Defect;
use crate::known::{LLVM_MC, gnu_as};

pub(in crate::known) const ALL: &[&Defect] = &[
    &RETURN_OFFSET_CUT,
    &RETURN_ELSEWHERE,
    &RETURN_IN_REGISTER,
    &RETURN_VALUE_IGNORED,
    &RETURN_IN_ESCAPE,
    &RETURN_RESTORE_IGNORED,
    &UNDEFINED_FOR_GOOD,
    &SIMPLE_OUTERMOST,
    &SIMPLE_RETURN_ADDRESS,
    &SIGNAL_OUTERMOST,
];

static RETURN_OFFSET_CUT: Defect = Defect {
    id: "return-offset-cut",
    weight: Weight::Partial,
    pcs: "where the return address is more than 127 bytes from the CFA",
    title: "a return address at more than 127 bytes from the CFA: the offset is cut to a byte",
    affected: &[gnu_as("2.47.50", "2.47.50")],
    recognised: "SFrame's offset of RA is the lowest byte of CFI's",
    input: "corpus/differences/return-offset-cut/input.s",
    pages: &["docs/upstream/gnu-as/return-offset-cut.md"],
    ..ASSEMBLER
};

static RETURN_ELSEWHERE: Defect = Defect {
    id: "return-elsewhere",
    weight: Weight::Partial,
    pcs: "where the return address is not at CFA-8",
    title: "a return address that is not at CFA-8 is written as if it were",
    affected: &[gnu_as("2.40", "2.44"), LLVM_MC],
    recognised: "in versions 1 and 2 on AMD64, CFI has RA in another slot",
    input: "corpus/differences/return-elsewhere/input.s",
    pages: &["docs/upstream/gnu-as/return-elsewhere.md", "docs/upstream/llvm/return-elsewhere.md"],
    ..ASSEMBLER
};

static RETURN_IN_REGISTER: Defect = Defect {
    id: "return-in-register",
    weight: Weight::Partial,
    pcs: "where the return address is in a register",
    title: "a return address in a register is written as at CFA-8",
    affected: &[gnu_as("2.44", "2.44"), LLVM_MC],
    recognised: "in version 2 on AMD64, CFI has RA in a register",
    input: "corpus/differences/return-in-register/input.s",
    pages: &[
        "docs/upstream/gnu-as/return-in-register.md",
        "docs/upstream/llvm/return-in-register.md",
    ],
    ..ASSEMBLER
};

static RETURN_VALUE_IGNORED: Defect = Defect {
    id: "return-value-ignored",
    weight: Weight::Partial,
    pcs: "where the return address is computed from the CFA",
    title: "a return address computed from the CFA is written as at CFA-8",
    affected: &[gnu_as("2.40", "2.47.50"), LLVM_MC],
    recognised: "on AMD64, CFI computes RA from the CFA",
    input: "corpus/differences/return-value-ignored/input.s",
    pages: &[
        "docs/upstream/gnu-as/return-value-ignored.md",
        "docs/upstream/llvm/return-value-ignored.md",
    ],
    ..ASSEMBLER
};

static RETURN_IN_ESCAPE: Defect = Defect {
    id: "return-in-escape",
    weight: Weight::Partial,
    pcs: "where an escape says where the return address is",
    title: "a return address whose place is in a .cfi_escape is written as at CFA-8",
    affected: &[gnu_as("2.47.50", "2.47.50"), LLVM_MC],
    recognised: "on AMD64, CFI has an expression for RA, and SFrame has it at CFA-8",
    input: "corpus/differences/return-in-escape/input.s",
    pages: &["docs/upstream/gnu-as/return-in-escape.md", "docs/upstream/llvm/return-in-escape.md"],
    ..ASSEMBLER
};

static RETURN_RESTORE_IGNORED: Defect = Defect {
    id: "return-restore-ignored",
    weight: Weight::Partial,
    pcs: "after the .cfi_restore, up to the next rule for the return address",
    title: "after .cfi_restore of the return address, it is still written as in a register",
    affected: &[gnu_as("2.47.50", "2.47.50")],
    recognised: "CFI restores the rule for RA after one with a register, and SFrame has the register",
    workaround: "write .cfi_offset instead of .cfi_restore",
    input: "corpus/differences/return-restore-ignored/input.s",
    pages: &["docs/upstream/gnu-as/return-restore-ignored.md"],
    ..ASSEMBLER
};

static UNDEFINED_FOR_GOOD: Defect = Defect {
    id: "undefined-for-good",
    weight: Weight::Partial,
    pcs: "where the return address has a rule again, up to the end of the function",
    title: "an undefined return address stays undefined to the end of the function",
    affected: &[gnu_as("2.47.50", "2.47.50")],
    recognised: "CFI had RA undefined and has a rule for it again, and SFrame still has it undefined",
    effect: "a walker takes the function for the outermost one, and the stack ends too early",
    input: "corpus/differences/undefined-for-good/input.s",
    pages: &["docs/upstream/gnu-as/undefined-for-good.md"],
    ..ASSEMBLER
};

static SIMPLE_OUTERMOST: Defect = Defect {
    id: "simple-outermost",
    weight: Weight::Partial,
    pcs: "all of the function",
    title: "a function without any CFA rule is marked as the outermost frame, by an entry without rows",
    affected: &[gnu_as("2.47.50", "2.47.50")],
    recognised: "CFI has no rule for the CFA, and SFrame an entry without rows",
    effect: "a walker takes the function for the outermost one, and the stack ends too early",
    workaround: "give the function CFI rules, or leave out .cfi_startproc",
    input: "corpus/differences/simple-outermost/input.s",
    pages: &["docs/upstream/gnu-as/simple-outermost.md"],
    ..ASSEMBLER
};

static SIMPLE_RETURN_ADDRESS: Defect = Defect {
    id: "simple-return-address",
    weight: Weight::Partial,
    pcs: "all of the function, up to the first rule for the return address",
    title: "a function without a rule for the return address gets one, CFA-8",
    affected: &[gnu_as("2.40", "2.47.50"), LLVM_MC],
    recognised: "on AMD64, CFI has no rule for RA (.cfi_startproc simple), and SFrame has it at CFA-8",
    workaround: "leave out `simple`, or add a .cfi_offset for the return address",
    input: "corpus/differences/simple-return-address/input.s",
    pages: &[
        "docs/upstream/gnu-as/simple-return-address.md",
        "docs/upstream/llvm/simple-return-address.md",
    ],
    ..ASSEMBLER
};

static SIGNAL_OUTERMOST: Defect = Defect {
    id: "signal-outermost",
    weight: Weight::Partial,
    pcs: "all of the signal frame",
    title: "a signal frame whose CFI the assembler does not translate is marked as the outermost frame",
    affected: &[gnu_as("2.47.50", "2.47.50")],
    recognised: "CFI marks a signal frame and has an expression or another rule for which the assembler gives up on the function, \
                 and SFrame has an entry without rows",
    effect: "the stack ends at the signal handler: the interrupted code is missing",
    input: "corpus/differences/signal-outermost/input.s",
    pages: &["docs/upstream/gnu-as/signal-outermost.md"],
    ..ASSEMBLER
};
