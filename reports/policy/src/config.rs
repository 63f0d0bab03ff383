//! `sframe-check.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sframe_input::pattern::{Pattern, PatternRoom, Wildcards, quoted};
use sframe_input::{open_file, plain_error, read_named, read_up_to};
use sframe_record::text::printable_path;
use toml::Spanned;
use toml::value::Date;

use crate::pattern::{NoSuchRule, RulePattern};
use crate::policy::{Known, Policy};
use crate::suppression::Suppression;

/// The name of the file.
const NAME: &str = "sframe-check.toml";
/// The maximum size in bytes.
const MOST: u64 = 1 << 20;

/// Why a configuration cannot be used: the file, the line if one is to blame, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    place: String,
    message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for ConfigError {}

/// The nearest `sframe-check.toml`, in `folder` or above it: whatever has that name, whether or not it is a file.
///
/// # Errors
/// Returns an error if it is unknown whether a folder has one.
pub fn find(folder: &Path) -> Result<Option<PathBuf>, ConfigError> {
    for path in folder.ancestors().map(|folder| folder.join(NAME)) {
        match fs::symlink_metadata(&path) {
            Ok(_) => return Ok(Some(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unusable(&path, &error)),
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
    parse_bytes(path, bytes.map_err(|error| unusable(path, &error))?)
}

/// Reads a configuration that the user has named, which may be a pipe.
///
/// # Errors
/// Returns an error if it cannot be read, is larger than 1 MiB, or is no valid configuration.
pub fn read(path: &Path) -> Result<Policy, ConfigError> {
    let failed = |error| ConfigError { place: printable_path(path), message: plain_error(&error) };
    parse_bytes(path, read_named(path, MOST).map_err(failed)?)
}

/// A configuration that nobody has named cannot be used.
fn unusable(path: &Path, error: &io::Error) -> ConfigError {
    let why = plain_error(error);
    let message =
        format!("the configuration cannot be read: {why} (--no-config checks without it)");
    ConfigError { place: printable_path(path), message }
}

fn parse_bytes(path: &Path, bytes: Vec<u8>) -> Result<Policy, ConfigError> {
    let place = printable_path(path);
    match String::from_utf8(bytes) {
        Ok(text) => parse(&place, &text),
        Err(_) => {
            let message = "it is no configuration: it is not text".to_owned();
            Err(ConfigError { place, message })
        }
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
    let at = |span: std::ops::Range<usize>, message: String| {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        ConfigError { place: format!("{name}:{line}"), message }
    };
    let config: Config = toml::from_str(text)
        .map_err(|error| at(error.span().unwrap_or(0..0), error.message().to_owned()))?;
    let mut policy = Policy::default();
    if let Some(known) = config.known {
        policy.known(match known.get_ref().as_str() {
            "deny" => Known::Deny,
            "warn" => Known::Warn,
            "allow" => Known::Allow,
            other => return Err(at(known.span(), not_a_level(other))),
        });
    }
    let mut room = PatternRoom::default();
    // In the order of the file: later ones win.
    let mut levels: Vec<_> = config.rules.into_iter().collect();
    levels.sort_by_key(|(pattern, _)| pattern.span().start);
    for (pattern, level) in levels {
        let selects = rules(pattern.get_ref(), &mut room);
        let selects = selects.map_err(|message| at(pattern.span(), message))?;
        match level.get_ref().as_str() {
            "allow" => policy.allow(selects),
            "warn" => policy.warn(selects),
            "deny" => policy.deny(selects),
            other => return Err(at(level.span(), not_a_level(other))),
        }
    }
    for suppress in config.suppress {
        let span = suppress.span();
        let place = at(span.clone(), String::new()).place;
        let suppression = suppression(suppress.into_inner(), place, &mut room);
        policy.suppress(suppression.map_err(|message| at(span, message))?);
    }
    Ok(policy)
}

fn not_a_level(text: &str) -> String {
    format!("\"{text}\" is no level: allowed are \"allow\", \"warn\" and \"deny\"")
}

fn suppression(
    suppress: Suppress,
    place: String,
    room: &mut PatternRoom,
) -> Result<Suppression, String> {
    let Suppress { reason, rule, known, path, section, function, build_id, expires } = suppress;
    if reason.trim().is_empty() {
        return Err("a suppression needs a reason".to_owned());
    }
    if let (Some(_), Some(_)) = (&rule, &known) {
        return Err("a suppression is by `rule` or by `known`, not by both".to_owned());
    }
    if let Some(known) = known.as_deref().filter(|known| sframe_defects::find(known).is_none()) {
        return Err(format!("\"{known}\" is no known defect: `explain --list-known` lists them"));
    }
    let rule = rule.or(known).map(|text| rules(&text, room)).transpose()?;
    let is_any = path.is_none() && section.is_none() && function.is_none() && build_id.is_none();
    if is_any && rule.is_none() {
        let needed = "`rule`, `known`, `path`, `section`, `function` or `build-id`";
        return Err(format!("a suppression needs at least one of {needed}"));
    }
    if build_id.as_deref().is_some_and(|id| id.len() < 8) {
        return Err("`build-id` needs at least the first 8 digits".to_owned());
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
fn rules(text: &str, room: &mut PatternRoom) -> Result<RulePattern, String> {
    room.take(text).map_err(|error| quoted(text, &error))?;
    text.parse().map_err(|error: NoSuchRule| error.to_string())
}

/// A pattern of paths or names; with a slash, wildcards match within names.
fn glob(text: Option<String>, room: &mut PatternRoom) -> Result<Option<Pattern>, String> {
    let Some(text) = text else { return Ok(None) };
    let within = if text.contains('/') { Wildcards::WithinNames } else { Wildcards::Any };
    let pattern = room.take(&text).and_then(|()| Pattern::new(&text, within));
    pattern.map(Some).map_err(|error| quoted(&text, &error))
}

/// A date, which may be in quotes.
fn date(value: toml::Value) -> Result<Date, String> {
    let wrong = || "`expires` is a date without a time, such as 2027-01-31".to_owned();
    let date = match value {
        toml::Value::Datetime(date) => date,
        toml::Value::String(text) => text.parse().map_err(|_| wrong())?,
        _ => return Err(wrong()),
    };
    date.date.filter(|_| date.time.is_none()).ok_or_else(wrong)
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
