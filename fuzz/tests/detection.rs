//! Tests of the detection experiment on golden files, for which the right results are known.

use std::collections::BTreeMap;
use std::path::Path;

use sframe_corpus::{read, tools};
use sframe_fuzz::detection::{
    BATCH, ChangeKind, Noticed, OtherReader, Reaction, experiment, other_readers,
};

/// Fields without which nothing can be read: flipping a bit in one of them is always an error.
const VITAL: [&str; 4] = ["sfp_magic", "sfh_abi_arch", "sfh_num_fdes", "sfh_cfa_fixed_ra_offset"];

#[test]
fn every_change_is_made_once_and_detected() {
    for name in ["2.44/x86_64/shared.so", "2.47.50/x86_64/edges.so", "2.47.50/s390x/edges.so"] {
        let file = read(&format!("golden/{}", name));
        let mut bits: BTreeMap<usize, usize> = BTreeMap::new();
        let subject = experiment(&file, |change, noticed| {
            let (old, new) = change.values;
            assert_ne!(old, new);
            if change.kind == ChangeKind::Flip {
                assert_eq!((old ^ new).count_ones(), 1);
                *bits.entry(change.offset).or_default() += 1;
            }
            if VITAL.contains(&change.field) && change.kind == ChangeKind::Flip {
                let found = matches!(noticed, Noticed::Error | Noticed::Warning);
                assert!(found, "{name} {change:?}: {noticed:?}");
            }
            // CFI covers the rows of this file, and has the same values.
            assert_ne!(noticed, Noticed::Nobody, "{name} {change:?}");
        });
        assert!(subject.expect("a valid section").has_cfi);
        assert!(bits.len() > 100 && bits.keys().copied().eq(0..bits.len()), "{name}");
        assert!(bits.values().all(|count| *count == 8));
    }
}

#[test]
fn broken_and_unlinked_files_are_skipped() {
    for name in ["lld/x86_64/v3-shared.so", "2.47.50/x86_64/edges.o"] {
        assert_eq!(experiment(&read(&format!("golden/{}", name)), |_, _| panic!("{name}")), None);
    }
    assert_eq!(experiment(b"no file", |_, _| panic!()), None);
}

/// The program that limits the readers' processes.
fn watcher() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_detection"))
}

/// This reader would appear to refuse every file.
#[test]
fn a_reader_that_cannot_be_run_is_an_error() {
    let reader = OtherReader::new("none", "/no/such/reader", watcher());
    let error = reader.reactions(b"file", &[], BATCH).expect_err("no such program");
    assert_eq!(error.to_string(), "none cannot be run: No such file or directory (os error 2)");
}

/// If many files are given to one process, the reaction to each must be the same as if it were given alone. No reader
/// accepts another magic number, and all accept fields that they do not use.
#[test]
fn other_readers_are_judged_file_by_file() {
    let readers = other_readers(watcher());
    if readers.len() < 4 {
        tools::missing("a reader", "corpus/build fetch");
        return;
    }
    let reads = |name: &str| -> Vec<String> {
        let file = read(&format!("golden/{}", name));
        let mut changes = Vec::new();
        let section = experiment(&file, |change, _| {
            changes.push((change.offset as u64, change.values.1, change.field.to_owned()));
        });
        let offset = section.expect("a valid section").offset;
        // These are more than fit in two processes, from all parts of the section.
        changes =
            changes.into_iter().enumerate().filter(|(n, _)| n % 5 == 0).map(|c| c.1).collect();
        let bytes: Vec<_> = changes.iter().map(|(at, value, _)| (offset + at, *value)).collect();
        let mut read_by = Vec::new();
        for reader in &readers {
            let of = |batch| reader.reactions(&file, &bytes, batch).expect("it runs");
            let (Some(together), Some(alone)) = (of(BATCH), of(1)) else { continue };
            for ((change, together), alone) in changes.iter().zip(together).zip(alone) {
                // A crash of a reader may depend on memory after the section.
                let by_chance = together == Reaction::Crash || alone == Reaction::Crash;
                assert!(by_chance || together == alone, "{}: {change:?}", reader.name);
                match change.2.as_str() {
                    "sfp_magic" => assert_eq!(alone, Reaction::Notice, "{}", reader.name),
                    "sfh_cfa_fixed_ra_offset" => assert_eq!(alone, Reaction::Silence),
                    _ => {}
                }
            }
            read_by.push(reader.name.clone());
        }
        read_by
    };
    assert_eq!(reads("2.40/x86_64/outermost.so"), ["readelf 2.40"]);
    assert_eq!(
        reads("2.44/aarch64_be/outermost.so"),
        ["readelf 2.44", "readelf 2.47.50", "llvm-readobj 23"]
    );
    assert_eq!(reads("2.47.50/s390x/outermost.so"), ["readelf 2.47.50"]);
}
