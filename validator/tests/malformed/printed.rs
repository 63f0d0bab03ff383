//! Prints findings as text for review: every part of each finding, in the order of the report.

use std::fmt::Write;

use sframe_validator::finding::{Finding, Report};

/// All findings of a report, and the reasons for everything undecided.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        print(&mut text, finding).expect("text can be written to memory");
    }
    for undecided in &report.undecided {
        writeln!(text, "undecided: {}", undecided.reason).expect("text can be written to memory");
    }
    text
}

fn print(text: &mut String, finding: &Finding) -> std::fmt::Result {
    writeln!(text, "{}[{}]: {}", finding.rule.severity, finding.rule.name, finding.message)?;
    if let Some(offset) = finding.offset {
        let (start, end) = (finding.bytes.start, finding.bytes.end);
        writeln!(text, "  at section offset {offset:#x}, in the bytes {start:#x}..{end:#x}")?;
    }
    if let Some(field) = &finding.field {
        writeln!(text, "  {} is {}, allowed: {}", field.name, field.value, field.allowed)?;
    }
    if let Some(function) = finding.function {
        let start = match function.start {
            Some(start) => format!("{:#x}", start.address),
            None => "an unknown address".to_owned(),
        };
        let row = finding.row.map(|row| format!(", row {row}")).unwrap_or_default();
        writeln!(
            text,
            "  in function {} at {start}, {} bytes{row}",
            function.index, function.size
        )?;
    }
    Ok(())
}
