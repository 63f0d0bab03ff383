//! Compares the sections of a file with its CFI or its ORC tables.

use std::cell::OnceCell;

use sframe_oracle::account::{self, Account, Witnesses, account_each};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::amd64_instruction_length;
use sframe_oracle::compare::CfiConfirms;
use sframe_oracle::rules::{REGISTER_CONTRADICTS_CODE, WRONG_FRAME_AFTER_CALL};
use sframe_validator::Section;
use sframe_validator::check::{Checker, Confirm, Options};
use sframe_validator::elf::{Elf, SectionHeaders};
use sframe_validator::finding::{Finding, Keep, Report, Undecided, UndecidedCause};
use sframe_validator::unwind::{CodeAddress, Frame};

use super::call_sites;
use super::elf_file::ElfFile;
use super::held::Held;
use super::not_comparable::{CFI_LOST, NotComparable, TablesError, UnusableSections};
use super::options::{Against, CheckOptions};
use super::tables::{Tables, has_cfi, with_tables};
use crate::describe::{
    Comparison, Gathered, Gatherer, Names, Ways, coverage, producers, proofs, undecided,
};
use sframe_defects::RowDefects;
use sframe_input::SectionSource;
use sframe_record::UnwindTable;

/// Whether a file's CFI is needed: to compare sections with it, for the coverage, or to be compared itself.
pub(super) fn is_wanted(elf: &Elf<'_>, options: &CheckOptions) -> bool {
    let has_section = || elf.sframe_sections().next().is_some();
    options.coverage
        || options.thorough
        || options.call_sites
        || (options.against != Against::None && has_section())
}

/// Checks the sections of `file`, and hands over each finding.
pub(super) fn check(
    file: &ElfFile<'_>,
    options: &CheckOptions,
    confirm: &dyn Confirm,
    held: &mut Held,
) -> Report {
    let mut located = file.located();
    let mut found = |finding: Finding| {
        if options.looks_for(finding.rule) {
            held.push(located.record(finding, Gathered::default()));
        }
    };
    let options = &options.validator;
    let report = Checker::new(options)
        .confirm(confirm)
        .amd64_instructions(amd64_instruction_length)
        .contents_each(file.elf, file.contents, &mut found);
    held.sort();
    report
}

/// Checks the sections of `file`, and compares them with its CFI, which also confirms rows that look wrong to a rule. `held`
/// takes what both find.
pub(super) fn check_and_compare(
    file: &ElfFile<'_>,
    options: &CheckOptions,
    held: &mut Held,
) -> (Report, Comparison) {
    let &ElfFile { path, elf, sources, names, .. } = file;
    with_tables(path, elf, options, |tables| {
        let check = || check(file, options, &Confirms::of(tables), held);
        // Two threads share a large file: one reads the tables while the other checks the section. What the check finds may
        // make the comparison useless.
        let compare = || compare(file, tables.get(), options);
        let (mut report, (account, differences)) = rayon::join(check, compare);
        let cfi = tables.get();
        report.undecided.extend(tables.undecided());
        if options.against == Against::Any && is_cfi_lost(elf, cfi) {
            let reason = format!("not compared with CFI: {CFI_LOST}");
            let cause = UndecidedCause::Comparison;
            report.undecided.push(Undecided { section: None, cause, reason });
        }
        let (sections, cfi) = match comparable((elf, sources), cfi, &report, options) {
            Ok(Some(comparable)) => comparable,
            Ok(None) => {
                let sums = Some(account.sums);
                return (report, Comparison { sums, ..Comparison::default() });
            }
            Err(why) => {
                let sums = Some(account.sums).filter(|_| options.compares_with_tables());
                let comparison = not_compared(&why, options, &mut report);
                return (report, Comparison { sums, ..comparison });
            }
        };
        let has_section = !sections.is_empty();
        let kept = kept(options, &sections);
        let unnamed = Names::of(None);
        let is_named = has_section || options.named_examples || account.proofs.is_some();
        let names = if is_named { names } else { &unnamed };
        let is_compared = kept.witnesses != Witnesses::Code && has_section && has_cfi(cfi);
        let is_covered = options.coverage || is_compared;
        let coverage = is_covered.then(|| coverage(&account, names, tables.debug_file()));
        let proofs = account.proofs.as_ref().map(|sums| Box::new(proofs(sums, elf, names)));
        let examined = options
            .call_sites
            .then(|| call_sites::examine(elf, &sections, cfi, kept.keep))
            .flatten();
        let call_sites = examined.as_ref().map(|examined| examined.sums);
        if options.call_sites && call_sites.is_none() {
            let reason = "call sites are examined on AMD64 and AArch64".to_owned();
            let cause = UndecidedCause::Machine;
            report.undecided.push(Undecided { section: None, cause, reason });
        }
        let mut located = file.located();
        let mut found = account.findings;
        if let Some(examined) = examined.filter(|examined| examined.count > 0) {
            found.extend(examined.findings);
            report.counts.push((WRONG_FRAME_AFTER_CALL, examined.count));
        }
        let found = found.into_iter().filter(|finding| options.looks_for(finding.rule));
        let mut ways = options.why.then(|| Ways::new(elf, &sections, cfi, file.names));
        found.for_each(|finding| {
            let place = finding.code.filter(|_| finding.rule == REGISTER_CONTRADICTS_CODE);
            let ways = ways.as_mut().zip(place);
            let why = ways.and_then(|(ways, place)| ways.of_registers(place.start));
            held.push(located.record(finding, Gathered { why, ..Gathered::default() }));
        });
        held.append(differences);
        report.counts.extend(account.counts);
        report.undecided.extend(account.undecided);
        let (table, known) = (table_of(cfi), account.known);
        let sums = Some(account.sums).filter(|_| options.compares_with_tables());
        (report, Comparison { known, table, coverage, proofs, call_sites, sums })
    })
}

/// Whether the file may have CFI that cannot be found.
fn is_cfi_lost(elf: &Elf<'_>, cfi: Result<&[Cfi<'_>], TablesError>) -> bool {
    elf.section_headers() != SectionHeaders::Listed && cfi.is_ok_and(<[Cfi<'_>]>::is_empty)
}

/// Compares the readable sections of a file with its CFI, as far as there is any. Also returns the differences.
fn compare<'c>(
    file: &ElfFile<'_>,
    cfi: Result<&'c [Cfi<'c>], TablesError>,
    options: &CheckOptions,
) -> (Account<'c>, Held) {
    let sources = file.sources.iter();
    let sections: Vec<_> = sources.filter_map(|source| source.section.ok()).collect();
    let cfi = cfi.unwrap_or_default();
    let mut differences = Held::default();
    let ways = options.why.then(|| Ways::new(file.elf, &sections, cfi, file.names));
    let mut gatherer = Gatherer::new(file.elf, &sections).with_proofs(ways);
    let mut located = file.located();
    let mut defects =
        RowDefects::new(file.elf, &sections, cfi, producers).by_directives(options.by_directives);
    let kept = kept(options, &sections);
    let account = account_each(file.elf, &sections, cfi, &kept, &mut defects, &mut |one| {
        if options.looks_for(one.finding.rule) {
            let gathered = gatherer.gathered(&one);
            differences.push(located.record(one.finding, gathered));
        }
    });
    (account, differences)
}

/// Confirms rows with tables, which are read when the first row is asked for.
struct Confirms<'c, 't> {
    tables: &'c Tables<'t>,
    confirms: OnceCell<Option<CfiConfirms<'c>>>,
}

impl<'c, 't> Confirms<'c, 't> {
    const fn of(tables: &'c Tables<'t>) -> Confirms<'c, 't> {
        Confirms { tables, confirms: OnceCell::new() }
    }
}

impl Confirm for Confirms<'_, '_> {
    fn confirms(&self, start: CodeAddress, end: u64, frame: &Frame) -> bool {
        let new = || self.tables.get().ok().map(CfiConfirms::new);
        let confirms = self.confirms.get_or_init(new);
        confirms.as_ref().is_some_and(|confirms| confirms.confirms(start, end, frame))
    }
}

/// The maximum number of functions without an entry that a record lists, and with `--all`.
const WITHOUT_ENTRY: usize = 100;
const ALL_WITHOUT_ENTRY: usize = 100_000;

fn kept(options: &CheckOptions, sections: &[Section<'_>]) -> account::Options {
    let witnesses = match options.against {
        Against::Code => Witnesses::Code,
        _ if options.thorough => Witnesses::All,
        _ => Witnesses::Cfi,
    };
    let Options { keep, pedantic, .. } = options.validator;
    let is_named = !sections.is_empty() || options.named_examples;
    let functions_without_entry = match keep {
        _ if !options.coverage || !is_named => 0,
        Keep::All => ALL_WITHOUT_ENTRY,
        Keep::First(_) => WITHOUT_ENTRY,
    };
    account::Options { keep, pedantic, witnesses, functions_without_entry }
}

/// Sections, and the CFI to compare them with.
type Comparable<'s, 'c> = (Vec<Section<'s>>, &'c [Cfi<'c>]);

/// The sections in `report` and the CFI to compare them with; `None` if there is no CFI and it was not requested.
///
/// # Errors
/// Returns the reason why they cannot be compared.
fn comparable<'s, 'c>(
    (elf, sources): (&Elf<'_>, &'s [SectionSource<'_>]),
    cfi: Result<&'c [Cfi<'c>], TablesError>,
    report: &Report,
    options: &CheckOptions,
) -> Result<Option<Comparable<'s, 'c>>, NotComparable> {
    let sections = sections(sources, report)?;
    if options.against == Against::Code {
        return Ok(Some((sections, cfi.unwrap_or_default())));
    }
    let cfi = cfi?;
    if has_cfi(cfi) || options.coverage {
        Ok(Some((sections, cfi)))
    } else if matches!(options.against, Against::Cfi | Against::Orc) {
        let is_lost = is_cfi_lost(elf, Ok(cfi));
        Err(if is_lost { NotComparable::CfiLost } else { NotComparable::NoTables })
    } else {
        Ok((options.thorough || options.call_sites).then_some((sections, cfi)))
    }
}

/// What the tables are, if there are any.
pub fn table_of(cfi: &[Cfi<'_>]) -> Option<UnwindTable> {
    let is_orc = cfi.iter().any(|cfi| cfi.kind().is_none());
    has_cfi(cfi).then_some(if is_orc { UnwindTable::Orc } else { UnwindTable::Cfi })
}

/// The sections in `report`. Their layout must be certain, because otherwise it is unknown which code they describe.
///
/// # Errors
/// Why one of them cannot be used.
pub fn sections<'s>(
    sources: &'s [SectionSource<'_>],
    report: &Report,
) -> Result<Vec<Section<'s>>, UnusableSections> {
    if let Some(section) = report.sections.iter().find(|section| !section.certain_layout) {
        return Err(UnusableSections::Uncertain(section.name.to_string()));
    }
    let read = |source: &'s SectionSource<'_>| {
        let name = || source.name.clone();
        source.section.map_err(|error| UnusableSections::Unreadable { name: name(), error })
    };
    sources.iter().map(read).collect()
}

/// Reports all of the code as undecided, with the reason.
fn not_compared(why: &NotComparable, options: &CheckOptions, report: &mut Report) -> Comparison {
    let with = match options.against {
        Against::Code => "machine code",
        Against::Orc => "ORC",
        _ => "CFI",
    };
    let reason = format!("not compared with {with}: {why}");
    report.undecided.push(Undecided { section: None, cause: UndecidedCause::Comparison, reason });
    if options.against == Against::Code {
        return Comparison::default();
    }
    let table = (options.against == Against::Orc).then_some(UnwindTable::Orc);
    let coverage = Some(undecided(report.code_bytes));
    Comparison { table, coverage, ..Comparison::default() }
}
