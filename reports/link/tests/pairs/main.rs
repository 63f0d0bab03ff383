//! Predictions compared with real links: every pair of kinds of inputs, every linker, as a shared object, as a program, as
//! a relocatable object, and with unused sections removed.
//!
//! The truth is the linker's exit status and messages, and what GNU readelf and nm say about the output.
//! `SFRAME_BLESS=1` writes the results of the links to `docs/LINK.md`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod archives;
mod collected;
mod discarded;
mod objects;
mod random;
mod real;
mod special;
mod table;

use std::path::PathBuf;

use objects::{Machine, Pair};
use real::{Mode, Readers, Real};
use sframe_corpus::{folder, repository, tools};
use sframe_link::{Audit, Linker, messages};
use table::Results;

/// A linker of the toolchains.
pub(crate) struct Tool {
    pub(crate) linker: Linker,
    pub(crate) toolchain: &'static str,
    program: &'static str,
    program_aarch64: Option<&'static str>,
}

const fn tool(
    linker: Linker,
    toolchain: &'static str,
    program: &'static str,
    program_aarch64: Option<&'static str>,
) -> Tool {
    Tool { linker, toolchain, program, program_aarch64 }
}

pub(crate) const TOOLS: [Tool; 6] = [
    tool(Linker::Ld240, "2.40", "ld.bfd", Some("aarch64-linux-gnu-ld")),
    tool(Linker::Ld244, "2.44", "ld.bfd", Some("aarch64-linux-gnu-ld")),
    tool(Linker::Ld247, "2.47.50", "ld.bfd", Some("aarch64-linux-gnu-ld")),
    tool(Linker::Gold, "2.40", "ld.gold", Some("aarch64-linux-gnu-ld.gold")),
    tool(Linker::Lld, "llvm-23", "ld.lld", Some("ld.lld")),
    tool(Linker::Mold, "mold", "mold", Some("mold")),
];

/// wild is built from its crate, which takes minutes, so that it is optional.
static WILD: Tool = tool(Linker::Wild, "wild", "wild", Some("wild"));

/// The program that `reports/link/tools/wild` builds, or the one that SFRAME_WILD names.
fn wild() -> Option<PathBuf> {
    let built = || repository().join("target/linkers/wild-0.10.0/bin/wild");
    let path = std::env::var_os("SFRAME_WILD").map_or_else(built, PathBuf::from);
    if !path.exists() {
        tools::skipped::note("wild 0.10.0", "reports/link/tools/wild");
        return None;
    }
    Some(path)
}

impl Tool {
    pub(crate) fn path(&self, machine: Machine) -> Option<PathBuf> {
        if self.linker == Linker::Wild {
            return wild();
        }
        let program = match machine {
            Machine::Amd64 => Some(self.program),
            Machine::Aarch64 => self.program_aarch64,
        };
        let path = tools::toolchain(self.toolchain)?.join(program?);
        assert!(path.exists(), "{}", path.display());
        Some(path)
    }
}

/// The result of a pair's link.
pub(crate) struct Row {
    pub(crate) pair: Pair,
    pub(crate) real: Real,
}

/// Compares a prediction with the link, and returns what differs.
pub(crate) fn compare(real: &Real, audit: &Audit, described: &[String]) -> Vec<String> {
    let prediction = &audit.prediction;
    let mut faults = Vec::new();
    let mut same = |what: &str, predicted: String, real: String| {
        if predicted != real {
            faults.push(format!("{what}: predicted {predicted}, and it is {real}"));
        }
    };
    same("status", format!("{:?}", prediction.status), format!("{:?}", Some(real.status)));
    let (missing, others) = real.unpredicted(&prediction.messages);
    same("messages", String::new(), missing.join("; "));
    // mold ends at the first message, and which one that is depends on its threads.
    let ends = audit.linker.linker == Linker::Mold && !real.messages.is_empty();
    if !ends {
        same("messages that are not printed", String::new(), others.join("; "));
    }
    if real.messages.iter().any(|line| line.contains("frame"))
        && messages::find(&real.text).is_empty()
    {
        same("explanation", "none".to_owned(), real.text.clone());
    }
    let kinds = |sections: Vec<(String, Option<u64>)>| format!("{sections:?}");
    let predicted: Vec<(String, Option<u64>)> =
        prediction.sections.iter().map(|s| (s.section_type.name(), s.size)).collect();
    let found = real.sections.iter().enumerate().map(|(number, (kind, size))| {
        let is_predicted = predicted.get(number).is_some_and(|(_, size)| size.is_some());
        (kind.clone(), is_predicted.then_some(*size))
    });
    same("sections", kinds(predicted.clone()), kinds(found.collect()));
    same("segment", prediction.segment.to_string(), real.segment.to_string());
    same("stubs", prediction.stubs_described.to_string(), (real.stubs > 0).to_string());
    same("functions", format!("{described:?}"), format!("{:?}", real.functions));
    faults
}

/// Compares all pairs for a machine. Returns `None` if a tool is missing.
fn check(tool: &Tool, machine: Machine, modes: &[Mode]) -> Option<Results> {
    let linker = tool.path(machine)?;
    let name = format!("pairs-{}-{}", tool.linker, machine.name());
    let folder = folder!(&name);
    objects::make(&folder, machine)?;
    let readers = Readers::find()?;
    let (mut faults, mut links, mut results) = (Vec::new(), 0, Results::new());
    for &mode in modes {
        let mut rows = Vec::new();
        for pair in objects::pairs(machine) {
            let mut arguments = mode.arguments(&pair);
            if tool.linker == Linker::Wild && machine == Machine::Aarch64 {
                // The others see it from their inputs.
                arguments.extend(["-m", "aarch64linux"].map(str::to_owned));
            }
            let real = real::link(&linker, &folder, &readers, &arguments);
            let audit = in_folder(&folder, tool.linker, &arguments);
            let described = pair.functions(|number| audit.prediction.fates[number].is_described());
            let differences = compare(&real, &audit, &described);
            let row = Row { pair, real };
            links += 1;
            faults.extend(
                differences.into_iter().map(|difference| {
                    format!("{} {mode:?}: {}: {difference}", tool.linker, row.pair)
                }),
            );
            rows.push(row);
        }
        results.push((machine, mode, table::cells(&rows)));
    }
    println!("{}: {links} links of {}", tool.linker, machine.name());
    assert!(links >= 72, "{links} links");
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
    Some(results)
}

/// Audits with paths that are relative to a folder, as the linker sees them: messages contain them.
pub(crate) fn in_folder(folder: &std::path::Path, linker: Linker, arguments: &[String]) -> Audit {
    let absolute =
        |argument: &String| match [".o", ".so", ".a"].iter().any(|end| argument.ends_with(end)) {
            true => folder.join(argument).into_os_string(),
            false => argument.into(),
        };
    let arguments: Vec<_> = arguments.iter().map(absolute).collect();
    Audit::of_inputs(linker, &arguments)
}

macro_rules! linkers {
    ($($name:ident: $tool:expr,)*) => {
        $(#[test]
        fn $name() {
            let tool = &$tool;
            let Some(mut results) = check(tool, Machine::Amd64, &Mode::ALL) else { return };
            if tool.program_aarch64.is_some() {
                let more = check(tool, Machine::Aarch64, &[Mode::Shared, Mode::Program]);
                let Some(more) = more else { return };
                results.extend(more);
            }
            table::publish(tool, &results);
        })*
    };
}

linkers! {
    gnu_ld_2_40: TOOLS[0],
    gnu_ld_2_44: TOOLS[1],
    gnu_ld_2_47: TOOLS[2],
    gold: TOOLS[3],
    lld: TOOLS[4],
    mold: TOOLS[5],
    wild_0_10: WILD,
}
