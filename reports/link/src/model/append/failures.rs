//! Why gold and lld refuse SFrame sections, in their words.

use super::super::{Duplicates, Link};
use crate::input::{Group, Input, InputKind, MemberName, References, SectionType};
use crate::linker::Linker;

/// The number of errors after which lld ends (`--error-limit`).
const MOST_OF_LLD: usize = 20;
const TOO_MANY: &str =
    "error: too many errors emitted, stopping now (use --error-limit=0 to see all errors)";
/// The number of places that lld lists for one section.
const PLACES_OF_LLD: usize = 3;

/// The messages with which the link fails; none if it does not.
pub(super) fn messages(link: &Link<'_>, duplicates: &Duplicates) -> Vec<String> {
    let mut errors = Vec::new();
    if link.linker == Linker::Lld {
        errors.extend(mismatches(link));
    }
    if !link.is_relocatable() {
        for (number, input, _) in link.sections() {
            for group in duplicates.groups(number, input) {
                errors.extend(dropped(link.linker, input, group));
            }
        }
    }
    let is_cut = link.linker == Linker::Lld && errors.len() > MOST_OF_LLD;
    if is_cut {
        errors.truncate(MOST_OF_LLD);
        errors.push(vec![TOO_MANY.to_owned()]);
    }
    errors.into_iter().flatten().collect()
}

/// lld puts only sections of one type together. After a mismatch, it goes on with SHT_PROGBITS.
fn mismatches(link: &Link<'_>) -> Vec<Vec<String>> {
    let first = link.all_sections().next().map(|(_, _, section)| section.section_type);
    let Some(first) = first else { return Vec::new() };
    let output = link.options.script_moves.as_ref().map_or(".sframe", |moved| &moved.output);
    let mut expected = first;
    let mut errors = Vec::new();
    for (_, input, section) in link.all_sections() {
        if section.section_type != expected {
            errors.push(vec![
                "error: section type mismatch for .sframe".to_owned(),
                format!(">>> {}:(.sframe): {}", input.name, full(section.section_type)),
                format!(">>> output section {output}: {}", full(expected)),
            ]);
            expected = SectionType::Progbits;
        }
    }
    errors
}

/// Code of a group was dropped to which the section refers.
fn dropped(linker: Linker, input: &Input, group: &Group) -> Vec<Vec<String>> {
    let references = group.references.iter();
    match linker {
        Linker::Lld => references.map(|references| discarded(input, references)).collect(),
        _ => {
            let places = references.flat_map(|references| &references.places);
            let error = |place| {
                let input = &input.name;
                vec![format!(
                    "{input}(.sframe+{place:#x}): error: relocation refers to local symbol"
                )]
            };
            places.map(error).collect()
        }
    }
}

/// The error of lld about all places that refer to one dropped section.
fn discarded(input: &Input, references: &References) -> Vec<String> {
    let section = &references.section;
    let mut lines = vec![format!("error: relocation refers to a discarded section: {section}")];
    for place in references.places.iter().take(PLACES_OF_LLD) {
        let place = lld_place(input, *place);
        match &input.source {
            Some(source) => {
                lines.push(format!(">>> referenced by {source}"));
                lines.push(format!(">>>               {place}"));
            }
            None => lines.push(format!(">>> referenced by {place}")),
        }
    }
    match references.places.len().saturating_sub(PLACES_OF_LLD) {
        0 => {}
        more => lines.push(format!(">>> referenced {more} more times")),
    }
    lines
}

/// A place in an SFrame section, as lld writes it: that of a member has the archive at the end.
fn lld_place(input: &Input, place: u64) -> String {
    match input.member.as_ref().filter(|_| input.kind == InputKind::Member) {
        Some(MemberName { archive, member, .. }) => {
            format!("{member}:(.sframe+{place:#x}) in archive {archive}")
        }
        None => format!("{}:(.sframe+{place:#x})", input.name),
    }
}

fn full(section_type: SectionType) -> String {
    format!("SHT_{}", section_type.name())
}
