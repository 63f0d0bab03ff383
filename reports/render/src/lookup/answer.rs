//! The answer about one PC.

use sframe_oracle::cfi::{Cfi, Fde};
use sframe_oracle::code::{Function, LARGEST_FUNCTION, Program, ProvenRow, Truth};
use sframe_oracle::compare::{Fields, Range, Verdict, function_as_described, wrong_rules};
use sframe_oracle::witness::{CodeRange, SframeFunction, Statement as Stated};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Frame, Named, Register, Row};
use sframe_validator::{Abi, Section};

use super::why::{self, KnownRegister, Why};
use super::{Answer, AnswerVerdict, CodeStatement, FoundRow, Statement, Unexamined, WrongRegister};
use sframe_input::SectionSource;
use sframe_record::json::exact_name;
use sframe_record::{Address, KnownFrame, PrintedFrame, Text, Wrong};
use sframe_scan::describe::Names;
use sframe_scan::describe::RowReader;
use sframe_scan::describe::instruction_at;
use sframe_scan::describe::{DebugSections, SourceLines};

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
    code: Option<&'r Program<'r>>,
    /// Whether proofs are wanted.
    why: bool,
    /// The registers that are asked about.
    registers: &'r [Register],
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
        Reader { elf, sections, sources, names, lines, rows, tables, code, why, registers }
    }

    /// Asks for proofs, and for the recovery of some registers.
    pub(super) const fn ask(&mut self, why: bool, registers: &'r [Register]) {
        (self.why, self.registers) = (why, registers);
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
        let (sframe, in_sframe) =
            sframe.zip(abi).map(|(stated, abi)| self.sframe(abi, place, stated)).unzip();
        let (cfi, in_cfi) = cfi.zip(abi).map(|(stated, abi)| self.cfi(abi, place, stated)).unzip();
        let by_code = abi.ok_or(Unexamined::Machine).and_then(|abi| {
            self.by_code(abi, place, in_code, (in_sframe.flatten(), in_cfi.flatten()))
        });
        let (code, code_undecided) = match by_code {
            Ok(code) => (Some(code), None),
            // Where there is no code, the verdict says so.
            Err(why) => (None, is_code.then_some(why)),
        };
        let (wrong, wrong_registers, why, code) = match code {
            Some(ByCode { statement, wrong, wrong_registers, why }) => {
                (wrong, wrong_registers, why, Some(statement))
            }
            None => (None, Vec::new(), None, None),
        };
        Answer {
            code,
            code_undecided,
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
            sframe,
            cfi,
            verdict,
            fields: fields.names().collect(),
        }
    }

    /// What the machine code says about a place, and which of the frames of SFrame and CFI it proves wrong. `range` is the
    /// function there.
    fn by_code(
        &mut self,
        abi: Abi,
        place: CodeAddress,
        range: Option<CodeRange>,
        (sframe, cfi): (Option<Frame>, Option<Frame>),
    ) -> Result<ByCode, Unexamined> {
        let code = self.code.ok_or(Unexamined::Machine)?;
        let range = range.ok_or(Unexamined::NoFunction)?;
        let function = function_as_described(code, self.elf, self.sections, self.tables, place);
        let mut function = function.ok_or_else(|| self.unexamined(range))?;
        let looked = function.at(place.address, |facts| {
            let is_wrong = |frame: Option<Frame>| {
                frame.is_some_and(|frame| facts.judge(&frame).whole() == Truth::Refuted)
            };
            let wrong = match (is_wrong(sframe), is_wrong(cfi)) {
                (true, true) if sframe == cfi => Some(Wrong::Inherited),
                (true, true) => Some(Wrong::Both),
                (true, false) => Some(Wrong::Sframe),
                (false, true) => Some(Wrong::Cfi),
                (false, false) => None,
            };
            (facts.proven_row(), wrong)
        });
        let (known, wrong) = looked.ok_or(Unexamined::NoPath)?;
        let wrong_registers = wrong_registers(abi, &mut function, self.elf, self.tables, place);
        let why = self.why.then(|| {
            let asked = (place.address, self.registers);
            let clause = why::clause(wrong, !wrong_registers.is_empty());
            let names = &mut self.names;
            Why { clause, ..why::find(self.elf, abi, names, (code, &mut function), asked) }
        });
        let statement = code_statement(abi, &known);
        Ok(ByCode { statement, wrong, wrong_registers, why })
    }

    /// Why a function is not examined.
    fn unexamined(&self, range: CodeRange) -> Unexamined {
        let entry = self.tables.iter().find_map(|cfi| cfi.find(range.start));
        if range.end.saturating_sub(range.start.address) > LARGEST_FUNCTION {
            Unexamined::TooLarge
        } else if entry.is_some_and(|entry| entry.cie().signal) {
            Unexamined::SignalFrame
        } else {
            Unexamined::EnteredWithFrame
        }
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
struct ByCode {
    statement: CodeStatement,
    /// Which statement it proves wrong.
    wrong: Option<Wrong>,
    /// The rules of CFI for callee-saved registers that it proves wrong.
    wrong_registers: Vec<WrongRegister>,
    /// The proof, if it was asked for.
    why: Option<Why>,
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

fn code_statement(abi: Abi, known: &ProvenRow) -> CodeStatement {
    CodeStatement {
        known: KnownFrame::new(abi, known),
        ra_signed: known.ra.is_some() && known.ra_signed,
    }
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
