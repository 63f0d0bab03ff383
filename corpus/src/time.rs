//! Time, for tests whose result must not depend on what else the machine does.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A condition that does not hold after this time never will. It is long because it passes only if a test fails.
pub const LONG: Duration = Duration::from_secs(120);

/// The time between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until a condition holds. `what` completes "after two minutes, ...".
///
/// # Panics
/// Panics if it does not hold after a [`LONG`] time.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "after two minutes, {what}");
        sleep(PAUSE);
    }
}

/// The processor time that the calling thread has used. Unlike the time that has passed, it does not grow while other
/// processes have the processor.
///
/// # Panics
/// Panics if the system does not state it (`CONFIG_SCHED_INFO` of Linux, Documentation/scheduler/sched-stats.rst).
#[must_use]
pub fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux states it");
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}
