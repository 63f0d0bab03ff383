//! The first view of a scan's page: its figures, in the words of the text report.

use std::collections::BTreeSet;

use askama::Template;
use sframe_record::advice;
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{
    CallSites, Coverage, CoverageTotal, ForecastTotal, Line, ReadingTotal, Severity, Summary,
    SuppressedCount, Table,
};

use crate::history::Point;
use crate::mood::Mood;
use crate::page::safe;

/// The number of packages in the table of their forecasts.
const PACKAGES: usize = 500;

/// What the files of a table of coverage have in common, in words.
struct Kind {
    which: &'static str,
    losses_title: &'static str,
    /// The cause of a loss that no CFI explains.
    unexplained: &'static str,
}

const WITH_SECTION: Kind = Kind {
    which: "with an SFrame section",
    losses_title: "Why SFrame does not describe the rest",
    unexplained: "unexplained",
};

const WITHOUT_SECTION: Kind = Kind {
    which: "without an SFrame section",
    losses_title: "What would be in the way of SFrame",
    unexplained: "nothing: SFrame could describe it",
};

/// The first view of a scan.
#[derive(Debug, Template)]
#[template(path = "overview.html")]
pub(crate) struct Overview {
    /// One sentence: what was found.
    pub(crate) verdict: String,
    pub(crate) mood: Mood,
    tiles: Vec<Tile>,
    coverage: Vec<CoverageTable>,
    figures: Vec<Figures>,
    facts: Vec<Fact>,
    has_history: bool,
    has_findings: bool,
    /// What to do next, where nothing was found.
    next: Vec<Vec<Part>>,
}

/// A part of a sentence.
#[derive(Debug)]
struct Part {
    is_code: bool,
    text: String,
}

/// A figure with its meaning.
#[derive(Debug)]
struct Tile {
    label: &'static str,
    value: String,
    note: String,
    /// The view that shows more, such as `#files`.
    link: &'static str,
    mood: Mood,
}

/// How much code is described, and why not more.
#[derive(Debug)]
struct CoverageTable {
    title: String,
    noun: &'static str,
    verdicts: Vec<Verdict>,
    losses_title: &'static str,
    losses: Vec<Cause>,
    limits: Vec<Cause>,
}

/// A table that needs no more than a title and a sentence.
#[derive(Debug)]
struct Figures {
    id: &'static str,
    title: String,
    about: &'static str,
    table: Table,
    /// The length of a bar for each line, in thousandths; empty if there are no bars.
    bars: Vec<u64>,
}

impl Figures {
    fn lines(&self) -> impl Iterator<Item = (&Line, Option<u64>)> {
        let bars = self.bars.iter().copied().map(Some);
        self.table.lines.iter().zip(bars.chain(std::iter::repeat(None)))
    }
}

/// Bytes with a verdict, as a part of a bar.
#[derive(Debug)]
struct Verdict {
    class: &'static str,
    label: String,
    bytes: String,
    share: String,
    functions: String,
    /// Start and width in the bar, in thousandths.
    start: u64,
    width: u64,
}

/// Code that is not described for a cause.
#[derive(Debug)]
struct Cause {
    label: String,
    functions: String,
    bytes: String,
    share: String,
    width: u64,
}

/// A line below the figures.
#[derive(Debug)]
struct Fact {
    label: &'static str,
    text: String,
}

impl Overview {
    pub(crate) fn of(summary: &Summary<'_>, history: &[Point]) -> Overview {
        let (mood, verdict) = verdict(summary);
        let (mood, verdict) = match summary.fails_a_gate() {
            true => (Mood::Error, format!("{verdict}, and a gate not passed")),
            false => (mood, verdict),
        };
        let parts =
            [(&summary.compared, WITH_SECTION), (&summary.without_section, WITHOUT_SECTION)];
        let coverage = parts
            .into_iter()
            .filter_map(|(total, kind)| Some(coverage(total.as_ref()?, &kind, summary.tables())));
        Overview {
            verdict,
            mood,
            tiles: tiles(summary),
            coverage: coverage.collect(),
            figures: (forecasts(summary)
                .chain(packages(summary))
                .chain(call_sites(summary))
                .chain(readings(summary)))
            .collect(),
            facts: facts(summary),
            has_history: history.len() > 1,
            has_findings: summary.worst().is_some(),
            next: match mood {
                Mood::Clean if summary.checked > 0 && summary.forecasts().is_empty() => {
                    advice::after_nothing(summary).iter().map(|line| sentence(line)).collect()
                }
                _ => Vec::new(),
            },
        }
    }
}

/// A sentence with code between backquotes, as a sentence.
fn sentence(line: &str) -> Vec<Part> {
    let mut rest = line.chars();
    let first = rest.next().filter(|first| *first != '`');
    let line = match first {
        Some(first) => format!("{}{}.", first.to_uppercase(), rest.as_str()),
        None => format!("{line}."),
    };
    let part = |(place, text): (usize, &str)| Part { is_code: place % 2 == 1, text: safe(text) };
    line.split('`').enumerate().map(part).collect()
}

/// What the figures of forecasts are.
const PREDICTED: &str = "The section that each encoding would have, predicted from CFI, and the functions that it would leave out.";

/// The forecasts of linked files and of relocatable objects.
fn forecasts(summary: &Summary<'_>) -> impl Iterator<Item = Figures> {
    let ids = ["forecast", "forecast-objects"];
    let titled = |(id, (total, noun)): (_, (&ForecastTotal<'_>, &str))| Figures {
        id,
        title: format!("What SFrame would cost {}", counted(total.files, noun)),
        about: PREDICTED,
        table: total.forecast.table(),
        bars: Vec::new(),
    };
    let known = summary.forecasts().into_iter().filter(|(total, _)| !total.forecast.is_unknown());
    ids.into_iter().zip(known).map(titled)
}

fn packages(summary: &Summary<'_>) -> Option<Figures> {
    // A number and its share may be on two lines.
    let fitting = |mut table: Table| {
        let cells = table.lines.iter_mut().flat_map(|line| &mut line.cells);
        cells.for_each(|cell| *cell = cell.replace(" %", "\u{a0}%"));
        table
    };
    summary.several_packages().map(|packages| {
        let costs = packages.costs(PACKAGES);
        let most = costs.iter().copied().max().unwrap_or_default();
        Figures {
            id: "forecast-packages",
            title: format!("What SFrame would cost {}", packages.subject(PACKAGES)),
            about: "Bytes of each encoding, and their share of the bytes of .eh_frame and .eh_frame_hdr. The bars show the bytes of the first encoding. JSON has every figure of each package.",
            table: fitting(packages.table(PACKAGES)),
            bars: costs.iter().map(|bytes| thousandths(*bytes, most)).collect(),
        }
    })
}

fn call_sites(summary: &Summary<'_>) -> Option<Figures> {
    summary.several_call_site_packages().map(|packages| Figures {
        id: "call-site-packages",
        title: format!("Call sites of {}", packages.subject(PACKAGES)),
        about: "Calls, and what a stack walker finds after them that looks up the return address itself.",
        table: packages.table(PACKAGES, summary.tables()),
        bars: Vec::new(),
    })
}

fn readings(summary: &Summary<'_>) -> Option<Figures> {
    (!summary.readings.is_empty()).then(|| Figures {
        id: "readings",
        title: format!("What consumers do with {}", ReadingTotal::subject(&summary.readings)),
        about: "The number of files by outcome, and the share of their code for which the consumer finds the row that the specification defines.",
        table: ReadingTotal::table(&summary.readings),
        bars: Vec::new(),
    })
}

fn verdict(summary: &Summary<'_>) -> (Mood, String) {
    let severities = [Severity::Error, Severity::Warning, Severity::Lint];
    let mut found: Vec<String> = severities
        .into_iter()
        .filter(|severity| summary.findings(*severity) > 0)
        .map(|severity| counted(summary.findings(severity), severity.name()))
        .collect();
    if summary.undecided > 0 {
        found.push(format!("{} undecided", grouped(summary.undecided)));
    }
    let checked = counted(summary.checked, "file");
    if found.is_empty() {
        let mood = if summary.is_incomplete() { Mood::Undecided } else { Mood::Clean };
        let subjects: Vec<String> = summary
            .forecasts()
            .into_iter()
            .map(|(total, noun)| match total.answer() {
                Some(answer) => format!("{}: {}", counted(total.files, noun), safe(&answer)),
                None => counted(total.files, noun),
            })
            .collect();
        let text = match subjects.is_empty() {
            false => format!("Forecast for {}", subjects.join("; for ")),
            true if summary.checked == 0 => "Nothing was checked".to_owned(),
            true if summary.lacks_inputs() => {
                let missing = counted(summary.unreadable.saturating_add(summary.crashed), "input");
                format!("No findings in {checked}; {missing} could not be checked")
            }
            true => format!("No findings in {checked}"),
        };
        return (mood, text);
    }
    let mood = summary.worst().map_or(Mood::Undecided, Mood::from);
    (mood, format!("{} in {checked}", found.join(", ")))
}

fn tiles(summary: &Summary<'_>) -> Vec<Tile> {
    let tile =
        |label, value, note: String, link| Tile { label, value, note, link, mood: Mood::Plain };
    let inputs = counted(summary.inputs, "input");
    let mut tiles = vec![
        tile("Files checked", grouped(summary.checked), format!("of {inputs}"), "#files"),
        tile(
            "With an SFrame section",
            grouped(summary.with_section),
            format!("of {}", counted(summary.checked, "file")),
            "#files?status=checked",
        ),
    ];
    if summary.with_section > 0 {
        let rows = counted(summary.rows, "row");
        tiles.push(tile("Functions", grouped(summary.functions), rows, ""));
    }
    if summary.with_section > 0 && summary.code_bytes > 0 {
        let covered = summary.covered_bytes;
        let note = format!(
            "of the files with a section; {} of all checked ({} of {} bytes)",
            percent(covered, summary.code_bytes),
            grouped(covered),
            grouped(summary.code_bytes),
        );
        let share = percent(covered, summary.code_bytes_with_section);
        tiles.push(tile("Code with entries", share, note, ""));
    }
    for (severity, label, link) in [
        (Severity::Error, "Errors", "#findings?severity=error"),
        (Severity::Warning, "Warnings", "#findings?severity=warning"),
        (Severity::Lint, "Lints", "#findings?severity=lint"),
    ] {
        let number = summary.findings(severity);
        if number == 0 && severity == Severity::Lint {
            continue;
        }
        let rules = summary.rules.iter().filter(|rule| rule.severity == severity);
        let rules: BTreeSet<&str> = rules.map(|rule| rule.rule.as_str()).collect();
        let note = format!("of {}", counted(rules.len() as u64, "rule"));
        let (mood, link) = if number > 0 { (severity.into(), link) } else { (Mood::Plain, "") };
        let note = if number > 0 { note } else { String::new() };
        tiles.push(Tile { label, value: grouped(number), note, link, mood });
    }
    if summary.undecided > 0 {
        let (value, note) = (grouped(summary.undecided), "checks that were not possible");
        let (label, link) = ("Undecided", "#files?status=undecided");
        tiles.push(Tile { label, value, note: note.to_owned(), link, mood: Mood::Undecided });
    }
    tiles
}

/// `3 V2 AMD64, 1 V3 AArch64`.
fn sections(summary: &Summary<'_>) -> String {
    let sections = summary.sections.iter().map(|of| {
        let text = format!("{} {} {}", grouped(of.count), of.version, of.machine);
        text.trim_end().to_owned()
    });
    sections.collect::<Vec<_>>().join(", ")
}

fn facts(summary: &Summary<'_>) -> Vec<Fact> {
    let noun = summary.tables();
    let gates = summary.failed_gates.iter().map(|gate| Fact {
        label: if gate.undecided { "Gate undecided" } else { "Gate not passed" },
        text: safe(&gate.message),
    });
    let mut facts: Vec<Fact> = gates.collect();
    if !summary.sections.is_empty() {
        facts.push(Fact { label: "Sections", text: sections(summary) });
    }
    let left_out = left_out(summary);
    if !left_out.is_empty() {
        facts.push(Fact { label: "Not checked", text: left_out.join(", ") });
    }
    if summary.with_section == 0 && summary.code_bytes > 0 {
        let whose = if summary.checked == 1 { "its" } else { "their" };
        let code = counted(summary.code_bytes, "byte");
        let text = format!("none of {whose} {code} of code has stack-trace entries");
        facts.push(Fact { label: "Coverage", text });
    }
    for SuppressedCount { reason, count, files } in &summary.suppressed {
        let (findings, files) = (counted(*count, "finding"), counted(*files, "file"));
        let text = format!("{findings} in {files}: {}", safe(reason));
        facts.push(Fact { label: "Suppressed", text });
    }
    if let Some(proofs) = &summary.proofs {
        facts.push(Fact {
            label: "Compared with the code",
            text: in_files(proofs.files, proofs.proofs.sentences(noun), "there are no rows"),
        });
        for text in proofs.proofs.undecided_sentences(noun) {
            facts.push(Fact { label: "Not decided by the code", text });
        }
    }
    if let Some(sites) = &summary.call_sites {
        let label = "Call sites, by a walker that looks up the return address itself";
        let mut parts = sites.sites.sentences(noun);
        if !parts.is_empty() {
            parts.push(CallSites::OTHER_WALKER.to_owned());
        }
        facts.push(Fact { label, text: in_files(sites.files, parts, "there are no calls") });
    }
    facts
}

/// Everything that was found but not checked, by kind.
fn left_out(summary: &Summary<'_>) -> Vec<String> {
    let counts = [
        (summary.crashed, "that crashed the checker"),
        (summary.unreadable, "unreadable"),
        (summary.not_elf, "not ELF"),
    ];
    let some = counts.into_iter().filter(|(number, _)| *number > 0);
    let mut kinds: Vec<String> =
        some.map(|(number, what)| format!("{} {what}", grouped(number))).collect();
    let unsupported = summary.unsupported.iter();
    kinds.extend(unsupported.map(|of| format!("{} unsupported ({})", grouped(of.count), of.kind)));
    let special = summary.special.iter();
    kinds.extend(special.map(|of| {
        let kind = of.kind.to_string().replace('-', " ");
        format!("{} not a regular file ({kind})", grouped(of.count))
    }));
    kinds
}

fn in_files(files: u64, parts: Vec<String>, nothing: &str) -> String {
    let text = if parts.is_empty() { nothing.to_owned() } else { parts.join("; ") };
    format!("{}: {text}", counted(files, "file"))
}

fn coverage(total: &CoverageTotal<'_>, kind: &Kind, noun: &'static str) -> CoverageTable {
    let CoverageTotal { files, coverage } = total;
    let code = counted(coverage.bytes.total(), "byte");
    CoverageTable {
        title: format!("{} {}: {code} of code", counted(*files, "file"), kind.which),
        noun,
        verdicts: verdicts(coverage, noun),
        losses_title: kind.losses_title,
        losses: losses(coverage, kind.unexplained),
        limits: limits(coverage),
    }
}

fn verdicts(coverage: &Coverage<'_>, noun: &str) -> Vec<Verdict> {
    let (bytes, functions) = (&coverage.bytes, &coverage.functions);
    let total = bytes.total();
    let partly = match functions.partly {
        0 => String::new(),
        number => format!(", a part of {}", counted(number, "function")),
    };
    let whole = |number: u64| match number {
        0 => String::new(),
        number => counted(number, "function"),
    };
    let alone = format!("{noun} alone describes it");
    let lines = [
        ("equal", bytes.equal, "both say the same", whole(functions.both)),
        ("limited", bytes.limited, "the same as far as the version can say", String::new()),
        ("different", bytes.different, "they differ", String::new()),
        ("only-cfi", bytes.only_cfi, alone.as_str(), whole(functions.only_cfi) + &partly),
        (
            "only-sframe",
            bytes.only_sframe,
            "SFrame alone describes it",
            whole(functions.only_sframe),
        ),
        ("neither", bytes.neither, "neither does", String::new()),
        ("undecided", bytes.undecided, "undecided", String::new()),
    ];
    let mut before = 0_u64;
    let mut verdicts = Vec::new();
    for (class, number, label, functions) in lines {
        let start = thousandths(before, total);
        before = before.saturating_add(number);
        let width = thousandths(before, total).saturating_sub(start);
        if number == 0 && functions.is_empty() {
            continue;
        }
        let functions = functions.trim_start_matches(", ").to_owned();
        let (label, bytes) = (label.to_owned(), grouped(number));
        let share = percent(number, total);
        verdicts.push(Verdict { class, label, bytes, share, functions, start, width });
    }
    verdicts
}

fn losses(coverage: &Coverage<'_>, unexplained: &str) -> Vec<Cause> {
    let total = coverage.bytes.total();
    let most = coverage.losses.iter().map(|loss| loss.bytes).max().unwrap_or(0);
    let losses = coverage.losses.iter().map(|loss| Cause {
        label: match loss.is_unexplained() {
            true => unexplained.to_owned(),
            false => safe(loss.cause.as_str()),
        },
        functions: grouped(loss.functions),
        bytes: grouped(loss.bytes),
        share: percent(loss.bytes, total),
        width: thousandths(loss.bytes, most),
    });
    losses.collect()
}

fn limits(coverage: &Coverage<'_>) -> Vec<Cause> {
    let total = coverage.bytes.total();
    let most = coverage.limits.iter().map(|limit| limit.bytes).max().unwrap_or(0);
    let limits = coverage.limits.iter().map(|limit| Cause {
        label: safe(&limit.field),
        functions: grouped(limit.functions),
        bytes: grouped(limit.bytes),
        share: percent(limit.bytes, total),
        width: thousandths(limit.bytes, most),
    });
    limits.collect()
}

/// The thousandths that `part` is of `whole`.
fn thousandths(part: u64, whole: u64) -> u64 {
    let thousandths = u128::from(part) * 1000 / u128::from(whole.max(1));
    u64::try_from(thousandths).unwrap_or(1000).min(1000)
}
