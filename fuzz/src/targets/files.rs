//! Whole ELF files and archives to the check, the comparison with CFI, and the renderers: nothing
//! panics, and every byte of code gets one verdict.
//!
//! The program's own scan opens files by path, so that its parts are put together here: archive
//! members, the check, the report, its text and its JSON.

use std::io::{self, Write};
use std::path::Path;

use sframe_check::input::archive::{self, Content};
use sframe_check::input::sframe_sections;
use sframe_check::render::{JsonLines, Renderer, Text, TextOptions};
use sframe_check::report::{Checked, FileName, FileReport, Outcome};
use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::compare::{Sums, compare};
use sframe_oracle::coverage::{Stubs, cause};
use sframe_validator::check::{Options, check_elf, check_link_set};
use sframe_validator::elf::Elf;
use sframe_validator::finding::Report;
use sframe_validator::{Section, Version};

/// Checks a file or an archive, and says what was found.
///
/// # Panics
/// Where a promise of the check or of the comparison is broken.
pub fn run(data: &[u8]) {
    if !archive::is_archive(data) {
        return file(data);
    }
    let Ok(members) = archive::members(Path::new("lib.a"), data) else { return };
    let mut headers = Vec::new();
    let mut bytes = 0;
    for member in members {
        let Content::Bytes(data) = member.content else { continue };
        // Members cannot overlap, so that all of them are no longer than the archive.
        bytes += data.len();
        file(data);
        let Ok(elf) = Elf::parse(data) else { continue };
        let sections = check_elf(&elf, &Options::default()).sections;
        headers.extend(sections.first().and_then(|section| section.header));
    }
    assert!(bytes <= data.len());
    let inputs: Vec<_> = headers.into_iter().map(|header| ("member", header)).collect();
    render(check_link_set(&inputs, &Options::default()), None);
}

fn file(data: &[u8]) {
    let Ok(elf) = Elf::parse(data) else { return };
    let quick = check_elf(&elf, &Options::default());
    let thorough = check_elf(&elf, &Options { thorough: true, ..Options::default() });
    assert_eq!(quick.counts, thorough.counts);
    render(check_elf(&elf, &Options { pedantic: true, ..Options::default() }), Some(&elf));
    compared(&elf);
}

/// Sweeps over the code with both sides; the ranges have to be in order, and no byte counted
/// twice.
fn compared(elf: &Elf<'_>) {
    let sources: Vec<_> = sframe_sections(elf).flatten().collect();
    let mut sections = Vec::new();
    for source in &sources {
        let placement = source.placement().with_abi(elf.abi());
        sections.extend(Section::parse(source.data, placement));
    }
    let Ok(cfi) = Cfi::load_all(elf) else { return };
    let mut last = (0, 0);
    let mut told = 0_u128;
    let sums = compare(elf, &sections, &cfi, |range| {
        assert!(range.start < range.end, "{range:?}");
        assert!(last <= (range.section, range.start), "{range:?} behind {last:x?}");
        last = (range.section, range.end);
        told += u128::from(range.end - range.start);
    });
    assert_eq!(told.min(LARGE), unequal(&sums).min(LARGE));
    let stubs = Stubs::of(elf);
    for cfi in &cfi {
        let mut context = RowContext::new(cfi);
        for fde in cfi.functions() {
            let _ = cause(&stubs, &fde, Version::V3, &mut context);
        }
    }
}

/// Bytes of code from which on sums may be cut: sections of objects can be that long each.
const LARGE: u128 = u64::MAX as u128;

/// Not [`Sums::total`], which does not hold the sum of code in several sections
/// (`corpus/regressions/code-longer-than-address-space.o`).
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

fn render(report: Report, elf: Option<&Elf<'_>>) {
    let sources: Vec<_> = elf.into_iter().flat_map(sframe_sections).flatten().collect();
    let checked = Box::new(Checked::new(report, &sources, elf));
    let outcome = if elf.is_some() { Outcome::Checked(checked) } else { Outcome::Members(checked) };
    let name = FileName { path: "file".into(), member: None };
    let report = FileReport { name, outcome };
    let written = Text::new(io::sink(), TextOptions { verbose: true, width: Some(80) })
        .file(&report)
        .and_then(|()| JsonLines::new(io::sink()).file(&report))
        .and_then(|()| io::sink().flush());
    written.expect("nothing is written to");
}
