//! A sign of life on a terminal, for what takes longer than a second.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sframe_validator::rules::Severity;

use super::Renderer;
use super::numbers::{counted, grouped};
use crate::input::Tally;
use crate::printable::printable_path;
use crate::report::{FileReport, Outcome, Summary};
use crate::scan::Sink;

/// What finishes sooner shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// The line is a text of ours, cut to the terminal's width.
const TEMPLATE: &str = "{spinner} {wide_msg}";

/// Hands reports to a renderer, and shows how far the scan is on standard error where that is a
/// terminal.
pub struct WithProgress<'r> {
    renderer: &'r mut dyn Renderer,
    started: Instant,
    bar: Option<ProgressBar>,
    /// How many inputs there are; `None` where no progress is to be shown.
    inputs: Option<Arc<Tally>>,
    state: State,
}

/// How far a scan is.
#[derive(Debug, Default)]
struct State {
    /// How many inputs have been met; a package is one.
    inputs: u64,
    /// The last of them.
    current: PathBuf,
    /// Files and members that were reported.
    files: u64,
    errors: u64,
    warnings: u64,
}

impl<'r> WithProgress<'r> {
    /// Progress over a renderer, and how much of `inputs` is left; no progress at all without them.
    pub fn new(renderer: &'r mut dyn Renderer, inputs: Option<Arc<Tally>>) -> WithProgress<'r> {
        let state = State::default();
        WithProgress { renderer, started: Instant::now(), bar: None, inputs, state }
    }

    /// Takes the display away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self) {
        let Some(inputs) = &self.inputs else { return };
        let elapsed = self.started.elapsed();
        if elapsed < PATIENCE {
            return;
        }
        let line = self.state.line(elapsed, inputs.total());
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The template is a constant: a test draws it.
            if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(line);
        bar.tick();
    }
}

impl State {
    fn add(&mut self, report: &FileReport) {
        self.files += 1;
        if self.inputs == 0 || self.current != report.name.path {
            self.inputs += 1;
            self.current.clone_from(&report.name.path);
        }
        let (Outcome::Checked(checked) | Outcome::Members(checked)) = &report.outcome else {
            return;
        };
        for (rule, count) in &checked.counts {
            match rule.severity {
                Severity::Error => self.errors += count,
                Severity::Warning => self.warnings += count,
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
            let rest = seconds.saturating_mul(left).checked_div(self.inputs);
            let rest = rest.map(|rest| format!(", {} left", clock(rest))).unwrap_or_default();
            line.push_str(&format!("{rest} ({} of {})", grouped(self.inputs), grouped(total)));
        }
        format!("{line}: {}", printable_path(&self.current))
    }
}

/// Minutes and seconds, or hours as well.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

impl Sink for WithProgress<'_> {
    fn report(&mut self, report: &FileReport) -> io::Result<()> {
        if self.inputs.is_some() {
            self.state.add(report);
            // Looking at the clock for each of a million files would show in a profile.
            if self.state.files.is_multiple_of(64) {
                self.show();
            }
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| self.renderer.file(report)),
            None => self.renderer.file(report),
        }
    }

    fn tick(&mut self, _: &Summary) {
        self.show();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FileName;

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
            state.add(&FileReport::new(name, Outcome::NotElf));
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
