//! The page about wrong directives, which no assembler and no linker has to mend: for the author of assembly, or for the
//! developers of a compiler.

use sframe_record::markdown::{code, code_cell, plain};
use sframe_record::{Finding, Owner, Record, UnwindTable, catalogue};
use sframe_validator::rules::Group;

use crate::page::{Page, finding_text};
use crate::report::paragraph;

/// Whether a finding is about directives that the machine code proves wrong.
#[must_use]
pub fn are_wrong(record: &Record<'_>, finding: &Finding<'_>) -> bool {
    // Where SFrame and CFI differ, the assembler made two rows of the same directives, whatever the code is.
    let is_of_code = catalogue::find(&finding.rule).is_some_and(|rule| rule.group == Group::Code);
    is_of_code && sframe_defects::depends_on_origin(record, finding)
}

/// The page. `found_in` says in which file and function the finding is, as Markdown for a cell.
#[must_use]
pub fn page(record: &Record<'_>, finding: &Finding<'_>, found_in: &str) -> Page {
    let compiler = finding.origin.as_ref().and_then(|origin| origin.compiler());
    let compiler = compiler.unwrap_or_else(|| "the compiler".to_owned());
    let (title, addressee) = match finding.owner {
        Owner::Yours => ("CFI directives", "the author of the assembly".to_owned()),
        Owner::Compiler => {
            let whose = "the author, if it is inline assembly";
            (compiler.as_str(), format!("the developers of {compiler}; {whose}"))
        }
        _ => {
            ("CFI directives", "the author of assembly, or the developers of a compiler".to_owned())
        }
    };
    let mut page = Page {
        title: plain(&format!("{title}: {}", finding.message)),
        finding: finding_text(finding),
        ..Page::default()
    };
    let mut fact = |name: &str, value: String| page.facts.push((name.to_owned(), value));
    fact("For", plain(&addressee));
    if let Some(source) = &finding.source {
        fact("Source", code_cell(&format!("{}:{}", source.file, source.line)));
    }
    let header = record.sections.iter().find_map(|section| section.header.as_ref());
    if let Some(header) = header {
        fact("Machine", plain(header.abi.as_deref().unwrap_or_default()));
        fact("SFrame version", header.version.to_string());
    }
    fact("Found in", found_in.to_owned());
    page.about = about(record, finding);
    if let Some(rule) = catalogue::find(finding.rule.as_str()) {
        page.expected = expected(finding);
        page.expected.push(paragraph(rule.page.remedy));
        page.matters.push(paragraph(rule.page.consequence));
    }
    page
}

/// The source line, the directives and the code, as sentences of a terminal.
#[must_use]
pub fn in_short(record: &Record<'_>, finding: &Finding<'_>) -> Vec<String> {
    let source = finding.source.as_ref();
    let source = source.map(|of| format!("source: {}:{}", of.file, of.line));
    let ruling = finding.ruling(record.table);
    let directives = applying(finding);
    let directives = finding.difference.is_some().then(|| format!("directives: {directives}"));
    [source, directives, ruling].into_iter().flatten().collect()
}

/// What the directives and the code say, as paragraphs.
fn about(record: &Record<'_>, finding: &Finding<'_>) -> Vec<String> {
    let mut about = Vec::new();
    let noun = UnwindTable::noun_of(record.table);
    let difference = finding.difference.as_ref();
    if let Some(ruling) = difference.and_then(|of| of.ruling.as_ref()) {
        about.push(format!("{}.", plain(&ruling.sentence(noun))));
    }
    if let Some(difference) = difference {
        let directives = difference.directives.iter();
        let directives = directives
            .map(|of| format!("{} at {}", code(&format!(".cfi_{}", of.text)), of.address));
        let directives = directives.collect::<Vec<_>>().join(", ");
        about.push(match directives.is_empty() {
            true => "No directive after `.cfi_startproc` applies there.".to_owned(),
            false => format!("Directives that apply there: {directives}."),
        });
        let code_there = difference.instructions.iter().map(|of| code(&of.named()));
        let code_there: Vec<String> = code_there.collect();
        if !code_there.is_empty() {
            about.push(format!("The code there: {}.", code_there.join(", ")));
        }
    }
    about
}

/// The directives that apply where the finding is.
fn applying(finding: &Finding<'_>) -> String {
    let directives = finding.difference.iter().flat_map(|of| &of.directives);
    let each: Vec<String> =
        directives.map(|of| format!(".cfi_{} at {}", of.text, of.address)).collect();
    match each.is_empty() {
        true => "none after .cfi_startproc".to_owned(),
        false => each.join(", "),
    }
}

/// What the row has to be.
fn expected(finding: &Finding<'_>) -> Vec<String> {
    let ruling = finding.difference.as_ref().and_then(|of| of.ruling.as_ref());
    let Some(proof) = ruling.and_then(|of| of.proof.as_ref()) else { return Vec::new() };
    let known = &proof.known;
    let rules = [("CFA", &known.cfa), ("RA", &known.ra), ("FP", &known.fp)];
    let rules =
        rules.into_iter().filter_map(|(name, rule)| Some(format!("{name} {}", rule.as_ref()?)));
    let rules = rules.collect::<Vec<_>>().join(", ");
    let place = match &proof.change {
        Some(change) => format!("After {}", code(&change.named())),
        None => format!("Before {}", code(&proof.instruction.named())),
    };
    vec![format!("{place}, the directives have to say {}.", plain(&rules))]
}
