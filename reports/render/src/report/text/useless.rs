//! Sections of which known defects leave nothing: the sentence in the first line, the remedy in the second.

use std::io::{self, Write};

use sframe_record::{Finding, Record, Weight};

use super::{BOLD, Text, severity_style};

impl<W: Write> Text<W> {
    /// Writes that the section of a file is useless: the sentence beside the name of the file, and what to do below it.
    pub(super) fn useless(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.listing.is_named = true;
        self.separate()?;
        let (severity, rule) = (finding.severity.name(), &finding.rule);
        let style = severity_style(finding.severity);
        let (name, message) = (head.name(), self.wrapped(&finding.message.to_string(), 2));
        writeln!(self.out, "{BOLD}{name}{BOLD:#}: {style}{severity}[{rule}]{style:#}: {message}")?;
        self.remedy(finding)
    }

    /// Writes what to do about a finding that has its own remedy.
    pub(super) fn remedy(&mut self, finding: &Finding<'_>) -> io::Result<()> {
        let Some(remedy) = &finding.remedy else { return Ok(()) };
        let text = self.wrapped(&format!("what to do: {remedy}"), 4);
        writeln!(self.out, "  {text}")
    }
}

/// Whether a finding says that known defects leave nothing of a section.
pub(super) fn is_useless(finding: &Finding<'_>) -> bool {
    let consequence = finding.consequence.as_ref().map(|consequence| consequence.weight);
    finding.known.is_none() && consequence == Some(Weight::Useless)
}
