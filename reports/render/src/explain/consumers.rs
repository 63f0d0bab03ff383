//! The pages of consumers.

use std::io::{self, Write};

use sframe_consumers::Page;

use super::{BOLD, parts};
use crate::report::wrap;

pub(super) fn page(out: &mut dyn Write, page: &Page, width: Option<usize>) -> io::Result<()> {
    let Page { name, also, title, versions, source, without_row, .. } = *page;
    writeln!(out, "{BOLD}{name}{BOLD:#} (consumer)\n")?;
    writeln!(out, "  {}", wrap(title, 2, width))?;
    let numbers: Vec<String> = page.reads.iter().map(|number| format!("V{number}")).collect();
    let machines: Vec<&str> = page.machines.iter().map(|machine| machine.name()).collect();
    let reads = format!("{} on {}", numbers.join(", "), machines.join(", "));
    let pages = [
        ("Covers", versions.to_owned()),
        ("Other names for --for", also.join(", ")),
        ("Reads", reads),
        ("Without a row", without_row.to_owned()),
        ("Read in", source.to_owned()),
    ];
    parts(out, &pages, width)?;
    let rules = page.statements.iter();
    let rules =
        rules.map(|of| format!("{}: {} ({})", of.subject.heading(), of.text, of.basis.mark()));
    list(out, "Rules", rules, width)?;
    let faults = page.faults.iter();
    let faults = faults.map(|of| format!("{}: {} ({})", of.versions, of.text, of.basis.mark()));
    list(out, "Known faults", faults, width)?;
    list(out, "What to do", page.producers.iter().map(|advice| (*advice).to_owned()), width)
}

fn list(
    out: &mut dyn Write,
    title: &str,
    items: impl Iterator<Item = String>,
    width: Option<usize>,
) -> io::Result<()> {
    let mut items = items.peekable();
    if items.peek().is_some() {
        writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
    }
    items.try_for_each(|item| writeln!(out, "  - {}", wrap(&item, 4, width)))
}
