//! Ends the traced processes when the time is over or the user has interrupted the trace, even while all of them sleep.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::outcome::End;
use crate::ptrace;

/// How often the flag is looked at.
const PERIOD: Duration = Duration::from_millis(50);

/// The live processes, shared with the thread that watches the time.
#[derive(Default)]
struct Shared {
    processes: BTreeSet<Pid>,
    reason: Option<End>,
}

/// Watches the time, until it is dropped.
pub(super) struct Watch {
    shared: Arc<Mutex<Shared>>,
    interrupted: Arc<AtomicBool>,
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn new(interrupted: Arc<AtomicBool>, limit: Option<Duration>) -> Watch {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (done, ended) = channel();
        let (watched, flag) = (shared.clone(), interrupted.clone());
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let thread = thread::spawn(move || {
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                let reason = if flag.load(Ordering::Relaxed) {
                    End::Interrupted
                } else if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    End::Time
                } else {
                    continue;
                };
                let mut shared = watched.lock().unwrap_or_else(PoisonError::into_inner);
                shared.reason.get_or_insert(reason);
                // Again in the next period, for processes that were started meanwhile.
                shared.processes.iter().copied().for_each(ptrace::end);
            }
        });
        Watch { shared, interrupted, done: Some(done), thread: Some(thread) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a process or thread that is to be ended.
    pub(super) fn add(&self, pid: Pid) {
        self.lock().processes.insert(pid);
    }

    /// Removes one that has ended.
    pub(super) fn remove(&self, pid: Pid) {
        self.lock().processes.remove(&pid);
    }

    /// Ends all processes now.
    pub(super) fn end_all(&self) {
        self.lock().processes.iter().copied().for_each(ptrace::end);
    }

    /// Why the processes were ended, if it was not their own doing. Ctrl-C may have ended them before this program
    /// did.
    pub(super) fn reason(&self) -> Option<End> {
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        self.lock().reason.or(interrupted.then_some(End::Interrupted))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done = None;
        if let Some(thread) = self.thread.take() {
            // It ends as soon as nobody can send any more.
            let _ = thread.join();
        }
    }
}
