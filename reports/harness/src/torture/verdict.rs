//! Verdicts: what a reader did with a case, derived from how it ended, and whether a conforming reader does that.

use nix::sys::signal::Signal;
use serde::Serialize;

use super::case::Duty;
use crate::limited::{End, Ran};

/// What a reader did with a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It was ended by a signal, a sanitizer, or a panic.
    Crash,
    /// It took longer than the limit.
    Hang,
    /// It failed after it had used at least half of the memory limit.
    Memory,
    /// It printed or wrote more than the limit.
    Writes,
    /// It refused the file: by a non-zero exit status, a message on standard error, or, if the reader is known, its
    /// usual message on standard output.
    Reject,
    /// It exited with status 0, and none of the above applies.
    Accept,
}

impl Verdict {
    /// Every verdict, worst first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Crash,
        Verdict::Hang,
        Verdict::Memory,
        Verdict::Writes,
        Verdict::Reject,
        Verdict::Accept,
    ];

    /// The identifier in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Crash => "crash",
            Verdict::Hang => "hang",
            Verdict::Memory => "memory",
            Verdict::Writes => "writes",
            Verdict::Reject => "reject",
            Verdict::Accept => "accept",
        }
    }
}

/// Whether a conforming reader behaves like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// A conforming reader may behave like this.
    Conforming,
    /// The reader refuses a section of a version or machine whose sound sections it refuses as well.
    OutOfScope,
    /// No conforming reader behaves like this.
    NotConforming,
}

/// Signals that mean a crash; a shell reports them as exit status 128 + N.
const CRASHES: [Signal; 7] = [
    Signal::SIGSEGV,
    Signal::SIGABRT,
    Signal::SIGBUS,
    Signal::SIGFPE,
    Signal::SIGILL,
    Signal::SIGTRAP,
    Signal::SIGSYS,
];

/// The verdict on a reader that ran under a memory limit of `limit_mib` MiB (0 for none).
pub(super) fn verdict(ran: &Ran, limit_mib: u64) -> Verdict {
    let peak_kib = ran.cost.map_or(0, |cost| cost.peak_kib);
    // Memory that grows by doubling cannot grow further beyond half of the limit.
    let much = limit_mib > 0 && peak_kib >= limit_mib.saturating_mul(1024) / 2;
    let failed = |verdict| if much { Verdict::Memory } else { verdict };
    match ran.end {
        End::TimedOut => Verdict::Hang,
        End::Printed | End::Wrote => Verdict::Writes,
        End::Signal(number) => match Signal::try_from(number) {
            Ok(Signal::SIGXCPU) => Verdict::Hang,
            Ok(Signal::SIGXFSZ) => Verdict::Writes,
            // The watcher reports its own kills differently, so the system ran out of memory.
            Ok(Signal::SIGKILL) => Verdict::Memory,
            _ => failed(Verdict::Crash),
        },
        End::Status(status) => match signal_in_status(status) {
            Some(Signal::SIGXCPU) => Verdict::Hang,
            Some(Signal::SIGXFSZ) => Verdict::Writes,
            Some(Signal::SIGKILL) => Verdict::Memory,
            Some(signal) if CRASHES.contains(&signal) => failed(Verdict::Crash),
            _ if reports_crash(status, &ran.errors) => failed(Verdict::Crash),
            _ if status != 0 => failed(Verdict::Reject),
            _ if !ran.errors.trim_ascii().is_empty() => Verdict::Reject,
            _ => Verdict::Accept,
        },
    }
}

/// The signal that a shell reports by this exit status.
fn signal_in_status(status: i32) -> Option<Signal> {
    Signal::try_from(status.checked_sub(128)?).ok()
}

/// Whether standard error contains a sanitizer's report, or a panic message of a Rust program.
fn reports_crash(status: i32, errors: &[u8]) -> bool {
    let says = |text: &str| errors.windows(text.len()).any(|window| window == text.as_bytes());
    let panicked = status == 101 && says("panicked at");
    let sanitized = ["ERROR: ", "SUMMARY: "].into_iter().any(|mark| {
        ["AddressSanitizer", "MemorySanitizer", "UndefinedBehaviorSanitizer", "ThreadSanitizer"]
            .into_iter()
            .any(|sanitizer| says(&format!("{mark}{sanitizer}")))
    });
    panicked || sanitized
}

/// Judges a verdict on a reader that accepts sound sections of the case's format, by the case's expected behaviour.
pub(super) const fn judge(verdict: Verdict, duty: Duty) -> Judgement {
    match (verdict, duty) {
        (Verdict::Crash | Verdict::Hang | Verdict::Memory | Verdict::Writes, _) => {
            Judgement::NotConforming
        }
        (Verdict::Accept, Duty::Refuse) => Judgement::NotConforming,
        (Verdict::Accept, Duty::Read | Duty::Survive) | (Verdict::Reject, _) => {
            Judgement::Conforming
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;
    use crate::limited::{Cost, End, Ran};

    fn verdict(end: End, errors: &[u8], peak_kib: u64, limit_mib: u64) -> Verdict {
        let cost = Some(Cost { processor_ms: 0, peak_kib });
        let (output, errors) = (Vec::new(), errors.to_vec());
        super::verdict(&Ran { end, output, errors, printed: 0, cost }, limit_mib)
    }

    #[test]
    fn the_verdict_follows_from_status_and_messages() {
        let quiet = |end| verdict(end, b"", 1000, 64);
        assert_eq!(quiet(End::Status(0)), Verdict::Accept);
        assert_eq!(quiet(End::Status(1)), Verdict::Reject);
        assert_eq!(verdict(End::Status(0), b"warning: odd\n", 0, 64), Verdict::Reject);
        assert_eq!(quiet(End::TimedOut), Verdict::Hang);
        assert_eq!(quiet(End::Signal(11)), Verdict::Crash);
        assert_eq!(quiet(End::Signal(24)), Verdict::Hang);
        assert_eq!(quiet(End::Signal(9)), Verdict::Memory);
        // 25 is SIGXFSZ (signal(7)).
        assert_eq!(quiet(End::Signal(25)), Verdict::Writes);
        assert_eq!(quiet(End::Status(128 + 25)), Verdict::Writes);
        assert_eq!(quiet(End::Printed), Verdict::Writes);
        assert_eq!(quiet(End::Wrote), Verdict::Writes);
        // A shell reports a child's signal as 128 + N; 128 itself and 255 are not such statuses.
        assert_eq!(quiet(End::Status(128 + 6)), Verdict::Crash);
        assert_eq!(quiet(End::Status(128)), Verdict::Reject);
        assert_eq!(quiet(End::Status(255)), Verdict::Reject);
    }

    #[test]
    fn failures_with_half_of_the_memory_limit_are_due_to_memory() {
        let failed = |peak| verdict(End::Signal(6), b"", peak, 64);
        assert_eq!(failed(32 * 1024), Verdict::Memory);
        assert_eq!(failed(32 * 1024 - 1), Verdict::Crash);
        assert_eq!(verdict(End::Status(0), b"", 60 * 1024, 64), Verdict::Accept);
        assert_eq!(verdict(End::Signal(6), b"", 32 * 1024, 0), Verdict::Crash);
    }

    #[test]
    fn sanitizers_and_panics_are_crashes() {
        let status = |status, errors: &str| verdict(End::Status(status), errors.as_bytes(), 0, 64);
        let report = "==7==ERROR: AddressSanitizer: heap-buffer-overflow";
        assert_eq!(status(1, report), Verdict::Crash);
        assert_eq!(status(101, "thread 'main' panicked at src/main.rs"), Verdict::Crash);
        assert_eq!(status(101, "refused"), Verdict::Reject);
    }
}
