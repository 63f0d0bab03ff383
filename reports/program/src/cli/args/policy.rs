//! The command line of policies: what findings count.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use sframe_policy::{Known, RulePattern};

use super::rules::RulesName;

/// What findings count, and when they are a failure.
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyArgs {
    #[command(flatten)]
    pub(in crate::cli) severities: SeverityArgs,
    /// Findings of this baseline do not count
    ///
    /// The file was written with --write-baseline. A finding is the same if rule, file, function and shape are: rebuilt and relinked files and
    /// functions that moved make no difference. Findings that are gone are listed.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// The least severity that makes the exit status 1
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, help_heading = "What counts")]
    pub(in crate::cli) fail_on: super::Level,
}

/// How severe findings are.
#[derive(Debug, Args)]
pub(in crate::cli) struct SeverityArgs {
    /// How cases of known defects of assemblers, linkers and C libraries count [default: warn]
    ///
    /// `explain --list-known` lists them.
    #[arg(
        long,
        value_name = "LEVEL",
        value_enum,
        help_heading = "What counts",
        hide_short_help = true
    )]
    pub(in crate::cli) known: Option<KnownLevel>,
    /// Findings of this rule do not count
    ///
    /// A rule, a group of rules, a pattern such as `segment-*`, or a known defect. --deny wins over --warn, and --warn over --allow; all of
    /// them win over the configuration. What does not count is reported as suppressed, unlike with --ignore.
    #[arg(
        long,
        value_name = "RULE",
        value_parser = RulesName,
        hide_possible_values = true,
        value_delimiter = ',',
        help_heading = "What counts",
        hide_short_help = true
    )]
    pub(in crate::cli) allow: Vec<RulePattern>,
    /// Findings of this rule are warnings
    #[arg(
        long,
        value_name = "RULE",
        value_parser = RulesName,
        hide_possible_values = true,
        value_delimiter = ',',
        help_heading = "What counts",
        hide_short_help = true
    )]
    pub(in crate::cli) warn: Vec<RulePattern>,
    /// Findings of this rule are errors
    #[arg(
        long,
        value_name = "RULE",
        value_parser = RulesName,
        hide_possible_values = true,
        value_delimiter = ',',
        help_heading = "What counts",
        hide_short_help = true
    )]
    pub(in crate::cli) deny: Vec<RulePattern>,
    /// Read this configuration
    ///
    /// Without this option, the nearest sframe-check.toml in the working directory or above it is read.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "What counts", hide_short_help = true)]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long, conflicts_with = "config", help_heading = "What counts", hide_short_help = true)]
    pub(in crate::cli) no_config: bool,
}

/// What a scan has to find.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct GateArgs {
    /// Write the errors and warnings found to this baseline; the exit status does not depend on them
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::FilePath, help_heading = "What counts", hide_short_help = true)]
    pub(in crate::cli) write_baseline: Option<String>,
    /// Report files that have code and no SFrame section as errors
    #[arg(long, help_heading = "What counts", hide_short_help = true)]
    pub(in crate::cli) require_section: bool,
    /// Fail if a consumer that --for names does not accept a section as a whole
    ///
    /// It has to find the specification's row at every PC. An undecided section makes the exit status 2.
    #[arg(long, requires = "consumers", help_heading = "What counts", hide_short_help = true)]
    pub(in crate::cli) require_readable: bool,
    /// Fail if SFrame describes less of the code of all checked files
    #[arg(long, value_name = "PERCENT", value_parser = percentage, help_heading = "What counts", hide_short_help = true)]
    pub(in crate::cli) min_coverage: Option<f64>,
    /// Fail if --thorough proves a smaller share of the rows right; undecided code counts as not proven
    #[arg(long, value_name = "PERCENT", value_parser = percentage, help_heading = "What counts", hide_short_help = true)]
    pub(in crate::cli) min_proven: Option<f64>,
}

/// `--known`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum KnownLevel {
    /// As their rules say
    Deny,
    /// As warnings
    Warn,
    /// They do not count
    Allow,
}

impl From<KnownLevel> for Known {
    fn from(level: KnownLevel) -> Known {
        match level {
            KnownLevel::Deny => Known::Deny,
            KnownLevel::Warn => Known::Warn,
            KnownLevel::Allow => Known::Allow,
        }
    }
}

/// A number from 0 to 100, with or without a percent sign.
fn percentage(text: &str) -> Result<f64, &'static str> {
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    number.filter(|number| (0.0..=100.0).contains(number)).ok_or("a percentage is 0 to 100")
}
