//! The published tables: what real links did.

use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;

use sframe_corpus::repository;

use sframe_link::messages::{self, Message, Seen};

use crate::objects::{Kind, Machine};
use crate::real::Mode;
use crate::{Row, Tool};

/// One test at a time changes the page.
static PAGE: Mutex<()> = Mutex::new(());

/// The results of one linker: machine, mode, and a word for each pair.
pub(crate) type Results = Vec<(Machine, Mode, Vec<Cell>)>;

/// The result of one pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    first: Kind,
    second: Kind,
    word: String,
}

pub(crate) fn cells(rows: &[Row]) -> Vec<Cell> {
    let cell = |row: &Row| Cell { first: row.pair.first, second: row.pair.second, word: word(row) };
    rows.iter().map(cell).collect()
}

/// What a real link did, in a word.
fn word(row: &Row) -> String {
    let real = &row.real;
    let functions = |number: usize| row.pair.functions(|other| other == number);
    let has = |number: usize| {
        let functions = functions(number);
        !functions.is_empty() && functions.iter().all(|name| real.functions.contains(name))
    };
    let word = match (has(0), has(1)) {
        _ if real.status > 1 => "crash",
        _ if real.status != 0 => "fail",
        (true, true) => "both",
        (true, false) => "first",
        (false, true) => "second",
        _ if real.sections.is_empty() => "-",
        _ if real.sections.iter().all(|(_, size)| *size == 0) => "empty",
        _ if real.stubs > 0 => "stubs",
        _ => "wrong",
    };
    let with_message = real.status == 0 && !real.messages.is_empty();
    if with_message { format!("{word} !") } else { word.to_owned() }
}

/// Compares the part of `docs/LINK.md` about a linker with the results, or writes it.
pub(crate) fn publish(tool: &Tool, results: &Results) {
    publish_part(tool.linker.name(), &text(results));
}

fn publish_part(name: &str, current: &str) {
    let _one = PAGE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let path = repository().join("docs/LINK.md");
    let page = fs::read_to_string(&path).expect("docs/LINK.md");
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let (before, rest) = page.split_once(&start).expect("a place for the part");
    let (published, after) = rest.split_once(&end).expect("its end");
    if std::env::var_os("SFRAME_BLESS").is_some() {
        fs::write(&path, format!("{before}{start}{current}{end}{after}")).expect("written");
        return;
    }
    assert_eq!(published, current, "docs/LINK.md: SFRAME_BLESS=1 writes it");
}

#[test]
fn messages_are_published() {
    let mut text = "\n".to_owned();
    for message in messages::ALL {
        let seen = match message.seen {
            Seen::Tested => "",
            Seen::InProgram => " The message is in the program, and no test causes it.",
            Seen::Reported => " Reported by others.",
        };
        let Message { pattern, linkers, meaning, remedy, .. } = message;
        let pattern = pattern.replace('*', "...");
        writeln!(text, "``{pattern}``\n({linkers}): {meaning}.{seen} What to do: {remedy}.\n")
            .expect("a string");
    }
    publish_part("messages", &text);
}

fn text(results: &Results) -> String {
    let mut text = String::new();
    let of = |machine: Machine| results.iter().filter(move |(found, ..)| *found == machine);
    let mut seen: Vec<(Mode, &[Cell])> = Vec::new();
    for (_, mode, cells) in of(Machine::Amd64) {
        let same = seen.iter().find(|(_, seen)| seen == cells);
        let only = cells.first().filter(|first| cells.iter().all(|cell| cell.word == first.word));
        match same {
            None if only.is_some_and(|cell| cell.word == "-") => {
                writeln!(text, "\n{}: no section in any case.", mode.title())
            }
            Some((other, _)) => {
                writeln!(text, "\n{}: like {}.", mode.title(), other.title_inside())
            }
            None => writeln!(text, "\n{}:\n\n{}", mode.title(), table(cells)),
        }
        .expect("a string");
        seen.push((*mode, cells));
    }
    let mut differences = Vec::new();
    for (_, mode, cells) in of(Machine::Aarch64) {
        let amd64 = of(Machine::Amd64).find(|(_, other, _)| other == mode).expect("the same mode");
        differences.extend(differing(*mode, cells, &amd64.2));
    }
    let has_aarch64 = of(Machine::Aarch64).next().is_some();
    match differences.is_empty() {
        _ if !has_aarch64 => {}
        true => text.push_str("\nAArch64: the same.\n"),
        false => writeln!(text, "\nAArch64: the same, except\n\n{}", differences.join("\n"))
            .expect("a string"),
    }
    text.push('\n');
    text
}

/// The pairs with another result on AArch64. LLVM writes no functions for it, so that its pairs do not count.
fn differing(mode: Mode, cells: &[Cell], amd64: &[Cell]) -> Vec<String> {
    let pairs = cells.iter().zip(amd64);
    let differing = pairs
        .filter(|(cell, other)| cell != other && ![cell.first, cell.second].contains(&Kind::Llvm));
    let mut words: Vec<(String, Vec<String>)> = Vec::new();
    for (cell, other) in differing {
        let change = format!("{} instead of {}", cell.word, other.word);
        let pair = format!("{} + {}", cell.first.name(), cell.second.name());
        match words.iter_mut().find(|(known, _)| *known == change) {
            Some((_, pairs)) => pairs.push(pair),
            None => words.push((change, vec![pair])),
        }
    }
    let line = |(change, pairs): (String, Vec<String>)| {
        format!("- {}: {change} for {}", mode.title(), pairs.join(", "))
    };
    words.into_iter().map(line).collect()
}

/// Rows are kinds of the first input, columns of the second one.
fn table(cells: &[Cell]) -> String {
    let mut text = "| |".to_owned();
    for kind in Kind::ALL {
        write!(text, " + {} |", kind.name()).expect("a string");
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(Kind::ALL.len()));
    for row in cells.chunks(Kind::ALL.len()) {
        write!(text, "\n| {} |", row[0].first.name()).expect("a string");
        for cell in row {
            write!(text, " {} |", cell.word).expect("a string");
        }
    }
    text
}
