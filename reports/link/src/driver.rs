//! Compiler drivers: what `cc ... -o prog` passes to which linker.

mod outputs;
mod run;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sframe_input::plain_error;
use sframe_record::text::printable;
use tempfile::TempDir;

use crate::linker::Identity;
use outputs::Outputs;
pub use run::Ends;
use run::{LIMIT, Programs};

/// Names of linkers, and of gcc's program that runs one.
const LINKERS: [&str; 8] = ["collect2", "ld", "gold", "lld", "mold", "wild", "ld64", "bfd"];

/// Why a command cannot be audited.
#[derive(Debug)]
#[non_exhaustive]
pub enum DriverError {
    /// The command is empty.
    Empty,
    /// A program cannot be run.
    NotRun(String, std::io::Error),
    /// The driver prints an error instead of its commands.
    Refused(String),
    /// The command is a linker, not a compiler driver.
    IsLinker(String),
    /// The linker that the driver names cannot be run.
    NoLinker(String, std::io::Error),
    /// The command does not link.
    NoLink,
    /// A source does not compile. Contains the compiler's messages.
    NotCompiled(String),
    /// A command would write another file than the object, and its place cannot be chosen. Contains the option.
    SideOutput(String),
    /// A program takes longer than this time.
    TooSlow(String, Duration),
    /// The caller has ended the program that ran.
    Interrupted,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriverError::Empty => f.write_str("there is no command"),
            DriverError::NotRun(program, error) => {
                write!(f, "{program} cannot be run: {}", plain_error(error))
            }
            DriverError::Refused(message) => {
                write!(f, "the driver, asked for its commands (-###), fails: {message}")
            }
            DriverError::IsLinker(program) => write!(
                f,
                "{program} is a linker, and not a compiler driver: audit its inputs with --linker LINKER INPUT..."
            ),
            DriverError::NoLinker(program, error) => write!(
                f,
                "the driver's linker {program} cannot be run: {}: install it, or audit the inputs with --linker LINKER INPUT...",
                plain_error(error)
            ),
            DriverError::NoLink => f.write_str("the command does not link"),
            DriverError::NotCompiled(message) => write!(f, "a source does not compile: {message}"),
            DriverError::SideOutput(option) => write!(
                f,
                "{option} writes files into your folders, which an audit does not: leave it out, or compile first and audit the link of the objects"
            ),
            DriverError::TooSlow(program, limit) => {
                write!(f, "{program} was ended after {} seconds", limit.as_secs())
            }
            DriverError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for DriverError {}

/// The link that a driver would do.
pub(crate) struct Planned {
    pub(crate) linker: Identity,
    pub(crate) arguments: Vec<OsString>,
    /// The folders in which the linker itself looks for libraries; `None` if they cannot be found out.
    pub(crate) folders: Option<Vec<PathBuf>>,
    /// Names of objects that were compiled for this audit: the sources.
    pub(crate) names: HashMap<PathBuf, String>,
    /// The objects of sources.
    _objects: TempDir,
}

/// Finds out what a command would link, and compiles its sources into a temporary folder.
pub(crate) fn plan(command: &[OsString], ends: Ends<'_>) -> Result<Planned, DriverError> {
    let programs = Programs { limit: LIMIT, ends };
    let (program, arguments) = command.split_first().ok_or(DriverError::Empty)?;
    // With pipes, a command has no output of its own.
    let piped = |argument: &&OsString| argument.as_os_str() == "-pipe";
    let plain = arguments.iter().filter(|argument| !piped(argument));
    let printed = programs.run(Command::new(program).arg("-###").args(plain))?;
    if !printed.success {
        if is_linker(&program.to_string_lossy()) {
            return Err(DriverError::IsLinker(printable(program.as_encoded_bytes())));
        }
        return Err(DriverError::Refused(excerpt(&printed.text)));
    }
    let mut commands = commands(&printed.text);
    let link = commands.pop().filter(|link| is_link(link)).ok_or(DriverError::NoLink)?;
    let objects =
        TempDir::new().map_err(|error| DriverError::NotRun("mktemp".to_owned(), error))?;
    let mut outputs = Outputs::new(objects.path());
    for command in commands.iter().filter(|command| !is_link(command)) {
        compile(&programs, &outputs.redirected(command)?)?;
    }
    let path = linker_of(&programs, program, arguments, &link);
    let words = link.iter().skip(1).map(|word| outputs.word(word));
    let arguments = words.map(OsString::from).collect();
    let version =
        programs.run(Command::new(&path).arg("--version")).map_err(|error| match error {
            DriverError::NotRun(program, error) => DriverError::NoLinker(program, error),
            other => other,
        })?;
    let linker = Identity::of_version(version.text.lines().next().unwrap_or_default());
    // Drivers name the folders of the other linkers (-L).
    let folders = match linker.linker.is_gnu_ld() {
        true => Some(search_folders(&programs, &path)).filter(|folders| !folders.is_empty()),
        false => Some(Vec::new()),
    };
    let names = outputs.named();
    Ok(Planned { linker, arguments, folders, names, _objects: objects })
}

/// The commands that a driver prints: a line that starts with a space (gcc) or a quote (clang).
fn commands(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| line.starts_with([' ', '"']));
    let words = lines.filter_map(shlex::split).filter(|words| !words.is_empty());
    words.filter(|words| !words.first().is_some_and(|word| word.starts_with('('))).collect()
}

fn is_link(command: &[String]) -> bool {
    command.first().is_some_and(|program| is_linker(program))
}

fn is_linker(program: &str) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = name.split(['.', '-']);
    parts.any(|part| LINKERS.contains(&part))
}

fn compile(programs: &Programs<'_>, command: &[String]) -> Result<(), DriverError> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let printed = programs.run(Command::new(program).args(arguments))?;
    match printed.success {
        true => Ok(()),
        false => Err(DriverError::NotCompiled(excerpt(&printed.text))),
    }
}

/// The linker that the driver runs.
fn linker_of(
    programs: &Programs<'_>,
    driver: &OsString,
    arguments: &[OsString],
    link: &[String],
) -> PathBuf {
    let program = link.first().cloned().unwrap_or_default();
    if !program.ends_with("collect2") {
        return PathBuf::from(program);
    }
    let chosen = link.iter().rev().find_map(|word| word.strip_prefix("-fuse-ld="));
    let name = chosen.map_or_else(|| "ld".to_owned(), |chosen| format!("ld.{chosen}"));
    let mut question = Command::new(driver);
    question.args(prefixes(arguments)).arg(format!("-print-prog-name={name}"));
    match programs.run_for_output(&mut question) {
        Ok(found) if !found.trim().is_empty() => PathBuf::from(found.trim()),
        _ => PathBuf::from(name),
    }
}

/// The arguments that say where the driver finds its programs.
fn prefixes(arguments: &[OsString]) -> Vec<OsString> {
    let mut prefixes = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if text == "-B" {
            prefixes.push(argument.clone());
            prefixes.extend(rest.next().cloned());
        } else if text.starts_with("-B") || text.starts_with("--sysroot=") {
            prefixes.push(argument.clone());
        }
    }
    prefixes
}

/// The folders of `SEARCH_DIR` in the linker's default script.
fn search_folders(programs: &Programs<'_>, linker: &Path) -> Vec<PathBuf> {
    let text = programs.run_for_output(Command::new(linker).arg("--verbose")).unwrap_or_default();
    let named = text.split("SEARCH_DIR(\"").skip(1).filter_map(|rest| rest.split('"').next());
    named.take(1_000).map(PathBuf::from).collect()
}

/// The lines of an error message that are no commands.
fn excerpt(text: &str) -> String {
    let marks = ["error: ", "fatal error", "fatal: ", " error "];
    let is_error = |line: &&str| marks.iter().any(|mark| line.contains(mark));
    let lines = text.lines().filter(is_error);
    let chosen: Vec<String> = lines.take(5).map(printable).collect();
    match chosen.is_empty() {
        true => printable(text.lines().next().unwrap_or("without a message")),
        false => chosen.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What gcc 12 and clang print, shortened.
    #[test]
    fn commands_of_drivers_are_found() {
        let gcc = "Using built-in specs.\nCOLLECT_GCC=gcc\n /usr/lib/gcc/12/cc1 -quiet hello.c -o /tmp/cc1.s\n \
                   as --64 -o /tmp/cc2.o /tmp/cc1.s\nLIBRARY_PATH=/lib\n /usr/lib/gcc/12/collect2 \"-plugin-opt=-x y\" \
                   /tmp/cc2.o -lc\n";
        let found = commands(gcc);
        assert_eq!(
            found.iter().map(|command| is_link(command)).collect::<Vec<_>>(),
            [false, false, true]
        );
        assert_eq!(
            found.last().and_then(|link| link.get(1)).map(String::as_str),
            Some("-plugin-opt=-x y")
        );
        let clang = "clang version 23\nTarget: x86_64\n (in-process)\n \"/usr/bin/clang\" \"-cc1\" \"-o\" \"/tmp/a.o\"\n \
                     \"/usr/bin/ld\" \"-o\" \"a.out\" \"/tmp/a.o\"\n";
        assert_eq!(
            commands(clang).iter().map(|command| is_link(command)).collect::<Vec<_>>(),
            [false, true]
        );
        for linker in
            ["ld.lld", "/x/x86_64-linux-gnu-ld.bfd", "aarch64-linux-gnu-ld", "mold", "ld.gold"]
        {
            assert!(is_link(&[linker.to_owned()]), "{linker}");
        }
        assert!(!is_link(&["/usr/bin/as".to_owned()]));
    }
}
