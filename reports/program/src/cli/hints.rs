//! What to type instead of a word that is neither a file nor a command, and of an option that does not exist.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, Command, CommandFactory, ValueEnum};

use super::args::{Cli, Format};
use super::arguments::{SHARD, SHARD_COMMANDS};
use sframe_render::near::meant;

/// Words that other programs have as commands or options, and how this one is asked for the same.
const ANSWERS: [(&str, &str); 6] = [
    ("lint", "`sframe-check --pedantic PATH...` checks with lints"),
    (
        "rules",
        "`sframe-check explain` lists the rules, and `sframe-check explain RULE` explains one",
    ),
    ("init", "nothing has to be set up: `sframe-check PATH...` checks"),
    ("fix", "`sframe-check repair FILE -o NEW` writes a repaired copy"),
    ("html", "`sframe-check --format html PATH... > report.html` writes a page"),
    ("xml", "`sframe-check --format junit PATH...` writes XML"),
];

/// How this program is asked for what other programs call `word`.
pub(super) fn answer(word: &str) -> Option<String> {
    if let Some((_, answer)) = ANSWERS.iter().find(|(known, _)| *known == word) {
        return Some((*answer).to_owned());
    }
    let format = Format::from_str(word, false).ok()?.to_possible_value()?;
    Some(format!("`sframe-check --format {} PATH...` writes it", format.get_name()))
}

/// Whether `word` is a mistyped `name`.
pub(super) fn is_meant(word: &str, name: &str) -> bool {
    meant(word, [name].into_iter()).is_some()
}

/// The command that a person means who types `word`.
fn command(word: &str) -> Option<String> {
    let program = Cli::command();
    meant(word, commands(&program).map(Command::get_name)).map(ToOwned::to_owned)
}

/// The commands that have this long option.
pub(super) fn commands_with(option: &str) -> Vec<String> {
    let program = Cli::command();
    let is_wanted = |arg: &Arg| arg.get_long() == Some(option) && !arg.is_hide_set();
    let has = |command: &&Command| command.get_arguments().any(is_wanted);
    let name = |command: &Command| match command.get_name() {
        name if SHARD_COMMANDS.contains(&name) => format!("{SHARD} {name}"),
        name => name.to_owned(),
    };
    commands(&program).filter(has).map(name).collect()
}

/// The commands for people: those of the help, and `check`, which the program does without a command.
fn commands(program: &Command) -> impl Iterator<Item = &Command> {
    let of_shard = program.find_subcommand(SHARD).into_iter().flat_map(Command::get_subcommands);
    let shown = |of: &&Command| !of.is_hide_set() || of.get_name() == "check";
    program.get_subcommands().filter(shown).chain(of_shard)
}

/// What a person probably wants who types `word` as a command.
pub(super) fn instead_of(word: &str) -> Option<String> {
    let is_command = || Some(format!("did you mean the command `{}`?", command(word)?));
    answer(word).or_else(is_command)
}

/// Why paths are not checked: the first one is a word in the place of a command, or a later one is a command.
pub(super) fn not_a_path(paths: &[OsString]) -> Option<String> {
    let words = paths.iter().map(|path| path.to_str().filter(|_| is_missing(path.as_ref())));
    words.enumerate().find_map(|(place, word)| {
        let word = word?;
        let hint = if place == 0 { instead_of(word) } else { after_paths(word) };
        Some(format!("{word}: no such file; {}", hint?))
    })
}

fn after_paths(word: &str) -> Option<String> {
    let command = command(word).filter(|command| command == word)?;
    Some(format!("did you mean the command `{command}`? A command comes before its files"))
}

fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}
