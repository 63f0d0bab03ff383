//! Groups findings by root cause, so that one mistake of one producer is reported once.
//!
//! Findings have the same cause if they break the same rule, in files of the same producer, with the same shape. The
//! shape of a difference consists of the kinds of values on both sides with their base registers and the distance
//! between them, and of the instructions there without registers and numbers. The shape of other findings is the field
//! and the kind of its value.
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
//! // One finding is listed, and six more are only counted: nothing else is known about them.
//! assert_eq!(causes.causes[0].findings, 6);
//! assert_eq!(causes.causes[1].findings, 1);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod cause;
mod instructions;
mod text;

pub use text::{Options, write as write_text};

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::Record;
use crate::changes::FileName;
use cause::{FileCauses, Findings, Key};
use sframe_record::{Finding, Owner, Severity, Wrong, with_ruling};

/// The version of the JSON format. New fields may be added within a version; readers ignore fields that they do not
/// know.
pub const FORMAT: u32 = 1;

/// The maximum number of distinct causes. In malicious files, each finding may have a different cause, and each file a
/// different rule. Further causes count for their rule, and beyond that for one of all other rules.
const MOST: usize = 20_000;

/// Collects the findings of a scan by root cause. Memory grows with the number of packages and, up to a limit, of
/// causes, but not with the number of findings.
#[derive(Debug, Default)]
pub struct Groups {
    causes: HashMap<Key, Findings>,
    findings: u64,
    files: u64,
    /// The file whose findings are being added.
    file: Option<FileCauses>,
}

impl Groups {
    /// Adds a file with its findings.
    pub fn add(&mut self, record: &Record<'_>) {
        record.findings.iter().for_each(|finding| self.finding(record, finding));
        self.end(record);
    }

    /// Adds a finding of the file that [`end`](Groups::end) ends. `head` is its record without its findings and its counts.
    pub fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) {
        self.file.get_or_insert_with(|| FileCauses::of(head)).add(head, finding);
    }

    /// Ends a file. The findings in its record were added before.
    pub fn end(&mut self, record: &Record<'_>) {
        let file = self.file.take();
        if file.is_none() && record.counts.is_empty() {
            return;
        }
        let causes = file.unwrap_or_else(|| FileCauses::of(record)).finish(record);
        self.files += u64::from(!causes.is_empty());
        for (key, findings) in causes {
            self.findings = self.findings.saturating_add(findings.findings);
            self.causes.entry(self.within_limit(key)).or_default().add(findings);
        }
    }

    /// The cause that counts if there are too many: that of all findings of the rule, or of all other rules.
    fn within_limit(&self, key: Key) -> Key {
        let fits = |key: &Key, most| self.causes.len() < most || self.causes.contains_key(key);
        if fits(&key, MOST) {
            return key;
        }
        let key = key.without_shape();
        if fits(&key, 2 * MOST) { key } else { key.without_rule() }
    }

    /// The causes. The order in which records were added makes no difference.
    #[must_use]
    pub fn finish(self) -> RootCauses {
        let mut causes: Vec<(Key, Findings)> = self.causes.into_iter().collect();
        causes.sort_unstable_by(|(a, of_a), (b, of_b)| {
            let by_number = of_b.findings.cmp(&of_a.findings);
            a.severity.cmp(&b.severity).then(by_number).then_with(|| a.cmp(b))
        });
        let causes = causes.into_iter().map(|(key, findings)| findings.into_cause(key)).collect();
        RootCauses { format: FORMAT, findings: self.findings, files: self.files, causes }
    }
}

/// The findings of a scan by root cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check root causes"))]
pub struct RootCauses {
    /// Version of this format: 1.
    pub format: u32,
    /// The total number of findings.
    pub findings: u64,
    /// The number of files with findings.
    pub files: u64,
    /// The causes: errors first, then by the number of findings that they explain.
    pub causes: Vec<RootCause>,
}

/// Findings with a common cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RootCause {
    /// The rule's name.
    pub rule: String,
    /// How serious a violation is.
    pub severity: Severity,
    /// The programs that produced the files: assemblers, or compilers if no assembler is known, or any others.
    pub producers: Vec<String>,
    /// The common shape of the findings; empty if unknown, as for findings that are only counted.
    pub shape: String,
    /// The first two instructions where the sides differ, without registers and numbers. `*` stands for instructions
    /// that neither move the stack or frame pointer nor leave the function.
    pub instructions: Vec<String>,
    /// The known defect of a producer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Which of the tables is wrong. Absent if the findings are no differences of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<Wrong>,
    /// Who has to act.
    pub owner: Owner,
    /// The compiler that has to act, with its version: `GCC 12.2.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// Whether the findings are only counted in their files and not listed: nothing else is known about them.
    pub unlisted: bool,
    /// The number of findings.
    pub findings: u64,
    /// The number of functions, if the findings are about functions.
    pub functions: u64,
    /// The number of files.
    pub files: u64,
    /// The number of packages.
    pub packages: u64,
    /// The first few findings by file name and place.
    pub examples: Vec<Example>,
}

/// A finding with a cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Example {
    /// The file.
    #[serde(serialize_with = "shared")]
    pub file: Arc<FileName>,
    /// The symbol of its function or code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The symbol's name in hexadecimal, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// The first PC as `0x...`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The observed fact, then the rule.
    pub message: String,
    /// Who is wrong, and the instruction that proves it, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<String>,
}

/// Serializes a value that several examples share.
fn shared<S: Serializer>(file: &Arc<FileName>, to: S) -> Result<S::Ok, S::Error> {
    file.as_ref().serialize(to)
}

impl RootCause {
    /// Who has to act, a compiler with its name and version. `None` if it is unknown.
    #[must_use]
    pub fn owner_in_words(&self) -> Option<String> {
        match (self.owner, &self.compiler) {
            (Owner::Unknown, _) => None,
            (Owner::Compiler, Some(compiler)) => Some(format!("compiler ({compiler})")),
            (owner, _) => Some(owner.name().to_owned()),
        }
    }
}

impl Example {
    /// The message, and who is wrong.
    #[must_use]
    pub fn text(&self) -> String {
        with_ruling(&self.message, self.ruling.as_deref())
    }
}

/// Writes the causes as one JSON document.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write_json(out: &mut dyn Write, causes: &RootCauses) -> io::Result<()> {
    sframe_record::json::write(&mut *out, causes)?;
    writeln!(out)?;
    out.flush()
}

/// The JSON schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(RootCauses)
}
