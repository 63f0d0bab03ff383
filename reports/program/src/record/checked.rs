//! The record of a checked file.

use sframe_record::json::{exact_name, name};
use sframe_record::{
    Address, CallSites, Code, Coverage, Difference, Field, Finding, Function, Header, Owner,
    Proofs, Record, RuleCount, Section, Status, Text, Undecided, UnwindTable,
};
use sframe_validator::finding::{self, Report, SectionSummary};
use sframe_validator::rules::Rule;

use super::context::context;
use super::names::{Names, SymbolPlace};
use sframe_input::SectionSource;

/// The maximum number of findings of a file whose bytes are shown: a hostile section has a million findings, and the
/// decoded bytes around each take ten times as much memory as the finding.
const MAX_CONTEXTS: usize = 10_000;

/// The result of comparing a file's sections with its CFI; empty if they were not compared.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// What SFrame and the code were compared with.
    pub table: Option<UnwindTable>,
    /// The coverage.
    pub coverage: Option<Coverage<'static>>,
    /// What the machine code proves.
    pub proofs: Option<Proofs>,
    /// What a stack walker finds after calls.
    pub call_sites: Option<CallSites>,
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
    let findings = findings.into_iter().map(|finding| located.record(finding, None)).collect();
    let covered = sections.iter().map(|section| section.covered_bytes);
    Record {
        code_bytes,
        covered_bytes: covered.fold(0, u64::saturating_add),
        counts: counts.iter().map(|(rule, count)| rule_count(rule, *count)).collect(),
        findings,
        undecided: undecided
            .into_iter()
            .map(|left| Undecided { section: left.section, reason: left.reason.into() })
            .collect(),
        sections,
        table: comparison.table,
        coverage: comparison.coverage,
        proofs: comparison.proofs,
        call_sites: comparison.call_sites,
        ..Record::new(status)
    }
}

fn rule_count(rule: &'static Rule, count: u64) -> RuleCount<'static> {
    RuleCount {
        rule: rule.name.into(),
        severity: rule.severity.into(),
        count,
        files: 1,
        known: None,
    }
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

    /// The record of a finding and of its difference.
    #[must_use]
    pub fn record(
        &mut self,
        finding: finding::Finding,
        difference: Option<Difference<'static>>,
    ) -> Finding<'static> {
        let section = finding.section.and_then(|position| self.sections.get(position).copied());
        let source = section.and_then(|(_, source)| source).filter(|_| self.contexts > 0);
        self.contexts = self.contexts.saturating_sub(1);
        let context = source.map_or_else(Vec::new, |source| context(&finding, source));
        let place = |offset| section.map(|(start, _)| start.saturating_add(offset));
        let start = finding.function.and_then(|function| function.start);
        let start = start.or(finding.code.map(|(start, _)| start));
        let symbol = start.and_then(|start| self.names.symbol(start));
        let code_section: Option<Text<'static>> =
            start.and_then(|start| self.names.section(start)).map(Text::from);
        let in_function = finding.function.is_some();
        let code = finding.code.map(|(start, end)| Code {
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
            known: None,
            owner: Owner::Unknown,
            message: finding.message.into(),
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
