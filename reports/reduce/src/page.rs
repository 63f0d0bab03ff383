//! The report for the producer of a defect, as a page in Markdown that a person can file.

mod finding;

use std::fmt::{self, Write as _};

pub use finding::text as finding_text;
use sframe_record::markdown::{block, code};

/// What follows the title of every page.
pub const HEAD: &str = "\n\n| | |\n|---|---|";

/// A report. Everything is Markdown, except where it is called text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The defect in a few words, after the name of the program.
    pub title: String,
    /// The program, its version, the machine and others: names, and values for cells of a table.
    pub facts: Vec<(String, String)>,
    /// Files with their contents, as text: the sources.
    pub inputs: Vec<(String, String)>,
    /// The commands and what they print.
    pub steps: Vec<Step>,
    /// What is wrong, if there are neither inputs nor commands.
    pub about: Vec<String>,
    /// What this program says about the result, or about the file, as text.
    pub finding: String,
    /// What would be right, and the clause of the specification that says so.
    pub expected: Vec<String>,
    /// What goes wrong for people who use the result.
    pub matters: Vec<String>,
    /// How to avoid it.
    pub workaround: Option<String>,
}

/// A command and its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The command as a person types it, as text.
    pub command: String,
    /// What it prints, as text.
    pub output: String,
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}{HEAD}", self.title)?;
        for (name, value) in &self.facts {
            writeln!(f, "| {name} | {value} |")?;
        }
        if !self.about.is_empty() {
            section(f, "The directives and the code", &self.about)?;
        }
        if !self.inputs.is_empty() {
            writeln!(f, "\n## Input")?;
        }
        for (name, content) in &self.inputs {
            writeln!(f, "\n{}:\n\n{}", code(name), block(content, "asm"))?;
        }
        let mut console = String::new();
        for Step { command, output } in &self.steps {
            let _ = writeln!(console, "$ {command}");
            let output = output.trim_matches('\n');
            if !output.is_empty() {
                let _ = writeln!(console, "{output}");
            }
        }
        if !self.steps.is_empty() {
            writeln!(f, "\n## Commands and what they print\n\n{}", block(&console, "console"))?;
        }
        let what = if self.steps.is_empty() { "file" } else { "result" };
        writeln!(f, "\n`sframe-check` says about the {what}:\n\n{}", block(&self.finding, "text"))?;
        section(f, "Expected", &self.expected)?;
        section(f, "Why it matters", &self.matters)?;
        match &self.workaround {
            Some(workaround) => section(f, "How to avoid it", std::slice::from_ref(workaround)),
            None => Ok(()),
        }
    }
}

fn section(f: &mut fmt::Formatter<'_>, title: &str, paragraphs: &[String]) -> fmt::Result {
    writeln!(f, "\n## {title}")?;
    paragraphs.iter().try_for_each(|paragraph| writeln!(f, "\n{paragraph}"))
}
