//! Inputs with which the link fails, whatever SFrame they have: files that are missing, or that are no objects.
//!
//! The behaviour was observed (GNU ld 2.40, 2.44 and 2.47.50, gold 2.40, lld 23, mold 3.0), and `tests/obstacles.rs` links
//! such inputs again.

mod messages;

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sframe_input::plain_error;
use sframe_record::text::{printable, printable_path};

use crate::input::MemberName;
use crate::linker::Linker;
use messages::Name;

pub(crate) use messages::printed;

/// An input with which the link fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Obstacle {
    /// The input, as the command or a linker script names it.
    pub input: String,
    /// What is wrong with it.
    pub kind: ObstacleKind,
    /// What is wrong with it, in a few words.
    pub reason: String,
    /// The linker script that names it.
    pub named_by: Option<String>,
    /// The files and folders in which it was looked for.
    pub looked_in: Vec<String>,
    /// The linker's message, without the linker's name in front. `None` if it was not observed.
    pub message: Option<String>,
}

/// What is wrong with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleKind {
    /// The file does not exist, or cannot be opened.
    Unopened,
    /// A library (`-l`) is in no folder of the search path.
    NoLibrary,
    /// A file that a linker script names is in no folder of the search path.
    NotFound,
    /// A linker script (`-T`) does not exist, or cannot be opened.
    NoScript,
    /// A response file (`@file`) does not exist, or cannot be opened.
    NoResponse,
    /// The file of a thin archive's member does not exist, or cannot be opened.
    NoMember,
    /// It is a folder.
    Folder,
    /// The file has no bytes.
    Empty,
    /// It is text, and not a linker script.
    Text,
    /// It is text with characters that no linker script has.
    OtherText,
    /// It is neither ELF nor text.
    NotElf,
    /// The file ends within its ELF header.
    TruncatedHeader,
    /// The end of the file is missing.
    Truncated,
    /// It is a program.
    Executable,
    /// It is a core dump or of another ELF type that cannot be linked.
    OtherType,
    /// A member of an archive, all of whose members are linked, is no object.
    MemberNotElf,
    /// The end of a member is missing, because the archive is truncated.
    TruncatedMember,
    /// It is for another machine than the first input: another `e_machine`, class or byte order.
    OtherMachine,
    /// An archive has no index of symbols.
    NoIndex,
    /// An option that the linker does not know.
    UnknownOption,
    /// A linker script has a command that the linker does not know.
    UnknownCommand,
    /// `-r --gc-sections` without a symbol that an input defines, from which the linker could start.
    NoRoot,
}

impl ObstacleKind {
    /// Whether nothing was found under the name.
    #[must_use]
    pub const fn is_missing(self) -> bool {
        matches!(
            self,
            ObstacleKind::Unopened
                | ObstacleKind::NoLibrary
                | ObstacleKind::NotFound
                | ObstacleKind::NoScript
                | ObstacleKind::NoResponse
                | ObstacleKind::NoMember
        )
    }

    /// The kind of a text that is no linker script.
    pub(crate) fn of_text(text: &str) -> ObstacleKind {
        // Linkers take it for text until they meet a character that no script has.
        let is_word =
            |character: char| character.is_ascii_alphanumeric() || "_.$/\\".contains(character);
        let lines = text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with('#'));
        let start: String = lines.take(1).flat_map(str::split_whitespace).take(2).collect();
        match start.is_ascii() && start.starts_with(is_word) {
            _ if start.contains(char::is_control) => ObstacleKind::NotElf,
            true => ObstacleKind::Text,
            false => ObstacleKind::OtherText,
        }
    }

    pub(crate) const fn reason(self) -> &'static str {
        match self {
            ObstacleKind::Unopened
            | ObstacleKind::NoScript
            | ObstacleKind::NoResponse
            | ObstacleKind::NoMember => "the file cannot be opened",
            ObstacleKind::NoLibrary => "no such library",
            ObstacleKind::NotFound => "no such file",
            ObstacleKind::Folder => "it is a folder",
            ObstacleKind::Empty => "the file is empty",
            ObstacleKind::Text | ObstacleKind::OtherText => "it is text, and not a linker script",
            ObstacleKind::NotElf => "it is not an object: it has no ELF header",
            ObstacleKind::TruncatedHeader => "it is truncated: its ELF header is not complete",
            ObstacleKind::Truncated => {
                "it is truncated: its table of sections is not within the file"
            }
            ObstacleKind::Executable => "it is a program, which cannot be an input",
            ObstacleKind::OtherType => "its ELF type (e_type) is not that of an object",
            ObstacleKind::NoIndex => "the archive has no index of symbols (run ranlib)",
            ObstacleKind::TruncatedMember => "it extends past the end of the archive",
            ObstacleKind::OtherMachine => "it is for another machine than the first input",
            ObstacleKind::MemberNotElf => "this member of the archive is not an object",
            ObstacleKind::UnknownOption => "this linker does not know the option",
            ObstacleKind::UnknownCommand => "this linker does not know the command",
            ObstacleKind::NoRoot => {
                "with -r, it needs -e or -u with a symbol that an input defines"
            }
        }
    }

    /// Whether the linker fails with such an input; `None` if that was not observed.
    pub(crate) const fn stops(self, linker: Linker) -> Option<bool> {
        match (self, linker) {
            (
                ObstacleKind::Empty
                | ObstacleKind::MemberNotElf
                | ObstacleKind::TruncatedMember
                | ObstacleKind::OtherMachine
                | ObstacleKind::NoIndex,
                Linker::Wild | Linker::Other,
            ) => None,
            (ObstacleKind::NoRoot, _) => Some(linker.is_gnu_ld()),
            // The others read the symbols of all members.
            (ObstacleKind::NoIndex, _) => {
                Some(matches!(linker, Linker::Ld240 | Linker::Ld244 | Linker::Gold))
            }
            // An empty file is a linker script without commands.
            (ObstacleKind::Empty, _) => Some(matches!(linker, Linker::Gold | Linker::Mold)),
            (ObstacleKind::MemberNotElf, _) => Some(!matches!(linker, Linker::Mold)),
            _ => Some(true),
        }
    }
}

impl Obstacle {
    pub(crate) fn new(linker: Linker, kind: ObstacleKind, input: &str) -> Obstacle {
        Obstacle {
            input: input.to_owned(),
            kind,
            reason: kind.reason().to_owned(),
            named_by: None,
            looked_in: Vec::new(),
            message: messages::message(linker, kind, Name::of(input), ""),
        }
    }

    /// A member of an archive. `reason` is the one in the linker's message.
    pub(crate) fn of_member(
        linker: Linker,
        kind: ObstacleKind,
        name: &MemberName,
        reason: &str,
    ) -> Obstacle {
        let message = messages::message(linker, kind, Name::of_member(name), reason);
        Obstacle { message, ..Obstacle::new(linker, kind, &name.printed) }
    }

    /// A file that the system does not open; `None` if it does, and something else is wrong.
    pub(crate) fn unopened(
        linker: Linker,
        kind: ObstacleKind,
        path: &Path,
        error: &io::Error,
    ) -> Option<Obstacle> {
        let input = printable_path(path);
        if kind == ObstacleKind::Unopened && fs::metadata(path).is_ok_and(|found| found.is_dir()) {
            return Some(Obstacle::new(linker, ObstacleKind::Folder, &input));
        }
        let reason = system(error)?;
        Some(Obstacle {
            message: messages::message(linker, kind, Name::of(&input), &reason),
            reason,
            looked_in: absolute(path).into_iter().collect(),
            ..Obstacle::new(linker, kind, &input)
        })
    }

    /// A member of a thin archive whose file the system does not open.
    pub(crate) fn no_member(
        linker: Linker,
        name: &MemberName,
        error: &io::Error,
    ) -> Option<Obstacle> {
        let reason = system(error)?;
        let obstacle = Obstacle::of_member(linker, ObstacleKind::NoMember, name, &reason);
        Some(Obstacle { reason, ..obstacle })
    }

    /// An input that is for another machine than `first`.
    pub(crate) fn other_machine(linker: Linker, input: &str, first: &str) -> Obstacle {
        let kind = ObstacleKind::OtherMachine;
        let message = messages::message(linker, kind, Name::of(input), first);
        Obstacle { message, ..Obstacle::new(linker, kind, input) }
    }

    /// `--discard-sframe`, which GNU ld knows from 2.46 on. Of wild, and of linkers that are not modelled, nothing is known.
    pub(crate) fn unknown_option(linker: Linker, option: &str) -> Option<Obstacle> {
        let is_known = matches!(linker, Linker::Ld247 | Linker::Wild | Linker::Other);
        let kind = ObstacleKind::UnknownOption;
        let reason =
            format!("{} does not know this option, GNU ld 2.46 and later do", linker.title());
        (!is_known).then(|| Obstacle { reason, ..Obstacle::new(linker, kind, option) })
    }

    /// A command of a linker script that mold does not know.
    pub(crate) fn unknown_command(script: &str, command: &str) -> Obstacle {
        let kind = ObstacleKind::UnknownCommand;
        let reason = format!(
            "mold does not know {}: it reads INPUT, GROUP, OUTPUT_FORMAT and VERSION alone",
            printable(command.as_bytes())
        );
        Obstacle { reason, ..Obstacle::new(Linker::Mold, kind, script) }
    }

    /// The input and the reason, as one line.
    pub(crate) fn title(&self) -> String {
        match &self.named_by {
            Some(script) => format!("{} (named by {script}): {}", self.input, self.reason),
            None => format!("{}: {}", self.input, self.reason),
        }
    }
}

/// The system's words for an error, as linkers print them; `None` if the error is not the system's.
fn system(error: &io::Error) -> Option<String> {
    error.raw_os_error()?;
    Some(printable(plain_error(error)))
}

/// Where a relative path leads to.
fn absolute(path: &Path) -> Option<String> {
    let found = std::path::absolute(path).ok().filter(|_| path.is_relative())?;
    Some(printable_path(&found))
}
