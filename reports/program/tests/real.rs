//! `dump --style gnu` against objdump itself, on the real libraries that `corpus/build real` makes.
//!
//! Needs those libraries and the toolchains of `corpus/build fetch`. Missing ones are reported, and are a failure if
//! `SFRAME_REQUIRE_TOOLS` is set, as in CI. Binutils 2.47.50 may always be missing, because it is from a suite that
//! does not keep old versions.

use std::path::Path;
use std::process::Command;

use sframe_corpus::program::run;
use sframe_corpus::repository;
use sframe_corpus::tools::{self, are_required, toolchains};

/// The output of objdump without the first three lines, which name the file.
fn objdump(version: &str, machine: &str, file: &Path) -> Vec<u8> {
    let tool = toolchains().join(format!("{version}/bin/{machine}-linux-gnu-objdump"));
    let output = Command::new(&tool).arg("--sframe=.sframe").arg(file).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", tool.display())).stdout;
    let mut lines = output.splitn(4, |&byte| byte == b'\n');
    lines.nth(3).expect("objdump names the file first").to_vec()
}

#[test]
fn gnu_style_matches_objdump_on_real_libraries() {
    let required = are_required();
    for version in ["2.40", "2.44", "2.47.50"] {
        let mut compared = 0;
        for machine in ["x86_64", "aarch64", "s390x"] {
            for library in ["sqlite3.so", "zlib.so"] {
                let file = tools::real_libraries().join(format!("{version}/{machine}/{library}"));
                if !file.exists() || !toolchains().join(version).exists() {
                    continue;
                }
                let name = file.to_str().expect("UTF-8");
                let ours = run(&repository(), &["dump", "--style", "gnu", name]).text;
                let same = ours.as_bytes() == objdump(version, machine, &file);
                assert!(same, "objdump {version} prints {} differently", file.display());
                compared += 1;
            }
        }
        println!("{version}: {compared} libraries compared");
        if compared == 0 {
            let remedy = format!("corpus/build real {version}");
            tools::skipped::note(&format!("libraries of {version}"), &remedy);
            assert!(
                !required || version == "2.47.50",
                "libraries or tools of {version} are missing"
            );
        }
    }
}
