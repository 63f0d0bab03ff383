//! A finding, as the signs of a defect look at it.

use sframe_record::{Finding, Header, Record, Section};

use crate::evidence::{Evidence, Unadjusted};

/// A finding of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'c> {
    pub(crate) record: &'c Record<'c>,
    pub(crate) finding: &'c Finding<'c>,
    pub(crate) evidence: &'c Evidence,
}

impl<'c> Case<'c> {
    /// The header of the section that the finding is about, or of the only one.
    pub(crate) fn header(&self) -> Option<&'c Header<'c>> {
        let sections: &[Section<'_>] = &self.record.sections;
        let section = match self.finding.section {
            Some(place) => sections.get(place),
            None => sections.first().filter(|_| sections.len() == 1),
        };
        section.and_then(|section| section.header.as_ref())
    }

    /// The version of the section's format.
    pub(crate) fn version(&self) -> Option<u8> {
        self.header().map(|header| header.version)
    }

    /// The machine of the section.
    pub(crate) fn machine(&self) -> Option<&'c str> {
        self.header().and_then(|header| header.abi.as_deref())
    }

    /// Whether start addresses are relative to their own field (flag 0x4). LLVM sets it in version 2, GNU as does not.
    pub(crate) fn is_field_relative(&self) -> bool {
        self.header().is_some_and(|header| header.flags & 4 != 0)
    }

    /// Whether the file has lost its symbols and relocations.
    pub(crate) const fn is_stripped(&self) -> bool {
        self.evidence.is_stripped
    }

    /// The value of a field of the section near the defect, such as `0x10` of `sfde_func_info`.
    pub(crate) fn field(&self, name: &str) -> Option<&'c str> {
        let part = self.finding.context.iter().find(|part| part.name.as_str() == name)?;
        Some(part.value.as_str())
    }

    /// The functions whose starts the linker should have adjusted, if it did not.
    pub(crate) const fn unadjusted(&self) -> Option<&'c Unadjusted> {
        self.evidence.unadjusted.as_ref()
    }

    /// Whether the file breaks a rule.
    pub(crate) fn breaks(&self, rule: &str) -> bool {
        self.record.counts.iter().any(|count| count.rule.as_str() == rule)
    }
}
