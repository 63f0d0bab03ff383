//! The pages about libraries in `docs/upstream/consumers`: the reader still answers what they say. `SFRAME_BLESS=1` writes them
//! again. Other pages are replayed by `sframe-reduce`.

mod readers;

use std::fs;

use sframe_corpus::repository;

use readers::{SimpleFrame, lines};

/// The start of the block with the answers.
const COMMAND: &str = "$ simple_frame <requests.json\n";

/// What the program prints.
fn answers(page: &str) -> String {
    let (_, requests) = page.split_once("```json\n").expect("requests");
    let (requests, _) = requests.split_once("```").expect("their end");
    let mut reader = SimpleFrame::default();
    let mut printed = String::new();
    for request in requests.lines() {
        match lines::answer(&mut reader, request) {
            Ok(answer) => printed.push_str(&(answer + "\n")),
            Err(reason) => return format!("{printed}{reason}\n(exit status 1)\n"),
        }
    }
    printed
}

#[test]
fn the_reader_answers_what_the_pages_say() {
    let folder = repository().join("docs/upstream/consumers/simple-frame-rs-0.3");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let page = fs::read_to_string(&path).expect("text");
        let (before, printed) = page.split_once(COMMAND).expect("the command");
        let (printed, after) = printed.split_once("```").expect("the end of the answers");
        let found = answers(&page);
        if std::env::var_os("SFRAME_BLESS").is_some() {
            let page = format!("{before}{COMMAND}{found}```{after}");
            fs::write(&path, page).expect("the page can be written");
        } else {
            assert_eq!(printed, found, "{}", path.display());
        }
        count += 1;
    }
    assert!(count > 5, "only {count} pages");
}
