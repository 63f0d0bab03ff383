//! Programs by name and version, as a person writes them and as they write themselves.

mod name;
mod version;

use std::fmt;
use std::str::FromStr;

use crate::defect::{Affected, Defect};
use version::Version;

/// A program or the programs of a release, with or without a version: `GNU ld 2.44`, `binutils 2.44`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    tools: &'static [&'static str],
    version: Option<Version>,
}

/// A text that is no [`Producer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoProducer {
    /// It names no program whose defects are known.
    UnknownTool(String),
    /// What follows the name of the program is no version.
    NoVersion(String),
}

impl fmt::Display for NoProducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoProducer::UnknownTool(text) => {
                let tools: Vec<String> =
                    tools().into_iter().map(|tool| format!("\"{tool}\"")).collect();
                let tools = tools.join(", ");
                write!(f, "no defects of {text:?} are known; known are those of {tools}")
            }
            NoProducer::NoVersion(text) => {
                write!(f, "{text:?} has no version that can be read")
            }
        }?;
        f.write_str(
            "; a program is named like \"GNU ld 2.44\", \"as 2.44\" or \"binutils 2.44\", without a version, or by the first line that \
             it prints with --version",
        )
    }
}

impl std::error::Error for NoProducer {}

impl FromStr for Producer {
    type Err = NoProducer;

    /// Reads `GNU ld 2.44`, `ld 2.44`, `gnu ld` for all versions, the first line that a program prints with `--version`, or
    /// the text that it leaves in `.comment`.
    fn from_str(text: &str) -> Result<Producer, NoProducer> {
        let text = text.trim();
        let unknown = || NoProducer::UnknownTool(text.to_owned());
        let (tools, rest) = name::split(text).ok_or_else(unknown)?;
        let version = version::after_name(tools, rest);
        let version = version.ok_or_else(|| NoProducer::NoVersion(text.to_owned()))?;
        Ok(Producer { tools, version })
    }
}

impl Producer {
    /// Whether one of the programs, or a version of it if none is named, has the defect.
    #[must_use]
    pub fn has(&self, defect: &Defect) -> bool {
        defect.affected.iter().any(|affected| {
            let of_version = |version: &Version| is_between(version, affected);
            self.tools.contains(&affected.tool) && self.version.as_ref().is_none_or(of_version)
        })
    }
}

/// The names of all programs with defects, in the order in which they are known.
fn tools() -> Vec<&'static str> {
    let mut tools = Vec::new();
    for affected in crate::all().flat_map(|defect| defect.affected) {
        if !tools.contains(&affected.tool) {
            tools.push(affected.tool);
        }
    }
    tools
}

/// Whether a version is one of those that have a defect. A version that names fewer numbers stands for all that begin with
/// them: `LLVM 23` has what `23.1` has.
fn is_between(version: &Version, affected: &Affected) -> bool {
    let is_from = |first| Version::read(first).is_some_and(|first| version.compare(&first).is_ge());
    let is_to = |last| Version::read(last).is_some_and(|last| version.compare(&last).is_le());
    affected.first.is_empty() || is_from(affected.first) && is_to(affected.last)
}

#[cfg(test)]
mod tests;
