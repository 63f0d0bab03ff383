//! The loop that steps all threads, and what it does at PCs that it sees for the first time.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::time::{Duration, Instant};

use nix::libc;
use nix::unistd::Pid;

use super::checks::Checks;
use super::kind::{Kind, LONGEST};
use super::outcome::{End, Trace};
use super::shadow::ShadowStack;
use super::space::{FileOffset, Space};
use super::thread::Thread;
use super::watch::Watch;
use super::{Progress, TraceOptions};
use crate::files::Files;
use crate::ptrace::{self, Origin, Pinned, Registers, Stop};

/// The clock is read, and progress reported, once in this number of steps.
const PACE: u64 = 4096;

/// Traces a program.
pub(super) fn run(options: &TraceOptions, progress: &mut dyn FnMut(Progress)) -> io::Result<Trace> {
    let files = Files::default();
    let _pinned = if options.pin { Pinned::new().ok() } else { None };
    let watch = Watch::new(options.interrupted.clone(), options.time_limit);
    let start = Instant::now();
    let mut tracer = Tracer::new(&files, &watch, options);
    let result = tracer.start(options).and_then(|()| tracer.run(progress));
    // Without this, children would remain that nothing waits for.
    tracer.end_all();
    result?;
    files.intact().map_err(io::Error::other)?;
    Ok(tracer.outcome(start.elapsed()))
}

/// The segment of code that 64-bit programs run in (Linux, `__USER_CS`).
const CODE_64: u64 = 0x33;

/// A process.
struct Process {
    pid: Pid,
    /// `None` when all of its threads have ended.
    space: Option<Space>,
    /// The number of its threads.
    threads: usize,
}

/// A thread that does not run yet: its parent has reported it, or it has stopped.
#[derive(Default)]
struct Newborn {
    /// The parent's process and stack, its SP, and whether memory is shared.
    parent: Option<(usize, ShadowStack, u64)>,
    stopped: bool,
}

struct Tracer<'s, 'w> {
    checks: Checks<'s>,
    watch: &'w Watch,
    max_steps: Option<u64>,
    /// The first process, whose end is reported.
    main: Option<Pid>,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    by_pid: HashMap<i32, usize>,
    /// Numbers of threads that have ended.
    free: Vec<usize>,
    newborn: BTreeMap<i32, Newborn>,
    steps: u64,
    process_count: u64,
    thread_count: u64,
    untraced: u64,
    end: Option<End>,
}

impl<'s, 'w> Tracer<'s, 'w> {
    fn new(files: &'s Files, watch: &'w Watch, options: &TraceOptions) -> Tracer<'s, 'w> {
        Tracer {
            checks: Checks::new(files, options.known),
            watch,
            max_steps: options.max_steps,
            main: None,
            processes: Vec::new(),
            threads: Vec::new(),
            by_pid: HashMap::new(),
            free: Vec::new(),
            newborn: BTreeMap::new(),
            steps: 0,
            process_count: 0,
            thread_count: 0,
            untraced: 0,
            end: None,
        }
    }

    fn start(&mut self, options: &TraceOptions) -> io::Result<()> {
        let pid = ptrace::start(&options.program, &options.arguments)?;
        self.main = Some(pid);
        self.watch.add(pid);
        if options.from_entry {
            ptrace::run_to_entry(pid)?;
        }
        let space = self.checks.tables.space(pid)?;
        let process = self.add_process(pid, space);
        self.begin(Thread::new(pid, process, ShadowStack::default()))
    }

    /// Adds a process, in the place of one that has ended if there is one.
    fn add_process(&mut self, pid: Pid, space: Space) -> usize {
        self.process_count += 1;
        let process = Process { pid, space: Some(space), threads: 0 };
        let free = self.processes.iter().position(|process| process.space.is_none());
        match free.and_then(|free| self.processes.get_mut(free)) {
            Some(place) => *place = process,
            None => self.processes.push(process),
        }
        free.unwrap_or(self.processes.len() - 1)
    }

    /// Adds a stopped thread, and lets it run.
    fn begin(&mut self, thread: Thread) -> io::Result<()> {
        let pid = thread.pid;
        self.thread_count += 1;
        if let Some(process) = self.processes.get_mut(thread.process) {
            process.threads += 1;
        }
        let number = self.free.pop().unwrap_or(self.threads.len());
        match self.threads.get_mut(number) {
            Some(place) => *place = thread,
            None => self.threads.push(thread),
        }
        self.by_pid.insert(pid.as_raw(), number);
        if let Some(registers) = ptrace::registers(pid)? {
            self.arrive(number, &registers);
        }
        ptrace::step(pid, 0)
    }

    fn run(&mut self, progress: &mut dyn FnMut(Progress)) -> io::Result<()> {
        let (mut last, mut number) = (Pid::from_raw(0), 0);
        while let Some((pid, stop)) = ptrace::wait()? {
            if pid != last {
                match self.by_pid.get(&pid.as_raw()) {
                    Some(known) => (last, number) = (pid, *known),
                    None => {
                        self.unknown(pid, stop)?;
                        continue;
                    }
                }
            }
            if stop == Stop::Trap {
                let Some(registers) = ptrace::registers(pid)? else { continue };
                let signal = self.trapped(number, &registers);
                self.steps += 1;
                if self.steps.is_multiple_of(PACE) {
                    progress(self.progress());
                }
                if self.max_steps.is_some_and(|most| self.steps >= most) && self.end.is_none() {
                    self.end = Some(End::Steps);
                    self.watch.end_all();
                }
                ptrace::step(pid, signal)?;
                continue;
            }
            last = Pid::from_raw(0);
            self.event(pid, number, stop)?;
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let Checks { pcs, wrong, known, .. } = self.checks;
        Progress { steps: self.steps, pcs, wrong, known }
    }

    /// A thread has stopped after a step. Returns the signal to pass on, or 0.
    #[inline]
    fn trapped(&mut self, number: usize, now: &Registers) -> i32 {
        let Some(thread) = self.threads.get_mut(number) else { return 0 };
        let unusual = thread.signalled
            || thread.kind == Kind::Trap
            || (now.rip == thread.pc && thread.kind != Kind::Repeated);
        if unusual {
            return self.unusual_trap(number, now);
        }
        self.executed(number, now);
        self.arrive(number, now);
        0
    }

    /// A thread has executed the instruction at which it was.
    #[inline]
    fn executed(&mut self, number: usize, now: &Registers) {
        let Some(thread) = self.threads.get_mut(number) else { return };
        if thread.executed(now) {
            self.checks.left(thread.pid, now.rip);
        }
        if thread.kind == Kind::Syscall {
            self.system_call(number, now);
        }
    }

    #[cold]
    fn unusual_trap(&mut self, number: usize, now: &Registers) -> i32 {
        let Some(thread) = self.threads.get_mut(number) else { return 0 };
        if thread.signalled {
            thread.signalled = false;
            let process = self.processes.get(thread.process);
            let space = process.and_then(|process| process.space.as_ref());
            if space.is_some_and(|space| thread.handler_started(now, &space.memory)) {
                self.arrive(number, now);
                return 0;
            }
        }
        if ptrace::origin(thread.pid) == Origin::Other {
            // A breakpoint of the program itself, or a signal from another process.
            thread.signalled = true;
            thread.kind = Kind::Plain;
            self.arrive(number, now);
            return libc::SIGTRAP;
        }
        self.executed(number, now);
        self.arrive(number, now);
        0
    }

    /// A thread is at a PC, which it has not executed yet.
    #[inline]
    fn arrive(&mut self, number: usize, now: &Registers) {
        let Some(thread) = self.threads.get_mut(number) else { return };
        let pc = now.rip;
        if !thread.region.is_some_and(|region| region.contains(pc)) {
            let Some(process) = self.processes.get_mut(thread.process) else { return };
            let Some(space) = process.space.as_mut() else { return };
            thread.region = space.region(pc);
            if thread.region.is_none() {
                self.checks.tables.refresh(process.pid, space);
                thread.region = space.region(pc);
            }
        }
        let code = thread.region.and_then(|region| Some((region, region.code?)));
        let known = match code.filter(|_| now.cs == CODE_64) {
            Some((region, (file, offset))) => {
                let offset = offset.wrapping_add(pc.wrapping_sub(region.start));
                let at = FileOffset { file, offset };
                self.checks.known(at).map(|known| (at, known))
            }
            None => None,
        };
        thread.kind = match known {
            Some((_, (kind, true))) => kind,
            Some((at, (_, false))) => {
                let process = self.processes.get(thread.process);
                match process.and_then(|process| process.space.as_ref()) {
                    Some(space) => self.checks.check(at, now, space, thread),
                    None => Kind::Unknown,
                }
            }
            None if now.cs != CODE_64 => {
                self.checks.steps_elsewhere += 1;
                Kind::Unknown
            }
            None => {
                self.checks.steps_elsewhere += 1;
                let mut code = [0; 2 * LONGEST];
                let process = self.processes.get(thread.process);
                let space = process.and_then(|process| process.space.as_ref());
                let read = space.map_or(0, |space| space.memory.read_some(pc, &mut code));
                Kind::decode(code.get(..read).unwrap_or_default(), pc)
            }
        };
        thread.remember(now);
    }

    /// A system call may have changed what is mapped where, or made a thread that is not traced.
    fn system_call(&mut self, number: usize, now: &Registers) {
        let Some(thread) = self.threads.get_mut(number) else { return };
        let process = self.processes.get(thread.process);
        let space = process.and_then(|process| process.space.as_ref());
        if space.is_some_and(|space| thread.made_untraced(now, &space.memory)) {
            self.untraced += 1;
        }
        let [start, size, ..] = thread.arguments;
        let changes = match thread.syscall().and_then(|number| i64::try_from(number).ok()) {
            Some(libc::SYS_mmap) => thread.arguments[3] & libc::MAP_FIXED as u64 != 0,
            Some(libc::SYS_munmap | libc::SYS_mremap | libc::SYS_mprotect) => true,
            _ => false,
        };
        let process = thread.process;
        let Some(owner) = self.processes.get_mut(process) else { return };
        let Some(space) = owner.space.as_mut() else { return };
        if changes && space.has_code_in(start, start.saturating_add(size)) {
            self.checks.tables.refresh(owner.pid, space);
            for thread in self.threads.iter_mut().filter(|thread| thread.process == process) {
                thread.region = None;
            }
        }
    }

    /// Anything but a step.
    #[cold]
    fn event(&mut self, pid: Pid, number: usize, stop: Stop) -> io::Result<()> {
        match stop {
            Stop::Trap => {}
            Stop::Exited(_) | Stop::Killed(_) => self.gone(pid, stop),
            Stop::Signal(signal) => {
                if ptrace::origin(pid) == Origin::GroupStop {
                    return ptrace::step(pid, 0);
                }
                // Where it is now, because a system call may have been set back.
                let registers = ptrace::registers(pid)?;
                if let (Some(thread), Some(now)) = (self.threads.get_mut(number), registers) {
                    thread.signalled = true;
                    if (now.rip, now.rsp) != (thread.pc, thread.sp) {
                        self.executed(number, &now);
                        self.arrive(number, &now);
                    }
                }
                return ptrace::step(pid, signal);
            }
            Stop::Child(child) => {
                if let Some(thread) = self.threads.get(number) {
                    let sp = ptrace::registers(pid)?.map_or(0, |registers| registers.rsp);
                    let parent = Some((thread.process, thread.stack.clone(), sp));
                    self.newborn.entry(child.as_raw()).or_default().parent = parent;
                    self.watch.add(child);
                }
                self.born(child)?;
                return ptrace::step(pid, 0);
            }
            Stop::Exec(former) => return self.executes(pid, former),
            Stop::Other => return ptrace::step(pid, 0),
        }
        Ok(())
    }

    /// A thread that is not known has stopped or ended.
    #[cold]
    fn unknown(&mut self, pid: Pid, stop: Stop) -> io::Result<()> {
        match stop {
            Stop::Exited(_) | Stop::Killed(_) => {
                self.gone(pid, stop);
                Ok(())
            }
            // The leader of a process whose other thread executes a program.
            Stop::Exec(former) => self.executes(pid, former),
            _ => {
                self.newborn.entry(pid.as_raw()).or_default().stopped = true;
                self.born(pid)
            }
        }
    }

    /// Lets a new thread run, once it has stopped and its parent has reported it.
    fn born(&mut self, pid: Pid) -> io::Result<()> {
        let is_ready = |newborn: &Newborn| newborn.stopped && newborn.parent.is_some();
        if !self.newborn.get(&pid.as_raw()).is_some_and(is_ready) {
            return Ok(());
        }
        let Some(newborn) = self.newborn.remove(&pid.as_raw()) else { return Ok(()) };
        let Some((parent, stack, sp)) = newborn.parent else { return Ok(()) };
        let leader = leader(pid);
        let shares = self.processes.get(parent).is_some_and(|process| Some(process.pid) == leader);
        let process = if shares {
            parent
        } else {
            let space = self.processes.get(parent).and_then(|process| process.space.as_ref());
            let space = match space {
                Some(space) => space.copy(pid),
                // The parent has ended meanwhile.
                None => self.checks.tables.space(pid),
            };
            // A process that was killed meanwhile has no memory.
            let Ok(space) = space else { return ptrace::step(pid, 0) };
            self.add_process(pid, space)
        };
        let registers = ptrace::registers(pid)?;
        // A thread has a new stack; a child process continues on a copy, or on the same after `vfork`.
        let stack = match registers {
            Some(registers) if registers.rsp == sp => stack,
            _ => ShadowStack::default(),
        };
        self.begin(Thread::new(pid, process, stack))
    }

    /// A process executes another program. Of its threads, only the one with the process's id is left.
    #[cold]
    fn executes(&mut self, pid: Pid, former: Pid) -> io::Result<()> {
        self.forget(former);
        self.forget(pid);
        let space = self.checks.tables.space(pid)?;
        let process = self.add_process(pid, space);
        // They are the same process and thread, which are not counted again.
        self.process_count = self.process_count.saturating_sub(1);
        self.thread_count = self.thread_count.saturating_sub(1);
        self.begin(Thread::new(pid, process, ShadowStack::default()))
    }

    /// Removes a thread, and its process if it was the last one.
    fn forget(&mut self, pid: Pid) {
        let Some(number) = self.by_pid.remove(&pid.as_raw()) else { return };
        let Some(thread) = self.threads.get_mut(number) else { return };
        thread.stack = ShadowStack::default();
        self.free.push(number);
        if let Some(process) = self.processes.get_mut(thread.process) {
            process.threads = process.threads.saturating_sub(1);
            if process.threads == 0 {
                process.space = None;
            }
        }
    }

    /// A thread has ended.
    fn gone(&mut self, pid: Pid, stop: Stop) {
        self.watch.remove(pid);
        self.forget(pid);
        self.newborn.remove(&pid.as_raw());
        if Some(pid) == self.main && self.end.is_none() {
            self.end = self.watch.reason().or(match stop {
                Stop::Exited(status) => Some(End::Exited(status)),
                Stop::Killed(signal) => Some(End::Killed(signal)),
                _ => None,
            });
        }
    }

    /// Ends and waits for everything that is left.
    fn end_all(&mut self) {
        self.watch.end_all();
        while let Ok(Some((pid, stop))) = ptrace::wait() {
            match stop {
                Stop::Exited(_) | Stop::Killed(_) => self.gone(pid, stop),
                _ => ptrace::end(pid),
            }
        }
    }

    fn outcome(self, elapsed: Duration) -> Trace {
        let reason = self.watch.reason();
        Trace {
            steps: self.steps,
            elapsed,
            processes: self.process_count,
            threads: self.thread_count,
            end: reason.or(self.end).unwrap_or(End::Interrupted),
            steps_elsewhere: self.checks.steps_elsewhere,
            untraced: self.untraced,
            modules: self.checks.finish(),
        }
    }
}

/// The id of a thread's process.
fn leader(pid: Pid) -> Option<Pid> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let id = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    id.trim().parse().ok().map(Pid::from_raw)
}
