//! Counts the cases of compilers' traits in a file.

use std::collections::BTreeSet;

use sframe_defects::{Traits, trait_of};
use sframe_record::{Finding, Record};
use sframe_validator::finding::Keep;

use super::compare;
use super::elf_file::ElfFile;
use super::held::{Collected, Held};
use super::options::CheckOptions;
use crate::describe::origin::Origins;

/// The most other findings that are listed beside those of traits.
const MOST_OTHERS: usize = 64;

/// Counts the cases of traits, if one is listed. Others of its pattern are only counted, and may be other mistakes. So the file
/// is compared again, each finding is looked at, and `record` lists one case of each trait and the first other findings. No other
/// files are compared twice.
pub(super) fn find(
    record: &mut Record<'static>,
    file: &ElfFile<'_>,
    origins: &Origins<'_, '_>,
    options: &CheckOptions,
) -> Option<Traits> {
    if !record.findings.iter().any(|finding| trait_of(record, finding).is_some()) {
        return None;
    }
    let is_all = matches!(options.validator.keep, Keep::All);
    let mut all = options.clone();
    all.validator.keep = Keep::All;
    let mut held = Held::default();
    let _ = compare::check_and_compare(file, &all, &mut held);
    let mut traits = Traits::default();
    let (mut listed, mut others, mut named) = (Vec::new(), 0, BTreeSet::new());
    let mut look = |mut finding: Finding<'static>| {
        if !Traits::are_of(&finding.rule) {
            return;
        }
        origins.add(record, &mut finding);
        let id = trait_of(record, &finding);
        traits.add(&finding.rule, finding.weight(), id);
        let is_listed = match id {
            Some(id) => named.insert((finding.rule.to_string(), id)),
            None => {
                others += 1;
                others <= MOST_OTHERS
            }
        };
        if is_listed && !is_all {
            // A case may be before it in its function.
            finding.difference.iter_mut().for_each(|of| of.repeats = false);
            listed.push(finding);
        }
    };
    match held.finish() {
        Collected::InMemory(findings) => findings.into_iter().for_each(look),
        Collected::Spilled(spilled) => {
            spilled.each(&mut |some| some.into_iter().for_each(&mut look)).ok()?;
        }
    }
    if !is_all {
        record.findings.retain(|finding| !Traits::are_of(&finding.rule));
        record.findings.extend(listed);
    }
    Some(traits)
}
