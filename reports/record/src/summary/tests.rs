//! Sums that were added up by hand, and lists that stay bounded.

use super::Summary;
use crate::bounded::MOST;
use crate::{Record, Severity};

/// The expected sums were added up by hand.
#[test]
fn a_summary_is_the_sum_of_records() {
    let lines = [
        r#"{"path":"a","status":"checked","code_bytes":18446744073709551615,"counts":[
            {"rule":"fp-lost","severity":"warning","count":2},
            {"rule":"cfa-mismatch","severity":"error","count":1}],
            "sections":[{"header":{"version":2,"abi":"AMD64"},"functions":3,"rows":7}]}"#,
        r#"{"path":"b","status":"checked","code_bytes":1,"counts":[
            {"rule":"not-known-here","severity":"lint","count":1},
            {"rule":"bad-magic","severity":"error","count":5},
            {"rule":"fp-lost","severity":"warning","count":1}],
            "sections":[{"functions":1,"rows":1}]}"#,
        r#"{"path":"c","status":"special","reason":"fifo"}"#,
        r#"{"path":"d.a","status":"archive"}"#,
    ];
    let mut summary = Summary::default();
    for line in lines {
        summary.add(&Record::parse(line).expect("a record"));
    }
    assert_eq!((summary.inputs, summary.checked, summary.with_section), (3, 2, 2));
    assert_eq!((summary.functions, summary.rows, summary.code_bytes), (4, 8, u64::MAX));
    assert_eq!((summary.errors, summary.warnings, summary.lints), (6, 3, 1));
    // Rules are in the order of the catalogue, and unknown ones, from a later version, come last.
    let rules: Vec<_> =
        summary.rules.iter().map(|of| (of.rule.as_str(), of.count, of.files)).collect();
    let wanted =
        [("bad-magic", 5, 1), ("fp-lost", 3, 2), ("cfa-mismatch", 1, 1), ("not-known-here", 1, 1)];
    assert_eq!(rules, wanted);
    let groups: Vec<_> = (summary.groups.iter())
        .map(|of| (of.group.as_str(), of.errors, of.warnings, of.lints))
        .collect();
    let wanted = [("header", 5, 0, 0), ("content", 0, 3, 0), ("comparison", 1, 0, 0)];
    assert_eq!(groups, wanted);
    let sections: Vec<_> =
        summary.sections.iter().map(|of| (of.version.as_str(), of.machine.as_str())).collect();
    assert_eq!(sections, [("V2", "AMD64"), ("unreadable header", "")]);
    assert_eq!((summary.special.len(), summary.special.first().map(|of| of.count)), (1, Some(1)));
    assert!(!summary.is_incomplete());
}

/// A malicious report may have a different rule, kind and machine in each line.
#[test]
fn lists_are_bounded_and_sums_are_not() {
    let mut summary = Summary::default();
    let all = 2 * MOST as u64;
    for number in 0..all {
        for line in [
            format!(r#"{{"path":"a","status":"unsupported","reason":"{number}"}}"#),
            format!(
                r#"{{"path":"b","status":"checked","sections":[{{"header":{{"version":2,"abi":"{number}"}},
                "functions":1}}],"counts":[{{"rule":"{number}","severity":"error","count":1}}],
                "coverage":{{"losses":[{{"cause":"{number}"}}],"limits":[{{"field":"{number}"}}]}}}}"#
            ),
        ] {
            summary.add(&Record::parse(&line).expect("a record"));
        }
    }
    let compared = summary.compared.as_ref().expect("coverage");
    let lists = [summary.unsupported.len(), summary.sections.len(), summary.rules.len()];
    assert_eq!(lists, [MOST; 3]);
    assert_eq!([compared.coverage.losses.len(), compared.coverage.limits.len()], [MOST; 2]);
    assert_eq!((summary.errors, summary.functions, compared.files), (all, all, all));
    assert_eq!(summary.worst(), Some(Severity::Error));
}
