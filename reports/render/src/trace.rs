//! The report about a traced program: which rows recover the caller when the code runs.

mod known;
mod text;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use sframe_input::Pattern;
use sframe_policy::Known;
use sframe_process::Witness;
use sframe_process::trace::{End, Example, Fields, ModuleTrace, Trace, WitnessTrace};
use sframe_validator::Abi;

pub use known::defect as known_defect;
use sframe_record::json::{FORMAT, TOOL, Tool, exact_name, name};
use sframe_record::{Address, Instruction, Text};
use sframe_scan::disassembly::disassemble;
pub use text::write as write_text;

/// The report about a traced program; `trace --format json` writes it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check trace"))]
pub struct TraceReport {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The traced program and its arguments.
    pub command: Vec<Text<'static>>,
    /// The number of instructions that were executed one by one, by all threads.
    pub steps: u64,
    /// The time that this has taken.
    pub milliseconds: u64,
    /// The number of processes.
    pub processes: u64,
    /// The number of threads of all processes.
    pub threads: u64,
    /// How the trace has ended.
    pub end: TraceEnd,
    /// The program's exit status, if the program has ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// The number of the signal that has ended the program, if one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The number of steps in code that is in no file, or that the program can change. It is not checked.
    pub steps_elsewhere: u64,
    /// The number of threads and processes that were made with `CLONE_UNTRACED`. Their code is not checked.
    pub untraced: u64,
    /// The files whose code was executed.
    pub files: Vec<TracedFile>,
}

/// How a trace has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TraceEnd {
    /// The program has ended with an exit status.
    Exited,
    /// A signal has ended the program.
    Killed,
    /// `--max-steps` was reached.
    MaxSteps,
    /// `--time-limit` was reached.
    TimeLimit,
    /// Ctrl-C.
    Interrupted,
}

/// The results about the code of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedFile {
    /// The path, or `[vdso]`.
    pub path: String,
    /// The path's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The number of different PCs that were executed.
    pub pcs: u64,
    /// The results for each witness whose section the file has, and for the machine code.
    pub witnesses: Vec<TracedWitness>,
}

/// The results about a witness in a file, as numbers of PCs. Their sum is the number of PCs that were executed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedWitness {
    /// The witness.
    #[serde(with = "WitnessName")]
    #[cfg_attr(feature = "schema", schemars(with = "WitnessName"))]
    pub witness: Witness,
    /// The row recovers the caller.
    pub right: u64,
    /// The row does not recover the caller.
    pub wrong: u64,
    /// The number of wrong rows that are cases of known defects of assemblers and linkers.
    pub known: u64,
    /// There is no row; the machine code does not determine the frame.
    pub no_row: u64,
    /// The row, or the truth, is unknown.
    pub undecided: u64,
    /// The wrong rows by function.
    pub functions: Vec<TracedFunction>,
    /// The reasons why rows were not judged.
    pub reasons: Vec<TracedReason>,
}

/// The names of witnesses in this format.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Witness")]
enum WitnessName {
    /// The SFrame section.
    #[serde(rename = "SFrame")]
    Sframe,
    /// Call frame information.
    #[serde(rename = "CFI")]
    Cfi,
    /// The machine code.
    Code,
}

/// The wrong rows of a function.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedFunction {
    /// The symbol, or the function's address.
    pub function: Text<'static>,
    /// What is wrong: `CFA`, `RA`, `FP`, or `outermost` if the row says that there is no caller.
    pub fields: Fields,
    /// The known defect that all of these rows are cases of: an identifier that `explain` knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<&'static str>,
    /// The number of PCs.
    pub pcs: u64,
    /// The first of them.
    pub example: TracedPc,
}

/// PCs that were not judged for the same reason.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedReason {
    /// The reason.
    pub reason: Text<'static>,
    /// The number of PCs.
    pub pcs: u64,
    /// The first of them.
    pub example: TracedPc,
}

/// A PC in a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedPc {
    /// The address in the file.
    pub pc: Address,
    /// The symbol at or before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Text<'static>>,
    /// The offset in bytes from the symbol, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
    /// The instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<Instruction<'static>>,
    /// The row and the truth, if the row is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Text<'static>>,
}

impl TraceReport {
    /// The report about a program. With `only`, it is about files whose paths match.
    #[must_use]
    pub fn new(command: &[OsString], trace: &Trace, only: Option<&Pattern>) -> TraceReport {
        let (end, status, signal) = match trace.end {
            End::Exited(status) => (TraceEnd::Exited, Some(status), None),
            End::Killed(signal) => (TraceEnd::Killed, None, Some(signal)),
            End::Steps => (TraceEnd::MaxSteps, None, None),
            End::Time => (TraceEnd::TimeLimit, None, None),
            End::Interrupted => (TraceEnd::Interrupted, None, None),
        };
        let path = |module: &ModuleTrace| sframe_record::text::path_of(&module.name).to_owned();
        let is_wanted =
            |module: &&ModuleTrace| only.is_none_or(|pattern| pattern.is_match(path(module)));
        TraceReport {
            format: FORMAT,
            tool: TOOL,
            command: command.iter().map(|word| Text::from(name(word.as_bytes()))).collect(),
            steps: trace.steps,
            milliseconds: u64::try_from(trace.elapsed.as_millis()).unwrap_or(u64::MAX),
            processes: trace.processes,
            threads: trace.threads,
            end,
            status,
            signal,
            steps_elsewhere: if only.is_some() { 0 } else { trace.steps_elsewhere },
            untraced: trace.untraced,
            files: trace.modules.iter().filter(is_wanted).map(TracedFile::new).collect(),
        }
    }

    /// Whether a row does not recover the caller. Known defects count only if `known` says so.
    #[must_use]
    pub fn is_wrong(&self, known: Known) -> bool {
        let spared = |witness: &TracedWitness| if known == Known::Deny { 0 } else { witness.known };
        self.witnesses().any(|witness| witness.wrong > spared(witness))
    }

    /// Whether something could not be judged, or nothing was.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let judged = |witness: &TracedWitness| witness.right + witness.wrong;
        self.steps_elsewhere > 0
            || self.untraced > 0
            || self.witnesses().any(|witness| witness.undecided > 0)
            || self.witnesses().map(judged).sum::<u64>() == 0
    }

    fn witnesses(&self) -> impl Iterator<Item = &TracedWitness> {
        self.files.iter().flat_map(|file| &file.witnesses)
    }
}

impl TracedFile {
    fn new(module: &ModuleTrace) -> TracedFile {
        let present = module.witnesses.iter().filter(|witness| witness.has_section);
        TracedFile {
            path: name(&module.name),
            path_hex: exact_name(&module.name),
            pcs: module.pcs,
            witnesses: present.map(TracedWitness::new).collect(),
        }
    }
}

impl TracedWitness {
    fn new(witness: &WitnessTrace) -> TracedWitness {
        let functions = witness.functions.iter().map(|function| TracedFunction {
            function: function.function.clone().into(),
            fields: function.fields,
            known: function.known,
            pcs: function.pcs,
            example: TracedPc::new(&function.example),
        });
        let reasons = witness.reasons.iter().map(|(reason, found)| TracedReason {
            reason: reason.clone().into(),
            pcs: found.pcs,
            example: TracedPc::new(&found.example),
        });
        TracedWitness {
            witness: witness.witness,
            right: witness.right,
            wrong: witness.wrong,
            known: witness.known,
            no_row: witness.no_row,
            undecided: witness.undecided,
            functions: functions.collect(),
            reasons: reasons.collect(),
        }
    }
}

impl TracedPc {
    fn new(example: &Example) -> TracedPc {
        let address = example.address;
        let instruction = disassemble(Abi::Amd64, &example.code, address, address, 1);
        let (symbol, symbol_offset) = example.symbol.clone().unzip();
        TracedPc {
            pc: Address(address),
            symbol: symbol.map(Text::from),
            symbol_offset,
            instruction: instruction.into_iter().next().map(Instruction::from),
            explanation: Some(&example.explanation)
                .filter(|text| !text.is_empty())
                .map(|text| text.clone().into()),
        }
    }
}

/// Writes the report as one JSON document.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write_json(out: &mut dyn Write, report: &TraceReport) -> io::Result<()> {
    sframe_record::json::write(&mut *out, report)?;
    writeln!(out)?;
    out.flush()
}

/// The schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(TraceReport)
}
