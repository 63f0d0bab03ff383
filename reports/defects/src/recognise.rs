//! Names the known defects that a file's findings are cases of.

use std::collections::BTreeMap;

use sframe_record::{Finding, Record, RuleCount, Text};

use crate::case::Case;
use crate::defect::Defect;
use crate::owner;
use crate::signs::{Extent, Signs};

/// Names the known defect and the owner of each finding of `record`, and splits its counts: those of known defects come
/// apart.
///
/// Findings that are counted and not listed are known only if the signs are about the whole file or about code that the
/// linker makes; otherwise, each finding has to be looked at.
pub fn recognise(record: &mut Record<'_>) {
    let mut findings = std::mem::take(&mut record.findings);
    let extents: Vec<_> =
        findings.iter_mut().map(|finding| recognise_one(record, finding)).collect();
    record.findings = findings;
    record.counts = split(record, &extents);
}

/// Names the known defect and the owner of a finding of the file that `record` describes, except for its findings. Returns
/// how many findings it speaks for; `None` if it is no case of a known defect.
pub fn recognise_one(record: &Record<'_>, finding: &mut Finding<'_>) -> Option<Extent> {
    let known = known(record, finding);
    finding.known = known.map(|(defect, _)| defect.id.into());
    finding.owner = known.map_or_else(|| owner::of(record, finding), |(defect, _)| defect.owner);
    known.map(|(_, extent)| extent)
}

/// The defect that a finding is a case of, and the extent of what shows it.
fn known(record: &Record<'_>, finding: &Finding<'_>) -> Option<(&'static Defect, Extent)> {
    let case = Case { record, finding };
    crate::all().find_map(|defect| {
        // Other functions with the pattern were not looked at.
        let is_single = finding.weight() <= 1;
        let holds =
            |signs: &&Signs| (is_single || signs.extent != Extent::Finding) && signs.hold(&case);
        defect.signs.iter().find(holds).map(|signs| (defect, signs.extent))
    })
}

/// The counts of `record`, with those of known defects apart.
fn split<'r>(record: &Record<'r>, extents: &[Option<Extent>]) -> Vec<RuleCount<'r>> {
    let mut counts = Vec::with_capacity(record.counts.len());
    for count in &record.counts {
        let mut rest = count.count;
        let mut of_defects: BTreeMap<&str, (Text<'r>, u64)> = BTreeMap::new();
        let of_rule = record.findings.iter().zip(extents);
        for (finding, extent) in of_rule.filter(|(finding, _)| finding.rule == count.rule) {
            let Some((known, extent)) = finding.known.as_ref().zip(*extent) else { continue };
            let number = match extent {
                Extent::Finding | Extent::Pattern => finding.weight(),
                Extent::Rule => rest,
            };
            let number = number.min(rest);
            rest -= number;
            of_defects.entry(known).or_insert_with(|| (known.clone(), 0)).1 += number;
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
