//! The processes that a program has started: the number of bytes they write, and how to kill them (proc(5)).

use std::collections::{HashMap, HashSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// How long to keep killing processes that start others faster than they are killed.
const PURSUIT: Duration = Duration::from_secs(5);

/// A process in the system's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: i32,
    /// It has ended, but its parent has not waited for it.
    is_zombie: bool,
    parent: i32,
    session: i32,
}

impl Process {
    /// Parses `/proc/ID/stat`. Its fields are the process id, the name in brackets (any bytes), the state, the parent's
    /// id, the process group, and the session.
    fn parse(stat: &[u8]) -> Option<Process> {
        let stat = String::from_utf8_lossy(stat);
        let (id, rest) = stat.split_once(" (")?;
        let mut fields = rest.rsplit_once(") ")?.1.split(' ');
        let is_zombie = fields.next()? == "Z";
        let mut number = || fields.next()?.parse().ok();
        let (parent, _group, session) = (number()?, number()?, number()?);
        Some(Process { id: id.parse().ok()?, is_zombie, parent, session })
    }
}

/// All processes; empty if the system does not list them.
fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter(|entry| {
        entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit)
    });
    numbers.filter_map(|entry| Process::parse(&fs::read(entry.path().join("stat")).ok()?)).collect()
}

fn this() -> i32 {
    Pid::this().as_raw()
}

fn end(process: i32) {
    // The process may have ended already, so errors are ignored.
    let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
}

/// Kills the children of this process, which inherits orphans, until there are none. Only children are killed, because
/// their ids cannot be reused until this process waits for them. Their own children become orphans, and are killed
/// next.
pub(super) fn end_children() {
    let start = Instant::now();
    while has_children() && start.elapsed() < PURSUIT {
        children_of_this().into_iter().for_each(end);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills the children of this process except `others`, and their children, which become children of this process, until
/// there are none. Waits for none of the others.
pub(super) fn end_children_but(others: &HashSet<i32>) {
    let start = Instant::now();
    while start.elapsed() < PURSUIT {
        let mut left = children_of_this();
        left.retain(|child| !others.contains(child));
        if left.is_empty() {
            return;
        }
        for child in left {
            end(child);
            // Until then, it is listed.
            let _ = waitpid(Pid::from_raw(child), Some(WaitPidFlag::WNOHANG));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// The ids of the children of this process.
pub(super) fn children_of_this() -> HashSet<i32> {
    let children = all().into_iter().filter(|process| process.parent == this());
    children.map(|child| child.id).collect()
}

/// Waits for children that have ended. Returns whether there are others.
fn has_children() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Err(Errno::ECHILD) => return false,
            // A child has ended, perhaps by a signal without a name.
            Ok(_) | Err(_) => {}
        }
    }
}

/// Kills a child of this process that inherits orphans and leads a session: first its descendants, in whatever session
/// they are, and then itself. In another order, orphans would outlive it.
pub(super) fn end_watcher(watcher: u32) {
    let Ok(watcher) = i32::try_from(watcher) else { return };
    let start = Instant::now();
    loop {
        let all = all();
        let descendants = descendants(watcher, &all);
        let is_its = |process: &&Process| {
            process.id != watcher
                && !process.is_zombie
                && (process.session == watcher || descendants.contains(&process.id))
        };
        let mut living = all.iter().filter(is_its).peekable();
        if living.peek().is_none() || start.elapsed() >= PURSUIT {
            break;
        }
        living.for_each(|process| end(process.id));
        thread::sleep(Duration::from_millis(1));
    }
    end(watcher);
}

/// The ids of the children of a process, of their children, and so on.
fn descendants(process: i32, all: &[Process]) -> HashSet<i32> {
    let children = children(all);
    let (mut found, mut left) = (HashSet::new(), vec![process]);
    while let Some(id) = left.pop() {
        let new = children.get(&id).into_iter().flatten().filter(|child| found.insert(**child));
        left.extend(new);
    }
    found
}

/// The ids of the children of each process.
fn children(all: &[Process]) -> HashMap<i32, Vec<i32>> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process.id);
    }
    children
}

/// The number of bytes that the descendants of this process have written to files, pipes and anything else. Those that
/// have ended count if their parent has waited for them.
pub(super) fn written() -> u64 {
    let processes = descendants(this(), &all()).into_iter().chain([this()]);
    processes.map(written_by).fold(0, u64::saturating_add)
}

/// The number of bytes written by a process and the children that it has waited for; 0 if unknown.
fn written_by(process: i32) -> u64 {
    let counts = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let count = |name: &str| counts.lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
    // `wchar` counts system calls; `write_bytes` counts writes to disk, including those from mapped memory.
    [count("wchar: "), count("write_bytes: ")].into_iter().flatten().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Process;

    /// The name in `stat` is the first 15 bytes of the program's file name, which may be any bytes (proc(5)).
    #[test]
    fn a_name_cannot_forge_a_number() {
        let stat = b"17 (a) S 1 1 1 (\xff) R 3 4 5 0 -1 4194304";
        let expected = Process { id: 17, is_zombie: false, parent: 3, session: 5 };
        assert_eq!(Process::parse(stat), Some(expected));
        assert!(Process::parse(b"17 (a) Z 3 4 5 0").is_some_and(|process| process.is_zombie));
        assert_eq!(Process::parse(b"17 (a) S 1"), None);
    }
}
