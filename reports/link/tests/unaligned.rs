//! Code of s390x whose section is not aligned: whether a call of it can be linked depends on the addresses that the linker
//! chooses. The real linkers say so.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::{folder, tools};
use sframe_link::{Audit, Linker, Status};

/// A function that calls another one, each in a section of its own. `before` comes before the second one.
fn sources(before: &str) -> [(&'static str, String); 2] {
    let function = |name: &str, code: &str| {
        format!(
            " .section .text.{name},\"ax\",%progbits\n{before} .globl {name}\n .type {name},%function\n{name}:\n \
             .cfi_startproc\n{code} br %r14\n .cfi_endproc\n .size {name},.-{name}\n \
             .section .note.GNU-stack,\"\",%progbits\n"
        )
    };
    [("first", function("first", " brasl %r14, second@PLT\n")), ("second", function("second", ""))]
}

fn assemble(assembler: &Path, folder: &Path, name: &str, text: &str) -> OsString {
    let (source, object) = (folder.join(format!("{name}.s")), folder.join(format!("{name}.o")));
    fs::write(&source, text).expect("written");
    let mut command = Command::new(assembler);
    let status = command.arg("--gsframe").arg("-o").arg(&object).arg(&source).status();
    assert!(status.expect("the assembler runs").success(), "{name}");
    object.into()
}

#[test]
fn calls_of_unaligned_code_are_undecided() {
    let folder = folder!("unaligned");
    let Some(tools) = tools::toolchain("2.47.50") else { return };
    let assembler = tools.join("s390x-linux-gnu-as");
    let (mut failed, mut linked) = (0, 0);
    let odd = " .section .text.odd,\"ax\",%progbits\n .byte 7\n";
    let odd = assemble(&assembler, &folder, "odd", odd);
    for (before, is_decided) in [("", false), (" .balign 2\n", true)] {
        let objects =
            sources(before).map(|(name, text)| assemble(&assembler, &folder, name, &text));
        for (linker, toolchain, program) in [
            (Linker::Ld247, "2.47.50", "s390x-linux-gnu-ld.bfd"),
            (Linker::Lld, "llvm-23", "ld.lld"),
            (Linker::Mold, "mold", "mold"),
        ] {
            let Some(tools) = tools::toolchain(toolchain) else { return };
            for mode in [["-shared"].as_slice(), &["-pie"], &["-pie", "--gc-sections"], &["-r"]] {
                let mut arguments: Vec<OsString> =
                    ["-m", "elf64_s390", "-e", "first"].map(OsString::from).to_vec();
                arguments.extend(mode.iter().map(OsString::from));
                arguments.extend([objects[0].clone(), odd.clone(), objects[1].clone()]);
                let mut command = Command::new(tools.join(program));
                command.args(&arguments).arg("-o").arg(folder.join("out")).env("LC_ALL", "C");
                let output = command.output().expect("the linker runs");
                let printed = String::from_utf8_lossy(&output.stderr);
                let audit = Audit::of_inputs(linker, &arguments);
                let is_relocatable = mode == ["-r"];
                let case = format!("{linker} {mode:?} {before:?}: {printed}");
                if is_decided || is_relocatable {
                    assert!(output.status.success(), "{case}");
                    assert_eq!(audit.prediction.status, Some(0), "{case}");
                    // Nothing is called in the third object, which has a byte of data.
                    let others =
                        audit.undecided.iter().filter(|doubt| !doubt.contains(".text.odd"));
                    assert_eq!(others.count(), 0, "{case}: {:?}", audit.undecided);
                    continue;
                }
                if output.status.success() {
                    linked += 1
                } else {
                    failed += 1
                }
                assert!(output.status.success() || printed.contains("alig"), "{case}");
                assert_ne!(audit.status(), Status::Clean, "{case}");
                let doubts = audit.undecided.join("; ");
                for section in [".text.first is not aligned", ".text.second is not aligned"] {
                    assert!(doubts.contains(section), "{case}: {doubts}");
                }
            }
        }
    }
    assert!(failed > 0 && linked > 0, "{failed} links failed, and {linked} did not");
}
