//! Text for people: each finding with its place, its field and the bytes around it, then the sum.

mod coverage;
pub(crate) mod evidence;

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use sframe_validator::finding::{FunctionId, SectionSummary};
use sframe_validator::rules::{Rule, Severity};

use super::Renderer;
use super::wrap::wrap;
use crate::catalogue::is_about_tools;
use crate::report::{
    Checked, Context, Evidence, FileReport, LocatedFinding, Outcome, Summary, SymbolPlace,
};
use evidence::Titles;
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::printable;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const LINT: Style = AnsiColor::Cyan.on_default().bold();

/// How the text is laid out.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    /// Name every file, also those with nothing to say about.
    pub verbose: bool,
    /// Show every finding, also facts about the tools which made a whole build.
    pub all: bool,
    /// Show the tables of coverage.
    pub coverage: bool,
    /// Columns of the terminal, `None` where it is none.
    pub width: Option<usize>,
}

/// Writes text. Styles are always written: the stream takes them out where they do not belong.
#[derive(Debug)]
pub struct Text<W> {
    out: W,
    options: TextOptions,
    summary: bool,
    /// Rules about tools that a finding was shown of: once in a scan is enough.
    shown: BTreeSet<&'static str>,
}

impl<W: Write> Text<W> {
    /// A renderer that writes to `out`.
    pub const fn new(out: W, options: TextOptions) -> Text<W> {
        Text { out, options, summary: true, shown: BTreeSet::new() }
    }

    /// Leaves the summary out.
    #[must_use]
    pub fn without_summary(mut self) -> Text<W> {
        self.summary = false;
        self
    }

    fn checked(&mut self, name: &str, checked: &Checked) -> io::Result<()> {
        let news: Vec<&'static Rule> = self.news(checked);
        let silent = news.is_empty() && checked.undecided.is_empty();
        if silent {
            return if self.options.verbose { self.clean(name, checked) } else { Ok(()) };
        }
        let is_news = |located: &&LocatedFinding| news.contains(&located.finding.rule);
        writeln!(self.out, "{BOLD}{name}{BOLD:#}")?;
        for finding in checked.findings.iter().filter(is_news) {
            self.finding(checked, finding)?;
        }
        for (rule, count) in checked.counts.iter().filter(|(rule, _)| news.contains(rule)) {
            let of_rule = || checked.findings.iter().filter(|f| f.finding.rule == *rule);
            let (shown, told) =
                (of_rule().count(), of_rule().map(times).fold(0, u64::saturating_add));
            let more = count.saturating_sub(told);
            if more > 0 && shown > 0 {
                let more = grouped(more);
                writeln!(self.out, "  and {more} more of {} (--all shows each)", rule.name)?;
            }
        }
        for undecided in &checked.undecided {
            let section = undecided.section.and_then(|place| checked.sections.get(place));
            let section = section.map_or(String::new(), |s| format!("{}: ", s.name));
            let reason = self.wrapped(&undecided.reason, 4);
            writeln!(self.out, "  {WARNING}undecided{WARNING:#}: {section}{reason}")?;
        }
        writeln!(self.out)
    }

    /// The rules of which a file's findings are shown: not those about the tools which made it, where
    /// another file has shown them before.
    fn news(&mut self, checked: &Checked) -> Vec<&'static Rule> {
        let each = self.options.all || self.options.verbose;
        let broken = checked.counts.iter().map(|(rule, _)| *rule);
        let shown = &mut self.shown;
        broken.filter(|rule| each || !is_about_tools(rule) || shown.insert(rule.name)).collect()
    }

    fn clean(&mut self, name: &str, checked: &Checked) -> io::Result<()> {
        if checked.sections.is_empty() {
            return writeln!(self.out, "{name}: no .sframe section");
        }
        let sections: Vec<String> = checked.sections.iter().map(section_in_short).collect();
        let coverage = match checked.code_bytes {
            0 => String::new(),
            code => format!("; {} of the code described", percent(checked.covered_bytes(), code)),
        };
        writeln!(self.out, "{name}: {}{coverage}", sections.join("; "))
    }

    fn finding(&mut self, checked: &Checked, located: &LocatedFinding) -> io::Result<()> {
        let finding = &located.finding;
        let (severity, rule) = (finding.rule.severity, finding.rule.name);
        let style = severity_style(severity);
        let message = self.wrapped(&finding.message, 4);
        writeln!(self.out, "  {style}{severity}[{rule}]{style:#}: {message}")?;
        let place = place(checked, located);
        if !place.is_empty() {
            writeln!(self.out, "    at {}", self.wrapped(&place, 7))?;
        }
        if let Some(field) = &finding.field {
            let text = format!("{} is {}, allowed: {}", field.name, field.value, field.allowed);
            writeln!(self.out, "    {}", self.wrapped(&text, 6))?;
        }
        match (&located.evidence, &located.context) {
            (Some(evidence), _) => self.evidence(evidence),
            (None, Some(context)) => self.context(context, style),
            (None, None) => Ok(()),
        }
    }

    fn evidence(&mut self, evidence: &Evidence) -> io::Result<()> {
        let titles = Titles { first: "SFrame", second: "CFI" };
        let code = (evidence.start, evidence.code.as_slice());
        evidence::write(&mut self.out, &evidence.tables, code, titles, 6)?;
        let Some(similar) = evidence.similar.filter(|similar| similar.functions > 0) else {
            return Ok(());
        };
        let (functions, bytes) = (grouped(similar.functions), grouped(similar.bytes));
        let plural = if similar.functions == 1 { "" } else { "s" };
        writeln!(self.out, "    and at {functions} more function{plural} ({bytes} bytes)")
    }

    /// One line for each field: offset, bytes, name, value.
    fn context(&mut self, context: &Context, style: Style) -> io::Result<()> {
        let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
        let parts = &context.parts;
        let offsets = longest(&mut parts.iter().map(|part| format!("{:#x}", part.offset).len()));
        let bytes = longest(&mut parts.iter().map(|part| 3 * part.bytes.len()));
        let names = longest(&mut parts.iter().map(|part| part.name.len()));
        for part in parts {
            let hex: Vec<String> = part.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let offset = format!("{:#x}", part.offset);
            let hex = hex.join(" ");
            let line =
                format!("{offset:offsets$} | {hex:bytes$}| {:names$}  {}", part.name, part.value);
            let line = line.trim_end();
            let (mark, style) = if part.blamed { ('>', style) } else { (' ', DIM) };
            writeln!(self.out, "      {style}{mark} {line}{style:#}")?;
        }
        Ok(())
    }

    fn wrapped(&self, text: &str, indent: usize) -> String {
        wrap(text, indent, self.options.width)
    }

    /// Writes a scan in numbers, and nothing of any file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn totals(&mut self, summary: &Summary) -> io::Result<()> {
        let checked = counted(summary.checked, "file");
        let inputs = counted(summary.inputs, "input");
        let with = grouped(summary.with_section);
        writeln!(
            self.out,
            "{BOLD}{inputs}{BOLD:#}: {checked} checked, {with} with an SFrame section"
        )?;
        let left_out = left_out(summary);
        if !left_out.is_empty() {
            writeln!(self.out, "  not checked: {}", self.wrapped(&left_out.join(", "), 4))?;
        }
        if summary.with_section > 0 {
            self.section_totals(summary)?;
            if summary.coverage.compared.files > 0 {
                let text = coverage::in_short(&summary.coverage.compared);
                writeln!(self.out, "  {}", self.wrapped(&text, 4))?;
            }
        } else if summary.code_bytes > 0 {
            let code = grouped(summary.code_bytes);
            writeln!(self.out, "  none of their {code} bytes of code has stack-trace entries")?;
        }
        self.finding_totals(summary)?;
        if self.options.coverage {
            coverage::totals(&mut self.out, &summary.coverage)?;
        }
        Ok(())
    }

    fn section_totals(&mut self, summary: &Summary) -> io::Result<()> {
        let sections: Vec<String> = summary
            .sections
            .iter()
            .map(|((version, machine), count)| {
                format!("{} {version} {machine}", grouped(*count)).trim_end().to_owned()
            })
            .collect();
        writeln!(self.out, "  sections: {}", self.wrapped(&sections.join(", "), 4))?;
        let functions = counted(summary.functions, "function");
        writeln!(self.out, "  {functions}, {}", counted(summary.rows, "row"))?;
        if summary.code_bytes > 0 {
            let covered = summary.covered_bytes;
            let text = format!(
                "code with entries: {} of the files with a section, {} of all checked ({} of {} bytes)",
                percent(covered, summary.code_bytes_with_section),
                percent(covered, summary.code_bytes),
                grouped(covered),
                grouped(summary.code_bytes),
            );
            writeln!(self.out, "  {}", self.wrapped(&text, 4))?;
        }
        Ok(())
    }

    fn finding_totals(&mut self, summary: &Summary) -> io::Result<()> {
        let severities = [Severity::Error, Severity::Warning, Severity::Lint];
        let found: Vec<String> = severities
            .into_iter()
            .filter(|severity| summary.findings(*severity) > 0)
            .map(|severity| counted(summary.findings(severity), severity.name()))
            .chain((summary.undecided > 0).then(|| format!("{} undecided", summary.undecided)))
            .collect();
        if found.is_empty() {
            return writeln!(self.out, "  no findings");
        }
        writeln!(self.out, "  {}", found.join(", "))?;
        for (rule, counts) in summary.rules() {
            let (severity, style) = (rule.severity, severity_style(rule.severity));
            let times = grouped(counts.findings);
            let files = counted(counts.files, "file");
            let once = if self.shown.contains(rule.name) && counts.files > 1 {
                ": a fact about their tools, shown for the first (--verbose shows each)"
            } else {
                ""
            };
            let text = format!("{} in {files}{once}", rule.name);
            let text = self.wrapped(&text, 20);
            writeln!(self.out, "  {times:>9} {style}{severity:<7}{style:#} {text}")?;
        }
        if summary.worst().is_some() {
            writeln!(
                self.out,
                "  `sframe-check explain RULE` says what a rule means and what to do"
            )?;
        }
        Ok(())
    }
}

impl<W: Write> Renderer for Text<W> {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        self.report(report)?;
        // Whoever watches wants each as it comes.
        if self.options.width.is_some() { self.out.flush() } else { Ok(()) }
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        if self.summary {
            self.totals(summary)?;
        }
        self.out.flush()
    }
}

impl<W: Write> Text<W> {
    fn report(&mut self, report: &FileReport) -> io::Result<()> {
        let name = report.name.display();
        let verbose = self.options.verbose;
        match &report.outcome {
            Outcome::Checked(checked) | Outcome::Members(checked) => {
                self.checked(&name, checked)?;
                match &checked.coverage {
                    Some(coverage)
                        if self.options.coverage && (coverage.with_section || verbose) =>
                    {
                        coverage::file(&mut self.out, &name, coverage)
                    }
                    _ => Ok(()),
                }
            }
            Outcome::Unreadable(why) => {
                writeln!(
                    self.out,
                    "{BOLD}{name}{BOLD:#}: {WARNING}cannot be read{WARNING:#}: {why}"
                )
            }
            Outcome::Crashed(how) => {
                writeln!(self.out, "{BOLD}{name}{BOLD:#}: {WARNING}not checked{WARNING:#}: {how}")
            }
            Outcome::Unsupported(kind) if verbose => {
                writeln!(self.out, "{name}: not checked, SFrame is not defined for {kind}")
            }
            Outcome::NotElf if verbose => {
                writeln!(self.out, "{name}: not checked, not an ELF file")
            }
            Outcome::Empty if verbose => writeln!(self.out, "{name}: not checked, empty"),
            Outcome::Special(kind) if verbose => {
                writeln!(self.out, "{name}: not checked, {}", kind.name())
            }
            Outcome::Unsupported(_) | Outcome::NotElf | Outcome::Empty | Outcome::Special(_) => {
                Ok(())
            }
        }
    }
}

/// How many findings of its rule a finding stands for: itself, and those that show the same.
fn times(located: &LocatedFinding) -> u64 {
    let Some(evidence) = &located.evidence else { return 1 };
    evidence.similar.map_or(u64::from(!evidence.repeats), |similar| 1 + similar.functions)
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Lint => LINT,
    }
}

/// `.sframe+0x20 (file offset 0x2020), function 3 foo at 0x1000 (60 bytes), row 2`.
fn place(checked: &Checked, located: &LocatedFinding) -> String {
    let finding = &located.finding;
    let mut parts = Vec::new();
    let section = finding.section.and_then(|position| checked.sections.get(position));
    match (section, finding.offset) {
        (Some(section), Some(offset)) => parts.push(format!(
            "{}+{offset:#x} (file offset {:#x})",
            section.name,
            section.file_offset.saturating_add(offset)
        )),
        (Some(section), None) => parts.push(section.name.clone()),
        (None, _) => {}
    }
    if let Some(function) = &finding.function {
        parts.push(function_place(function, located));
    }
    if let Some(row) = finding.row {
        parts.push(format!("row {row}"));
    }
    if let Some((start, end)) = finding.code {
        let symbol = located.symbol.as_ref().filter(|_| finding.function.is_none());
        let symbol = symbol.map_or(String::new(), |symbol| format!(" in {}", place_of(symbol)));
        let section = located.code_section.as_ref().map_or(String::new(), |s| format!("{s}+"));
        let bytes = counted(end.saturating_sub(start.address), "byte");
        let start = start.address;
        parts.push(format!("code {section}{start:#x}..{end:#x} ({bytes}){symbol}"));
    }
    parts.join(", ")
}

/// `foo+0x10`.
fn place_of(symbol: &SymbolPlace) -> String {
    let name = printable(&symbol.name);
    if symbol.offset == 0 { name } else { format!("{name}+{:#x}", symbol.offset) }
}

fn function_place(function: &FunctionId, located: &LocatedFinding) -> String {
    let mut text = format!("function {}", function.index);
    if let Some(symbol) = &located.symbol {
        text.push(' ');
        text.push_str(&place_of(symbol));
    }
    if let Some(start) = function.start {
        let section = located.code_section.as_ref().map_or(String::new(), |s| format!("{s}+"));
        text.push_str(&format!(" at {section}{:#x}", start.address));
    }
    text.push_str(&format!(" ({})", counted(function.size.into(), "byte")));
    text
}

fn section_in_short(section: &SectionSummary) -> String {
    let what = match &section.header {
        Some(header) => {
            let machine = header.abi.map_or("unknown ABI", |abi| abi.name());
            format!("V{} {machine}", header.version.number())
        }
        None => "unreadable header".to_owned(),
    };
    let functions = counted(section.functions, "function");
    format!("{} {what}, {functions}, {}", section.name, counted(section.rows, "row"))
}

/// Everything that was met and not checked, by kind.
fn left_out(summary: &Summary) -> Vec<String> {
    let mut kinds = Vec::new();
    if summary.crashed > 0 {
        kinds.push(format!("{} at which the checker has died", grouped(summary.crashed)));
    }
    if summary.unreadable > 0 {
        kinds.push(format!("{} unreadable", grouped(summary.unreadable)));
    }
    if summary.not_elf > 0 {
        kinds.push(format!("{} not ELF", grouped(summary.not_elf)));
    }
    for (kind, count) in &summary.unsupported {
        kinds.push(format!("{} unsupported ({kind})", grouped(*count)));
    }
    for (kind, count) in &summary.special {
        let name = if *count == 1 { kind.name() } else { kind.plural() };
        kinds.push(format!("{} {name}", grouped(*count)));
    }
    kinds
}
