//! One file or member: what became of it, and what was found in it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sframe_validator::finding::{Finding, Report, SectionSummary, Undecided};
use sframe_validator::rules::Rule;

use super::context::Context;
use super::coverage::Coverage;
use super::evidence::Evidence;
use super::names::{Names, SymbolPlace};
use super::producers::Producer;
use sframe_input::{PackageIdentity, SectionSource, Special};
use sframe_record::text::{path_of, printable, printable_path};

/// A file, or one inside a package, an archive, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The file.
    pub path: PathBuf,
    /// The path of the file in the package, where the file is one; with a `!` behind each package,
    /// where one is inside another.
    pub inside: Option<Vec<u8>>,
    /// The member's name, where that is an archive.
    pub member: Option<Vec<u8>>,
}

impl FileName {
    /// The name of a file as such.
    #[must_use]
    pub const fn file(path: PathBuf) -> FileName {
        FileName { path, inside: None, member: None }
    }

    /// The name of the member `name` of the archive that this names.
    #[must_use]
    pub fn member_of(&self, name: Vec<u8>) -> FileName {
        FileName { member: Some(name), ..self.clone() }
    }

    /// `package.deb!usr/lib/lib.a(member.o)`, fit for a terminal.
    #[must_use]
    pub fn display(&self) -> String {
        let mut name = printable_path(&self.path);
        if let Some(inside) = &self.inside {
            name.push('!');
            name.push_str(&printable(inside));
        }
        if self.member.is_some() {
            name.push_str(&format!("({})", self.member_display()));
        }
        name
    }

    /// `member.o`, fit for a terminal; empty where the file is no archive.
    #[must_use]
    pub fn member_display(&self) -> String {
        self.member.as_deref().map(printable).unwrap_or_default()
    }

    /// Where the file is, or would be where its package is installed.
    #[must_use]
    pub fn installed(&self) -> PathBuf {
        let Some(inside) = &self.inside else { return self.path.clone() };
        let path = inside.rsplit(|byte| *byte == b'!').next().unwrap_or_default();
        // What leads out of the package leads nowhere.
        let parts = path_of(path).components().filter(|part| matches!(part, Component::Normal(_)));
        Path::new("/").join(parts.collect::<PathBuf>())
    }
}

/// What is to be said of one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// Which.
    pub name: FileName,
    /// What became of it.
    pub outcome: Outcome,
    /// Its bytes, where it is an ELF file and
    /// [`CheckOptions::hash`](crate::scan::CheckOptions::hash) asks for them.
    pub content: Option<Content>,
    /// The package that it is in, if it is in one that says which it is.
    pub package: Option<Arc<PackageIdentity>>,
}

impl FileReport {
    /// A report that says what became of a file, and nothing else.
    #[must_use]
    pub const fn new(name: FileName, outcome: Outcome) -> FileReport {
        FileReport { name, outcome, content: None, package: None }
    }
}

/// Which bytes a file has, wherever it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    /// How many.
    pub size: u64,
    /// Their BLAKE3 hash.
    pub hash: [u8; 32],
}

impl Content {
    /// Of these bytes.
    #[must_use]
    pub fn of(data: &[u8]) -> Content {
        Content { size: data.len() as u64, hash: blake3::hash(data).into() }
    }
}

/// What became of a file.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It was checked; it may have no section.
    Checked(Arc<Checked>),
    /// The members of an archive taken together: what is wrong with them as inputs of one link.
    Members(Arc<Checked>),
    /// An ELF file of a kind that SFrame is not defined for, and without a section; which kind.
    Unsupported(String),
    /// No ELF file.
    NotElf,
    /// A file of no bytes.
    Empty,
    /// Not a regular file.
    Special(Special),
    /// It could not be read, why.
    Unreadable(String),
    /// Its checker has died, how: that is a defect of this program.
    Crashed(String),
}

/// Findings of a file whose bytes are shown at most: a hostile section has a million findings, and the
/// decoded bytes around each take ten times as much memory as the finding.
const MAX_CONTEXTS: usize = 10_000;

/// What was found in a file.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The findings that were kept, in the order of the section's bytes.
    pub findings: Vec<LocatedFinding>,
    /// How often each rule was broken, in the catalogue's order.
    pub counts: Vec<(&'static Rule, u64)>,
    /// What was not checked.
    pub undecided: Vec<Undecided>,
    /// The sections.
    pub sections: Vec<SectionSummary>,
    /// Bytes of executable code, none where the file is one bare section.
    pub code_bytes: u64,
    /// What SFrame and CFI describe of it, where that was looked at.
    pub coverage: Option<Coverage>,
    /// What made it, where that is asked for.
    pub producers: Vec<Producer>,
}

/// What came of comparing a file's sections with its CFI; nothing, where that was not done.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Differences, each with its evidence.
    pub differences: Vec<(Finding, Option<Evidence>)>,
    /// The coverage.
    pub coverage: Option<Coverage>,
}

/// A finding with the names that its file has for the place.
#[derive(Clone, Debug)]
pub struct LocatedFinding {
    /// The finding.
    pub finding: Finding,
    /// The symbol at the function's start; of code that no function of the section has, the symbol
    /// there.
    pub symbol: Option<SymbolPlace>,
    /// The name of the code section that PCs count from, in relocatable objects.
    pub code_section: Option<String>,
    /// The section's bytes around the defect, decoded.
    pub context: Option<Context>,
    /// Both tables of rows, where SFrame and CFI differ.
    pub evidence: Option<Box<Evidence>>,
}

impl Checked {
    /// The report on a file, with names and bytes from the file itself.
    #[must_use]
    pub fn new(
        report: Report,
        sources: &[SectionSource<'_>],
        names: &Names<'_, '_>,
        comparison: Comparison,
    ) -> Checked {
        let Report { findings, counts, undecided, sections, code_bytes } = report;
        let mut contexts = MAX_CONTEXTS;
        let mut locate = |finding: Finding, evidence: Option<Evidence>| {
            let shown = contexts > 0;
            contexts = contexts.saturating_sub(1);
            let function = finding.function.and_then(|function| function.start);
            let start = function.or(finding.code.map(|(start, _)| start));
            let summary = finding.section.and_then(|position| sections.get(position));
            let source = summary
                .and_then(|summary| sources.iter().find(|source| source.index == summary.index));
            LocatedFinding {
                symbol: start.and_then(|start| names.symbol(start)),
                code_section: start.and_then(|start| names.section(start)),
                context: source.filter(|_| shown).and_then(|source| Context::of(&finding, source)),
                finding,
                evidence: evidence.map(Box::new),
            }
        };
        let mut located: Vec<LocatedFinding> =
            findings.into_iter().map(|finding| locate(finding, None)).collect();
        let differences = comparison.differences.into_iter();
        located.extend(differences.map(|(finding, evidence)| locate(finding, evidence)));
        Checked {
            findings: located,
            counts,
            undecided,
            sections,
            code_bytes,
            coverage: comparison.coverage,
            producers: Vec::new(),
        }
    }
}

impl Checked {
    /// Bytes of code that the sections describe.
    #[must_use]
    pub fn covered_bytes(&self) -> u64 {
        let sections = self.sections.iter().map(|section| section.covered_bytes);
        sections.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::Content;

    /// The hash of "abc" as `b3sum` prints it.
    #[test]
    fn content_is_size_and_hash() {
        let Content { size, hash } = Content::of(b"abc");
        let text: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(size, 3);
        assert_eq!(text, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
    }
}
