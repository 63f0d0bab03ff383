//! The functions of start files are recognised among more lost functions than a record lists.
//!
//! The programs are assembled here: which functions have SFrame is known from the sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::program::run;
use sframe_corpus::{folder, tools};

use super::records;

/// More than a record lists.
const LOST: usize = 150;

fn function(name: &str) -> String {
    format!(
        "\t.globl {name}\n\t.type {name}, @function\n{name}:\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n\t.size {name}, .-{name}\n"
    )
}

fn tool(folder: &Path, bin: &Path, name: &str, arguments: &[&str]) {
    let program = bin.join(format!("x86_64-linux-gnu-{name}"));
    let status = Command::new(program).args(arguments).current_dir(folder).status();
    assert!(status.expect("it runs").success(), "{name} {arguments:?}");
}

/// The start file of the C library, which has two functions with CFI, as readelf prints: `_start` and
/// `_dl_relocate_static_pie`. `None` if it is missing and not required.
pub(super) fn crt1() -> Option<PathBuf> {
    let output = Command::new("cc").arg("-print-file-name=crt1.o").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    if path.is_absolute() {
        return Some(path);
    }
    tools::missing("crt1.o", "apt-get install libc6-dev");
    None
}

/// The known defects of lost functions, and their numbers, in a program: `main` and the C library's main function have SFrame;
/// 150 others and `lost` after them have none, nor have the start files, which are linked first. The program starts at `entry`.
fn known(
    name: &str,
    lost: &[&str],
    start_file: Option<&Path>,
    options: &[&str],
) -> Vec<(String, u64)> {
    let Some(bin) = tools::toolchain("2.44") else { return Vec::new() };
    let folder = folder!(format!("start-files-{name}-{}", options.len()));
    let others = (0..LOST).map(|number| function(&format!("f{number}")));
    let without: String = others.chain(lost.iter().map(|name| function(name))).collect();
    fs::write(folder.join("without.s"), without).expect("writable");
    let with: String = ["main", "__libc_start_main"].into_iter().map(function).collect();
    fs::write(folder.join("with.s"), with).expect("writable");
    tool(&folder, &bin, "as", &["-o", "without.o", "without.s"]);
    tool(&folder, &bin, "as", &["--gsframe", "-o", "with.o", "with.s"]);
    let entry =
        if start_file.is_some() { "_start" } else { lost.first().copied().unwrap_or("main") };
    let start_file = start_file.map(|path| path.to_str().expect("UTF-8"));
    let mut arguments = vec!["-e", entry, "-o", "program"];
    arguments.extend(start_file);
    arguments.extend(["with.o", "without.o"]);
    arguments.extend(name.starts_with("stripped").then_some("-s"));
    tool(&folder, &bin, "ld", &arguments);
    let arguments = [options, &["--no-config", "--format", "ndjson", "program"]].concat();
    let text = run(&folder, &arguments).text;
    let record = records(&text).next().expect("a record");
    let of_rule = record.counts.iter().filter(|count| count.rule.as_str() == "unexplained-loss");
    of_rule
        .map(|count| {
            (count.known.as_ref().map(ToString::to_string).unwrap_or_default(), count.count)
        })
        .collect()
}

#[test]
fn start_files_are_recognised_among_many_losses() {
    let Some(start_file) = crt1().filter(|_| tools::toolchain("2.44").is_some()) else { return };
    let of = |unknown: usize, known: u64| {
        let rest = (String::new(), unknown as u64);
        let start = ("start-without-sframe".to_owned(), known);
        if known == 0 { vec![rest] } else { vec![rest, start] }
    };
    for options in [&[][..], &["--all"]] {
        assert_eq!(known("named", &[], Some(&start_file), options), of(LOST, 2));
        // Without symbols, both are recognised by their code and their place.
        assert_eq!(known("stripped", &[], Some(&start_file), options), of(LOST, 2));
        assert_eq!(known("stripped-own", &["_start"], None, options), of(LOST + 1, 0));
        // Functions of one's own, where a program starts or with the name of a start file's.
        assert_eq!(known("entry", &["begin"], None, options), of(LOST + 1, 0));
        assert_eq!(known("own", &["_start"], None, options), of(LOST + 1, 0));
        assert_eq!(known("other", &["_started"], Some(&start_file), options), of(LOST + 1, 2));
    }
}
