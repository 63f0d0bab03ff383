//! The page about a finding that was reduced with an assembler.

use sframe_defects::Defect;
use sframe_record::catalogue;
use sframe_record::{Finding, Side};

use crate::assembler::{Assembler, Kind};
use crate::page::{Page, Step, finding_text};
use crate::reduce::Reduced;
use crate::source::{Code, Part};

/// The name of the source in the commands.
const SOURCE: &str = "small.s";
const OBJECT: &str = "small.o";

/// Writes the page. `origin` says in which file and function the finding was, if that is to be published.
///
/// # Errors
/// Returns the reason if a tool of the assembler's release cannot be run.
pub fn report(
    reduced: &Reduced,
    assembler: &Assembler,
    origin: Option<&str>,
) -> Result<Page, String> {
    let finding = &reduced.finding;
    let known = finding.known.as_ref().and_then(|known| sframe_defects::find(known.as_str()));
    let rule = catalogue::find(finding.rule.as_str());
    let tool = match assembler.kind() {
        Kind::Gnu => "GNU as",
        Kind::Llvm => "LLVM",
    };
    let title = known.map_or_else(|| finding.message.to_string(), |known| known.title.to_owned());
    let mut page = Page {
        title: format!("{tool}: {title}"),
        inputs: vec![(SOURCE.to_owned(), reduced.source.text())],
        steps: steps(reduced, assembler)?,
        finding: finding_text(finding),
        ..Page::default()
    };
    let mut fact = |name: &str, value: String| page.facts.push((name.to_owned(), value));
    fact("Program", assembler.version().to_owned());
    fact("Machine", reduced.source.abi.name().to_owned());
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
    page.expected = expected(finding, reduced);
    if let Some(rule) = rule {
        // What tools were seen to do is no specification.
        let clauses = rule.page.source.split("; ").filter(|clause| !clause.starts_with("observed"));
        page.expected.push(format!("Specification: {}.", clauses.collect::<Vec<_>>().join("; ")));
        page.matters.push(rule.page.consequence.to_owned());
    }
    if let Some(known) = known {
        if !known.consequence.is_empty() {
            page.matters.push(paragraph(known.consequence));
        }
        page.workaround = Some(paragraph(known.workaround)).filter(|text| !text.is_empty());
    }
    Ok(page)
}

fn known_as(defect: &Defect) -> String {
    format!("`{}` ({})", defect.id, defect.affected())
}

/// The commands that show the finding, with their outputs.
fn steps(reduced: &Reduced, assembler: &Assembler) -> Result<Vec<Step>, String> {
    let options = assembler.options(reduced.source.abi).join(" ");
    let command = format!("{} {options} -o {OBJECT} {SOURCE}", assembler.name());
    let mut steps = vec![Step { command, output: reduced.messages.clone() }];
    let printers: [(&str, &[&str]); 2] = match assembler.kind() {
        Kind::Gnu => {
            [("objdump", &["--sframe"]), ("readelf", &["-W", "--debug-dump=frames-interp"])]
        }
        Kind::Llvm => [("llvm-readobj", &["--sframe"]), ("llvm-dwarfdump", &["--eh-frame"])],
    };
    for (name, options) in printers {
        let Some(program) = assembler.sibling(name) else { continue };
        let file = program.file_name().map(|name| name.to_string_lossy().into_owned());
        let command = format!("{} {} {OBJECT}", file.unwrap_or_default(), options.join(" "));
        let output = assembler.print(&program, options, &reduced.object)?;
        steps.push(Step { command, output });
    }
    Ok(steps)
}

/// What would be right.
fn expected(finding: &Finding<'_>, reduced: &Reduced) -> Vec<String> {
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
            row.start.0, row.cfa, row.ra, row.fp
        ));
        let is_code = |part: &Part| matches!(part, Part::Code(Code::Bytes(_)));
        if !reduced.source.functions.iter().flat_map(|function| &function.parts).any(is_code) {
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

/// With a capital letter and a full stop.
fn paragraph(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with('.') { "" } else { "." };
    first.to_uppercase().chain(letters).chain(end.chars()).collect()
}
