//! The description of a rule: name, group, severity, the versions and ABIs it applies to, and the page that explains
//! it. Findings refer to it. The checks are in [`rules`](crate::rules).

use core::fmt;

use crate::abi::Abi;
use crate::section::Version;

/// How serious it is to break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Legal, but worth a look. Checked only on request.
    Lint,
    /// Unusual. A reader may lose frames or misinterpret them.
    Warning,
    /// Against the specification, or makes a reader crash or misleads it.
    Error,
}

/// The subject of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Group {
    /// The ELF section and segments that contain the bytes.
    Container,
    /// The relocations of a relocatable object.
    Relocations,
    /// The preamble and the header.
    Header,
    /// How the header, the function table and the rows fill the section.
    Tiling,
    /// The function table.
    Functions,
    /// The row stream: its bytes, and the places of rows.
    Rows,
    /// The values of rows, by ABI.
    Content,
    /// The section compared with the file's symbols and code.
    Coverage,
    /// The values that rows recover, compared with DWARF call frame information.
    Comparison,
    /// The values that rows recover, compared with the machine code.
    Code,
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

    /// The ABIs in either set.
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

/// A rule: its name, its scope and its page. Its check is in another module.
pub struct Rule {
    /// The stable kebab-case name.
    pub name: &'static str,
    /// The subject.
    pub group: Group,
    /// How serious it is to break it.
    pub severity: Severity,
    /// The versions it applies to.
    pub versions: Versions,
    /// The ABIs it applies to.
    pub abis: Abis,
    /// Whether it is about the tools that produced a build, so that every file of the build breaks it in the same way.
    pub about_tools: bool,
    /// The page that `sframe-check explain` prints.
    pub page: Page,
}

/// The text of a rule's page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The requirement, in one line.
    pub summary: &'static str,
    /// What goes wrong for a reader if the rule is broken.
    pub consequence: &'static str,
    /// How to fix it.
    pub remedy: &'static str,
    /// The specification's clause, or the tool whose behaviour makes the rule matter.
    pub source: &'static str,
    /// A defect that breaks the rule, in a few words; may be empty. For the rules of this crate, the defect of the file
    /// in `corpus/malformed/RULE`.
    pub example: &'static str,
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
    pub const ALL: [Group; 11] = [
        Group::Container,
        Group::Relocations,
        Group::Header,
        Group::Tiling,
        Group::Functions,
        Group::Rows,
        Group::Content,
        Group::Coverage,
        Group::Comparison,
        Group::Code,
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
            Group::Code => "code",
            Group::Cfi => "cfi",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use std::path::Path;

    use super::*;
    use crate::rules::CATALOGUE;

    /// CONTRIBUTING.md: a rule is the file `rules/GROUP/RULE.rs`.
    #[test]
    fn a_rule_is_in_the_folder_of_its_group() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        for rule in CATALOGUE {
            let file = format!("{}/{}.rs", rule.group.name(), rule.name.replace('-', "_"));
            assert!(folder.join(&file).is_file(), "{file}");
            assert_eq!(
                (Rule::find(rule.name), format!("{rule:?}")),
                (Some(*rule), rule.name.into())
            );
        }
        let elsewhere = ["comparison", "code", "cfi"]
            .map(|name| Group::ALL.into_iter().find(|group| group.name() == name));
        assert_eq!(elsewhere, [Some(Group::Comparison), Some(Group::Code), Some(Group::Cfi)]);
        assert_eq!(Rule::find("no-such-rule"), None);
        let other = CATALOGUE.last().expect("not empty");
        assert!(CATALOGUE.iter().filter(|rule| rule == &other).count() == 1);
    }

    /// Names in tables are padded like other text.
    #[test]
    fn names_are_printed_and_padded() {
        let names = [Severity::Lint, Severity::Warning, Severity::Error].map(Severity::name);
        assert_eq!(names, ["lint", "warning", "error"]);
        assert_eq!(format!("{:>6}{}", Severity::Lint, Severity::Error), "  linterror");
        assert_eq!(format!("{:>7}{}", Group::Rows, Group::Cfi), "   rowscfi");
    }

    /// A set contains the versions and ABIs that its name says, and no others.
    #[test]
    fn sets_contain_what_they_name() {
        let versions = |set: Versions| Version::ALL.map(|version| set.contains(version));
        assert_eq!(versions(Versions::ALL), [true; 3]);
        assert_eq!(versions(Versions::V1), [true, false, false]);
        assert_eq!(versions(Versions::V2), [false, true, false]);
        assert_eq!(versions(Versions::V3), [false, false, true]);
        assert_eq!(versions(Versions::UP_TO_2), [true, true, false]);
        assert_eq!(versions(Versions::SINCE_2), [false, true, true]);
        let abis = |set: Abis| Abi::ALL.map(|abi| set.contains(abi));
        assert_eq!(abis(Abis::ALL), [true; 4]);
        assert_eq!(abis(Abis::AARCH64), [true, true, false, false]);
        assert_eq!(abis(Abis::AMD64), [false, false, true, false]);
        assert_eq!(abis(Abis::S390X), [false, false, false, true]);
        assert_eq!(abis(Abis::AMD64.or(Abis::S390X)), [false, false, true, true]);
        assert_eq!(abis(Abis::AMD64.or(Abis::AMD64)), [false, false, true, false]);
    }
}
