//! Shows progress on a terminal if the work takes longer than a second.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use terminal_size::terminal_size_of;

use super::Renderer;
use sframe_input::Tally;
use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{Events, Finding, Record, RuleCount, Severity, Summary};
use sframe_scan::Sink;

/// Work that takes less time shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The minimum time for which a line is shown, so that it can be read.
const SHOWN: Duration = Duration::from_millis(100);
/// The line of work whose end is not known, and of other work. The terminal's width truncates the message.
const ENDLESS: &str = "{spinner} {wide_msg}";
pub(super) const FINITE: &str = "[{bar:20}] {human_pos} of {human_len}{left} {wide_msg}";
/// The columns of such a line without the name at its end.
const OTHERS: usize = 52;
/// The columns of a terminal that does not say how many it has, as indicatif assumes.
const COLUMNS: usize = 80;

/// The maximum number of bytes of an unfinished line that wait for its end.
const REST: usize = 1 << 16;

/// A line on standard error, which is invisible at first.
#[derive(Clone, Debug)]
pub struct Display(ProgressBar);

impl Default for Display {
    fn default() -> Display {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        set_template(&bar, ENDLESS);
        Display(bar)
    }
}

/// Gives a bar a template, which is a constant that a test checks.
pub(super) fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> ").with_key("left", write_left));
    }
}

/// Writes the time left, once something is done.
fn write_left(state: &ProgressState, out: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
    }
}

/// How far work is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The number of parts that are done.
    pub done: u64,
    /// The number of all parts, if it is known.
    pub all: Option<u64>,
    /// What else is said about it.
    pub text: String,
    /// The file or program that is worked on, as printable text; empty if there is none.
    pub name: String,
}

/// The text with the name after it. The name is cut in the middle where the terminal has no room for it: its end says more than what
/// is before that.
pub(super) fn with_name(text: &str, name: &str) -> String {
    let columns = terminal_size_of(io::stderr()).map_or(COLUMNS, |(width, _)| width.0.into());
    let room = columns.saturating_sub(OTHERS).max(16);
    match (text.is_empty(), name.is_empty()) {
        (_, true) => text.to_owned(),
        (true, false) => cut(name, room),
        (false, false) => format!("{text}: {}", cut(name, room)),
    }
}

/// The start and the end of a text that has more than `most` characters.
fn cut(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let start = most / 3;
    let end = most.saturating_sub(start).saturating_sub(1);
    let first = text.chars().take(start);
    first.chain(['…']).chain(text.chars().skip(length.saturating_sub(end))).collect()
}

impl Display {
    /// Removes the display for good.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }

    /// A writer to `out`, which may be the terminal that shows the display. It writes whole lines above the display,
    /// with one write for each write that it receives.
    pub fn above<W: Write>(&self, out: W) -> impl Write + use<W> {
        Above { out, display: self.clone(), rest: Vec::new() }
    }
}

/// Hides the display while it writes whole lines, because the display would overwrite an unfinished line.
struct Above<W> {
    out: W,
    display: Display,
    rest: Vec<u8>,
}

impl<W: Write> Above<W> {
    fn write_rest(&mut self) -> io::Result<()> {
        let Above { out, display, rest } = self;
        display.0.suspend(|| {
            out.write_all(rest)?;
            out.flush()
        })?;
        rest.clear();
        Ok(())
    }
}

impl<W: Write> Write for Above<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (lines, rest) = text.split_at_checked(end).unwrap_or((text, &[]));
        self.rest.extend_from_slice(lines);
        if !lines.is_empty() || self.rest.len() > REST {
            self.write_rest()?;
        }
        self.rest.extend_from_slice(rest);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_rest()
    }
}

/// A line that shows progress. It appears only after a while, and changes no faster than it can be read.
pub struct Line {
    started: Instant,
    /// `None` if nothing is shown.
    display: Option<Display>,
    /// When the next line is due, measured from the start.
    due: Duration,
}

impl Line {
    /// A line on `display`, if there is one, for work that starts now.
    #[must_use]
    pub fn new(display: Option<Display>) -> Line {
        Line { started: Instant::now(), display, due: PATIENCE }
    }

    /// Shows the progress after the elapsed time, if a line is due.
    pub fn show(&mut self, progress: impl FnOnce(Duration) -> Progress) {
        let Some(Display(bar)) = &self.display else { return };
        let elapsed = self.started.elapsed();
        if elapsed < self.due {
            return;
        }
        if self.due == PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.due = elapsed + SHOWN;
        let Progress { done, all, text, name } = progress(elapsed);
        if let Some(all) = all {
            if bar.length().is_none() {
                set_template(bar, FINITE);
            }
            bar.set_length(all);
            bar.set_position(done);
        }
        bar.set_message(with_name(&text, &name));
        bar.tick();
    }

    /// Removes the line.
    pub fn finish(self) {
        if let Some(Display(bar)) = self.display {
            bar.finish_and_clear();
        }
    }
}

/// Passes records to a renderer, and shows the progress of the scan.
pub struct WithProgress<'r> {
    renderer: &'r mut dyn Renderer,
    line: Line,
    /// The number of inputs.
    inputs: Arc<Tally>,
    state: State,
}

/// The progress of a scan.
#[derive(Debug, Default)]
struct State {
    /// The number of inputs so far. A package is one input.
    inputs: u64,
    /// The last input.
    current: String,
    /// The number of reported files and members.
    files: u64,
    errors: u64,
}

impl<'r> WithProgress<'r> {
    /// Passes records to a renderer, without a display.
    pub fn new(renderer: &'r mut dyn Renderer) -> WithProgress<'r> {
        let line = Line::new(None);
        WithProgress { renderer, line, inputs: Arc::default(), state: State::default() }
    }

    /// Shows the progress on `display`, with the number of `inputs` left.
    #[must_use]
    pub fn on(self, display: Display, inputs: Arc<Tally>) -> WithProgress<'r> {
        WithProgress { line: Line::new(Some(display)), inputs, ..self }
    }

    /// Removes the display.
    pub fn finish(self) {
        self.line.finish();
    }

    fn show(&mut self) {
        let WithProgress { line, inputs, state, .. } = self;
        line.show(|elapsed| state.progress(elapsed, inputs.total()));
    }
}

impl State {
    fn add(&mut self, record: &Record<'_>) {
        self.files += 1;
        if self.inputs == 0 || self.current != record.path.as_str() {
            self.inputs += 1;
            record.path.as_str().clone_into(&mut self.current);
        }
        for RuleCount { severity, count, .. } in &record.counts {
            if *severity == Severity::Error {
                self.errors = self.errors.saturating_add(*count);
            }
        }
    }

    /// The number of inputs, of `all` if that is known, or else of files; and the current input.
    fn progress(&self, elapsed: Duration, all: Option<u64>) -> Progress {
        let mut parts = Vec::new();
        if all.is_none() {
            let files = counted(self.files, "file");
            parts.push(format!("{files} checked in {}", clock(elapsed.as_secs())));
        }
        parts.extend((self.errors > 0).then(|| counted(self.errors, "error")));
        Progress { done: self.inputs, all, text: parts.join(", "), name: printable(&self.current) }
    }
}

/// For instance `1:05` or `2:00:07`.
#[must_use]
pub fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

impl Events for WithProgress<'_> {
    fn begin(&mut self, head: &Record<'_>) -> io::Result<()> {
        self.renderer.begin(head)
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.renderer.finding(head, finding)
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        if self.line.display.is_some() {
            self.state.add(record);
            // Reading the clock for each of a million files would take measurable time.
            if self.state.files.is_multiple_of(64) {
                self.show();
            }
        }
        self.renderer.end(record)
    }
}

impl Sink for WithProgress<'_> {
    fn tick(&mut self, _: &Summary<'_>) {
        self.show();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sframe_record::{FileName, Status};
    use std::io::BufWriter;

    /// Records each write separately.
    #[derive(Default)]
    struct Writes(Vec<String>);

    impl Write for &mut Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The display is drawn after each write, and would overwrite an unfinished line.
    #[test]
    fn whole_lines_are_written_together() {
        let mut writes = Writes::default();
        let display = Display::default();
        let mut out = BufWriter::with_capacity(1 << 16, display.above(&mut writes));
        let line = "0123456789\n";
        for _ in 0..20_000 {
            // Renderers write a line in parts.
            let (start, rest) = line.as_bytes().split_at(5);
            out.write_all(start).and_then(|()| out.write_all(rest)).expect("writing to memory");
        }
        out.flush().expect("writing to memory");
        drop(out);
        assert!(writes.0.len() < 10, "{}", writes.0.len());
        assert!(writes.0.iter().all(|text| text.ends_with('\n')));
        assert_eq!(writes.0.concat(), line.repeat(20_000));
    }

    #[test]
    fn the_templates_are_valid() {
        assert!([ENDLESS, FINITE].iter().all(|it| ProgressStyle::with_template(it).is_ok()));
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(cut("pool/main/liba.deb", 18), "pool/main/liba.deb");
        assert_eq!(cut("pool/main/liba.deb", 10), "poo…ba.deb");
        assert_eq!(cut("ääääääää", 4), "ä…ää");
    }

    /// A package is one input, whatever is in it.
    #[test]
    fn there_is_one_count() {
        let mut state = State::default();
        for (path, inside) in [("a.deb", "x"), ("a.deb", "y"), ("b\n.deb", "x")] {
            let inside = Some(inside.as_bytes().to_vec());
            let name = FileName { inside, ..FileName::file(path.into()) };
            state.add(&Record::new(Status::NotElf).named(&name));
        }
        let Progress { done, all, text, name } = state.progress(Duration::from_secs(9), Some(8));
        assert_eq!((done, all, text.as_str(), name.as_str()), (2, Some(8), "", "b\\x0a.deb"));
        state.errors = 1;
        let Progress { text, .. } = state.progress(Duration::from_secs(3700), None);
        assert_eq!(text, "3 files checked in 1:01:40, 1 error");
    }
}
