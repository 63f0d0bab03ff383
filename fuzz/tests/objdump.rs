//! Compares generated sections with GNU objdump's output: every function and row must be as planned. The expected
//! output depends on neither the builder nor the reader.
//!
//! This test needs objdump 2.47.50, which `corpus/build` unpacks from Debian sid. Without it, it prints a message.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::tools;
use sframe_fuzz::generate::{Configuration, FUNCTION_BLOCK, FunctionPlan, HEADER_BLOCK, Plan};
use sframe_fuzz::targets::generated::file;
use sframe_mutate::Seeded;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

fn objdump(abi: Abi) -> PathBuf {
    let name = match abi {
        Abi::Amd64 => "objdump",
        Abi::S390x => "s390x-linux-gnu-objdump",
        Abi::Aarch64Big | Abi::Aarch64Little => "aarch64-linux-gnu-objdump",
    };
    sframe_corpus::tools::toolchains().join("2.47.50/bin").join(name)
}

fn register(abi: Abi, register: Register) -> String {
    match register {
        register if register == abi.sp() => "sp".to_owned(),
        register if register == abi.fp() => "fp".to_owned(),
        register => register.to_string(),
    }
}

/// The cell for a register's rule: unchanged, relative to the CFA (`c`), or relative to another register, in brackets
/// if it is loaded.
fn cell(plan: &Plan, rule: Recovery, unruled: &str) -> String {
    let abi = plan.abi;
    match rule {
        // Version 2 has no offset there.
        Recovery::RegisterOffset { register, .. } if plan.version == Version::V2 => {
            register.to_string()
        }
        Recovery::AtCfa(offset) => format!("c{offset:+}"),
        Recovery::AtRegister { register: base, offset } => {
            format!("({}{offset:+})", register(abi, base))
        }
        Recovery::RegisterOffset { register: base, offset } => {
            format!("{}{offset:+}", register(abi, base))
        }
        _ => unruled.to_owned(),
    }
}

/// A row's cells, without the spaces between them.
fn row(plan: &Plan, function: &FunctionPlan, frame: Frame) -> String {
    let abi = plan.abi;
    let cfa = match frame.cfa {
        Cfa::RegisterOffset { register: base, offset } if function.flexible => {
            format!("{}{offset:+}", register(abi, base))
        }
        // In default rows, a plus precedes a minus.
        Cfa::RegisterOffset { register: base, offset } => {
            format!("{}+{offset}", register(abi, base))
        }
        Cfa::Dereference { register: base, offset } => {
            format!("({}{offset:+})", register(abi, base))
        }
        Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => {
            return "RAundefined".to_owned();
        }
    };
    let (unruled, name) = match abi {
        Abi::Amd64 => (Recovery::AtCfa(-8), "f"),
        Abi::S390x | Abi::Aarch64Big | Abi::Aarch64Little => (Recovery::Unchanged, "u"),
    };
    // FP's words follow the padding for RA, which objdump prints as padding.
    let padded = (function.flexible || abi == Abi::S390x) && frame.fp != Recovery::Unchanged;
    let ra = match frame.ra {
        rule if rule == unruled => if padded { "U" } else { name }.to_owned(),
        rule => cell(plan, rule, name),
    };
    let signed = if frame.ra_signed { "[s]" } else { "" };
    format!("{cfa}{}{ra}{signed}", cell(plan, frame.fp, "u"))
}

/// The lines that objdump must print from the first function on, without spaces.
fn expected(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, function) in plan.functions.iter().enumerate() {
        let letters = [(function.signal, "S"), (function.flexible, "F")];
        let letters: String =
            letters.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter).collect();
        let mut line =
            format!("funcidx[{index}]:pc={:#x},size={}bytes", function.start, function.size);
        if !letters.is_empty() {
            write!(line, ",attr=\"{letters}\"").expect("to memory");
        }
        if function.key_b {
            line.push_str(",pauth=Bkey");
        }
        lines.push(line);
        let repeats = function.repeat.is_some();
        lines.push(format!("STARTPC{}CFAFPRA", if repeats { "[m]" } else { "" }));
        for (start, frame) in &function.rows {
            let pc = if repeats { 0 } else { function.start } + u64::from(*start);
            lines.push(format!("{pc:016x}{}", row(plan, function, *frame)));
        }
    }
    lines
}

fn printed(plan: &Plan) -> Vec<String> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated.elf");
    std::fs::write(&path, file(plan, &plan.build().expect("can be written").bytes))
        .expect("disk space");
    let output = Command::new(objdump(plan.abi)).arg("--sframe").arg(&path).output();
    let output = output.expect("objdump runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().map(|line| line.split_whitespace().collect::<String>());
    lines.skip_while(|line| !line.starts_with("funcidx")).filter(|line| !line.is_empty()).collect()
}

#[test]
fn objdump_prints_what_was_planned() {
    if !objdump(Abi::Amd64).exists() {
        tools::skipped::note("objdump 2.47.50", "corpus/build fetch 2.47.50");
        return;
    }
    let configuration =
        Configuration { versions: &[Version::V2, Version::V3], ..Configuration::LINKED };
    let mut random = Seeded::new(37);
    let mut rows = 0;
    for _ in 0..400 {
        let length = HEADER_BLOCK + random.below(8) * FUNCTION_BLOCK;
        let plan = Plan::new(&random.bytes(length), &configuration);
        if !plan.fits_file() || !plan.pcrel {
            continue;
        }
        rows += plan.functions.iter().map(|function| function.rows.len()).sum::<usize>();
        assert_eq!(printed(&plan), expected(&plan), "{plan:#x?}");
    }
    assert!(rows > 1_000, "{rows}");
}
