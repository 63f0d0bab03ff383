//! What a worker does with a file besides checking it: compare its sections with its CFI.

use std::path::{Path, PathBuf};

use sframe_oracle::account::{self, account};
use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::compare::CfiConfirms;
use sframe_validator::Section;
use sframe_validator::check::{check_elf, check_elf_confirmed};
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Report, Undecided};

use super::options::{Against, CheckOptions};
use crate::record::{Comparison, Gatherer, Names, coverage, undecided};
use sframe_input::{DebugFile, SectionSource};

/// Whether a file's CFI is looked at: to compare sections with it, or for its coverage.
pub(super) fn is_wanted(elf: &Elf<'_>, options: &CheckOptions) -> bool {
    let has_section = || elf.sframe_sections().next().is_some();
    options.coverage || (options.against != Against::None && has_section())
}

/// Checks the sections of `elf`, and compares them with its CFI, which also confirms rows that look
/// odd to a rule. `path` is where the file is installed.
pub(super) fn check_and_compare(
    path: &Path,
    elf: &Elf<'_>,
    sources: &[SectionSource<'_>],
    names: &Names<'_, '_>,
    options: &CheckOptions,
) -> (Report, Comparison) {
    let (debug_file, refused) = match debug_file(path, elf, options) {
        Ok(found) => (found, None),
        Err(refused) => (None, Some(Undecided { section: None, reason: refused })),
    };
    let debug_elf = debug_file.as_ref().and_then(|file| Elf::parse(&file.data).ok());
    let cfi: Vec<CfiSource<'_, '_>> =
        [Some(elf), debug_elf.as_ref()].into_iter().flatten().map(CfiSource::of).collect();
    let cfi = load(&cfi);
    let mut report = match &cfi {
        Ok(cfi) => check_elf_confirmed(elf, &options.validator, &CfiConfirms::new(cfi)),
        Err(_) => check_elf(elf, &options.validator),
    };
    report.undecided.extend(refused);
    let debug_path = debug_file.as_ref().map(|file| file.path.clone());
    let cfi = cfi.as_deref().map_err(String::as_str);
    let comparison = compare(elf, sources, cfi, debug_path, names, &mut report, options);
    (report, comparison)
}

/// Compares the sections of `elf` that `report` is about with its CFI. Counts, undecided parts and
/// findings without evidence go into the report.
fn compare(
    elf: &Elf<'_>,
    sources: &[SectionSource<'_>],
    cfi: Result<&[Cfi<'_>], &str>,
    debug_path: Option<PathBuf>,
    names: &Names<'_, '_>,
    report: &mut Report,
    options: &CheckOptions,
) -> Comparison {
    let read = sections(sources, report).and_then(|sections| Ok((sections, cfi?)));
    let (sections, cfi) = match read {
        Ok(read) => read,
        Err(why) => return not_compared(why, report),
    };
    // CFI of which nothing can be read is no reason to be silent: its defects are told.
    let none = cfi.iter().all(|cfi| cfi.is_empty() && cfi.defects().is_empty());
    if none && !options.coverage {
        if options.against == Against::Cfi {
            return not_compared("the file has none".to_owned(), report);
        }
        return Comparison::default();
    }
    let kept =
        account::Options { keep: options.validator.keep, pedantic: options.validator.pedantic };
    let account = account(elf, &sections, cfi, &kept);
    let mut gatherer = Gatherer::new(elf, &sections);
    let differences = account
        .differences
        .iter()
        .filter(|difference| options.wants(difference.finding.rule))
        .map(|difference| (difference.finding.clone(), gatherer.gather(difference)))
        .collect();
    let with_section = !sections.is_empty();
    let unnamed = Names::of(None);
    let names = if with_section || options.named_examples { names } else { &unnamed };
    let coverage = coverage(&account, names, debug_path.as_deref());
    report.findings.extend(account.findings);
    report.counts.extend(account.counts);
    report.undecided.extend(account.undecided);
    Comparison { differences, coverage: Some(coverage) }
}

/// The separate debug file of `elf`: in a folder, or else in a package.
fn debug_file(
    path: &Path,
    elf: &Elf<'_>,
    options: &CheckOptions,
) -> Result<Option<DebugFile>, String> {
    let found = match options.debug_dirs.as_slice() {
        [] => None,
        folders => DebugFile::find(path, elf, folders)?,
    };
    if found.is_none()
        && let Some(packages) = &options.debug_packages
    {
        return packages.find(elf);
    }
    Ok(found)
}

/// The sections that `report` is about. What is stored in them has to be certain: else nothing can
/// be said about the code that they describe, or do not.
fn sections<'s>(
    sources: &'s [SectionSource<'_>],
    report: &Report,
) -> Result<Vec<Section<'s>>, String> {
    if let Some(section) = report.sections.iter().find(|section| !section.certain_layout) {
        return Err(format!("what {} says is not known for certain", section.name));
    }
    let parse = |source: &'s SectionSource<'_>| {
        let section = Section::parse(source.data, source.placement());
        section.map_err(|error| format!("{}: {error}", source.name))
    };
    sources.iter().map(parse).collect()
}

fn load<'c>(sources: &'c [CfiSource<'_, '_>]) -> Result<Vec<Cfi<'c>>, String> {
    let loaded: Result<Vec<_>, _> = sources.iter().map(CfiSource::load_all).collect();
    Ok(loaded.map_err(|error| error.to_string())?.into_iter().flatten().collect())
}

/// All of the code is undecided; why.
fn not_compared(why: String, report: &mut Report) -> Comparison {
    let reason = format!("not compared with CFI: {why}");
    report.undecided.push(Undecided { section: None, reason });
    Comparison { differences: Vec::new(), coverage: Some(undecided(report.code_bytes)) }
}
