//! What docs/enable.md says: its commands run, and each pair of an assembler and a linker does what its table has.
//!
//! GNU objdump says where functions start by the section, GNU nm where `main` is, GNU readelf which headers there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::{folder, repository, tools};

use super::useless::{ASSEMBLERS, LINKERS, call, program, starts};

const HELLO: &str = "fn main() {\n    println!(\"hello\");\n}\n";

fn page() -> String {
    fs::read_to_string(repository().join("docs/enable.md")).expect("a page")
}

/// What a tool of GNU binutils prints about a program.
fn printed(tool: &str, option: &str, program: &Path) -> Option<String> {
    let tool = tools::toolchain("2.44")?.join(tool);
    let output = call(Path::new("."), &tool, &[option, program.to_str()?]);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What became of the section, in the words of the page.
fn outcome(program: Option<&Path>) -> Option<&'static str> {
    let Some(program) = program else { return Some("no link") };
    if !printed("readelf", "-SW", program)?.contains(" .sframe ") {
        return Some("no section");
    }
    let symbols = printed("nm", "--defined-only", program)?;
    let mut symbols = symbols.lines().filter_map(|line| {
        let (address, name) = line.split_once(' ')?;
        Some((name.split_once(' ')?.1.to_owned(), u64::from_str_radix(address, 16).ok()?))
    });
    let (_, main) = symbols.find(|(name, _)| name == "main")?;
    let starts = starts(program)?;
    let has_header = printed("readelf", "-lW", program)?.contains("GNU_SFRAME");
    let in_stubs = |start: &u64| *start < main && *start > 0;
    Some(match (starts.contains(&main), has_header) {
        (true, true) => "yes",
        (true, false) => "no header",
        (false, true) if starts.iter().all(in_stubs) => "stubs only",
        (false, _) => "useless",
    })
}

#[test]
fn each_pair_does_what_the_table_has() {
    let folder = folder!("pairs");
    fs::write(folder.join("hello.c"), super::useless::HELLO).expect("writable");
    if !tools::run(&folder, "gcc", "gcc -O2 -S -o hello.s hello.c") {
        return;
    }
    let names = ["GNU as 2.40", "GNU as 2.44", "GNU as 2.47.50", "llvm-mc 23"];
    let mut rows = Vec::new();
    for (assembler, name) in ASSEMBLERS.iter().zip(names) {
        let mut row = format!("| {name} |");
        for linker in LINKERS {
            let Some(program) = program(&folder, assembler, linker) else { return };
            let Some(outcome) = outcome(program.as_deref()) else { return };
            row += &format!(" {outcome} |");
        }
        rows.push(row);
    }
    let page = page();
    let table = page.lines().skip_while(|line| !line.starts_with("| Assembler |")).skip(2);
    let table: Vec<&str> = table.take_while(|line| line.starts_with("| ")).collect();
    assert_eq!(table, rows);
    let outcomes: BTreeSet<&str> = rows.iter().flat_map(|row| row.split(" | ").skip(1)).collect();
    assert!(outcomes.len() >= 5, "{outcomes:?}");
}

/// Each block of commands, in a folder with the sources that it names.
#[test]
fn the_commands_run() {
    let folder = folder!("enable");
    let Some(toolchain) = tools::toolchain("2.47.50") else { return };
    if !["gcc", "rustc", "dpkg-buildflags"].iter().all(|tool| tools::is_installed(tool)) {
        return;
    }
    let function = "\t.globl f\nf:\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n";
    for (name, text) in [("hello.c", super::useless::HELLO), ("hello.rs", HELLO), ("f.s", function)]
    {
        fs::write(folder.join(name), text).expect("writable");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_sframe-check"));
    let places = [toolchain.as_path(), program.parent().expect("a folder")].map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(places.into_iter().chain(std::env::split_paths(&path)));
    let page = page();
    let blocks: Vec<&str> = page.split("```sh\n").skip(1).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        let (commands, _) = block.split_once("```").expect("an end");
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", commands]).current_dir(&folder);
        let output = shell.env("PATH", path.as_ref().expect("a path")).output().expect("sh runs");
        assert!(output.status.success(), "{commands}: {output:?}");
    }
}
