//! The page of a consumer as text.

use std::fmt::{self, Write};

use crate::consumer::Consumer;
use crate::page::Page;

/// The page of a consumer, in Markdown.
#[must_use]
pub fn describe(consumer: &dyn Consumer) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(consumer.page(), &mut text);
    text
}

fn write(page: &Page, text: &mut String) -> fmt::Result {
    let versions: Vec<String> = page.reads.iter().map(u8::to_string).collect();
    let machines: Vec<&str> = page.machines.iter().map(|machine| machine.name()).collect();
    writeln!(text, "# {}: {}\n", page.name, page.title)?;
    writeln!(text, "Covers: {}", page.versions)?;
    if !page.also.is_empty() {
        writeln!(text, "Other names: {}", page.also.join(", "))?;
    }
    writeln!(text, "Reads: version {}, on {}", versions.join(", "), machines.join(", "))?;
    writeln!(text, "Source: {}", page.source)?;
    writeln!(text, "Without a row: {}", page.without_row)?;
    writeln!(text, "\n## Rules\n")?;
    for rule in page.statements {
        let (heading, mark) = (rule.subject.heading(), rule.basis.mark());
        writeln!(text, "- {heading}: {} ({mark})", rule.text)?;
    }
    if !page.faults.is_empty() {
        writeln!(text, "\n## Known faults\n")?;
    }
    for fault in page.faults {
        writeln!(text, "- {}: {} ({})", fault.versions, fault.text, fault.basis.mark())?;
    }
    writeln!(text, "\n## What a producer can do\n")?;
    for advice in page.producers {
        writeln!(text, "- {advice}")?;
    }
    Ok(())
}
