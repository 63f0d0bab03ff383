//! The pager: on a terminal, output longer than the screen goes through it, as git's does.
//!
//! Output is held until it is longer than the screen. If it never is, it is printed as it is, and no pager starts.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sframe_render::report::Display;
use signal_hook::consts::SIGINT;
use signal_hook::flag::register;
use terminal_size::{Height, Width, terminal_size_of};

/// The pager where `PAGER` names none.
const USUAL: &str = "less";
/// The options of less where `LESS` has none: to pass colours, and to leave the text on the screen.
const OPTIONS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// The pager of the process.
static PAGER: Mutex<State> = Mutex::new(State::Off);

/// What happens to output.
enum State {
    /// It is written to standard output.
    Off,
    /// It may fit the screen.
    Holding(Held),
    /// The pager shows it.
    Running { pager: Child, input: Option<ChildStdin> },
}

/// Output that fits the screen so far.
struct Held {
    command: Vec<String>,
    text: Vec<u8>,
    /// What has to leave the terminal before the pager starts.
    displays: Vec<Display>,
    columns: usize,
    /// The number of rows left, and the number of columns in the last row.
    rows: usize,
    column: usize,
}

impl Held {
    /// Adds text. Returns whether all of it fits the screen. Escape sequences count as text, so that it may be taken for longer.
    fn add(&mut self, text: &[u8]) -> bool {
        for byte in text {
            // The bytes of a character after its first one take no column.
            self.column += usize::from(byte & 0xc0 != 0x80);
            if *byte == b'\n' || self.column > self.columns {
                self.rows = self.rows.saturating_sub(1);
                self.column = 0;
            }
        }
        self.text.extend_from_slice(text);
        self.rows > 0
    }
}

fn state() -> MutexGuard<'static, State> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds output for a pager from now on, if standard output is a terminal, and `PAGER` does not say that there is none.
pub(super) fn enable() {
    let size = terminal_size_of(io::stdout()).filter(|_| io::stdout().is_terminal());
    let (Some((Width(columns), Height(rows))), Some(command)) = (size, command()) else { return };
    // The last row is for what the shell prints next.
    let (columns, rows) = (columns.into(), usize::from(rows).saturating_sub(1));
    let (text, displays, column) = Default::default();
    *state() = State::Holding(Held { command, text, displays, columns, rows, column });
}

/// The words of the pager's command; `None` if no pager is wanted, as git has it.
fn command() -> Option<Vec<String>> {
    let is_dumb = env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    let words = shlex::split(&env::var("PAGER").unwrap_or_else(|_| USUAL.to_owned()))?;
    let is_wanted = !is_dumb && words.first().is_some_and(|first| first != "cat");
    is_wanted.then_some(words)
}

/// Removes a display from the terminal before the pager starts. Returns whether output is held, and nothing has to be written above
/// the display.
pub(super) fn replaces(display: &Display) -> bool {
    match &mut *state() {
        State::Holding(held) => {
            held.displays.push(display.clone());
            true
        }
        State::Off | State::Running { .. } => false,
    }
}

/// Prints a message: after what was held, or in the pager, which owns the terminal.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn complain(message: &str) -> io::Result<()> {
    if let State::Running { input: Some(input), .. } = &mut *state() {
        return input.write_all(message.as_bytes());
    }
    release()?;
    io::stderr().write_all(message.as_bytes())
}

/// Prints what was held. From then on nothing is held.
fn release() -> io::Result<()> {
    let mut state = state();
    if let State::Holding(held) = &*state {
        let mut out = io::stdout().lock();
        let written = out.write_all(&held.text).and_then(|()| out.flush());
        *state = State::Off;
        written?;
    }
    Ok(())
}

/// Shows what was held, or waits until the pager ends.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub(super) fn finish() -> io::Result<()> {
    release()?;
    let last = std::mem::replace(&mut *state(), State::Off);
    if let State::Running { mut pager, input } = last {
        drop(input);
        pager.wait()?;
    }
    Ok(())
}

/// Starts the pager with what was held. Without the pager, output goes to the terminal.
fn started(held: &Held) -> io::Result<State> {
    let Some((program, arguments)) = held.command.split_first() else { return Ok(State::Off) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    for (name, value) in OPTIONS.iter().filter(|(name, _)| env::var_os(name).is_none()) {
        command.env(name, value);
    }
    held.displays.iter().for_each(Display::end);
    let Ok(mut pager) = command.spawn() else {
        io::stdout().lock().write_all(&held.text)?;
        return Ok(State::Off);
    };
    // Ctrl-C is for the pager: it stops waiting for more text. This program ends once the pager does.
    let _ = register(SIGINT, Arc::new(AtomicBool::new(false)));
    let mut input = pager.stdin.take();
    let written = input.as_mut().map_or(Ok(()), |input| input.write_all(&held.text));
    match written {
        // It was left before it had read everything.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(State::Running { pager, input }),
    }
}

/// Standard output, through the pager if there is one.
pub(super) struct Paged;

impl Write for Paged {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut state = state();
        match &mut *state {
            State::Off => return io::stdout().lock().write(text),
            State::Holding(held) => {
                if !held.add(text) {
                    *state = started(held)?;
                }
            }
            State::Running { input: Some(input), .. } => input.write_all(text)?,
            State::Running { input: None, .. } => {}
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *state() {
            State::Off => io::stdout().lock().flush(),
            State::Holding(_) | State::Running { .. } => Ok(()),
        }
    }
}
