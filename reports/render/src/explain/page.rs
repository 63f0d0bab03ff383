//! What a page says, before it is printed: for people as text, for programs as JSON.

use std::io::{self, Write};

use serde::Serialize;
use sframe_record::json::{FORMAT, TOOL, Tool};
use sframe_record::{Group, Owner, Severity, Weight};

use super::BOLD;
use crate::report::wrap;

/// What a page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A rule.
    Rule,
    /// A known defect of a producer.
    KnownDefect,
    /// A cause of lost coverage.
    Cause,
    /// Another word by which reports name a cause.
    Word,
    /// A message of a linker.
    Message,
    /// A program that reads SFrame.
    Consumer,
}

/// A page.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page {
    /// The name, as in reports and on the command line.
    pub name: &'static str,
    /// What the page is about.
    pub kind: Kind,
    /// Of a rule: how serious it is to break it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Of a rule: its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// Of a known defect: who can mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Of a known defect: how much of a section it spoils.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Weight>,
    /// More about it, as in the first line of the page: the programs and versions with the defect, the linkers that
    /// print the message.
    pub about: String,
    /// What the rule requires, what the defect is, what the message says.
    pub summary: String,
    /// The parts of the page, in the order of the page.
    pub parts: Vec<Part>,
}

/// A part of a page.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The name of the part, for programs: `effect`, `remedy`, `source` ...
    pub name: &'static str,
    /// Its title, for people.
    pub title: &'static str,
    /// Its text, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its items, if it is a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<String>>,
}

impl Page {
    /// A page without what only some kinds have.
    pub(super) fn new(kind: Kind, name: &'static str, about: String, summary: String) -> Page {
        let (severity, group, owner, consequence, parts) = (None, None, None, None, Vec::new());
        Page { name, kind, severity, group, owner, consequence, about, summary, parts }
    }

    /// Adds a text, unless it is empty.
    pub(super) fn text(mut self, name: &'static str, title: &'static str, text: String) -> Page {
        if !text.is_empty() {
            self.parts.push(Part { name, title, text: Some(text), items: None });
        }
        self
    }

    /// Adds a list, unless it is empty.
    pub(super) fn list(
        mut self,
        name: &'static str,
        title: &'static str,
        items: impl Iterator<Item = String>,
    ) -> Page {
        let items: Vec<String> = items.collect();
        if !items.is_empty() {
            self.parts.push(Part { name, title, text: None, items: Some(items) });
        }
        self
    }

    /// The name, as people read it.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match (self.kind, self.name) {
            // What records call `none`, reports for people call unexplained.
            (Kind::Cause, "none") => "none, or unexplained",
            (_, name) => name,
        }
    }

    /// What people have to know to see such findings at all.
    #[must_use]
    pub fn note(&self) -> Option<&'static str> {
        let note = "Lints are checked with --pedantic, unless the page names another option.";
        (self.severity == Some(Severity::Lint)).then_some(note)
    }

    /// Prints it.
    pub(super) fn print(&self, out: &mut dyn Write, width: Option<usize>) -> io::Result<()> {
        writeln!(out, "{BOLD}{}{BOLD:#} ({})\n", self.title(), self.about)?;
        writeln!(out, "  {}", wrap(&self.summary, 2, width))?;
        for part in &self.parts {
            writeln!(out, "\n{BOLD}{}{BOLD:#}", part.title)?;
            if let Some(text) = &part.text {
                writeln!(out, "  {}", wrap(text, 2, width))?;
            }
            for item in part.items.iter().flatten() {
                writeln!(out, "  - {}", wrap(item, 4, width))?;
            }
        }
        if let Some(note) = self.note() {
            writeln!(out, "\n  {}", wrap(note, 2, width))?;
        }
        Ok(())
    }
}

/// The document that `explain --format json` writes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check explain"))]
struct Document {
    /// The version of this format: 1.
    format: u32,
    /// The program that wrote it.
    tool: Tool,
    /// The pages, in the order of the names that were asked for.
    pages: Vec<Page>,
}

/// Writes pages as one JSON document.
pub(super) fn json(out: &mut dyn Write, pages: Vec<Page>) -> io::Result<()> {
    sframe_record::json::write(&mut *out, &Document { format: FORMAT, tool: TOOL, pages })?;
    writeln!(out)
}

/// The JSON schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}
