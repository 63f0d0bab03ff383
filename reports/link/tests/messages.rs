//! Messages are found in the text that people have: outputs of linkers, quoted lines and parts of lines. Other messages are
//! not.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::process::Command;

use sframe_corpus::{corpus, folder, tools};
use sframe_link::messages::{self, ALL};

fn ids(text: &str) -> Vec<&'static str> {
    messages::find(text).iter().map(|message| message.id).collect()
}

/// What people write in bug reports, mails and search boxes.
const QUOTED: [(&str, &[&str]); 22] = [
    ("input SFrame sections with different format versions", &["ld-versions-differ"]),
    ("\"Input SFrame sections with different format versions\"", &["ld-versions-differ"]),
    (
        "ld: input SFrame sections with different format\n  versions prevent .sframe generation",
        &["ld-versions-differ"],
    ),
    (
        "/usr/bin/ld: input SFrame sections with different\nformat versions prevent .sframe\ngeneration",
        &["ld-versions-differ"],
    ),
    ("SFrame sections with different abi prevent .sframe generation", &["ld-abis-differ"]),
    ("crt1.o:(.sframe+0x1c): unknown relocation R_X86_64_PC64", &["pc64-in-sframe"]),
    ("R_X86_64_PC64 ... crt1.o:.sframe", &["pc64-in-sframe"]),
    ("R_X86_64_PC64 in crt1.o:.sframe.", &["pc64-in-sframe"]),
    ("unknown relocation R_X86_64_PC64 in section .rela.sframe of crt1.o", &["pc64-in-sframe"]),
    (
        "/usr/lib/../lib64/crt1.o:(.sframe+0x1c): unrecognized relocation type 'R_X86_64_PC64'",
        &["pc64-in-sframe"],
    ),
    (
        "error: fatal linker error: unhandled relocation type R_X86_64_PC64 at offset 0x1c\n    note: in /usr/lib/crt1.o:.sframe",
        &["zig-unhandled-relocation", "pc64-in-sframe"],
    ),
    ("no .sframe will be created", &["ld-no-sframe-created"]),
    ("error in crt1.o(.sframe); no .sframe will be created", &["ld-no-sframe-created"]),
    ("unexpected SFrame section type", &["ld-unexpected-type"]),
    ("unexpected SFrame format version 2", &["ld-unexpected-version"]),
    ("SFrame section ignored", &["ld-section-ignored"]),
    ("fre->fre_start_addr < fdep->sfde_func_size", &["ld-row-after-end"]),
    ("assertion fail ../../bfd/elf-sframe.c:322", &["ld-assertion"]),
    (
        "relocation refers to a discarded section: .text.inl\n>>> defined in b.o\n>>> referenced by b.c\n>>>               b.o:(.sframe+0x30) in archive lib.a",
        &["lld-discarded-section"],
    ),
    ("b.o:(.sframe+0x30): relocation refers to a discarded section", &["lld-discarded-section"]),
    ("mold: fatal: corrupted .sframe section", &["mold-corrupted"]),
    (".sframe is incompatible with x86_64", &["mold-incompatible"]),
];

#[test]
fn quoted_parts_are_found() {
    for (text, expected) in QUOTED {
        assert_eq!(ids(text), expected, "{text}");
    }
}

/// Messages that are similar, and mean something else.
const OTHERS: [&str; 23] = [
    "a.o:(.text+0x10): unknown relocation R_X86_64_PC64",
    "unhandled relocation type R_X86_64_PC64 at offset 0x1c\n    note: in a.o:.data",
    "a.o: R_X86_64_PC64 against `f' in section .data.rel; b.o:(.sframe) is not looked at",
    "a.o:(.text+0x10): unknown relocation R_X86_64_PC64\nb.o:(.sframe): something else",
    "b.o:(.sframe): something else\na.o:(.text+0x10): unknown relocation R_X86_64_PC64",
    "b.o:(.sframe+0x1c), a.o:(.text+0x10): unknown relocation R_X86_64_PC64",
    "unknown relocation R_X86_64_PC64 in my.sframe.o",
    "unknown relocation R_X86_64_PC64 in the file my.sframe",
    "unknown relocation R_X86_64_PC64 in /tmp/.sframe.o",
    "unknown relocation R_X86_64_PC64 in crt1.o:.sframe_extra",
    "unknown relocation R_X86_64_PC32 in crt1.o:.sframe",
    "error in a.o(.eh_frame); no .eh_frame_hdr table will be created",
    "warning: orphan section `.sframe' from `a.o' being placed in section `.sframe'",
    "Warning: skipping SFrame FDE due to DWARF CFI op DW_CFA_def_cfa_expression (0xf)",
    "section type mismatch for .init_array",
    "relocation refers to a discarded section: .text.f\n>>> referenced by a.o:(.debug_info+0x30)",
    "relocation refers to a discarded section: .text.f\n>>> referenced by a.o:(.eh_frame+0x30)\nld.lld: error: undefined symbol: g\n>>> referenced by b.o:(.sframe+0x30)",
    "a.o(.eh_frame+0x20): error: relocation refers to local symbol \"\" [2], which is defined in a discarded section",
    "a.o(.sframe+0x20): error: undefined reference to f\nb.o(.text+0x2): error: relocation refers to local symbol \"\" [2], which is defined in a discarded section",
    "failed to create PLT .eh_frame section",
    "failed to create GOT sections; .sframe section follows",
    "BFD assertion fail ../../bfd/elflink.c:322",
    "corrupted .eh_frame section; a .sframe section is next to it",
];

#[test]
fn other_messages_are_not_found() {
    for text in OTHERS {
        assert_eq!(ids(text), Vec::<&str>::new(), "{text}");
    }
}

/// The words of a message, and each part by which it is recognised, find it and no other one.
#[test]
fn each_part_belongs_to_one_message() {
    for message in ALL {
        let whole = [message.pattern];
        for part in whole.iter().chain(message.found_by) {
            let text = part.replace(['*', '~'], " x ");
            let found = ids(&text);
            let also = message.id == "zig-unhandled-relocation";
            assert_eq!((found[0], found.len()), (message.id, 1 + usize::from(also)), "{text}");
        }
    }
}

/// Other warnings and errors of real linkers about the same objects have no page.
#[test]
fn other_messages_of_real_linkers_are_not_found() {
    let folder = folder!("messages");
    let golden = corpus().join("golden/2.47.50/x86_64/leaf.o").display().to_string();
    let orphan = folder.join("orphan.ld");
    fs::write(&orphan, "SECTIONS { .text : { *(.text) } }\n").expect("written");
    let orphan = orphan.display().to_string();
    let mut printed = 0;
    for (toolchain, program) in
        [("2.47.50", "ld.bfd"), ("2.40", "ld.gold"), ("llvm-23", "ld.lld"), ("mold", "mold")]
    {
        let Some(programs) = tools::toolchain(toolchain) else { continue };
        for options in [
            vec!["-shared", "--orphan-handling=warn", "-T", orphan.as_str(), golden.as_str()],
            vec!["-shared", golden.as_str(), golden.as_str()],
            vec!["-shared", "-z", "defs", "-u", "gone", golden.as_str(), "gone.o"],
        ] {
            let mut command = Command::new(programs.join(program));
            command.args(&options).args(["-o", "output"]).current_dir(&folder).env("LC_ALL", "C");
            let output = command.output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            printed += usize::from(!text.is_empty());
            assert_eq!(ids(&text), Vec::<&str>::new(), "{text}");
        }
    }
    assert!(!tools::are_required() || printed >= 8, "{printed}");
}
