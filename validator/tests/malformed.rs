//! Every rule has a folder in `corpus/malformed` with a file that breaks only that rule, and the findings about the
//! file as text.
//!
//! Each case is built twice, without and with one defect. The file without the defect must pass every rule, including
//! lints. The defect must be found at the offset and field that follow from the specification's layout (written here by
//! hand), and no other rule may report anything. The corpus contains the built files and the findings, so that they can
//! be reviewed together: `SFRAME_BLESS=1 cargo test -p sframe-validator --test malformed` writes them.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: nothing uses it, and it may panic"
)]

#[path = "malformed/cases.rs"]
mod cases;
#[path = "malformed/host.rs"]
mod host;
#[path = "malformed/printed.rs"]
mod printed;
#[path = "malformed/sound.rs"]
mod sound;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sframe_validator::check::{Checker, Confirm, Options};
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Finding, Keep, Report};
use sframe_validator::rules::{CATALOGUE, Rule, Severity};
use sframe_validator::unwind::{CodeAddress, Frame};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Placement, Version};

/// A file with one defect, and the same file without it.
pub struct Case {
    pub rule: &'static str,
    pub sound: Vec<u8>,
    pub broken: Vec<u8>,
    /// The section offset of the finding.
    pub offset: Option<u64>,
    /// The field of the finding.
    pub field: Option<&'static str>,
    /// Rules that both files break as well, for a reason given in the case.
    pub besides: &'static [&'static str],
}

impl Case {
    pub fn besides(mut self, rules: &'static [&'static str]) -> Case {
        self.besides = rules;
        self
    }

    /// The file's path relative to the corpus.
    fn path(&self) -> PathBuf {
        let extension = match &self.broken {
            bytes if Elf::is_elf(bytes) => "elf",
            bytes if bytes.starts_with(b"!<arch>") => "a",
            _ => "sframe",
        };
        Path::new(self.rule).join(self.rule).with_extension(extension)
    }
}

fn corpus() -> PathBuf {
    sframe_corpus::corpus().join("malformed")
}

fn check(data: &[u8], options: &Options) -> Report {
    if data.starts_with(b"!<arch>") {
        check_archive(data, options)
    } else if Elf::is_elf(data) {
        Checker::new(options)
            .confirm(&EhFrame)
            .amd64_instructions(sound::instruction_length)
            .elf(&Elf::parse(data).expect("headers can be read"))
    } else {
        Checker::new(options).section(data, Placement::at(0))
    }
}

/// The frames in the only `.eh_frame` of the cases, that of `confirmed-oddity`, written by hand.
struct EhFrame;

impl Confirm for EhFrame {
    fn confirms(&self, start: CodeAddress, end: u64, frame: &Frame) -> bool {
        let odd = sound::based(Abi::Amd64, Abi::Amd64.sp(), 12);
        (start.address, end, frame) == (host::TEXT + 4, host::TEXT + 16, &odd)
    }
}

/// The findings about the members as a set. Each member on its own is valid.
fn check_archive(data: &[u8], options: &Options) -> Report {
    let archive = object::read::archive::ArchiveFile::parse(data).expect("an archive");
    let mut headers = Vec::new();
    for member in archive.members() {
        let member = member.expect("readable");
        let report = check(member.data(data).expect("readable"), options);
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        let name = str::from_utf8(member.name()).expect("ASCII");
        headers.push((name, report.sections[0].header.expect("readable")));
    }
    Checker::new(options).link_set(&headers)
}

fn broken_rules(report: &Report) -> BTreeSet<&'static str> {
    report.counts.iter().map(|(rule, _)| rule.name).collect()
}

fn options(rule: &Rule) -> Options {
    Options { pedantic: rule.severity == Severity::Lint, ..Options::default() }
}

#[test]
fn every_rule_has_a_case() {
    let cases: BTreeSet<_> = cases::all().iter().map(|case| case.rule).collect();
    let rules: BTreeSet<_> = CATALOGUE.iter().map(|rule| rule.name).collect();
    assert_eq!(rules.difference(&cases).collect::<Vec<_>>(), Vec::<&&str>::new(), "without case");
    assert_eq!(cases.difference(&rules).collect::<Vec<_>>(), Vec::<&&str>::new(), "without rule");
}

#[test]
fn sound_files_pass_every_rule() {
    let pedantic = Options { pedantic: true, ..Options::default() };
    let mut failures = Vec::new();
    for case in cases::all() {
        let report = check(&case.sound, &pedantic);
        let besides: BTreeSet<_> = case.besides.iter().copied().collect();
        if broken_rules(&report) != besides || !report.undecided.is_empty() {
            let messages: Vec<_> = report.findings.iter().map(|f| &f.message).collect();
            failures.push(format!("{}: {messages:?} {:?}", case.rule, report.undecided));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn only_the_defect_is_found_and_at_its_place() {
    let mut failures = Vec::new();
    for case in cases::all() {
        let rule = Rule::find(case.rule).expect("every_rule_has_a_case");
        let report = check(&case.broken, &options(rule));
        let mut expected: BTreeSet<_> = case.besides.iter().copied().collect();
        if rule.severity != Severity::Lint {
            expected.retain(|name| Rule::find(name).expect("known").severity != Severity::Lint);
        }
        expected.insert(case.rule);
        let finding = report.findings.iter().find(|finding| finding.rule == rule);
        let place = finding.map(|f| (f.offset, f.field.as_ref().map(|field| field.name)));
        if broken_rules(&report) != expected || place != Some((case.offset, case.field)) {
            let messages: Vec<_> = report.findings.iter().map(|f| (f.rule, &f.message)).collect();
            failures.push(format!("{}: {place:?} {messages:?}", case.rule));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn shortcuts_hide_no_finding() {
    for case in cases::all() {
        let quick = Options { keep: Keep::All, ..Options::default() };
        let thorough = Options { thorough: true, ..quick };
        let messages = |options| {
            let report = check(&case.broken, options);
            report.findings.iter().map(|f| f.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(messages(&quick), messages(&thorough), "{}", case.rule);
    }
}

/// A row that is skipped still counts as the row before the next one.
#[test]
fn a_row_out_of_order_after_skipped_rows_is_reported() {
    let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
    for (index, last) in (0_u64..).zip([12, 12, 4, 8, 12]) {
        let function = FunctionBuilder::new(0x1000 + index * 16, 16);
        let rows = [0, 8, last].into_iter();
        builder.function(rows.fold(function, |function, start| function.raw_row(start, 3, &[8])));
    }
    let bytes = builder.build().expect("fits").bytes;
    let report = Checker::default().section(&bytes, Placement::at(0));
    let place =
        |finding: &Finding| (finding.rule.name, finding.function.map(|f| f.index), finding.row);
    let found: Vec<_> = report.findings.iter().map(place).collect();
    let expected = [("row-order", Some(2), Some(2)), ("row-duplicate-start", Some(3), Some(2))];
    assert_eq!(found, expected);
}

#[test]
fn layouts_are_certain_except_for_defects_of_the_layout() {
    let uncertain = |data: &[u8]| {
        let report = check(data, &Options::default());
        report.sections.iter().any(|section| !section.certain_layout)
    };
    let cases = cases::all();
    let of = |select: &dyn Fn(&Case) -> bool| -> Vec<_> {
        cases.iter().filter(|case| select(case)).map(|case| case.rule).collect()
    };
    // A file that has only a segment left has no bytes whose layout could be certain.
    assert_eq!(of(&|case| uncertain(&case.sound)), ["segment-over-empty"]);
    let mut expected = vec![
        // There is no header, or it is not an SFrame header.
        "section-empty",
        "section-truncated",
        "bad-magic",
        "foreign-endian",
        "unknown-version",
        // These fields determine the meaning of rows, and where parts begin and end.
        "unknown-abi",
        "fixed-ra-offset",
        "fixed-fp-offset",
        "auxiliary-header-outside",
        "function-table-outside",
        "rows-outside",
        "subsection-overlap",
        "version-entry-size",
        "concatenated-section",
        // There are no bytes in the file, or none that a 64-bit reader understands.
        "section-nobits",
        "segment-over-empty",
        "elf-class",
    ];
    let mut found = of(&|case| uncertain(&case.broken));
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn the_corpus_is_current() {
    let bless = std::env::var_os("SFRAME_BLESS").is_some();
    let mut expected = BTreeSet::new();
    for case in cases::all() {
        let rule = Rule::find(case.rule).expect("every_rule_has_a_case");
        let findings = printed::report(&check(&case.broken, &options(rule)));
        let files = [
            (case.path(), case.broken),
            (Path::new(case.rule).join("findings.txt"), findings.into_bytes()),
        ];
        for (path, content) in files {
            let stored = corpus().join(&path);
            if bless {
                let folder = stored.parent().expect("below the corpus");
                std::fs::create_dir_all(folder).expect("the folder can be made");
                std::fs::write(&stored, &content).expect("the file can be written");
            }
            let current = std::fs::read(&stored).is_ok_and(|stored| stored == content);
            assert!(current, "{} is out of date: SFRAME_BLESS=1 writes it", path.display());
            expected.insert(path);
        }
    }
    let files = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        entries.map(|entry| entry.expect("readable").path()).collect::<Vec<_>>()
    };
    let folders = files(&corpus()).into_iter().filter(|path| path.is_dir());
    let stored = folders.flat_map(|folder| files(&folder));
    let stored: BTreeSet<_> = stored
        .map(|path| path.strip_prefix(corpus()).expect("below the corpus").to_owned())
        .collect();
    assert_eq!(stored, expected, "files without a case, or cases without a file");
}

/// Found by fuzzing: the FRE sub-section ends directly after the attributes of a function with one row. The header has
/// 28 bytes, the only entry 16 and the attributes 5, so the row would be at 0x31.
#[test]
fn a_missing_row_after_attributes_is_truncated() {
    let path = sframe_corpus::corpus().join("regressions/row-missing-behind-attributes.sframe");
    let data = std::fs::read(path).expect("readable");
    assert_eq!(data.len(), 0x31);
    let report = Checker::default().section(&data, Placement::at(0));
    let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    assert_eq!(
        (finding.rule.name, finding.offset, finding.row),
        ("row-truncated", Some(0x31), Some(0))
    );
}

/// The gap has the size that version 2 would need, 4 more bytes for each of 2 functions. But the entries and rows of
/// version 3 are all present, so it is only a gap.
#[test]
fn a_gap_is_not_mistaken_for_another_version() {
    let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
    builder.with(|fields| fields.gap_before_rows = vec![0; 8]);
    builder.function(sound::first(Abi::Amd64, 0x1000)).function(sound::second(Abi::Amd64, 0x1010));
    let built = builder.build().expect("it can be built");
    let report = Checker::default().section(&built.bytes, Placement::at(0));
    let rules: Vec<_> = report.counts.iter().map(|(rule, _)| rule.name).collect();
    assert_eq!(rules, ["subsection-gap"]);
}

/// GNU as 2.47.50, `corpus/differences/frame-pointer-restored`: the third row's words are 0x39 0x10 0x00 0x00 0xf0 from
/// 0x41 on (objdump -s). FP's control word, the fourth word, is 0.
#[test]
fn a_zero_control_word_for_fp_is_an_error() {
    let path = sframe_corpus::corpus().join("differences/frame-pointer-restored/2.47.50.o");
    let data = std::fs::read(path).expect("readable");
    let report = check(&data, &Options::default());
    let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    let place = (finding.rule.name, finding.offset, finding.row);
    assert_eq!(place, ("flex-layout", Some(0x44), Some(2)));
}
