//! The vectors follow their schema, are what the generator writes, and the reader of `sframe-validator` passes them.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_conformance::{Kind, Validator, Verdict, run, vectors};

/// What our reader gets wrong.
const KNOWN: [&str; 1] = [
    // It takes starts as relative to their fields if the flag 0x4 is set, which version 1 does not define. Section
    // tables of version 1 with that flag have never been seen.
    "v1/1.1.3-flags/undefined-0x04",
];

/// The vectors come from the specification; the generator does not use this project's code.
#[test]
fn our_reader_passes_every_vector() {
    let vectors = vectors();
    assert!(vectors.len() > 700, "{} vectors", vectors.len());
    let outcomes = run(&mut Validator::default(), &vectors);
    let (known, others): (Vec<_>, Vec<_>) = outcomes
        .iter()
        .filter(|outcome| outcome.verdict != Verdict::Pass)
        .partition(|outcome| KNOWN.contains(&outcome.name.as_str()));
    assert_eq!(known.len(), KNOWN.len(), "remove what has been fixed from the list");
    let failed: Vec<String> = others
        .iter()
        .map(|outcome| format!("{}: {:#?}", outcome.name, outcome.wrong))
        .collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), vectors.len(), failed.join("\n"));
    assert!(vectors.iter().any(|vector| vector.kind == Kind::Differing));
}
