//! Ctrl-C: what is known so far is told, and the program ends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};

/// As shells say it of a program that SIGINT has ended.
pub(super) const STATUS: u8 = 130;

/// A flag that the first Ctrl-C sets; the second one ends the program at once.
pub(super) fn flag() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    // In this order: the first signal finds the flag unset.
    register_conditional_shutdown(SIGINT, STATUS.into(), interrupted.clone())?;
    register(SIGINT, interrupted.clone())?;
    Ok(interrupted)
}
