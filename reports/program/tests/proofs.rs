//! The proofs of findings are what `lookup --why` proves at the same PC, to the step, in JSON and in HTML. That ways are those of the
//! processor is tested where they are found (`oracle/tests/way.rs`).

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use serde_json::{Value, json};
use sframe_corpus::repository;

/// Files in which the code decides: what is wrong is in the notes beside them.
const FILES: [&str; 8] = [
    "corpus/differences/register-in-place/2.47.50.o",
    "corpus/wrong-cfi/return-address-in-link-register/2.47.50.o",
    "corpus/wrong-cfi/fragment-with-frame-of-call/llvm-23.o",
    "corpus/wrong-cfi/directive-after-next-instruction/2.47.50.o",
    "corpus/registers/rule-names-other-slot/2.47.50.o",
    "corpus/edges/part-with-frame-pointer/2.47.50.o",
    "corpus/golden/2.44/x86_64/handwritten.so",
    "corpus/golden/2.47.50/aarch64/handwritten.so",
];

fn run(arguments: &[&str]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let run = sframe_corpus::program::run(&repository(), &arguments);
    assert!(run.status < 3, "{arguments:?}: {run:?}");
    run.text
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The data in an element of a page.
fn element(page: &str, id: &str) -> Value {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">")).expect("the element");
    read(rest.split_once("</script>").expect("its end").0)
}

/// The findings of a file, as JSON has them, in the order of the page.
fn findings(file: &str) -> Vec<Value> {
    let report = read(&run(&["--thorough", "--why", "--format", "json", file]));
    list(&report["files"][0]["findings"]).to_vec()
}

fn place(step: &Value) -> String {
    let address = step["instruction"]["address"].as_str().expect("an address");
    match step["code_section"].as_str() {
        Some(section) => format!("{section}+{address}"),
        None => address.to_owned(),
    }
}

/// The rules that a step knows, in the columns of the page.
fn known(step: &Value) -> Vec<String> {
    let rule = |rule: &Value| rule.as_str().unwrap_or("?").to_owned();
    let code = &step["code"];
    let signed = if code["ra_signed"] == json!(true) { " signed" } else { "" };
    let frame = [rule(&code["cfa"]), rule(&code["ra"]) + signed, rule(&code["fp"])];
    frame.into_iter().chain(list(&step["registers"]).iter().map(|it| rule(&it["rule"]))).collect()
}

#[test]
fn findings_have_the_proof_of_lookup() {
    let mut proofs = 0;
    for file in FILES {
        for finding in findings(file) {
            let why = &finding["why"];
            let is_decided = !finding["difference"]["ruling"]["proof"].is_null()
                || finding["rule"] == "register-contradicts-code";
            assert_eq!(!why.is_null(), is_decided, "{file}: {finding}");
            let Some(last) = list(&why["way"]).last() else { continue };
            let proof = &finding["difference"]["ruling"]["proof"];
            if !proof.is_null() {
                assert_eq!(
                    last["instruction"], proof["instruction"],
                    "{file}: the one that decides"
                );
                let (known, code) = (&last["code"], proof);
                assert_eq!([&known["cfa"], &known["ra"]], [&code["cfa"], &code["ra"]], "{file}");
            }
            let place = place(last);
            let mut arguments = vec!["lookup", "--why", "--format", "json", file, &place];
            for register in list(&last["registers"]) {
                arguments.extend(["--register", register["name"].as_str().expect("a name")]);
            }
            let answer = read(&run(&arguments));
            let (answer, mut why) = (&answer["places"][0], why.clone());
            // Where the frame is wrong as well, a look-up names the clauses about the frame.
            if finding["rule"] == "register-contradicts-code" && !answer["wrong"].is_null() {
                why["clause"] = answer["why"]["clause"].clone();
            }
            assert_eq!(answer["why"], why, "{file} {place}");
            proofs += 1;
        }
    }
    assert!(proofs >= FILES.len(), "{proofs} proofs");
}

#[test]
fn pages_have_the_steps_of_lookup() {
    let (mut steps, mut gaps, mut notes) = (0, 0, 0);
    for file in FILES {
        let page = run(&["--thorough", "--format", "html", file]);
        let details = element(&page, "details-0");
        let text = |place: &Value| {
            let place = usize::try_from(place.as_u64().expect("a number")).expect("small");
            details["strings"][place].as_str().expect("a text").to_owned()
        };
        let shown = list(&details["files"][0]["findings"]);
        let findings = findings(file);
        assert_eq!(shown.len(), findings.len(), "{file}");
        for (shown, finding) in shown.iter().zip(&findings) {
            let (proof, why) = (&shown["why"], &finding["why"]);
            assert_eq!(proof.is_null(), why.is_null(), "{file}: {finding}");
            let mut way = list(&why["way"]).iter().peekable();
            let mut state: Option<Vec<String>> = None;
            for line in list(&proof["lines"]) {
                if let [count, words] = list(line) {
                    assert_eq!(words, "that do not change this");
                    for _ in 0..count.as_u64().expect("a number") {
                        assert_eq!(Some(known(way.next().expect("a step"))), state, "{file}");
                    }
                    gaps += 1;
                    continue;
                }
                let step = way.next().expect("a step");
                assert_eq!(text(&line[0]), place(step), "{file}");
                assert_eq!(text(&line[1]), step["instruction"]["text"], "{file}");
                state = match list(&line[2]) {
                    [] => state,
                    rules => Some(rules.iter().map(text).collect()),
                };
                assert_eq!(
                    state,
                    Some(known(step)),
                    "{file}: what is known is shown where it changes"
                );
                let joins = step["ways"].as_u64().is_some_and(|ways| ways > 1);
                let has_note = joins || step["arrival"] != "following";
                assert_eq!(!line[3].is_null(), has_note, "{file}: {step}");
                (steps, notes) = (steps + 1, notes + usize::from(has_note));
            }
            assert!(way.next().is_none(), "{file}: the page ends before the way");
            if let Some(clause) = why["clause"].as_str() {
                let last = text(list(&proof["sentences"]).last().expect("a sentence"));
                assert_eq!(last, format!("decided by {clause}"), "{file}");
            }
        }
    }
    assert!(steps > 50 && gaps > 0 && notes > 6, "{steps} steps, {gaps} gaps, {notes} notes");
}

/// Plain runs do not look for ways.
#[test]
fn proofs_are_found_for_those_who_ask() {
    let file = FILES[0];
    for format in ["json", "ndjson"] {
        assert!(!run(&["--thorough", "--format", format, file]).contains("\"way\""), "{format}");
        assert!(run(&["--thorough", "--why", "--format", format, file]).contains("\"way\""));
    }
}

/// A report that is kept as JSON has the same page.
#[test]
fn stored_reports_keep_their_proofs() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, name) in [("json", "report.json"), ("ndjson", "report.ndjson")] {
        let path = folder.path().join(name);
        let file = FILES[3];
        let text = run(&["--thorough", "--why", "--format", format, file]);
        std::fs::write(&path, text).expect("written");
        let shown = run(&["show", "--format", "html", path.to_str().expect("a path")]);
        let direct = run(&["--thorough", "--format", "html", file]);
        let whys = |page: &str| -> Vec<Value> {
            let details = element(page, "details-0");
            list(&details["files"][0]["findings"]).iter().map(|of| of["why"].clone()).collect()
        };
        assert_eq!(whys(&shown).len(), whys(&direct).len(), "{format}");
        assert!(whys(&direct).iter().any(|why| !why.is_null()));
        let lines = |page: &str| -> Vec<usize> {
            whys(page).iter().map(|why| list(&why["lines"]).len()).collect()
        };
        assert_eq!(lines(&shown), lines(&direct), "{format}");
    }
}
