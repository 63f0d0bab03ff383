//! Parts of functions, which have CFI of their own, and no name in a stripped file. In the rebuilt file, `--thorough` must
//! not take them for functions that are called.

use std::fs;
use std::path::Path;

use sframe_corpus::{repository, tools};

use crate::tools::{Machine, folder, sframe_check, text};

const AMD64: Machine = Machine { name: "x86_64", big_endian_aarch64: false };

/// The output of `--thorough` for the library that an assembler and a linker make from `assembly`.
fn thorough(toolchain: &str, folder: &Path, assembly: &str) -> (i32, String) {
    let (source, object) = (folder.join("rebuilt.s"), folder.join("rebuilt.o"));
    let library = folder.join("rebuilt.so");
    fs::write(&source, assembly).expect("writable");
    for output in [
        AMD64.assemble(toolchain, &source, &object),
        AMD64.link_with_sframe(toolchain, &object, &library),
    ] {
        assert!(output.status.success(), "{toolchain}: {}", text(&output.stderr));
    }
    let (status, output, stderr) = sframe_check(&["--thorough".as_ref(), &*library]);
    (status, output + &stderr)
}

/// The assembly of the program, from which GCC's symbols are stripped.
fn reassembled(folder: &Path) -> Option<String> {
    let source = repository().join("reports/program/tests/reassemble/programs/cold.cc");
    let options = "-O2 -fno-omit-frame-pointer -fPIC -shared -s";
    let command = format!("g++ {options} -o cold.so {}", source.display());
    if !tools::run(folder, "g++", &command) {
        return None;
    }
    let (library, assembly) = (folder.join("cold.so"), folder.join("cold.s"));
    let (_, report, _) = sframe_check(&["--thorough".as_ref(), &*library]);
    assert!(report.contains("no findings"), "GCC's CFI is right: {report}");
    let (status, _, stderr) =
        sframe_check(&["reassemble".as_ref(), &*library, "-o".as_ref(), &assembly]);
    assert_eq!(status, 0, "{stderr}");
    Some(fs::read_to_string(&assembly).expect("written"))
}

/// The label before the `nop` at the start of the cold part, and that of the section, which starts with it.
fn labels_of_part(assembly: &str) -> [&str; 2] {
    let (before, _) = assembly
        .split_once(":\n\t.cfi_startproc\n\t.byte 0x90\n\t.cfi_def_cfa 6, 16\n")
        .expect("GCC makes a cold part that starts with a nop");
    let mut labels = before.rsplit('"').skip(1).step_by(2);
    let label = labels.next().expect("a label");
    let section = labels.find(|label| label.starts_with("sframe_check.section."));
    [label, section.expect("a label")]
}

#[test]
fn parts_of_functions_are_not_taken_for_functions() {
    let folder = folder("parts");
    let Some(assembly) = reassembled(&folder) else { return };
    let assemblers = AMD64.assemblers().into_iter().filter(|name| *name != "llvm-23");
    for toolchain in assemblers {
        let (status, report) = thorough(toolchain, &folder, &assembly);
        // `as` 2.40 writes version 1, which gets a warning.
        assert!(status == 0 && !report.contains("error["), "{toolchain}: {report}");
        assert!(report.contains("compared with the code of 1 file"), "{toolchain}: {report}");
        // The type of a function on either label is what misleads.
        for label in labels_of_part(&assembly) {
            let typed = assembly.replace(
                &format!("\n\"{label}\":\n"),
                &format!("\n\t.type \"{label}\", @function\n\"{label}\":\n"),
            );
            let (status, report) = thorough(toolchain, &folder, &typed);
            assert!(status == 1 && report.contains("inherited-error"), "{label}: {report}");
        }
    }
}

/// The names of the original remain names of functions.
#[test]
fn function_symbols_keep_their_type() {
    let folder = folder("names");
    let Some(assembly) = reassembled(&folder) else { return };
    let typed: Vec<_> = assembly.lines().filter(|line| line.contains("@function")).collect();
    assert_eq!(typed, ["\t.type \"_Z5twiceiPi\", @function"]);
}
