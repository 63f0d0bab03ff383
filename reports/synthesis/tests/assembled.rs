//! Predictions for small assembly inputs whose CFI is in other sections than usual.

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
