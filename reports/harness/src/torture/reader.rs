//! Readers: a known name, or any command.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf, absolute};

/// The placeholder for the file in a command.
const FILE: &str = "{}";

/// A command that reads a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The name or command that the user gave.
    pub name: String,
    /// The program and its arguments, with `{}` for the file.
    pub command: Vec<String>,
    /// The text that it prints on standard output if it refuses a file without any other sign.
    pub(super) gives_up: &'static [&'static str],
}

/// Why a text names no reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderError {
    /// A quotation mark is missing.
    OpenQuote,
    /// It has no words.
    Empty,
}

impl fmt::Display for ReaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReaderError::OpenQuote => "a quotation mark is missing",
            ReaderError::Empty => "no command",
        })
    }
}

impl std::error::Error for ReaderError {}

/// Observed: GNU readelf and objdump 2.44 on version 1, both with exit status 0.
const GNU_GIVES_UP: &[&str] = &["SFrame version not supported"];

impl Reader {
    /// The reader named by `text`, which is one of the following:
    /// - `readelf`, `objdump`, `llvm-readobj` or `llvm-readelf`, also with a path, a machine before it, or a version
    ///   after it;
    /// - `sframe-check`, which is `program`;
    /// - a command with `{}` for the file, which is split into words as a shell does, but without a shell.
    ///
    /// # Errors
    /// Returns an error if the command cannot be split into words.
    pub fn new(text: &str, program: &Path) -> Result<Reader, ReaderError> {
        let name = text.to_owned();
        let is_command = text.contains(FILE) || text.contains(char::is_whitespace);
        if let Some(command) = preset(text, program).filter(|_| !is_command) {
            return Ok(Reader { name, command, gives_up: GNU_GIVES_UP });
        }
        let mut command = shlex::split(text).ok_or(ReaderError::OpenQuote)?;
        if command.is_empty() {
            return Err(ReaderError::Empty);
        }
        if !command.iter().any(|word| word.contains(FILE)) {
            command.push(FILE.to_owned());
        }
        Ok(Reader { name, command, gives_up: &[] })
    }

    /// `program` itself, and the known readers in the folders of `path`.
    #[must_use]
    pub fn all_found(program: &Path, path: Option<&OsString>) -> Vec<Reader> {
        let folders: Vec<PathBuf> = path.iter().flat_map(std::env::split_paths).collect();
        let found = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
        let others = ["readelf", "objdump", "llvm-readobj"].into_iter().filter(|name| found(name));
        let names = ["sframe-check"].into_iter().chain(others);
        names.filter_map(|name| Reader::new(name, program).ok()).collect()
    }

    /// The command for one file, for a process in another current folder.
    pub(super) fn on(&self, file: &Path) -> Vec<OsString> {
        let word = |word: &String| {
            let mut parts = word.split(FILE);
            let mut text = OsString::from(parts.next().unwrap_or_default());
            for part in parts {
                text.push(file);
                text.push(part);
            }
            text
        };
        let words = self.command.iter().skip(1).map(|text| argument_from_here(word(text)));
        self.program().chain(words).collect()
    }

    /// Whether its output states that it refused the file.
    pub(super) fn gave_up(&self, output: &[u8]) -> bool {
        let says = |text: &&str| output.windows(text.len()).any(|part| part == text.as_bytes());
        self.gives_up.iter().any(says)
    }

    /// The command that prints the version.
    pub(super) fn version_command(&self) -> Vec<OsString> {
        self.program().chain([OsString::from("--version")]).collect()
    }

    /// The program: an absolute path, or a name that is looked up in `PATH`.
    fn program(&self) -> impl Iterator<Item = OsString> {
        self.command.first().into_iter().map(|program| match program.contains('/') {
            true => absolute(program).map_or_else(|_| program.into(), OsString::from),
            false => program.into(),
        })
    }
}

/// An argument, made absolute if it names a file.
fn argument_from_here(argument: OsString) -> OsString {
    match Path::new(&argument).is_file() {
        true => absolute(&argument).map_or(argument, OsString::from),
        false => argument,
    }
}

/// The command line, quoted for a shell.
impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.command.iter().map(|word| match word.as_str() {
            FILE => FILE.into(),
            word => shlex::try_quote(word).unwrap_or(word.into()),
        });
        words.enumerate().try_for_each(|(number, word)| {
            let space = if number > 0 { " " } else { "" };
            write!(f, "{space}{word}")
        })
    }
}

fn preset(text: &str, program: &Path) -> Option<Vec<String>> {
    let name = Path::new(text).file_name()?.to_str()?;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = name.strip_suffix('-').unwrap_or(name);
    let words = |program: &str, arguments: &[&str]| {
        [program].iter().chain(arguments).map(|word| (*word).to_owned()).collect()
    };
    if text == "sframe-check" {
        // With one thread, because each thread on a large machine reserves more address space.
        return Some(words(program.to_str()?, &["--threads", "1", FILE]));
    }
    let known = ["llvm-readobj", "readelf", "objdump"];
    let known = known.iter().any(|known| name.ends_with(known)) && !name.ends_with("llvm-objdump");
    known.then(|| words(text, &["--sframe", FILE]))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::Reader;

    fn command(text: &str, file: &str) -> Vec<OsString> {
        let reader = Reader::new(text, Path::new("/bin/sframe-check")).expect("a reader");
        reader.on(Path::new(file))
    }

    #[test]
    fn known_readers_get_their_options() {
        for name in ["readelf", "/opt/bin/aarch64-linux-gnu-objdump", "llvm-readobj-23"] {
            assert_eq!(command(name, "f"), [name, "--sframe", "f"]);
        }
        assert_eq!(command("sframe-check", "f"), ["/bin/sframe-check", "--threads", "1", "f"]);
        assert_eq!(command("llvm-objdump", "f"), ["llvm-objdump", "f"]);
    }

    #[test]
    fn a_file_name_is_always_one_word() {
        let file = "a b; $(touch c) '{}'.elf";
        assert_eq!(command("read 'x y' --in={}", file), ["read", "x y", &format!("--in={file}")]);
        assert_eq!(command("read --quiet", file), ["read", "--quiet", file]);
        assert!(Reader::new("read 'x", Path::new("")).is_err());
        assert!(Reader::new("", Path::new("")).is_err());
    }

    /// Tests run in the package's folder. A program without a slash is looked up in `PATH` (POSIX, "Command Search").
    #[test]
    fn arguments_that_name_files_become_absolute_paths() {
        let here = std::env::current_dir().expect("a folder");
        let path = |name: &str| here.join(name).into_os_string();
        let words = command("./read src/lib.rs src", "/f");
        assert_eq!(words, [path("read"), path("src/lib.rs"), "src".into(), "/f".into()]);
        let words = command("Cargo.toml --in=Cargo.toml Cargo.toml {}", "/f");
        let unchanged = ["Cargo.toml", "--in=Cargo.toml"].map(OsString::from);
        assert_eq!(words, [&unchanged[..], &[path("Cargo.toml"), "/f".into()]].concat());
        let version =
            Reader::new("bin/readelf", Path::new("")).expect("a reader").version_command();
        assert_eq!(version, [path("bin/readelf"), "--version".into()]);
    }
}
