//! A sign of life on a terminal, for what takes longer than a second.

use std::io;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Renderer;
use crate::report::{FileReport, Summary};
use crate::scan::Sink;

/// What finishes sooner shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Hands reports to a renderer, and shows how far the scan is on standard error where that is a
/// terminal.
pub struct WithProgress<'r> {
    renderer: &'r mut dyn Renderer,
    started: Instant,
    bar: Option<ProgressBar>,
    allowed: bool,
    done: u64,
}

impl<'r> WithProgress<'r> {
    /// Progress over a renderer; none at all where it is not `allowed`.
    pub fn new(renderer: &'r mut dyn Renderer, allowed: bool) -> WithProgress<'r> {
        WithProgress { renderer, started: Instant::now(), bar: None, allowed, done: 0 }
    }

    /// Takes the display away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self) {
        if !self.allowed || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The template is a constant: a test draws it.
            if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
                bar.set_style(style);
            }
            bar
        });
        bar.set_position(self.done);
        bar.tick();
    }
}

const TEMPLATE: &str = "{spinner} {human_pos} files checked, {elapsed}";

impl Sink for WithProgress<'_> {
    fn report(&mut self, report: &FileReport) -> io::Result<()> {
        self.done += 1;
        // Looking at the clock for each of a million files would show in a profile.
        if self.done.is_multiple_of(64) {
            self.show();
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
    use super::TEMPLATE;

    #[test]
    fn the_template_is_one() {
        assert!(indicatif::ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
