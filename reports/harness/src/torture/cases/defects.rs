//! Defects of the malformed corpus in sections of versions 1 and 2. The corpus has most of them in version 3,
//! which not every reader knows.

use sframe_validator::rules::Rule;
use sframe_validator::write::{FunctionBuilder, SectionBuilder, StoredHeader};
use sframe_validator::{Abi, Version};

use super::file::of_rule;
use super::sound::{at_entry, builder, two_functions};
use crate::torture::case::{Case, Kind};

const ABI: Abi = Abi::Amd64;

/// One case for each defect and version.
pub(super) fn cases() -> Vec<Case> {
    [Version::V1, Version::V2].into_iter().flat_map(of_version).collect()
}

fn of_version(version: Version) -> impl Iterator<Item = Case> {
    let sections = in_header(version).into_iter().chain(in_functions(version));
    let case = move |(name, builder): (&str, SectionBuilder)| {
        let folder = format!("defects/v{}", version.number());
        let mut section = builder.build().ok()?.bytes;
        if name == "section-truncated" {
            section.truncate(20);
        }
        of_rule(&folder, Kind::Defect, Rule::find(name)?, &section)
    };
    sections.filter_map(case)
}

/// The rule that is broken, and the section.
type Defect = (&'static str, SectionBuilder);

fn in_header(version: Version) -> Vec<Defect> {
    let two = || two_functions(version, ABI);
    let mut defects = vec![("section-truncated", two())];
    let mut defect = |rule, change: fn(&mut StoredHeader)| {
        let mut builder = two();
        builder.with(|section| change(&mut section.header));
        defects.push((rule, builder));
    };
    defect("bad-magic", |o| o.magic = 0xdee3);
    defect("unknown-abi", |o| o.abi_arch = 9);
    defect("auxiliary-header-outside", |o| o.auxhdr_len = Some(255));
    defect("function-table-outside", |o| o.num_fdes = Some(1_000));
    defect("rows-outside", |o| o.fre_len = Some(1_000));
    defect("subsection-overlap", |o| o.freoff = Some(4));
    defect("row-count-total", |o| o.num_fres = Some(0));
    defects
}

fn in_functions(version: Version) -> Vec<Defect> {
    let function = || FunctionBuilder::new(0x1000, 16);
    let entered = || function().row(0, at_entry(ABI));
    let of = |function: FunctionBuilder| {
        let mut builder = builder(version, ABI);
        builder.function(function);
        builder
    };
    // Info bytes: bit 0 says that the CFA is based on SP, bits 1 to 4 count the words, bits 5 and 6 are their width.
    vec![
        ("rows-offset-outside", of(entered().with(|f| f.fre_offset = Some(1_000)))),
        ("fre-type", of(entered().with(|f| f.info = 3))),
        ("row-truncated", of(function().raw_row(0, 0x03, &[]))),
        ("word-size-reserved", of(function().raw_row(0, 0x63, &[8]))),
        ("word-count", of(function().raw_row(0, 0x5f, &[8; 60]))),
        ("row-past-end", of(entered().raw_row(200, 0x03, &[16]))),
        ("row-at-end", of(entered().raw_row(16, 0x03, &[16]))),
        ("row-order", of(entered().raw_row(8, 0x03, &[16]).raw_row(4, 0x03, &[24]))),
        ("function-size-zero", of(FunctionBuilder::new(0x1000, 0).row(0, at_entry(ABI)))),
    ]
}
