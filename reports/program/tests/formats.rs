//! SARIF, JUnit and Markdown are what other programs accept, and say the same as JSON.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use quick_xml::events::Event;
use serde_json::Value;
use sframe_corpus::program::run;
use sframe_corpus::{corpus, empty_folder};

/// Files with all kinds of findings, one that is not ELF, and an archive.
const INPUTS: [&str; 4] = ["malformed", "differences", "golden/gold", "golden/2.44/x86_64"];

/// The results in this format.
fn printed(format: &str) -> String {
    let mut arguments = vec!["--no-config", "--pedantic", "--format", format];
    arguments.extend(INPUTS);
    run(&corpus(), &arguments).text
}

fn json() -> Value {
    serde_json::from_str(&printed("json")).expect("JSON")
}

fn findings(report: &Value) -> Vec<(&Value, &Value)> {
    let files = report["files"].as_array().expect("files");
    let of = |file: &Value| file["findings"].as_array().expect("findings").len();
    let all = files.iter().flat_map(|file| (0..of(file)).map(move |place| (file, place)));
    all.map(|(file, place)| (file, &file["findings"][place])).collect()
}

/// The schema of the SARIF committee, as a package brings it.
fn sarif_schema() -> jsonschema::Validator {
    // Packages for other systems need not be there.
    let system = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", &system])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .expect("cargo");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"] == "serde-sarif");
    let manifest = package.expect("the package")["manifest_path"].as_str().expect("a path");
    let schema: PathBuf = Path::new(manifest).with_file_name("src").join("schema.json");
    let schema: Value =
        serde_json::from_slice(&fs::read(schema).expect("the schema")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

#[test]
fn sarif_is_valid_and_complete() {
    let text = printed("sarif");
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let errors: Vec<String> =
        sarif_schema().iter_errors(&log).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let typed: serde_sarif::sarif::Sarif = serde_json::from_str(&text).expect("SARIF");
    assert_eq!(typed.runs.len(), 1);

    let report = json();
    let findings = findings(&report);
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(results.len() > 100);
    assert_eq!(results.len(), findings.len());
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    for (result, (file, finding)) in results.iter().zip(findings) {
        assert_eq!(result["ruleId"], finding["rule"]);
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index"));
        assert_eq!(rules[index.expect("an index")]["id"], finding["rule"]);
        let level = match finding["severity"].as_str() {
            Some("lint") => "note",
            other => other.expect("a severity"),
        };
        assert_eq!(result["level"], level);
        assert_eq!(result["properties"].get("known"), finding.get("known"));
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region.get("startLine").is_none(), "a line number of a binary");
        if file.get("member").is_none() && file.get("inside").is_none() {
            assert_eq!(region.get("byteOffset"), finding.get("file_offset"), "{result:#}");
        }
        let identity = &result["partialFingerprints"]["sframeCheckIdentity/v1"];
        assert_eq!(identity.as_str().map(str::len), Some(32));
    }
}

#[test]
fn suppressed_results_are_left_out_unless_asked_for() {
    let results = |options: &[&str]| {
        let mut arguments = vec!["--no-config", "--known", "allow", "--format", "sarif"];
        arguments.extend(options);
        arguments.push("differences/ld-plt-got/2.44.so");
        let log: Value = serde_json::from_str(&run(&corpus(), &arguments).text).expect("JSON");
        log["runs"][0]["results"].as_array().expect("results").clone()
    };
    assert!(results(&[]).is_empty());
    let suppressed = results(&["--sarif-suppressed"]);
    assert!(!suppressed.is_empty());
    for result in suppressed {
        let justification = result["suppressions"][0]["justification"].as_str();
        assert!(justification.is_some_and(|text| text.starts_with("known: ")), "{result:#}");
    }
}

#[test]
fn junit_has_a_failure_for_each_file_and_rule_that_is_an_error() {
    let (text, report) = (printed("junit"), json());
    let mut reader = quick_xml::Reader::from_str(&text);
    let (mut suites, mut failures, mut depth) = (0, 0, 0_i32);
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(element) => {
                depth += 1;
                match element.name().as_ref() {
                    b"testsuite" => suites += 1,
                    b"failure" => failures += 1,
                    _ => {}
                }
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    let files = report["files"].as_array().expect("files");
    let is_tested = |file: &&Value| {
        let status = file["status"].as_str().expect("a status");
        !["not-elf", "special", "unsupported"].contains(&status)
    };
    assert_eq!(suites, files.iter().filter(is_tested).count());
    let wrong: usize = files
        .iter()
        .map(|file| {
            let counts = file["counts"].as_array().expect("counts");
            let errors = counts.iter().filter(|count| count["severity"] == "error");
            let rules: std::collections::BTreeSet<_> =
                errors.map(|count| count["rule"].as_str()).collect();
            rules.len()
        })
        .sum();
    assert!(wrong > 20, "{wrong}");
    assert_eq!(failures, wrong);
}

/// Names of files and functions come from others.
#[test]
fn names_are_no_markup() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "formats-hostile");
    let name = "<img src=x onerror=alert(1)>|`**&amp;]]>.so";
    fs::copy(corpus().join("differences/register-in-place/2.44.o"), folder.join(name))
        .expect("copied");
    let printed = |format: &str| {
        run(&folder, &["--no-config", "--known", "deny", "--format", format, "."]).text
    };
    let junit = printed("junit");
    assert!(!junit.contains("<img"), "{junit}");
    let mut reader = quick_xml::Reader::from_str(&junit);
    while !matches!(reader.read_event().expect("well-formed XML"), Event::Eof) {}
    let markdown = printed("markdown");
    // In a code span nothing is markup, except for what ends it: as many backticks as begin it (CommonMark, 6.1). `|` would end the cell.
    let span = "| ``./<img src=x onerror=alert(1)>\\|`**&amp;]]>.so: f`` |";
    assert!(markdown.contains(span) && !markdown.replace(span, "").contains("<img"), "{markdown}");
    let html = printed("html");
    assert!(!html.contains("<img src=x"), "markup");
}

/// The directive after the push is missing: the row is wrong from the fourth line on.
#[test]
fn lines_of_the_source_are_valid_in_sarif() {
    let Some(tools) = sframe_corpus::tools::toolchain("2.47.50") else { return };
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "formats-lines");
    let source =
        "f:\t.cfi_startproc\n\tpush %rbp\n\tnop\n\tnop\n\tpop %rbp\n\tret\n\t.cfi_endproc\n";
    sframe_corpus::tools::assemble(&tools.join("as"), &["-g"], &folder, source).expect("an object");
    let printed = run(&folder, &["--no-config", "--thorough", "--format", "sarif", "f.o"]);
    let log: Value = serde_json::from_str(&printed.text).expect("JSON");
    let errors: Vec<String> =
        sarif_schema().iter_errors(&log).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let result = &log["runs"][0]["results"][0];
    let line = &result["locations"][0]["physicalLocation"];
    assert_eq!(line["region"]["startLine"], 3, "{result}");
    let binary = &result["relatedLocations"][0]["physicalLocation"];
    assert_eq!(binary["artifactLocation"]["uri"], "f.o", "{result}");
}

#[test]
fn every_output_has_the_same_content_as_on_standard_output() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "formats-outputs");
    let formats = ["json", "ndjson", "sarif", "junit", "markdown", "github"];
    let outputs: Vec<String> = formats
        .iter()
        .map(|format| format!("--output={format}={}", folder.join(format).display()))
        .collect();
    let mut arguments = vec!["--no-config", "--pedantic", "--format", "ndjson"];
    arguments.extend(outputs.iter().map(String::as_str));
    arguments.extend(INPUTS);
    assert_eq!(run(&corpus(), &arguments).status, 1);
    for format in formats {
        let written = fs::read_to_string(folder.join(format)).expect("written");
        assert!(written == printed(format), "{format} differs");
    }
}
