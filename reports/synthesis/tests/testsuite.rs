//! Forecasts for the inputs of GNU as's own tests of CFI, of every release in `SFRAME_BINUTILS_SOURCE`: the folder into
//! which Debian's package `binutils-source` puts its archive, or several, with colons between them. Without the variable,
//! nothing is tested. The inputs are read where they are, and not part of this project.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::assembler::{Assembler, assemblers, difference};
use sframe_corpus::tools;
use sframe_synthesis::Release;
use sframe_validator::Abi;

/// `.cfi_escape` of an instruction that has a directive, which leaves the same bytes.
const ESCAPED: [&str; 4] =
    ["cfi-common-3.s", "listing.s", "cfi-sframe-x86_64-empty-2.s", "cfi-sframe-x86_64-empty-3.s"];

/// Unpacks the inputs of an archive into a folder, and returns them.
fn unpack(archive: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut command = Command::new("tar");
    command.arg("-C").arg(folder).arg("-xf").arg(archive).arg("--wildcards");
    // The first releases have no folder `scfi`, at which tar complains.
    command.args(["*/gas/testsuite/gas/cfi*", "*/gas/testsuite/gas/scfi*"]);
    command.output().expect("tar runs");
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "s" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// The archives of the packages.
fn archives() -> Vec<PathBuf> {
    let Some(folders) = std::env::var_os("SFRAME_BINUTILS_SOURCE") else {
        println!("skipped: SFRAME_BINUTILS_SOURCE names no folder of binutils-source");
        return Vec::new();
    };
    let mut found = Vec::new();
    for folder in std::env::split_paths(&folders) {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        found.extend(paths.filter(|path| path.to_string_lossy().contains(".tar.")));
    }
    if found.is_empty() {
        tools::missing("an archive of binutils", "install binutils-source");
    }
    found
}

/// An input whose CFI is only in `.sframe` gets `.eh_frame` as well; both objects are assembled from copies.
fn copies(input: &Path, folder: &Path) -> [PathBuf; 2] {
    let text = String::from_utf8_lossy(&std::fs::read(input).expect("readable")).into_owned();
    let line = |line: &str, sections: &str| match line.trim_start().starts_with(".cfi_sections") {
        true if line.contains(".sframe") => format!("\t.cfi_sections {sections}"),
        _ => line.to_owned(),
    };
    let copy = |name: &str, sections: &str| {
        let lines: Vec<String> = text.lines().map(|of| line(of, sections)).collect();
        let path = folder.join(name);
        std::fs::write(&path, lines.join("\n") + "\n").expect("written");
        path
    };
    [copy("plain.s", ".eh_frame"), copy("real.s", ".eh_frame, .sframe")]
}

/// Compares one input. `None` if the assembler does not make both objects.
fn compare(assembler: &Assembler, input: &Path, folder: &Path) -> Option<Result<usize, String>> {
    let [plain, real] = copies(input, folder);
    let include = format!("-I{}", input.parent()?.display());
    let mut arguments = vec![include.as_str()];
    let is_synthesized = input.components().any(|part| part.as_os_str() == "scfi");
    if is_synthesized && assembler.release > Release::V2_40 && assembler.abi == Abi::Amd64 {
        arguments.push("--scfi=experimental");
    }
    let plain = assembler.assemble(&plain, &arguments)?;
    arguments.push("--gsframe");
    let real = assembler.assemble(&real, &arguments)?;
    Some(difference(&plain, &real, assembler.release))
}

#[test]
fn inputs_of_the_assemblers_own_tests_are_as_forecast() {
    for (number, archive) in archives().into_iter().enumerate() {
        let folder = sframe_corpus::folder!("testsuite").join(number.to_string());
        std::fs::create_dir_all(&folder).expect("a folder");
        let inputs = unpack(&archive, &folder);
        assert!(inputs.len() > 40, "{}: {} inputs", archive.display(), inputs.len());
        let (mut equal, mut escaped, mut refused) = (0, 0, 0);
        let mut different = Vec::new();
        for assembler in assemblers(&folder) {
            for input in &inputs {
                let name = input.file_name().expect("a name").to_string_lossy();
                match compare(&assembler, input, &folder) {
                    None => refused += 1,
                    Some(Ok(_)) => equal += 1,
                    Some(Err(_)) if ESCAPED.contains(&&*name) => escaped += 1,
                    Some(Err(found)) => {
                        different.push(format!("{name} by {}: {found}", assembler.name()));
                    }
                }
            }
        }
        println!(
            "{}: {equal} as forecast, {escaped} with an escape of what has a directive, \
             {refused} refused by the assembler",
            archive.display()
        );
        assert!(different.is_empty(), "{}", different.join("\n"));
        assert!(equal > 100, "{equal}");
    }
}
