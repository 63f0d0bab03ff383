//! Defects that no finding shows: producers that crash, and what the format's older versions cannot say.

use sframe_record::{Owner, Weight};

use super::{GOLD, LLD, LLVM_MC, NONE, gnu_as, gnu_ld};
use crate::defect::{Affected, Defect};

pub(super) const ALL: &[&Defect] = &[
    &CRASH_AT_RESTORE,
    &CRASH_AT_STATE,
    &ABORT_AT_STATE,
    &LINKER_CRASH_AT_EDGE,
    &CRASH_AT_OTHER_VERSION,
    &RESTORE_IN_CIE,
    &OUTERMOST_LOST,
    &SIGNAL_LOST,
    &SLOW_READERS,
    &COMDAT_REFUSED,
];

static COMDAT_REFUSED: Defect = Defect {
    id: "comdat-refused",
    title: "the linker refuses two inputs with SFrame that share a COMDAT group, such as a C++ template",
    affected: &[LLD, GOLD],
    owner: Owner::Linker,
    recognised: "lld prints \"relocation refers to a discarded section\", gold \"which is defined in a discarded section\"",
    effect: "the program cannot be linked",
    workaround: "link with GNU ld or mold, assemble without SFrame, or remove the section from the inputs",
    upstream: "https://github.com/llvm/llvm-project/issues/156667 (lld)",
    pages: &["docs/upstream/gold/comdat-refused.md", "docs/upstream/lld/comdat-refused.md"],
    input: "docs/upstream/gold/comdat-refused.md",
    ..NONE
};

static CRASH_AT_RESTORE: Defect = Defect {
    id: "as-crash-at-restore",
    title: "the assembler crashes at a .cfi_restore or .cfi_def_cfa_register before the first instruction",
    affected: &[gnu_as("2.40", "2.44")],
    owner: Owner::Assembler,
    recognised: "it prints \"Internal error in sframe_xlate_do_...\" or \"Segmentation fault\"",
    effect: "the file cannot be assembled with SFrame",
    workaround: "leave out the directive, or use a later assembler",
    upstream: "PR gas/32879, binutils-gdb commit 3602da6fa285 (.cfi_def_cfa_register)",
    pages: &["docs/upstream/gnu-as/as-crash-at-restore.md"],
    input: "docs/upstream/gnu-as/as-crash-at-restore.md",
    ..NONE
};

static CRASH_AT_STATE: Defect = Defect {
    id: "as-crash-at-restored-state",
    title: "the assembler crashes at a .cfi_restore_state with no row since its .cfi_remember_state",
    affected: &[gnu_as("2.40", "2.47.50")],
    owner: Owner::Assembler,
    recognised: "it prints \"Internal error in sframe_xlate_do_...\" or \"Segmentation fault\"",
    effect: "the file cannot be assembled with SFrame",
    workaround: "leave out both directives: nothing has changed between them",
    pages: &["docs/upstream/gnu-as/as-crash-at-restored-state.md"],
    input: "docs/upstream/gnu-as/as-crash-at-restored-state.md",
    ..NONE
};

static ABORT_AT_STATE: Defect = Defect {
    id: "llvm-abort-at-state",
    title: "the assembler aborts at a state that it did not remember",
    affected: &[LLVM_MC],
    owner: Owner::Assembler,
    recognised: "it prints \"LLVM ERROR: SmallVector unable to grow\"",
    effect: "the file cannot be assembled with SFrame",
    workaround: "write an instruction before the first .cfi_remember_state",
    input: "corpus/regressions/llvm-mc-aborts-at-state-that-was-not-remembered.s",
    pages: &["docs/upstream/llvm/llvm-abort-at-state.md"],
    ..NONE
};

static LINKER_CRASH_AT_EDGE: Defect = Defect {
    id: "ld-crash-at-empty-function",
    title: "the linker and objdump abort at a function without bytes, or at a row that starts where its function ends",
    affected: &[gnu_ld("2.40", "2.44")],
    owner: Owner::Linker,
    recognised: "they print \"Assertion `fre->fre_start_addr < fdep->sfde_func_size' failed\"",
    effect: "the program cannot be linked",
    workaround: "remove the empty function, or the directive after its last instruction; or use a later linker",
    input: "corpus/golden/2.44/x86_64/edges.o",
    pages: &["docs/upstream/gnu-ld/ld-crash-at-empty-function.md"],
    ..NONE
};

static CRASH_AT_OTHER_VERSION: Defect = Defect {
    id: "ld-crash-at-other-version",
    title: "the linker refuses version 1 among its inputs, and crashes on big-endian AArch64",
    affected: &[gnu_ld("2.44", "2.44")],
    owner: Owner::Linker,
    recognised: "it ends with status 139 (segmentation fault)",
    effect: "the program cannot be linked",
    workaround: "assemble all inputs with one version of SFrame",
    without_input: "the linker writes no file; corpus/golden/FAILED.tsv lists the links",
    ..NONE
};

static RESTORE_IN_CIE: Defect = Defect {
    id: "as-restore-in-cie",
    title: "a .cfi_restore before the first instruction goes into the CIE, where DWARF gives it no meaning",
    affected: &[gnu_as("2.40", "2.47.50")],
    owner: Owner::Assembler,
    recognised: "readelf --debug-dump=frames prints DW_CFA_restore in a CIE",
    effect: "readers of CFI disagree on the rule",
    workaround: "leave out the directive: the initial rule is in effect there",
    pages: &["docs/upstream/gnu-as/as-restore-in-cie.md"],
    input: "docs/upstream/gnu-as/as-restore-in-cie.md",
    ..NONE
};

static OUTERMOST_LOST: Defect = Defect {
    id: "outermost-lost",
    weight: Weight::Partial,
    pcs: "the outermost functions",
    title: "an undefined return address is written as at CFA-8, without a message",
    affected: &[gnu_as("2.40", "2.44")],
    owner: Owner::Assembler,
    recognised: "version 1 or 2 describes a function whose CFI says that the return address is undefined",
    effect: "a walker continues past the end of the stack",
    workaround: "use version 3, which has outermost frames",
    input: "corpus/golden/2.44/x86_64/outermost.o",
    upstream: "binutils-gdb commit 5079bf895955",
    pages: &["docs/upstream/gnu-as/outermost-lost.md"],
    ..NONE
};

static SIGNAL_LOST: Defect = Defect {
    id: "signal-lost",
    weight: Weight::Partial,
    pcs: "signal frames",
    title: "the mark of signal frames is lost: versions 1 and 2 have no place for it",
    affected: &[gnu_as("2.40", "2.44")],
    owner: Owner::Assembler,
    recognised: "coverage counts the field signal among the limits of the version",
    effect: "a walker subtracts one from the address of the interrupted instruction",
    workaround: "use version 3",
    input: "corpus/golden/2.44/x86_64/signal.o",
    pages: &["docs/upstream/gnu-as/signal-lost.md"],
    ..NONE
};

static SLOW_READERS: Defect = Defect {
    id: "readers-of-repeated-headers",
    title: "4,000 section headers for one section keep the reader busy for longer than ten seconds",
    affected: &[
        Affected { tool: "readelf", first: "2.44", last: "2.47.50" },
        Affected { tool: "llvm-readobj", first: "23", last: "23" },
    ],
    owner: Owner::Unknown,
    recognised: "sframe-check torture, case bombs/elf-shared-sections.elf",
    effect: "a small file blocks the reader",
    workaround: "limit the time of readers that take untrusted files",
    without_input: "`sframe-check torture` makes it",
    ..NONE
};
