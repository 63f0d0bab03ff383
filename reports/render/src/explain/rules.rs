//! The pages of the rules: for a terminal, and as `RULES.md`.

use std::io::{self, Write};

use sframe_validator::rules::{Abis, Group, Rule, Severity, Versions};
use sframe_validator::{Abi, Version};

use super::BOLD;
use super::error::NoSuchName;
use super::page::{Kind, Page};
use crate::near;
use sframe_record::catalogue;
use sframe_record::markdown::plain;

pub(super) fn page(rule: &'static Rule) -> Page {
    let about = format!("{}, {}", rule.severity, rule.group);
    let page = Page {
        severity: Some(rule.severity.into()),
        group: Some(rule.group),
        ..Page::new(Kind::Rule, rule.name, about, sentence(rule.page.summary))
    };
    page.text("effect", "What goes wrong", sentence(rule.page.consequence))
        .text("remedy", "What to do", sentence(rule.page.remedy))
        .text("applies", "Applies to", applies_to(rule))
        .text("source", "Source", rule.page.source.to_owned())
        .text("example", "Example", rule.page.example.to_owned())
}

/// Lists the rules by group, one per line.
///
/// # Errors
/// Returns an error if writing fails.
pub fn list(out: &mut dyn Write) -> io::Result<()> {
    let longest = catalogue::all().map(|rule| rule.name.len()).max().unwrap_or(0);
    for (place, group) in Group::ALL.into_iter().enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{BOLD}{group}{BOLD:#}")?;
        for rule in catalogue::all().filter(|rule| rule.group == group) {
            writeln!(out, "  {:longest$}  {:<7}  {}", rule.name, rule.severity, rule.page.summary)?;
        }
    }
    Ok(())
}

/// Writes all pages as Markdown: the text of `RULES.md`.
///
/// # Errors
/// Returns an error if writing fails.
pub fn markdown(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Rules\n")?;
    writeln!(
        out,
        "<!-- Made by `sframe-check explain --all --markdown` from the catalogue; a test keeps it current. -->\n"
    )?;
    let count = |severity| catalogue::all().filter(|rule| rule.severity == severity).count();
    writeln!(
        out,
        "{} rules: {} errors, {} warnings, and {} lints, which are checked with `--pedantic`, unless their page names another option.\n",
        catalogue::all().count(),
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Lint)
    )?;
    for group in Group::ALL {
        let rules: Vec<&Rule> = catalogue::all().filter(|r| r.group == group).collect();
        if rules.is_empty() {
            continue;
        }
        writeln!(out, "## {}\n", title(group))?;
        writeln!(out, "| Rule | Severity | Applies to | What has to hold |\n|---|---|---|---|")?;
        for rule in &rules {
            let (name, summary) = (rule.name, plain(rule.page.summary));
            let scope = applies_to(rule);
            writeln!(out, "| [`{name}`](#{name}) | {} | {scope} | {summary} |", rule.severity)?;
        }
        writeln!(out)?;
        for rule in rules {
            markdown_page(out, rule)?;
        }
    }
    Ok(())
}

fn markdown_page(out: &mut dyn Write, rule: &Rule) -> io::Result<()> {
    writeln!(out, "### {}\n", rule.name)?;
    writeln!(out, "*{}.* {}\n", rule.severity, plain(&sentence(rule.page.summary)))?;
    writeln!(out, "**What goes wrong:** {}\n", plain(&sentence(rule.page.consequence)))?;
    writeln!(out, "**What to do:** {}\n", plain(&sentence(rule.page.remedy)))?;
    writeln!(out, "**Source:** {}\n", plain(rule.page.source))?;
    if !rule.page.example.is_empty() {
        writeln!(out, "**Example:** {}\n", plain(rule.page.example))?;
    }
    Ok(())
}

/// Makes a sentence: with a capital letter at the beginning and a full stop at the end.
pub(super) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    // A name in backticks keeps its case.
    let first_word = text.split(' ').next().unwrap_or_default();
    let mut sentence = match rest.next() {
        Some(first) if !first_word.contains('_') => first.to_uppercase().chain(rest).collect(),
        _ => text.to_owned(),
    };
    if !sentence.is_empty() && !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

const fn title(group: Group) -> &'static str {
    match group {
        Group::Container => "The ELF section and segments",
        Group::Relocations => "Relocations",
        Group::Header => "Preamble and header",
        Group::Tiling => "How the parts fill the section",
        Group::Functions => "The function table",
        Group::Rows => "The row stream",
        Group::Content => "What rows say",
        Group::Coverage => "The section against symbols and code",
        Group::Comparison => "SFrame against CFI",
        Group::Code => "Rows against the machine code",
        Group::Cfi => "The CFI itself",
    }
}

/// `versions 1 to 3, every machine`.
fn applies_to(rule: &Rule) -> String {
    format!("{}, {}", versions(rule.versions), abis(rule.abis))
}

fn versions(versions: Versions) -> String {
    let numbers: Vec<String> = Version::ALL
        .into_iter()
        .filter(|version| versions.contains(*version))
        .map(|version| version.number().to_string())
        .collect();
    match numbers.as_slice() {
        [_, _, _] => "every version".to_owned(),
        [one] => format!("version {one}"),
        several => format!("versions {}", several.join(" and ")),
    }
}

fn abis(abis: Abis) -> String {
    let covered: Vec<Abi> = Abi::ALL.into_iter().filter(|abi| abis.contains(*abi)).collect();
    if covered.len() == Abi::ALL.len() {
        return "every machine".to_owned();
    }
    let mut names: Vec<&str> = covered.into_iter().map(Abi::name).collect();
    // Both byte orders of AArch64 have one name here.
    if names.contains(&"AArch64") {
        names.retain(|name| *name != "AArch64-BE");
    }
    names.join(" and ")
}

/// The rule with this name.
///
/// # Errors
/// Similar names, if there is no such rule.
pub fn find(name: &str) -> Result<&'static Rule, NoSuchName> {
    if let Some(rule) = catalogue::find(name) {
        return Ok(rule);
    }
    let hint = near::hint(name, catalogue::all().map(|rule| rule.name));
    Err(NoSuchName::Rule { name: name.to_owned(), hint })
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn sentences_are_capitalised() {
        assert_eq!(sentence("the rule holds"), "The rule holds.");
        assert_eq!(sentence("sh_type is right"), "sh_type is right.");
        assert_eq!(sentence(""), "");
    }
}
