//! Text for people: every finding of a few files, or each root cause of more files once.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use sframe_history::Groups;
use sframe_history::groups::{self, RootCause, RootCauses, write_text};
use sframe_record::numbers::{counted, without_numbers};
use sframe_record::{Events, Finding, Record, Severity, Status, Summary};

use super::wrap::wrap;
use super::{Renderer, Text, TextOptions};

/// The maximum number of files that are listed one by one.
const FEW: u64 = 3;
/// The number of root causes, and of reasons for undecided parts, that are shown without `--all`.
const CAUSES: usize = 10;

/// The maximum number of reasons that are listed separately, because each member of a hostile archive can have its
/// own.
const MOST_REASONS: usize = 10_000;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Lists the findings of a few files file by file, and those of more files by root cause. Writes nothing before the
/// end, because the number of files is not known earlier.
pub struct Grouped<W> {
    out: W,
    options: TextOptions,
    /// The first few files.
    by_file: Text<Vec<u8>>,
    files: u64,
    causes: Causes,
}

impl<W: Write> Grouped<W> {
    /// A renderer that writes to `out`.
    pub fn new(out: W, options: TextOptions) -> Grouped<W> {
        let by_file = Text::new(Vec::new(), options);
        Grouped { out, options, by_file, files: 0, causes: Causes::default() }
    }
}

impl<W: Write> Events for Grouped<W> {
    fn begin(&mut self, head: &Record<'_>) -> io::Result<()> {
        let is_file = match head.status {
            Status::Checked | Status::NoSection | Status::Unreadable | Status::Crashed => true,
            Status::Archive | Status::Unsupported | Status::NotElf | Status::Special => false,
        };
        self.files = self.files.saturating_add(u64::from(is_file));
        if self.files <= FEW { self.by_file.begin(head) } else { Ok(()) }
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.causes.finding(head, finding)?;
        if self.files <= FEW { self.by_file.finding(head, finding) } else { Ok(()) }
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.causes.end(record)?;
        if self.files <= FEW { self.by_file.end(record) } else { Ok(()) }
    }
}

impl<W: Write> Renderer for Grouped<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        if self.files <= FEW {
            self.by_file.finish(summary)?;
            self.out.write_all(self.by_file.written())?;
        } else {
            std::mem::take(&mut self.causes).write(&mut self.out, self.options, summary)?;
        }
        self.out.flush()
    }
}

/// The root causes of a scan's findings, and the reasons why something was undecided or unreadable.
#[derive(Debug, Default)]
pub struct Causes {
    groups: Groups,
    left: BTreeMap<(Left, String), Reason>,
}

/// Why a file or a part of it was not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    Crashed,
    Unreadable,
    Undecided,
}

/// The files with the same reason.
#[derive(Debug)]
struct Reason {
    times: u64,
    /// The first file, and the reason with its numbers.
    example: (String, String),
}

impl Events for Causes {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.groups.finding(head, finding);
        Ok(())
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.groups.end(record);
        let reason = || record.reason.as_ref().map(ToString::to_string).unwrap_or_default();
        match record.status {
            Status::Crashed => self.leave(Left::Crashed, record, reason()),
            Status::Unreadable => self.leave(Left::Unreadable, record, reason()),
            _ => {}
        }
        for undecided in &record.undecided {
            self.leave(Left::Undecided, record, undecided.reason.to_string());
        }
        Ok(())
    }
}

impl Causes {
    fn leave(&mut self, left: Left, record: &Record<'_>, reason: String) {
        let mut key = (left, without_numbers(&reason));
        if self.left.len() >= MOST_REASONS && !self.left.contains_key(&key) {
            key.1 = "other reasons".to_owned();
        }
        let known = self.left.entry(key);
        let example = || Reason { times: 0, example: (record.name(), reason) };
        let known = known.or_insert_with(example);
        known.times = known.times.saturating_add(1);
    }

    /// Writes all causes with an example each, and the summary of the scan.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write(
        self,
        out: &mut dyn Write,
        options: TextOptions,
        summary: &Summary<'_>,
    ) -> io::Result<()> {
        let shown = if options.all { usize::MAX } else { CAUSES };
        let mut causes = self.groups.finish();
        if !options.all && !options.known {
            // The summary names the known defects.
            let is_named =
                |cause: &RootCause| cause.known.is_some() && cause.severity != Severity::Error;
            causes.causes.retain(|cause| !is_named(cause));
        }
        let nothing = causes.causes.is_empty() && self.left.is_empty();
        let causes_shown = groups::Options { causes: shown, names: options.names };
        write_text(out, &causes, causes_shown)?;
        // A forecast begins with its answer.
        let is_forecast = !options.findings && options.summary;
        if !is_forecast {
            write_left(out, &self.left, shown, options)?;
        }
        if options.summary {
            if !nothing && !is_forecast {
                writeln!(out)?;
            }
            Text::new(&mut *out, options).totals(summary)?;
            if is_forecast {
                let unread =
                    self.left.into_iter().filter(|((left, _), _)| *left != Left::Undecided);
                write_left(out, &unread.collect(), if options.all { shown } else { 1 }, options)?;
            }
            next_steps(out, &causes, options)?;
            Text::new(out, options).missing(summary)?;
        }
        Ok(())
    }
}

fn write_left(
    out: &mut dyn Write,
    left: &BTreeMap<(Left, String), Reason>,
    shown: usize,
    options: TextOptions,
) -> io::Result<()> {
    let mut most: Vec<(Left, &Reason)> = left.iter().map(|((left, _), why)| (*left, why)).collect();
    most.sort_by_key(|(left, why)| (*left, std::cmp::Reverse(why.times)));
    for (left, Reason { times, example: (file, reason) }) in most.iter().take(shown) {
        let what = match left {
            Left::Crashed => "not checked",
            Left::Unreadable => "cannot be read",
            Left::Undecided => "undecided",
        };
        let text = wrap(&format!("{file}: {reason}"), 2, options.width);
        writeln!(
            out,
            "{WARNING}{what}{WARNING:#}, {}\n  {DIM}{text}{DIM:#}",
            counted(*times, "time")
        )?;
    }
    let more = most.len().saturating_sub(shown) as u64;
    if more > 0 {
        writeln!(out, "and {} (--all shows each)", counted(more, "more reason"))?;
    }
    Ok(())
}

fn next_steps(out: &mut dyn Write, causes: &RootCauses, options: TextOptions) -> io::Result<()> {
    if !causes.causes.is_empty() {
        let all = if options.all { "" } else { ", --all everything" };
        writeln!(out, "  {BOLD}--by-file{BOLD:#} lists the findings of each file{all}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Causes, MOST_REASONS};
    use sframe_record::{Events as _, FileName, Record, Status};

    /// Each member of a malicious archive has a different reason.
    #[test]
    fn the_number_of_reasons_is_bounded() {
        let mut causes = Causes::default();
        for number in 0..2 * MOST_REASONS {
            let name: String =
                number.to_string().bytes().map(|digit| char::from(digit + 49)).collect();
            let record = Record::because(Status::Unreadable, format!("{name}: not found"));
            let record = record.named(&FileName::file("archive.a".into()));
            causes.end(&record).expect("nothing is written");
        }
        assert_eq!(causes.left.len(), MOST_REASONS + 1);
        let times: u64 = causes.left.values().map(|reason| reason.times).sum();
        assert_eq!(times, 2 * MOST_REASONS as u64);
    }
}
