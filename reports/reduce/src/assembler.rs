//! The assembler at hand: its version, and how it is run.

mod at_hand;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sframe_harness::limited::{Command, End, Finished, Folder, Limits, NotRun, Runner};
use sframe_validator::Abi;

use crate::error::ProgramError;
pub use at_hand::{Format, at_hand};

/// Limits of a program for one small file, of which it needs a fraction.
const LIMITS: Limits = Limits { seconds: 20, memory_mib: 4096 };
/// The names of the source and of the object in the assembler's folder.
const SOURCE: &str = "small.s";
pub(crate) const OBJECT: &str = "small.o";

/// The kinds of assemblers, which have different options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// GNU as.
    Gnu,
    /// LLVM's `llvm-mc`.
    Llvm,
}

/// An assembler.
#[derive(Clone, Debug)]
pub struct Assembler {
    /// The program, and arguments that are always passed.
    words: Vec<OsString>,
    kind: Kind,
    version: String,
    watcher: PathBuf,
}

/// Why there is no object.
#[derive(Debug)]
pub enum NoObject {
    /// The assembler refused the source, or crashed; contains how it ended and its first message.
    Refused(String),
    /// It could not be used.
    NotRun(ProgramError),
}

impl<E: Into<ProgramError>> From<E> for NoObject {
    fn from(error: E) -> NoObject {
        NoObject::NotRun(error.into())
    }
}

impl NoObject {
    /// How a program ended, with its first message of an error.
    pub(crate) fn refused(end: End, errors: &[u8]) -> NoObject {
        let errors = String::from_utf8_lossy(errors).into_owned();
        let is_message = |line: &&str| ["rror", "ssert"].iter().any(|word| line.contains(word));
        let message = errors.lines().find(is_message).or(errors.lines().next());
        let message = message.map_or(String::new(), |line| format!(": {}", line.trim()));
        NoObject::Refused(format!("{end}{message}"))
    }
}

impl Assembler {
    /// Finds the assembler that a command names, and asks for its version. `watcher` is a program that calls
    /// [`watch_if_asked`](sframe_harness::limited::watch_if_asked).
    ///
    /// # Errors
    /// Returns an error if the command is not an assembler that is known here.
    pub fn find(command: &str, watcher: &Path) -> Result<Assembler, ProgramError> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or(ProgramError::NotACommand)?;
        let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        if let Some(program) = words.first_mut() {
            *program = absolute(program)?;
        }
        Assembler::of(words, watcher)
    }

    /// The assembler that these words run.
    fn of(words: Vec<OsString>, watcher: &Path) -> Result<Assembler, ProgramError> {
        let version = Command::new(words.iter().take(1).cloned().chain(["--version".into()]));
        let printed = run(watcher, &version, Folder::new()?)?;
        let printed = String::from_utf8_lossy(&printed.ran.output).into_owned();
        let line = |part: &str| printed.lines().find(|line| line.contains(part));
        let (kind, version) = match (line("GNU assembler"), line("LLVM version")) {
            (Some(line), _) => (Kind::Gnu, line),
            (None, Some(line)) => (Kind::Llvm, line),
            (None, None) => return Err(ProgramError::UnknownAssembler),
        };
        let version = version.trim().to_owned();
        Ok(Assembler { words, kind, version, watcher: watcher.to_owned() })
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The version, as the program prints it.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A program of the same release: `objdump` for `as`. `None` if there is none beside the assembler.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(self.words.first()?);
        let own = match self.kind {
            Kind::Gnu => "as",
            Kind::Llvm => "llvm-mc",
        };
        let file = path.file_name()?.to_str()?;
        let file = match file.rfind(own) {
            Some(at) => format!("{}{name}{}", file.get(..at)?, file.get(at + own.len()..)?),
            None => name.to_owned(),
        };
        Some(path.with_file_name(file)).filter(|path| path.exists())
    }

    /// The options for a machine, without the names of files.
    #[must_use]
    pub fn options(&self, abi: Abi) -> Vec<&'static str> {
        let mut options = vec!["--gsframe"];
        if self.kind == Kind::Llvm {
            options.push("-filetype=obj");
            options.push(match abi {
                Abi::Amd64 => "-triple=x86_64-linux-gnu",
                Abi::Aarch64Little => "-triple=aarch64-linux-gnu",
                Abi::Aarch64Big => "-triple=aarch64_be-linux-gnu",
                Abi::S390x => "-triple=s390x-linux-gnu",
            });
        } else if abi == Abi::Aarch64Big {
            options.push("-EB");
        }
        options
    }

    /// The name that people use for the program: `as` or `llvm-mc`, with the prefix of the machine.
    #[must_use]
    pub fn name(&self) -> String {
        let path = self.words.first().map(Path::new);
        let name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_default()
    }

    /// Assembles `text`. The object is at [`object`].
    ///
    /// # Errors
    /// Returns why there is no object.
    pub fn assemble(&self, text: &str, abi: Abi) -> Result<Finished, NoObject> {
        let folder = Folder::new()?;
        let source = folder.work().join(SOURCE);
        std::fs::write(&source, text)?;
        let mut words = self.words.clone();
        words.extend(self.options(abi).into_iter().map(OsString::from));
        words.extend(["-o", OBJECT, SOURCE].map(OsString::from));
        let finished = run(&self.watcher, &Command::new(words), folder)?;
        match finished.ran.end {
            End::Status(0) if object(&finished).exists() => Ok(finished),
            end => Err(NoObject::refused(end, &finished.ran.errors)),
        }
    }

    /// Runs a program of the same release on a file, which gets the name `file`.
    ///
    /// # Errors
    /// Returns an error if it cannot be run.
    pub fn print(
        &self,
        program: &Path,
        options: &[&str],
        (file, bytes): (&str, &[u8]),
    ) -> Result<String, ProgramError> {
        let folder = Folder::new()?;
        std::fs::write(folder.work().join(file), bytes)?;
        let mut words = vec![program.as_os_str().to_owned()];
        words.extend(options.iter().map(OsString::from));
        words.push(file.into());
        let command = Command { together: true, ..Command::new(words) };
        let finished = run(&self.watcher, &command, folder)?;
        Ok(String::from_utf8_lossy(&finished.ran.output).into_owned())
    }
}

/// The object of a finished run.
#[must_use]
pub fn object(finished: &Finished) -> PathBuf {
    finished.folder().work().join(OBJECT)
}

pub(crate) fn run(watcher: &Path, command: &Command, folder: Folder) -> Result<Finished, NotRun> {
    Runner::new(watcher, LIMITS).run(command, folder)
}

/// Programs run in folders of their own, so that a path must be absolute.
pub(crate) fn absolute(program: &OsString) -> Result<OsString, ProgramError> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        let path = std::path::absolute(path)?;
        return match path.exists() {
            true => Ok(path.into_os_string()),
            false => Err(ProgramError::NoFile),
        };
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join(path)).find(|p| p.is_file());
    found.map(PathBuf::into_os_string).ok_or(ProgramError::NotOnPath)
}
