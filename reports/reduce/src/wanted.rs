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
    /// Another finding that shows that SFrame and CFI differ in the same function. A row that is wrong by itself and one
    /// that its CFI explains have different causes.
    pub beside: Option<Box<Wanted>>,
}

impl Wanted {
    /// What is wanted to be like a finding of a file.
    #[must_use]
    pub fn like(finding: &Finding<'_>, record: &Record<'_>) -> Wanted {
        let start = |finding: &Finding<'_>| {
            finding.function.as_ref().map(|function| (finding.section, function.index))
        };
        let is_beside = |other: &&Finding<'_>| {
            other.difference.is_some() && start(other).is_some() && start(other) == start(finding)
        };
        let beside = match finding.difference {
            Some(_) => None,
            None => record.findings.iter().find(is_beside).map(|other| Wanted::alone(other).into()),
        };
        Wanted { beside, ..Wanted::alone(finding) }
    }

    /// What is wanted, with the defect of a finding that was found.
    #[must_use]
    pub fn narrowed(&self, finding: &Finding<'_>) -> Wanted {
        Wanted { beside: self.beside.clone(), ..Wanted::alone(finding) }
    }

    fn alone(finding: &Finding<'_>) -> Wanted {
        Wanted {
            beside: None,
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
        let found = record.findings.iter().find(|finding| self.is(finding))?;
        let is_shown = self.beside.as_ref().is_none_or(|beside| beside.find(record).is_some());
        is_shown.then_some(found)
    }
}

fn fields<'f>(finding: &'f Finding<'_>) -> impl Iterator<Item = &'f str> {
    finding.difference.iter().flat_map(|difference| &difference.fields).map(|field| field.as_str())
}

/// Removes from the findings of an assembled file what its machine code proves, and finds their owners again.
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
