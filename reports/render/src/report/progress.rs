//! Shows progress on a terminal if the work takes longer than a second.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Renderer;
use sframe_input::Tally;
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;
use sframe_record::{Events, Finding, Record, RuleCount, Severity, Summary};
use sframe_scan::Sink;

/// Work that takes less time shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The minimum time for which a line is shown, so that it can be read.
const SHOWN: Duration = Duration::from_millis(100);
/// The line is our own text, truncated to the terminal's width.
const TEMPLATE: &str = "{spinner} {wide_msg}";

/// The maximum number of bytes of an unfinished line that wait for its end.
const REST: usize = 1 << 16;

/// A line on standard error, which is invisible at first.
#[derive(Clone, Debug)]
pub struct Display(ProgressBar);

impl Default for Display {
    fn default() -> Display {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        // The template is a constant, which a test checks.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Display(bar)
    }
}

impl Display {
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

    /// Shows the text for the elapsed time, if a line is due.
    pub fn show(&mut self, text: impl FnOnce(Duration) -> String) {
        let Some(Display(bar)) = &self.display else { return };
        let elapsed = self.started.elapsed();
        if elapsed < self.due {
            return;
        }
        if self.due == PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.due = elapsed + SHOWN;
        bar.set_message(text(elapsed));
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
    warnings: u64,
}

impl<'r> WithProgress<'r> {
    /// Passes records to a renderer. Shows progress if that is `allowed`.
    pub fn new(renderer: &'r mut dyn Renderer, allowed: bool) -> WithProgress<'r> {
        let line = Line::new(allowed.then(Display::default));
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

    /// The counts, the rate, the number of inputs left if `total` is known, and the current input.
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

/// For instance `, 0:07 left`, estimated from the rate so far; empty if nothing is done yet.
#[must_use]
pub fn time_left(elapsed: Duration, done: u64, left: u64) -> String {
    let rest = elapsed.as_secs().max(1).saturating_mul(left).checked_div(done);
    rest.map(|rest| format!(", {} left", clock(rest))).unwrap_or_default()
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
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    /// After two of eight packages in 100 seconds, 300 seconds are left at that rate.
    #[test]
    fn the_line_has_counts_rate_and_time_left() {
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
