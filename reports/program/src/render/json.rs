//! JSON: one document, or one line for each file. Both contain [`Record`]s.

use std::io::{self, Write};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use sframe_record::json::{FORMAT, TOOL, Tool, write};
use sframe_record::{Finding, Record, Summary};

use super::Renderer;

/// `--format json`: the scan as one document.
///
/// Within a version of the format, fields, rules, causes and known defects may be added; readers ignore fields that they
/// do not know. Names, units and the meaning of identifiers do not change. The wording of messages and reasons may
/// change: it is for people.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "sframe-check report")]
pub struct Document<'r> {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// One record for each file and archive member, in input order.
    pub files: Vec<Record<'r>>,
    /// The summary of the scan.
    pub summary: Summary<'r>,
}

/// `--format ndjson`: a line of it. The summary is the last line.
///
/// Within a version of the format, fields, rules, causes and known defects may be added; readers ignore fields that they
/// do not know. Names, units and the meaning of identifiers do not change. The wording of messages and reasons may
/// change: it is for people.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[schemars(title = "sframe-check report line")]
pub enum Line<'l, 'r> {
    /// One file or archive member.
    File(&'l Record<'r>),
    /// The summary of the scan.
    Summary(SummaryLine<'l, 'r>),
}

/// The summary of a scan as a line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryLine<'l, 'r> {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The summary.
    #[serde(flatten)]
    pub summary: &'l Summary<'r>,
}

/// The schema of `--format json`.
#[must_use]
pub fn document_schema() -> schemars::Schema {
    written().into_root_schema_for::<Document<'static>>()
}

/// The schema of a line of `--format ndjson`.
#[must_use]
pub fn line_schema() -> schemars::Schema {
    written().into_root_schema_for::<Line<'static, 'static>>()
}

/// Schemas of the output. Readers accept records with fewer fields.
fn written() -> schemars::SchemaGenerator {
    SchemaSettings::default().for_serialize().into_generator()
}

/// A record that is written in pieces.
#[derive(Debug, Default)]
struct Started {
    /// The text after the findings.
    rest: String,
    /// Whether a finding was written.
    any: bool,
}

impl Started {
    /// The text of a record without findings. It cannot occur in a string, where quotation marks are escaped.
    const NONE: &'static str = "\"findings\":[]";

    /// Writes `record`, which has no findings, up to the place of its findings.
    fn begin<T: Serialize>(out: &mut dyn Write, record: &T) -> io::Result<Started> {
        let text = serde_json::to_string(record)?;
        let split = text.split_once(Started::NONE);
        let (before, rest) = split.ok_or_else(|| io::Error::other("a record without findings"))?;
        write!(out, "{before}\"findings\":[")?;
        Ok(Started { rest: format!("]{rest}"), any: false })
    }

    fn findings(&mut self, out: &mut dyn Write, findings: &[Finding<'_>]) -> io::Result<()> {
        findings.iter().try_for_each(|finding| {
            if std::mem::replace(&mut self.any, true) {
                out.write_all(b",")?;
            }
            write(&mut *out, finding)
        })
    }
}

/// Writes one document, file by file during the scan.
#[derive(Debug)]
pub struct JsonDocument<W> {
    out: W,
    any: bool,
    started: Started,
}

impl<W: Write> JsonDocument<W> {
    /// A renderer that writes to `out`.
    pub const fn new(out: W) -> JsonDocument<W> {
        JsonDocument { out, any: false, started: Started { rest: String::new(), any: false } }
    }
}

impl<W: Write> JsonDocument<W> {
    fn separate(&mut self) -> io::Result<()> {
        let separator: &[u8] = if self.any { b",\n" } else { b"\n" };
        self.any = true;
        self.out.write_all(separator)
    }
}

impl<W: Write> Renderer for JsonDocument<W> {
    fn begin(&mut self) -> io::Result<()> {
        write!(self.out, "{{\"format\":{FORMAT},\"tool\":")?;
        write(&mut self.out, &TOOL)?;
        write!(self.out, ",\"files\":[")
    }

    fn file(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.separate()?;
        write(&mut self.out, record)
    }

    fn start(&mut self, record: Record<'static>) -> io::Result<()> {
        self.separate()?;
        self.started = Started::begin(&mut self.out, &record)?;
        Ok(())
    }

    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()> {
        self.started.findings(&mut self.out, &findings)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(self.started.rest.as_bytes())
    }

    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        write!(self.out, "\n],\"summary\":")?;
        write(&mut self.out, summary)?;
        writeln!(self.out, "}}")?;
        self.out.flush()
    }
}

/// Writes one line for each file, and one for the summary.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
    started: Started,
}

impl<W: Write> JsonLines<W> {
    /// A renderer that writes to `out`.
    pub const fn new(out: W) -> JsonLines<W> {
        JsonLines { out, started: Started { rest: String::new(), any: false } }
    }

    fn line(&mut self, line: &Line<'_, '_>) -> io::Result<()> {
        write(&mut self.out, line)?;
        writeln!(self.out)
    }
}

impl<W: Write> Renderer for JsonLines<W> {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.line(&Line::File(record))?;
        // A reader of lines expects each line as soon as it is complete.
        self.out.flush()
    }

    fn start(&mut self, record: Record<'static>) -> io::Result<()> {
        self.started = Started::begin(&mut self.out, &Line::File(&record))?;
        Ok(())
    }

    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()> {
        self.started.findings(&mut self.out, &findings)
    }

    fn finish(&mut self) -> io::Result<()> {
        writeln!(self.out, "{}", self.started.rest)?;
        self.out.flush()
    }

    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        self.line(&Line::Summary(SummaryLine { format: FORMAT, tool: TOOL, summary }))?;
        self.out.flush()
    }
}
