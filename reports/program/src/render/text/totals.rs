//! The summary of a scan, after its files.

use std::io::{self, Write};

use super::{BOLD, Text, call_sites, coverage, proofs, severity_style};
use sframe_input::Special;
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{KindCount, RuleCount, SectionCount, Severity, Summary};

impl<W: Write> Text<W> {
    /// Writes the summary of a scan.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn totals(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        self.separate()?;
        let checked = counted(summary.checked, "file");
        let inputs = counted(summary.inputs, "input");
        let with = grouped(summary.with_section);
        writeln!(
            self.out,
            "{BOLD}{inputs}{BOLD:#}: {checked} checked, {with} with an SFrame section"
        )?;
        let noun = summary.tables();
        let left_out = left_out(summary);
        if !left_out.is_empty() {
            writeln!(self.out, "  not checked: {}", self.wrapped(&left_out.join(", "), 4))?;
        }
        if summary.with_section > 0 {
            self.section_totals(summary)?;
            if let Some(compared) = &summary.compared {
                writeln!(self.out, "  {}", self.wrapped(&coverage::in_short(compared, noun), 4))?;
            }
        } else if summary.code_bytes > 0 {
            let code = grouped(summary.code_bytes);
            writeln!(self.out, "  none of their {code} bytes of code has stack-trace entries")?;
        }
        if let Some(proofs) = &summary.proofs {
            writeln!(self.out, "  {}", self.wrapped(&proofs::in_short(proofs, noun), 4))?;
        }
        if let Some(sites) = &summary.call_sites {
            writeln!(self.out, "  {}", self.wrapped(&call_sites::in_short(sites, noun), 4))?;
        }
        self.finding_totals(summary)?;
        if self.options.coverage {
            coverage::totals(&mut self.out, summary)?;
        }
        if summary.worst().is_some() {
            writeln!(
                self.out,
                "  `sframe-check explain RULE` says what a rule means and what to do"
            )?;
        }
        Ok(())
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

    fn finding_totals(&mut self, summary: &Summary<'_>) -> io::Result<()> {
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
        // The most serious rules first, each group in the order of the catalogue.
        let mut rules: Vec<&RuleCount<'_>> = summary.rules.iter().collect();
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
            let text = format!("{} in {files}{once}", count.rule);
            let text = self.wrapped(&text, 20);
            writeln!(self.out, "  {times:>9} {style}{severity:<7}{style:#} {text}")?;
        }
        Ok(())
    }
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
