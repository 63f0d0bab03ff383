//! Programs by name and version.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::defect::{Affected, Defect};

/// A program, with or without a version: `GNU ld 2.44`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    tool: &'static str,
    version: Option<String>,
}

/// No known defect is one of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchTool {
    name: String,
}

impl fmt::Display for NoSuchTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<String> = tools().into_iter().map(|tool| format!("\"{tool}\"")).collect();
        write!(
            f,
            "no defects of \"{}\" are known; known are those of {}",
            self.name,
            tools.join(", ")
        )
    }
}

impl std::error::Error for NoSuchTool {}

impl FromStr for Producer {
    type Err = NoSuchTool;

    /// Reads `GNU ld 2.44`, or `gnu ld` for all versions.
    fn from_str(text: &str) -> Result<Producer, NoSuchTool> {
        let text = text.trim();
        let of = |tool: &&str| {
            let name = text.get(..tool.len())?;
            let rest = text.get(tool.len()..)?;
            let is_apart = rest.is_empty() || rest.starts_with(' ');
            (name.eq_ignore_ascii_case(tool) && is_apart).then(|| rest.trim())
        };
        let found = tools().into_iter().find_map(|tool| Some((tool, of(&tool)?)));
        let (tool, version) = found.ok_or_else(|| NoSuchTool { name: text.to_owned() })?;
        Ok(Producer {
            tool,
            version: Some(version.to_owned()).filter(|version| !version.is_empty()),
        })
    }
}

impl Producer {
    /// Whether the program, or a version of it if none is named, has the defect.
    #[must_use]
    pub fn has(&self, defect: &Defect) -> bool {
        defect.affected.iter().any(|affected| {
            let of_version = |version: &str| is_between(version, affected);
            affected.tool == self.tool && self.version.as_deref().is_none_or(of_version)
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
fn is_between(version: &str, affected: &Affected) -> bool {
    let is_open = affected.first.is_empty();
    is_open
        || compare(version, affected.first) != Ordering::Less
            && compare(version, affected.last) != Ordering::Greater
}

/// Compares as many numbers of two versions as both have.
fn compare(one: &str, other: &str) -> Ordering {
    let numbers = |version: &str| -> Vec<u64> {
        version.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
    };
    let (one, other) = (numbers(one), numbers(other));
    let common = one.len().min(other.len());
    one.get(..common).cmp(&other.get(..common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let affected = Affected { tool: "GNU ld", first: "2.40", last: "2.47.50" };
        for (version, is_affected) in [
            ("2.39", false),
            ("2.40", true),
            ("2.44", true),
            ("2.44.1", true),
            ("2.47", true),
            ("2.47.50", true),
            ("2.47.51", false),
            ("2.48", false),
            ("2.5", false),
            ("3", false),
        ] {
            assert_eq!(is_between(version, &affected), is_affected, "{version}");
        }
    }

    #[test]
    fn programs_are_found_by_name() {
        let ld: Producer = "gnu LD 2.44".parse().expect("a program");
        assert_eq!((ld.tool, ld.version.as_deref()), ("GNU ld", Some("2.44")));
        assert!(ld.has(crate::find("ld-plt-got").expect("a defect")));
        let old: Producer = "GNU ld 2.40".parse().expect("a program");
        assert!(!old.has(crate::find("ld-plt-got").expect("a defect")));
        assert!("GNU ldd".parse::<Producer>().is_err());
        assert!("".parse::<Producer>().is_err());
    }
}
