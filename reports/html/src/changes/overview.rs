//! The first view of a comparison.

use askama::Template;
use sframe_history::changes::{Became, Changes, Described, FileChange, SeverityCounts, phrases};
use sframe_record::numbers::{counted, grouped, percent};

use crate::mood::Mood;
use crate::page::safe;

/// The maximum number of rows of a table.
const MOST: usize = 200;

/// The first view of a comparison.
#[derive(Debug, Template)]
#[template(path = "changes.html")]
pub(super) struct Overview {
    verdict: String,
    mood: Mood,
    old: String,
    new: String,
    tiles: Vec<Tile>,
    tables: Vec<Table>,
    undecided: Vec<String>,
    /// Whether there is code whose coverage both scans know.
    has_history: bool,
}

/// A figure with its meaning.
#[derive(Debug)]
struct Tile {
    label: &'static str,
    value: String,
    note: String,
    link: &'static str,
    mood: Mood,
}

/// A table of changes.
#[derive(Debug)]
struct Table {
    id: &'static str,
    title: &'static str,
    heads: Vec<Head>,
    rows: Vec<Vec<String>>,
    /// The number of rows that are left out, in words.
    more: String,
}

#[derive(Debug)]
struct Head {
    label: &'static str,
    is_number: bool,
}

const fn text(label: &'static str) -> Head {
    Head { label, is_number: false }
}

const fn number(label: &'static str) -> Head {
    Head { label, is_number: true }
}

impl Table {
    /// The table with the first rows; `None` if there are no rows.
    fn of<T>(
        (id, title): (&'static str, &'static str),
        heads: Vec<Head>,
        items: &[T],
        row: impl Fn(&T) -> Vec<String>,
    ) -> Option<Table> {
        let rows: Vec<Vec<String>> = items.iter().take(MOST).map(row).collect();
        let more = match items.len().saturating_sub(MOST) as u64 {
            0 => String::new(),
            more => format!("and {} more (--format json has all)", grouped(more)),
        };
        (!rows.is_empty()).then_some(Table { id, title, heads, rows, more })
    }
}

impl Overview {
    pub(super) fn of(changes: &Changes) -> Overview {
        let (old, new) = (&changes.summary.described_old, &changes.summary.described_new);
        let tables = [
            rules(changes),
            missing(changes),
            gone(changes),
            packages(changes),
            sections(changes),
            producers(changes),
        ];
        Overview {
            verdict: safe(&sentence(phrases::verdict(changes))),
            mood: match (changes.worse, changes.undecided.is_empty()) {
                (true, _) => Mood::Error,
                (false, false) => Mood::Undecided,
                (false, true) => Mood::Clean,
            },
            old: safe(&phrases::scan(&changes.old)),
            new: safe(&phrases::scan(&changes.new)),
            tiles: tiles(changes),
            tables: tables.into_iter().flatten().collect(),
            undecided: changes.undecided.iter().take(MOST).map(|why| safe(why)).collect(),
            has_history: old.code_bytes > 0 || new.code_bytes > 0,
        }
    }
}

/// A phrase as the start of a sentence.
fn sentence(phrase: String) -> String {
    let mut rest = phrase.chars();
    rest.next()
        .map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), rest.as_str()))
}

fn tiles(changes: &Changes) -> Vec<Tile> {
    let summary = &changes.summary;
    let counts = |label, counts: &SeverityCounts, mood, link| {
        let number = counts.all();
        let (mood, link) = if number > 0 { (mood, link) } else { (Mood::Plain, "") };
        Tile { label, value: grouped(number), note: phrases::severities(counts), link, mood }
    };
    let mood = if summary.new.errors > 0 { Mood::Error } else { Mood::Warning };
    let mut tiles = vec![
        counts("New findings", &summary.new, mood, "#findings?change=new"),
        counts("Fixed findings", &summary.fixed, Mood::Clean, "#findings?change=fixed"),
        counts("Changed findings", &summary.changed, Mood::Plain, "#findings?change=changed"),
    ];
    let files = [
        (summary.renamed, "under another name"),
        (summary.came, "new"),
        (summary.gone, "gone"),
        (summary.unmatched, "in one alone, undecided"),
        (summary.unreadable, "can no longer be read"),
        (summary.readable, "can be read again"),
    ];
    let some = files.into_iter().filter(|(number, _)| *number > 0);
    let note = some.map(|(number, what)| format!("{} {what}", grouped(number)));
    tiles.push(Tile {
        label: "Files in both scans",
        value: grouped(summary.matched),
        note: note.collect::<Vec<_>>().join(", "),
        link: "#files",
        mood: Mood::Plain,
    });
    let (old, new) = (&summary.described_old, &summary.described_new);
    if old.code_bytes > 0 || new.code_bytes > 0 {
        let share = |of: &Described| percent(of.described_bytes, of.code_bytes);
        let note = format!(
            "before {}; functions with entries: {}, before {}",
            share(old),
            phrases::described(new),
            phrases::described(old)
        );
        let label = "Code with entries";
        tiles.push(Tile { label, value: share(new), note, link: "", mood: Mood::Plain });
    }
    if summary.coverage_lost > 0 {
        let note = match summary.coverage_gained {
            0 => String::new(),
            files => format!("{} gained entries", counted(files, "file")),
        };
        let (value, link) = (grouped(summary.coverage_lost), "#files?with=coverage");
        tiles.push(Tile { label: "Files that lost entries", value, note, link, mood: Mood::Error });
    }
    tiles
}

fn rules(changes: &Changes) -> Option<Table> {
    let heads = vec![
        text("Severity"),
        text("Rule"),
        number("Before"),
        number("Now"),
        number("New"),
        number("Fixed"),
        number("Missing"),
        number("Changed"),
        number("Files"),
    ];
    Table::of(("rules", "Rules"), heads, &changes.rules, |rule| {
        let mut cells = vec![rule.severity.name().to_owned(), safe(&rule.rule)];
        let changed = [rule.appeared, rule.fixed, rule.missing, rule.changed];
        let numbers = [rule.old, rule.new].into_iter().chain(changed).chain([rule.files]);
        cells.extend(numbers.map(grouped));
        cells
    })
}

fn missing(changes: &Changes) -> Option<Table> {
    let heads = vec![text("Package"), number("Files"), number("Of"), text("With findings")];
    Table::of(("missing", "Gone, by package"), heads, &changes.missing, |missing| {
        vec![
            missing.package.as_ref().map_or_else(|| "none".to_owned(), |package| safe(package)),
            grouped(missing.files),
            grouped(missing.of),
            phrases::severities(&missing.findings),
        ]
    })
}

/// The files that the new scan does not have.
fn gone(changes: &Changes) -> Option<Table> {
    let heads = vec![text("File"), text("Package")];
    let is_gone = |change: &&FileChange| change.became == Some(Became::Gone);
    let files: Vec<&FileChange> = changes.files.iter().filter(is_gone).collect();
    Table::of(("gone", "Gone: in the old scan alone"), heads, &files, |change| {
        let package = change.old.as_ref().and_then(|name| name.package.as_ref());
        let name = change.name().map_or_else(String::new, ToString::to_string);
        vec![safe(&name), package.map_or_else(String::new, |package| safe(package))]
    })
}

fn packages(changes: &Changes) -> Option<Table> {
    let heads =
        vec![text("Package"), text("Coverage"), number("Before"), number("Now"), number("Files")];
    Table::of(("packages", "Packages"), heads, &changes.packages, |package| {
        vec![
            safe(&package.package),
            match phrases::fallen_share(package) {
                Some(share) => share,
                None => phrases::coverage_verdict(package.verdict).to_owned(),
            },
            phrases::described(&package.old),
            phrases::described(&package.new),
            grouped(package.files),
        ]
    })
}

fn sections(changes: &Changes) -> Option<Table> {
    let heads = vec![
        text("Version before"),
        text("Now"),
        number("Bytes before"),
        number("Now"),
        number("Files"),
        text("Examples"),
    ];
    Table::of(("sections", "Sections"), heads, &changes.sections, |section| {
        vec![
            safe(&section.old),
            safe(&section.new),
            grouped(section.old_bytes),
            grouped(section.new_bytes),
            grouped(section.files),
            safe(&section.examples.join(", ")),
        ]
    })
}

fn producers(changes: &Changes) -> Option<Table> {
    let heads = vec![text("Kind"), text("Before"), text("Now"), number("Files"), text("Examples")];
    Table::of(("producers", "Producers"), heads, &changes.producers, |producer| {
        let names = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => safe(&names.join(", ")),
        };
        vec![
            safe(&producer.kind),
            names(&producer.old),
            names(&producer.new),
            grouped(producer.files),
            safe(&producer.examples.join(", ")),
        ]
    })
}
