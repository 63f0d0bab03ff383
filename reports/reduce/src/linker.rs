//! The linker at hand: its version, and how it is run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sframe_harness::limited::{Command, End, Finished, Folder};

use crate::assembler::{NoObject, absolute, run};
use crate::error::ProgramError;

/// The name of the output in the linker's folder.
pub(crate) const OUTPUT: &str = "linked";
/// The option of a driver that leaves out the C library and its startup objects.
pub(crate) const NO_LIBRARIES: &str = "-nostdlib";

/// A linker, or a compiler's driver that runs one.
#[derive(Clone, Debug)]
pub struct Linker {
    /// The program, and arguments that are always passed.
    words: Vec<OsString>,
    title: &'static str,
    version: String,
    is_driver: bool,
    watcher: PathBuf,
}

impl Linker {
    /// Finds the linker that a command names, and asks for its version. `watcher` is a program that calls
    /// [`watch_if_asked`](sframe_harness::limited::watch_if_asked).
    ///
    /// # Errors
    /// Returns an error if the command is not a linker that is known here.
    pub fn find(command: &str, watcher: &Path) -> Result<Linker, ProgramError> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or(ProgramError::NotACommand)?;
        let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        if let Some(program) = words.first_mut() {
            *program = absolute(program)?;
        }
        let ask = |arguments: &[OsString], option: &str| {
            let command = Command {
                together: true,
                ..Command::new(arguments.iter().cloned().chain([option.into()]))
            };
            let printed = run(watcher, &command, Folder::new()?)?;
            Ok::<_, ProgramError>(recognise(&String::from_utf8_lossy(&printed.ran.output)))
        };
        let alone = words.get(..1).unwrap_or_default();
        let own = ask(alone, "--version")?;
        let is_driver = own.is_none();
        let found = match own {
            Some(found) => Some(found),
            // A driver passes the question on, also with `-fuse-ld`.
            None => ask(&words, "-Wl,--version")?,
        };
        let (title, version) = found.ok_or(ProgramError::UnknownLinker)?;
        Ok(Linker { words, title, version, is_driver, watcher: watcher.to_owned() })
    }

    /// The name of the project's program: `GNU ld`.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        self.title
    }

    /// The version, as the linker prints it.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether the command is a compiler's driver, which adds the C library and its startup objects.
    #[must_use]
    pub const fn is_driver(&self) -> bool {
        self.is_driver
    }

    /// Whether the C library and its startup objects take part in a link with these options.
    #[must_use]
    pub fn needs_libraries(&self, options: &[String]) -> bool {
        let is_without = options.iter().any(|option| option == NO_LIBRARIES);
        self.is_driver && !is_without && !self.has(NO_LIBRARIES)
    }

    /// Whether the command has an option among the arguments that are always passed.
    #[must_use]
    pub fn has(&self, option: &str) -> bool {
        self.words.iter().skip(1).any(|word| word == option)
    }

    /// The command as a person types it, without the names of files.
    #[must_use]
    pub fn command(&self, options: &[String]) -> String {
        let mut words = self.words.iter().map(|word| word.to_string_lossy().into_owned());
        let program = words.next().unwrap_or_default();
        let name = Path::new(&program).file_name().unwrap_or_default();
        let all = [name.to_string_lossy().into_owned()].into_iter().chain(words);
        all.chain(options.iter().cloned()).collect::<Vec<_>>().join(" ")
    }

    /// The name that people give to the output: `small.so`.
    #[must_use]
    pub fn output_name(&self, options: &[String], stem: &str) -> String {
        let has = |names: [&str; 2]| {
            names.iter().any(|name| self.has(name) || options.iter().any(|option| option == name))
        };
        if has(["-r", "--relocatable"]) {
            return format!("{stem}-linked.o");
        }
        let extension = if has(["-shared", "--shared"]) { "so" } else { "exe" };
        format!("{stem}.{extension}")
    }

    /// Links objects. The output is at [`output`].
    ///
    /// # Errors
    /// Returns why there is no output.
    pub fn link(&self, options: &[String], objects: &[Vec<u8>]) -> Result<Finished, NoObject> {
        let folder = Folder::new()?;
        let mut words = self.words.clone();
        words.extend(options.iter().flat_map(|option| option.split(' ')).map(OsString::from));
        words.extend(["-o", OUTPUT].map(OsString::from));
        for (number, object) in objects.iter().enumerate() {
            let name = format!("small-{}.o", number + 1);
            std::fs::write(folder.work().join(&name), object)?;
            words.push(name.into());
        }
        let finished = run(&self.watcher, &Command::new(words), folder)?;
        match finished.ran.end {
            End::Status(0) if output(&finished).exists() => Ok(finished),
            end => Err(NoObject::refused(end, &finished.ran.errors)),
        }
    }
}

/// The output of a finished link.
#[must_use]
pub fn output(finished: &Finished) -> PathBuf {
    finished.folder().work().join(OUTPUT)
}

/// The name and version of a linker, in what it prints about itself.
fn recognise(printed: &str) -> Option<(&'static str, String)> {
    printed.lines().find_map(|line| {
        let title = match line {
            _ if line.starts_with("GNU gold") => "gold",
            _ if line.starts_with("GNU ld") => "GNU ld",
            _ if line.contains("LLD ") => "lld",
            _ if line.starts_with("mold ") => "mold",
            _ if line.starts_with("Wild ") => "wild",
            _ => return None,
        };
        Some((title, line.trim().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first lines are those of real linkers, and what gcc 12 prints before its linker's.
    #[test]
    fn linkers_are_recognised() {
        let cases = [
            ("GNU ld (GNU Binutils for Debian) 2.44\nCopyright", Some("GNU ld")),
            ("GNU gold (GNU Binutils for Debian 2.40) 1.16", Some("gold")),
            ("Debian LLD 23.1.4 (compatible with GNU linkers)", Some("lld")),
            ("mold 3.0.0 (compatible with GNU ld)", Some("mold")),
            (
                "collect2 version 12.2.0\n/usr/bin/ld --version\nGNU ld (GNU Binutils) 2.40",
                Some("GNU ld"),
            ),
            ("gcc (Debian 12.2.0-14) 12.2.0", None),
            ("", None),
        ];
        for (printed, title) in cases {
            assert_eq!(recognise(printed).map(|(title, _)| title), title, "{printed}");
        }
    }
}
