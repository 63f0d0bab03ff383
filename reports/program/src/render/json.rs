//! JSON: one document, or one line a file. The types are in [`schema`](super::schema).

mod coverage;
mod difference;

pub(crate) use difference::table_line;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use sframe_validator::rules::{Rule, Severity};
use sframe_validator::{Endian, finding};

use super::Renderer;
use super::schema::{
    Code, Content, Field, File, Finding, Findings, Function, Header, KindCount, Line, Package,
    Part, Producer, RuleCount, Section, SectionCount, Status, SummaryLine, Undecided,
};
use crate::report::{self, Checked, FileReport, LocatedFinding, Outcome, Summary};
use sframe_input::PackageIdentity;
use sframe_record::json::{FORMAT, TOOL, exact_name, hex, name, write};

/// Writes one document, file by file as the scan goes.
#[derive(Debug)]
pub struct JsonDocument<W> {
    out: W,
    any: bool,
}

impl<W: Write> JsonDocument<W> {
    /// A renderer that writes to `out`.
    pub const fn new(out: W) -> JsonDocument<W> {
        JsonDocument { out, any: false }
    }
}

impl<W: Write> Renderer for JsonDocument<W> {
    fn begin(&mut self) -> io::Result<()> {
        write!(self.out, "{{\"format\":{FORMAT},\"tool\":")?;
        write(&mut self.out, &TOOL)?;
        write!(self.out, ",\"files\":[")
    }

    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        write(&mut self.out, &file(report))
    }

    fn end(&mut self, sum: &Summary) -> io::Result<()> {
        write!(self.out, "\n],\"summary\":")?;
        write(&mut self.out, &summary(sum))?;
        writeln!(self.out, "}}")?;
        self.out.flush()
    }
}

/// Writes one line for each file, and one for the summary.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
}

impl<W: Write> JsonLines<W> {
    /// A renderer that writes to `out`.
    pub const fn new(out: W) -> JsonLines<W> {
        JsonLines { out }
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        write(&mut self.out, line)?;
        writeln!(self.out)
    }
}

impl<W: Write> Renderer for JsonLines<W> {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        self.line(&Line::File(Box::new(file(report))))?;
        // Whoever reads lines wants each as it comes.
        self.out.flush()
    }

    fn end(&mut self, sum: &Summary) -> io::Result<()> {
        let line = SummaryLine { format: FORMAT, tool: TOOL, summary: summary(sum) };
        self.line(&Line::Summary(Box::new(line)))?;
        self.out.flush()
    }
}

/// What is to be said of one file.
pub(crate) fn file(report: &FileReport) -> File<'_> {
    let path = report.name.path.as_os_str().as_bytes();
    let inside = report.name.inside.as_deref();
    let member = report.name.member.as_deref();
    let (status, reason) = match &report.outcome {
        Outcome::Checked(checked) if checked.sections.is_empty() => (Status::NoSection, None),
        Outcome::Checked(_) => (Status::Checked, None),
        Outcome::Members(_) => (Status::Archive, None),
        Outcome::Unsupported(kind) => (Status::Unsupported, Some(kind.clone())),
        Outcome::NotElf => (Status::NotElf, None),
        Outcome::Empty => (Status::NotElf, Some("empty".to_owned())),
        Outcome::Special(kind) => (Status::Special, Some(kind.name().to_owned())),
        Outcome::Unreadable(why) => (Status::Unreadable, Some(why.clone())),
        Outcome::Crashed(how) => (Status::Crashed, Some(how.clone())),
    };
    let mut file = File {
        path: name(path),
        path_hex: exact_name(path),
        inside: inside.map(name),
        inside_hex: inside.and_then(exact_name),
        member: member.map(name),
        member_hex: member.and_then(exact_name),
        content: report.content.as_ref().map(content),
        package: report.package.as_deref().map(package),
        producers: Vec::new(),
        status,
        reason,
        code_bytes: 0,
        covered_bytes: 0,
        sections: Vec::new(),
        counts: Vec::new(),
        findings: Findings::default(),
        undecided: Vec::new(),
        coverage: None,
    };
    if let Outcome::Checked(checked) | Outcome::Members(checked) = &report.outcome {
        fill(&mut file, checked);
    }
    file
}

fn fill<'c>(file: &mut File<'c>, checked: &'c Checked) {
    file.code_bytes = checked.code_bytes;
    file.covered_bytes = checked.covered_bytes();
    file.sections = checked.sections.iter().map(section).collect();
    file.counts = checked.counts.iter().map(|(rule, n)| rule_count(rule, *n, 1)).collect();
    file.findings = Findings::of(checked);
    file.undecided = checked
        .undecided
        .iter()
        .map(|left| Undecided { section: left.section, reason: left.reason.clone() })
        .collect();
    file.producers = checked.producers.iter().map(producer).collect();
    file.coverage = checked.coverage.as_ref().map(coverage::of_file);
}

fn content(content: &report::Content) -> Content {
    Content { size: content.size, hash: hex(&content.hash) }
}

fn package(package: &PackageIdentity) -> Package {
    let PackageIdentity { name, version, architecture, source } = package.clone();
    Package { name, version, architecture, source }
}

fn producer(producer: &report::Producer) -> Producer {
    let report::Producer { kind, name, version, text } = producer.clone();
    Producer { kind: kind.name(), name, version, text }
}

fn section(section: &finding::SectionSummary) -> Section {
    Section {
        index: section.index,
        name: section.name.clone(),
        address: format!("{:#x}", section.address),
        file_offset: section.file_offset,
        size: section.size,
        header: section.header.map(|header| Header {
            version: header.version.number(),
            flags: header.flags.0,
            abi: header.abi.map(|abi| abi.name()),
            endian: match header.endian {
                Endian::Little => "little",
                Endian::Big => "big",
            },
        }),
        functions: section.functions,
        rows: section.rows,
        covered_bytes: section.covered_bytes,
    }
}

/// A finding as JSON.
pub(crate) fn finding(checked: &Checked, located: &LocatedFinding) -> Finding {
    let finding = &located.finding;
    let section = finding.section.and_then(|position| checked.sections.get(position));
    let file_offset =
        section.zip(finding.offset).map(|(s, offset)| s.file_offset.saturating_add(offset));
    Finding {
        rule: finding.rule.name,
        severity: finding.rule.severity.name(),
        group: finding.rule.group.name(),
        message: finding.message.clone(),
        section: finding.section,
        offset: finding.offset,
        file_offset,
        field: finding.field.as_ref().map(|field| Field {
            name: field.name,
            value: field.value.clone(),
            allowed: field.allowed.clone(),
        }),
        function: finding.function.map(|id| function(id, located)),
        row: finding.row,
        code: finding.code.map(|(start, end)| code(start.address, end, located)),
        context: located.context.iter().flat_map(|context| &context.parts).map(part).collect(),
        difference: located.evidence.as_deref().map(difference::of),
    }
}

fn function(id: finding::FunctionId, located: &LocatedFinding) -> Function {
    let symbol = located.symbol.as_ref();
    Function {
        index: id.index,
        start: id.start.map(|start| format!("{:#x}", start.address)),
        code_section: located.code_section.clone(),
        size: id.size,
        symbol: symbol.map(|symbol| name(&symbol.name)),
        symbol_hex: symbol.and_then(|symbol| exact_name(&symbol.name)),
        symbol_offset: symbol.map(|symbol| symbol.offset),
    }
}

fn code(start: u64, end: u64, located: &LocatedFinding) -> Code {
    let symbol = located.symbol.as_ref();
    Code {
        start: format!("{start:#x}"),
        end: format!("{end:#x}"),
        code_section: located.code_section.clone(),
        symbol: symbol.map(|symbol| name(&symbol.name)),
        symbol_hex: symbol.and_then(|symbol| exact_name(&symbol.name)),
    }
}

fn part(part: &crate::report::Part) -> Part {
    Part {
        offset: part.offset,
        bytes: hex(&part.bytes),
        name: part.name,
        value: part.value.clone(),
        blamed: part.blamed,
    }
}

fn rule_count(rule: &Rule, count: u64, files: u64) -> RuleCount {
    RuleCount { rule: rule.name, severity: rule.severity.name(), count, files }
}

fn summary(summary: &Summary) -> super::schema::Summary {
    let kind = |kind: &str, count: u64| KindCount { kind: kind.to_owned(), count };
    super::schema::Summary {
        inputs: summary.inputs,
        checked: summary.checked,
        with_section: summary.with_section,
        not_elf: summary.not_elf,
        unsupported: summary.unsupported.iter().map(|(name, n)| kind(name, *n)).collect(),
        special: summary.special.iter().map(|(special, n)| kind(special.name(), *n)).collect(),
        unreadable: summary.unreadable,
        crashed: summary.crashed,
        sections: summary
            .sections
            .iter()
            .map(|((version, machine), count)| SectionCount {
                version: version.clone(),
                machine: machine.clone(),
                count: *count,
            })
            .collect(),
        functions: summary.functions,
        rows: summary.rows,
        code_bytes: summary.code_bytes,
        code_bytes_with_section: summary.code_bytes_with_section,
        covered_bytes: summary.covered_bytes,
        errors: summary.findings(Severity::Error),
        warnings: summary.findings(Severity::Warning),
        lints: summary.findings(Severity::Lint),
        undecided: summary.undecided,
        compared: coverage::total(&summary.coverage.compared),
        without_section: coverage::total(&summary.coverage.without_section),
        rules: summary.rules().map(|(rule, n)| rule_count(rule, n.findings, n.files)).collect(),
    }
}
