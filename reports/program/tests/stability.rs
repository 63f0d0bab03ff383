//! What docs/stability.md promises, against the record of the last release, `released.txt`: whatever is recorded is still
//! there. `SFRAME_RELEASE=1 cargo test -p sframe-check --test stability` records a new version.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sframe_render::explain::{self, Subject};
use sframe_validator::rules::Group;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The fields of documents, by following the references of a schema from its root.
struct Fields<'s> {
    schema: &'s Value,
    /// The references on the way from the root: a type may contain itself.
    open: Vec<String>,
    lines: BTreeSet<String>,
}

impl Fields<'_> {
    /// Lists the fields, values and types of the part of a schema that describes documents at a path.
    fn list(&mut self, path: &str, part: &Value) {
        let reference = part["$ref"].as_str().unwrap_or_default();
        if !reference.is_empty() && !self.open.iter().any(|open| open == reference) {
            self.open.push(reference.to_owned());
            let schema = self.schema;
            let target = schema.pointer(reference.trim_start_matches('#'));
            self.list(path, target.expect("a definition"));
            self.open.pop();
        }
        for alternative in ["oneOf", "anyOf", "allOf"] {
            for part in part[alternative].as_array().into_iter().flatten() {
                self.list(path, part);
            }
        }
        if !part["type"].is_null() {
            self.lines.insert(format!("{path}: {}", part["type"]));
        }
        let values = part["enum"].as_array().into_iter().flatten().chain(part.get("const"));
        self.lines.extend(values.map(|value| format!("{path} = {value}")));
        for name in part["required"].as_array().into_iter().flatten() {
            self.lines.insert(format!("{path}.{} is always there", name.as_str().expect("a name")));
        }
        for (name, part) in part["properties"].as_object().into_iter().flatten() {
            self.list(&format!("{path}.{name}"), part);
        }
        if part["items"].is_object() {
            self.list(&format!("{path}[]"), &part["items"]);
        }
        if part["additionalProperties"].is_object() {
            self.list(&format!("{path}.*"), &part["additionalProperties"]);
        }
        for (place, part) in part["prefixItems"].as_array().into_iter().flatten().enumerate() {
            self.list(&format!("{path}[{place}]"), part);
        }
    }
}

fn fields(name: &str, schema: &Value) -> BTreeSet<String> {
    let mut fields = Fields { schema, open: Vec::new(), lines: BTreeSet::new() };
    fields.list(name, schema);
    fields.lines
}

/// The fields of all documents that have a schema.
fn documents() -> impl Iterator<Item = String> {
    let folders = [here("schema"), here("../history/schema")];
    let entries = folders.into_iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    entries.flat_map(|entry| {
        let path = entry.expect("an entry").path();
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let name = file.strip_suffix(".schema.json").expect("a schema");
        let text = fs::read_to_string(&path).expect("readable");
        fields(&format!("json {name}"), &serde_json::from_str(&text).expect("JSON"))
    })
}

/// The names that `explain` knows, and those of groups.
fn names() -> impl Iterator<Item = String> {
    let named = explain::subjects().map(|(name, subject)| {
        let kind = match subject {
            Subject::Rule(_) => "rule",
            Subject::Defect(_) => "known-defect",
            Subject::Cause(_) => "cause",
            Subject::Word(_) => "word",
            Subject::Message(_) => "message",
            Subject::Consumer(_) => "consumer",
        };
        format!("{kind} {name}")
    });
    named.chain(Group::ALL.into_iter().map(|group| format!("group {}", group.name())))
}

/// The rows of the table of exit statuses.
fn statuses() -> Vec<String> {
    let page = fs::read_to_string(here("../../docs/reports.md")).expect("readable");
    let rows = page.lines().skip_while(|line| *line != "## Exit status").skip(1);
    let rows = rows.take_while(|line| !line.starts_with("## "));
    let cells =
        rows.filter_map(|row| row.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let numbered = cells.filter(|(status, _)| status.parse::<u8>().is_ok());
    numbered.map(|(status, meaning)| format!("exit {status}: {meaning}")).collect()
}

/// What is promised, as it is now.
fn present() -> BTreeSet<String> {
    let statuses = statuses();
    assert!(statuses.len() >= 8, "{statuses:?}");
    documents().chain(names()).chain(statuses).collect()
}

/// The part of a version that a release raises when it breaks a promise: `0.2` of 0.2.7, `1` of 1.4.0.
fn series(version: &str) -> &str {
    let end = if version.starts_with("0.") { version.rfind('.') } else { version.find('.') };
    &version[..end.expect("a version")]
}

/// The types in a line that lists several, each in a line of its own: so a schema says it that also lists the values.
fn alternatives(line: &str) -> Option<BTreeSet<String>> {
    let (path, types) = line.split_once(": ")?;
    let types: Vec<Value> = serde_json::from_str(types).ok()?;
    Some(types.into_iter().map(|one| format!("{path}: {one}")).collect())
}

/// Checks that nothing has vanished that a release had, or makes the record of a new release.
fn compare(
    record: &str,
    version: &str,
    present: &BTreeSet<String>,
    is_release: bool,
) -> Result<Option<String>, String> {
    let mut lines = record.lines();
    let recorded = lines.next().and_then(|line| line.strip_prefix("version ")).unwrap_or("");
    let is_there = |line: &str| {
        present.contains(line) || alternatives(line).is_some_and(|each| each.is_subset(present))
    };
    let gone: Vec<&str> = lines.filter(|line| !is_there(line)).collect();
    let is_breaking = recorded.is_empty() || series(recorded) != series(version);
    let may_lose = is_release && is_breaking;
    if !may_lose && !gone.is_empty() {
        return Err(format!("version {recorded} had, and this has not:\n{}", gone.join("\n")));
    }
    if is_release {
        let lines: Vec<&str> = present.iter().map(String::as_str).collect();
        return Ok(Some(format!("version {version}\n{}\n", lines.join("\n"))));
    }
    match recorded == version {
        true => Ok(None),
        false => Err(format!("released.txt is of version {recorded}: SFRAME_RELEASE=1 renews it")),
    }
}

#[test]
fn nothing_that_a_release_had_has_vanished() {
    let path = here("tests/released.txt");
    let record = fs::read_to_string(&path).unwrap_or_default();
    let is_release = std::env::var_os("SFRAME_RELEASE").is_some();
    match compare(&record, VERSION, &present(), is_release) {
        Ok(Some(record)) => fs::write(&path, record).expect("the file can be written"),
        Ok(None) => {}
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn additions_are_allowed_and_losses_only_in_a_new_series() {
    let set = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
    let record = "version 0.2.3\nrule a\nrule b\n";
    let (more, less): (BTreeSet<_>, BTreeSet<_>) =
        (set(&["rule a", "rule b", "rule c"]), set(&["rule a"]));
    assert_eq!(compare(record, "0.2.3", &more, false), Ok(None));
    let error = compare(record, "0.2.3", &less, false).expect_err("a rule has vanished");
    assert!(error.ends_with("\nrule b"), "{error}");
    assert!(compare(record, "0.2.4", &less, true).is_err());
    assert!(compare(record, "0.3.0", &less, false).is_err());
    let renewed = "version 0.3.0\nrule a\n".to_owned();
    assert_eq!(compare(record, "0.3.0", &less, true), Ok(Some(renewed)));
    // A new version needs a new record, also if nothing has vanished.
    assert!(compare(record, "0.2.4", &more, false).is_err());
    assert_eq!((series("0.2.3"), series("1.4.0")), ("0.2", "1"));
    // Text or null, as one type or as two.
    let record = "version 0.2.3\njson x.a: [\"string\",\"null\"]\n";
    let (both, one): (BTreeSet<_>, BTreeSet<_>) =
        (set(&["json x.a: \"string\"", "json x.a: \"null\""]), set(&["json x.a: \"string\""]));
    assert_eq!(compare(record, "0.2.3", &both, false), Ok(None));
    assert!(compare(record, "0.2.3", &one, false).is_err());
}

#[test]
fn changed_fields_of_a_schema_are_losses() {
    let schema = |text: &str| fields("json x", &serde_json::from_str(text).expect("JSON"));
    let old = schema(
        r##"{"type": "object", "required": ["kind"], "properties": {"kind": {"$ref": "#/$defs/Kind"},
            "count": {"type": "integer"}, "of": {"items": {"$ref": "#"}, "type": "array"}},
            "$defs": {"Kind": {"enum": ["one", "two"], "type": "string"}}}"##,
    );
    let new = schema(
        r##"{"type": "object", "properties": {"kind": {"$ref": "#/$defs/Other"},
            "count": {"type": "string"}, "more": {"type": "string"}},
            "$defs": {"Other": {"oneOf": [{"const": "one", "type": "string"}]}}}"##,
    );
    let lost: Vec<&str> = old.difference(&new).map(String::as_str).collect();
    let expected = [
        "json x.count: \"integer\"",
        "json x.kind = \"two\"",
        "json x.kind is always there",
        "json x.of: \"array\"",
        "json x.of[]: \"object\"",
    ];
    // The array has documents of the same kind, whose fields are listed once more.
    assert!(expected.iter().all(|line| lost.contains(line)), "{lost:#?}");
    assert!(!lost.contains(&"json x.kind = \"one\""), "{lost:#?}");
}
