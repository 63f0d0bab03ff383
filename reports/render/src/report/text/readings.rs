//! What consumers do with sections.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::{column_width, printable};
use sframe_record::{Outcome, ReadExample, ReadFunctions, Reading, ReadingTotal, Summary};

use crate::report::table;

const BOLD: Style = Style::new().bold();

/// Writes what each consumer does with a file.
pub(super) fn file(out: &mut dyn Write, name: &str, readings: &[Reading<'_>]) -> io::Result<()> {
    writeln!(out, "{BOLD}consumers{BOLD:#} of {name}")?;
    let first = column_width(readings.iter().map(|of| printable(&*of.consumer)));
    let second = column_width(readings.iter().map(|of| of.outcome.name()));
    for of in readings {
        let (consumer, outcome) = (printable(&*of.consumer), of.outcome.name());
        writeln!(out, "  {consumer:first$}  {outcome:second$}  {}", short(of))?;
        for of in &of.examples {
            writeln!(out, "  {:first$}  {:second$}  {}", "", "", of.line())?;
        }
    }
    Ok(())
}

/// Writes what each consumer does with all files.
pub(super) fn totals(out: &mut dyn Write, summary: &Summary<'_>) -> io::Result<()> {
    let files = ReadingTotal::subject(&summary.readings);
    writeln!(out, "{BOLD}consumers{BOLD:#} of {files}")?;
    write!(out, "{}", table::text(&ReadingTotal::table(&summary.readings)))
}

/// The reason, or what happens to functions.
fn short(of: &Reading<'_>) -> String {
    match (&of.reason, of.outcome) {
        (Some(reason), _) => printable(&**reason),
        (None, Outcome::Accept) => {
            counted(of.functions.found, "function") + &replaced(&of.functions)
        }
        (None, _) => {
            format!("{}{}{}", functions(&of.functions), beyond(of), replaced(&of.functions))
        }
    }
}

/// The functions with code that nothing executes any longer, whatever the consumer finds for them.
fn replaced(of: &ReadFunctions) -> String {
    match (of.replaced, of.total()) {
        (0, _) | (_, 0) => String::new(),
        (replaced, all) => format!(
            "; but the section is stale: nothing executes the code of {} of {} any longer",
            grouped(replaced),
            counted(all, "function")
        ),
    }
}

/// The code with a row where the specification has none, which is in no count of functions.
fn beyond(of: &Reading<'_>) -> String {
    if of.bytes.beyond == 0 {
        return String::new();
    }
    let first = of.examples.iter().find(|of| of.kind.as_str() == ReadExample::BEYOND);
    let first = first.map_or(String::new(), |example| format!(", first at {}", example.pc));
    let bytes = counted(of.bytes.beyond, "byte");
    format!(", and a row for {bytes} where the specification has none{first}")
}

fn functions(of: &ReadFunctions) -> String {
    let all = counted(of.total(), "function");
    let others = [
        (of.misread, "with wrong rows"),
        (of.unreachable, "not found"),
        (of.lost, "lost"),
        (of.drop_section, "at which it drops the section"),
        (of.crash, "at which it crashes"),
        (of.undecided, "undecided"),
    ];
    let mut parts = vec![format!("{} of {all} right", grouped(of.found))];
    let some = others.into_iter().filter(|(number, _)| *number > 0);
    parts.extend(some.map(|(number, what)| format!("{} {what}", grouped(number))));
    parts.join(", ")
}
