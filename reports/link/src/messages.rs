//! Messages of linkers about SFrame: what they mean, and what to do.
//!
//! ```
//! let text = "ld: error in b.o(.sframe); unexpected SFrame format version 2";
//! let found = sframe_link::messages::find(text);
//! assert_eq!(found[0].id, "ld-unexpected-version");
//! ```

mod recognise;

use recognise::Quoted;

/// A message that people meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// A name for the message.
    pub id: &'static str,
    /// The words of the message. `*` matches any text.
    pub pattern: &'static str,
    /// Parts of the message, each of which no other message has, as far as is known. `*` matches any text, and `~` a short one
    /// that names no other section.
    pub found_by: &'static [&'static str],
    /// The linkers that print it.
    pub linkers: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// Where the message was seen.
    pub seen: Seen,
}

/// Where a message was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// In links that the tests do.
    Tested,
    /// In the linker's program; no input that causes it is known here.
    InProgram,
    /// In a report of others; the linker was not run here.
    Reported,
}

/// The messages, the most specific ones first.
pub static ALL: &[Message] = &[
    Message {
        id: "ld-versions-differ",
        pattern: "input SFrame sections with different format versions prevent .sframe generation",
        found_by: &[
            "input SFrame sections with different format versions",
            "different format versions prevent .sframe generation",
        ],
        linkers: "GNU ld 2.41 to 2.44",
        meaning: "an input has SFrame version 1, which this linker understands but cannot write. It does so even if all \
                  inputs have version 1. The link fails",
        remedy: "assemble the input with the linker's own version of GNU as, remove the section from it, or link with \
                 GNU ld 2.46 or later, which leaves the section out",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-no-sframe-created",
        pattern: "error in *(.sframe); no .sframe will be created",
        found_by: &["no .sframe will be created"],
        linkers: "GNU ld 2.40 to 2.44",
        meaning: "the linker cannot read this input's section: it has a later version, or PC-relative starts (LLVM, GNU as \
                  2.45 and later). The exit status is 0, and the output does have a section: of the other inputs, of the \
                  linker's stubs, or of all sections appended to each other",
        remedy: "link with the version of GNU ld that belongs to the assembler, assemble without SFrame, or remove the \
                 section from the input",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-unexpected-type",
        pattern: "error in *(.sframe); unexpected SFrame section type; section ignored",
        found_by: &["unexpected SFrame section type"],
        linkers: "GNU ld 2.46 and later",
        meaning: "the section has the type SHT_PROGBITS, as GNU as wrote it until 2.44 (versions 1 and 2). The code of this \
                  input has no SFrame in the output. The exit status is 0",
        remedy: "assemble the input with GNU as 2.46 or later, or accept the loss; --discard-sframe leaves out all SFrame \
                 and the messages",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-unexpected-version",
        pattern: "error in *(.sframe); unexpected SFrame format version *",
        found_by: &["unexpected SFrame format version"],
        linkers: "GNU ld 2.46 and later",
        meaning: "the section has a version other than 3, such as LLVM's 2. The code of this input has no SFrame in the \
                  output. The exit status is 0",
        remedy: "assemble the input with GNU as 2.46 or later, or accept the loss; --discard-sframe leaves out all SFrame \
                 and the messages",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-section-ignored",
        pattern: "error in *(.sframe); SFrame section ignored",
        found_by: &["SFrame section ignored"],
        linkers: "GNU ld 2.46 and later",
        meaning: "the linker leaves the section of this input out: its version is not 3, or it is damaged. The exit status \
                  is 0",
        remedy: "see the message before it; without one, check the input with sframe-check",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-unexpected-abi",
        pattern: "error in *(.sframe); unexpected ABI in SFrame section",
        found_by: &["unexpected ABI in SFrame section"],
        linkers: "GNU ld 2.46 and later",
        meaning: "the headers of two inputs, or those of the inputs and of the linker's stubs, name different machines or \
                  byte orders. The link fails",
        remedy: "check the input with sframe-check: it belongs to another machine, or it is damaged",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-unexpected-encoding",
        pattern: "error in *(.sframe); unexpected SFrame data encoding",
        found_by: &["unexpected SFrame data encoding"],
        linkers: "GNU ld 2.46 and later",
        meaning: "the start addresses of the section are not PC-relative, as the linker needs them. The link fails",
        remedy: "assemble the input with GNU as 2.46 or later",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-abis-differ",
        pattern: "input SFrame sections with different abi prevent .sframe generation",
        found_by: &[
            "input SFrame sections with different abi",
            "different abi prevent .sframe generation",
        ],
        linkers: "GNU ld 2.40 to 2.44",
        meaning: "the headers of two inputs name different machines or byte orders. The link fails",
        remedy: "check the inputs with sframe-check: one belongs to another machine, or is damaged",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-stubs-not-created",
        pattern: "failed to create *PLT *.sframe section",
        found_by: &["failed to create *PLT *.sframe section", "failed to create *PLT .sframe"],
        linkers: "GNU ld 2.40 and later",
        meaning: "the linker could not make the section that describes its stubs. The link fails",
        remedy: "link with --no-ld-generated-unwind-info (until 2.44), or with --discard-sframe (2.46 and later)",
        seen: Seen::InProgram,
    },
    Message {
        id: "ld-row-after-end",
        pattern: "sframe_decoder_get_fre: Assertion `fre->fre_start_addr < fdep->sfde_func_size' failed",
        found_by: &["fre->fre_start_addr < fdep->sfde_func_size"],
        linkers: "GNU ld 2.40 to 2.44",
        meaning: "an input has a row that starts where its function ends. The assembler writes \
                  such rows, and the linker crashes (status 134)",
        remedy: "find the input with sframe-check, and remove its section, or link with GNU ld 2.46 or later",
        seen: Seen::Tested,
    },
    Message {
        id: "ld-assertion",
        pattern: "assertion fail *elf-sframe.c:*",
        found_by: &["assertion fail *elf-sframe.c:"],
        linkers: "GNU ld 2.40 to 2.44",
        meaning: "the relocations of an input's section do not fit its functions: strip removed them, or ld -r wrote the \
                  input and left them where they were. The linker fails or crashes",
        remedy: "remove the section from the input, and do not strip objects that are to be linked",
        seen: Seen::Tested,
    },
    Message {
        id: "lld-type-mismatch",
        pattern: "section type mismatch for .sframe",
        found_by: &["section type mismatch for .sframe"],
        linkers: "lld",
        meaning: "one input has a section of type SHT_PROGBITS (GNU as until 2.44), another of type SHT_GNU_SFRAME (GNU as \
                  from 2.45 on, LLVM). lld does not know the section, and puts only sections of one type together",
        remedy: "remove the section from one kind of inputs, assemble all by one assembler, or link with GNU ld 2.46 or \
                 later, or mold 3",
        seen: Seen::Tested,
    },
    Message {
        id: "lld-discarded-section",
        pattern: "relocation refers to a discarded section: *referenced by *:(.sframe+",
        found_by: &[
            "relocation refers to a discarded section: *referenced by *:(.sframe+",
            "relocation refers to a symbol in a discarded section: *referenced by *:(.sframe+",
            "(.sframe+~relocation refers to a discarded section",
        ],
        linkers: "lld",
        meaning: "two inputs have the same COMDAT group (a C++ template or an inline function). The linker keeps one, and the \
                  .sframe section of the other input still refers to the dropped code, because lld does not know the \
                  section",
        remedy: "link with GNU ld or mold 3, assemble without SFrame, or remove the section from the inputs",
        seen: Seen::Tested,
    },
    Message {
        id: "gold-discarded-section",
        pattern: "(.sframe+*relocation refers to local symbol *which is defined in a discarded section",
        found_by: &["(.sframe+*relocation refers to *which is defined in a discarded section"],
        linkers: "gold",
        meaning: "two inputs have the same COMDAT group (a C++ template or an inline function). The linker keeps one, and the \
                  .sframe section of the other input still refers to the dropped code, because gold does not know the \
                  section",
        remedy: "link with GNU ld or mold 3, assemble without SFrame, or remove the section from the inputs",
        seen: Seen::Tested,
    },
    Message {
        id: "mold-corrupted",
        pattern: "(.sframe): corrupted .sframe section",
        found_by: &["corrupted .sframe section"],
        linkers: "mold",
        meaning: "the section does not begin with SFrame's magic number. Until mold 2.42, a section without bytes also has \
                  this message, which GNU as 2.45 writes for some startup objects",
        remedy: "use mold 3, or remove the section from the input with objcopy --remove-section .sframe",
        seen: Seen::Tested,
    },
    Message {
        id: "mold-incompatible",
        pattern: "(.sframe): .sframe is incompatible with *",
        found_by: &[".sframe is incompatible with"],
        linkers: "mold",
        meaning: "the header of the section names another machine or byte order than the input. The link fails",
        remedy: "check the input with sframe-check; remove its section with objcopy --remove-section .sframe",
        seen: Seen::Tested,
    },
    Message {
        id: "zig-unhandled-relocation",
        pattern: "unhandled relocation type R_X86_64_PC64 at offset *.sframe",
        found_by: &["unhandled relocation type R_X86_64_PC64~.sframe"],
        linkers: "Zig's own linker",
        meaning: "a startup object of the C library has SFrame version 3, whose start addresses have 8 bytes, and the linker \
                  does not know their relocation",
        remedy: "remove the section from copies of the startup objects (objcopy --remove-section .sframe \
                 --remove-section .rela.sframe crt1.o), or use another linker",
        seen: Seen::Reported,
    },
    Message {
        id: "pc64-in-sframe",
        pattern: "R_X86_64_PC64*.sframe",
        found_by: &[
            "R_X86_64_PC64~.sframe",
            "R_X86_64_PC64~.rela.sframe",
            ".sframe~R_X86_64_PC64",
            ".rela.sframe~R_X86_64_PC64",
        ],
        linkers: "linkers that do not know this relocation",
        meaning: "the section has version 3, whose start addresses have 8 bytes, and the linker does not know their \
                  relocation. Startup objects such as crt1.o bring it into every program",
        remedy: "see which inputs have it (sframe-check link -- cc ...); link with GNU ld, mold, lld or gold, which know the \
                 relocation (GNU ld from 2.46 on and mold 3 merge the sections); or remove the section from copies of these \
                 objects (objcopy --remove-section .sframe --remove-section .rela.sframe DIR/crt1.o crt1.o), and link with \
                 the copies (cc -B.)",
        seen: Seen::Reported,
    },
];

/// The longest text in which messages are looked for, in bytes.
const LONGEST: usize = 1 << 16;

/// The messages that a text contains, the most specific ones first.
#[must_use]
pub fn find(text: &str) -> Vec<&'static Message> {
    let end = (0..=LONGEST.min(text.len())).rev().find(|&place| text.is_char_boundary(place));
    let text = text.get(..end.unwrap_or_default()).unwrap_or_default();
    let text = Quoted::new(text);
    ALL.iter().filter(|message| message.is_in(&text)).collect()
}

/// The message with this name.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Message> {
    ALL.iter().find(|message| message.id == id)
}

impl Message {
    /// Whether a text contains the message, or a part by which it is recognised.
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        self.is_in(&Quoted::new(text))
    }

    fn is_in(&self, text: &Quoted) -> bool {
        self.found_by.iter().any(|part| text.has(part))
    }
}
