//! The sizes of sections as text.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::numbers::{counted, grouped, percent};

use super::Sizes;

const BOLD: Style = Style::new().bold();

/// Writes the sizes of a section, or the sums of several.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, sizes: &Sizes) -> io::Result<()> {
    let (functions, rows) = (counted(sizes.functions, "function"), counted(sizes.rows, "row"));
    let name = match sizes.name.as_str() {
        "" => counted(sizes.sections, "section"),
        name => name.to_owned(),
    };
    let bytes = counted(sizes.bytes, "byte");
    writeln!(out, "{BOLD}{name}{BOLD:#}: {bytes}, {functions}, {rows}")?;
    let line = |out: &mut dyn Write, bytes: u64, what: &str| {
        let share = percent(bytes, sizes.bytes);
        writeln!(out, "  {:>12}  {share:>8}  {what}", grouped(bytes))
    };
    for (part, bytes) in sizes.parts.named().into_iter().filter(|(_, bytes)| *bytes > 0) {
        line(out, bytes, part)?;
    }
    let saved = sizes.bytes.saturating_sub(sizes.smallest);
    if saved == 0 {
        writeln!(out, "  nothing can be saved without loss")?;
    } else {
        let (saved, share) = (counted(saved, "byte"), percent(saved, sizes.bytes));
        let smallest = grouped(sizes.smallest);
        writeln!(out, "  {saved} could be saved without loss ({share}): {smallest} are enough")?;
    }
    for saving in &sizes.savings {
        line(out, saving.bytes, &format!("{}, in {}", saving.what, grouped(saving.count)))?;
    }
    if sizes.repeated > 0 {
        let what =
            "repeat another function's rows; whether functions can share them is not specified";
        line(out, sizes.repeated, what)?;
    }
    if !sizes.what_if.is_empty() {
        writeln!(
            out,
            "  what changes of the format would save, each alone (estimates, in bytes of the section)"
        )?;
    }
    for estimate in &sizes.what_if {
        let (before, after) = (counted(estimate.before, "byte"), grouped(estimate.after));
        match estimate.before.checked_sub(estimate.after) {
            Some(saved) => {
                line(out, saved, &format!("{}: {before} become {after}", estimate.change))?
            }
            None => writeln!(
                out,
                "  {:>12}  {:>8}  {}: {before} become {after}",
                "none", "", estimate.change
            )?,
        }
    }
    Ok(())
}
