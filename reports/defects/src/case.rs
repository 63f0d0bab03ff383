//! A finding, as the signs of a defect look at it.

use sframe_record::{
    Address, Difference, Finding, Header, Record, Section, Side, TableLine, Wrong,
};

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

    /// The difference between SFrame and CFI, unless CFI is the one that is wrong.
    pub(crate) fn difference(&self) -> Option<&'c Difference<'c>> {
        let difference = self.finding.difference.as_deref()?;
        let wrong = difference.ruling.as_ref().map(|ruling| ruling.wrong);
        let is_cfi = matches!(wrong, Some(Wrong::Cfi | Wrong::Both | Wrong::Inherited));
        (!is_cfi).then_some(difference)
    }

    /// Whether exactly these fields differ.
    pub(crate) fn differs_in(&self, fields: &[&str]) -> bool {
        self.difference().is_some_and(|difference| {
            difference.fields.len() == fields.len()
                && difference.fields.iter().all(|field| fields.contains(&field.as_str()))
        })
    }

    /// The first PC at which the rows that differ are valid.
    fn rows_start(&self) -> Option<Address> {
        let of_part = self.finding.code.as_ref().map(|code| code.start);
        self.difference()?.rows_from.or(of_part)
    }

    /// The rows of SFrame and CFI where they differ.
    pub(crate) fn rows(&self) -> Option<(&'c TableLine<'c>, &'c TableLine<'c>)> {
        let start = self.rows_start()?;
        let table = &self.difference()?.table;
        let of = |side: Side| table.iter().find(|line| line.side == side && line.start == start);
        Some((of(Side::Sframe)?, of(Side::Cfi)?))
    }

    /// The row of CFI where they differ; SFrame may have none.
    pub(crate) fn cfi(&self) -> Option<&'c TableLine<'c>> {
        let start = self.rows_start()?;
        let of_cfi = |line: &&TableLine<'_>| {
            matches!(line.side, Side::Cfi | Side::Both) && line.start <= start
        };
        self.difference()?.table.iter().rfind(of_cfi)
    }

    /// The row of SFrame before the one that differs.
    pub(crate) fn row_before(&self) -> Option<&'c TableLine<'c>> {
        let start = self.rows_start()?;
        let of_sframe = |line: &&TableLine<'_>| {
            matches!(line.side, Side::Sframe | Side::Both) && line.start < start
        };
        self.difference()?.table.iter().rfind(of_sframe)
    }

    /// Whether CFI has an instruction that applies to the place, or before it in the function.
    pub(crate) fn has_directive(&self, text: &str) -> bool {
        self.directives().any(|(_, directive)| directive == text)
    }

    /// Whether CFI has these two instructions at one PC.
    pub(crate) fn has_directives_at_one_place(&self, first: &str, second: &str) -> bool {
        self.directives().any(|(place, directive)| {
            directive == first && self.directives().any(|other| other == (place, second))
        })
    }

    /// The instructions of CFI: the first PC to which each applies, and its text.
    pub(crate) fn directives(&self) -> impl Iterator<Item = (u64, &'c str)> + use<'c> {
        let listed = self.difference().map(|difference| difference.directives.as_slice());
        let listed = listed.unwrap_or_default().iter();
        listed.map(|directive| (directive.address.0, directive.text.as_str()))
    }

    /// The symbol of the function or code.
    pub(crate) fn symbol(&self) -> Option<&'c str> {
        let of_function = self.finding.function.as_ref().and_then(|of| of.symbol.as_deref());
        of_function.or_else(|| self.finding.code.as_ref().and_then(|of| of.symbol.as_deref()))
    }
}

/// The number of a value such as `rsp+16`, `*(CFA-8)` or `CFA+0`: what follows the last sign.
pub(crate) fn offset(value: &str) -> Option<i64> {
    let sign = value.rfind(['+', '-'])?;
    let digits = value.get(sign..)?.trim_end_matches(')');
    digits.parse().ok()
}

/// The register that a value such as `rsp+16` begins with.
pub(crate) fn base(value: &str) -> &str {
    value.split(['+', '-']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_apart() {
        assert_eq!((base("rsp+16"), offset("rsp+16")), ("rsp", Some(16)));
        assert_eq!((base("x29+0"), offset("x29+0")), ("x29", Some(0)));
        assert_eq!(offset("*(CFA-8)"), Some(-8));
        assert_eq!(offset("CFA+0"), Some(0));
        assert_eq!((base("r11"), offset("r11")), ("r11", None));
        assert_eq!(offset("unchanged"), None);
        assert_eq!(offset("r+99999999999999999999"), None);
    }
}
