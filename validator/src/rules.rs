//! The catalogue of rules: what can be wrong with a section and the file around it.
//!
//! A rule is one static value that declares its name, its severity, whom it applies to, the page
//! that `sframe-check explain` prints, and the check itself. The catalogue knows no report format,
//! and a rule knows no other rule; what is checked when, and what is not checked any more because
//! of what was found, is [`check`](crate::check)'s business.

mod blocks;
mod catalogue;
mod container;
pub(crate) mod context;
mod coverage;
mod eh_frame_hdr;
mod flags;
mod flexible;
mod frames;
mod functions;
mod header;
mod instructions;
mod placement;
mod preamble;
mod relocations;
mod repeats;
mod rows;
mod segments;
mod tiling;
mod words;

use core::fmt;

use crate::abi::Abi;
use crate::section::Version;
pub use catalogue::CATALOGUE;
use context::Check;

/// How bad a broken rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Legal, and worth a look: checked only on request.
    Lint,
    /// Unusual; a reader may lose or mistake frames.
    Warning,
    /// Against the specification, or a reader crashes or is misled.
    Error,
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The ELF section and segments that carry the bytes.
    Container,
    /// The relocations of a relocatable object.
    Relocations,
    /// The preamble and the header.
    Header,
    /// How header, function table and rows fill the section.
    Tiling,
    /// The function table.
    Functions,
    /// The row stream: its bytes and the rows' places.
    Rows,
    /// What rows say, by ABI.
    Content,
    /// The section against the file's symbols and code.
    Coverage,
    /// What rows recover, against what DWARF call frame information says.
    Comparison,
    /// The call frame information itself.
    Cfi,
}

/// A set of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions(u8);

impl Versions {
    /// Every version.
    pub const ALL: Versions = Versions(7);
    /// Version 1.
    pub const V1: Versions = Versions(1);
    /// Version 2.
    pub const V2: Versions = Versions(2);
    /// Version 3.
    pub const V3: Versions = Versions(4);
    /// Versions 1 and 2.
    pub const UP_TO_2: Versions = Versions(3);
    /// Versions 2 and 3.
    pub const SINCE_2: Versions = Versions(6);

    /// Whether `version` is in the set.
    #[must_use]
    pub const fn contains(self, version: Version) -> bool {
        self.0 & (1 << (version.number() - 1)) != 0
    }
}

/// A set of ABIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abis(u8);

impl Abis {
    /// Every ABI.
    pub const ALL: Abis = Abis(15);
    /// AArch64 in both byte orders.
    pub const AARCH64: Abis = Abis(3);
    /// AMD64.
    pub const AMD64: Abis = Abis(4);
    /// s390x.
    pub const S390X: Abis = Abis(8);

    /// The ABIs of either set.
    #[must_use]
    pub const fn or(self, other: Abis) -> Abis {
        Abis(self.0 | other.0)
    }

    /// Whether `abi` is in the set.
    #[must_use]
    pub const fn contains(self, abi: Abi) -> bool {
        self.0 & (1 << (abi.id() - 1)) != 0
    }
}

/// A rule of the catalogue.
pub struct Rule {
    /// The stable kebab-case name.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// How bad it is to break it.
    pub severity: Severity,
    /// The versions it applies to.
    pub versions: Versions,
    /// The ABIs it applies to.
    pub abis: Abis,
    /// What has to hold, in one line.
    pub summary: &'static str,
    /// What goes wrong for a reader when it does not hold.
    pub consequence: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// The specification's clause, or the tool whose behaviour makes it matter.
    pub source: &'static str,
    /// What breaks it, in a few words; of this crate's rules, what its file in `corpus/malformed` is.
    pub example: &'static str,
    pub(crate) check: Check,
}

/// What the page of a rule says besides its name.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// What has to hold, in one line.
    pub summary: &'static str,
    /// What goes wrong for a reader when it does not hold.
    pub consequence: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
    /// The specification's clause, or the tool whose behaviour makes it matter.
    pub source: &'static str,
    /// What breaks it, in a few words; may be empty.
    pub example: &'static str,
}

impl Rule {
    /// A rule for sections of every version and ABI that another crate checks. It is in no
    /// [`CATALOGUE`] of this one.
    ///
    /// ```
    /// use sframe_validator::rules::{Group, Page, Rule, Severity};
    ///
    /// static RULE: Rule = Rule::elsewhere(
    ///     "cfa-mismatch",
    ///     Group::Comparison,
    ///     Severity::Error,
    ///     Page {
    ///         summary: "rows give the CFA that CFI gives",
    ///         consequence: "Unwinders lose the stack.",
    ///         remedy: "Correct the row.",
    ///         source: "V3 2.4",
    ///         example: "",
    ///     },
    /// );
    /// assert_eq!(RULE.name, "cfa-mismatch");
    /// ```
    #[must_use]
    pub const fn elsewhere(
        name: &'static str,
        group: Group,
        severity: Severity,
        page: Page,
    ) -> Rule {
        Rule {
            name,
            group,
            severity,
            versions: Versions::ALL,
            abis: Abis::ALL,
            summary: page.summary,
            consequence: page.consequence,
            remedy: page.remedy,
            source: page.source,
            example: page.example,
            check: Check::Elsewhere,
        }
    }

    /// The rule of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Rule> {
        CATALOGUE.iter().copied().find(|rule| rule.name == name)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Severity {
    /// `error`, `warning` or `lint`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Lint => "lint",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Group {
    /// Every group, in the catalogue's order.
    pub const ALL: [Group; 10] = [
        Group::Container,
        Group::Relocations,
        Group::Header,
        Group::Tiling,
        Group::Functions,
        Group::Rows,
        Group::Content,
        Group::Coverage,
        Group::Comparison,
        Group::Cfi,
    ];

    /// The name used in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Group::Container => "container",
            Group::Relocations => "relocations",
            Group::Header => "header",
            Group::Tiling => "tiling",
            Group::Functions => "functions",
            Group::Rows => "rows",
            Group::Content => "content",
            Group::Coverage => "coverage",
            Group::Comparison => "comparison",
            Group::Cfi => "cfi",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
