//! Programs with which the caller talks through pipes. No process of theirs outlives them.
//!
//! Such a program is started by an *attendant*: another process of the calling program, which passes on its standard input and
//! output. When the program ends, the attendant kills all processes that it has started, and ends like it. When its
//! standard input closes, which also happens when the caller ends, it kills the program as well.

use std::collections::HashSet;
use std::env;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{self, ExitStatus, Stdio};
use std::thread;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, raise};
use nix::unistd::{dup2_stdout, setsid};

use super::processes;

/// The first argument of an attendant; the program and its arguments follow.
pub const ATTENDANT: &str = "attended";

/// The words of a command that runs another one with an attendant. The calling program calls [`attend`] if its arguments begin with
/// [`ATTENDANT`].
///
/// # Errors
/// The path of the calling program is unknown, or is no text.
pub fn attended(words: Vec<String>) -> io::Result<Vec<String>> {
    let program = env::current_exe()?.into_os_string().into_string();
    let program = program.map_err(|_| io::Error::other("the path of this program is no text"))?;
    // The program's name may begin with a dash.
    let first = [program, ATTENDANT.to_owned(), "--".to_owned()];
    Ok(first.into_iter().chain(words).collect())
}

/// The orphans of this process's descendants, which have become its children, in whatever group or session they are.
#[derive(Debug)]
pub struct Orphans {
    /// Children that were there before: those of a shell that this program has replaced (`exec`).
    others: HashSet<i32>,
}

/// Makes orphans children of this process, even if a reader kills its attendant.
///
/// # Errors
/// The system does not support it.
pub fn adopt_orphans() -> io::Result<Orphans> {
    let others = processes::children_of_this();
    prctl::set_child_subreaper(true)?;
    Ok(Orphans { others })
}

impl Orphans {
    /// Kills the children of this process and their descendants, except those that were there before it adopted orphans. The caller
    /// no longer waits for any of them. Tries for some seconds, because processes may start others faster than they are
    /// killed, or belong to another user.
    pub fn end(&self) {
        processes::end_children_but(&self.others);
    }
}

/// Runs a program as its attendant, and ends like it: does not return if it was ended by a signal.
///
/// # Errors
/// The program cannot be started.
pub fn attend(program: &str, arguments: &[String]) -> io::Result<u8> {
    // Signals of a terminal do not arrive here. Fails if this process leads a session already, which is fine.
    let _ = setsid();
    adopt_orphans()?;
    let mut child = process::Command::new(program)
        .args(arguments)
        .process_group(0)
        .stderr(Stdio::null())
        .spawn()?;
    // The caller has to see when the program closes its output.
    dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    thread::spawn(|| {
        wait_for_caller();
        processes::end_children();
        process::exit(1);
    });
    let status = child.wait();
    processes::end_children();
    Ok(end_like(status?))
}

/// Waits until the caller has closed standard input. Reads nothing: that is for the program.
fn wait_for_caller() {
    let input = io::stdin();
    loop {
        let mut end = [PollFd::new(input.as_fd(), PollFlags::empty())];
        match poll(&mut end, PollTimeout::NONE) {
            Ok(_) if end.iter().any(|end| end.any() != Some(false)) => return,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}

fn end_like(status: ExitStatus) -> u8 {
    let signal = status.signal().and_then(|number| Signal::try_from(number).ok());
    if let Some(signal) = signal {
        // Only the program itself may leave a core.
        let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
        // The first time, Rust's handler of SIGSEGV and SIGBUS may put back the system's.
        let _ = raise(signal).and_then(|()| raise(signal));
    }
    // Signals that end no Rust program, such as SIGPIPE: like a shell.
    let code = status.code().or(status.signal().map(|number| 128 + number)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
