//! Looks up single PCs: the row of every witness, with the function, the source line and the instruction.

mod answer;
mod error;
mod place;
mod text;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::Serialize;
use sframe_oracle::code::{Program, Unproven};
use sframe_oracle::compare::{Fields, look_up};
use sframe_validator::Abi;
use sframe_validator::check::Checker;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::{CodeAddress, Named, Register};

use answer::Reader;
pub use error::{LookupError, PlaceError};
pub use place::{PlaceName, hexadecimal};
use sframe_input::{FileBytes, SectionSource, archive};
use sframe_record::json::{FORMAT, TOOL, Tool, exact_name, name};
use sframe_record::text::{printable, printable_path};
use sframe_record::{
    Address, CodeStatement, Instruction, KnownRegister, PrintedFrame, SourceLine, Text,
    UnwindTable, Why, Wrong,
};
use sframe_scan::describe::DebugSections;
use sframe_scan::{CheckOptions, parsed, sections, table_of, with_tables};
pub use text::write as write_text;

/// The answers to a look-up; `lookup --format json` writes them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check lookup"))]
pub struct Answers {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The path as given on the command line.
    pub path: String,
    /// The path's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The separate debug file that was read as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_file: Option<String>,
    /// The table that `cfi` is about, if the file has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<UnwindTable>,
    /// Parts of the file that cannot be read, with the reason.
    pub undecided: Vec<Text<'static>>,
    /// Why places and registers of the command line cannot be found.
    pub not_found: Vec<Text<'static>>,
    /// One answer for each place that was found, in the order of the command line. A symbol that occurs several times has several
    /// answers.
    pub places: Vec<Answer>,
}

/// An entry that readers do not find, because another one has the same start, no bytes, and a later place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HiddenEntry {
    /// The start of the function.
    pub function_start: Address,
    /// Its size in bytes.
    pub function_size: u32,
    /// Its index in the table.
    pub index: u32,
    /// The index of the entry that readers find instead.
    pub by: u32,
}

/// The statements about a PC.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The PC: an address, or an offset in `code_section`.
    pub pc: Address,
    /// The section that contains it; only in relocatable objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'static>>,
    /// The symbol at or before the PC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Text<'static>>,
    /// The symbol's name in hexadecimal, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// The offset in bytes from the symbol, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_offset: Option<u64>,
    /// The symbol or section that the command line names, if the PC is after its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// The source line, if there is debugging information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine<'static>>,
    /// The instruction that contains the PC, which may be inside of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<Instruction<'static>>,
    /// The statement of SFrame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sframe: Option<Statement>,
    /// An entry of SFrame for the PC that readers do not find.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sframe_hidden: Option<HiddenEntry>,
    /// The statement of call frame information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfi: Option<Statement>,
    /// Why unwinders do not find the function of that statement as a whole: a defect of the table that they search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cfi_unfound: Option<Text<'static>>,
    /// What the machine code itself says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeStatement<'static>>,
    /// Why the machine code decides nothing about a statement or, if there is none, says nothing about the frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_undecided: Option<Unproven>,
    /// The instruction to blame for that: it is not decoded, jumps to an unknown place, computes a value that is not known, or paths meet
    /// there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_undecided_by: Option<Instruction<'static>>,
    /// The proof of what the machine code says, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Why<'static>>,
    /// The rules of CFI for callee-saved registers that the machine code proves wrong. SFrame carries none of these registers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong_registers: Vec<WrongRegister>,
    /// The rules of CFI for the registers that were asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cfi_registers: Vec<KnownRegister<'static>>,
    /// Which statement the machine code proves wrong. If both say the same, `inherited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<Wrong>,
    /// How the statements compare.
    pub verdict: AnswerVerdict,
    /// The fields that differ or, if the verdict is `limited`, that the section's version cannot express.
    pub fields: Fields,
}

/// A rule of CFI for a register that is wrong.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrongRegister {
    /// The machine's name of the register.
    pub name: Text<'static>,
    /// The rule of CFI, such as `*(CFA-16)`.
    pub cfi: Text<'static>,
    /// The rule that the machine code proves, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Text<'static>>,
}

/// A symbol or section that ends before a PC.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outside {
    /// Its name, as given on the command line.
    pub name: Text<'static>,
    /// Its end: an address, or an offset in the answer's `code_section`.
    pub end: Address,
}

/// How the statements about a PC compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AnswerVerdict {
    /// Both agree.
    Equal,
    /// Both agree, as far as the section's version can express it.
    Limited,
    /// They differ.
    Different,
    /// Only SFrame describes the PC.
    OnlySframe,
    /// Only CFI describes the PC.
    OnlyCfi,
    /// Neither describes the PC, which is in the file's code.
    Neither,
    /// Neither describes the PC, which is not in the file's code.
    NoCode,
    /// A statement cannot be read or compared.
    Undecided,
}

/// The statement of a witness about a PC.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statement {
    /// The section that contains it.
    pub section: Text<'static>,
    /// The function's start: an address, or an offset in the answer's `code_section`.
    pub function_start: Address,
    /// The size of the function in bytes of code.
    pub function_size: u64,
    /// The row; absent if the function has none for the PC, or if it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<FoundRow>,
}

/// A row, with the machine's names of registers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundRow {
    /// The first PC of the row. Adjacent rows with the same content count as one.
    pub start: Address,
    /// The first PC after the row.
    pub end: Address,
    /// How the frame is recovered.
    #[serde(flatten)]
    pub frame: PrintedFrame<Text<'static>>,
}

/// Writes the answers as one JSON document.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write_json(out: &mut dyn Write, answers: &Answers) -> io::Result<()> {
    sframe_record::json::write(&mut *out, answers)?;
    writeln!(out)?;
    out.flush()
}

/// The schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    let settings = schemars::generate::SchemaSettings::default().for_serialize();
    settings.into_generator().into_root_schema_for::<Answers>()
}

impl Answers {
    /// Whether witnesses differ at a place, or the machine code proves one wrong.
    #[must_use]
    pub fn is_different(&self) -> bool {
        let is_wrong = |answer: &Answer| {
            matches!(
                answer.wrong,
                Some(Wrong::Sframe | Wrong::Cfi | Wrong::Both | Wrong::Inherited)
            )
        };
        let differs = |answer: &Answer| answer.verdict == AnswerVerdict::Different;
        let has_wrong_rule = |answer: &Answer| !answer.wrong_registers.is_empty();
        let mut places = self.places.iter();
        places.any(|answer| differs(answer) || is_wrong(answer) || has_wrong_rule(answer))
    }

    /// Whether something could not be read or decided.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let open = |answer: &Answer| {
            matches!(answer.verdict, AnswerVerdict::Undecided | AnswerVerdict::NoCode)
        };
        !self.undecided.is_empty() || self.places.iter().any(open)
    }
}

/// What is asked about each place.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The places.
    pub places: Vec<PlaceName>,
    /// Whether the proof of what the machine code says is wanted.
    pub why: bool,
    /// The names of registers whose recovery is wanted as well.
    pub registers: Vec<String>,
}

/// The registers with these names on a machine, and why others are none.
fn registers_named(abi: Option<Abi>, names: &[String]) -> (Vec<Register>, Vec<String>) {
    /// The DWARF numbers of registers with names are lower on every machine.
    const NUMBERS: u32 = 128;
    let (mut registers, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        let is_named = |abi: Abi, register: Register| abi.register_name(register) == Some(name);
        let found = |abi: Abi| (0..NUMBERS).map(Register).find(|it| is_named(abi, *it));
        match (abi, abi.and_then(found)) {
            (_, Some(register)) => registers.push(register),
            (Some(abi), None) => {
                let (fp, ra) = (Named(abi, abi.fp()), Named(abi, abi.ra()));
                let name = printable(name);
                unknown.push(format!(
                    "--register {name}: {abi} has no such register; names are like {fp} and {ra}"
                ));
            }
            (None, None) => {}
        }
    }
    (registers, unknown)
}

/// Looks up places in the ELF file at `path`. Its separate debug file is looked for as a scan with `options` would.
///
/// # Errors
/// Why the file cannot be looked into.
pub fn look_up_file(
    path: &Path,
    question: &Question,
    options: &CheckOptions,
) -> Result<Answers, LookupError> {
    let data = FileBytes::open(path)?;
    if archive::is_archive(&data) {
        return Err(LookupError::Archive);
    }
    let elf = parsed(&data, options)?;
    if elf.kind() == ElfKind::Core {
        return Err(LookupError::Core(path.to_owned()));
    }
    let (registers, unknown) = registers_named(elf.abi(), &question.registers);
    let mut answers = look_up_elf(path, &elf, (question, &registers), options);
    answers.not_found.extend(unknown.into_iter().map(Text::from));
    data.intact()?;
    Ok(answers)
}

fn look_up_elf(
    path: &Path,
    elf: &Elf<'_>,
    (question, registers): (&Question, &[Register]),
    options: &CheckOptions,
) -> Answers {
    let contents: Vec<_> = elf.sframe_contents().collect();
    let sources: Vec<SectionSource<'_>> =
        contents.iter().map(SectionSource::of).filter_map(Result::ok).collect();
    let report = Checker::new(&options.validator).contents_each(elf, &contents, &mut |_| ());
    let reasons = report.undecided.iter().map(|undecided| undecided.reason.clone());
    let mut undecided: Vec<String> = reasons.collect();
    // Sections whose bytes or relocations cannot be read have no source.
    let mut unread = Unread { sframe: sources.len() < contents.len(), cfi: false };
    let sections = sections(&sources, &report).unwrap_or_else(|reason| {
        undecided.push(format!("SFrame: {reason}"));
        unread.sframe = true;
        Vec::new()
    });
    with_tables(path, elf, options, |tables| {
        let cfi = tables.get().unwrap_or_else(|reason| {
            undecided.push(format!("CFI: {reason}"));
            unread.cfi = true;
            &[]
        });
        undecided.extend(tables.undecided().map(|undecided| undecided.reason));
        // A debug file has all symbols of the file from which it was split.
        let named_by = tables.debug_elf().unwrap_or(elf);
        let (found, not_found) = place::find(elf, named_by, &question.places);
        let pcs: Vec<CodeAddress> = found.iter().map(|found| found.place).collect();
        let ranges = look_up(elf, &sections, cfi, &pcs);
        let debug_sections = DebugSections::load(named_by);
        let is_code = |pc: &CodeAddress| elf.code_bytes(*pc, 1).is_some_and(|it| !it.is_empty());
        let needs_code = pcs.iter().any(is_code);
        let code = needs_code.then(|| Program::for_few(elf, &sections, cfi)).flatten();
        let sources = (sections.as_slice(), sources.as_slice());
        let read = (cfi, code.as_ref());
        let mut reader = Reader::new(elf, named_by, &debug_sections, sources, read);
        reader.ask(question, registers);
        let answers = found.into_iter().zip(&ranges);
        let places = answers.map(|(found, range)| {
            let answer = reader.answer(found.place, range.as_ref());
            let verdict = unread.verdict(answer.verdict);
            Answer { verdict, outside: found.outside, ..answer }
        });
        Answers {
            format: FORMAT,
            tool: TOOL,
            path: name(path.as_os_str().as_bytes()),
            path_hex: exact_name(path.as_os_str().as_bytes()),
            debug_file: tables.debug_file().map(printable_path),
            table: table_of(cfi),
            undecided: undecided.into_iter().map(Text::from).collect(),
            not_found: not_found.iter().map(|reason| reason.to_string().into()).collect(),
            places: places.collect(),
        }
    })
}

/// Witnesses of which a part cannot be read: they may describe more than is known.
#[derive(Clone, Copy, Debug)]
struct Unread {
    sframe: bool,
    cfi: bool,
}

impl Unread {
    /// The verdict, unless it depends on the silence of a witness that cannot be read.
    const fn verdict(self, verdict: AnswerVerdict) -> AnswerVerdict {
        match verdict {
            AnswerVerdict::OnlyCfi if self.sframe => AnswerVerdict::Undecided,
            AnswerVerdict::OnlySframe if self.cfi => AnswerVerdict::Undecided,
            AnswerVerdict::Neither | AnswerVerdict::NoCode if self.sframe || self.cfi => {
                AnswerVerdict::Undecided
            }
            verdict => verdict,
        }
    }
}
