//! Roughly how much memory a report takes, so that reports that wait can be bounded.

use std::mem::size_of;
use std::sync::Arc;

use sframe_validator::finding::{Finding, SectionSummary, Undecided};

use super::context::{Context, Part};
use super::coverage::{Coverage, Example, Loss};
use super::evidence::Evidence;
use super::file::{Checked, FileName, FileReport, LocatedFinding, Outcome};
use super::names::SymbolPlace;
use super::producers::Producer;
use super::tables::Line;
use crate::disassembly::Instruction;

/// What the allocator takes for a block besides the block itself, and for the half of a vector that
/// is not in use.
const BLOCK: usize = 32;

impl FileReport {
    /// Bytes of memory.
    #[must_use]
    pub fn weight(&self) -> usize {
        size_of::<FileReport>() + of_name(&self.name) + self.outcome.weight()
    }
}

impl Outcome {
    /// Bytes of memory besides its own.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Outcome::Checked(checked) | Outcome::Members(checked) => of_checked(checked),
            Outcome::Unsupported(text) | Outcome::Unreadable(text) | Outcome::Crashed(text) => {
                of_text(text)
            }
            Outcome::NotElf | Outcome::Empty | Outcome::Special(_) => 0,
        }
    }
}

fn of_text(text: &str) -> usize {
    BLOCK + text.len()
}

fn of_name(name: &FileName) -> usize {
    let bytes = |part: &Option<Vec<u8>>| part.as_ref().map_or(0, |name| BLOCK + name.len());
    BLOCK + name.path.as_os_str().len() + bytes(&name.inside) + bytes(&name.member)
}

fn sum<T>(items: &[T], weight: impl Fn(&T) -> usize) -> usize {
    BLOCK + items.iter().map(|item| size_of::<T>() + weight(item)).sum::<usize>()
}

fn of_checked(checked: &Arc<Checked>) -> usize {
    size_of::<Checked>()
        + sum(&checked.findings, of_finding)
        + sum(&checked.counts, |_| 0)
        + sum(&checked.undecided, |undecided: &Undecided| of_text(&undecided.reason))
        + sum(&checked.sections, |section: &SectionSummary| of_text(&section.name))
        + sum(&checked.producers, |producer: &Producer| of_text(&producer.text))
        + checked.coverage.as_ref().map_or(0, of_coverage)
}

fn of_finding(located: &LocatedFinding) -> usize {
    let Finding { field, message, .. } = &located.finding;
    let field = field.as_ref().map_or(0, |field| of_text(&field.value) + of_text(&field.allowed));
    of_text(message)
        + field
        + of_symbol(located.symbol.as_ref())
        + located.code_section.as_deref().map_or(0, of_text)
        + located.context.as_ref().map_or(0, of_context)
        + located.evidence.as_deref().map_or(0, of_evidence)
}

fn of_symbol(symbol: Option<&SymbolPlace>) -> usize {
    symbol.map_or(0, |symbol| BLOCK + symbol.name.len())
}

fn of_context(context: &Context) -> usize {
    sum(&context.parts, |part: &Part| BLOCK + part.bytes.len() + of_text(&part.value))
}

fn of_evidence(evidence: &Evidence) -> usize {
    let line =
        |line: &Line| of_text(&line.cells.cfa) + of_text(&line.cells.ra) + of_text(&line.cells.fp);
    let code = |code: &Instruction| BLOCK + code.bytes.len() + of_text(&code.text);
    BLOCK + size_of::<Evidence>() + sum(&evidence.tables.lines, line) + sum(&evidence.code, code)
}

fn of_coverage(coverage: &Coverage) -> usize {
    let example = |example: &Example| {
        of_symbol(example.symbol.as_ref()) + example.code_section.as_deref().map_or(0, of_text)
    };
    let debug_file = coverage.debug_file.as_ref().map_or(0, |path| path.as_os_str().len());
    sum(&coverage.losses, |loss: &Loss| sum(&loss.examples, example))
        + sum(&coverage.limits, |_| 0)
        + debug_file
}
