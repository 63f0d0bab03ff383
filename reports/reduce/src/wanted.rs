//! The finding that is looked for, and whether a file shows it.

use sframe_defects::recognise_one;
use sframe_record::{Finding, Record};

/// What has to be the same about two findings of different files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The rule that is broken.
    pub rule: String,
    /// The known defect that it is a case of. If it is of none, that of the other finding does not matter.
    pub known: Option<String>,
    /// The fields that differ between SFrame and CFI. The other finding may lack some of them.
    pub fields: Vec<String>,
}

impl Wanted {
    /// What is wanted to be like a finding.
    #[must_use]
    pub fn like(finding: &Finding<'_>) -> Wanted {
        Wanted {
            rule: finding.rule.as_str().to_owned(),
            known: finding.known.as_ref().map(|known| known.as_str().to_owned()),
            fields: fields(finding).map(str::to_owned).collect(),
        }
    }

    /// Whether a finding is the same.
    #[must_use]
    pub fn is(&self, finding: &Finding<'_>) -> bool {
        let is_same_defect = match &self.known {
            Some(known) => finding.known.as_ref().is_some_and(|of| of.as_str() == known),
            None => fields(finding).all(|field| self.fields.iter().any(|wanted| wanted == field)),
        };
        finding.rule.as_str() == self.rule && is_same_defect
    }

    /// The first finding of a record that is the same.
    #[must_use]
    pub fn find<'r>(&self, record: &'r Record<'static>) -> Option<&'r Finding<'static>> {
        record.findings.iter().find(|finding| self.is(finding))
    }
}

fn fields<'f>(finding: &'f Finding<'_>) -> impl Iterator<Item = &'f str> {
    finding.difference.iter().flat_map(|difference| &difference.fields).map(|field| field.as_str())
}

/// Removes from the findings of an assembled file what its machine code proves, and names their known defects again.
///
/// An assembler makes SFrame and CFI from the same directives. If they differ, it is wrong, even if the code proves that the
/// directives are: code is reduced, too.
pub fn by_directives_alone(record: &mut Record<'static>) {
    let mut findings = std::mem::take(&mut record.findings);
    for finding in &mut findings {
        if let Some(difference) = &mut finding.difference
            && difference.ruling.take().is_some()
        {
            recognise_one(record, finding);
        }
    }
    record.findings = findings;
}
