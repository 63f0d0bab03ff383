//! Call frame information: what an unwinder that reads it cannot read, or takes for something else.

use sframe_validator::rules::{Group, Page, Rule, Severity};

const fn warning(name: &'static str, page: Page) -> Rule {
    Rule::elsewhere(name, Group::Cfi, Severity::Warning, page)
}

const fn lint(name: &'static str, page: Page) -> Rule {
    Rule::elsewhere(name, Group::Cfi, Severity::Lint, page)
}

pub(crate) static TRUNCATED: Rule = warning(
    "cfi-truncated",
    Page {
        summary: "fields and operands of a CFI entry end inside the entry",
        consequence: "Unwinders read the next entry's bytes as this one's, or refuse it.",
        remedy: "Look at hand-written directives such as .cfi_escape, and at what has cut the section.",
        source: "DWARF 5 6.4.1, 7.24",
        example: "an FDE that ends with DW_CFA_advance_loc4 and two bytes",
    },
);

pub(crate) static ENTRY_LENGTH: Rule = warning(
    "cfi-entry-length",
    Page {
        summary: "a CFI entry's length leads to the next entry",
        consequence: "No entry behind this one can be found. With .eh_frame_hdr, unwinders still find those \
                      that its table names; what registers the section whole loses all of them.",
        remedy: "Correct the length. Values from 0xfffffff0 on are reserved, but for 0xffffffff.",
        source: "DWARF 5 7.4; LSB 10.6.1.1",
        example: "a last FDE whose length is 4 more than the section has",
    },
);

pub(crate) static ENTRIES_AFTER_TERMINATOR: Rule = lint(
    "cfi-entries-after-terminator",
    Page {
        summary: "nothing stands behind the zero terminator of .eh_frame",
        consequence: "An unwinder that walks the section ends at the terminator and misses what is behind; one \
                      that searches .eh_frame_hdr finds it.",
        remedy: "Link crtend.o, which has the terminator, last.",
        source: "LSB 10.6.1.1; observed: libgcc's __register_frame stops there",
        example: "an object that was given to the linker behind crtend.o",
    },
);

pub(crate) static NUMBER_TOO_LARGE: Rule = warning(
    "cfi-number-too-large",
    Page {
        summary: "LEB128 numbers in CFI fit in 64 bits",
        consequence: "Unwinders cut the number, each in its own way, and compute another frame.",
        remedy: "Correct the operand.",
        source: "DWARF 5 7.6",
        example: "DW_CFA_def_cfa_offset with an operand of 11 bytes",
    },
);

pub(crate) static CIE_VERSION: Rule = warning(
    "cfi-cie-version",
    Page {
        summary: "a CIE has version 1, 3 or 4",
        consequence: "Unwinders refuse the CIE and find no frame in any function that uses it.",
        remedy: "Correct the version; .eh_frame has 1 or 3.",
        source: "DWARF 5 6.4.1; LSB 10.6.1.1.1",
        example: "a CIE whose version is 2",
    },
);

pub(crate) static ADDRESS_SIZE: Rule = warning(
    "cfi-address-size",
    Page {
        summary: "a version 4 CIE says that addresses have 2, 4 or 8 bytes, and segment selectors at most 8",
        consequence: "No field behind it can be found: its functions have no frames.",
        remedy: "Write the size of the machine's addresses, and 0 for the selector.",
        source: "DWARF 5 6.4.1",
        example: "a CIE of version 4 with address_size 3",
    },
);

pub(crate) static REGISTER_NUMBER: Rule = warning(
    "cfi-register-number",
    Page {
        summary: "register numbers in CFI are those of the machine",
        consequence: "No machine has a register of such a number: unwinders cut it, or leave the rule out.",
        remedy: "Correct the operand.",
        source: "DWARF 5 6.4.2.3",
        example: "DW_CFA_same_value of register 2^32",
    },
);

pub(crate) static BAD_CIE_POINTER: Rule = warning(
    "cfi-bad-cie-pointer",
    Page {
        summary: "the CIE pointer of every FDE leads to a CIE",
        consequence: "The function's frames cannot be found: its instructions mean nothing without the CIE.",
        remedy: "Correct the pointer: in .eh_frame, the bytes from the field back to the CIE; in .debug_frame, \
                 the CIE's offset.",
        source: "DWARF 5 6.4.1; LSB 10.6.1.1.2",
        example: "an FDE whose pointer leads into the middle of a CIE",
    },
);

pub(crate) static POINTER_ENCODING: Rule = warning(
    "cfi-pointer-encoding",
    Page {
        summary: "pointer encodings are those that are defined, and the start of a range is not left out",
        consequence: "Nobody can tell where the function is. libgcc aborts.",
        remedy: "Correct the byte behind augmentation R.",
        source: "LSB 10.5.1",
        example: "a CIE with augmentation zR and encoding 0x05",
    },
);

pub(crate) static ADDRESS_OVERFLOW: Rule = warning(
    "cfi-address-overflow",
    Page {
        summary: "functions and the locations in them end inside the address space",
        consequence: "The range wraps: unwinders find the function everywhere or nowhere.",
        remedy: "Correct the size of the range, or the advance.",
        source: "DWARF 5 6.4.1, 6.4.2.1",
        example: "an FDE of 2^63 bytes at 2^63",
    },
);

pub(crate) static EMPTY_RANGE: Rule = lint(
    "cfi-empty-range",
    Page {
        summary: "an FDE describes at least one byte of code",
        consequence: "None: no PC is in it. Some unwinders take an FDE without bytes for a discarded one.",
        remedy: "Nothing to do, if the function is meant to be empty (compilers leave the body out where it \
                 cannot be reached).",
        source: "DWARF 5 6.4.1",
        example: ".cfi_startproc and .cfi_endproc with nothing in between",
    },
);

pub(crate) static OVERLAP: Rule = warning(
    "cfi-overlap",
    Page {
        summary: "no two FDEs describe the same code",
        consequence: "Which one holds depends on the unwinder: a search of .eh_frame_hdr finds the one that \
                      starts last, a walk over the section the one that is stored first.",
        remedy: "Correct the ranges. Code that was placed by hand inside a function needs its own piece of CFI on \
                 either side.",
        source: "DWARF 5 6.4.1; observed: libgcc searches the table, and walks without one",
        example: "two FDEs of one address with different sizes",
    },
);

pub(crate) static DISCARDED: Rule = lint(
    "cfi-discarded",
    Page {
        summary: "an FDE's function is in the object",
        consequence: "None: the entry describes no code. It takes up space in everything it is linked into.",
        remedy: "Nothing to do; ld -r leaves such entries behind where it drops a copy of a function.",
        source: "observed: GNU ld -r writes R_*_NONE for the start",
        example: "ld -r of two objects with the same inline function",
    },
);

pub(crate) static UNKNOWN_INSTRUCTION: Rule = warning(
    "cfi-unknown-instruction",
    Page {
        summary: "call frame instructions are those that are defined, for the machine",
        consequence: "Nobody knows how long the instruction is, so nothing behind it can be read. libgcc aborts.",
        remedy: "Look at .cfi_escape, and at whether the file was made for this machine.",
        source: "DWARF 5 7.24; LSB 10.5.2",
        example: "an FDE with an instruction of code 0x3f",
    },
);

pub(crate) static NOT_INITIAL: Rule = warning(
    "cfi-not-initial",
    Page {
        summary: "a CIE's instructions neither advance the location nor restore an initial rule",
        consequence: "There is no location in a CIE and nothing to go back to: what holds at the start of its \
                      functions is not known.",
        remedy: "Move the instruction into the FDEs.",
        source: "DWARF 5 6.4.1, 6.4.2.3",
        example: "a CIE with DW_CFA_advance_loc",
    },
);

pub(crate) static UNBALANCED_RESTORE_STATE: Rule = warning(
    "cfi-unbalanced-restore-state",
    Page {
        summary: "every restore_state has a remember_state before it",
        consequence: "Unwinders take an empty rule set, or crash.",
        remedy: "Add the missing .cfi_remember_state.",
        source: "DWARF 5 6.4.2.4",
        example: ".cfi_restore_state as a function's only directive",
    },
);

pub(crate) static CFA_NOT_REGISTER: Rule = warning(
    "cfi-cfa-not-register",
    Page {
        summary: "def_cfa_register and def_cfa_offset change a rule of a register and an offset",
        consequence: "The half that is not given is made up: unwinders keep what stood there before the \
                      expression, or zero.",
        remedy: "Give both with .cfi_def_cfa.",
        source: "DWARF 5 6.4.2.2",
        example: "DW_CFA_def_cfa_offset behind DW_CFA_def_cfa_expression",
    },
);

pub(crate) static OFFSET_OVERFLOW: Rule = warning(
    "cfi-offset-overflow",
    Page {
        summary: "offsets in CFI fit in 64 bits after multiplication",
        consequence: "Unwinders compute an address that nobody meant.",
        remedy: "Correct the offset; it is multiplied by the CIE's data alignment factor.",
        source: "DWARF 5 6.4.2.2",
        example: "DW_CFA_offset_extended_sf of 2^62 with factor -8",
    },
);

pub(crate) static ADVANCE_PAST_END: Rule = warning(
    "cfi-advance-past-end",
    Page {
        summary: "call frame instructions advance to no address behind their function's range",
        consequence: "The range is too short or the advance is too long: the code that the last rules are \
                      about is not found, or has those of the function behind.",
        remedy: "Correct the size of the range, or the advance.",
        source: "DWARF 5 6.4.2.1",
        example: "an advance of 32 bytes in a function of 16",
    },
);

pub(crate) static SET_LOC_BACKWARDS: Rule = warning(
    "cfi-set-loc-backwards",
    Page {
        summary: "set_loc leads to a higher address of the same function",
        consequence: "Unwinders stop at the first location behind the PC, so the rules of what is behind the \
                      instruction are not found.",
        remedy: "Correct the address.",
        source: "DWARF 5 6.4.2.1",
        example: "DW_CFA_set_loc to the function's start behind an advance",
    },
);
