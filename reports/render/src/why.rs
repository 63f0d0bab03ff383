//! Writes the proof of what the machine code says about a PC, for people.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::numbers::grouped;
use sframe_record::text::column_width;
use sframe_record::{Why, WhyLine, WhyStep};

const DIM: Style = Style::new().dimmed();
/// The maximum width of the column of instructions.
const WIDEST: usize = 40;

/// Writes the proof, indented by `indent` characters.
pub(crate) fn write(out: &mut dyn Write, why: &Why<'_>, indent: usize) -> io::Result<()> {
    if why.way.is_empty() {
        return writeln!(out, "{:indent$}why: no way of at most 16,384 instructions is known", "");
    }
    writeln!(
        out,
        "{:indent$}why: the way from an entry of the function, and what is known before each instruction",
        ""
    )?;
    let indent = indent.saturating_add(2);
    let address_width = column_width(why.way.iter().map(WhyStep::place));
    let text = |step: &WhyStep<'_>| step.instruction.text.to_string();
    let text_width = column_width(why.way.iter().map(text)).min(WIDEST);
    for line in why.lines() {
        if let Some((count, what)) = line.count() {
            let count = grouped(count as u64);
            writeln!(out, "{:indent$}{DIM}... {count} instructions {what}{DIM:#}", "")?;
        }
        let WhyLine::Step { step, shows_state, note } = line else { continue };
        let (place, text) = (step.place(), text(step));
        let mut head = format!("{:indent$}{place:address_width$}  {text:text_width$}", "");
        if shows_state {
            let state = step.state();
            let state: Vec<_> =
                state.into_iter().map(|(name, rule)| format!("{name}={rule}")).collect();
            head = format!("{head}  {}", state.join(" "));
        } else if note.is_some() {
            head.push_str("  ");
        }
        match note {
            Some(note) => writeln!(out, "{head}  {DIM}{note}{DIM:#}")?,
            None => writeln!(out, "{}", head.trim_end())?,
        }
    }
    why.sentences().iter().try_for_each(|sentence| writeln!(out, "{:indent$}{sentence}", ""))
}
