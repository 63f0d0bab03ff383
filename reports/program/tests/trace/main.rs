//! `trace`: programs whose frames are known, because a compiler has made them, or because their assembly describes
//! them wrongly on purpose.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod control;
mod known;
mod programs;

use std::path::{Path, PathBuf};

use serde_json::Value;
use sframe_corpus::{program, tools};

/// Where the sources of the programs are.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trace/programs")
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/trace.schema.json");
    let text = std::fs::read_to_string(path).expect("readable");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Whether this system permits tracing.
fn is_permitted() -> bool {
    let run = program::run(Path::new("/"), &["trace", "--max-steps", "9", "--", "/bin/true"]);
    if run.status == 3 {
        tools::missing("the permission to trace", run.stderr.trim());
    }
    run.status != 3
}

/// The report about a program, which is in `folder`, and what it printed.
struct Traced {
    status: i32,
    text: String,
    report: Value,
}

fn trace(folder: &Path, options: &[&str], command: &[&str]) -> Traced {
    let mut arguments = vec!["trace", "--format", "json", "--output", "report.json"];
    arguments.extend_from_slice(options);
    arguments.push("--");
    arguments.extend_from_slice(command);
    let run = program::run(folder, &arguments);
    assert_ne!(run.status, 3, "{command:?}: {}", run.stderr);
    let text = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let errors: Vec<String> = schema().iter_errors(&report).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    Traced { status: run.status, text: run.text, report }
}

/// The counts of a witness in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    right: u64,
    wrong: u64,
    no_row: u64,
    undecided: u64,
}

impl Traced {
    /// The part of the report about a file.
    fn file(&self, name: &str) -> &Value {
        let files = self.report["files"].as_array().expect("files");
        let is_it = |file: &&Value| {
            file["path"].as_str().is_some_and(|path| path.rsplit('/').next() == Some(name))
        };
        files.iter().find(is_it).unwrap_or_else(|| panic!("{name} in {}", self.report))
    }

    /// The part of the report about a witness in a file.
    fn witness(&self, file: &str, witness: &str) -> &Value {
        let all = self.file(file)["witnesses"].as_array().expect("witnesses");
        all.iter().find(|found| found["witness"] == witness).unwrap_or(&Value::Null)
    }

    fn counts(&self, file: &str, witness: &str) -> Counts {
        let found = self.witness(file, witness);
        let count =
            |name: &str| found[name].as_u64().unwrap_or_else(|| panic!("{witness}: {found}"));
        let counts = Counts {
            right: count("right"),
            wrong: count("wrong"),
            no_row: count("no_row"),
            undecided: count("undecided"),
        };
        let Counts { right, wrong, no_row, undecided } = counts;
        assert_eq!(right + wrong + no_row + undecided, self.file(file)["pcs"]);
        counts
    }

    /// All wrong rows: the file, the witness, the function, the fields and the number of PCs.
    fn wrong(&self) -> Vec<(String, String, String, String, u64)> {
        let mut found = Vec::new();
        for file in self.report["files"].as_array().expect("files") {
            for witness in file["witnesses"].as_array().expect("witnesses") {
                for function in witness["functions"].as_array().expect("functions") {
                    let text = |value: &Value| value.as_str().expect("text").to_owned();
                    let fields = function["fields"].as_array().expect("fields");
                    let fields: Vec<String> = fields.iter().map(text).collect();
                    found.push((
                        text(&file["path"]).rsplit('/').next().expect("a name").to_owned(),
                        text(&witness["witness"]),
                        text(&function["function"]),
                        fields.join(" "),
                        function["pcs"].as_u64().expect("a number"),
                    ));
                }
            }
        }
        found
    }

    /// The reasons why rows of a witness in a file were not judged.
    fn reasons(&self, file: &str, witness: &str) -> Vec<String> {
        let found = self.witness(file, witness)["reasons"].as_array().expect("reasons").clone();
        found.iter().map(|reason| reason["reason"].as_str().expect("text").to_owned()).collect()
    }
}
