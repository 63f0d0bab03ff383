//! From how a reader ended to what that says about it.

use std::fmt;

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use super::cases::Duty;
use super::limits::{FILES_MIB, OUTPUT_MIB, WRITTEN_MIB};

/// How a reader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// With an exit status.
    Status(i32),
    /// By a signal.
    Signal(i32),
    /// It did not in time, and was ended.
    TimedOut,
    /// It was ended, for it printed more than [`OUTPUT_MIB`].
    Printed,
    /// It was ended, for its files took more than [`FILES_MIB`], or it wrote more than [`WRITTEN_MIB`].
    Wrote,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Status(status) => write!(f, "exit status {status}"),
            End::Signal(number) => match Signal::try_from(*number) {
                Ok(signal) => write!(f, "{signal}"),
                Err(_) => write!(f, "signal {number}"),
            },
            End::TimedOut => f.write_str("ended at the limit of time"),
            End::Printed => write!(f, "ended after {OUTPUT_MIB} MiB of output"),
            End::Wrote => {
                write!(f, "ended after {FILES_MIB} MiB in files, or {WRITTEN_MIB} MiB written")
            }
        }
    }
}

/// What a reader did with a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It was ended by a signal, a sanitizer, or a panic of its own.
    Crash,
    /// It took longer than the limit.
    Hang,
    /// It failed after it had taken at least half of the memory that it may have.
    Memory,
    /// It printed or wrote more than it may.
    Writes,
    /// It said no: by an exit status that is not 0, or by a message on standard error, of a known
    /// reader also by the words on standard output that it uses for that.
    Reject,
    /// Exit status 0, and nothing of that.
    Accept,
}

impl Verdict {
    /// Every verdict, the worst first.
    pub const ALL: [Verdict; 6] = [
        Verdict::Crash,
        Verdict::Hang,
        Verdict::Memory,
        Verdict::Writes,
        Verdict::Reject,
        Verdict::Accept,
    ];

    /// The word in reports.
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

/// Whether that is what a conforming reader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is.
    Conforming,
    /// It refuses a section of a version or machine of which it refuses sound ones as well.
    OutOfScope,
    /// It is not.
    NotConforming,
}

/// Signals that a shell tells of as 128 + N and that mean a crash.
const CRASHES: [Signal; 7] = [
    Signal::SIGSEGV,
    Signal::SIGABRT,
    Signal::SIGBUS,
    Signal::SIGFPE,
    Signal::SIGILL,
    Signal::SIGTRAP,
    Signal::SIGSYS,
];

/// What a run says that ended so and printed `errors`. `peak_kib` is the most memory that was
/// resident, `limit_mib` the limit, 0 for none.
pub(super) fn verdict(end: End, errors: &[u8], peak_kib: u64, limit_mib: u64) -> Verdict {
    // Memory that grows by doubling fails at half of the limit.
    let much = limit_mib > 0 && peak_kib >= limit_mib.saturating_mul(1024) / 2;
    let failed = |verdict| if much { Verdict::Memory } else { verdict };
    match end {
        End::TimedOut => Verdict::Hang,
        End::Printed | End::Wrote => Verdict::Writes,
        End::Signal(number) => match Signal::try_from(number) {
            Ok(Signal::SIGXCPU) => Verdict::Hang,
            Ok(Signal::SIGXFSZ) => Verdict::Writes,
            // Not from here: the system takes memory back.
            Ok(Signal::SIGKILL) => Verdict::Memory,
            _ => failed(Verdict::Crash),
        },
        End::Status(status) => match told_by_shell(status) {
            Some(Signal::SIGXCPU) => Verdict::Hang,
            Some(Signal::SIGXFSZ) => Verdict::Writes,
            Some(Signal::SIGKILL) => Verdict::Memory,
            Some(signal) if CRASHES.contains(&signal) => failed(Verdict::Crash),
            _ if says_that_it_crashed(status, errors) => failed(Verdict::Crash),
            _ if status != 0 => failed(Verdict::Reject),
            _ if !errors.trim_ascii().is_empty() => Verdict::Reject,
            _ => Verdict::Accept,
        },
    }
}

fn told_by_shell(status: i32) -> Option<Signal> {
    Signal::try_from(status.checked_sub(128)?).ok()
}

/// A sanitizer's report, or a panic of Rust's.
fn says_that_it_crashed(status: i32, errors: &[u8]) -> bool {
    let says = |text: &str| errors.windows(text.len()).any(|window| window == text.as_bytes());
    let panicked = status == 101 && says("panicked at");
    let sanitized = ["ERROR: ", "SUMMARY: "].into_iter().any(|mark| {
        ["AddressSanitizer", "MemorySanitizer", "UndefinedBehaviorSanitizer", "ThreadSanitizer"]
            .into_iter()
            .any(|sanitizer| says(&format!("{mark}{sanitizer}")))
    });
    panicked || sanitized
}

/// What a verdict says, of a reader that reads sound sections of the format or (`!known`) does not.
pub(super) fn judge(verdict: Verdict, duty: Duty, known: bool) -> Judgement {
    match (verdict, duty) {
        (Verdict::Crash | Verdict::Hang | Verdict::Memory | Verdict::Writes, _) => {
            Judgement::NotConforming
        }
        (Verdict::Accept, Duty::Refuse) => Judgement::NotConforming,
        (Verdict::Accept, Duty::Read | Duty::Survive) => Judgement::Conforming,
        (Verdict::Reject, _) if known => Judgement::Conforming,
        (Verdict::Reject, _) => Judgement::OutOfScope,
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Verdict, verdict};

    #[test]
    fn how_a_reader_ends() {
        let quiet = |end| verdict(end, b"", 1000, 64);
        assert_eq!(quiet(End::Status(0)), Verdict::Accept);
        assert_eq!(quiet(End::Status(1)), Verdict::Reject);
        assert_eq!(verdict(End::Status(0), b"warning: odd\n", 0, 64), Verdict::Reject);
        assert_eq!(quiet(End::TimedOut), Verdict::Hang);
        assert_eq!(quiet(End::Signal(11)), Verdict::Crash);
        assert_eq!(quiet(End::Signal(24)), Verdict::Hang);
        assert_eq!(quiet(End::Signal(9)), Verdict::Memory);
        // signal(7): SIGXFSZ is 25.
        assert_eq!(quiet(End::Signal(25)), Verdict::Writes);
        assert_eq!(quiet(End::Status(128 + 25)), Verdict::Writes);
        assert_eq!(quiet(End::Printed), Verdict::Writes);
        assert_eq!(quiet(End::Wrote), Verdict::Writes);
        // What a shell says of a child's signal; 128 itself and 255 are none.
        assert_eq!(quiet(End::Status(128 + 6)), Verdict::Crash);
        assert_eq!(quiet(End::Status(128)), Verdict::Reject);
        assert_eq!(quiet(End::Status(255)), Verdict::Reject);
    }

    #[test]
    fn memory_is_blamed_from_half_of_the_limit() {
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
