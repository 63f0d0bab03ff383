//! mold with `--gc-sections`: the section exists if some code that SFrame of version 3 describes is used. Real links of objects
//! that are used in every way, or not at all, show what keeps them.

use std::fs;

use sframe_link::{Linker, Outcome};

use crate::real::{self, Readers};
use crate::special::{none, run};
use crate::{Machine, TOOLS, compare, in_folder};

/// Objects without SFrame that contain the entry. The second one calls `one`.
const STARTS: [(&str, &str); 2] = [("idle", ""), ("calling", " call one@PLT\n")];

/// Objects with SFrame. `FUNCTION` is a function `one` with some code, `LOCAL` one that no other object can use.
const DESCRIBED: [(&str, &str); 11] = [
    ("plain", ".text\nFUNCTION"),
    ("hidden", ".text\n.hidden one\nFUNCTION"),
    ("weak", ".text\n.weak one\nLOCAL"),
    ("local", ".text\nLOCAL"),
    ("split", ".section .text.one,\"ax\",@progbits\nFUNCTION"),
    ("group", ".section .text.one,\"axG\",@progbits,one,comdat\nFUNCTION"),
    ("retained", ".section .text.one,\"axR\",@progbits\nLOCAL"),
    ("identifier", ".section text_of_one,\"ax\",@progbits\nLOCAL"),
    (
        "constructor",
        ".section .text.one,\"ax\",@progbits\nLOCAL.section .init_array,\"aw\",@init_array\n.quad one\n",
    ),
    ("data", ".section .text.one,\"ax\",@progbits\nLOCAL.section .data.one,\"aw\"\n.quad one\n"),
    (
        "personality",
        ".text\nLOCAL.section .text.two,\"ax\",@progbits\n.globl two\ntwo: .cfi_startproc\n\
         .cfi_personality 0x9b, two_of\nret\n.cfi_endproc\n.section .data.two,\"aw\"\ntwo_of: .quad one\n",
    ),
];

/// Modes and options, and whether the options make it undecided what keeps `one`.
const OPTIONS: [(&str, bool); 14] = [
    ("", false),
    ("-pie", false),
    ("-static", false),
    ("-shared", false),
    ("-r", false),
    ("-u one", false),
    ("--require-defined=one", false),
    ("-e one", false),
    ("-shared -Bsymbolic", false),
    ("--export-dynamic", true),
    ("--init=one", true),
    ("--defsym=two=one", true),
    ("--icf=all", true),
    ("-shared --version-script=none.map", true),
];

#[test]
fn sections_that_describe_unused_code_vanish() {
    let folder = sframe_corpus::folder!("collected");
    let tool = TOOLS.iter().find(|tool| tool.linker == Linker::Mold).expect("a tool");
    let (Some(linker), Some(readers)) = (tool.path(Machine::Amd64), Readers::find()) else {
        return;
    };
    if sframe_corpus::tools::toolchain("2.47.50").is_none() {
        return;
    }
    fs::write(folder.join("none.map"), "{ local: *; };\n").expect("written");
    let code = ".type one,@function\none: .cfi_startproc\nret\n.cfi_endproc\n.size one,.-one\n";
    let tail = ".section .note.GNU-stack,\"\",@progbits\n";
    let assemble = |name: &str, text: &str, options: &[&str]| {
        let (source, object) = (format!("{name}.s"), format!("{name}.o"));
        fs::write(folder.join(&source), format!("{text}{tail}")).expect("written");
        run(&folder, "2.47.50", "as", &[options, &["-o", &object, &source]].concat());
    };
    for (name, call) in STARTS {
        assemble(name, &format!(" .globl _start\n_start:\n{call} ret\n"), &[]);
    }
    for (name, text) in DESCRIBED {
        let text = text.replace("FUNCTION", &format!(".globl one\n{code}")).replace("LOCAL", code);
        assemble(name, &text, &["--gsframe"]);
    }
    let (mut faults, mut kept, mut removed, mut undecided) = (Vec::new(), 0, 0, Vec::new());
    for (options, is_open) in OPTIONS {
        for (start, _) in STARTS {
            for (name, _) in DESCRIBED {
                let options = options.split_whitespace().chain(["--gc-sections"]);
                let files = [format!("{start}.o"), format!("{name}.o")];
                let arguments: Vec<String> = options.map(str::to_owned).chain(files).collect();
                let real = real::link(&linker, &folder, &readers, &arguments);
                if real.status != 0 {
                    // `one` is not defined for others.
                    continue;
                }
                let audit = in_folder(&folder, tool.linker, &arguments);
                let case = arguments.join(" ");
                if audit.prediction.outcome == Outcome::Unknown {
                    assert_eq!(audit.prediction.notes.len(), 1, "{case}");
                    if !is_open {
                        undecided.push(format!("{start} {name}"));
                    }
                    continue;
                }
                match real.sections.is_empty() {
                    true => removed += 1,
                    false => kept += 1,
                }
                let described = real.functions.clone();
                let differences = compare(&real, &audit, &described);
                faults.extend(differences.into_iter().map(|fault| format!("{case}: {fault}")));
            }
        }
    }
    none(&faults);
    println!("{kept} kept, {removed} removed, undecided: {}", undecided.join(", "));
    assert!(kept > 50 && removed > 20, "{kept} kept, {removed} removed");
    // What is done with these differs between linkers and their versions.
    let is_open =
        |case: &&String| !["identifier", "personality"].iter().any(|name| case.ends_with(name));
    assert_eq!(undecided.iter().find(is_open), None);
}
