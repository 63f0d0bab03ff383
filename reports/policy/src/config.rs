//! `sframe-check.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sframe_input::pattern::{InvalidPattern, Pattern, PatternRoom, Wildcards};
use sframe_input::{open_file, read_named, read_up_to};
use sframe_record::text::printable_path;
use toml::Spanned;
use toml::value::Date;

use crate::config_error::{ConfigDefect, ConfigError};
use crate::pattern::RulePattern;
use crate::policy::{Known, Policy};
use crate::suppression::Suppression;

/// The name of the file.
const NAME: &str = "sframe-check.toml";
/// The maximum size in bytes.
const MOST: u64 = 1 << 20;

/// The nearest `sframe-check.toml`, in `folder` or above it: whatever has that name, whether or not it is a file.
///
/// # Errors
/// Returns an error if it is unknown whether a folder has one.
pub fn find(folder: &Path) -> Result<Option<PathBuf>, ConfigError> {
    for path in folder.ancestors().map(|folder| folder.join(NAME)) {
        match fs::symlink_metadata(&path) {
            Ok(_) => return Ok(Some(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(about(&path, ConfigDefect::Unasked(error))),
        }
    }
    Ok(None)
}

/// Reads a configuration that [`find`] has found, which has to be a regular file or a link to one.
///
/// # Errors
/// Returns an error if it cannot be read, is larger than 1 MiB, or is no valid configuration.
pub fn read_found(path: &Path) -> Result<Policy, ConfigError> {
    let bytes = open_file(path).and_then(|file| read_up_to(file, MOST));
    parse_bytes(path, bytes.map_err(|error| about(path, ConfigDefect::Unasked(error)))?)
}

/// Reads a configuration that the user has named, which may be a pipe.
///
/// # Errors
/// Returns an error if it cannot be read, is larger than 1 MiB, or is no valid configuration.
pub fn read(path: &Path) -> Result<Policy, ConfigError> {
    let bytes = read_named(path, MOST).map_err(|error| about(path, ConfigDefect::Io(error)))?;
    parse_bytes(path, bytes)
}

/// An error about the whole file.
fn about(path: &Path, defect: ConfigDefect) -> ConfigError {
    ConfigError { place: printable_path(path), defect }
}

fn parse_bytes(path: &Path, bytes: Vec<u8>) -> Result<Policy, ConfigError> {
    match String::from_utf8(bytes) {
        Ok(text) => parse(&printable_path(path), &text),
        Err(_) => Err(about(path, ConfigDefect::NotText)),
    }
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// How cases of known defects count.
    known: Option<Spanned<String>>,
    /// The levels of rules, groups, globs and known defects.
    #[serde(default)]
    rules: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    suppress: Vec<Spanned<Suppress>>,
}

/// `[[suppress]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Suppress {
    reason: String,
    rule: Option<String>,
    known: Option<String>,
    path: Option<String>,
    section: Option<String>,
    function: Option<String>,
    build_id: Option<String>,
    expires: Option<toml::Value>,
}

/// Parses the text of the file called `name`.
fn parse(name: &str, text: &str) -> Result<Policy, ConfigError> {
    let place = |span: std::ops::Range<usize>| {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        format!("{name}:{line}")
    };
    let at = |span, defect| ConfigError { place: place(span), defect };
    let config: Config = toml::from_str(text).map_err(|error| {
        at(error.span().unwrap_or(0..0), ConfigDefect::Syntax(error.message().to_owned()))
    })?;
    let mut policy = Policy::default();
    if let Some(known) = config.known {
        policy.known(match known.get_ref().as_str() {
            "deny" => Known::Deny,
            "warn" => Known::Warn,
            "allow" => Known::Allow,
            other => return Err(at(known.span(), ConfigDefect::Level(other.to_owned()))),
        });
    }
    let mut room = PatternRoom::default();
    // In the order of the file: later ones win.
    let mut levels: Vec<_> = config.rules.into_iter().collect();
    levels.sort_by_key(|(pattern, _)| pattern.span().start);
    for (pattern, level) in levels {
        let selects = rules(pattern.get_ref(), &mut room);
        let selects = selects.map_err(|defect| at(pattern.span(), defect))?;
        match level.get_ref().as_str() {
            "allow" => policy.allow(selects),
            "warn" => policy.warn(selects),
            "deny" => policy.deny(selects),
            other => return Err(at(level.span(), ConfigDefect::Level(other.to_owned()))),
        }
    }
    for suppress in config.suppress {
        let span = suppress.span();
        let suppression = suppression(suppress.into_inner(), place(span.clone()), &mut room);
        policy.suppress(suppression.map_err(|defect| at(span, defect))?);
    }
    Ok(policy)
}

fn suppression(
    suppress: Suppress,
    place: String,
    room: &mut PatternRoom,
) -> Result<Suppression, ConfigDefect> {
    let Suppress { reason, rule, known, path, section, function, build_id, expires } = suppress;
    if reason.trim().is_empty() {
        return Err(ConfigDefect::NoReason);
    }
    if let (Some(_), Some(_)) = (&rule, &known) {
        return Err(ConfigDefect::RuleAndKnown);
    }
    if let Some(known) = known.as_deref().filter(|known| sframe_defects::find(known).is_none()) {
        return Err(ConfigDefect::Known(known.to_owned()));
    }
    let rule = rule.or(known).map(|text| rules(&text, room)).transpose()?;
    let is_any = path.is_none() && section.is_none() && function.is_none() && build_id.is_none();
    if is_any && rule.is_none() {
        return Err(ConfigDefect::NoSelection);
    }
    if build_id.as_deref().is_some_and(|id| id.len() < 8) {
        return Err(ConfigDefect::ShortBuildId);
    }
    Ok(Suppression {
        reason,
        rule,
        path: glob(path, room)?,
        section: glob(section, room)?,
        function: glob(function, room)?,
        build_id,
        expires: expires.map(date).transpose()?,
        place,
    })
}

/// A pattern that selects rules.
fn rules(text: &str, room: &mut PatternRoom) -> Result<RulePattern, ConfigDefect> {
    room.take(text).map_err(|error| InvalidPattern::new(text, error))?;
    Ok(text.parse()?)
}

/// A pattern of paths or names; with a slash, wildcards match within names.
fn glob(text: Option<String>, room: &mut PatternRoom) -> Result<Option<Pattern>, InvalidPattern> {
    let Some(text) = text else { return Ok(None) };
    let within = if text.contains('/') { Wildcards::WithinNames } else { Wildcards::Any };
    let pattern = room.take(&text).and_then(|()| Pattern::new(&text, within));
    pattern.map(Some).map_err(|error| InvalidPattern::new(&text, error))
}

/// A date, which may be in quotes.
fn date(value: toml::Value) -> Result<Date, ConfigDefect> {
    let date = match value {
        toml::Value::Datetime(date) => date,
        toml::Value::String(text) => text.parse().map_err(|_| ConfigDefect::Date)?,
        _ => return Err(ConfigDefect::Date),
    };
    date.date.filter(|_| date.time.is_none()).ok_or(ConfigDefect::Date)
}

#[cfg(test)]
mod tests {
    use sframe_record::Severity;

    use super::{Date, parse};
    use crate::policy::Counts;

    #[test]
    fn levels_apply_in_the_order_of_the_file() {
        let text =
            "known = \"deny\"\n[rules]\n\"segment-*\" = \"deny\"\nsegment-missing = \"warn\"\n";
        let policy = parse("c.toml", text).expect("a configuration");
        let of = |rule| policy.level(rule, Severity::Lint, None);
        assert_eq!(of("segment-missing"), Counts::As(Severity::Warning));
        assert_eq!(of("segment-long"), Counts::As(Severity::Error));
    }

    #[test]
    fn dates_may_be_in_quotes() {
        let expires = |value: &str| {
            let text = format!("[[suppress]]\nreason = \"x\"\npath = \"a\"\nexpires = {value}");
            parse("c.toml", &text)
                .map(|policy| policy.suppressions.first().and_then(|of| of.expires))
        };
        let day = Some(Date { year: 2027, month: 1, day: 31 });
        assert_eq!(expires("2027-01-31").expect("a date"), day);
        assert_eq!(expires("\"2027-01-31\"").expect("a date"), day);
        for wrong in ["\"soon\"", "2027", "\"2027-02-30\"", "\"2027-01-31T00:00:00Z\""] {
            assert!(expires(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, part) in [
            ("known = \"maybe\"", 1, "\"maybe\" is no level"),
            ("\n[rules]\nno-such-rule = \"warn\"", 3, "no rule, group or known defect"),
            ("[rules]\nfp-lost = \"error\"", 2, "\"error\" is no level"),
            ("\n\n[[suppress]]\nrule = \"fp-lost\"\n", 3, "missing field `reason`"),
            ("[[suppress]]\nreason = \" \"\nrule = \"fp-lost\"", 1, "needs a reason"),
            ("[[suppress]]\nreason = \"x\"", 1, "at least one of"),
            ("[[suppress]]\nreason = \"x\"\nknown = \"y\"", 1, "no known defect"),
            ("[[suppress]]\nreason = \"x\"\npath = \"[\"", 1, "not a valid pattern"),
            (
                "[[suppress]]\nreason = \"x\"\npath = \"a\"\nexpires = 2027-01-31T00:00:00Z",
                1,
                "without a time",
            ),
            ("[[suppress]]\nreason = \"x\"\nbuild-id = \"ab\"", 1, "first 8 digits"),
            ("unknown = 1", 1, "unknown field"),
        ] {
            let error = parse("c.toml", text).expect_err(text).to_string();
            assert!(error.starts_with(&format!("c.toml:{line}: ")), "{error}");
            assert!(error.contains(part), "{error}");
        }
    }
}
