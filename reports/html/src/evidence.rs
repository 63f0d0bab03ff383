//! The evidence of a finding: its place, its field, the bytes around it, and the rows of both tables.

use serde::Serialize;
use sframe_record::{
    Code, Difference, Finding, Function, PrintedFrame, Side, Why, WhyLine, Wrong, demangle,
};

use crate::strings::Strings;

/// Lists in a record are not longer than this. A record from elsewhere may have lists of any length.
pub(crate) const MOST: usize = 200;

/// The evidence of a finding. Strings are positions in a table.
#[derive(Debug, Serialize)]
pub(crate) struct Evidence {
    /// The section's position in the file's list, and the offset in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<FunctionRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<CodeRow>,
    /// The ELF section that contains the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    elf_section: Option<u32>,
    /// Name, value, allowed values.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<[u32; 3]>,
    /// Offset, bytes, name, value, whether it is the defect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<(u64, u32, u32, u32, u8)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Rows>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Proof>,
}

/// Index, start, section of code, size, symbol, offset from the symbol.
type FunctionRow = (u32, Option<String>, Option<u32>, u32, Option<u32>, u64);

/// Start, end, section of code, symbol, offset from the symbol, size in bytes.
type CodeRow = (String, String, Option<u32>, Option<u32>, u64, u64);

/// The rows of both tables, the instructions, and who is wrong.
#[derive(Debug, Serialize)]
struct Rows {
    /// The values that differ.
    fields: Vec<u32>,
    /// Side (0 both, 1 first, 2 second), start, CFA, RA, FP, whether RA is signed.
    rows: Vec<(u8, String, u32, u32, u32, u8)>,
    #[serde(skip_serializing_if = "is_zero")]
    cut: u8,
    /// Address, text.
    instructions: Vec<(String, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<Wrong>,
    /// Who is wrong, and why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling: Option<u32>,
    /// The number of other functions with the same pattern, and their size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    similar: Option<(u64, u64)>,
}

/// The proof: the way from an entry of the function to the instruction that decides.
#[derive(Debug, Serialize)]
struct Proof {
    /// The place of that instruction.
    to: u32,
    /// The names of what is known: `CFA`, `RA`, `FP` and registers.
    columns: Vec<u32>,
    lines: Vec<ProofLine>,
    /// Whether the way is not complete.
    #[serde(skip_serializing_if = "is_zero")]
    cut: u8,
    /// Where something was lost, and what decides.
    sentences: Vec<u32>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ProofLine {
    /// Place, instruction, what is known before it if that is shown, how control comes to it.
    Step(u32, u32, Option<Vec<u32>>, Option<u32>),
    /// The number of instructions that are not listed, and why.
    Count(usize, &'static str),
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// The evidence of a finding. `noun` is what people call the table that SFrame was compared with.
pub(crate) fn evidence(strings: &mut Strings, finding: &Finding<'_>, noun: &str) -> Evidence {
    let context = finding.context.iter().take(MOST).map(|part| {
        let texts = [&part.bytes, &part.name, &part.value].map(|text| strings.of(text));
        let [bytes, name, value] = texts;
        (part.offset, bytes, name, value, u8::from(part.blamed))
    });
    let context = context.collect();
    let field = finding.field.as_ref();
    Evidence {
        section: finding.section,
        offset: finding.offset,
        function: finding.function.as_ref().map(|of| function(strings, of)),
        row: finding.row,
        code: finding.code.as_ref().map(|of| code(strings, of)),
        elf_section: finding.elf_section.as_ref().map(|name| strings.of(name)),
        field: field.map(|of| [&of.name, &of.value, &of.allowed].map(|text| strings.of(text))),
        context,
        difference: finding.difference.as_ref().map(|of| rows(strings, of, noun)),
        why: finding.why.as_ref().and_then(|of| proof(strings, of)),
    }
}

fn function(strings: &mut Strings, of: &Function<'_>) -> FunctionRow {
    (
        of.index,
        of.start.map(|start| start.to_string()),
        of.code_section.as_ref().map(|name| strings.of(name)),
        of.size,
        of.symbol.as_ref().map(|symbol| strings.of(&demangle(symbol))),
        of.symbol_offset.unwrap_or(0),
    )
}

fn code(strings: &mut Strings, of: &Code<'_>) -> CodeRow {
    (
        of.start.to_string(),
        of.end.to_string(),
        of.code_section.as_ref().map(|name| strings.of(name)),
        of.symbol.as_ref().map(|symbol| strings.of(&demangle(symbol))),
        of.symbol_offset.unwrap_or(0),
        of.end.0.saturating_sub(of.start.0),
    )
}

fn rows(strings: &mut Strings, of: &Difference<'_>, noun: &str) -> Rows {
    let rows = of.table.iter().take(MOST).map(|line| {
        let side = match line.side {
            Side::Both => 0,
            Side::Sframe | Side::First => 1,
            Side::Cfi | Side::Second => 2,
        };
        let PrintedFrame { cfa, ra, fp, ra_signed } =
            line.frame.as_ref().map(|text| strings.of(text));
        (side, line.start.to_string(), cfa, ra, fp, u8::from(ra_signed))
    });
    let rows = rows.collect();
    let instructions = of.instructions.iter().take(MOST);
    let instructions = instructions.map(|of| (of.address.to_string(), strings.of(&of.text)));
    let instructions = instructions.collect();
    let ruling = of.ruling.as_ref();
    let similar = of.similar.filter(|similar| similar.functions > 0);
    Rows {
        fields: of.fields.iter().take(MOST).map(|field| strings.of(field)).collect(),
        rows,
        cut: u8::from(of.cut || of.table.len() > MOST),
        instructions,
        wrong: ruling.map(|ruling| ruling.wrong),
        ruling: ruling.map(|ruling| strings.of(&ruling.sentence(noun))),
        similar: similar.map(|similar| (similar.functions, similar.bytes)),
    }
}

/// A proof; `None` if it has no way.
fn proof(strings: &mut Strings, of: &Why<'_>) -> Option<Proof> {
    let (first, last) = (of.way.first()?, of.way.last()?);
    let columns = first.state().into_iter().take(MOST).map(|(name, _)| strings.of(&name));
    let columns = columns.collect();
    let all = of.lines();
    let lines = all.iter().take(MOST).map(|line| match line {
        WhyLine::Step { step, shows_state, note } => ProofLine::Step(
            strings.of(&step.place()),
            strings.of(&step.instruction.text),
            shows_state.then(|| {
                let state = step.state().into_iter().take(MOST);
                state.map(|(_, rule)| strings.of(&rule)).collect()
            }),
            note.as_ref().map(|note| strings.of(note)),
        ),
        WhyLine::Unchanged(_) | WhyLine::LeftOut(_) => {
            let (count, what) = line.count().unwrap_or_default();
            ProofLine::Count(count, what)
        }
    });
    let lines = lines.collect();
    Some(Proof {
        to: strings.of(&last.place()),
        columns,
        lines,
        cut: u8::from(of.left_out.is_some() || all.len() > MOST),
        sentences: of.sentences().iter().take(MOST).map(|text| strings.of(text)).collect(),
    })
}
