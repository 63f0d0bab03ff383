//! Predictions for the CFI of existing programs: each is written as assembly, which GNU as and ld of each release make
//! into a shared object with SFrame, and the prediction is made from the CFI of that object.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{compare, print};
use sframe_corpus::tools;
use sframe_harness::reassemble::reassemble;
use sframe_synthesis::Release;
use sframe_validator::elf::Elf;

/// The system's C library and some others.
fn programs() -> Vec<PathBuf> {
    match std::env::var("SFRAME_PROGRAMS") {
        Ok(paths) => paths.split_whitespace().map(PathBuf::from).collect(),
        Err(_) => {
            ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libcrypto.so.3", "ld-linux-x86-64.so.2"]
                .iter()
                .map(|name| Path::new("/usr/lib/x86_64-linux-gnu").join(name))
                .collect()
        }
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn sections_of_existing_programs_are_as_predicted() {
    let folder = sframe_corpus::folder!("reassembled");
    let source = folder.join("program.s");
    for path in programs() {
        let Ok(data) = std::fs::read(&path) else { continue };
        let elf = Elf::parse(&data).expect("ELF");
        let mut text = Vec::new();
        let outcome = reassemble(&elf, "program", &mut text).expect("written").expect("assembly");
        println!("{} {} {:?}", path.display(), outcome.functions, outcome.left_out);
        std::fs::write(&source, &text).expect("written");
        for release in Release::ALL {
            let Some(tools) = tools::toolchain(release.name()) else { return };
            let (object, shared) = (folder.join("program.o"), folder.join("program.so"));
            let mut assembler = Command::new(tools.join("as"));
            run(assembler.args(["--gsframe", "-o"]).arg(&object).arg(&source));
            let mut linker = Command::new(tools.join("ld"));
            run(linker.args(["-shared", "-o"]).arg(&shared).arg(&object));
            for file in [&object, &shared] {
                let data = std::fs::read(file).expect("readable");
                let compared = compare(&data).expect("a section");
                print(file, &compared, &format!("{:x?}", compared.example));
                if compared.different > 0 {
                    std::fs::copy(
                        file,
                        format!(
                            "/tmp/syn/{}-{}-{}",
                            path.file_name().unwrap().to_string_lossy(),
                            release.name(),
                            file.file_name().unwrap().to_string_lossy()
                        ),
                    )
                    .unwrap();
                }
            }
        }
    }
}
