//! Shows the progress of a scan whose size is known.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use sframe_store::Item;

use sframe_record::text::printable_path;

use super::progress::{set_template, with_name};

const TEMPLATE: &str = "[{bar:20}] {bytes} of {total_bytes}{left} {wide_msg}";

/// Shows on standard error how much of a plan is complete.
#[derive(Debug)]
pub struct Pace {
    bar: ProgressBar,
    items: u64,
}

impl Pace {
    /// A display for items of `bytes` bytes in total.
    #[must_use]
    pub fn shown(bytes: u64) -> Pace {
        Pace::on(ProgressDrawTarget::stderr(), bytes)
    }

    /// Counts items without a display.
    #[must_use]
    pub fn hidden(bytes: u64) -> Pace {
        Pace::on(ProgressDrawTarget::hidden(), bytes)
    }

    fn on(target: ProgressDrawTarget, bytes: u64) -> Pace {
        let bar = ProgressBar::with_draw_target(Some(bytes), target);
        set_template(&bar, TEMPLATE);
        bar.enable_steady_tick(Duration::from_millis(200));
        Pace { bar, items: 0 }
    }

    /// Counts an item that is complete.
    pub fn done(&mut self, item: &Item) {
        self.items += 1;
        self.bar.inc(item.size);
        if self.items.is_multiple_of(16) || item.size > 1 << 20 {
            self.bar.set_message(with_name("", &printable_path(&item.path).to_string()));
        }
    }

    /// Counts bytes that were checked earlier, which do not affect the speed.
    pub fn skip(&mut self, bytes: u64) {
        self.bar.inc(bytes);
        self.bar.reset_eta();
    }

    /// Removes the display.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_template_is_valid() {
        assert!(indicatif::ProgressStyle::with_template(super::TEMPLATE).is_ok());
    }
}
