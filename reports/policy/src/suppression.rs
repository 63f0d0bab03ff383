//! Suppressions: findings that a project has looked at, and that do not count.

use sframe_input::Pattern;
use sframe_record::{Finding, Record};
use toml::value::Date;

use crate::pattern::RulePattern;

/// Findings that do not count, with the reason. A finding has to match each criterion that is set.
#[derive(Clone, Debug)]
pub struct Suppression {
    /// Why they do not count.
    pub reason: String,
    /// The rules, or the known defect.
    pub rule: Option<RulePattern>,
    /// The file: its path as typed or from the folder of the configuration, or its path in its package. Patterns without a slash match the file name.
    pub path: Option<Pattern>,
    /// The ELF section that contains the code.
    pub section: Option<Pattern>,
    /// The symbol of the function or code.
    pub function: Option<Pattern>,
    /// The file's build-id in hexadecimal, or its beginning.
    pub build_id: Option<String>,
    /// The first day on which it has no effect.
    pub expires: Option<Date>,
    /// Where it is defined: `sframe-check.toml:12`.
    pub place: String,
}

impl Suppression {
    /// Whether it depends on more than the rule and the file.
    pub(crate) const fn needs_each_finding(&self) -> bool {
        self.section.is_some() || self.function.is_some()
    }

    /// Whether it has no effect any more.
    pub(crate) fn is_expired(&self, today: Date) -> bool {
        self.expires.is_some_and(|expires| expires <= today)
    }

    /// Whether it is about the file that `record` describes, whose path from the configuration is `relative`.
    pub(crate) fn is_about_file(&self, record: &Record<'_>, relative: &str) -> bool {
        let path = self.path.as_ref().is_none_or(|glob| {
            let is_match = |path: &str| {
                let path = path.trim_start_matches("./");
                let name = path.rsplit('/').next().unwrap_or(path);
                glob.is_match(path) || !glob.text().contains('/') && glob.is_match(name)
            };
            is_match(&record.path)
                || is_match(relative)
                || record.inside.as_deref().is_some_and(is_match)
                || record.member.as_deref().is_some_and(is_match)
        });
        let build_id = self.build_id.as_deref().is_none_or(|wanted| {
            record
                .build_id
                .as_deref()
                .is_some_and(|id| id.starts_with(&wanted.to_ascii_lowercase()))
        });
        path && build_id
    }

    /// Whether it is about findings of this rule, or cases of this known defect.
    pub(crate) fn is_about_rule(&self, rule: &str, known: Option<&str>) -> bool {
        self.rule.as_ref().is_none_or(|pattern| {
            pattern.selects_rule(rule) || known.is_some_and(|known| pattern.selects_defect(known))
        })
    }

    /// Whether it is about the code of this finding.
    pub(crate) fn is_about_code(&self, finding: &Finding<'_>) -> bool {
        let function = finding.function.as_ref().and_then(|of| of.symbol.as_deref());
        let symbol = function.or_else(|| finding.code.as_ref().and_then(|of| of.symbol.as_deref()));
        let is_match = |glob: &Option<Pattern>, text: Option<&str>| {
            glob.as_ref().is_none_or(|glob| text.is_some_and(|text| glob.is_match(text)))
        };
        is_match(&self.section, finding.elf_section.as_deref()) && is_match(&self.function, symbol)
    }
}
