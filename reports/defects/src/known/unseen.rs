//! Defects that no finding shows: producers that crash, and what the format's older versions cannot say.

use sframe_record::Owner;

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
    &STRIPPED_OBJECT,
    &COMDAT_REFUSED,
];

static COMDAT_REFUSED: Defect = Defect {
    id: "comdat-refused",
    title: "the linker refuses two inputs with SFrame that share a COMDAT group, such as a C++ template",
    affected: &[LLD, GOLD],
    owner: Owner::Linker,
    recognised: "lld prints \"relocation refers to a discarded section\", gold \"which is defined in a discarded section\"",
    consequence: "the program cannot be linked",
    workaround: "link with GNU ld or mold, assemble without SFrame, or remove the section from the inputs",
    ..NONE
};

static CRASH_AT_RESTORE: Defect = Defect {
    id: "as-crash-at-restore",
    title: "the assembler crashes at a .cfi_restore or .cfi_def_cfa_register before the first instruction",
    affected: &[gnu_as("2.40", "2.44")],
    owner: Owner::Assembler,
    recognised: "it prints \"Internal error in sframe_xlate_do_...\" or \"Segmentation fault\"",
    consequence: "the file cannot be assembled with SFrame",
    workaround: "leave out the directive, or use a later assembler",
    ..NONE
};

static CRASH_AT_STATE: Defect = Defect {
    id: "as-crash-at-restored-state",
    title: "the assembler crashes at a .cfi_restore_state with no row since its .cfi_remember_state",
    affected: &[gnu_as("2.40", "2.47.50")],
    owner: Owner::Assembler,
    recognised: "it prints \"Internal error in sframe_xlate_do_...\" or \"Segmentation fault\"",
    consequence: "the file cannot be assembled with SFrame",
    workaround: "leave out both directives: nothing has changed between them",
    ..NONE
};

static ABORT_AT_STATE: Defect = Defect {
    id: "llvm-abort-at-state",
    title: "the assembler aborts at a state that it did not remember",
    affected: &[LLVM_MC],
    owner: Owner::Assembler,
    recognised: "it prints \"LLVM ERROR: SmallVector unable to grow\"",
    consequence: "the file cannot be assembled with SFrame",
    workaround: "write an instruction before the first .cfi_remember_state",
    input: "corpus/regressions/llvm-mc-aborts-at-state-that-was-not-remembered.s",
    ..NONE
};

static LINKER_CRASH_AT_EDGE: Defect = Defect {
    id: "ld-crash-at-empty-function",
    title: "the linker and objdump abort at a function without bytes, or at a row that starts where its function ends",
    affected: &[gnu_ld("2.40", "2.44")],
    owner: Owner::Linker,
    recognised: "they print \"Assertion `fre->fre_start_addr < fdep->sfde_func_size' failed\"",
    consequence: "the program cannot be linked",
    workaround: "remove the empty function, or the directive after its last instruction; or use a later linker",
    input: "corpus/golden/2.44/x86_64/edges.o",
    ..NONE
};

static CRASH_AT_OTHER_VERSION: Defect = Defect {
    id: "ld-crash-at-other-version",
    title: "the linker refuses version 1 among its inputs, and crashes on big-endian AArch64",
    affected: &[gnu_ld("2.44", "2.44")],
    owner: Owner::Linker,
    recognised: "it ends with status 139 (segmentation fault)",
    consequence: "the program cannot be linked",
    workaround: "assemble all inputs with one version of SFrame",
    ..NONE
};

static RESTORE_IN_CIE: Defect = Defect {
    id: "as-restore-in-cie",
    title: "a .cfi_restore before the first instruction goes into the CIE, where DWARF gives it no meaning",
    affected: &[gnu_as("2.40", "2.47.50")],
    owner: Owner::Assembler,
    recognised: "readelf --debug-dump=frames prints DW_CFA_restore in a CIE",
    consequence: "readers of CFI disagree on the rule",
    workaround: "leave out the directive: the initial rule is in effect there",
    ..NONE
};

static OUTERMOST_LOST: Defect = Defect {
    id: "outermost-lost",
    title: "an undefined return address is written as at CFA-8, without a message",
    affected: &[gnu_as("2.40", "2.44")],
    owner: Owner::Assembler,
    recognised: "version 1 or 2 describes a function whose CFI says that the return address is undefined",
    consequence: "a walker continues past the end of the stack",
    workaround: "use version 3, which has outermost frames",
    input: "corpus/golden/2.44/x86_64/outermost.o",
    ..NONE
};

static SIGNAL_LOST: Defect = Defect {
    id: "signal-lost",
    title: "the mark of signal frames is lost: versions 1 and 2 have no place for it",
    affected: &[gnu_as("2.40", "2.44")],
    owner: Owner::Assembler,
    recognised: "coverage counts the field signal among the limits of the version",
    consequence: "a walker subtracts one from the address of the interrupted instruction",
    workaround: "use version 3",
    input: "corpus/golden/2.44/x86_64/signal.o",
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
    consequence: "a small file blocks the reader",
    workaround: "limit the time of readers that take untrusted files",
    ..NONE
};

static STRIPPED_OBJECT: Defect = Defect {
    id: "strip-loses-relocations",
    title: "a stripped object has lost the relocations of .sframe with its symbols",
    affected: &[Affected { tool: "strip", first: "2.40", last: "2.47.50" }],
    owner: Owner::Unknown,
    recognised: "the rule relocation-missing reports it; it is not taken for known, because other programs lose relocations, too",
    consequence: "nothing says where the functions of the object are: no linker can use its .sframe, and every GNU ld crashes",
    workaround: "do not strip objects that are to be linked",
    input: "corpus/golden/2.44/x86_64/stripped.o",
    ..NONE
};
