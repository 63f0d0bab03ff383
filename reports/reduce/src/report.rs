//! The page about a finding that was reduced with an assembler, or with a linker.

mod steps;

use sframe_defects::Defect;
use sframe_record::catalogue;
use sframe_record::markdown::{code_cell, plain};
use sframe_record::{Finding, Side};

use crate::assembler::{Assembler, Kind};
use crate::error::ProgramError;
use crate::inputs::Inputs;
use crate::linker::Linker;
use crate::page::{Page, finding_text};
use crate::reduce::Reduced;
use crate::source::{Code, Part};

/// The name of the source in the commands, without its extension.
const STEM: &str = "small";
const LIBRARIES: &str = "The finding depends on the startup objects and the C library that the driver adds to the link: with \
                         `-nostdlib`, the first inputs that were tried did not show it.";

/// The programs that show a finding.
#[derive(Clone, Copy, Debug)]
pub struct Programs<'p> {
    /// The assemblers, by the numbers in the inputs.
    pub assemblers: &'p [Assembler],
    /// The linker, if a link shows the finding.
    pub linker: Option<&'p Linker>,
}

/// Writes the page. `origin` says in which file and function the finding was, as Markdown for a cell, if that is to be
/// published.
///
/// # Errors
/// Returns an error if a tool of the assembler's release cannot be run.
pub fn report(
    reduced: &Reduced,
    programs: Programs<'_>,
    origin: Option<&str>,
) -> Result<Page, ProgramError> {
    let finding = &reduced.finding;
    let inputs = &reduced.inputs;
    let known = finding.known.as_ref().and_then(|known| sframe_defects::find(known.as_str()));
    let rule = catalogue::find(finding.rule.as_str());
    let used = used(&reduced.inputs, programs.assemblers);
    let (_, assembler) = used.first().ok_or(ProgramError::NoAssembler)?;
    let (tool, version) = match (programs.linker, assembler.kind()) {
        (Some(linker), _) => (linker.title(), linker.version()),
        (None, Kind::Gnu) => ("GNU as", assembler.version()),
        (None, Kind::Llvm) => ("LLVM", assembler.version()),
    };
    let title = known.map_or_else(|| finding.message.to_string(), |known| known.title.to_owned());
    let names = inputs.names(STEM).into_iter();
    let sources = names.zip(inputs.sources.iter().map(|input| input.source.text()));
    let mut page = Page {
        title: plain(&format!("{tool}: {title}")),
        inputs: sources.collect(),
        steps: steps::steps(reduced, programs, assembler)?,
        finding: finding_text(finding),
        ..Page::default()
    };
    let mut fact = |name: &str, value: String| page.facts.push((name.to_owned(), value));
    fact("Program", plain(version));
    if programs.linker.is_some() {
        for (number, assembler) in &used {
            let assembled = inputs.names(STEM).into_iter().zip(&inputs.sources);
            let its = assembled.filter(|(_, input)| input.assembler == *number);
            let its: Vec<String> = its.map(|(name, _)| code_cell(&name)).collect();
            let version = plain(assembler.version());
            fact(
                "Assembled by",
                match used.len() {
                    1 => version,
                    _ => format!("{version}: {}", its.join(", ")),
                },
            );
        }
    }
    fact("Machine", plain(inputs.abi().map_or("", |abi| abi.name())));
    if let Some(header) = reduced.record.sections.iter().find_map(|section| section.header.as_ref())
    {
        fact("SFrame version", header.version.to_string());
    }
    if let Some(known) = known {
        fact("Known here as", known_as(known));
    }
    if let Some(origin) = origin {
        fact("Found in", origin.to_owned());
    }
    page.expected = expected(finding, reduced, programs.linker);
    if let Some(rule) = rule {
        // What tools were seen to do is no specification.
        let clauses = rule.page.source.split("; ").filter(|clause| !clause.starts_with("observed"));
        let clauses = clauses.collect::<Vec<_>>().join("; ");
        if !clauses.is_empty() {
            page.expected.push(format!("Specification: {clauses}."));
        }
        page.matters.push(rule.page.consequence.to_owned());
    }
    if let Some(known) = known {
        if !known.effect.is_empty() {
            page.matters.push(paragraph(known.effect));
        }
        page.workaround = Some(paragraph(known.workaround)).filter(|text| !text.is_empty());
    }
    let needs_libraries = |linker: &&Linker| linker.needs_libraries(&inputs.options);
    if programs.linker.filter(needs_libraries).is_some() {
        page.matters.push(LIBRARIES.to_owned());
    }
    Ok(page)
}

fn known_as(defect: &Defect) -> String {
    format!("{} ({})", code_cell(defect.id), plain(&defect.affected()))
}

/// The assemblers that are used, each once, with their numbers.
fn used<'p>(inputs: &Inputs, assemblers: &'p [Assembler]) -> Vec<(usize, &'p Assembler)> {
    let mut used: Vec<(usize, &Assembler)> = Vec::new();
    for input in &inputs.sources {
        let is_new = used.iter().all(|(number, _)| *number != input.assembler);
        let found = assemblers.get(input.assembler).filter(|_| is_new);
        used.extend(found.map(|assembler| (input.assembler, assembler)));
    }
    used
}

/// What would be right.
fn expected(finding: &Finding<'_>, reduced: &Reduced, linker: Option<&Linker>) -> Vec<String> {
    let mut expected = Vec::new();
    let rows = finding.difference.as_ref().zip(finding.code.as_ref());
    let of_cfi = rows.and_then(|(difference, code)| {
        let is_row = |line: &&sframe_record::TableLine<'_>| {
            line.side == Side::Cfi && line.start == code.start
        };
        difference.table.iter().find(is_row)
    });
    if let Some(row) = of_cfi {
        expected.push(format!(
            "From PC {:#x} on, SFrame recovers what CFI does: CFA {}, RA {}, FP {}.",
            row.start.0,
            plain(&row.frame.cfa),
            plain(&row.frame.ra),
            plain(&row.frame.fp)
        ));
        let is_code = |part: &Part| matches!(part, Part::Code(Code::Bytes(_)));
        let has_code = reduced.inputs.functions().flat_map(|of| &of.parts).any(is_code);
        if linker.is_none() && !has_code {
            expected.push(
                "The assembler makes both tables from the same directives, so they have to agree, whatever the code is. Here, the code \
                 has no meaning."
                    .to_owned(),
            );
        }
    } else if let Some(rule) = catalogue::find(finding.rule.as_str()) {
        expected.push(paragraph(rule.page.summary));
    }
    expected
}

/// A text with a capital letter and a full stop.
pub(crate) fn paragraph(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with('.') { "" } else { "." };
    first.to_uppercase().chain(letters).chain(end.chars()).collect()
}
