//! The summary of a scan, after its files.

use std::io::{self, Write};

use super::{BOLD, Text, call_sites, coverage, forecast, readings, severity_style, unproven};
use sframe_input::Special;
use sframe_record::advice;
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::printable;
use sframe_record::{KindCount, RuleCount, SectionCount, Severity, Summary, SuppressedCount};

impl<W: Write> Text<W> {
    /// Writes the summary of a scan.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn totals(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let is_forecast = !self.options.findings && !summary.forecasts().is_empty();
        if is_forecast {
            forecast::totals(&mut self.out, summary, &self.options)?;
            self.options.width = Some(forecast::screen(self.options.width));
        } else {
            self.separate()?;
        }
        let checked = counted(summary.checked, "file");
        let inputs = counted(summary.inputs, "input");
        let with = grouped(summary.with_section);
        writeln!(
            self.out,
            "{BOLD}{inputs}{BOLD:#}: {checked} checked, {with} with an SFrame section"
        )?;
        let noun = summary.tables();
        if !summary.lacks_inputs() {
            self.left_out("not checked", summary)?;
        }
        let is_bare = self.options.findings && advice::has_nothing_to_check(summary);
        if is_forecast {
            // The sections that files have already are not the question.
        } else if summary.with_section > 0 {
            self.section_totals(summary)?;
            if let Some(compared) = &summary.compared {
                writeln!(self.out, "  {}", self.wrapped(&coverage::in_short(compared, noun), 4))?;
            }
            self.lines(advice::forecast(summary).as_slice())?;
        } else if is_bare {
            self.lines(&advice::without_sections(summary))?;
        } else if summary.code_bytes > 0 {
            let whose = if summary.checked == 1 { "its" } else { "their" };
            let code = counted(summary.code_bytes, "byte");
            writeln!(self.out, "  none of {whose} {code} of code has stack-trace entries")?;
            self.functions_without_section(summary)?;
        }
        if let Some(total) = &summary.proofs {
            let sentences = total.proofs.sentences(noun);
            let proofs = match sentences.is_empty() {
                true => ": there are no rows".to_owned(),
                false => format!(", {}", sentences.join("; ")),
            };
            let files = counted(total.files, "file");
            let text = format!("compared with the code of {files}{proofs}");
            writeln!(self.out, "  {}", self.wrapped(&text, 4))?;
            unproven::totals(&mut self.out, total, noun, self.options.names)?;
        }
        match is_bare && summary.undecided == 0 {
            true => self.policy_totals(summary)?,
            false => self.finding_totals(summary, advice::thorough(summary).as_slice())?,
        }
        self.failed_gates(summary)?;
        match &summary.call_sites {
            Some(total) if self.has_call_sites && total.files == 1 => {
                call_sites::of_listed_file(&mut self.out, self.options.width)?;
            }
            Some(total) => {
                call_sites::totals(&mut self.out, total, summary, self.options.width)?;
            }
            None => {}
        }
        if !is_forecast {
            forecast::totals(&mut self.out, summary, &self.options)?;
        }
        // What consumers do with a single file was written with it.
        if !summary.readings.is_empty() && summary.with_section > 1 {
            readings::totals(&mut self.out, summary)?;
        }
        if self.options.coverage {
            let style = self.coverage_style(summary.tables());
            let style = coverage::Style { all_lists_more: false, ..style };
            coverage::totals(&mut self.out, summary, style)?;
        }
        if summary.worst().is_some() {
            let what = match summary.known().is_empty() {
                true => "RULE` says what a rule means",
                false => "NAME` says what a rule or a known defect means",
            };
            writeln!(self.out, "  `sframe-check explain {what} and what to do")?;
        }
        Ok(())
    }

    /// Writes how often each rule is broken, and what was not checked.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(in crate::report) fn statistics(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        self.finding_totals(summary, &[])?;
        self.failed_gates(summary)?;
        self.missing(summary)?;
        self.out.flush()
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| writeln!(self.out, "  {}", self.wrapped(line, 4)))
    }

    fn failed_gates(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        for gate in &summary.failed_gates {
            let severity = if gate.undecided { Severity::Warning } else { Severity::Error };
            let style = severity_style(severity);
            let message = printable(gate.message.as_str());
            writeln!(self.out, "  {style}gate{style:#}: {}", self.wrapped(&message, 4))?;
        }
        Ok(())
    }

    /// Writes at the end what was not checked, if that leaves the scan incomplete.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub(in crate::report) fn missing(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        match (summary.lacks_inputs(), summary.checked) {
            (false, _) => Ok(()),
            (true, 0) => self.left_out("nothing was checked", summary),
            (true, _) => self.left_out("not checked", summary),
        }
    }

    fn left_out(&mut self, title: &str, summary: &Summary<'_>) -> io::Result<()> {
        let left_out = left_out(summary);
        match (left_out.is_empty(), summary.checked) {
            (false, _) => {
                let left_out = self.wrapped(&left_out.join(", "), 4);
                writeln!(self.out, "  {title}: {left_out}")
            }
            (true, 0) => writeln!(self.out, "  {title}"),
            (true, _) => Ok(()),
        }
    }

    /// Writes what SFrame could describe, if no file has a section.
    fn functions_without_section(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        if summary.functions_without_section == 0 || !summary.forecasts().is_empty() {
            return Ok(());
        }
        let functions = counted(summary.functions_without_section, "function");
        let text = format!(
            "SFrame could describe about {functions} with CFI: `sframe-check forecast` says how many, and at what cost"
        );
        writeln!(self.out, "  {}", self.wrapped(&text, 4))
    }

    fn section_totals(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let sections: Vec<String> = summary
            .sections
            .iter()
            .map(|SectionCount { version, machine, count }| match version.as_str() {
                SectionCount::UNREADABLE => {
                    format!("{} with an unreadable header", grouped(*count))
                }
                version => format!("{} {version} {machine}", grouped(*count)).trim_end().to_owned(),
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

    /// Writes the counts of findings or, if there are none, the `advice` on how to find more.
    fn finding_totals(&mut self, summary: &Summary<'_>, advice: &[String]) -> io::Result<()> {
        let severities = [Severity::Error, Severity::Warning, Severity::Lint];
        let found: Vec<String> = severities
            .into_iter()
            .filter(|severity| summary.findings(*severity) > 0)
            .map(|severity| counted(summary.findings(severity), severity.name()))
            .chain((summary.undecided > 0).then(|| format!("{} undecided", summary.undecided)))
            .collect();
        if found.is_empty() {
            if self.options.findings && summary.checked > 0 {
                let of =
                    if summary.lacks_inputs() { " in the files that were checked" } else { "" };
                writeln!(self.out, "  no findings{of}")?;
                self.lines(advice)?;
            }
            return self.policy_totals(summary);
        }
        writeln!(self.out, "  {}", found.join(", "))?;
        // The most serious rules first, each group in the order of the catalogue.
        let own = summary.rules.iter().filter(|count| !is_named_as_known(count));
        let mut rules: Vec<&RuleCount<'_>> = own.collect();
        rules.sort_by_key(|count| count.severity);
        for count in rules {
            let (severity, style) = (count.severity.name(), severity_style(count.severity));
            let times = grouped(count.count);
            let files = counted(count.files, "file");
            let once = if self.shown.contains(count.rule.as_str()) && count.files > 1 {
                ": a fact about their tools, shown for the first (--verbose shows each)"
            } else {
                ""
            };
            let known =
                count.known.as_deref().map(|known| format!(", known: {}", printable(known)));
            let text = format!("{} in {files}{once}{}", count.rule, known.unwrap_or_default());
            let text = self.wrapped(&text, 20);
            writeln!(self.out, "  {times:>9} {style}{severity:<7}{style:#} {text}")?;
        }
        self.known_totals(summary)?;
        self.policy_totals(summary)
    }

    /// Writes the known defects whose cases were found.
    fn known_totals(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let is_named = |id: &str| {
            let of_id = |count: &&RuleCount<'_>| count.known.as_deref() == Some(id);
            summary.rules.iter().filter(of_id).any(is_named_as_known)
        };
        for (id, findings, files) in summary.known().into_iter().filter(|(id, ..)| is_named(id)) {
            let style = severity_style(Severity::Warning);
            let (times, files) = (grouped(findings), counted(files, "file"));
            let defect = sframe_defects::find(id);
            let about = defect
                .map(|of| format!(": {} ({}); {}", of.title, of.affected(), of.consequence()));
            let text = format!("{} in {files}{}", printable(id), about.unwrap_or_default());
            let text = self.wrapped(&text, 20);
            writeln!(self.out, "  {times:>9} {style}{:<7}{style:#} {text}", "known")?;
        }
        Ok(())
    }

    /// Writes what the policy suppresses, and its notes.
    fn policy_totals(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        for SuppressedCount { reason, count, files } in &summary.suppressed {
            let (times, files) = (grouped(*count), counted(*files, "file"));
            let text = self.wrapped(&format!("in {files}: {reason}"), 20);
            writeln!(self.out, "  {times:>9} suppressed {text}")?;
        }
        summary
            .notes
            .iter()
            .try_for_each(|note| writeln!(self.out, "  {}", self.wrapped(&note.to_string(), 4)))
    }
}

/// Whether a count is named with its known defect, not with its rule.
fn is_named_as_known(count: &RuleCount<'_>) -> bool {
    count.known.is_some() && count.severity != Severity::Error
}

/// The option that has such files checked.
pub(super) const fn remedy(kind: Special) -> &'static str {
    match kind {
        Special::LinkOut => " (--follow-links)",
        _ => "",
    }
}

/// Everything that was found but not checked, by kind.
fn left_out(summary: &Summary<'_>) -> Vec<String> {
    let mut kinds = Vec::new();
    if summary.crashed > 0 {
        kinds.push(format!("{} that crashed the checker", grouped(summary.crashed)));
    }
    if summary.unreadable > 0 {
        kinds.push(format!("{} unreadable", grouped(summary.unreadable)));
    }
    if summary.not_elf > 0 {
        kinds.push(format!("{} not ELF", grouped(summary.not_elf)));
    }
    for KindCount { kind, count } in &summary.unsupported {
        kinds.push(format!("{} unsupported ({})", grouped(*count), kind));
    }
    let special = |kind: &KindCount<'_>| Some((Special::of_id(&kind.kind)?, kind.count));
    let mut special: Vec<(Special, u64)> = summary.special.iter().filter_map(special).collect();
    special.sort_unstable();
    for (kind, count) in special {
        let name = if count == 1 { kind.name() } else { kind.plural() };
        kinds.push(format!("{} {name}{}", grouped(count), remedy(kind)));
    }
    kinds
}
