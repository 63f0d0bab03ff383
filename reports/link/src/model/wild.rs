//! wild (observed: 0.10.0). It leaves `.sframe` out of programs and shared objects, without a message. With `-r`, it appends
//! the sections of the inputs, whatever their types are.

use super::append::{Appended, fate};
use super::{Link, Outcome, Prediction};
use crate::input::SectionType;

pub(super) fn predict(link: &Link<'_>) -> Prediction {
    if link.options.wild_experimental || link.options.script_moves.is_some() {
        return Prediction::default();
    }
    if !link.is_relocatable() || link.options.script_discards {
        return link.without();
    }
    let mut output: Option<Appended> = None;
    for (number, _, section) in link.all_sections() {
        match &mut output {
            Some(output) => output.add(number, section),
            None => output = Some(Appended::first(number, section)),
        }
    }
    let Some(mut output) = output else { return link.without() };
    // Each section is padded to its alignment.
    let alignment = link.all_sections().map(|(_, _, section)| section.alignment).max();
    let padded = |size: u64| size.checked_next_multiple_of(alignment.unwrap_or(1).max(1));
    output.section.size = output.section.size.and_then(padded);
    let mut types = link.all_sections().map(|(_, _, section)| section.section_type);
    if types.any(|section_type| section_type == SectionType::GnuSframe) {
        output.section.section_type = SectionType::GnuSframe;
    }
    let outcome = match output.inputs.len() {
        0 => Outcome::NoSframe,
        1 => Outcome::Copied,
        _ => Outcome::Appended,
    };
    let outputs = [output];
    Prediction {
        outcome,
        status: Some(0),
        fates: link.fates(|number, section| fate(&outputs, number, section)),
        sections: outputs.iter().map(|output| output.section).collect(),
        ..Prediction::default()
    }
}
