//! The arguments of the process. Options before a command belong to it, as everywhere.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::{Arg, Command, CommandFactory};

use super::args::Cli;

/// Options that each command fulfils that does not have them: it prints no progress, and reads no configuration.
const FULFILLED: [&str; 2] = ["quiet", "no_config"];

/// The command that divides a scan among machines.
pub(super) const SHARD: &str = "shard";

/// The commands of `shard`, which were commands of the program: by themselves, they are still understood.
pub(super) const SHARD_COMMANDS: [&str; 4] = ["plan", "scan", "status", "merge"];

/// The arguments of the process. Options before a command are after its name: clap takes any word after an option for a path.
pub(super) fn arguments() -> Vec<OsString> {
    with_options_moved(&Cli::command(), env::args_os().collect())
}

/// The words that name a command, and the command.
fn named<'c>(
    program: &'c Command,
    words: &[OsString],
) -> Option<(Vec<OsString>, usize, &'c Command)> {
    let first = words.first()?.to_str()?;
    let shard = program.find_subcommand(SHARD)?;
    let (name, count) = match (first, words.get(1).and_then(|word| word.to_str())) {
        (SHARD, Some(second)) if SHARD_COMMANDS.contains(&second) => (second, 2),
        _ if SHARD_COMMANDS.contains(&first) => (first, 1),
        _ => return Some((vec![first.into()], 1, program.find_subcommand(first)?)),
    };
    Some((vec![SHARD.into(), name.into()], count, shard.find_subcommand(name)?))
}

fn with_options_moved(program: &Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let after = arguments.get(1..).unwrap_or_default();
    let (options, rest) = options(program, &arguments).unwrap_or((Vec::new(), after));
    let Some((name, count, command)) = named(program, rest) else { return arguments };
    let is_known = |option: &&Arg| {
        command.get_arguments().any(|known| known.get_long() == option.get_long())
            || option.is_global_set()
            || !FULFILLED.contains(&option.get_id().as_str())
    };
    let moved = options.iter().filter(|(option, _)| is_known(option));
    let moved = moved.flat_map(|(_, arguments)| arguments.iter());
    let program = arguments.iter().take(1);
    program.chain(&name).chain(moved).chain(rest.iter().skip(count)).cloned().collect()
}

/// Options with their arguments, as they are given.
type Options<'c, 'a> = Vec<(&'c Arg, &'a [OsString])>;

/// The program's own options before the first word, and everything from there on; `None` if there is another option, no
/// option, or no word.
fn options<'c, 'a>(
    program: &'c Command,
    arguments: &'a [OsString],
) -> Option<(Options<'c, 'a>, &'a [OsString])> {
    let mut options = Vec::new();
    let mut rest = arguments.get(1..)?;
    while is_option(rest.first()?) {
        let first = rest.first()?.to_str()?;
        let (option, has_value) = match first.strip_prefix("--") {
            Some(long) => long_option(program, long)?,
            None => short_option(program, first.get(1..)?)?,
        };
        let takes_next = option.get_action().takes_values() && !option.is_require_equals_set();
        let length = if takes_next && !has_value { 2 } else { 1 };
        let (given, others) = rest.split_at_checked(length)?;
        options.push((option, given));
        rest = others;
    }
    (!options.is_empty()).then_some((options, rest))
}

fn is_option(argument: &OsStr) -> bool {
    let bytes = argument.as_bytes();
    bytes.starts_with(b"-") && bytes != b"-" && bytes != b"--"
}

/// The option `name` or `name=value`, and whether the value is there.
fn long_option<'c>(program: &'c Command, long: &str) -> Option<(&'c Arg, bool)> {
    let (name, value) = long.split_once('=').map_or((long, None), |(name, v)| (name, Some(v)));
    let is_named = |option: &&Arg| {
        let mut aliases = option.get_all_aliases().into_iter().flatten();
        option.get_long() == Some(name) || aliases.any(|alias| alias == name)
    };
    Some((program.get_arguments().find(is_named)?, value.is_some()))
}

/// A short option, and whether its value follows. Several options in one word are that of the last one: the others are flags.
fn short_option<'c>(program: &'c Command, letters: &str) -> Option<(&'c Arg, bool)> {
    let mut found = None;
    let mut rest = letters.chars();
    for letter in rest.by_ref() {
        let option = program.get_arguments().find(|option| option.get_short() == Some(letter))?;
        found = Some(option);
        if option.get_action().takes_values() {
            break;
        }
    }
    Some((found?, !rest.as_str().is_empty()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Cli, with_options_moved};

    fn moved(line: &str) -> String {
        let arguments = line.split(' ').map(Into::into).collect();
        let moved = with_options_moved(&Cli::command(), arguments);
        moved.join(" ".as_ref()).into_string().expect("UTF-8")
    }

    #[test]
    fn options_before_a_command_belong_to_it() {
        for (line, expected) in [
            ("p --color always dump f", "p dump --color always f"),
            ("p --format=json lookup f main", "p lookup --format=json f main"),
            ("p --no-config -q dump f", "p dump f"),
            ("p -q trace -- ls", "p trace -q -- ls"),
            ("p --thorough plan f", "p shard plan --thorough f"),
            ("p -j 4 plan f", "p shard plan -j 4 f"),
            ("p -j4 --jobs 4 plan f", "p shard plan -j4 --jobs 4 f"),
            ("p -qj 4 scan f", "p shard scan -qj 4 f"),
            ("p -qj 4 shard scan f", "p shard scan -qj 4 f"),
            ("p merge f", "p shard merge f"),
            ("p shard merge f", "p shard merge f"),
            ("p --forecast dump f", "p dump --forecast f"),
            ("p -q check dump", "p check -q dump"),
        ] {
            assert_eq!(moved(line), expected);
        }
    }

    #[test]
    fn other_command_lines_stay() {
        for line in [
            "p",
            "p dump f",
            "p -q f dump",
            "p -q -- dump",
            "p -q",
            "p -j",
            "p --gc-sections dump",
            "p - dump",
        ] {
            assert_eq!(moved(line), line);
        }
    }
}
