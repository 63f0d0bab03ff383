//! Compiler drivers: what `cc ... -o prog` passes to which linker.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sframe_input::plain_error;
use sframe_record::text::printable;
use tempfile::TempDir;

use crate::linker::Identity;

/// The longest output of a driver or linker that is read, in bytes.
const LONGEST: u64 = 16 << 20;
/// Names of linkers, and of gcc's program that runs one.
const LINKERS: [&str; 8] = ["collect2", "ld", "gold", "lld", "mold", "wild", "ld64", "bfd"];

/// Extensions of sources.
const SOURCES: [&str; 19] = [
    "c", "i", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "ii", "m", "mm", "s", "S", "f", "f90",
    "d", "go", "adb",
];
/// Options of compilers whose values are names of files that they do not read.
const OTHERS: [&str; 3] = ["-o", "-dumpbase", "-main-file-name"];

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
pub(crate) fn plan(command: &[OsString]) -> Result<Planned, DriverError> {
    let (program, arguments) = command.split_first().ok_or(DriverError::Empty)?;
    // With pipes, a command has no output of its own.
    let piped = |argument: &&OsString| argument.as_os_str() == "-pipe";
    let plain = arguments.iter().filter(|argument| !piped(argument));
    let printed = run(Command::new(program).arg("-###").args(plain))?;
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
    let mut renamed = Renamed::new(objects.path());
    for command in commands.iter().filter(|command| !is_link(command)) {
        compile(&renamed.outputs(command))?;
    }
    let path = linker_of(program, arguments, &link);
    let words = link.iter().skip(1).map(|word| renamed.word(word));
    let arguments = words.map(OsString::from).collect();
    let version = run(Command::new(&path).arg("--version")).map_err(|error| match error {
        DriverError::NotRun(program, error) => DriverError::NoLinker(program, error),
        other => other,
    })?;
    let linker = Identity::of_version(version.text.lines().next().unwrap_or_default());
    // Drivers name the folders of the other linkers (-L).
    let folders = match linker.linker.is_gnu_ld() {
        true => Some(search_folders(&path)).filter(|folders| !folders.is_empty()),
        false => Some(Vec::new()),
    };
    let names = renamed.named();
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

/// The temporary files of compilers, which get other names.
struct Renamed<'a> {
    folder: &'a Path,
    names: HashMap<String, String>,
    /// The source of each temporary file, by its name in the driver's commands.
    sources: HashMap<String, String>,
}

impl Renamed<'_> {
    fn new(folder: &Path) -> Renamed<'_> {
        Renamed { folder, names: HashMap::new(), sources: HashMap::new() }
    }

    /// What people call the temporary files: the sources that they are made of.
    fn named(&self) -> HashMap<PathBuf, String> {
        let named = self.sources.iter().filter_map(|(name, source)| {
            let place = self.names.get(name)?;
            Some((PathBuf::from(place), printable(source)))
        });
        named.collect()
    }

    /// The source of what a command writes: that of the temporary file that it reads, or the last source that it names.
    fn source(&self, command: &[String]) -> Option<String> {
        let pairs = command.windows(2);
        let read =
            pairs.filter(|pair| pair.first().is_some_and(|word| !OTHERS.contains(&word.as_str())));
        let words = read.filter_map(|pair| pair.get(1));
        let earlier = words.clone().find_map(|word| self.sources.get(word));
        earlier.or_else(|| words.rev().find(|word| is_source(word))).cloned()
    }

    fn word(&self, word: &str) -> String {
        self.names.get(word).cloned().unwrap_or_else(|| word.to_owned())
    }

    /// The command, with its output in the folder.
    fn outputs(&mut self, command: &[String]) -> Vec<String> {
        let source = self.source(command);
        let outputs =
            command.windows(2).filter(|pair| pair.first().is_some_and(|word| word == "-o"));
        for output in outputs.filter_map(|pair| pair.get(1)) {
            if let Some(source) = &source {
                // gcc uses a name again for the assembly of the next source.
                self.sources.insert(output.clone(), source.clone());
            }
            let name = Path::new(output).file_name().unwrap_or_default().to_string_lossy();
            let number = self.names.len();
            let place = self.folder.join(format!("{number}-{name}")).to_string_lossy().into_owned();
            self.names.entry(output.clone()).or_insert(place);
        }
        command.iter().map(|word| self.word(word)).collect()
    }
}

fn is_source(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(std::ffi::OsStr::to_str);
    !word.starts_with('-') && extension.is_some_and(|of| SOURCES.contains(&of))
}

fn compile(command: &[String]) -> Result<(), DriverError> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let printed = run(Command::new(program).args(arguments))?;
    match printed.success {
        true => Ok(()),
        false => Err(DriverError::NotCompiled(excerpt(&printed.text))),
    }
}

/// The linker that the driver runs.
fn linker_of(driver: &OsString, arguments: &[OsString], link: &[String]) -> PathBuf {
    let program = link.first().cloned().unwrap_or_default();
    if !program.ends_with("collect2") {
        return PathBuf::from(program);
    }
    let chosen = link.iter().rev().find_map(|word| word.strip_prefix("-fuse-ld="));
    let name = chosen.map_or_else(|| "ld".to_owned(), |chosen| format!("ld.{chosen}"));
    let mut question = Command::new(driver);
    question.args(prefixes(arguments)).arg(format!("-print-prog-name={name}"));
    match run_for_output(&mut question) {
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
fn search_folders(linker: &Path) -> Vec<PathBuf> {
    let text = run_for_output(Command::new(linker).arg("--verbose")).unwrap_or_default();
    let named = text.split("SEARCH_DIR(\"").skip(1).filter_map(|rest| rest.split('"').next());
    named.take(1_000).map(PathBuf::from).collect()
}

struct Printed {
    text: String,
    success: bool,
}

/// Runs a program, and returns the start of its standard error, or of its standard output if that is empty.
fn run(command: &mut Command) -> Result<Printed, DriverError> {
    let failed = |command: &Command, error| {
        DriverError::NotRun(printable(command.get_program().as_encoded_bytes()), error)
    };
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(command, error))?;
    let stdout = child.stdout.take();
    let output = std::thread::spawn(move || stdout.map(read_start).unwrap_or_default());
    let mut text = child.stderr.take().map(read_start).unwrap_or_default();
    let output = output.join().unwrap_or_default();
    let status = child.wait().map_err(|error| failed(command, error))?;
    if text.trim().is_empty() {
        text = output;
    }
    Ok(Printed { text, success: status.success() })
}

fn run_for_output(command: &mut Command) -> std::io::Result<String> {
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let text = child.stdout.take().map(read_start).unwrap_or_default();
    child.wait()?;
    Ok(text)
}

/// Reads a stream to its end, and keeps the start.
fn read_start(mut stream: impl std::io::Read) -> String {
    let mut start = Vec::new();
    let _ = stream.by_ref().take(LONGEST).read_to_end(&mut start);
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
    String::from_utf8_lossy(&start).into_owned()
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

    #[test]
    fn temporary_files_are_renamed_throughout() {
        let mut renamed = Renamed::new(Path::new("/t"));
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(renamed.outputs(&words("cc1 a.c -o /tmp/x.s")).join(" "), "cc1 a.c -o /t/0-x.s");
        assert_eq!(
            renamed.outputs(&words("as -o /tmp/x.o /tmp/x.s")).join(" "),
            "as -o /t/1-x.o /t/0-x.s"
        );
        assert_eq!(renamed.word("/tmp/x.o"), "/t/1-x.o");
        let named = |place: &str| renamed.named().get(Path::new(place)).cloned();
        assert_eq!(named("/t/1-x.o").as_deref(), Some("a.c"));
    }
}
