//! Sections with a defect: the rule that is declared speaks up, and nothing panics. Sections that
//! are stored in another way: no row is another.

use sframe_validator::check::{Options, check_section};
use sframe_validator::{Placement, Section};

use crate::generate::{Configuration, Plan};
use crate::mutate::{Defect, Variation, defects, variations};
use crate::seeded::Seeded;
use crate::view;
use sframe_validator::write::StoredSection;

/// Bytes in front of the entropy of the section: which mutation, where, and how many.
const HEAD: usize = 8;

/// Builds the section that `data` stands for, and mutates it: once, then some more.
///
/// # Panics
/// Where a defect is not noticed by a rule that it declares, a variation changes a row, or what
/// reads the section panics.
pub fn run(data: &[u8]) {
    let (head, entropy) = data.split_at(data.len().min(HEAD));
    let mut bytes = [0; HEAD];
    bytes[..head.len()].copy_from_slice(head);
    let configuration = Configuration { objects: false, ..Configuration::SILENT };
    let plan = Plan::new(entropy, &configuration);
    let sound = plan.build().expect("can be written").bytes;
    let parts = StoredSection::read(&sound, plan.address).expect("sound");
    let mut random = Seeded::new(u64::from_le_bytes(bytes));
    let count = defects().count() + variations().count();
    let chosen = usize::from(bytes[0]) % count;
    let applied = match defects().nth(chosen) {
        Some(defect) => noticed(defect, &parts, &mut random),
        None => {
            let variation = variations().nth(chosen - defects().count()).expect("counted");
            unseen(variation, &parts, &mut random)
        }
    };
    if applied {
        several(parts, &mut random);
    }
}

/// Puts a defect into a sound section, and asks the rules; whether there was a place for it.
///
/// # Panics
/// Where none of the rules that are declared speaks up.
pub fn noticed(defect: &Defect, sound: &StoredSection, random: &mut Seeded) -> bool {
    let mut parts = sound.clone();
    if !defect.apply(&mut parts, random) {
        return false;
    }
    let bytes = parts.bytes();
    let placement = Placement::at(sound.address).with_endian(Some(sound.endian));
    let report = check_section(&bytes, placement, &Options::default());
    let heard = report.counts.iter().any(|(rule, _)| defect.noticed_by.contains(&rule.name));
    assert!(
        heard,
        "{}: none of {:?}, but {:?} and {:?}\n{parts:#x?}",
        defect.name, defect.noticed_by, report.counts, report.undecided
    );
    true
}

/// Stores a section in another way; whether there was a place for it.
///
/// # Panics
/// Where another row is read at any PC.
pub fn unseen(variation: &Variation, sound: &StoredSection, random: &mut Seeded) -> bool {
    let mut parts = sound.clone();
    if !variation.apply(&mut parts, random) {
        return false;
    }
    let (before, after) = (sound.bytes(), parts.bytes());
    let placement = Placement::at(sound.address);
    let old = Section::parse(&before, placement).expect("sound");
    let new = Section::parse(&after, placement).expect("as sound");
    if let Some((pc, old, new)) = view::differences(&old, &new).first() {
        panic!("{} changes {pc:#x} from {old:?} to {new:?}\n{parts:#x?}", variation.name);
    }
    true
}

/// Several defects at a time: which rule finds what is anybody's guess.
fn several(mut parts: StoredSection, random: &mut Seeded) {
    for _ in 0..1 + random.below(4) {
        let defect = defects().nth(random.below(defects().count())).expect("counted");
        defect.apply(&mut parts, random);
    }
    super::bytes::run(&parts.bytes());
}
