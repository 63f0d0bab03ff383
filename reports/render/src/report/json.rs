//! JSON: one document, or one line for each file. Both contain [`Record`]s.

use std::borrow::Cow;
use std::io::{self, BufWriter, Seek, Write};

use serde::Serialize;
use sframe_record::json::{FORMAT, TOOL, Tool, write};
use sframe_record::ndjson::{Line, SummaryLine};
use sframe_record::{Events, Finding, Pages, Record, Summary};
use tempfile::SpooledTempFile;

use super::Renderer;

/// `--format json`: the scan as one document.
///
/// Within a version of the format, fields, rules, causes and known defects may be added; readers ignore fields that they
/// do not know. Names, units and the meaning of identifiers do not change. The wording of messages and reasons may
/// change: it is for people.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check report"))]
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

/// The schema of `--format json`.
#[must_use]
#[cfg(feature = "schema")]
pub fn document_schema() -> schemars::Schema {
    written().into_root_schema_for::<Document<'static>>()
}

/// The schema of a line of `--format ndjson`.
#[must_use]
#[cfg(feature = "schema")]
pub fn line_schema() -> schemars::Schema {
    written().into_root_schema_for::<Line<'static, 'static>>()
}

/// Schemas of the output. Readers accept records with fewer fields.
#[cfg(feature = "schema")]
fn written() -> schemars::SchemaGenerator {
    schemars::generate::SchemaSettings::default().for_serialize().into_generator()
}

/// The summary, with the addresses of the rules' pages if they are known.
fn with_pages<'s, 'r>(summary: &'s Summary<'r>, pages: Option<&Pages>) -> Cow<'s, Summary<'r>> {
    match pages {
        Some(pages) => Cow::Owned(pages.add_to(summary)),
        None => Cow::Borrowed(summary),
    }
}

/// The number of bytes of a file's findings that are held in memory.
const MOST_HELD: usize = 1 << 20;

/// The text of a file's findings. In a record, counts come first, which are known after the last finding.
#[derive(Debug)]
struct Held {
    /// In memory or, if it is long, in a temporary file.
    text: BufWriter<SpooledTempFile>,
    any: bool,
}

impl Held {
    /// The text of a record without findings. It cannot occur in a string, where quotation marks are escaped.
    const NONE: &'static str = "\"findings\":[]";

    fn new() -> Held {
        Held { text: BufWriter::new(SpooledTempFile::new(MOST_HELD)), any: false }
    }

    fn finding(&mut self, finding: &Finding<'_>) -> io::Result<()> {
        if std::mem::replace(&mut self.any, true) {
            self.text.write_all(b",")?;
        }
        write(&mut self.text, finding)
    }

    /// Writes `record`, which has no findings, with those that are held.
    fn write<T: Serialize>(&mut self, out: &mut dyn Write, record: &T) -> io::Result<()> {
        if !self.any {
            return write(out, record);
        }
        let mut held = std::mem::replace(self, Held::new()).text.into_inner()?;
        let mut text = Vec::new();
        write(&mut text, record)?;
        let text = String::from_utf8(text).map_err(io::Error::other)?;
        let split = text.split_once(Held::NONE);
        let (before, rest) = split.ok_or_else(|| io::Error::other("a record without findings"))?;
        write!(out, "{before}\"findings\":[")?;
        held.rewind()?;
        io::copy(&mut held, out)?;
        write!(out, "]{rest}")
    }
}

/// Writes one document, file by file during the scan.
#[derive(Debug)]
pub struct JsonDocument<W> {
    out: W,
    any: bool,
    held: Held,
    pages: Option<Pages>,
}

impl<W: Write> JsonDocument<W> {
    /// A renderer that writes to `out`; nothing before the first record. The summary has the addresses of the rules' pages, if they are
    /// given.
    pub fn new(out: W, pages: Option<Pages>) -> JsonDocument<W> {
        JsonDocument { out, any: false, held: Held::new(), pages }
    }

    /// Writes the beginning of the document.
    fn start(&mut self) -> io::Result<()> {
        write!(self.out, "{{\"format\":{FORMAT},\"tool\":")?;
        write(&mut self.out, &TOOL)?;
        write!(self.out, ",\"files\":[")
    }
}

impl<W: Write> Events for JsonDocument<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, _: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.held.finding(finding)
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        let separator: &[u8] = if self.any { b",\n" } else { b"\n" };
        if !std::mem::replace(&mut self.any, true) {
            self.start()?;
        }
        self.out.write_all(separator)?;
        self.held.write(&mut self.out, record)
    }
}

impl<W: Write> Renderer for JsonDocument<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        if !self.any {
            self.start()?;
        }
        write!(self.out, "\n],\"summary\":")?;
        write(&mut self.out, with_pages(summary, self.pages.as_ref()).as_ref())?;
        writeln!(self.out, "}}")?;
        self.out.flush()
    }
}

/// Writes one line for each file, and one for the summary.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
    held: Held,
    pages: Option<Pages>,
}

impl<W: Write> JsonLines<W> {
    /// A renderer that writes to `out`. The summary has the addresses of the rules' pages, if they are given.
    pub fn new(out: W, pages: Option<Pages>) -> JsonLines<W> {
        JsonLines { out, held: Held::new(), pages }
    }
}

impl<W: Write> Events for JsonLines<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, _: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.held.finding(finding)
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.held.write(&mut self.out, &Line::File(record))?;
        writeln!(self.out)?;
        // A reader of lines expects each line as soon as it is complete.
        self.out.flush()
    }
}

impl<W: Write> Renderer for JsonLines<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let summary = with_pages(summary, self.pages.as_ref());
        let summary = summary.as_ref();
        let line = Line::Summary(SummaryLine { format: FORMAT, tool: TOOL, summary });
        write(&mut self.out, &line)?;
        writeln!(self.out)?;
        self.out.flush()
    }
}
