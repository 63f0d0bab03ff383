//! Passes whole ELF files and archives to the check, the comparison with CFI, and the renderers. Nothing panics, and
//! every byte of code gets one verdict.
//!
//! The program itself opens files by path, so this target combines its parts: archive members, the check, the record,
//! its text and its JSON.

mod orc;

use std::io;
use std::path::Path;

use sframe_defects::{RowDefects, recognise};
use sframe_input::MemberCount;
use sframe_input::SectionSource;
use sframe_input::archive::{self, Content};
use sframe_oracle::account::{self, Witnesses, account_each};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::amd64_instruction_length;
use sframe_oracle::compare::{CfiConfirms, Sums, compare};
use sframe_oracle::debug_file;
use sframe_oracle::diff::{Change, Matching, Set, Source, diff};
use sframe_policy::{Judge, Policy};
use sframe_record::{FileName, Record, Status, SymbolNames};
use sframe_render::report::{JsonLines, Renderer, Text, TextOptions};
use sframe_scan::describe::{
    Comparison, Gathered, Gatherer, Located, Names, checked, coverage, producers, proofs,
};
use sframe_synthesis::{Encoding, Place, forecast, synthesize};
use sframe_validator::Section;
use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::finding::Finding;
use sframe_validator::rules::Severity;

/// Checks a file or an archive, and prints the result.
///
/// # Panics
/// Panics if the check or the comparison violates a guarantee.
pub fn run(data: &[u8]) {
    if !archive::is_archive(data) {
        return file(data);
    }
    let mut headers = Vec::new();
    let mut bytes = 0;
    let mut count = MemberCount::default();
    for member in archive::members(data, &mut count).map_while(Result::ok) {
        let Content::Bytes(data) = member.content else { continue };
        // Members cannot overlap, so together they are no longer than the archive.
        bytes += data.len();
        file(data);
        let Ok(elf) = Elf::parse(data) else { continue };
        let sections = Checker::default().elf(&elf).sections;
        headers.extend(sections.first().and_then(|section| section.header));
    }
    assert!(bytes <= data.len());
    let inputs: Vec<_> = headers.into_iter().map(|header| ("member", header)).collect();
    let report = Checker::default().link_set(&inputs);
    let record = checked(report, &[], &Names::of(None), Comparison::default());
    render(Record { status: Status::Archive, ..record });
}

fn file(data: &[u8]) {
    let Ok(elf) = Elf::parse(data) else { return };
    let quick = Checker::default().elf(&elf);
    let thorough = Checker::new(&Options { thorough: true, ..Options::default() }).elf(&elf);
    assert_eq!(quick.counts, thorough.counts);
    let report = Checker::new(&Options { pedantic: true, ..Options::default() })
        .amd64_instructions(amd64_instruction_length)
        .elf(&elf);
    let contents: Vec<_> = elf.sframe_contents().collect();
    let sources: Vec<_> = contents.iter().flat_map(SectionSource::of).collect();
    own_debug_file(&elf, data);
    let names = Names::of(Some(&elf));
    let slots = contents.iter().map(|content| (Some(content.header.index), content.header.offset));
    let mut located = Located::new(slots, &sources, &names);
    let (comparison, differences) = compared(&elf, &sources, &names).unwrap_or_default();
    let mut record = checked(report, &sources, &names, comparison);
    let differences = differences.into_iter();
    record
        .findings
        .extend(differences.map(|(finding, gathered)| located.record(finding, gathered)));
    render(record);
}

/// Sweeps over the code with both sides. The ranges must be in order, no byte may be counted twice, and the account
/// must have the same sums.
fn compared(
    elf: &Elf<'_>,
    sources: &[SectionSource<'_>],
    names: &Names<'_, '_>,
) -> Option<(Comparison, Vec<(Finding, Gathered)>)> {
    let mut sections = Vec::new();
    for source in sources {
        let placement = source.placement.with_abi(elf.abi());
        sections.extend(Section::parse(source.data, placement));
    }
    same_as_itself(elf, &sections);
    let orc = orc::functions(elf);
    let cfi = match &orc {
        Some(functions) => vec![functions.cfi()],
        None => Cfi::load_all(elf).ok()?,
    };
    confirmed(elf, &cfi);
    predicted(elf, &cfi);
    let mut last = (0, 0);
    let mut reported = 0_u128;
    let totals = compare(elf, &sections, &cfi, |range| {
        assert!(range.start < range.end, "{range:?}");
        assert!(last <= (range.section, range.start), "{range:?} before {last:x?}");
        last = (range.section, range.end);
        reported += u128::from(range.end - range.start);
    });
    assert_eq!(reported.min(LARGE), unequal(&totals.bytes).min(LARGE));
    let options = account::Options {
        pedantic: true,
        witnesses: Witnesses::All,
        functions_without_entry: 3,
        ..account::Options::default()
    };
    let mut differences = Vec::new();
    let mut gatherer = Gatherer::new(elf, &sections);
    let mut defects = RowDefects::new(elf, &sections, &cfi, producers);
    let account = account_each(elf, &sections, &cfi, &options, &mut defects, &mut |difference| {
        let gathered = gatherer.gathered(&difference);
        differences.push((difference.finding, gathered));
    });
    // Where the code proves both right, they do not differ.
    let alike = totals.bytes.different.checked_sub(account.sums.different).expect("no more");
    let (equal, different) = (totals.bytes.equal + alike, account.sums.different);
    assert_eq!(account.sums, Sums { equal, different, ..totals.bytes });
    let coverage = Some(coverage(&account, names, None));
    let proofs = account.proofs.as_ref().map(|sums| Box::new(proofs(sums, elf, names)));
    Some((Comparison { coverage, proofs, ..Comparison::default() }, differences))
}

/// Checks the findings when CFI confirms rows: the check's shortcuts do not change them, and no rule above lint level
/// has more findings than without CFI.
fn confirmed(elf: &Elf<'_>, cfi: &[Cfi<'_>]) {
    let pedantic = Options { pedantic: true, ..Options::default() };
    let thorough = Options { thorough: true, ..pedantic };
    let quick = Checker::new(&pedantic).confirm(&CfiConfirms::new(cfi)).elf(elf);
    let thorough = Checker::new(&thorough).confirm(&CfiConfirms::new(cfi)).elf(elf);
    assert_eq!(quick.counts, thorough.counts);
    let alone = Checker::new(&pedantic).elf(elf);
    for (rule, count) in quick.counts.iter().filter(|(rule, _)| rule.severity > Severity::Lint) {
        let without = alone.counts.iter().find(|(known, _)| known == rule);
        assert!(without.is_some_and(|(_, without)| count <= without), "{}", rule.name);
    }
}

/// Measures the section that each encoding would have, and writes it: both say the same.
fn predicted(elf: &Elf<'_>, cfi: &[Cfi<'_>]) {
    for encoding in Encoding::ALL {
        let Ok(made) = synthesize(elf, cfi, encoding, Place::of(elf)) else { continue };
        let predicted = forecast(elf, cfi, encoding).expect("it was written");
        assert_eq!(predicted.losses, made.losses, "{encoding:?}");
        if let Some(section) = predicted.section {
            assert_eq!(section, made.account, "{encoding:?}");
        }
    }
}

/// Checks that a file does not differ from itself.
fn same_as_itself(elf: &Elf<'_>, sections: &[Section<'_>]) {
    let symbols = SymbolTable::load(elf).unwrap_or_default();
    let set = Set { source: Source::Sframe(sections), elf, symbols: &symbols };
    for matching in [Matching::Address, Matching::Symbol] {
        let mut undecided = 0_u128;
        let totals = diff(&set, &set, matching, |range| {
            assert_eq!(range.change, Change::Undecided, "{range:?}");
            undecided += u128::from(range.end - range.start);
        });
        assert_eq!(undecided.min(LARGE), u128::from(totals.undecided).min(LARGE));
        assert_eq!((totals.functions_only_first, totals.functions_only_second), (0, 0));
    }
}

/// Searches for the file's debug file, and checks that the file itself would be accepted.
fn own_debug_file(elf: &Elf<'_>, data: &[u8]) {
    let candidates = debug_file::candidates(Path::new("/bin/file"), elf, &["/debug".into()]);
    assert!(candidates.len() <= 4, "{candidates:?}");
    let checked = debug_file::check(elf, data);
    assert!(checked.is_ok() || debug_file::build_id(elf).is_none(), "{checked:?}");
}

/// From this number of bytes of code on, sums may saturate, because each section of an object can be that long.
const LARGE: u128 = u64::MAX as u128;

/// The sum is not [`Sums::total`], which saturates.
fn unequal(sums: &Sums) -> u128 {
    let sums = [
        sums.limited,
        sums.different,
        sums.only_cfi,
        sums.only_sframe,
        sums.neither,
        sums.undecided,
    ];
    sums.into_iter().map(u128::from).sum()
}

fn render(record: Record<'static>) {
    let record = record.named(&FileName::file("file".into()));
    read_again(&record);
    let mut record = record;
    recognise(&mut record);
    let record = Judge::new(Policy::default()).judge(record);
    read_again(&record);
    let (verbose, all, coverage, summary) = (true, true, true, true);
    let options = TextOptions {
        verbose,
        all,
        coverage,
        summary,
        findings: true,
        known: true,
        names: SymbolNames::Demangled,
        width: Some(80),
    };
    let mut renderers: [Box<dyn Renderer>; 2] =
        [Box::new(Text::new(io::sink(), options)), Box::new(JsonLines::new(io::sink(), None))];
    let mut each = renderers.iter_mut();
    let written = each.try_for_each(|renderer| record.clone().hand_over(renderer.as_mut()));
    written.expect("nothing is written to");
}

/// Checks that a record stays the same when it is written as JSON and read again.
fn read_again(record: &Record<'_>) {
    let json = serde_json::to_string(record).expect("a record is JSON");
    assert_eq!(Record::parse(&json).expect("a record"), *record);
}
