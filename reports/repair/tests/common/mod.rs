//! What tests share: GNU objdump's listings, by function.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::unwind::CodeAddress;

/// A function as objdump prints it: its size, and its rows by offset from its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) size: u64,
    pub(crate) rows: Vec<(u64, String)>,
}

/// The functions by the name of their symbol.
pub(crate) type Listed = BTreeMap<String, Vec<Function>>;

/// The output of `objdump --sframe` for a file. The program is that of a release and machine.
pub(crate) fn listed_file(folder: &Path, objdump: &Path, bytes: &[u8]) -> String {
    let path = folder.join("file");
    std::fs::write(&path, bytes).expect("writable");
    let output = Command::new(objdump).arg("--sframe=.sframe").arg(&path).output();
    let output = output.expect("objdump runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The functions in a listing of objdump, by address. Adjacent rows with the same values are one row. The rows of stubs
/// may count from 0 instead of an address.
pub(crate) fn listing(text: &str) -> Vec<(u64, Function)> {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
    let mut functions: Vec<(u64, Function)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some((_, rest)) = line.split_once("pc = ") {
            let (start, rest) = rest.split_once(", size = ").expect("a size");
            let size = rest.split_whitespace().next().expect("a number");
            let size = size.parse().expect("decimal");
            functions.push((hex(start).expect("hex"), Function { size, rows: Vec::new() }));
        } else if let Some((pc, values)) = line.split_once(' ') {
            let Ok(pc) = hex(pc) else { continue };
            let Some((start, function)) = functions.last_mut() else { continue };
            let values = values.split_whitespace().collect::<Vec<_>>().join(" ");
            if function.rows.last().is_none_or(|(_, last)| *last != values) {
                function.rows.push((pc.wrapping_sub(*start), values));
            }
        }
    }
    functions
}

/// The functions of a file by symbol. A function without symbol has the name of the file's code.
pub(crate) fn by_symbol(file: &[u8], functions: &[(u64, Function)]) -> Listed {
    let elf = Elf::parse(file).expect("ELF");
    let symbols = SymbolTable::load(&elf).expect("readable");
    let mut found = Listed::new();
    for (start, function) in functions {
        let symbol = symbols.find(CodeAddress::absolute(*start));
        let at_start = symbol.filter(|symbol| symbol.start.address == *start);
        let name = at_start.map_or_else(|| format!("none at {start:#x}"), |s| s.name.to_string());
        found.entry(name).or_default().push(function.clone());
    }
    found
}

/// The functions that are not a linker's stubs.
pub(crate) fn without_stubs(file: &[u8], functions: Vec<(u64, Function)>) -> Vec<(u64, Function)> {
    let elf = Elf::parse(file).expect("ELF");
    let is_stub = |start: u64| {
        let section = elf.code_section_at(CodeAddress::absolute(start));
        section.is_some_and(sframe_validator::elf::ElfSection::is_stubs)
    };
    functions.into_iter().filter(|(start, _)| !is_stub(*start)).collect()
}
