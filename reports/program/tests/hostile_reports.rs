//! Rendering a report as text that another program wrote or damaged: whatever its strings contain, rendering neither
//! panics nor writes a control character.

use std::io;

use sframe_record::{Record, Summary};
use sframe_render::report::{Grouped, Renderer, Text, TextOptions};

/// More than the maximum width of a format string, 65,535.
const LONG: usize = 70_000;

/// Bold, dim, red, green, yellow, cyan, and reset.
const STYLES: [&str; 7] =
    ["\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[0m"];

fn rendered(line: &str) -> String {
    let record = Record::parse(line).expect("a record");
    let mut summary = Summary::default();
    (0..5).for_each(|_| summary.add(&record));
    let options =
        TextOptions { verbose: true, all: true, coverage: true, ..TextOptions::default() };
    let mut out = Vec::new();
    write(&mut Text::new(&mut out, options), &record, &summary).expect("writing to memory");
    write(&mut Grouped::new(&mut out, options), &record, &summary).expect("writing to memory");
    // The program's output stream strips these styles, and nothing else, if it is not a terminal.
    let text = String::from_utf8(out).expect("text");
    STYLES.iter().fold(text, |text, style| text.replace(style, ""))
}

fn write(
    renderer: &mut dyn Renderer,
    record: &Record<'_>,
    summary: &Summary<'_>,
) -> io::Result<()> {
    // Enough files that they are grouped by cause.
    (0..5).try_for_each(|_| record.clone().hand_over(renderer))?;
    renderer.finish(summary)
}

#[test]
fn long_cells_do_not_widen_their_columns() {
    let long = "x".repeat(LONG);
    let line = format!(
        r#"{{"path":"a","status":"checked","counts":[{{"rule":"cfa-mismatch","severity":"error","count":2}}],
        "findings":[
        {{"rule":"cfa-mismatch","severity":"error","context":[
            {{"name":"{long}","bytes":"{long}","value":"1"}},{{"name":"b","bytes":"00","value":"2"}}]}},
        {{"rule":"cfa-mismatch","severity":"error","difference":{{"table":[
            {{"side":"both","start":"0x0","cfa":"{long}","ra":"{long}","fp":"{long}"}},
            {{"side":"cfi","start":"0x1","cfa":"b","ra":"b","fp":"b"}}]}}}}]}}"#
    );
    let text = rendered(&line);
    let longest = text.lines().filter(|line| !line.contains("xxx")).map(str::len).max();
    assert!(longest.is_some_and(|longest| longest < 500), "{longest:?}");
}

#[test]
fn all_strings_of_a_record_are_escaped() {
    // Clears the screen, ends the line, and reverses the direction of the text that follows.
    let evil = r"\u001b[2J\r\n\u202e";
    let line = format!(
        r#"{{"path":"{evil}","inside":"{evil}","member":"{evil}","status":"checked","reason":"{evil}",
        "sections":[{{"name":"{evil}","header":{{"version":2,"abi":"{evil}"}}}}],
        "counts":[{{"rule":"{evil}","severity":"error","count":2}}],
        "undecided":[{{"section":0,"reason":"{evil}"}}],
        "findings":[{{"rule":"{evil}","severity":"error","message":"{evil}","section":0,
            "field":{{"name":"{evil}","value":"{evil}","allowed":"{evil}"}},
            "function":{{"symbol":"{evil}","code_section":"{evil}"}},
            "code":{{"start":"0x0","end":"0x1","symbol":"{evil}","code_section":"{evil}"}},
            "context":[{{"name":"{evil}","bytes":"{evil}","value":"{evil}"}}]}},
            {{"rule":"{evil}","severity":"error","difference":{{"fields":["{evil}"],
            "table":[{{"side":"both","start":"0x0","cfa":"{evil}","ra":"{evil}","fp":"{evil}"}}],
            "instructions":[{{"bytes":"{evil}","text":"{evil}"}}]}}}}],
        "coverage":{{"losses":[{{"cause":"{evil}","examples":[{{"symbol":"{evil}","code_section":"{evil}"}}]}}],
            "limits":[{{"field":"{evil}"}}],"debug_file":"{evil}"}}}}"#
    );
    for status in ["checked", "unsupported", "special", "unreadable", "crashed", "no-section"] {
        let text = rendered(&line.replace("checked", status));
        let harmful = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
        assert_eq!(text.chars().find(harmful), None, "{status}: {text:?}");
        // An escaped ESC shows that the strings were printed.
        assert!(text.contains(r"\x1b"), "{status}: {text:?}");
    }
}
