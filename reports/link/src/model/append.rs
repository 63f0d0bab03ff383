//! gold and lld, which do not know the section (observed: gold 2.40, lld 23). They append the inputs' sections like those
//! of any other name.

mod failures;

use super::{Duplicates, Fate, Link, Outcome, OutputSection, Prediction};
use crate::input::{SectionType, Sframe};
use crate::linker::Linker;

pub(super) fn predict(link: &Link<'_>, duplicates: &Duplicates) -> Prediction {
    // Nothing refers to the sections, so that they count as unused.
    let options = link.options;
    if options.script_discards || options.gc_sections {
        return link.without();
    }
    let types = || link.all_sections().map(|(.., section)| section.section_type);
    let is_together = options.script_moves.as_ref().is_some_and(|moved| !moved.alone);
    if link.linker == Linker::Lld
        && is_together
        && types().any(|kind| kind != SectionType::Progbits)
    {
        // It puts only sections of one type together, and what else is there is not known here.
        return Prediction::default();
    }
    let messages = failures::messages(link, duplicates);
    if !messages.is_empty() {
        let (outcome, status) = (Outcome::Fails, Some(1));
        return Prediction { outcome, status, messages, ..Prediction::default() };
    }
    if options.script_moves.is_some() {
        return link.moved();
    }
    let outputs = append(link);
    let outcome = match outputs.as_slice() {
        [] => return link.without(),
        [only] if only.inputs.is_empty() => Outcome::NoSframe,
        [only] if only.inputs.len() == 1 => Outcome::Copied,
        _ => Outcome::Appended,
    };
    Prediction {
        outcome,
        status: Some(0),
        fates: link.fates(|number, section| fate(&outputs, number, section)),
        sections: outputs.iter().map(|output| output.section).collect(),
        ..Prediction::default()
    }
}

/// An output section with the inputs whose sections it contains.
pub(super) struct Appended {
    pub(super) inputs: Vec<usize>,
    pub(super) section: OutputSection,
}

/// The output sections: gold makes one for each type of section, unless a script names it.
fn append(link: &Link<'_>) -> Vec<Appended> {
    let mut outputs: Vec<Appended> = Vec::new();
    for (number, _, section) in link.all_sections() {
        let is_named = link.options.script_names;
        let same = |output: &&mut Appended| {
            is_named || output.section.section_type == section.section_type
        };
        match outputs.iter_mut().find(same) {
            Some(output) => output.add(number, section),
            None => outputs.push(Appended::first(number, section)),
        }
    }
    outputs
}

impl Appended {
    pub(super) fn first(number: usize, section: &Sframe) -> Appended {
        let made = OutputSection {
            section_type: section.section_type,
            version: None,
            size: Some(0),
            functions: 0,
        };
        let mut appended = Appended { inputs: Vec::new(), section: made };
        appended.add(number, section);
        appended
    }

    pub(super) fn add(&mut self, number: usize, section: &Sframe) {
        if section.size == 0 {
            return;
        }
        if self.inputs.is_empty() {
            self.section.version = section.version();
            self.section.functions = section.functions;
        }
        let end = self.section.size.unwrap_or_default();
        let start = end.checked_next_multiple_of(section.alignment.max(1)).unwrap_or(u64::MAX);
        self.section.size = Some(start.saturating_add(section.size));
        self.inputs.push(number);
    }
}

/// What becomes of a section that is appended to others.
pub(super) fn fate(outputs: &[Appended], number: usize, section: &Sframe) -> Fate {
    let is_first = outputs.iter().any(|output| output.inputs.first() == Some(&number));
    let is_readable = section.header.is_some_and(|header| header.flags & !0b111 == 0);
    match is_first {
        true if !is_readable => Fate::Unreadable,
        true if section.is_pc_relative() => Fate::First,
        true => Fate::Misplaced,
        false => Fate::Unread,
    }
}
