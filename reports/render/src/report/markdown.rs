//! Markdown, for the summary page of a CI job.

use std::io::{self, Write};

use sframe_history::Groups;
use sframe_history::groups::{Example, RootCause};
use sframe_record::markdown::{code, code_cell, plain};
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{
    CallSites, Events, Finding, ForecastTotal, LINKED, Pages, ReadingTotal, Record, Severity,
    Status, Summary, Table, catalogue,
};

use super::Renderer;

/// The number of root causes, and of unreadable files, that are listed.
const LISTED: usize = 50;

/// Writes the root causes of a scan as tables, at its end.
pub struct Markdown<W> {
    out: W,
    groups: Groups,
    /// The first files that could not be read, or in parts, and why.
    left: Vec<(String, String)>,
    pages: Option<Pages>,
}

impl<W: Write> Markdown<W> {
    /// A renderer that writes to `out`. The names of rules link to their pages, if their address is given.
    pub fn new(out: W, pages: Option<Pages>) -> Markdown<W> {
        Markdown { out, groups: Groups::default(), left: Vec::new(), pages }
    }

    fn causes(&mut self, causes: &[RootCause]) -> io::Result<()> {
        if causes.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n| | Rule | Findings | Files | What | Example |")?;
        writeln!(self.out, "|---|---|--:|--:|---|---|")?;
        for cause in causes.iter().take(LISTED) {
            let mark = match cause.severity {
                Severity::Error => "❌ error",
                Severity::Warning => "⚠️ warning",
                Severity::Lint => "lint",
            };
            let example = cause.examples.first();
            let mut message = match (cause.unlisted, example) {
                (true, _) => "counted, not listed (`--all` lists each)".to_owned(),
                (false, Some(example)) => plain(&example.text()),
                (false, None) => String::new(),
            };
            if let Some(owner) = cause.owner_in_words() {
                message.push_str(&plain(&format!("; owner: {owner}")));
            }
            writeln!(
                self.out,
                "| {mark} | {} | {} | {} | {} | {} |",
                self.rule(&cause.rule),
                grouped(cause.findings),
                grouped(cause.files),
                message,
                example.map(place).unwrap_or_default(),
            )?;
        }
        match causes.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => writeln!(self.out, "\nAnd {}.", counted(more as u64, "more cause")),
        }
    }

    fn rule(&self, name: &str) -> String {
        let cell = code_cell(name);
        let known = catalogue::find(name).is_some();
        match self.pages.as_ref().filter(|_| known) {
            Some(pages) => format!("[{cell}]({})", pages.of_rule(name)),
            None => cell,
        }
    }

    fn forecast(&mut self, total: &ForecastTotal<'_>, noun: &str) -> io::Result<()> {
        writeln!(self.out, "\n**What SFrame would cost {}**\n", counted(total.files, noun))?;
        if let Some(answer) = total.answer() {
            writeln!(self.out, "{}.\n", plain(&answer))?;
        }
        self.table(&total.forecast.table())?;
        match total.forecast.caveat().filter(|_| noun == LINKED) {
            Some(caveat) => writeln!(self.out, "\n{}", caveat.replace('*', "\\*")),
            None => Ok(()),
        }
    }

    fn readings(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let files = ReadingTotal::subject(&summary.readings);
        writeln!(self.out, "\n**What consumers do with {files}**\n")?;
        self.table(&ReadingTotal::table(&summary.readings))
    }

    fn call_sites(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let Some(total) = &summary.call_sites else { return Ok(()) };
        let files = counted(total.files, "file");
        let who = "by a walker that looks up the return address itself";
        writeln!(self.out, "\n**Call sites of {files}, {who}**\n")?;
        for sentence in total.sites.sentences(summary.tables()) {
            writeln!(self.out, "- {}", plain(&sentence))?;
        }
        writeln!(self.out, "- {}", CallSites::OTHER_WALKER)?;
        let Some(packages) = summary.several_call_site_packages() else { return Ok(()) };
        writeln!(self.out, "\n**Call sites of {}**\n", packages.subject(LISTED))?;
        self.table(&packages.table(LISTED, summary.tables()))
    }

    fn table(&mut self, Table { columns, lines }: &Table) -> io::Result<()> {
        if columns.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = columns.iter().map(|name| plain(name)).collect();
        writeln!(self.out, "| | {} |", names.join(" | "))?;
        writeln!(self.out, "|---|{}", "--:|".repeat(columns.len()))?;
        for line in lines {
            let cells = line.cells.join(" | ");
            writeln!(self.out, "| {} | {cells} |", plain(&line.label))?;
        }
        Ok(())
    }

    fn known(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let known = summary.known();
        if known.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n**Known defects of assemblers, linkers and C libraries**\n")?;
        for (id, findings, files) in known {
            let defect = sframe_defects::find(id);
            let about = defect
                .map(|of| format!(": {} ({}); {}", of.title, of.affected(), of.consequence()));
            let (findings, files) = (counted(findings, "finding"), counted(files, "file"));
            let about = plain(&about.unwrap_or_default());
            writeln!(self.out, "- {}, {findings} in {files}{about}", code(id))?;
        }
        Ok(())
    }
}

impl<W: Write> Events for Markdown<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.groups.finding(head, finding);
        Ok(())
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.groups.end(record);
        let own = record.reason.as_ref();
        let own = own.filter(|_| matches!(record.status, Status::Unreadable | Status::Crashed));
        let left = record.undecided.iter().map(|undecided| &undecided.reason);
        for reason in own.into_iter().chain(left) {
            if self.left.len() < LISTED {
                self.left.push((record.name(), reason.to_string()));
            }
        }
        Ok(())
    }
}

impl<W: Write> Renderer for Markdown<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let is_bad = summary.errors > 0 || summary.fails_a_gate();
        let is_open = summary.is_incomplete() || !summary.failed_gates.is_empty();
        let mark = match (is_bad, is_open) {
            (true, _) => "❌",
            (false, true) => "❓",
            (false, false) => "✅",
        };
        let (errors, warnings) =
            (counted(summary.errors, "error"), counted(summary.warnings, "warning"));
        let forecasts = summary.forecasts();
        match forecasts.is_empty() {
            false if summary.worst().is_none() => {
                let files = forecasts.iter().map(|(total, _)| total.files).sum();
                let files = counted(files, "file");
                writeln!(self.out, "## SFrame: forecast for {files}\n")?;
            }
            _ => writeln!(self.out, "## {mark} SFrame: {errors}, {warnings}\n")?,
        }
        let (checked, with) = (counted(summary.checked, "file"), grouped(summary.with_section));
        write!(self.out, "{checked} checked, {with} with an SFrame section.")?;
        if summary.code_bytes > 0 {
            let share = percent(summary.covered_bytes, summary.code_bytes);
            let code = grouped(summary.code_bytes);
            write!(self.out, " SFrame describes {share} of {code} bytes of code.")?;
        }
        writeln!(self.out)?;
        for gate in &summary.failed_gates {
            let mark = if gate.undecided { "❓" } else { "❌" };
            writeln!(self.out, "\n{mark} {}", plain(&gate.message))?;
        }
        let mut causes = std::mem::take(&mut self.groups).finish().causes;
        causes.retain(|cause| cause.known.is_none() || cause.severity == Severity::Error);
        self.causes(&causes)?;
        self.known(summary)?;
        self.call_sites(summary)?;
        for (total, noun) in forecasts {
            self.forecast(total, noun)?;
        }
        if let Some(packages) = summary.several_packages() {
            writeln!(self.out, "\n**What SFrame would cost {}**\n", packages.subject(LISTED))?;
            self.table(&packages.table(LISTED))?;
        }
        if !summary.readings.is_empty() {
            self.readings(summary)?;
        }
        if !self.left.is_empty() {
            writeln!(self.out, "\n**Undecided or unreadable**\n")?;
            for (file, reason) in std::mem::take(&mut self.left) {
                writeln!(self.out, "- {}: {}", code(&file), plain(&reason))?;
            }
        }
        let suppressed = summary.suppressed.iter().map(|of| of.count).fold(0, u64::saturating_add);
        if suppressed > 0 {
            writeln!(self.out, "\n{} suppressed.", counted(suppressed, "finding"))?;
        }
        for note in &summary.notes {
            writeln!(self.out, "\n{}", plain(note))?;
        }
        self.out.flush()
    }
}

/// The file and function of an example.
fn place(example: &Example) -> String {
    let symbol = example.symbol.as_deref().map(|symbol| format!(": {symbol}"));
    code_cell(&format!("{}{}", example.file, symbol.unwrap_or_default()))
}
