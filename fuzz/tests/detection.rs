//! The detection experiment on golden files: its judges, where it is known what they have to say.

use std::collections::BTreeMap;
use std::path::Path;

use sframe_fuzz::detection::{Noticed, experiment};

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/golden");
    std::fs::read(folder.join(name)).expect("checked in")
}

/// Fields without which nothing can be read: a flipped bit in them is an error, always.
const VITAL: [&str; 4] = ["sfp_magic", "sfh_abi_arch", "sfh_num_fdes", "sfh_cfa_fixed_ra_offset"];

#[test]
fn every_change_is_judged_once() {
    for name in ["2.44/x86_64/shared.so", "2.47.50/x86_64/edges.so", "2.47.50/s390x/edges.so"] {
        let file = golden(name);
        let mut bits: BTreeMap<usize, usize> = BTreeMap::new();
        let subject = experiment(&file, |change, noticed| {
            let (old, new) = change.values;
            assert_ne!(old, new);
            if change.flipped {
                assert_eq!((old ^ new).count_ones(), 1);
                *bits.entry(change.offset).or_default() += 1;
            }
            if VITAL.contains(&change.field) && change.flipped {
                let found = matches!(noticed, Noticed::Error | Noticed::Warning);
                assert!(found, "{name} {change:?}: {noticed:?}");
            }
            // Rows of this file have CFI, and CFI has the rows.
            assert_ne!(noticed, Noticed::Nobody, "{name} {change:?}");
        });
        assert!(subject.expect("a sound section").has_cfi);
        assert!(bits.len() > 100 && bits.keys().copied().eq(0..bits.len()), "{name}");
        assert!(bits.values().all(|count| *count == 8));
    }
}

#[test]
fn what_is_broken_or_not_linked_is_left_out() {
    for name in ["lld/x86_64/v3-shared.so", "2.47.50/x86_64/edges.o"] {
        assert_eq!(experiment(&golden(name), |_, _| panic!("{name}")), None);
    }
    assert_eq!(experiment(b"no file", |_, _| panic!()), None);
}
