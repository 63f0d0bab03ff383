//! Names the known defects that a file's findings are cases of.

use std::collections::BTreeMap;

use sframe_record::{Finding, Record, RuleCount, Text};

use crate::case::Case;
use crate::defect::Defect;
use crate::evidence::Evidence;
use crate::known::START_WITHOUT_SFRAME;
use crate::owner;
use crate::signs::{Extent, Signs};
use crate::traits::Traits;

/// Names the known defect and the owner of each finding of `record`, and splits its counts: those of known defects come
/// apart. What the file shows besides its record is not looked at: see [`Evidence`].
pub fn recognise(record: &mut Record<'_>) {
    all(record, &Evidence::default());
}

/// Names the known defect and the owner of a finding of the file that `record` describes, except for its findings. Returns
/// how many findings it speaks for; `None` if it is no case of a known defect.
pub fn recognise_one(record: &Record<'_>, finding: &mut Finding<'_>) -> Option<Extent> {
    one(record, finding, &Evidence::default())
}

/// The trait of a compiler that a finding is a case of.
#[must_use]
pub fn trait_of(record: &Record<'_>, finding: &Finding<'_>) -> Option<&'static str> {
    if !Traits::are_of(&finding.rule) {
        return None;
    }
    let (defect, extent) = known(&Case { record, finding, evidence: &Evidence::default() })?;
    (extent == Extent::Trait).then_some(defect.id)
}

impl Evidence {
    /// Names the known defect and the owner of each finding of `record`, and splits its counts: those of known defects
    /// come apart.
    ///
    /// Findings that are counted and not listed are known only if the signs are about the whole file or about code that
    /// the linker makes; otherwise, each finding has to be looked at.
    pub fn recognise(&self, record: &mut Record<'_>) {
        all(record, self);
    }

    /// Names the known defect and the owner of a finding of the file that `record` describes, except for its findings.
    /// Returns how many findings it speaks for; `None` if it is no case of a known defect.
    pub fn recognise_one(&self, record: &Record<'_>, finding: &mut Finding<'_>) -> Option<Extent> {
        one(record, finding, self)
    }

    /// For a file with more findings than fit in its record.
    #[must_use]
    pub fn recogniser(&self) -> Recogniser<'_> {
        Recogniser { evidence: self, recognised: Vec::new(), traits: Traits::default() }
    }
}

/// Recognises the findings of a file one by one.
#[derive(Debug)]
pub struct Recogniser<'e> {
    evidence: &'e Evidence,
    recognised: Vec<Recognised>,
    /// The cases of traits, unless the evidence has counted all of them.
    traits: Traits,
}

/// The findings of a rule that are cases of a known defect.
#[derive(Debug)]
struct Recognised {
    rule: String,
    known: Text<'static>,
    extent: Extent,
    weight: u64,
}

impl Recogniser<'_> {
    /// Names the known defect and the owner of a finding of the file that `record` describes.
    pub fn finding(&mut self, record: &Record<'_>, finding: &mut Finding<'_>) {
        let extent = one(record, finding, self.evidence);
        let (rule, weight) = (finding.rule.as_str(), finding.weight());
        if Traits::are_of(rule) {
            let id = finding.known.as_deref().filter(|_| extent == Some(Extent::Trait));
            let id = id.and_then(crate::find).map(|defect| defect.id);
            // Others of its pattern may be no cases.
            self.traits.add(rule, weight.min(1), id);
        }
        let (Some(extent), Some(known)) = (extent, &finding.known) else { return };
        let is_same =
            |of: &&mut Recognised| (&*of.rule, &of.known, of.extent) == (rule, known, extent);
        match self.recognised.iter_mut().find(is_same) {
            Some(of) => of.weight = of.weight.saturating_add(weight),
            None => {
                let (rule, known) = (rule.to_owned(), known.clone().into_owned());
                self.recognised.push(Recognised { rule, known, extent, weight });
            }
        }
    }

    /// The counts of `record`, with those of known defects apart.
    #[must_use]
    pub fn counts<'r>(&self, record: &Record<'r>) -> Vec<RuleCount<'r>> {
        split(record, self)
    }
}

fn all(record: &mut Record<'_>, evidence: &Evidence) {
    let mut findings = std::mem::take(&mut record.findings);
    let mut recogniser = evidence.recogniser();
    findings.iter_mut().for_each(|finding| recogniser.finding(record, finding));
    record.findings = findings;
    record.counts = recogniser.counts(record);
}

fn one(record: &Record<'_>, finding: &mut Finding<'_>, evidence: &Evidence) -> Option<Extent> {
    let of_row =
        finding.known.as_deref().and_then(crate::find).filter(|_| is_of_rows(&finding.rule));
    let of_row = of_row.map(|defect| (defect, Extent::Finding));
    let known = of_row.or_else(|| known(&Case { record, finding, evidence }));
    finding.known = known.map(|(defect, _)| defect.id.into());
    finding.consequence = known.map(|(defect, _)| Box::new(defect.consequence()));
    finding.owner = known.map_or_else(|| owner::of(record, finding), |(defect, _)| defect.owner);
    known.map(|(_, extent)| extent)
}

/// Whether findings of a rule are about rows, whose known defects were named when they were compared.
pub(crate) fn is_of_rows(rule: &str) -> bool {
    ROWS.contains(&rule)
}

/// The rules about rows that differ from CFI's or from the code.
const ROWS: [&str; 7] = [
    "cfa-mismatch",
    "ra-mismatch",
    "fp-mismatch",
    "ra-signing-mismatch",
    "outermost-mismatch",
    "signal-mismatch",
    "sframe-contradicts-code",
];

/// The defect that a finding is a case of, and the extent of what shows it.
fn known(case: &Case<'_>) -> Option<(&'static Defect, Extent)> {
    crate::all().find_map(|defect| {
        let signs = defect.signs.iter().find(|signs: &&Signs| signs.hold(case))?;
        Some((defect, signs.extent))
    })
}

/// The counts of `record`, with those of known defects apart.
fn split<'r>(record: &Record<'r>, recogniser: &Recogniser<'_>) -> Vec<RuleCount<'r>> {
    let Recogniser { evidence, recognised, traits } = recogniser;
    let traits = evidence.traits.as_ref().unwrap_or(traits);
    let mut counts = Vec::with_capacity(record.counts.len());
    for count in &record.counts {
        // The rows were counted apart when they were compared.
        if is_of_rows(&count.rule) {
            counts.push(count.clone());
            continue;
        }
        let mut rest = count.count;
        let mut of_defects: BTreeMap<&str, (Text<'r>, u64)> = BTreeMap::new();
        let of_rule = recognised.iter().filter(|of| of.rule == count.rule.as_str());
        let mut of_rule: Vec<&Recognised> = of_rule.collect();
        // A defect whose signs are about the file takes what the others leave.
        of_rule.sort_by_key(|of| of.extent == Extent::Rule);
        for Recognised { known, extent, weight, .. } in of_rule {
            let number = match extent {
                Extent::Finding => *weight,
                Extent::Trait => traits.count(&count.rule, known.as_str()),
                Extent::Rule => rest,
            };
            let number = number.min(rest);
            rest -= number;
            of_defects.entry(known).or_insert_with(|| (known.clone(), 0)).1 += number;
        }
        // Functions of start files that are counted and not listed.
        let of_start = START_WITHOUT_SFRAME.signs.iter().any(|of| of.rules.contains(&&*count.rule));
        if of_start && evidence.lost_start_files > 0 {
            let id = START_WITHOUT_SFRAME.id;
            let (_, number) = of_defects.entry(id).or_insert_with(|| (id.into(), 0));
            let hidden = evidence.lost_start_files.saturating_sub(*number).min(rest);
            *number += hidden;
            rest -= hidden;
        }
        if rest > 0 {
            counts.push(RuleCount { count: rest, ..count.clone() });
        }
        let some = of_defects.into_values().filter(|(_, number)| *number > 0);
        counts.extend(some.map(|(known, number)| RuleCount {
            count: number,
            known: Some(known),
            ..count.clone()
        }));
    }
    counts
}
