//! Predictions for small assembly inputs: CFI in other sections than usual, and tables of stubs of all sizes.

mod common;

use std::process::Command;

use common::{compare, print};
use sframe_corpus::tools;
use sframe_synthesis::Release;

const FUNCTIONS: &str = "
    .text
first:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    pop %rbp
    .cfi_def_cfa_offset 8
    .cfi_restore rbp
    ret
    .cfi_endproc
    .section .text.second, \"ax\", @progbits
second:
    .cfi_startproc
    ret
    .cfi_endproc
";

/// CFI for unwinders, for debuggers, and for both: each function is described once.
#[test]
fn each_function_is_described_once() {
    let folder = sframe_corpus::folder!("assembled");
    for release in Release::ALL {
        let Some(tools) = tools::toolchain(release.name()) else { return };
        for sections in [".eh_frame", ".debug_frame", ".eh_frame, .debug_frame"] {
            let (source, object) = (folder.join("input.s"), folder.join("input.o"));
            let text = format!("    .cfi_sections {sections}\n{FUNCTIONS}");
            std::fs::write(&source, text).expect("written");
            let mut command = Command::new(tools.join("as"));
            let status = command.args(["--gsframe", "-o"]).arg(&object).arg(&source).status();
            assert!(status.expect("the assembler runs").success());
            let data = std::fs::read(&object).expect("readable");
            let Some(compared) = compare(&data) else {
                println!("{} writes none for {sections}", release.name());
                continue;
            };
            print(&object, &compared, sections);
            assert_eq!(compared.real.functions, 2);
            assert!(compared.is_equal(), "{} {sections}", release.name());
        }
    }
}

/// Tables of stubs: lazy ones, with `endbr64`, bound at start, and for functions whose address is taken as well. Start
/// fields get wider with 256 and 65,536 bytes of stubs.
#[test]
fn stubs_are_as_predicted() {
    let folder = sframe_corpus::folder!("stubs");
    for release in Release::ALL {
        let Some(tools) = tools::toolchain(release.name()) else { return };
        for (count, options) in [
            (1, vec![]),
            (14, vec![]),
            (15, vec!["-z", "now"]),
            (16, vec!["-z", "ibtplt"]),
            (4094, vec![]),
            (4095, vec![]),
            (4096, vec!["-z", "ibtplt"]),
        ] {
            let calls = (0..count).map(|number| format!("    call stub{number}@PLT\n"));
            let text = format!(
                "    .text\ncaller:\n    .cfi_startproc\n{}    call *stub0@GOTPCREL(%rip)\n    \
                 ret\n    .cfi_endproc\n",
                calls.collect::<String>()
            );
            std::fs::write(folder.join("input.s"), text).expect("written");
            let run = |tool: &str, arguments: &[&str]| {
                let mut command = Command::new(tools.join(tool));
                let status = command.args(arguments).current_dir(&folder).status();
                assert!(status.expect("the tool runs").success(), "{tool} {arguments:?}");
            };
            run("as", &["--gsframe", "-o", "input.o", "input.s"]);
            run("ld", &[&["-shared", "-o", "input.so", "input.o"], options.as_slice()].concat());
            let object = folder.join("input.so");
            let compared = compare(&std::fs::read(&object).expect("readable")).expect("a section");
            print(&object, &compared, &format!("{count} stubs {options:?}"));
            assert!(compared.is_equal(), "{count} stubs {options:?} {:x?}", compared.different);
        }
    }
}
