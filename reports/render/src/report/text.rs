//! Text for people: each finding with its place, its field and the bytes around it, then the summary.

mod call_sites;
mod coverage;
pub(crate) mod evidence;
mod forecast;
pub(crate) mod known;
mod owner;
mod place;
mod readings;
mod totals;
mod unproven;
mod useless;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::Renderer;
use super::wrap::wrap;
use anstyle::{AnsiColor, Style};
use evidence::Titles;
use sframe_input::Special;
use sframe_record::catalogue::find;
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::column_width;
use sframe_record::{
    Difference, Events, Finding, Part, Record, Section, Severity, Status, Summary, SymbolNames,
    Text as Name, UnwindTable,
};
use useless::is_useless;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const LINT: Style = AnsiColor::Cyan.on_default().bold();

/// The number of findings of a rule that are listed for each file without `--all`.
const EACH: usize = 3;
/// The maximum number of findings of a file that are sorted by owner.
const SORTED: usize = 10_000;

/// The options of the text.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Name every file, even without findings.
    pub verbose: bool,
    /// Show every finding, even of rules about the tools that made a whole build.
    pub all: bool,
    /// Show the tables of coverage.
    pub coverage: bool,
    /// Write the summary at the end.
    pub summary: bool,
    /// Findings were looked for.
    pub findings: bool,
    /// Show cases of known defects like other findings.
    pub known: bool,
    /// Which names functions have.
    pub names: SymbolNames,
    /// The width of the terminal in columns; `None` if the output is not a terminal.
    pub width: Option<usize>,
}

impl Default for TextOptions {
    /// The options for files with findings, the first few of each rule, and the summary.
    fn default() -> TextOptions {
        TextOptions {
            verbose: false,
            all: false,
            coverage: false,
            summary: true,
            findings: true,
            known: false,
            names: SymbolNames::Mangled,
            width: None,
        }
    }
}

/// Writes text. Always writes styles: the stream removes them if the output is not a terminal.
#[derive(Debug)]
pub struct Text<W> {
    out: W,
    options: TextOptions,
    /// The rules about tools of which a finding was shown. One finding of each in a scan is enough.
    shown: BTreeSet<String>,
    /// The listing of the current file.
    listing: Listing,
    /// The call sites of a file were written.
    has_call_sites: bool,
    /// A block has ended: an empty line comes before the next one, but not at the end of the output.
    after_block: bool,
}

/// The listing of a file.
#[derive(Debug, Default)]
struct Listing {
    /// The rules of findings; `None` for those whose findings are not shown.
    rules: BTreeMap<String, Option<Listed>>,
    /// The file was named.
    is_named: bool,
    /// The first findings, which are sorted by owner unless there are too many.
    held: Vec<Finding<'static>>,
    /// There are too many to be sorted.
    is_long: bool,
}

/// The listed findings of a rule.
#[derive(Debug, Default)]
struct Listed {
    findings: usize,
    /// The number of findings that they stand for: one can describe several functions.
    described: u64,
}

impl<W: Write> Text<W> {
    /// A renderer that writes to `out`.
    pub fn new(out: W, options: TextOptions) -> Text<W> {
        Text {
            out,
            options,
            shown: BTreeSet::new(),
            listing: Listing::default(),
            has_call_sites: false,
            after_block: false,
        }
    }

    /// Lists the findings that are held, and those that follow in their order.
    fn list_held(&mut self, head: &Record<'_>) -> io::Result<()> {
        let held = std::mem::take(&mut self.listing.held);
        held.iter().try_for_each(|finding| self.list(head, finding))
    }

    /// Writes a finding if it is to be listed.
    fn list(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        let all = self.options.all;
        let Some(listed) = self.listed(&finding.rule) else { return Ok(()) };
        if !all && listed.findings >= EACH {
            return Ok(());
        }
        listed.findings += 1;
        listed.described = listed.described.saturating_add(finding.weight());
        if is_useless(finding) && !self.listing.is_named {
            return self.useless(head, finding);
        }
        self.name(head)?;
        self.finding_of(head, finding)
    }

    /// The listed findings of a rule; `None` if they are not shown. Those of rules about the tools that made a file are not, if
    /// findings of them were shown for an earlier file.
    fn listed(&mut self, rule: &str) -> Option<&mut Listed> {
        if !self.listing.rules.contains_key(rule) {
            let each = self.options.all || self.options.verbose;
            let is_shown = each
                || !find(rule).is_some_and(|rule| rule.about_tools)
                || self.shown.insert(rule.to_owned());
            let listed = is_shown.then(Listed::default);
            self.listing.rules.insert(rule.to_owned(), listed);
        }
        self.listing.rules.get_mut(rule)?.as_mut()
    }

    /// Writes the name of the file once.
    fn name(&mut self, head: &Record<'_>) -> io::Result<()> {
        if std::mem::replace(&mut self.listing.is_named, true) {
            return Ok(());
        }
        self.separate()?;
        writeln!(self.out, "{BOLD}{}{BOLD:#}", head.name())
    }

    /// Writes the record of a checked file after its findings.
    fn end_findings(&mut self, record: &Record<'_>) -> io::Result<()> {
        for count in &record.counts {
            if !self.is_only_named(count.known.as_ref(), count.severity) {
                self.listed(&count.rule);
            }
        }
        let has_listed = self.listing.rules.values().any(Option::is_some);
        let known = self.known(record);
        if has_listed || !record.undecided.is_empty() {
            self.name(record)?;
            self.rest(record, &known)?;
        } else if !known.is_empty() {
            self.separate()?;
            let text = self.wrapped(&format!("{}: {known}", record.name()), 2);
            writeln!(self.out, "{text}")?;
            self.after_block = true;
        } else if self.options.verbose {
            self.clean(&record.name(), record)?;
        }
        Ok(())
    }

    /// Whether a finding is named in one line with other cases of known defects, not listed.
    const fn is_only_named(&self, known: Option<&Name<'_>>, severity: Severity) -> bool {
        let each = self.options.all || self.options.verbose || self.options.known;
        known.is_some() && !each && !matches!(severity, Severity::Error)
    }

    /// Writes the rest of the record of a checked file, after its findings.
    fn end_checked(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.end_findings(record)?;
        if let Some(sites) = &record.call_sites {
            self.separate()?;
            (self.after_block, self.has_call_sites) = (true, true);
            let (name, noun) = (record.name(), UnwindTable::noun_of(record.table));
            call_sites::file(&mut self.out, (&name, sites), noun, self.options.width)?;
        }
        if let Some(forecast) = &record.forecast {
            self.separate()?;
            // Several answers are one block.
            self.after_block = self.options.findings;
            forecast::file(&mut self.out, &record.name(), forecast, self.options.width)?;
        }
        if !record.readings.is_empty() {
            self.separate()?;
            self.after_block = true;
            readings::file(&mut self.out, &record.name(), &record.readings)?;
        }
        let with_section = record.status == Status::Checked;
        match &record.coverage {
            Some(coverage) if self.options.coverage && (with_section || self.options.verbose) => {
                self.separate()?;
                self.after_block = true;
                let noun = UnwindTable::noun_of(record.table);
                let style = coverage::Style { with_section, ..self.coverage_style(noun) };
                coverage::file(&mut self.out, &record.name(), coverage, style)
            }
            _ => Ok(()),
        }
    }

    /// How the coverage of files with a section is written.
    const fn coverage_style<'n>(&self, noun: &'n str) -> coverage::Style<'n> {
        let TextOptions { all, verbose, names, .. } = self.options;
        let (each, all_lists_more) = (all || verbose, !all);
        coverage::Style { with_section: true, noun, each, all_lists_more, names }
    }

    /// Writes the number of findings that are not listed, and the undecided parts.
    fn rest(&mut self, record: &Record<'_>, known: &str) -> io::Result<()> {
        for count in &record.counts {
            let listed = self.listing.rules.get(count.rule.as_str()).and_then(Option::as_ref);
            let Some(listed) = listed.filter(|listed| listed.findings > 0) else { continue };
            let is_named = self.is_only_named(count.known.as_ref(), count.severity);
            let more = count.count.saturating_sub(listed.described);
            let more = if is_named { 0 } else { more };
            if more > 0 {
                let more = grouped(more);
                writeln!(self.out, "  and {more} more of {} (--all shows each)", count.rule)?;
            }
        }
        if !known.is_empty() {
            writeln!(self.out, "  {}", self.wrapped(known, 4))?;
        }
        for undecided in &record.undecided {
            let section = undecided.section.and_then(|place| record.sections.get(place));
            let section = section.map_or(String::new(), |s| format!("{}: ", s.name));
            let reason = self.wrapped(&undecided.reason.to_string(), 4);
            writeln!(self.out, "  {WARNING}undecided{WARNING:#}: {section}{reason}")?;
        }
        self.after_block = true;
        Ok(())
    }

    /// Writes an empty line if a block precedes.
    fn separate(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.after_block) { writeln!(self.out) } else { Ok(()) }
    }

    /// Why a file was not checked.
    fn warn(&mut self, name: &str, outcome: &str, reason: &str) -> io::Result<()> {
        self.separate()?;
        writeln!(self.out, "{BOLD}{name}{BOLD:#}: {WARNING}{outcome}{WARNING:#}: {reason}")
    }

    fn clean(&mut self, name: &str, record: &Record<'_>) -> io::Result<()> {
        self.separate()?;
        if record.sections.is_empty() {
            return writeln!(self.out, "{name}: no .sframe section");
        }
        let sections: Vec<String> = record.sections.iter().map(section_in_short).collect();
        let coverage = match record.code_bytes {
            0 => String::new(),
            code => format!("; {} of the code described", percent(record.covered_bytes, code)),
        };
        writeln!(self.out, "{name}: {}{coverage}", sections.join("; "))
    }

    fn finding_of(&mut self, record: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        let (severity, rule) = (finding.severity.name(), &finding.rule);
        let style = severity_style(finding.severity);
        let message = self.wrapped(&finding.message.to_string(), 4);
        writeln!(self.out, "  {style}{severity}[{rule}]{style:#}: {message}")?;
        self.remedy(finding)?;
        let place = place::of(record, finding, self.options.names);
        if !place.is_empty() {
            writeln!(self.out, "    at {}", self.wrapped(&place, 7))?;
        }
        if let Some(field) = &finding.field {
            let text = format!("{} is {}, allowed: {}", field.name, field.value, field.allowed);
            writeln!(self.out, "    {}", self.wrapped(&text, 6))?;
        }
        match &finding.difference {
            Some(difference) => {
                self.difference(finding, difference, UnwindTable::noun_of(record.table))?;
            }
            None => self.context(&finding.context, style)?,
        }
        if let Some(why) = &finding.why {
            crate::why::write(&mut self.out, why, 4)?;
        }
        if let Some(known) = &finding.known {
            return writeln!(self.out, "    known: {}", self.wrapped(&known::in_full(known), 6));
        }
        match owner::of(record, finding) {
            Some(owner) => writeln!(self.out, "    owner: {owner}"),
            None => Ok(()),
        }
    }

    /// The known defects whose cases are only named, in one line; empty if there are none.
    fn known(&self, record: &Record<'_>) -> String {
        let named = record
            .counts
            .iter()
            .filter(|count| self.is_only_named(count.known.as_ref(), count.severity));
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for count in named {
            let of_defect = count.known.as_deref().map(|known| counts.entry(known).or_default());
            of_defect.into_iter().for_each(|of| *of = of.saturating_add(count.count));
        }
        let named: Vec<String> =
            counts.into_iter().map(|(known, count)| known::with_count(known, count)).collect();
        match named.is_empty() {
            true => String::new(),
            false => format!("known, not caused by this file: {}", named.join(", ")),
        }
    }

    fn difference(
        &mut self,
        finding: &Finding<'_>,
        difference: &Difference<'_>,
        noun: &'static str,
    ) -> io::Result<()> {
        let titles = Titles { first: "SFrame", second: noun };
        let start = finding.code.as_ref().map_or(0, |code| code.start.0);
        let lines = (difference.table.as_slice(), difference.cut);
        let code = (start, difference.instructions.as_slice());
        evidence::write(&mut self.out, lines, code, titles, 6)?;
        if let Some(ruling) = &difference.ruling {
            writeln!(self.out, "    {}", self.wrapped(&ruling.sentence(noun), 6))?;
        }
        let Some(similar) = difference.similar.filter(|similar| similar.functions > 0) else {
            return Ok(());
        };
        let functions = counted(similar.functions, "more function");
        writeln!(self.out, "    and at {functions} ({})", counted(similar.bytes, "byte"))
    }

    /// One line for each field: offset, bytes, name, value.
    fn context(&mut self, parts: &[Part<'_>], style: Style) -> io::Result<()> {
        let offset = |part: &Part<'_>| format!("{:#x}", part.offset);
        let bytes = |part: &Part<'_>| spaced(&part.bytes);
        let name = |part: &Part<'_>| part.name.to_string();
        let width = |cell: &dyn Fn(&Part<'_>) -> String| column_width(parts.iter().map(cell));
        let (a, b, c) = (width(&offset), width(&bytes), width(&name));
        for part in parts {
            let (offset, bytes, name) = (offset(part), bytes(part), name(part));
            let line = format!("{offset:a$} | {bytes:b$}| {name:c$}  {}", part.value);
            let line = line.trim_end();
            let (mark, style) = if part.blamed { ('>', style) } else { (' ', DIM) };
            writeln!(self.out, "      {style}{mark} {line}{style:#}")?;
        }
        Ok(())
    }

    fn wrapped(&self, text: &str, indent: usize) -> String {
        wrap(text, indent, self.options.width)
    }
}

impl Text<Vec<u8>> {
    /// The text that was written to memory.
    pub(super) fn written(&self) -> &[u8] {
        &self.out
    }
}

impl<W: Write> Events for Text<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        self.listing = Listing::default();
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        if self.is_only_named(finding.known.as_ref(), finding.severity) {
            return Ok(());
        }
        if self.listing.is_long {
            return self.list(head, finding);
        }
        self.listing.held.push(finding.owned());
        if self.listing.held.len() > SORTED {
            self.listing.is_long = true;
            self.list_held(head)?;
        }
        Ok(())
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        // First comes that the section is useless, then what the author of the file can change.
        self.listing.held.sort_by_key(|finding| (!is_useless(finding), finding.owner));
        self.list_held(record)?;
        self.record(record)?;
        self.flush_for_watchers()
    }
}

impl<W: Write> Renderer for Text<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        if self.options.summary {
            self.totals(summary)?;
            self.missing(summary)?;
        }
        self.out.flush()
    }
}

impl<W: Write> Text<W> {
    /// On a terminal, shows each file at once.
    fn flush_for_watchers(&mut self) -> io::Result<()> {
        if self.options.width.is_some() { self.out.flush() } else { Ok(()) }
    }

    fn record(&mut self, record: &Record<'_>) -> io::Result<()> {
        let name = record.name();
        let verbose = self.options.verbose;
        let reason = record.reason.as_ref().map(Name::to_string).unwrap_or_default();
        match record.status {
            Status::Checked | Status::NoSection | Status::Archive => self.end_checked(record),
            Status::Unreadable => self.warn(&name, "cannot be read", &reason),
            Status::Crashed => self.warn(&name, "not checked", &reason),
            Status::Unsupported if verbose => {
                self.separate()?;
                writeln!(self.out, "{name}: not checked, SFrame is not defined for {reason}")
            }
            Status::NotElf if verbose => {
                self.separate()?;
                let why = if reason.is_empty() { "not an ELF file" } else { &reason };
                writeln!(self.out, "{name}: not checked, {why}")
            }
            Status::Special if verbose => {
                self.separate()?;
                let known = Special::of_id(&reason);
                let (why, remedy) =
                    known.map_or((reason.as_str(), ""), |kind| (kind.name(), totals::remedy(kind)));
                writeln!(self.out, "{name}: not checked, {why}{remedy}")
            }
            Status::Unsupported | Status::NotElf | Status::Special => Ok(()),
        }
    }
}

/// `0102` as `01 02 `.
fn spaced(hex: &Name<'_>) -> String {
    let digits = hex.to_string();
    let mut out = String::with_capacity(digits.len() / 2 * 3);
    for (place, digit) in digits.chars().enumerate() {
        out.push(digit);
        if !place.is_multiple_of(2) {
            out.push(' ');
        }
    }
    out
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Lint => LINT,
    }
}

fn section_in_short(section: &Section<'_>) -> String {
    let what = match &section.header {
        Some(header) => {
            let machine = header.abi.as_ref().map_or("unknown ABI".to_owned(), Name::to_string);
            format!("V{} {machine}", header.version)
        }
        None => "unreadable header".to_owned(),
    };
    let functions = counted(section.functions, "function");
    format!("{} {what}, {functions}, {}", section.name, counted(section.rows, "row"))
}
