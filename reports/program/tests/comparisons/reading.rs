//! Reading valid and damaged reports in both formats.

use std::io::{self, BufReader, Read};

use crate::scans::{scan, scan_as};
use sframe_corpus::corpus;
use sframe_history::report::{self, Error};
use sframe_record::{Side, Status};

const SUMMARY: &str =
    r#"{"type":"summary","format":1,"tool":{"name":"sframe-check","version":"9.8.7"}}"#;
const FILE: &str = r#"{"type":"file","path":"a","status":"no-section"}"#;

fn read(text: &str) -> Result<(Vec<String>, report::Ending), Error> {
    let mut paths = Vec::new();
    let ending = report::read(text.as_bytes(), |record| paths.push(record.path.to_string()))?;
    Ok((paths, ending))
}

#[test]
fn both_formats_have_the_same_records() {
    let lines = scan(&corpus(), &["differences"]);
    let document = scan_as("json", &corpus(), &["differences"]);
    assert_ne!(lines, document);
    let all = |text: &str| {
        let mut all = Vec::new();
        // A small buffer, so that the input arrives in pieces.
        let input = BufReader::with_capacity(61, text.as_bytes());
        let ending = report::read(input, |record| all.push(format!("{record:?}")));
        (all, ending.expect("a report"))
    };
    let (of_lines, of_document) = (all(&lines), all(&document));
    assert!(of_lines.0.len() > 50 && of_lines.1.complete && of_lines.1.tool.is_some());
    assert_eq!(of_lines.0, of_document.0);
    assert_eq!(of_lines.1, of_document.1);
}

#[test]
fn a_record_has_the_values_of_its_line() {
    let line = scan(&corpus(), &["differences/ld-plt-got/2.44.so"]);
    let mut seen = 0;
    let each = |record: &sframe_history::Record<'_>| {
        // In corpus/differences/ld-plt-got, the CFA of the stub at 0x200 is wrong by 8 bytes.
        let finding =
            record.findings.iter().find(|f| *f.rule == *"cfa-mismatch").expect("an error");
        let difference = finding.difference.as_ref().expect("tables");
        let line = |side| difference.table.iter().find(|line| line.side == side).expect("a line");
        assert_eq!(line(Side::Sframe).frame.cfa.as_str(), "rsp+16");
        assert_eq!((line(Side::Cfi).frame.cfa.as_str(), line(Side::Cfi).start.0), ("rsp+8", 0x200));
        assert_eq!(record.status, Status::Checked);
        seen += 1;
    };
    report::read(line.as_bytes(), each).expect("a report");
    assert_eq!(seen, 1);
}

#[test]
fn incomplete_reports_are_recognised() {
    let (paths, ending) = read(&format!("{FILE}\n\n{FILE}\n{SUMMARY}")).expect("a report");
    assert_eq!((paths.len(), ending.complete, ending.tool.as_deref()), (2, true, Some("9.8.7")));
    let (paths, ending) = read(FILE).expect("a report");
    assert_eq!((paths.len(), ending.complete), (1, false));
    assert!(!read("").expect("nothing").1.complete);
    // Unknown fields of any depth, and other types of lines.
    let more = r#"{"more":[{"a":{}}],"type":"file","status":"crashed","path":"b"}"#;
    let (paths, _) =
        read(&format!("{{\"type\":\"note\",\"x\":1}}\n{more}\n{SUMMARY}")).expect("a report");
    assert_eq!(paths, ["b"]);
    // Another program may format JSON differently.
    let document = "{ \"files\": [ {\"status\":\"special\",\"path\":\"\\u0061\"} ],\n \"format\": 1, \"summary\": {} }";
    let (paths, ending) = read(document).expect("a report");
    assert_eq!((paths, ending.complete), (vec!["a".to_owned()], true));
}

fn wrong(text: &str) -> String {
    read(text).expect_err("damage").to_string()
}

#[test]
fn damage_is_reported_with_its_position() {
    let cases = [
        (
            format!("{FILE}\n{{\"type\":\"file\",\"path\":7}}\n"),
            "line 2, column 23: invalid type: integer `7`",
        ),
        (format!("{FILE}\n{{\"type\":\"file\",\"pa"), "line 2, column "),
        (
            format!("{{\"format\":1,\n\"files\":[{FILE},\n{{\"path\":\"a\"}}],"),
            "line 3, column 12: missing field `status`",
        ),
        (
            "{\"format\":1,\"files\":[{\"path\":7}]}".to_owned(),
            "line 1, column 30: invalid type: integer `7`",
        ),
        (
            "{\"format\":1,\"files\":[{\n  \"path\": 7\n}]}".to_owned(),
            "line 2, column 11: invalid type: integer `7`",
        ),
        ("{\"format\":2,\"files\":[]}".to_owned(), "version 2 of the format"),
        (
            format!("{FILE}\n{}", SUMMARY.replace("\"format\":1", "\"format\":3")),
            "version 3 of the format",
        ),
        ("{\"files\":[]}".to_owned(), "does not state the version"),
        (format!("{FILE}\n{}", SUMMARY.replace("\"format\":1,", "")), "does not state the version"),
        ("sframe".to_owned(), "neither a JSON report nor"),
        ("[]".to_owned(), "neither a JSON report nor"),
        (FILE.replace("no-section", "nothing"), "unknown variant `nothing`"),
        ("{\"format\":1,\"files\":[],\"summary\":{}} x".to_owned(), "trailing characters"),
        (
            format!(
                "{{\"type\":\"file\",\"path\":\"a\",\"status\":\"checked\",\"findings\":{}",
                "[".repeat(100_000)
            ),
            "line 1",
        ),
    ];
    for (text, expected) in cases {
        let error = wrong(&text);
        assert!(error.contains(expected), "{error}: {expected}");
    }
    let bytes: &[u8] = b"{\"type\":\"file\",\"path\":\"\xff\",\"status\":\"checked\"}\n";
    assert!(report::read(bytes, |_| ()).is_err());
    let address =
        FILE.replace("\"no-section\"", "\"checked\",\"sections\":[{\"address\":\"0x+1\"}]");
    assert!(wrong(&address).contains("an address such as"));
}

#[test]
fn read_errors_are_reported() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let error = report::read(BufReader::new(Broken), |_| ()).expect_err("it fails");
    assert!(error.to_string().contains("the disk is gone"));
}

#[test]
fn a_line_that_never_ends_is_refused() {
    let endless = BufReader::new(br#"{"type":"file","#.chain(io::repeat(b' ')));
    let error = report::read(endless, |_| ()).expect_err("the line is too long");
    assert_eq!(error.to_string(), "line 1, column 0: a line of more than 268435456 bytes");
}
