//! `walk`: the stacks of real core dumps and processes, with gdb's backtrace as the truth.
//!
//! The programs are built with SFrame sections by two assemblers. Core dumps are written by gdb, which works whatever the
//! kernel does with core dumps, and by the kernel if it writes files.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod cores;
mod crafted;
mod crashes;
mod damaged;
mod debug_files;
mod differences;
mod gdb;
mod linked;
mod live;
mod machines;
mod rewritten;
mod synthesized;

use std::path::Path;

use serde_json::Value;
use sframe_corpus::program;

/// The result of `walk --format json`, and its exit status.
fn walk(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let mut all = vec!["walk", "--format", "json"];
    all.extend_from_slice(arguments);
    let run = program::run(folder, &all);
    assert!(run.status < 3 && !run.text.is_empty(), "{arguments:?}: {run:?}");
    (run.status, serde_json::from_str(&run.text).expect("JSON"))
}

/// A frame: PC, SP, and whether the kernel made it for a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FrameAt {
    pc: String,
    sp: String,
    signal: bool,
}

/// The frames of one witness in a walk.
fn frames(thread: &Value, witness: &str) -> Vec<FrameAt> {
    let levels = thread["frames"].as_array().expect("frames").iter();
    let own = levels.filter_map(|level| {
        let witnesses = level["witnesses"].as_array().expect("witnesses");
        witnesses.iter().find(|frame| frame["witness"] == witness)
    });
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    own.map(|frame| FrameAt {
        pc: text(&frame["pc"]),
        sp: text(&frame["sp"]),
        signal: frame["signal"].as_bool().expect("a truth value"),
    })
    .collect()
}

/// The number of frames for which a witness has a row.
fn rows(thread: &Value, witness: &str) -> usize {
    let levels = thread["frames"].as_array().expect("frames").iter();
    let all = levels.flat_map(|level| level["witnesses"].as_array().expect("witnesses"));
    all.filter(|frame| frame["witness"] == witness && frame["row"].is_object()).count()
}
