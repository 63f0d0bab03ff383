//! The record of a checked file.

use sframe_oracle::compare::Sums;
use sframe_record::json::{exact_name, name};
use sframe_record::{
    Address, CallSites, Code, Coverage, Field, Finding, Function, Header, Owner, Proofs, Record,
    RuleCount, Section, Status, Text, Undecided, UnwindTable,
};
use sframe_validator::finding::{self, CodeSpan, Report, SectionSummary};
use sframe_validator::rules::Rule;

use super::context::context;
use super::evidence::Gathered;
use super::names::{Names, SymbolPlace};
use sframe_input::SectionSource;

/// The maximum number of findings of a file whose bytes are shown: a hostile section has a million findings, and the
/// decoded bytes around each take ten times as much memory as the finding.
const MAX_CONTEXTS: usize = 10_000;

/// The result of comparing a file's sections with its CFI; empty if they were not compared.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// How many differences are cases of known defects, by rule and defect.
    pub known: Vec<(&'static Rule, &'static str, u64)>,
    /// What SFrame and the code were compared with.
    pub table: Option<UnwindTable>,
    /// The coverage.
    pub coverage: Option<Coverage<'static>>,
    /// What the machine code proves.
    pub proofs: Option<Box<Proofs<'static>>>,
    /// What a stack walker finds after calls.
    pub call_sites: Option<CallSites>,
    /// Bytes of code by verdict, as far as the sections can be read, even where the layout is not certain.
    pub sums: Option<Sums>,
}

/// The record of the file that `report` describes, with names and bytes from the file. It has no path yet.
#[must_use]
pub fn checked(
    report: Report,
    sources: &[SectionSource<'_>],
    names: &Names<'_, '_>,
    comparison: Comparison,
) -> Record<'static> {
    let Report { findings, counts, undecided, sections, code_bytes } = report;
    let status = if sections.is_empty() { Status::NoSection } else { Status::Checked };
    let sections: Vec<Section<'static>> = sections.iter().map(section).collect();
    let slots = sections.iter().map(|section| (section.index, section.file_offset));
    let mut located = Located::new(slots, sources, names);
    let plain = |finding| located.record(finding, Gathered::default());
    let findings = findings.into_iter().map(plain).collect();
    let covered = sections.iter().map(|section| section.covered_bytes);
    Record {
        code_bytes,
        covered_bytes: covered.fold(0, u64::saturating_add),
        counts: counts.iter().flat_map(|of| rule_counts(*of, &comparison.known)).collect(),
        findings,
        undecided: undecided
            .into_iter()
            .map(|left| Undecided {
                section: left.section,
                cause: left.cause,
                reason: left.reason.into(),
            })
            .collect(),
        sections,
        table: comparison.table,
        coverage: comparison.coverage,
        proofs: comparison.proofs,
        call_sites: comparison.call_sites,
        ..Record::new(status)
    }
}

/// The counts of a rule: of its findings that are cases of no known defect, and of those of each defect.
fn rule_counts(
    (rule, count): (&'static Rule, u64),
    known: &[(&'static Rule, &'static str, u64)],
) -> Vec<RuleCount<'static>> {
    let one = |count, known: Option<&'static str>| RuleCount {
        rule: rule.name.into(),
        severity: rule.severity.into(),
        count,
        files: 1,
        known: known.map(Text::from),
    };
    let of_rule = known.iter().filter(|(of, ..)| *of == rule);
    let of_defects: Vec<_> = of_rule.map(|(_, defect, count)| one(*count, Some(defect))).collect();
    let sum = of_defects.iter().fold(0, |sum: u64, of| sum.saturating_add(of.count));
    let rest = Some(count.saturating_sub(sum)).filter(|rest| *rest > 0);
    rest.map(|rest| one(rest, None)).into_iter().chain(of_defects).collect()
}

fn section(section: &SectionSummary) -> Section<'static> {
    Section {
        index: section.index,
        name: section.name.clone().into(),
        address: Address(section.address),
        file_offset: section.file_offset,
        size: section.size,
        header: section.header.as_ref().map(Header::of),
        functions: section.functions,
        rows: section.rows,
        covered_bytes: section.covered_bytes,
    }
}

/// Makes the records of a file's findings, with the names of their places and the bytes around them.
pub struct Located<'l, 'n, 'a> {
    /// The offset of each section of the file, and its bytes if they can be read.
    sections: Vec<(u64, Option<&'l SectionSource<'l>>)>,
    names: &'l Names<'n, 'a>,
    /// The number of findings that may still have a context.
    contexts: usize,
}

impl<'l, 'n, 'a> Located<'l, 'n, 'a> {
    /// For a file with these sections (index and offset), whose bytes are in `sources`.
    #[must_use]
    pub fn new(
        sections: impl Iterator<Item = (Option<u32>, u64)>,
        sources: &'l [SectionSource<'l>],
        names: &'l Names<'n, 'a>,
    ) -> Located<'l, 'n, 'a> {
        let source = |index| sources.iter().find(|source| source.index == index);
        let sections = sections.map(|(index, offset)| (offset, source(index))).collect();
        Located { sections, names, contexts: MAX_CONTEXTS }
    }

    /// The record of a finding, with what was gathered about it.
    #[must_use]
    pub fn record(&mut self, finding: finding::Finding, gathered: Gathered) -> Finding<'static> {
        let Gathered { difference, known, why } = gathered;
        let section = finding.section.and_then(|position| self.sections.get(position).copied());
        let source = section.and_then(|(_, source)| source).filter(|_| self.contexts > 0);
        self.contexts = self.contexts.saturating_sub(1);
        let context = source.map_or_else(Vec::new, |source| context(&finding, source));
        let place = |offset| section.map(|(start, _)| start.saturating_add(offset));
        let start = finding.function.and_then(|function| function.start);
        let start = start.or(finding.code.map(|code| code.start));
        let symbol = start.and_then(|start| self.names.symbol(start));
        let code_section: Option<Text<'static>> =
            start.and_then(|start| self.names.section(start)).map(Text::from);
        let in_function = finding.function.is_some();
        let code = finding.code.map(|CodeSpan { start, end }| Code {
            start: Address(start.address),
            end: Address(end),
            code_section: code_section.clone(),
            symbol: text(symbol.as_ref()),
            symbol_hex: hex(symbol.as_ref()),
            symbol_offset: symbol.as_ref().filter(|_| !in_function).map(|symbol| symbol.offset),
        });
        let function = finding.function.map(|function| Function {
            index: function.index,
            start: function.start.map(|start| Address(start.address)),
            code_section,
            size: function.size,
            symbol: text(symbol.as_ref()),
            symbol_hex: hex(symbol.as_ref()),
            symbol_offset: symbol.as_ref().map(|symbol| symbol.offset),
        });
        Finding {
            rule: finding.rule.name.into(),
            severity: finding.rule.severity.into(),
            group: finding.rule.group.name().into(),
            known: known.map(Text::from),
            consequence: None,
            owner: Owner::Unknown,
            origin: None,
            message: finding.message.into(),
            remedy: None,
            section: finding.section,
            offset: finding.offset,
            file_offset: finding.offset.and_then(place),
            field: finding.field.map(field).map(Box::new),
            function: function.map(Box::new),
            row: finding.row,
            code: code.map(Box::new),
            elf_section: start.and_then(|start| self.names.elf_section(start)).map(Text::from),
            source: None,
            context,
            difference: difference.map(Box::new),
            why: why.map(Box::new),
        }
    }
}

fn field(field: finding::Field) -> Field<'static> {
    Field { name: field.name.into(), value: field.value.into(), allowed: field.allowed.into() }
}

fn text(symbol: Option<&SymbolPlace>) -> Option<Text<'static>> {
    symbol.map(|symbol| name(&symbol.name).into())
}

fn hex(symbol: Option<&SymbolPlace>) -> Option<Text<'static>> {
    symbol.and_then(|symbol| exact_name(&symbol.name)).map(Text::from)
}
