//! The report for the producer of a defect, as a page in Markdown that a person can file.

mod finding;

use std::fmt::{self, Write as _};

pub use finding::text as finding_text;

/// A report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The defect in a few words, after the name of the program.
    pub title: String,
    /// The program, its version, the machine and others: names and values.
    pub facts: Vec<(String, String)>,
    /// Files with their contents: the sources.
    pub inputs: Vec<(String, String)>,
    /// The commands and what they print.
    pub steps: Vec<Step>,
    /// What this program says about the result.
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
    /// The command as a person types it.
    pub command: String,
    /// What it prints.
    pub output: String,
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}\n\n| | |\n|---|---|", self.title)?;
        for (name, value) in &self.facts {
            writeln!(f, "| {name} | {} |", value.replace('|', "\\|"))?;
        }
        writeln!(f, "\n## Input")?;
        for (name, content) in &self.inputs {
            writeln!(f, "\n`{name}`:\n\n{}", fenced(content, "asm"))?;
        }
        writeln!(f, "\n## Commands and what they print")?;
        let mut block = String::new();
        for Step { command, output } in &self.steps {
            let _ = writeln!(block, "$ {command}");
            let output = output.trim_matches('\n');
            if !output.is_empty() {
                let _ = writeln!(block, "{output}");
            }
        }
        writeln!(f, "\n{}", fenced(&block, "console"))?;
        writeln!(
            f,
            "\n`sframe-check` says about the result:\n\n{}",
            fenced(&self.finding, "text")
        )?;
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

/// A block of text that no line of it can end.
fn fenced(text: &str, language: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let lines = text.lines().map(|line| line.trim_end().replace('\t', "    "));
    format!("{fence}{language}\n{}\n{fence}", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_files_cannot_end_a_block() {
        let block = fenced("```\n# not a title", "text");
        assert!(block.starts_with("````text\n"), "{block}");
        assert!(block.ends_with("\n````"), "{block}");
    }
}
