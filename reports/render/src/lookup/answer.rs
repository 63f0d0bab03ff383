//! The answer about one PC.

use std::collections::BTreeMap;

use sframe_oracle::cfi::{Cfi, Fde, check_search_table};
use sframe_oracle::code::{Function, Program, Truth, Unproven, WhyUnproven};
use sframe_oracle::compare::{Fields, Range, Verdict, function_as_described, wrong_rules};
use sframe_oracle::witness::{CodeRange, SframeFunction, Statement as Stated};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Frame, Named, Register, Row};
use sframe_validator::{Abi, Section};

use super::{Answer, AnswerVerdict, FoundRow, HiddenEntry, Question, Statement, WrongRegister};
use sframe_input::SectionSource;
use sframe_record::json::exact_name;
use sframe_record::{Address, CodeStatement, KnownRegister, PrintedFrame, Text, Why, Wrong};
use sframe_scan::describe::Names;
use sframe_scan::describe::RowReader;
use sframe_scan::describe::{DebugSections, SourceLines};
use sframe_scan::describe::{
    clause_about_registers, clause_against, instruction_at, instruction_to_blame, why,
};

/// Makes answers from a file.
pub(super) struct Reader<'r, 'a> {
    elf: &'r Elf<'a>,
    sections: &'r [Section<'r>],
    /// The sources of `sections`.
    sources: &'r [SectionSource<'r>],
    names: Names<'r, 'r>,
    lines: SourceLines<'r>,
    rows: RowReader,
    tables: &'r [Cfi<'r>],
    /// The entries of SFrame that readers do not find, by start.
    hidden: Vec<HiddenEntry>,
    /// The functions of CFI that unwinders do not find as a whole, and why.
    unfound: BTreeMap<CodeAddress, String>,
    code: Option<&'r Program<'r>>,
    /// Whether proofs are wanted.
    why: bool,
    /// The registers that are asked about.
    registers: &'r [Register],
}

/// The entries that readers do not find, by start.
fn hidden(sections: &[Section<'_>]) -> Vec<HiddenEntry> {
    let entries = sections.iter().flat_map(Section::hidden_functions);
    let mut hidden: Vec<HiddenEntry> = entries
        .filter_map(|(entry, found)| {
            let function_start = Address(entry.start().ok()?.address);
            let (function_size, index) = (entry.size(), entry.index());
            Some(HiddenEntry { function_start, function_size, index, by: found.index() })
        })
        .collect();
    hidden.sort_by_key(|entry| entry.function_start.0);
    hidden
}

/// The functions of CFI that unwinders do not find as a whole, by start, and why: the table that they search is wrong.
fn unfound(elf: &Elf<'_>, tables: &[Cfi<'_>]) -> BTreeMap<CodeAddress, String> {
    let mut unfound = BTreeMap::new();
    check_search_table(elf, tables, &mut |defect| {
        if let Some(function) = defect.function {
            unfound.entry(function.start()).or_insert_with(|| defect.kind.to_string());
        }
    });
    unfound
}

impl<'r, 'a> Reader<'r, 'a> {
    /// Answers about `elf`. Symbols are those of `named_by`, which is the file itself or its debug file,
    /// and source lines those of `debug`. `tables` are its CFI, and `code` its machine code, if it can be examined.
    pub(super) fn new(
        elf: &'r Elf<'a>,
        named_by: &'r Elf<'r>,
        debug: &'r DebugSections<'r>,
        (sections, sources): (&'r [Section<'r>], &'r [SectionSource<'r>]),
        (tables, code): (&'r [Cfi<'r>], Option<&'r Program<'r>>),
    ) -> Reader<'r, 'a> {
        let names = Names::of(Some(named_by));
        let lines = debug.lines();
        let (rows, why, registers) = (RowReader::default(), false, [].as_slice());
        let (hidden, unfound) = (hidden(sections), unfound(elf, tables));
        Reader {
            elf,
            sections,
            sources,
            names,
            lines,
            rows,
            tables,
            hidden,
            unfound,
            code,
            why,
            registers,
        }
    }

    /// Asks for proofs, if the question does, and for the recovery of some registers.
    pub(super) const fn ask(&mut self, question: &Question, registers: &'r [Register]) {
        (self.why, self.registers) = (question.why, registers);
    }

    /// The answer about `place`; `range` is the result of looking it up.
    pub(super) fn answer(&mut self, place: CodeAddress, range: Option<&Range<'_>>) -> Answer {
        let symbol = self.names.nearest_symbol(place);
        let sframe = range.and_then(|range| range.sframe.as_ref());
        let cfi = range.and_then(|range| range.cfi.as_ref());
        let function = cfi.map(|stated| stated.function.start());
        let function = function.or_else(|| sframe.map(|stated| stated.function.start));
        let in_code = self.code.and_then(|code| range_at(code, place));
        let function = function.or_else(|| in_code.map(|range| range.start));
        let abi = self.elf.abi();
        let instruction =
            abi.and_then(|abi| instruction_at(self.elf, abi, function.unwrap_or(place), place));
        let is_code = self.elf.code_bytes(place, 1).is_some_and(|bytes| !bytes.is_empty());
        let (verdict, fields) = match range.map(|range| range.verdict) {
            None | Some(Verdict::Neither) if !is_code => (AnswerVerdict::NoCode, Fields::default()),
            found => compared(found.unwrap_or(Verdict::Neither)),
        };
        let cfi_registers = cfi.zip(abi).map(|(stated, abi)| {
            let rule = |register: &Register| KnownRegister {
                name: Named(abi, *register).to_string().into(),
                rule: stated
                    .function
                    .rule(*register, place.address)
                    .map(|rule| Named(abi, rule).to_string().into()),
            };
            self.registers.iter().map(rule).collect()
        });
        let cfi_unfound = cfi.and_then(|stated| self.unfound.get(&stated.function.start()));
        let cfi_unfound = cfi_unfound.map(|why| why.clone().into());
        let (sframe, in_sframe) =
            sframe.zip(abi).map(|(stated, abi)| self.sframe(abi, place, stated)).unzip();
        let (cfi, in_cfi) = cfi.zip(abi).map(|(stated, abi)| self.cfi(abi, place, stated)).unzip();
        let frames = (in_sframe.flatten(), in_cfi.flatten());
        let by_code = abi.map(|abi| self.by_code(abi, place, in_code, frames));
        let ByCode { statement, undecided, wrong, wrong_registers, why } =
            by_code.unwrap_or_else(|| ByCode::undecided(Unproven::Machine));
        // Where there is no code, the verdict says so.
        let undecided = undecided.filter(|_| is_code);
        let blamed = undecided.and_then(|undecided| undecided.cause);
        Answer {
            code: statement,
            code_undecided: undecided.map(|undecided| undecided.reason),
            code_undecided_by: blamed.and_then(|blamed| instruction_to_blame(self.elf, blamed)),
            why,
            wrong_registers,
            cfi_registers: cfi_registers.unwrap_or_default(),
            wrong,
            outside: None,
            pc: Address(place.address),
            code_section: self.names.section(place).map(Text::from),
            symbol_hex: symbol.as_ref().and_then(|symbol| exact_name(&symbol.name)),
            symbol_offset: symbol.as_ref().map(|symbol| symbol.offset),
            symbol: symbol.map(|s| String::from_utf8_lossy(&s.name).into_owned().into()),
            source: self.lines.find(place),
            instruction,
            sframe_hidden: self.hidden_at(place).filter(|_| sframe.is_none()),
            sframe,
            cfi,
            cfi_unfound,
            verdict,
            fields,
        }
    }

    /// The entry for a place that readers do not find.
    fn hidden_at(&self, place: CodeAddress) -> Option<HiddenEntry> {
        let after = self.hidden.partition_point(|entry| entry.function_start.0 <= place.address);
        let entry = self.hidden.get(after.checked_sub(1)?)?;
        let offset = place.address.checked_sub(entry.function_start.0)?;
        // Only entries of linked files are hidden, whose places are in no section.
        (place.section == 0 && offset < u64::from(entry.function_size)).then_some(*entry)
    }

    /// What the machine code says about a place, which of the frames of SFrame and CFI it proves wrong, and why it decides nothing about
    /// one of them. `range` is the function that is known there.
    fn by_code(
        &mut self,
        abi: Abi,
        place: CodeAddress,
        range: Option<CodeRange>,
        (sframe, cfi): (Option<Frame>, Option<Frame>),
    ) -> ByCode {
        let Some(code) = self.code else { return ByCode::undecided(Unproven::Machine) };
        if range.is_none() {
            return ByCode::undecided(Unproven::NoFunction);
        }
        let function = function_as_described(code, self.elf, self.sections, self.tables, place);
        let Some(mut function) = function else {
            return ByCode { undecided: Some(code.why_not_examined(place)), ..ByCode::default() };
        };
        let looked = function.at(place.address, |facts| {
            let truth = |frame: Option<Frame>| frame.map(|frame| facts.judge(&frame).whole());
            (facts.proven_row(), truth(sframe), truth(cfi))
        });
        let Some((known, of_sframe, of_cfi)) = looked else {
            let undecided = code.why_unproven(Some(&mut function), place, None);
            return ByCode { undecided: Some(undecided), ..ByCode::default() };
        };
        let wrong = match (of_sframe == Some(Truth::Refuted), of_cfi == Some(Truth::Refuted)) {
            (true, true) if sframe == cfi => Some(Wrong::Inherited),
            (true, true) => Some(Wrong::Both),
            (true, false) => Some(Wrong::Sframe),
            (false, true) => Some(Wrong::Cfi),
            (false, false) => None,
        };
        let of = |frame: Option<Frame>, truth| frame.filter(|_| truth == Some(Truth::Unknown));
        let unknown = of(cfi, of_cfi).or_else(|| of(sframe, of_sframe));
        let is_undecided = unknown.is_some() || known.frame().is_none() && sframe.or(cfi).is_none();
        let undecided =
            is_undecided.then(|| code.why_unproven(Some(&mut function), place, unknown.as_ref()));
        let wrong_registers = wrong_registers(abi, &mut function, self.elf, self.tables, place);
        let why = self.why.then(|| {
            let asked = (place.address, self.registers);
            let clause = match wrong {
                Some(wrong) => clause_against(wrong),
                None if wrong_registers.is_empty() => None,
                None => Some(clause_about_registers()),
            };
            let names = &self.names;
            Why { clause, ..why(self.elf, abi, names, (code, &mut function), asked) }
        });
        let statement = Some(CodeStatement::new(abi, &known));
        ByCode { statement, undecided, wrong, wrong_registers, why }
    }

    fn sframe(
        &mut self,
        abi: Abi,
        place: CodeAddress,
        stated: &Stated<SframeFunction>,
    ) -> (Statement, Option<Frame>) {
        let function = stated.function;
        let number = function.section as usize;
        let read = self.sections.get(number).and_then(|section| {
            let entry = section.entry(function.index)?.function().ok()?;
            self.rows.of_function(&entry, place.address)
        });
        let whole = |frame| Row { start: function.start.address, end: function.end(), frame };
        let found = read.and_then(|rows| rows.into_iter().find(|row| row.contains(place.address)));
        // An outermost frame has no rows.
        let found = found.or_else(|| stated.frame.map(whole));
        let statement = Statement {
            section: self.sources.get(number).map(|s| s.name.clone()).unwrap_or_default().into(),
            function_start: Address(function.start.address),
            function_size: function.size.into(),
            row: found.map(|row| found_row(abi, &row)),
        };
        (statement, found.map(|row| row.frame))
    }

    fn cfi(
        &mut self,
        abi: Abi,
        place: CodeAddress,
        stated: &Stated<Fde<'_>>,
    ) -> (Statement, Option<Frame>) {
        let function = stated.function;
        let rows = self.rows.of_cfi(&function).unwrap_or_default();
        let found = rows.into_iter().find(|row| row.contains(place.address));
        let statement = Statement {
            section: function.cfi().name().into(),
            function_start: Address(function.start().address),
            function_size: function.size(),
            row: found.map(|row| found_row(abi, &row)),
        };
        (statement, found.map(|row| row.frame))
    }
}

/// What the machine code says about a place.
#[derive(Default)]
struct ByCode {
    statement: Option<CodeStatement<'static>>,
    /// Why it decides nothing.
    undecided: Option<WhyUnproven>,
    /// Which statement it proves wrong.
    wrong: Option<Wrong>,
    /// The rules of CFI for callee-saved registers that it proves wrong.
    wrong_registers: Vec<WrongRegister>,
    /// The proof, if it was asked for.
    why: Option<Why<'static>>,
}

impl ByCode {
    /// Nothing, for a reason for which no instruction is to blame.
    fn undecided(reason: Unproven) -> ByCode {
        let undecided = Some(WhyUnproven { reason, cause: None });
        ByCode { undecided, ..ByCode::default() }
    }
}

/// The rules of CFI for callee-saved registers that are wrong at a place in `function`.
fn wrong_registers(
    abi: Abi,
    function: &mut Function<'_>,
    elf: &Elf<'_>,
    tables: &[Cfi<'_>],
    place: CodeAddress,
) -> Vec<WrongRegister> {
    let found = wrong_rules(function, elf, tables);
    let rules = found.iter().flat_map(|found| &found.rules);
    let here = rules.filter(|rule| (rule.start..rule.end).contains(&place.address));
    here.map(|rule| {
        let truth = function.at(place.address, |facts| facts.recovery(rule.register)).flatten();
        WrongRegister {
            name: Named(abi, rule.register).to_string().into(),
            cfi: Named(abi, rule.rule).to_string().into(),
            code: truth.map(|truth| Named(abi, truth).to_string().into()),
        }
    })
    .collect()
}

/// The function of the machine code at a place.
fn range_at(code: &Program<'_>, place: CodeAddress) -> Option<CodeRange> {
    let functions = code.functions();
    let next = functions.partition_point(|range| range.start <= place);
    let range = functions.get(next.checked_sub(1)?)?;
    let is_inside = range.start.section == place.section && place.address < range.end;
    is_inside.then_some(*range)
}

fn found_row(abi: Abi, row: &Row) -> FoundRow {
    let frame = PrintedFrame::new(abi, &row.frame);
    FoundRow { start: Address(row.start), end: Address(row.end), frame }
}

fn compared(verdict: Verdict) -> (AnswerVerdict, Fields) {
    match verdict {
        Verdict::Equal => (AnswerVerdict::Equal, Fields::default()),
        Verdict::Limited(fields) => (AnswerVerdict::Limited, fields),
        Verdict::Different(fields) => (AnswerVerdict::Different, fields),
        Verdict::OnlyCfi => (AnswerVerdict::OnlyCfi, Fields::default()),
        Verdict::OnlySframe => (AnswerVerdict::OnlySframe, Fields::default()),
        Verdict::Neither => (AnswerVerdict::Neither, Fields::default()),
        Verdict::Undecided => (AnswerVerdict::Undecided, Fields::default()),
    }
}
