//! Reports of `llvm-mc --validate-cfi`, which compares the directives of assembly with the registers that each instruction
//! changes, in the order of the text. LLVM 23 says itself what it does not check yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools;

/// The part of a frame that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The rule for the CFA.
    Cfa,
    /// The rule for the frame pointer.
    Fp,
    /// The rule for the return address.
    Ra,
}

/// What it says about a part after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opinion {
    /// The directives do not say what the instruction does.
    Wrong,
    /// It does not check this yet.
    Unchecked,
}

/// The reports about a source: by the line of an instruction, and the part of the frame. Reports about other registers
/// than those of [`Part`] are left out.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    /// The reports.
    pub about: BTreeMap<(u32, Part), Opinion>,
    /// The number of reports about other registers.
    pub others: usize,
    /// The lines of directives that it ignores.
    pub ignored: Vec<u32>,
}

/// The program, or `None` if it is missing and not required.
#[must_use]
pub fn llvm_mc() -> Option<PathBuf> {
    let path = tools::toolchain("llvm-23")?.join("llvm-mc");
    let help = Command::new(&path).arg("--help").output().expect("it runs");
    let has_option = String::from_utf8_lossy(&help.stdout).contains("--validate-cfi");
    if !has_option {
        tools::missing("llvm-mc with --validate-cfi", "corpus/build fetch llvm-23");
    }
    has_option.then_some(path)
}

/// The reports about an assembly source for `machine`, as in `x86_64`.
#[must_use]
pub fn reports(llvm_mc: &Path, machine: &str, source: &Path) -> Reports {
    let triple = format!("{machine}-linux-gnu");
    let mut command = Command::new(llvm_mc);
    command.args(["--validate-cfi", "-filetype=null", "-triple", &triple]).arg(source);
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let mut reports = Reports::default();
    for line in text.lines() {
        // FILE:LINE:COLUMN: KIND: MESSAGE. For macros, FILE is `<instantiation>`.
        let Some((place, message)) =
            line.split_once(": error: ").or_else(|| line.split_once(": warning: "))
        else {
            continue;
        };
        let line_number = || place.rsplit(':').nth(1)?.parse().ok();
        let number: u32 = line_number().unwrap_or_else(|| panic!("{line}: no line number"));
        match judge(message) {
            Some(Judged::Part(part, opinion)) => {
                let reported = reports.about.entry((number, part)).or_insert(opinion);
                *reported = opinion.min(*reported);
            }
            Some(Judged::Other) => reports.others += 1,
            Some(Judged::Ignored) => reports.ignored.push(number),
            None => panic!("{}: unknown report: {line}", source.display()),
        }
    }
    reports
}

enum Judged {
    Part(Part, Opinion),
    Other,
    Ignored,
}

/// The meaning of a message. The texts are those of LLVM 23.
fn judge(message: &str) -> Option<Judged> {
    if message.ends_with("ignoring it") {
        return Some(Judged::Ignored);
    }
    let about = |register: &str, opinion| match register {
        "RBP" | "W29" | "FP" => Judged::Part(Part::Fp, opinion),
        "RIP" | "W30" | "LR" => Judged::Part(Part::Ra, opinion),
        _ => Judged::Other,
    };
    let after = |start: &str| {
        let rest = message.strip_prefix(start)?;
        rest.split([' ', ',']).next()
    };
    let cfa = |opinion| Some(Judged::Part(Part::Cfa, opinion));
    if message.contains("CFA register") && message.contains("CFA rule") {
        cfa(Opinion::Wrong)
    } else if message.starts_with("CFA ") && message.contains("not implemented yet") {
        cfa(Opinion::Unchecked)
    } else if let Some(register) = after("changed register ").or_else(|| after("register ")) {
        Some(about(register, Opinion::Wrong))
    } else {
        let register = after("validating changes happening to register ")?;
        Some(about(register, Opinion::Unchecked))
    }
}

/// Assembles a source into `object`, and returns the addresses of its instructions in its section with the lines of the
/// source, in the order of addresses.
#[must_use]
pub fn lines(llvm_mc: &Path, machine: &str, source: &Path, object: &Path) -> Vec<(u64, u32)> {
    let triple = format!("{machine}-linux-gnu");
    let mut command = Command::new(llvm_mc);
    command.args(["-g", "-filetype=obj", "-triple", &triple, "-o"]).arg(object).arg(source);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut command = Command::new(llvm_mc.with_file_name("llvm-dwarfdump"));
    let output = command.arg("--debug-line").arg(object).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let row = |line: &str| {
        let mut words = line.strip_prefix("0x")?.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let number = words.next()?.parse().ok()?;
        (!line.ends_with("end_sequence")).then_some((address, number))
    };
    text.lines().filter_map(row).collect()
}
