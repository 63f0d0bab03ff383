//! Writes the report as JSON. The schema is generated from the types.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use sframe_validator::Abi;

use super::case::{self, Duty, Kind};
use super::report::{Outcome, ReaderReport, Report};
use super::verdict::{Judgement, Verdict};
use crate::limited::End;
use crate::limited::limits::{FILES_MIB, OUTPUT_MIB, WRITTEN_MIB};
use sframe_record::json::{FORMAT, TOOL, Tool, exact_name, name};
use sframe_record::text::printable;

/// The document that `torture --format json` writes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check torture"))]
pub struct Document {
    /// The version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The limits of a reader for each case.
    pub limits: Limits,
    /// Whether the run was interrupted, so that some cases of some or all readers have not run.
    pub interrupted: bool,
    /// The folder that contains the files, if they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The folder's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder_hex: Option<String>,
    /// The readers, in the order in which they were named.
    pub readers: Vec<Reader>,
}

/// The limits of a reader.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// Processor time in seconds; the limit of elapsed time is three times as long.
    pub seconds: u64,
    /// Address space in MiB; 0 means no limit.
    pub memory_mib: u64,
    /// Output in MiB.
    pub output_mib: u64,
    /// Files in the reader's folder, in MiB on disk.
    pub files_mib: u64,
    /// Everything written in addition, anywhere, in MiB.
    pub written_mib: u64,
}

/// A reader.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reader {
    /// The name or command that the user gave.
    pub name: String,
    /// The program and its arguments; `{}` stands for the file.
    pub command: Vec<String>,
    /// The first line that it prints for `--version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why it could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The versions and machines whose sound sections it reads.
    pub reads: Vec<Format>,
    /// The number of cases for each outcome.
    pub counts: Vec<Count>,
    /// What it did with each case that has run; always in the same order.
    pub cases: Vec<Case>,
}

/// A kind of section.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Format {
    /// 1, 2 or 3.
    pub version: u8,
    /// The machine.
    pub abi: Abi,
    /// Whether the starts of functions are relative to the field that contains them; always true in version 3.
    pub pc_relative: bool,
}

/// The number of cases with an outcome.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Count {
    /// What the reader did.
    pub verdict: Verdict,
    /// Whether that conforms.
    pub judgement: Judgement,
    /// The number of cases.
    pub cases: u64,
}

/// What a reader did with a case.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// The path of the file, relative to the folder.
    pub file: String,
    /// The origin of the case.
    pub kind: Kind,
    /// The rule that it breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// For a bomb: why it cannot be read, or what it promises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The expected behaviour.
    pub duty: Duty,
    /// The format of the section, if its header states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<Format>,
    /// What the reader did.
    pub verdict: Verdict,
    /// Whether that conforms.
    pub judgement: Judgement,
    /// The exit status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The first line on standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Bytes that it printed.
    pub printed_bytes: u64,
    /// The measured processor time in milliseconds; absent if the reader was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_ms: Option<u64>,
    /// The measured peak resident memory in KiB; absent if the reader was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_kib: Option<u64>,
}

/// Writes the document.
///
/// # Errors
/// Returns an error if `out` cannot be written to.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    sframe_record::json::write(&mut *out, &document(report))?;
    writeln!(out)?;
    out.flush()
}

/// The JSON schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}

fn document(report: &Report) -> Document {
    let folder = report.kept.as_ref().map(|folder| folder.as_os_str().as_bytes());
    Document {
        format: FORMAT,
        tool: TOOL,
        limits: Limits {
            seconds: report.limits.seconds,
            memory_mib: report.limits.memory_mib,
            output_mib: OUTPUT_MIB,
            files_mib: FILES_MIB,
            written_mib: WRITTEN_MIB,
        },
        interrupted: report.interrupted,
        folder: folder.map(name),
        folder_hex: folder.and_then(exact_name),
        readers: report.readers.iter().map(reader).collect(),
    }
}

fn reader(report: &ReaderReport) -> Reader {
    Reader {
        name: report.reader.name.clone(),
        command: report.reader.command.clone(),
        version: report.version.as_deref().map(printable),
        error: report.outcomes.as_ref().err().map(ToString::to_string),
        reads: report.formats().map(format).collect(),
        counts: counts(report),
        cases: report.outcomes().iter().map(case_of).collect(),
    }
}

fn counts(report: &ReaderReport) -> Vec<Count> {
    let judgements = [Judgement::Conforming, Judgement::OutOfScope, Judgement::NotConforming];
    let all = Verdict::ALL.into_iter().flat_map(|verdict| judgements.map(|j| (verdict, j)));
    let counts = all.map(|(verdict, of)| Count {
        verdict,
        judgement: of,
        cases: report.count(|case| (case.verdict, case.judgement) == (verdict, of)),
    });
    counts.filter(|count| count.cases > 0).collect()
}

fn case_of(outcome: &Outcome) -> Case {
    Case {
        file: outcome.case.clone(),
        kind: outcome.kind,
        rule: outcome.rule.map(|rule| rule.name),
        reason: outcome.reason,
        duty: outcome.duty,
        section: outcome.format.map(format),
        verdict: outcome.verdict,
        judgement: outcome.judgement,
        exit_status: match outcome.end {
            End::Status(status) => Some(status),
            End::Signal(_) | End::TimedOut | End::Printed | End::Wrote => None,
        },
        signal: match outcome.end {
            End::Signal(signal) => Some(signal),
            End::Status(_) | End::TimedOut | End::Printed | End::Wrote => None,
        },
        message: Some(printable(&outcome.message)).filter(|message| !message.is_empty()),
        printed_bytes: outcome.printed,
        processor_ms: outcome.cost.map(|cost| cost.processor_ms),
        peak_kib: outcome.cost.map(|cost| cost.peak_kib),
    }
}

fn format(format: case::Format) -> Format {
    Format { version: format.version.number(), abi: format.abi, pc_relative: format.pc_relative }
}
