//! Whole pages: their size, their limits, and text from the input in them.
#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_html::Report;
use sframe_record::{Record, Summary};

/// Names that try to become markup, or to end the element that contains them.
const HOSTILE: [&str; 4] =
    ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<!--", "\" onload=\"a"];

fn page(lines: &[String]) -> String {
    let (mut report, mut summary) = (Report::default(), Summary::default());
    for line in lines {
        let record = Record::parse(line).expect("a record");
        report.add(&record).expect("JSON");
        summary.add(&record);
    }
    let mut page = Vec::new();
    report.finish(&summary, &mut page).expect("writing to memory");
    String::from_utf8(page).expect("UTF-8")
}

/// The text of the elements that contain data.
fn data(page: &str) -> Vec<&str> {
    let elements = page.split("<script type=\"application/json\" id=\"").skip(1);
    elements
        .map(|element| {
            let (_, text) = element.split_once("\">").expect("the end of a tag");
            text.split_once("</script>").expect("the end of an element").0
        })
        .collect()
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("JSON")
}

#[test]
fn text_of_the_input_is_never_markup() {
    for hostile in HOSTILE {
        let name = quoted(hostile);
        let line = format!(
            r#"{{"path":{name},"status":"checked","code_bytes":1,"package":{{"name":{name}}},
                "sections":[{{"name":{name},"header":{{"version":2,"abi":{name}}}}}],
                "counts":[{{"rule":{name},"severity":"error","count":1}}],"undecided":[{{"reason":{name}}}],
                "findings":[{{"rule":{name},"severity":"error","message":{name},
                "why":{{"way":[{{"code_section":{name},"instruction":{{"address":"0x0","text":{name}}},"arrival":"call",
                "code":{{"cfa":{name}}},"registers":[{{"name":{name},"rule":{name}}}]}}],"lost":[{{"what":{name}}}],"clause":{name}}}}}],
                "coverage":{{"bytes":{{"only_cfi":1}},"losses":[{{"cause":{name},"bytes":1}}],
                "without_entry":{{"functions":1,"bytes":1,"largest":[{{"size":1,"symbol":{name}}}]}}}}}}"#
        );
        let kind = format!(r#"{{"path":"a","status":"unsupported","reason":{name}}}"#);
        let page = page(&[line, kind]);
        assert!(!page.contains(hostile), "{hostile}");
        // The page has no elements but its own: data, details, libraries, scripts.
        assert_eq!(page.matches("<script").count(), 4, "{hostile}");
        assert_eq!(page.matches("</script>").count(), 4, "{hostile}");
        for text in data(&page) {
            assert!(!text.contains(['<', '>', '&']), "{hostile}");
            let _: serde_json::Value = serde_json::from_str(text).expect("JSON");
        }
    }
}

/// The page has the sentence of all other reports, and makes none of its own.
#[test]
fn a_difference_has_the_sentence_that_says_who_is_wrong() {
    let line = r#"{"path":"a","status":"checked","table":"orc","counts":[{"rule":"r","severity":"error","count":1}],
        "findings":[{"rule":"r","severity":"error","difference":{"ruling":{"wrong":"cfi","proof":{"cfa":"rsp+8",
        "ra":"*(CFA-8)","instruction":{"address":"0x4","text":"ret"}}}}}]}"#;
    let page = page(&[line.to_owned()]);
    let ruling = "ORC is wrong: before 0x4 ret, the code has CFA rsp+8, RA *(CFA-8), FP unknown";
    assert!(data(&page).iter().any(|text| text.contains(&quoted(ruling))), "{page}");
}

#[test]
fn the_page_of_a_small_scan_is_small() {
    let line = r#"{"path":"a.o","status":"checked","code_bytes":8}"#.to_owned();
    let page = page(&[line]);
    assert!(page.len() < 400_000, "{} bytes", page.len());
}

/// The policy has no exception for scripts or styles that are not the page's own.
#[test]
fn the_policy_allows_only_what_the_page_contains() {
    let page = page(&[]);
    let (_, policy) =
        page.split_once("http-equiv=\"Content-Security-Policy\" content=\"").expect("a policy");
    let policy = policy.split_once('"').expect("its end").0;
    assert!(policy.starts_with("default-src &#39;none&#39;;"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'));
    for outside in ["src=\"http", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// A file with more findings than a page lists: the page has the first 1,000, and says how many it leaves out.
#[test]
fn findings_are_bounded_and_the_rest_is_counted() {
    let finding = r#"{"rule":"bad-info","severity":"error","message":"m"}"#;
    let findings = vec![finding; 1_500].join(",");
    let line = format!(
        r#"{{"path":"a.o","status":"checked","counts":[{{"rule":"bad-info","severity":"error","count":1500}}],
            "findings":[{findings}]}}"#
    );
    let page = page(&[line]);
    let data: serde_json::Value = serde_json::from_str(data(&page)[0]).expect("JSON");
    assert_eq!(data["findings"].as_array().map(Vec::len), Some(1_000));
    assert_eq!(data["left"]["findings"], 500);
    // The count of errors is that of the record: column 6 of a file.
    assert_eq!(data["files"][0][6], 1_500);
}

/// Equal findings in many files: the message is embedded once, and each finding has the cause of all.
#[test]
fn equal_texts_are_embedded_once() {
    let line = |number: usize| {
        format!(
            r#"{{"path":"{number}.o","status":"checked","counts":[{{"rule":"bad-info","severity":"error","count":1}}],
                "findings":[{{"rule":"bad-info","severity":"error","message":"the only message",
                "field":{{"name":"sfde_func_info","value":"0x10"}}}}]}}"#
        )
    };
    let lines: Vec<String> = (0..500).map(line).collect();
    let page = page(&lines);
    let data: serde_json::Value = serde_json::from_str(data(&page)[0]).expect("JSON");
    let strings = data["strings"].as_array().expect("strings");
    assert_eq!(strings.iter().filter(|text| *text == "the only message").count(), 1);
    assert_eq!(data["causes"].as_array().map(Vec::len), Some(1));
    assert_eq!(data["causes"][0]["findings"], 500);
    // The cause is column 5 of a finding.
    assert!(data["findings"].as_array().expect("findings").iter().all(|row| row[5] == 0));
}

/// The same records in the same order give the same page.
#[test]
fn a_page_does_not_depend_on_chance() {
    let line = |number: usize| {
        format!(
            r#"{{"path":"{number}.o","status":"checked","counts":[{{"rule":"rule-{number}","severity":"error","count":1}}],
                "findings":[{{"rule":"rule-{number}","severity":"error","message":"message {number}"}}]}}"#
        )
    };
    let lines: Vec<String> = (0..50).map(line).collect();
    assert_eq!(page(&lines), page(&lines));
}

/// A report from elsewhere may have a way of any length, with any number of registers: the page has 200 of each, and says where to read
/// the rest.
#[test]
fn proofs_are_bounded() {
    let step = |number: usize| {
        let registers: Vec<String> =
            (0..300).map(|register| format!(r#"{{"name":"r{register}"}}"#)).collect();
        format!(
            r#"{{"instruction":{{"address":"{number:#x}","text":"call"}},"arrival":"jump","code":{{"cfa":"rsp+{number}"}},
                "registers":[{}]}}"#,
            registers.join(",")
        )
    };
    let way: Vec<String> = (0..300).map(step).collect();
    let line = format!(
        r#"{{"path":"a","status":"checked","counts":[{{"rule":"r","severity":"error","count":1}}],
            "findings":[{{"rule":"r","severity":"error","why":{{"way":[{}]}}}}]}}"#,
        way.join(",")
    );
    let page = page(&[line]);
    let details: serde_json::Value = serde_json::from_str(data(&page)[1]).expect("JSON");
    let why = &details["files"][0]["findings"][0]["why"];
    let length = |list: &serde_json::Value| list.as_array().map(Vec::len);
    assert_eq!(length(&why["lines"]), Some(200));
    assert_eq!((length(&why["columns"]), length(&why["lines"][0][2])), (Some(200), Some(200)));
    assert_eq!(why["cut"], 1);
}
