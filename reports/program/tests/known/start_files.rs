//! The functions of start files are recognised among more lost functions than a record lists.
//!
//! The programs are assembled here: which functions have SFrame is known from the sources.

use std::fs;
use std::path::Path;
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

/// The known defects of lost functions, and their numbers, in a program: `described` have SFrame; 150 others and `lost`
/// after them have none. The first of `lost` is where the program starts.
fn known(name: &str, described: &[&str], lost: &[&str], options: &[&str]) -> Vec<(String, u64)> {
    let Some(bin) = tools::toolchain("2.44") else { return Vec::new() };
    let folder = folder!(format!("start-files-{name}-{}", options.len()));
    let others = (0..LOST).map(|number| function(&format!("f{number}")));
    let without: String = others.chain(lost.iter().map(|name| function(name))).collect();
    fs::write(folder.join("without.s"), without).expect("writable");
    let with: String = described.iter().map(|name| function(name)).collect();
    fs::write(folder.join("with.s"), with).expect("writable");
    tool(&folder, &bin, "as", &["-o", "without.o", "without.s"]);
    tool(&folder, &bin, "as", &["--gsframe", "-o", "with.o", "with.s"]);
    let entry = lost.first().or(described.first()).expect("a function");
    tool(&folder, &bin, "ld", &["-e", entry, "-o", "program", "with.o", "without.o"]);
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
    if tools::toolchain("2.44").is_none() {
        return;
    }
    let start = "start-without-sframe";
    let of = |unknown: usize, known: u64| {
        let rest = (String::new(), unknown as u64);
        match known {
            0 => vec![rest],
            known => vec![rest, (start.to_owned(), known)],
        }
    };
    for options in [&[][..], &["--all"]] {
        let known = |name, described, lost| known(name, described, lost, options);
        assert_eq!(known("named", &["main"], &["_start"]), of(LOST, 1));
        assert_eq!(known("entry", &["main"], &["begin"]), of(LOST, 1));
        let two: &[&str] = &["_start", "_dl_relocate_static_pie"];
        assert_eq!(known("two", &["main"], two), of(LOST, 2));
        // Neighbours: a function that is described, and another name.
        assert_eq!(known("described", &["_start", "main"], &[]), of(LOST, 0));
        assert_eq!(known("other", &["main", "_start"], &["begin", "_started"]), of(LOST + 1, 1));
    }
}
