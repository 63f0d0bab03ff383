//! Who has to act on a wrong row. The truth is in `wrong-cfi/WRONG.tsv` and `differences/JUDGED.tsv`, judged by hand: the
//! author of the CFI, whose mistake SFrame inherits, or the assembler, which wrote other rows than its directives say.

use sframe_corpus::program::run;
use sframe_corpus::{corpus, wrong_cfi};
use sframe_record::{Finding, Owner};

use super::{judged, records};

/// The owners of the findings about the start of a range in a function of a file.
fn owners(options: &[&str], file: &str, function: &str, start: u64) -> Vec<(String, Owner)> {
    let options = [options, &["--all", "--no-config", "--format", "ndjson", file]].concat();
    let text = run(&corpus(), &options).text;
    let record = records(&text).next().expect("a record");
    let is_there = |finding: &&Finding<'_>| {
        let of_function = finding.function.as_ref();
        let symbol = of_function.and_then(|of| of.symbol.as_deref());
        let from = of_function.and_then(|of| of.start).map_or(0, |start| start.0);
        let code = finding.code.as_ref();
        let holds =
            |place: u64| code.is_some_and(|code| (code.start.0..code.end.0).contains(&place));
        // A fragment comes after its function, which is at the start of the section.
        let is_fragment = symbol
            .and_then(|symbol| symbol.strip_prefix(function))
            .is_some_and(|rest| rest.starts_with('.'));
        symbol == Some(function) && holds(from + start) || is_fragment && holds(start)
    };
    let there = record.findings.iter().filter(is_there);
    there.map(|finding| (finding.rule.to_string(), finding.owner)).collect()
}

fn one(rule: &str, owner: Owner) -> Vec<(String, Owner)> {
    vec![(rule.to_owned(), owner)]
}

/// The code alone does not show whether SFrame says what CFI says.
const UNKNOWN: (&str, Owner) = ("sframe-contradicts-code", Owner::Unknown);

#[test]
fn inherited_errors_are_their_authors() {
    let proven =
        wrong_cfi::list().into_iter().filter(|wrong| wrong.is_proven && wrong.wrong == "assembly");
    let mut seen = 0;
    for wrong in proven {
        let file = format!("wrong-cfi/{}", wrong.file);
        let of = |options: &[&str]| owners(options, &file, &wrong.function, wrong.range.start);
        assert_eq!(of(&["--against", "code"]), one(UNKNOWN.0, UNKNOWN.1), "{wrong:?}");
        assert_eq!(of(&["--thorough"]), one("inherited-error", Owner::Yours), "{wrong:?}");
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn errors_of_sframe_alone_are_the_assemblers() {
    let file = "differences/register-in-place/2.47.50.o";
    let judged_by =
        judged().keys().any(|(of, function, _)| (of.as_str(), function.as_str()) == (file, "f"));
    assert!(judged_by, "judged by hand");
    let of = |options: &[&str]| owners(options, file, "f", 4);
    assert_eq!(of(&["--against", "code"]), one(UNKNOWN.0, UNKNOWN.1));
    assert_eq!(of(&["--thorough"]), one("cfa-mismatch", Owner::Assembler));
    assert_eq!(of(&[]), one("cfa-mismatch", Owner::Assembler));
}
