//! Handles Ctrl-C: the program reports the results so far, and ends.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

/// The exit status that shells report for a program ended by SIGINT.
pub(super) const STATUS: u8 = 130;

/// A flag that the first Ctrl-C sets; the second one ends the program at once.
pub(super) fn flag() -> io::Result<Arc<AtomicBool>> {
    flag_for(&[SIGINT])
}

/// A flag like that of [`flag`], which SIGTERM also sets, and SIGHUP unless `nohup` makes the program ignore it.
pub(super) fn flag_for_any_end() -> io::Result<Arc<AtomicBool>> {
    match is_ignored(SIGHUP) {
        true => flag_for(&[SIGINT, SIGTERM]),
        false => flag_for(&[SIGINT, SIGTERM, SIGHUP]),
    }
}

fn flag_for(signals: &[i32]) -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in signals {
        // The order matters: at the first signal the flag is not set.
        register_conditional_shutdown(*signal, STATUS.into(), interrupted.clone())?;
        register(*signal, interrupted.clone())?;
    }
    Ok(interrupted)
}

/// Whether this process was started with the signal ignored (proc(5), `SigIgn`).
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 != 0)
}
