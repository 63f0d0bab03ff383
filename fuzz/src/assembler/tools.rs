//! The assemblers, and how they are run.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use sframe_harness::limited::{Command, End, Folder, Limits, Runner};
use sframe_validator::Abi;

/// Limits of an assembler for one program, of which it needs a fraction.
const LIMITS: Limits = Limits { seconds: 10, memory_mib: 4096 };
/// The object's name in the assembler's folder.
const OBJECT: &str = "program.o";

/// An assembler for a machine.
#[derive(Debug)]
pub struct Assembler {
    /// The program.
    pub path: PathBuf,
    /// Its version, which is the name of its folder.
    pub name: String,
    /// The machine.
    pub abi: Abi,
    /// The program that watches over it.
    watcher: PathBuf,
}

/// The reason why an assembler made no object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssemblerError {
    /// The assembler crashed or exceeded a limit. Contains its last message.
    Crashed(String),
    /// The assembler refused its input. Contains its first error.
    Refused(String),
}

impl fmt::Display for AssemblerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblerError::Crashed(words) => write!(f, "crashed: {words}"),
            AssemblerError::Refused(words) => write!(f, "refused: {words}"),
        }
    }
}

/// The assemblers of the fetched toolchains (`corpus/build fetch`); `watcher` is a program that calls
/// [`watch_if_asked`](sframe_harness::limited::watch_if_asked).
#[must_use]
pub fn assemblers(watcher: &Path) -> Vec<Assembler> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/toolchains");
    let mut found = Vec::new();
    for name in ["2.40", "2.44", "2.47.50", "llvm-23"] {
        let names = [
            ("x86_64-linux-gnu-as", &[Abi::Amd64][..]),
            ("aarch64-linux-gnu-as", &[Abi::Aarch64Little, Abi::Aarch64Big]),
            ("s390x-linux-gnu-as", &[Abi::S390x]),
            // LLVM writes no SFrame for other machines.
            ("llvm-mc", &[Abi::Amd64]),
        ];
        for (program, abis) in names {
            let path = folder.join(name).join("bin").join(program);
            if path.exists() {
                found.extend(abis.iter().map(|abi| Assembler {
                    path: path.clone(),
                    name: name.to_owned(),
                    abi: *abi,
                    watcher: watcher.to_owned(),
                }));
            }
        }
    }
    found
}

impl Assembler {
    /// Whether it is LLVM's.
    #[must_use]
    pub fn is_llvm(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == "llvm-mc")
    }

    /// The command, which assembles the file `source`.
    fn command(&self, source: &Path) -> Command {
        let mut words: Vec<OsString> = vec![self.path.clone().into_os_string()];
        words.extend(["--gsframe", "-o", OBJECT].map(OsString::from));
        if self.is_llvm() {
            words.extend(["-filetype=obj", "-triple", "x86_64-linux-gnu"].map(OsString::from));
        }
        if self.abi == Abi::Aarch64Big {
            words.push("-EB".into());
        }
        // From standard input, whose name in messages is always the same.
        Command { input: Some(source.into()), ..Command::new(words) }
    }

    /// Assembles `text`, and returns the object.
    ///
    /// # Errors
    /// The assembler's message if it makes no object.
    ///
    /// # Panics
    /// The assembler cannot be run, or there is no room for temporary files.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, AssemblerError> {
        let folder = Folder::new().expect("disk space");
        let source = folder.path().join("program.s");
        std::fs::write(&source, text).expect("disk space");
        let finished = Runner::new(&self.watcher, LIMITS)
            .run(&self.command(&source), folder)
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        let stderr = String::from_utf8_lossy(&finished.ran.errors);
        let words = |part: &str| stderr.lines().find(|line| line.contains(part)).map(last_words);
        let last = stderr.lines().next_back().map(last_words).unwrap_or_default();
        if let Some(words) = words("Internal error").or(words("Assertion")) {
            return Err(AssemblerError::Crashed(words));
        }
        match finished.ran.end {
            End::Status(0) => Ok(finished.folder().read(OBJECT).expect("written")),
            // A shell, which some assemblers are wrapped in, reports a signal as a status above 128.
            End::Signal(signal) | End::Status(signal @ 128..) => {
                Err(AssemblerError::Crashed(format!("signal {}", signal % 128)))
            }
            End::Status(_) => Err(AssemblerError::Refused(words("rror: ").unwrap_or(last))),
            limit => Err(AssemblerError::Crashed(limit.to_string())),
        }
    }
}

/// A message without the parts that depend on the input: the line number before it, and all numbers.
fn last_words(line: &str) -> String {
    let from = ["Internal error", "rror: "].iter().find_map(|word| line.find(word));
    let words = line[from.unwrap_or(0)..].trim_start_matches("rror: ");
    let mut text = String::new();
    for c in words.chars() {
        match c {
            '0'..='9' if text.ends_with('N') => {}
            '0'..='9' => text.push('N'),
            c => text.push(c),
        }
    }
    text
}
