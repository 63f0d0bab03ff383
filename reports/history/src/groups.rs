//! Findings by root cause: what one mistake of one producer has done everywhere.
//!
//! Findings are of one cause that break one rule, in files of the same producer, in the same
//! shape: of differences the kinds of values on both sides with their base registers and the
//! distance between them, and the instructions there without registers and numbers; of others the
//! field and the kind of its value.
//!
//! ```
//! use sframe_history::{Groups, Record};
//!
//! let line = r#"{"path":"a.o","status":"checked",
//!     "counts":[{"rule":"bad-info","severity":"error","count":7}],
//!     "findings":[{"rule":"bad-info","severity":"error",
//!         "field":{"name":"sfde_func_info","value":"0x10"}}]}"#;
//! let mut groups = Groups::default();
//! groups.add(&Record::parse(line)?);
//! let causes = groups.finish();
//! // One finding is listed, and six more were counted: what they are is not known.
//! assert_eq!(causes.causes[0].findings, 6);
//! assert_eq!(causes.causes[1].findings, 1);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod cause;
mod instructions;
mod text;

pub use text::write as write_text;

use std::collections::HashMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::Record;
use crate::changes::FileName;
use cause::{Findings, Key, of_record};
use sframe_record::Severity;

/// The version of the JSON format. Fields may be added within a version; a reader skips what it
/// does not know.
pub const FORMAT: u32 = 1;

/// The most causes that are told apart. Hostile files can have a cause of its own for each finding.
const MOST: usize = 100_000;

/// The findings of a scan by root cause, as they come in. Memory grows with the number of causes, up
/// to a limit, and of packages, not with that of findings.
#[derive(Debug, Default)]
pub struct Groups {
    causes: HashMap<Key, Findings>,
    findings: u64,
    files: u64,
}

impl Groups {
    /// Takes the findings of a file.
    pub fn add(&mut self, record: &Record<'_>) {
        let causes = of_record(record);
        self.files += u64::from(!causes.is_empty());
        for (key, findings) in causes {
            self.findings = self.findings.saturating_add(findings.findings);
            let is_known = self.causes.len() < MOST || self.causes.contains_key(&key);
            let key = if is_known { key } else { key.without_shape() };
            self.causes.entry(key).or_default().add(findings);
        }
    }

    /// The causes. The order in which records came makes no difference.
    #[must_use]
    pub fn finish(self) -> RootCauses {
        let mut causes: Vec<(Key, Findings)> = self.causes.into_iter().collect();
        causes.sort_unstable_by(|(a, of_a), (b, of_b)| {
            let by_number = of_b.findings.cmp(&of_a.findings);
            a.severity.cmp(&b.severity).then(by_number).then_with(|| a.cmp(b))
        });
        let causes = causes.into_iter().map(|(key, findings)| findings.told(key)).collect();
        RootCauses { format: FORMAT, findings: self.findings, files: self.files, causes }
    }
}

/// Findings by root cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "sframe-check root causes")]
pub struct RootCauses {
    /// Version of this format: 1.
    pub format: u32,
    /// How many findings there are.
    pub findings: u64,
    /// In how many files.
    pub files: u64,
    /// The causes: errors first, then by how many findings they explain.
    pub causes: Vec<RootCause>,
}

/// Findings that look like one mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RootCause {
    /// The rule's name.
    pub rule: String,
    /// How bad it is to break it.
    pub severity: Severity,
    /// The programs that made the files: assemblers, or where none are known, compilers, or any.
    pub producers: Vec<String>,
    /// What the findings have in common; empty where nothing is known, as of those that are only
    /// counted.
    pub shape: String,
    /// The first two instructions where the sides differ, without registers and numbers; `*` for
    /// those that neither move the stack or frame pointer nor leave the function.
    pub instructions: Vec<String>,
    /// The findings are counted in their files, and not listed: nothing else is known of them.
    pub unlisted: bool,
    /// How many findings.
    pub findings: u64,
    /// In how many functions, where findings are about functions.
    pub functions: u64,
    /// In how many files.
    pub files: u64,
    /// In how many packages.
    pub packages: u64,
    /// The first few by file name and place.
    pub examples: Vec<Example>,
}

/// A finding of a cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Example {
    /// The file.
    pub file: FileName,
    /// The symbol of its function or code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// The first PC, `0x...`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The fact, then the rule.
    pub message: String,
}

/// Writes the causes as one document.
///
/// # Errors
/// Those of writing.
pub fn write_json(out: &mut dyn Write, causes: &RootCauses) -> io::Result<()> {
    serde_json::to_writer(&mut *out, causes)?;
    writeln!(out)?;
    out.flush()
}

/// The schema of the document.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(RootCauses)
}
