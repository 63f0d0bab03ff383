//! Tests of the limits of rules: the last value that a rule allows breaks no rule, and the next one breaks only that
//! rule. The malformed cases (`malformed.rs`) are further away from the limits.
//!
//! The limits are those of the specification, the ABIs and the gABI, and offsets are counted by hand from the
//! specification's layout.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[path = "limits/code_names.rs"]
mod code_names;
#[path = "limits/content.rs"]
mod content;
#[path = "limits/files.rs"]
mod files;
#[path = "limits/flexible.rs"]
mod flexible;
#[path = "limits/functions.rs"]
mod functions;
#[path = "limits/header.rs"]
mod header;
#[path = "malformed/host.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, clippy::cast_possible_truncation)]
mod host;
#[path = "limits/reader.rs"]
mod reader;
#[path = "limits/relocations.rs"]
mod relocations;
#[path = "limits/rows.rs"]
mod rows;
#[path = "limits/shortcuts.rs"]
mod shortcuts;
#[path = "malformed/sound.rs"]
#[allow(dead_code, missing_docs, unreachable_pub)]
mod sound;

use sframe_validator::Placement;
use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Finding, Keep, Report};

/// The report about a section or an ELF file, including lints.
fn check(data: &[u8]) -> Report {
    let options = Options { pedantic: true, keep: Keep::All, thorough: false };
    if Elf::is_elf(data) {
        let checker = Checker::new(&options).amd64_instructions(sound::instruction_length);
        checker.elf(&Elf::parse(data).expect("headers can be read"))
    } else {
        Checker::new(&options).section(data, Placement::at(0))
    }
}

/// The broken rules, in the catalogue's order.
fn broken(data: &[u8]) -> Vec<&'static str> {
    check(data).counts.iter().map(|(rule, _)| rule.name).collect()
}

/// The findings of one rule.
fn findings(data: &[u8], rule: &str) -> Vec<Finding> {
    check(data).findings.into_iter().filter(|finding| finding.rule.name == rule).collect()
}

/// The offset of a rule's only finding, and the values that its field may have.
fn allowed(data: &[u8], rule: &str) -> (Option<u64>, String) {
    let findings = findings(data, rule);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    (finding.offset, finding.field.as_ref().expect("a field").allowed.clone())
}
