//! Why a configuration cannot be used.

use std::fmt;
use std::io;

use sframe_input::pattern::InvalidPattern;
use sframe_input::plain_error;

use crate::pattern::NoSuchRule;

/// Why a configuration cannot be used.
#[derive(Debug)]
pub struct ConfigError {
    /// The file, with the line if one is to blame.
    pub(crate) place: String,
    /// What is wrong.
    pub defect: ConfigDefect,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.defect)
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.defect.source()
    }
}

/// What is wrong with a configuration.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigDefect {
    /// One that the user has named cannot be read.
    Io(io::Error),
    /// One that nobody has named cannot be read.
    Unasked(io::Error),
    /// It is not UTF-8.
    NotText,
    /// It is not TOML, or has unknown fields or types: the parser's message.
    Syntax(String),
    /// This text is not a level.
    Level(String),
    /// This selects no rule.
    Rule(NoSuchRule),
    /// This is not a pattern, or is beyond the limits for all patterns.
    Pattern(InvalidPattern),
    /// A suppression has no reason.
    NoReason,
    /// A suppression names both a rule and a known defect.
    RuleAndKnown,
    /// This is not the identifier of a known defect.
    Known(String),
    /// A suppression is for everything.
    NoSelection,
    /// The build ID of a suppression has too few digits.
    ShortBuildId,
    /// The date of a suppression is not a date, or has a time.
    Date,
}

impl fmt::Display for ConfigDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigDefect::Io(error) => f.write_str(&plain_error(error)),
            ConfigDefect::Unasked(error) => {
                let why = plain_error(error);
                write!(
                    f,
                    "the configuration cannot be read: {why} (--no-config checks without it)"
                )
            }
            ConfigDefect::NotText => f.write_str("it is no configuration: it is not text"),
            ConfigDefect::Syntax(message) => f.write_str(message),
            ConfigDefect::Level(text) => write!(
                f,
                "\"{text}\" is no level: allowed are \"allow\", \"warn\" and \"deny\""
            ),
            ConfigDefect::Rule(error) => error.fmt(f),
            ConfigDefect::Pattern(error) => error.fmt(f),
            ConfigDefect::NoReason => f.write_str("a suppression needs a reason"),
            ConfigDefect::RuleAndKnown => {
                f.write_str("a suppression is by `rule` or by `known`, not by both")
            }
            ConfigDefect::Known(text) => {
                write!(f, "\"{text}\" is no known defect: `explain --list-known` lists them")
            }
            ConfigDefect::NoSelection => f.write_str(
                "a suppression needs at least one of `rule`, `known`, `path`, `section`, `function` or `build-id`",
            ),
            ConfigDefect::ShortBuildId => {
                f.write_str("`build-id` needs at least the first 8 digits")
            }
            ConfigDefect::Date => {
                f.write_str("`expires` is a date without a time, such as 2027-01-31")
            }
        }
    }
}

impl std::error::Error for ConfigDefect {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ConfigDefect::Io(error) | ConfigDefect::Unasked(error) => Some(error),
            ConfigDefect::Rule(error) => Some(error),
            ConfigDefect::Pattern(error) => Some(error),
            _ => None,
        }
    }
}

impl From<NoSuchRule> for ConfigDefect {
    fn from(error: NoSuchRule) -> ConfigDefect {
        ConfigDefect::Rule(error)
    }
}

impl From<InvalidPattern> for ConfigDefect {
    fn from(error: InvalidPattern) -> ConfigDefect {
        ConfigDefect::Pattern(error)
    }
}
