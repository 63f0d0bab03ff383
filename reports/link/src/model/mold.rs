//! mold 3 (observed: 3.0.0): it merges version 3, and leaves other versions out without a message.

use super::{Duplicates, Fate, Link, Outcome, OutputSection, Prediction};
use crate::input::{Input, SectionType, Sframe};

const MAY_BE_UNUSED: &str = "--gc-sections may remove all code that SFrame version 3 describes, and the section with it: what uses \
                             this code is not certain";

pub(super) fn predict(link: &Link<'_>, duplicates: &Duplicates) -> Prediction {
    // It reads inputs in parallel, and ends at the first message.
    let messages: Vec<String> =
        link.sections().filter_map(|(_, input, section)| refusal(input, section)).collect();
    if !messages.is_empty() {
        let (outcome, status) = (Outcome::Fails, Some(1));
        return Prediction { outcome, status, messages, ..Prediction::default() };
    }
    let is_merged = |section: &Sframe| section.version() == Some(3);
    let merged: u64 = link
        .sections()
        .filter(|(_, _, section)| is_merged(section))
        .map(|(number, input, _)| duplicates.functions(number, input))
        .sum();
    let mut prediction = link.without();
    let (mut any, mut all) = (false, true);
    for (_, _, section) in link.sections() {
        any |= is_merged(section);
        all &= is_merged(section);
    }
    if !any || merged == 0 {
        return prediction;
    }
    // The section goes with the last function.
    match link.options.keeps_described {
        Some(false) if link.options.gc_sections => return prediction,
        None if link.options.gc_sections => {
            let notes = vec![MAY_BE_UNUSED.to_owned()];
            return Prediction { notes, ..Prediction::default() };
        }
        _ => {}
    }
    prediction.outcome = if all { Outcome::Merged } else { Outcome::Part };
    prediction.fates =
        link.fates(|_, section| if is_merged(section) { Fate::Merged } else { Fate::Dropped });
    prediction.segment = !link.is_relocatable();
    prediction.sections = vec![OutputSection {
        section_type: SectionType::GnuSframe,
        version: Some(3),
        size: None,
        functions: merged,
    }];
    prediction
}

/// Why mold does not link an input.
fn refusal(input: &Input, section: &Sframe) -> Option<String> {
    let name = &input.name;
    match section.header.filter(|header| !header.swapped) {
        None => Some(format!("{name}:(.sframe): corrupted .sframe section")),
        Some(header) if Some(header.abi) != input.abi() => {
            Some(format!("{name}:(.sframe): .sframe is incompatible with"))
        }
        Some(_) => None,
    }
}
