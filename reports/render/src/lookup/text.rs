//! Answers for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Answer, AnswerVerdict, Answers, FoundRow, HiddenEntry, Statement, WrongRegister};
use crate::function_name::at_offset;
use crate::why;
use sframe_record::{CodeStatement, KnownFrame, KnownRegister, Text, UnwindTable, Wrong};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const DIFFERENT: Style = AnsiColor::Red.on_default().bold();

/// Writes the answers, separated by empty lines.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, answers: &Answers) -> io::Result<()> {
    for reason in &answers.undecided {
        writeln!(out, "undecided: {reason}")?;
    }
    for (number, answer) in answers.places.iter().enumerate() {
        if number > 0 || !answers.undecided.is_empty() {
            writeln!(out)?;
        }
        write_answer(out, answer, UnwindTable::noun_of(answers.table))?;
    }
    Ok(())
}

fn write_answer(out: &mut dyn Write, answer: &Answer, noun: &str) -> io::Result<()> {
    let section = answer.code_section.as_ref();
    let section = section.map(|section| format!("{section}+")).unwrap_or_default();
    write!(out, "{BOLD}{section}{}{BOLD:#}", answer.pc)?;
    if let Some(symbol) = &answer.symbol {
        write!(out, "  {}", at_offset(symbol.as_str(), answer.symbol_offset))?;
    }
    if let Some(source) = &answer.source {
        write!(out, "  {DIM}{}:{}{DIM:#}", source.file, source.line)?;
    }
    writeln!(out)?;
    if let Some(outside) = &answer.outside {
        writeln!(out, "  outside of {}, which ends at {}", outside.name, outside.end)?;
    }
    let widths = Widths::of(answer);
    let range_width = widths.range;
    if let Some(instruction) = &answer.instruction {
        let start = instruction.address.to_string();
        write!(out, "  instr   {start:range_width$}  {}", instruction.text)?;
        match instruction.address == answer.pc {
            true => writeln!(out)?,
            false => writeln!(out, "  ({} is inside the instruction at {start})", answer.pc)?,
        }
    }
    statement(out, "SFrame", answer.sframe.as_ref(), &widths)?;
    if let Some(HiddenEntry { index, by, .. }) = answer.sframe_hidden {
        writeln!(
            out,
            "  SFrame  no reader finds function #{index}: function #{by} has the same start and no bytes"
        )?;
    }
    statement(out, noun, answer.cfi.as_ref(), &widths)?;
    if let Some(why) = &answer.cfi_unfound {
        writeln!(out, "  {noun:<6}  {DIFFERENT}{why}{DIFFERENT:#}")?;
    }
    if let Some(code) = &answer.code {
        writeln!(out, "  Code    {:range_width$}  {}", "", code_statement(code, &widths))?;
    }
    if let Some(why) = answer.code_undecided {
        let head = if answer.code.is_some() { "" } else { "Code" };
        let by = answer.code_undecided_by.as_ref().map(|it| format!(", see {}", it.named()));
        let by = by.unwrap_or_default();
        writeln!(out, "  {head:<6}  undecided: {}{by}", why.description())?;
    }
    for KnownRegister { name, rule } in &answer.cfi_registers {
        writeln!(out, "  {noun:<6}  {name}={}", rule.as_deref().unwrap_or("?"))?;
    }
    if let Some(why) = &answer.why {
        why::write(out, why, 2)?;
    }
    verdict(out, answer, noun)?;
    for WrongRegister { name, cfi, code } in &answer.wrong_registers {
        let truth = code.as_ref().map(|code| format!(", the code has {code}"));
        let truth = truth.unwrap_or_default();
        writeln!(
            out,
            "  {DIFFERENT}{noun} is wrong about {name}{DIFFERENT:#}: it says {cfi}{truth}"
        )?;
    }
    match answer.wrong {
        Some(Wrong::Inherited) => {
            writeln!(out, "  {DIFFERENT}{noun} is wrong, and SFrame has inherited it{DIFFERENT:#}")
        }
        Some(Wrong::Both) => writeln!(out, "  {DIFFERENT}both are wrong{DIFFERENT:#}"),
        Some(Wrong::Sframe) => writeln!(out, "  {DIFFERENT}SFrame is wrong{DIFFERENT:#}"),
        Some(Wrong::Cfi) => writeln!(out, "  {DIFFERENT}{noun} is wrong{DIFFERENT:#}"),
        Some(Wrong::Neither | Wrong::Undecided) | None => Ok(()),
    }
}

fn verdict(out: &mut dyn Write, answer: &Answer, noun: &str) -> io::Result<()> {
    let fields = answer.fields.to_string();
    match answer.verdict {
        AnswerVerdict::Equal => writeln!(out, "  both agree"),
        AnswerVerdict::Limited => {
            writeln!(out, "  both agree, except for {fields}, which the version cannot express")
        }
        AnswerVerdict::Different => {
            writeln!(out, "  {DIFFERENT}they differ{DIFFERENT:#} in {fields}")
        }
        AnswerVerdict::OnlyCfi => writeln!(out, "  only {noun} describes this PC"),
        AnswerVerdict::OnlySframe => writeln!(out, "  only SFrame describes this PC"),
        AnswerVerdict::Neither => writeln!(out, "  neither SFrame nor {noun} describes this PC"),
        AnswerVerdict::NoCode => {
            writeln!(
                out,
                "  not in the code of the file, and described by neither SFrame nor {noun}"
            )
        }
        AnswerVerdict::Undecided => {
            writeln!(out, "  undecided: something cannot be read or compared")
        }
    }
}

/// The widths of the columns of both rows.
struct Widths {
    range: usize,
    cfa: usize,
    ra: usize,
}

impl Widths {
    fn of(answer: &Answer) -> Widths {
        let rows: Vec<&FoundRow> = [&answer.sframe, &answer.cfi]
            .into_iter()
            .flatten()
            .filter_map(|s| s.row.as_ref())
            .collect();
        let widest = |text: fn(&FoundRow) -> String| {
            rows.iter().map(|row| text(row).len()).max().unwrap_or(0)
        };
        let code = answer.code.as_ref();
        let in_code = |part: for<'k> fn(&'k KnownFrame<'static>) -> Option<&'k Text<'static>>| {
            code.and_then(|code| part(&code.known)).map_or(0, |part| part.len())
        };
        Widths {
            range: widest(range),
            cfa: widest(|row| row.frame.cfa.to_string()).max(in_code(|known| known.cfa.as_ref())),
            ra: widest(|row| row.frame.signed_ra()).max(in_code(|known| known.ra.as_ref())),
        }
    }
}

fn range(row: &FoundRow) -> String {
    format!("{}..{}", row.start, row.end)
}

/// What the machine code says. It does not determine what is `?`.
fn code_statement(code: &CodeStatement<'_>, widths: &Widths) -> String {
    let part = |part: &Option<Text<'_>>| part.as_deref().unwrap_or("?").to_owned();
    let (cfa_width, ra_width) = (widths.cfa, widths.ra);
    let KnownFrame { cfa, ra, fp } = &code.known;
    let signed = if code.ra_signed { " signed" } else { "" };
    let (cfa, ra, fp) = (part(cfa), part(ra) + signed, part(fp));
    format!("CFA={cfa:cfa_width$}  RA={ra:ra_width$}  FP={fp}")
}

fn statement(
    out: &mut dyn Write,
    witness: &str,
    statement: Option<&Statement>,
    widths: &Widths,
) -> io::Result<()> {
    let Some(statement) = statement else { return Ok(()) };
    let start = statement.function_start;
    match &statement.row {
        Some(row) => {
            let (range_width, cfa_width, ra_width) = (widths.range, widths.cfa, widths.ra);
            let cfa = row.frame.cfa.to_string();
            let line = format!(
                "  {witness:<6}  {:range_width$}  CFA={cfa:cfa_width$}  RA={:ra_width$}  FP={}",
                range(row),
                row.frame.signed_ra(),
                row.frame.fp
            );
            writeln!(out, "{line}  {DIM}{}, function {start}{DIM:#}", statement.section)
        }
        None => writeln!(
            out,
            "  {witness:<6}  no row that can be read  {DIM}{}, function {start}{DIM:#}",
            statement.section
        ),
    }
}
