//! Sections that are valid by construction: the rules report nothing, and reading yields the rows from which the
//! section was built.

use std::collections::BTreeSet;

use sframe_input::SectionSource;
use sframe_validator::check::Checker;
use sframe_validator::elf::Elf;
use sframe_validator::finding::Report;
use sframe_validator::rules::Severity;
use sframe_validator::section::{ErrorKind, Function, StartRelocation};
use sframe_validator::unwind::{CodeAddress, Frame, Row};
use sframe_validator::write::elf::{Image, Object};
use sframe_validator::{Section, Version};

use crate::generate::{Configuration, FunctionPlan, Plan, Warnings};

/// Builds the section that `data` encodes. If the first byte is odd, the section may contain what rules warn about.
///
/// # Panics
/// Panics if a rule reports something unexpected, or a row that is read differs from the one that was written.
pub fn run(data: &[u8]) {
    let warned = data.first().is_some_and(|byte| byte & 1 != 0);
    let entropy = data.get(1..).unwrap_or_default();
    let configuration = if warned { Configuration::ALL } else { Configuration::SILENT };
    check_plan(&Plan::new(entropy, &configuration));
}

/// Builds a section, checks it on its own and in a file, reads it, and looks up its rows.
///
/// # Panics
/// Panics where [`run`] does.
pub fn check_plan(plan: &Plan) {
    let built = plan.build().unwrap_or_else(|error| panic!("{error}: {plan:#?}"));
    let relocations = plan.relocations(&built);
    let placement = plan.placement(&relocations);
    silent(&Checker::default().section(&built.bytes, placement), &plan.warnings());
    if plan.fits_file() {
        let file = file(plan, &built.bytes);
        let elf = Elf::parse(&file).expect("a valid file");
        silent(&Checker::default().elf(&elf), &plan.warnings_in_file());
    }
    if plan.fits_object() {
        let file = object(plan, &built.bytes, &relocations);
        let elf = Elf::parse(&file).expect("a valid object");
        silent(&Checker::default().elf(&elf), &plan.warnings_in_object());
        let content = elf.sframe_contents().next().expect("a section");
        let source = SectionSource::of(&content).expect("a valid section");
        read(plan, &source.section.expect("a valid header"));
    }
    let section = Section::parse(&built.bytes, placement).expect("a valid header");
    read(plan, &section);
}

/// A file around the section.
///
/// # Panics
/// Panics if the file is too large for ELF, which does not happen for a plan.
#[must_use]
pub fn file(plan: &Plan, section: &[u8]) -> Vec<u8> {
    let (start, end) = plan.code();
    Image {
        abi: plan.abi,
        // There is some code even if every function is empty.
        code: start..end.max(start + 4),
        sframe: (section, plan.address),
        typed: plan.pcrel,
        eh_frame: None,
    }
    .bytes()
    .expect("small")
}

/// An object around the section, with the relocations of its start fields.
///
/// # Panics
/// Panics if the file is too large for ELF, which does not happen for a plan.
#[must_use]
pub fn object(plan: &Plan, section: &[u8], relocations: &[StartRelocation]) -> Vec<u8> {
    let (_, end) = plan.code();
    Object {
        abi: plan.abi,
        version: plan.version,
        code: end.max(4),
        sframe: section,
        typed: plan.pcrel,
        relocations,
    }
    .bytes()
    .expect("small")
}

/// Checks that there is no error, nothing undecided, and only the warnings that the plan expects.
fn silent(report: &Report, warnings: &Warnings) {
    let at = |severity| {
        let rules = report.counts.iter().filter(move |(rule, _)| rule.severity == severity);
        rules.map(|(rule, _)| rule.name).collect::<BTreeSet<_>>()
    };
    let messages: Vec<_> = report.findings.iter().map(|finding| &finding.message).collect();
    assert_eq!(at(Severity::Error), BTreeSet::new(), "{messages:#?}");
    assert!(report.undecided.is_empty(), "{:?}", report.undecided);
    let found = at(Severity::Warning);
    let missing: Vec<_> = warnings.must.difference(&found).collect();
    assert!(missing.is_empty(), "no report of {missing:?}: {messages:#?}");
    let more: Vec<_> = found
        .iter()
        .filter(|n| !warnings.must.contains(*n) && !warnings.may.contains(*n))
        .collect();
    assert!(more.is_empty(), "{more:?}: {messages:#?}");
}

/// Reads all functions and rows in stored order.
fn read(plan: &Plan, section: &Section<'_>) {
    let header = section.header();
    assert_eq!((header.version, header.flags.0), (plan.version, plan.flags()));
    assert_eq!((section.abi(), section.endian()), (Ok(plan.abi), plan.endian));
    let functions: Vec<_> = section.functions().map(|f| f.expect("readable")).collect();
    assert_eq!(functions.len(), plan.functions.len());
    for (position, function) in plan.stored_order().into_iter().zip(&functions) {
        let expected = &plan.functions[position];
        same_function(expected, function);
        look_up(plan, expected, section);
    }
    let (start, end) = plan.code();
    let covers = |pc: u64| plan.functions.iter().any(|f| pc.wrapping_sub(f.start) < f.size.into());
    for pc in [start.wrapping_sub(1), end] {
        assert!(!covers(pc));
        let found = section.find_function(place(plan, pc)).expect("readable");
        assert!(found.is_none(), "{pc:#x}: {found:?}");
    }
}

fn same_function(expected: &FunctionPlan, function: &Function<'_>) {
    let start = function.start().expect("known").address;
    assert_eq!((start, function.size()), (expected.start, expected.size));
    assert_eq!(function.is_signal_frame(), expected.signal);
    assert_eq!(function.attributes().info.pauth_key_b(), expected.key_b);
    assert_eq!(function.is_flexible(), expected.flexible);
    if let Some(width) = expected.fre_type {
        assert_eq!(function.fre_type(), Ok(width));
    }
    match expected.repeat {
        Some(0) => {
            let error = function.repeat_size().expect_err("not recorded").kind;
            assert_eq!(error, ErrorKind::UnknownRepeatSize);
        }
        block => assert_eq!(function.repeat_size(), Ok(block)),
    }
    let rows: Vec<_> = function.rows().expect("readable").map(|r| r.expect("readable")).collect();
    assert_eq!(rows, expected.ranges(), "{expected:#x?}");
}

const fn place(plan: &Plan, address: u64) -> CodeAddress {
    CodeAddress { section: if plan.object { 1 } else { 0 }, address }
}

/// Looks up the rows at their first and last PC, in the first and the last block.
fn look_up(plan: &Plan, function: &FunctionPlan, section: &Section<'_>) {
    if plan.object || function.size == 0 {
        return;
    }
    if function.repeat == Some(0) {
        assert!(section.find(function.start).is_err(), "the block's size is not known");
        return;
    }
    let end = function.start + u64::from(function.size);
    let block = function.repeat.map_or(u64::from(function.size), u64::from);
    let last_block = u64::from(function.size - 1) / block * block;
    let found = |pc| section.find(pc).expect("readable").map(|(_, row)| row);
    if function.rows.is_empty() {
        let outermost = plan.version == Version::V3 && !function.flexible;
        let row = Row { start: function.start, end, frame: Frame::OUTERMOST };
        assert_eq!(found(end - 1), outermost.then_some(row), "{function:#x?}");
    }
    for row in function.ranges() {
        for shift in [0, last_block] {
            let start = row.start + shift;
            let row = Row { start, end: (row.end + shift).min(end), ..row };
            if row.start < row.end {
                assert_eq!(found(row.start), Some(row), "{function:#x?}");
                assert_eq!(found(row.end - 1), Some(row), "{function:#x?}");
            }
        }
    }
    let first = function.rows.first().map_or(0, |(start, _)| *start);
    if first > 0 && !function.rows.is_empty() {
        assert_eq!(found(function.start + u64::from(first) - 1), None);
    }
}
