//! The vectors follow their schema, are what the generator writes, and the reader of `sframe-validator` passes them.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_conformance::{Kind, Validator, Verdict, run, vectors};

/// The vectors come from the specification; the generator does not use this project's code.
#[test]
fn our_reader_passes_every_vector() {
    let vectors = vectors();
    assert!(vectors.len() > 700, "{} vectors", vectors.len());
    let outcomes = run(&mut Validator::default(), &vectors);
    let failed: Vec<String> = outcomes
        .iter()
        .filter(|outcome| outcome.verdict != Verdict::Pass)
        .map(|outcome| format!("{}: {:#?}", outcome.name, outcome.wrong))
        .collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), vectors.len(), failed.join("\n"));
    assert!(vectors.iter().any(|vector| vector.kind == Kind::Differing));
}
