//! What shows that a finding is a case of a defect, except for rows: see [`RowDefects`](crate::RowDefects).

use sframe_record::ElfType;

use crate::case::Case;

/// What shows that a finding is a case of a defect. All of it has to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signs {
    /// The rules, one of which is broken.
    pub(crate) rules: &'static [&'static str],
    /// The format versions of the section; empty for any, and for files without a section.
    pub(crate) versions: &'static [u8],
    /// The machines; empty for any.
    pub(crate) machines: &'static [&'static str],
    /// The types of the file.
    pub(crate) files: Files,
    /// The ELF sections that may contain the code; empty for any.
    pub(crate) sections: &'static [&'static str],
    /// Another rule that the file breaks; empty for none.
    pub(crate) beside: &'static str,
    /// What else holds.
    pub(crate) also: fn(&Case<'_>) -> bool,
    /// How many of a file's findings one recognised finding speaks for.
    pub(crate) extent: Extent,
}

/// Types of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// Any.
    Any,
    /// Relocatable objects.
    Relocatable,
    /// Programs and shared libraries.
    Linked,
}

/// How many of a file's findings one recognised finding speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Itself. Other functions may break the rule for another reason.
    Finding,
    /// Itself and as many others as [`Traits`](crate::Traits) has counted.
    Trait,
    /// All findings of the rule, because the signs are about the file.
    Rule,
}

/// Signs that hold for any finding: the base of others.
pub(crate) const ANY: Signs = Signs {
    rules: &[],
    versions: &[],
    machines: &[],
    files: Files::Any,
    sections: &[],
    beside: "",
    also: |_| true,
    extent: Extent::Finding,
};

impl Signs {
    /// Whether the finding has them.
    pub(crate) fn hold(&self, case: &Case<'_>) -> bool {
        let is_one = |list: &[&str], value: Option<&str>| {
            list.is_empty() || value.is_some_and(|value| list.contains(&value))
        };
        self.rules.contains(&case.finding.rule.as_str())
            && is_one(self.sections, case.finding.elf_section.as_deref())
            && is_one(self.machines, case.machine())
            && (self.versions.is_empty()
                || case.version().is_some_and(|version| self.versions.contains(&version)))
            && match self.files {
                Files::Any => true,
                Files::Relocatable => case.record.elf_type == Some(ElfType::Relocatable),
                Files::Linked => {
                    matches!(case.record.elf_type, Some(ElfType::Executable | ElfType::Shared))
                }
            }
            && (self.beside.is_empty() || case.breaks(self.beside))
            && (self.also)(case)
    }
}
