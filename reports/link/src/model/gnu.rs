//! GNU ld (observed: 2.40, 2.44, 2.47.50).

use super::append::{Appended, fate};
use super::{Duplicates, Fate, Link, Outcome, OutputSection, Prediction};
use crate::input::{Input, Misread, SectionType, Sframe};
use crate::linker::Linker;
use crate::options::Output;

const NOT_MOVED: &str = "ld -r moves the entries of functions, but not their relocations (known defect \
                           relocations-left-behind): at best, GNU ld of the same version can use the section";

/// Seen with 2.47.50: what it is depends on whether the linker changes `.eh_frame`.
const OR_RAW: &str = "or, if the linker leaves .eh_frame as it is, it appends the sections that it announces to leave out";

/// Seen with 2.47.50: it counts the sections as empty only if the sizes of `.eh_frame` or of others change as well.
const NOT_DISCARDED: &str = "with -r, --discard-sframe leaves an empty section, or, if the linker leaves .eh_frame as it is, \
                             all sections one after the other without their relocations: which of them is not predicted";

const ORPHANS: &str = "the linker script does not name .sframe, so that the sections of each type get an output section of \
                       their own: what the linker makes of them is not predicted";

/// A section without bytes.
const EMPTY: OutputSection = OutputSection {
    section_type: SectionType::GnuSframe,
    version: None,
    size: Some(0),
    functions: 0,
};

/// What the linker does with the section of one input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// It is merged.
    Merged,
    /// It is understood, and the link fails because of its version.
    Clashes,
    /// It is left out with a message.
    Refused,
}

pub(super) fn predict(link: &Link<'_>, duplicates: &Duplicates) -> Prediction {
    let options = link.options;
    if has_swapped(link) {
        return Prediction::default();
    }
    let old = link.linker != Linker::Ld247;
    let collected = options.gc_sections && old;
    if options.script_discards || collected {
        let is_read = options.gc_sections && !options.discard_sframe && !old;
        return if is_read { read_in_vain(link) } else { link.without() };
    }
    if options.script_moves.is_some() {
        return link.moved();
    }
    let mut types = link.all_sections().map(|(.., section)| section.section_type);
    let first = types.next();
    let mut differ = types.any(|kind| Some(kind) != first);
    // The section for stubs has a type of its own.
    differ |= old && has_own_section(link);
    if options.script_orphans && first.is_some() && differ {
        let notes = vec![ORPHANS.to_owned()];
        return Prediction { notes, ..Prediction::default() };
    }
    if link.sections().next().is_none() {
        // An empty section of an input remains, if a script names it or sections are not laid out.
        let is_kept = !options.script_orphans || link.is_relocatable();
        let remains = !old && is_kept && link.all_sections().next().is_some();
        let empty = remains.then_some(EMPTY);
        return Prediction { sections: empty.into_iter().collect(), ..link.without() };
    }
    if options.discard_sframe && !old {
        return discarded(link);
    }
    let is_old_type = first == Some(SectionType::Progbits);
    if options.script_orphans && !old && is_old_type && has_own_section(link) {
        return apart(link);
    }
    let (mut messages, crash) = read(link);
    if let Some(crash) = crash {
        return crash;
    }
    if let Some(mut crash) = crash_of_merging(link) {
        if crash.status == Some(134) {
            crash.messages.splice(0..0, messages);
        }
        return crash;
    }
    if let Some(clash) = clash(link) {
        messages.push(clash);
        if link.linker != Linker::Ld240 {
            messages.push("final link failed".to_owned());
        }
        return Prediction {
            outcome: Outcome::Fails,
            status: Some(1),
            messages,
            ..Prediction::default()
        };
    }
    with_messages(link, made(link, duplicates), messages)
}

/// The outcome of a link that prints messages, which end it with `--fatal-warnings`.
fn with_messages(link: &Link<'_>, made: Prediction, messages: Vec<String>) -> Prediction {
    if link.options.fatal_warnings && !messages.is_empty() {
        let fates = link.fates(|_, _| Fate::Lost);
        let (outcome, status) = (Outcome::Fails, Some(1));
        return Prediction { outcome, status, messages, fates, ..Prediction::default() };
    }
    Prediction { status: Some(0), messages, ..made }
}

/// `--discard-sframe` leaves a section without bytes, which `--gc-sections` removes.
fn discarded(link: &Link<'_>) -> Prediction {
    let collects = link.options.gc_sections;
    if link.is_relocatable() && !collects {
        return Prediction { notes: vec![NOT_DISCARDED.to_owned()], ..Prediction::default() };
    }
    let empty = (!collects).then_some(EMPTY);
    Prediction { sections: empty.into_iter().collect(), ..link.without() }
}

/// `--gc-sections` makes 2.47.50 read all sections, also those that a script discards afterwards.
fn read_in_vain(link: &Link<'_>) -> Prediction {
    let (messages, crash) = read(link);
    crash.unwrap_or_else(|| with_messages(link, link.without(), messages))
}

/// Like `read`, for a link that ends when the linker looks for what is used.
pub(super) fn read_before_collecting(link: &Link<'_>) -> (Vec<String>, Option<Prediction>) {
    let is_unknown = has_swapped(link) || link.inputs.iter().any(Input::has_odd_sections);
    match is_unknown || link.options.discard_sframe {
        true => (Vec::new(), None),
        false => read(link),
    }
}

/// Whether a section is in the other byte order than its file.
fn has_swapped(link: &Link<'_>) -> bool {
    let mut headers = link.sections().filter_map(|(.., section)| section.header);
    headers.any(|header| header.swapped)
}

/// What the linker prints when it reads the sections, and its crash if one has functions, but no relocations, or is misread. It
/// reads all of them before it merges any.
fn read(link: &Link<'_>) -> (Vec<String>, Option<Prediction>) {
    let mut messages = Vec::new();
    for (_, input, section) in link.sections() {
        let taken = take(link.linker, section);
        let misread = section.misread.filter(|_| taken == Taken::Clashes);
        if taken == Taken::Refused {
            messages.extend(refusal(link.linker, input, section));
        } else if misread == Some(Misread::Crashes) {
            return (Vec::new(), Some(crashed(139, messages)));
        } else if misread.is_some() {
            return (Vec::new(), Some(Prediction::default()));
        } else if section.functions > 0 && !section.relocated {
            let assertion = (link.linker != Linker::Ld247).then(|| "assertion fail".to_owned());
            messages.extend(assertion);
            return (Vec::new(), Some(crashed(139, messages)));
        }
    }
    (messages, None)
}

fn crashed(status: i32, messages: Vec<String>) -> Prediction {
    let (outcome, status) = (Outcome::Crashes, Some(status));
    Prediction { outcome, status, messages, ..Prediction::default() }
}

/// Why the sections that the linker understands do not fit together.
fn clash(link: &Link<'_>) -> Option<String> {
    let mut abi = None;
    for (_, input, section) in link.sections() {
        let taken = take(link.linker, section);
        let Some(header) = section.header.filter(|_| taken != Taken::Refused) else { continue };
        if *abi.get_or_insert(header.abi) != header.abi {
            return Some(other_abi(link.linker, &input.name));
        }
        if taken == Taken::Clashes {
            let differ =
                "input SFrame sections with different format versions prevent .sframe generation";
            return Some(differ.to_owned());
        }
        if link.linker == Linker::Ld247 && !header.pc_relative {
            return Some(format!(
                "error in {} (.sframe); unexpected SFrame data encoding",
                input.name
            ));
        }
    }
    let own = link.inputs.iter().find(|input| input.is_copied()).and_then(Input::abi);
    let differs = abi.is_some() && abi != own && stubs(link);
    differs.then(|| other_abi(link.linker, "linker stubs"))
}

fn other_abi(linker: Linker, name: &str) -> String {
    match linker {
        Linker::Ld247 => format!("error in {name} (.sframe); unexpected ABI in SFrame section"),
        _ => "input SFrame sections with different abi prevent .sframe generation".to_owned(),
    }
}

/// Whether the link fails because of the version of this section.
pub(crate) fn clashes(linker: Linker, section: &Sframe) -> bool {
    linker.is_gnu_ld() && take(linker, section) == Taken::Clashes
}

fn take(linker: Linker, section: &Sframe) -> Taken {
    let Some(header) = section.header else { return Taken::Refused };
    let known = if linker == Linker::Ld247 { 0b111 } else { 0b011 };
    if header.flags & !known != 0 {
        return Taken::Refused;
    }
    match (linker, header.version) {
        (Linker::Ld240, 1) => Taken::Merged,
        (Linker::Ld244, 1) if section.misread == Some(Misread::Refused) => Taken::Refused,
        (Linker::Ld244, 1) => Taken::Clashes,
        (Linker::Ld244, 2) => Taken::Merged,
        (Linker::Ld247, 3) if matches!(section.section_type, SectionType::GnuSframe) => {
            Taken::Merged
        }
        _ => Taken::Refused,
    }
}

fn refusal(linker: Linker, input: &Input, section: &Sframe) -> Vec<String> {
    let place = format!("error in {}(.sframe); ", input.name);
    // Of the other versions, 2.47.50 reads this one alone, if it knows all flags.
    let is_readable = section.header.is_some_and(|header| header.flags & !0b111 == 0);
    match (linker, section.version()) {
        (Linker::Ld247, _) if section.section_type != SectionType::GnuSframe => {
            vec![format!("{place}unexpected SFrame section type; section ignored")]
        }
        (Linker::Ld247, Some(2)) if is_readable => vec![
            format!("{place}unexpected SFrame format version 2"),
            format!("{place}SFrame section ignored"),
        ],
        (Linker::Ld247, _) => vec![format!("{place}SFrame section ignored")],
        _ => vec![format!("{place}no .sframe will be created")],
    }
}

/// Sections that the linker understands, but that it was not made to merge.
fn crash_of_merging(link: &Link<'_>) -> Option<Prediction> {
    let mut abi = None;
    for (.., section) in link.sections() {
        let taken = take(link.linker, section);
        let Some(header) = section.header.filter(|_| taken != Taken::Refused) else { continue };
        if *abi.get_or_insert(header.abi) != header.abi {
            return None;
        }
        // The link fails here, before it gets to later sections.
        if taken == Taken::Clashes {
            return None;
        }
        if section.row_after_end && link.linker != Linker::Ld247 {
            let message = "fre->fre_start_addr < fdep->sfde_func_size";
            return Some(crashed(134, vec![message.to_owned()]));
        }
    }
    None
}

/// The section that the linker makes.
fn made(link: &Link<'_>, duplicates: &Duplicates) -> Prediction {
    let is_merged = |section: &Sframe| take(link.linker, section) == Taken::Merged;
    let stubs = stubs(link);
    let (mut any, mut all, mut functions) = (false, true, 0_u64);
    for (number, input, section) in link.sections() {
        all &= is_merged(section);
        if is_merged(section) {
            any = true;
            functions = functions.saturating_add(duplicates.functions(number, input));
        }
    }
    if !any && !stubs && link.linker != Linker::Ld247 {
        return raw(link);
    }
    let keeps_relocations = link.is_relocatable() && link.linker != Linker::Ld247;
    // The relocations of refused sections stay, in addition.
    let merged = if keeps_relocations && !all { Fate::Misplaced } else { Fate::Merged };
    let is_empty = !any && !stubs;
    if is_empty && link.options.gc_sections {
        return Prediction {
            outcome: Outcome::Dropped,
            fates: link.fates(|_, _| Fate::Refused),
            ..Prediction::default()
        };
    }
    Prediction {
        outcome: match (any, all) {
            (true, true) => Outcome::Merged,
            (true, false) => Outcome::Part,
            (false, _) if stubs => Outcome::StubsOnly,
            (false, _) => Outcome::Empty,
        },
        sections: vec![OutputSection {
            section_type: section_type(link),
            version: link.linker.writes().filter(|_| !is_empty),
            size: is_empty.then_some(0),
            functions,
        }],
        segment: !is_empty && !link.is_relocatable(),
        fates: link.fates(|_, section| if is_merged(section) { merged } else { Fate::Refused }),
        stubs_described: stubs,
        notes: match link.is_relocatable() {
            true if keeps_relocations && link.sections().count() > 1 => vec![NOT_MOVED.to_owned()],
            true if is_empty => vec![OR_RAW.to_owned()],
            _ => Vec::new(),
        },
        ..Prediction::default()
    }
}

/// The type of the output's section: until 2.44, that of the first input section. In dynamic links, the first object gets
/// the linker's own section for stubs, even if there are none.
fn section_type(link: &Link<'_>) -> SectionType {
    if link.linker == Linker::Ld247 {
        return SectionType::GnuSframe;
    }
    let first_object = link.inputs.iter().find(|input| input.is_copied());
    if has_own_section(link) && first_object.is_some_and(|input| input.sframe.is_empty()) {
        return SectionType::Progbits;
    }
    link.all_sections().next().map(|(.., section)| section.section_type).unwrap_or_default()
}

/// Version 2.44 and older append the sections if they understand none of them, although they announce the opposite.
fn raw(link: &Link<'_>) -> Prediction {
    let mut output: Option<Appended> = None;
    for (number, _, section) in link.sections() {
        match &mut output {
            Some(output) => output.add(number, section),
            None => output = Some(Appended::first(number, section)),
        }
    }
    let outputs: Vec<Appended> = output.into_iter().collect();
    let inputs = outputs.iter().map(|output| output.inputs.len()).sum::<usize>();
    Prediction {
        outcome: if inputs == 1 { Outcome::Copied } else { Outcome::Appended },
        fates: link.fates(|number, section| fate(&outputs, number, section)),
        sections: outputs
            .iter()
            .map(|output| OutputSection { section_type: section_type(link), ..output.section })
            .collect(),
        segment: !link.is_relocatable(),
        ..Prediction::default()
    }
}

/// Without a place in the script, 2.47.50 appends sections of another type than its own one for stubs, and says nothing.
fn apart(link: &Link<'_>) -> Prediction {
    let mut prediction = raw(link);
    for section in &mut prediction.sections {
        section.section_type = SectionType::Progbits;
    }
    prediction.segment = false;
    prediction.status = Some(0);
    prediction
}

/// Whether the linker describes its stubs (PLT). It does so if there are any, and if an input has SFrame.
fn stubs(link: &Link<'_>) -> bool {
    has_own_section(link) && link.options.calls_stubs
}

/// Whether the linker has a section for its stubs.
fn has_own_section(link: &Link<'_>) -> bool {
    let first = link.inputs.iter().find(|input| input.is_copied());
    let can = match first.map(|input| (input.machine.as_str(), input)) {
        Some(("AMD64", _)) => true,
        // Observed with 2.47.50: only if the first object has a section.
        Some(("s390x", input)) => link.linker == Linker::Ld247 && !input.sframe.is_empty(),
        _ => false,
    };
    let options = link.options;
    let wanted = !options.no_stub_unwind_info || link.linker == Linker::Ld247;
    can && wanted && !options.gc_sections && is_dynamic(link)
}

fn is_dynamic(link: &Link<'_>) -> bool {
    match link.options.output {
        Output::Shared => true,
        Output::Relocatable | Output::Static => false,
        Output::Program => link.options.pie || link.inputs.iter().any(|input| !input.is_copied()),
    }
}
