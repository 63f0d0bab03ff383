//! What GNU ld 2.47.50 makes of SFrame that is to be discarded: by `--discard-sframe` with `-r`, and by a script with
//! `--gc-sections`.

use std::fs;

use sframe_link::{Audit, Linker, Outcome};

use crate::objects::set_header;
use crate::real;
use crate::special::{FIRST, Input, SECOND, differences, input, none, prepare, run};
use crate::{Machine, TOOLS, in_folder};

const SCRIPT: &str = "SECTIONS { .text : { *(.text .text.*) } /DISCARD/ : { *(.sframe) } }\n";

/// The size of the section with `-r --discard-sframe` depends on whether the linker changes `.eh_frame`: it cuts the padding
/// of `padded.o`, and that of `even.o` is what it would write itself.
#[test]
fn discarding_from_relocatable_objects_is_undecided() {
    let Some((folder, readers)) = prepare("left-relocatable") else { return };
    let tool = &TOOLS[2];
    assert_eq!(tool.linker, Linker::Ld247);
    let function = |name: &str| {
        format!(
            " .globl {name}\n .type {name},@function\n{name}:\n .cfi_startproc\n push %rbp\n .cfi_def_cfa_offset 16\n \
             .cfi_offset 6,-16\n pop %rbp\n .cfi_def_cfa 7,8\n ret\n .cfi_endproc\n .size {name},.-{name}\n"
        )
    };
    let tail = " .section .note.GNU-stack,\"\",@progbits\n";
    for (name, functions) in
        [("even", function("one") + &function("uno")), ("padded", function("three"))]
    {
        let source = format!("{name}.s");
        fs::write(folder.join(&source), functions + tail).expect("written");
        run(&folder, tool.toolchain, "as", &["--gsframe", "-o", &format!("{name}.o"), &source]);
    }
    let linker = tool.path(Machine::Amd64).expect("checked");
    let mut sizes = Vec::new();
    for inputs in [["even.o"].as_slice(), &["padded.o"], &["even.o", "padded.o"]] {
        for discarded in
            [["-r", "--discard-sframe"].as_slice(), &["-r", "--discard-sframe", "-e", "one"]]
        {
            let arguments: Vec<String> =
                discarded.iter().chain(inputs).map(|word| (*word).to_owned()).collect();
            let real = real::link(&linker, &folder, &readers, &arguments);
            assert_eq!((real.status, real.functions.len()), (0, 0), "{arguments:?}");
            sizes.push(real.sections.iter().map(|(_, size)| *size).collect::<Vec<u64>>());
            let Audit { prediction, .. } = in_folder(&folder, tool.linker, &arguments);
            assert_eq!(prediction.outcome, Outcome::Unknown, "{arguments:?}");
            let [note] = prediction.notes.as_slice() else { panic!("{:?}", prediction.notes) };
            assert!(note.contains(".eh_frame"), "{note}");
        }
    }
    let is_empty: Vec<bool> = sizes.iter().map(|sizes| sizes == &[0]).collect();
    assert_eq!(is_empty, [false, false, true, true, true, true], "{sizes:?}");
    // What the output has without these options is certain.
    let collected = ["-r", "--gc-sections", "-e", "one", "--discard-sframe"];
    let inputs = [input("even.o", &[]), input("padded.o", &[])];
    none(&differences(tool, &folder, &readers, &collected, &inputs));
}

/// With `--gc-sections`, the linker reads the sections before it looks where a script puts them.
#[test]
fn discarded_sections_are_read_to_collect_others() {
    let Some((folder, readers)) = prepare("left-collected") else { return };
    fs::write(folder.join("script.ld"), SCRIPT).expect("written");
    let script = folder.join("script.ld").display().to_string();
    let second = folder.join("second-V3.o");
    // Fields of the header: `sfp_version`, `sfp_flags` and `sfh_abi_arch`.
    for (name, field, value) in [("version", 2, 9), ("flags", 3, 0x84), ("abi", 4, 2)] {
        set_header(&second, &folder.join(format!("second-{name}.o")), field, value);
    }
    set_header(&folder.join("second-V2-llvm.o"), &folder.join("second-llvm-flags.o"), 3, 0x84);
    let stripped = ["--remove-section", ".rela.sframe", "second-V3.o", "second-stripped.o"];
    run(&folder, "2.47.50", "objcopy", &stripped);
    let kinds =
        ["V1", "V2", "V2-pc", "V2-llvm", "V3", "version", "flags", "abi", "llvm-flags", "stripped"];
    let (mut faults, mut printed) = (Vec::new(), 0);
    for tool in TOOLS.iter().filter(|tool| tool.linker.is_gnu_ld()) {
        for mode in [["-shared"].as_slice(), &[], &["-static"], &["-r", "-e", "_start"]] {
            for more in [["--gc-sections"].as_slice(), &["--gc-sections", "--fatal-warnings"], &[]]
            {
                let options =
                    [mode, more, &["--no-warn-rwx-segments", "-T", script.as_str()]].concat();
                for kind in kinds {
                    let inputs =
                        [input("first-V2.o", FIRST), input(format!("second-{kind}.o"), SECOND)];
                    faults.extend(differences(tool, &folder, &readers, &options, &inputs));
                    printed += messages(tool, &folder, &options, &inputs);
                }
            }
        }
    }
    none(&faults);
    assert!(printed > 0, "no message is predicted");
    let tool = &TOOLS[2];
    let options = ["--gc-sections", "--discard-sframe", "-T", script.as_str()];
    let inputs = [input("first-V2.o", FIRST), input("second-stripped.o", SECOND)];
    none(&differences(tool, &folder, &readers, &options, &inputs));
}

/// The number of messages that are predicted.
fn messages(
    tool: &crate::Tool,
    folder: &std::path::Path,
    options: &[&str],
    inputs: &[Input],
) -> usize {
    let files = inputs.iter().map(|input| input.file.as_str());
    let arguments: Vec<String> = options.iter().copied().chain(files).map(str::to_owned).collect();
    in_folder(folder, tool.linker, &arguments).prediction.messages.len()
}
