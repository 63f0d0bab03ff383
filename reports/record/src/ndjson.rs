//! A line of `--format ndjson`, which a store keeps as it is.

use serde::Serialize;

use crate::json::Tool;
use crate::record::Record;
use crate::summary::Summary;

/// `--format ndjson`: a line of it. The summary is the last line.
///
/// Within a version of the format, fields, rules, causes and known defects may be added; readers ignore fields that they
/// do not know. Names, units and the meaning of identifiers do not change. The wording of messages and reasons may
/// change: it is for people.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check report line"))]
pub enum Line<'l, 'r> {
    /// One file or archive member.
    File(&'l Record<'r>),
    /// The summary of the scan.
    Summary(SummaryLine<'l, 'r>),
}

/// The summary of a scan as a line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SummaryLine<'l, 'r> {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The summary.
    #[serde(flatten)]
    pub summary: &'l Summary<'r>,
}
