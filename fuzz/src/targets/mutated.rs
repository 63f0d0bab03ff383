//! Sections with a defect: a rule that the defect declares reports it, and nothing panics. Sections stored in another
//! way: no row changes.

use sframe_validator::check::Checker;
use sframe_validator::{Placement, Section};

use crate::generate::{Configuration, Plan};
use crate::view;
use sframe_mutate::Seeded;
use sframe_mutate::{Defect, Variation, defects, variations};
use sframe_validator::write::StoredSection;

/// The number of bytes before the section's entropy: they select the mutation, its place, and the number of mutations.
const HEAD: usize = 8;

/// Builds the section that `data` encodes, and mutates it: first once, then several more times.
///
/// # Panics
/// Panics if no rule that a defect declares reports it, if a variation changes a row, or if a reader panics.
pub fn run(data: &[u8]) {
    let (head, entropy) = data.split_at(data.len().min(HEAD));
    let mut bytes = [0; HEAD];
    bytes[..head.len()].copy_from_slice(head);
    let configuration = Configuration { objects: false, ..Configuration::SILENT };
    let plan = Plan::new(entropy, &configuration);
    let sound = plan.build().expect("can be written").bytes;
    let parts = StoredSection::read(&sound, plan.address).expect("valid");
    let mut random = Seeded::new(u64::from_le_bytes(bytes));
    let count = defects().count() + variations().count();
    let chosen = usize::from(bytes[0]) % count;
    let applied = match defects().nth(chosen) {
        Some(defect) => defect_is_reported(defect, &parts, &mut random),
        None => {
            let variation = variations().nth(chosen - defects().count()).expect("counted");
            rows_are_unchanged(variation, &parts, &mut random)
        }
    };
    if applied {
        several(parts, &mut random);
    }
}

/// Puts a defect into a valid section and applies the rules. Returns whether the defect could be made.
///
/// # Panics
/// Panics if none of the declared rules reports it.
pub fn defect_is_reported(defect: &Defect, sound: &StoredSection, random: &mut Seeded) -> bool {
    let mut parts = sound.clone();
    if !defect.apply(&mut parts, random) {
        return false;
    }
    let bytes = parts.bytes();
    let placement = Placement::at(sound.address).with_endian(Some(sound.endian));
    let report = Checker::default().section(&bytes, placement);
    let is_reported = report.counts.iter().any(|(rule, _)| defect.noticed_by.contains(&rule.name));
    assert!(
        is_reported,
        "{}: none of {:?}, but {:?} and {:?}\n{parts:#x?}",
        defect.name, defect.noticed_by, report.counts, report.undecided
    );
    true
}

/// Stores a section in another way. Returns whether this was possible.
///
/// # Panics
/// Panics if the row at any PC changes.
pub fn rows_are_unchanged(
    variation: &Variation,
    sound: &StoredSection,
    random: &mut Seeded,
) -> bool {
    let mut parts = sound.clone();
    if !variation.apply(&mut parts, random) {
        return false;
    }
    let (before, after) = (sound.bytes(), parts.bytes());
    let placement = Placement::at(sound.address);
    let old = Section::parse(&before, placement).expect("valid");
    let new = Section::parse(&after, placement).expect("still valid");
    if let Some((pc, old, new)) = view::differences(&old, &new).first() {
        panic!("{} changes {pc:#x} from {old:?} to {new:?}\n{parts:#x?}", variation.name);
    }
    true
}

/// Makes several defects at once. It is unspecified which rules report them.
fn several(mut parts: StoredSection, random: &mut Seeded) {
    for _ in 0..1 + random.below(4) {
        let defect = defects().nth(random.below(defects().count())).expect("counted");
        defect.apply(&mut parts, random);
    }
    super::bytes::run(&parts.bytes());
}
