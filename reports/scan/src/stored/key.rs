//! Everything that affects results, apart from the bytes of the files.

use std::fmt::Write as _;

use sframe_store::{ContentHash, Key};
use sframe_validator::finding::Keep;
use sframe_validator::rules::Rule;

use crate::CheckOptions;
use sframe_input::DebugPackages;
use sframe_record::catalogue;

/// The key of a scan with these options: this program, its rules, and the options that affect the records. Folders of
/// separate debug files are represented by their names, not their contents; packages of debug files by their build
/// IDs.
#[must_use]
pub fn key(options: &CheckOptions) -> Key {
    Key {
        tool: concat!("sframe-check ", env!("CARGO_PKG_VERSION")).to_owned(),
        rules: ContentHash::of(rules().as_bytes()),
        options: ContentHash::of(option_text(options).as_bytes()),
    }
}

/// The parts of the catalogue that appear in findings.
fn rules() -> String {
    let mut text = String::new();
    for rule in catalogue::all() {
        let (name, severity, group) = (rule.name, rule.severity.name(), rule.group.name());
        let _ = writeln!(text, "{name} {severity} {group} {}", rule.page.summary);
    }
    text
}

fn option_text(options: &CheckOptions) -> String {
    let names = |rules: &[&'static Rule]| {
        let mut names: Vec<_> = rules.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.join(" ")
    };
    let CheckOptions {
        validator,
        only,
        ignore,
        against,
        thorough,
        call_sites,
        coverage,
        forecast,
        consumers,
        named_examples,
        debug_dirs,
        ..
    } = options;
    let (only, ignore) = (names(only), names(ignore));
    let all = validator.keep == Keep::All;
    let mut text = format!(
        "{validator:?}\nall {all}\nonly {only}\nignore {ignore}\nagainst {against:?}\nthorough {thorough}\ncall sites {call_sites}\ncoverage {coverage} \
         {named_examples}\ndebug {debug_dirs:?}\n"
    );
    let _ = writeln!(text, "{:?}", options.limits);
    // A scan without a forecast has the key that it had before there were any.
    if !forecast.is_empty() {
        let _ = writeln!(text, "forecast {forecast:?}");
    }
    if options.why {
        let _ = writeln!(text, "why");
    }
    if options.no_red_zone {
        let _ = writeln!(text, "no red zone");
    }
    if !consumers.is_empty() {
        let names: Vec<&str> = consumers.iter().map(|of| of.page().name).collect();
        let _ = writeln!(text, "consumers {names:?}");
    }
    let ids = options.debug_packages.as_deref().map(DebugPackages::build_ids);
    let _ = writeln!(text, "debug packages {:02x?}", ids.unwrap_or_default());
    text
}
