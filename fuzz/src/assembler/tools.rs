//! The assemblers, and how they are run.

use std::fmt;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use sframe_validator::Abi;

/// An assembler for a machine.
#[derive(Debug)]
pub struct Assembler {
    /// The program.
    pub path: PathBuf,
    /// Its version, as its folder is called.
    pub name: String,
    /// The machine.
    pub abi: Abi,
    /// Where the object is written.
    object: PathBuf,
}

/// Why there is no object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Complaint {
    /// The assembler has not survived: its last words.
    Died(String),
    /// It has refused its input: its first error.
    Refused(String),
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Complaint::Died(words) => write!(f, "died: {words}"),
            Complaint::Refused(words) => write!(f, "refused: {words}"),
        }
    }
}

/// The assemblers of the fetched toolchains (`corpus/build fetch`).
#[must_use]
pub fn assemblers() -> Vec<Assembler> {
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
                found.extend(abis.iter().map(|abi| Assembler::new(&path, name, *abi)));
            }
        }
    }
    found
}

impl Assembler {
    /// An assembler that is GNU's, or LLVM's if it is called `llvm-mc`.
    #[must_use]
    pub fn new(path: &Path, name: &str, abi: Abi) -> Assembler {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let object = format!("assembled-{}-{number}.o", std::process::id());
        let object = std::env::temp_dir().join(object);
        Assembler { path: path.to_owned(), name: name.to_owned(), abi, object }
    }

    /// Whether it is LLVM's.
    #[must_use]
    pub fn is_llvm(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == "llvm-mc")
    }

    /// The command, which reads standard input and writes the object.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg("--gsframe").arg("-o").arg(&self.object);
        if self.is_llvm() {
            command.args(["-filetype=obj", "-triple", "x86_64-linux-gnu"]);
        }
        if self.abi == Abi::Aarch64Big {
            command.arg("-EB");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// The object that is made of assembly text.
    ///
    /// # Errors
    /// What the assembler says where it makes none.
    ///
    /// # Panics
    /// Where the assembler cannot be run.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, Complaint> {
        let mut child = self.command().spawn().expect("the assembler runs");
        let mut input = child.stdin.take().expect("piped");
        // One that dies does not read to the end.
        let _ = input.write_all(text.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("our own child");
        let said = String::from_utf8_lossy(&output.stderr);
        let words = |part: &str| said.lines().find(|line| line.contains(part)).map(last_words);
        let last = said.lines().next_back().map(last_words).unwrap_or_default();
        if let Some(words) = words("Internal error").or(words("Assertion")) {
            return Err(Complaint::Died(words));
        }
        // Status 139 is a shell's word for a signal.
        if let Some(signal) = output.status.signal().or(output.status.code().filter(|c| *c > 127)) {
            return Err(Complaint::Died(format!("signal {}", signal % 128)));
        }
        if !output.status.success() {
            return Err(Complaint::Refused(words("rror: ").unwrap_or(last)));
        }
        Ok(std::fs::read(&self.object).expect("written"))
    }
}

impl Drop for Assembler {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.object);
    }
}

/// A message without what changes from input to input: the place in front of it, and all numbers.
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
