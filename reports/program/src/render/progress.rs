//! A sign of life on a terminal, for what takes longer than a second.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Renderer;
use crate::scan::{Piece, Sink};
use sframe_input::Tally;
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;
use sframe_record::{Record, RuleCount, Severity, Summary};

/// What finishes sooner shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a line stands at least: nobody reads faster.
const STANDS: Duration = Duration::from_millis(100);
/// The line is a text of ours, cut to the terminal's width.
const TEMPLATE: &str = "{spinner} {wide_msg}";

/// So much of a line waits for the line's end.
const REST: usize = 1 << 16;

/// A line on standard error, of which nothing is seen at first.
#[derive(Clone, Debug)]
pub struct Display(ProgressBar);

impl Default for Display {
    fn default() -> Display {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        // The template is a constant: a test draws it.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Display(bar)
    }
}

impl Display {
    /// Writes to `out`, which may be the terminal that the display is on: whole lines, above it, in as many writes as
    /// it is given.
    pub fn above<W: Write>(&self, out: W) -> impl Write + use<W> {
        Above { out, display: self.clone(), rest: Vec::new() }
    }
}

/// Takes the display away for what is written, which ends with a line: the display is drawn over what follows.
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

/// A line that says how far something is: not before it has taken a while, and not more often than anybody reads.
pub struct Line {
    started: Instant,
    /// `None` where nothing is to be shown.
    display: Option<Display>,
    /// When the next line is due, from the start.
    due: Duration,
}

impl Line {
    /// A line on `display`, if there is one, of something that starts now.
    #[must_use]
    pub fn new(display: Option<Display>) -> Line {
        Line { started: Instant::now(), display, due: PATIENCE }
    }

    /// Shows the text for the time since the start, if it is due.
    pub fn show(&mut self, text: impl FnOnce(Duration) -> String) {
        let Some(Display(bar)) = &self.display else { return };
        let elapsed = self.started.elapsed();
        if elapsed < self.due {
            return;
        }
        if self.due == PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.due = elapsed + STANDS;
        bar.set_message(text(elapsed));
        bar.tick();
    }

    /// Takes it away.
    pub fn finish(self) {
        if let Some(Display(bar)) = self.display {
            bar.finish_and_clear();
        }
    }
}

/// Hands records to a renderer, and shows how far the scan is.
pub struct WithProgress<'r> {
    renderer: &'r mut dyn Renderer,
    line: Line,
    /// How many inputs there are.
    inputs: Arc<Tally>,
    state: State,
}

/// How far a scan is.
#[derive(Debug, Default)]
struct State {
    /// How many inputs have been met; a package is one.
    inputs: u64,
    /// The last of them.
    current: String,
    /// Files and members that were reported.
    files: u64,
    errors: u64,
    warnings: u64,
}

impl<'r> WithProgress<'r> {
    /// Progress over a renderer; none at all where it is not `allowed`.
    pub fn new(renderer: &'r mut dyn Renderer, allowed: bool) -> WithProgress<'r> {
        let line = Line::new(allowed.then(Display::default));
        WithProgress { renderer, line, inputs: Arc::default(), state: State::default() }
    }

    /// Shows it on `display`, with how much of `inputs` is left.
    #[must_use]
    pub fn on(self, display: Display, inputs: Arc<Tally>) -> WithProgress<'r> {
        WithProgress { line: Line::new(Some(display)), inputs, ..self }
    }

    /// Takes the display away.
    pub fn finish(self) {
        self.line.finish();
    }

    fn show(&mut self) {
        let WithProgress { line, inputs, state, .. } = self;
        line.show(|elapsed| state.line(elapsed, inputs.total()));
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
            match severity {
                Severity::Error => self.errors = self.errors.saturating_add(*count),
                Severity::Warning => self.warnings = self.warnings.saturating_add(*count),
                Severity::Lint => {}
            }
        }
    }

    /// Counts, rate, what is left of `total` inputs where that is known, and where the scan is.
    fn line(&self, elapsed: Duration, total: Option<u64>) -> String {
        let seconds = elapsed.as_secs().max(1);
        let mut line = format!(
            "{} checked, {}/s, {}, {}, {}",
            counted(self.files, "file"),
            grouped(self.files / seconds),
            counted(self.errors, "error"),
            counted(self.warnings, "warning"),
            clock(seconds),
        );
        if let Some(total) = total {
            let left = total.saturating_sub(self.inputs);
            let rest = time_left(elapsed, self.inputs, left);
            line.push_str(&format!("{rest} ({} of {})", grouped(self.inputs), grouped(total)));
        }
        format!("{line}: {}", printable(&self.current))
    }
}

/// `, 0:07 left`, at the rate at which so many are done; nothing where none is.
#[must_use]
pub fn time_left(elapsed: Duration, done: u64, left: u64) -> String {
    let rest = elapsed.as_secs().max(1).saturating_mul(left).checked_div(done);
    rest.map(|rest| format!(", {} left", clock(rest))).unwrap_or_default()
}

/// Minutes and seconds, or hours as well.
#[must_use]
pub fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

impl Sink for WithProgress<'_> {
    fn piece(&mut self, piece: Piece) -> io::Result<()> {
        if let Some(record) = piece.record().filter(|_| self.line.display.is_some()) {
            self.state.add(record);
            // Looking at the clock for each of a million files would show in a profile.
            if self.state.files.is_multiple_of(64) {
                self.show();
            }
        }
        match piece {
            Piece::Whole(record) => self.renderer.file(&record),
            Piece::Start(record) => self.renderer.start(record),
            Piece::Findings(findings) => self.renderer.findings(findings),
            Piece::End => self.renderer.finish(),
        }
    }

    fn tick(&mut self, _: &Summary<'_>) {
        self.show();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sframe_record::{FileName, Status};
    use std::io::BufWriter;

    /// Keeps what is written at once apart.
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

    /// The display is drawn after each write: where a line has not ended, it would be drawn over.
    #[test]
    fn lines_are_written_whole_and_many_at_once() {
        let mut writes = Writes::default();
        let display = Display::default();
        let mut out = BufWriter::with_capacity(1 << 16, display.above(&mut writes));
        let line = "0123456789\n";
        for _ in 0..20_000 {
            // As renderers do: a line in parts.
            let (start, rest) = line.as_bytes().split_at(5);
            out.write_all(start).and_then(|()| out.write_all(rest)).expect("it is written");
        }
        out.flush().expect("it is written");
        drop(out);
        assert!(writes.0.len() < 10, "{}", writes.0.len());
        assert!(writes.0.iter().all(|text| text.ends_with('\n')));
        assert_eq!(writes.0.concat(), line.repeat(20_000));
    }

    #[test]
    fn the_template_is_one() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    /// Two of eight packages in 100 seconds: 300 more at that rate.
    #[test]
    fn a_line_says_how_far_the_scan_is() {
        let mut state = State::default();
        for (path, inside) in [("a.deb", "x"), ("a.deb", "y"), ("b\n.deb", "x")] {
            let inside = Some(inside.as_bytes().to_vec());
            let name = FileName { inside, ..FileName::file(path.into()) };
            state.add(&Record::new(Status::NotElf).named(&name));
        }
        state.files = 12_345;
        state.errors = 1;
        assert_eq!(
            state.line(Duration::from_secs(100), Some(8)),
            "12,345 files checked, 123/s, 1 error, 0 warnings, 1:40, 5:00 left (2 of 8): b\\x0a.deb"
        );
        assert!(state.line(Duration::from_secs(3700), None).contains("0 warnings, 1:01:40: b"));
    }
}
