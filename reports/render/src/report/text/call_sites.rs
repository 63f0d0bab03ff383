//! What a stack walker finds after the calls of files.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::numbers::counted;
use sframe_record::{CallSiteTotal, CallSites, Summary};

use crate::report::table;
use crate::report::wrap::wrap;

/// The number of packages that are listed.
const PACKAGES: usize = 20;

const BOLD: Style = Style::new().bold();

/// Writes what a walker finds in one file. `noun` is what people call the table that SFrame was compared with.
pub(super) fn file(
    out: &mut dyn Write,
    (name, sites): (&str, &CallSites),
    noun: &str,
    width: Option<usize>,
) -> io::Result<()> {
    writeln!(out, "{BOLD}{name}{BOLD:#}: call sites")?;
    lines(out, sites, (noun, 2), width)
}

/// Writes what walkers of both kinds find in a single file whose figures were written with it.
pub(super) fn of_listed_file(out: &mut dyn Write, width: Option<usize>) -> io::Result<()> {
    let text = format!(
        "call sites: a walker that looks up the return address itself may miss rows, as listed; {}",
        CallSites::OTHER_WALKER
    );
    writeln!(out, "  {}", wrap(&text, 4, width))
}

/// Writes what walkers of both kinds find in all files.
pub(super) fn totals(
    out: &mut dyn Write,
    total: &CallSiteTotal,
    summary: &Summary<'_>,
    width: Option<usize>,
) -> io::Result<()> {
    let files = counted(total.files, "file");
    let text =
        format!("call sites of {files}, by a walker that looks up the return address itself:");
    writeln!(out, "  {}", wrap(&text, 4, width))?;
    lines(out, &total.sites, (summary.tables(), 4), width)?;
    writeln!(out, "    {}", wrap(CallSites::OTHER_WALKER, 6, width))?;
    let Some(packages) = summary.several_call_site_packages() else { return Ok(()) };
    writeln!(out, "{BOLD}call sites{BOLD:#} of {}", packages.subject(PACKAGES))?;
    write!(out, "{}", table::text(&packages.table(PACKAGES, summary.tables())))
}

fn lines(
    out: &mut dyn Write,
    sites: &CallSites,
    (noun, indent): (&str, usize),
    width: Option<usize>,
) -> io::Result<()> {
    let mut sentences = sites.sentences(noun);
    if sentences.is_empty() {
        sentences.push("no row describes a call".to_owned());
    }
    sentences.iter().try_for_each(|sentence| {
        writeln!(out, "{:indent$}{}", "", wrap(sentence, indent + 2, width))
    })
}
