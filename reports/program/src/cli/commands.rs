//! The list of commands in the help, grouped by task.

use std::fmt::Write as _;

use anstyle::Style;
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command, CommandFactory};
use clap_complete::Shell;

use super::args::Cli;
use super::arguments::{SHARD, SHARD_COMMANDS};

/// What people come to do, and the commands for it.
const TASKS: [(&str, &[&str]); 7] = [
    ("Look at a section", &["dump", "lookup", "walk", "trace", "diff", "size", "explain"]),
    ("Before SFrame is enabled", &["forecast", "link"]),
    ("Make sections", &["synthesize", "repair"]),
    ("Check a distribution, and compare scans", &["repo", "show", "compare"]),
    ("Divide a scan among machines", &["shard"]),
    ("Test readers and assemblers", &["conformance", "torture", "reassemble", "reduce"]),
    ("Set up the shell", &["completions", "man"]),
];

pub(super) const USAGE: &str = "sframe-check [OPTIONS] <PATH>...\n       sframe-check <COMMAND>";

/// As clap formats headings.
const HEADING: Style = Style::new().bold().underline();
const LITERAL: Style = Style::new().bold();

/// The commands that the short help lists.
const MAIN: [&str; 12] = [
    "dump",
    "lookup",
    "walk",
    "trace",
    "diff",
    "explain",
    "forecast",
    "synthesize",
    "repair",
    "repo",
    "show",
    "compare",
];

/// The definition of the command line for the process's arguments. `-h` and `--help` both print help that fits a screen.
pub(super) fn parsed() -> Command {
    let plain = Cli::command();
    let list = short_list(&plain);
    let command = with_list(plain, &list).mut_args(|option| option.help_heading(None::<&str>));
    with_short_help(command, "")
}

/// The definition of the command line, with help that lists commands by task: clap's own list is one
/// row of all.
fn by_task() -> Command {
    let plain = Cli::command();
    let list = list(&plain);
    with_list(plain, &list)
}

/// The program with a list of its commands in its help.
fn with_list(plain: Command, list: &str) -> Command {
    let names: Vec<String> =
        plain.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let hidden = |all: Command, name| all.mut_subcommand(name, |command| command.hide(true));
    let command = names.into_iter().fold(plain.override_usage(USAGE), hidden);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{all-args}}{{after-help}}"
    ))
}

/// A command, named with the words before it, whose `--help` prints what `-h` prints: the rest is printed by the command `help`.
fn with_short_help(command: Command, words: &str) -> Command {
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort)
        .help(format!("Print help; `sframe-check help{words}` prints all of it"));
    command.disable_help_flag(true).arg(help).mut_subcommands(|command| {
        let words = format!("{words} {}", command.get_name());
        with_short_help(command, &words)
    })
}

/// The script with which a shell completes the command line.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), "sframe-check", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    // clap_complete 4.6 writes the names of the states in two ways if the program's name has a hyphen.
    script.replace("sframe__subcmd__check__", "sframe__check__")
}

/// The definition for shells to complete: without internal commands and options.
fn visible() -> Command {
    let all = Cli::command();
    let version = all.get_version().unwrap_or_default().to_owned();
    without_hidden(&all).version(version)
}

fn without_hidden(command: &Command) -> Command {
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned();
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let is_hidden = |id| command.get_arguments().any(|a| a.get_id() == id && a.is_hide_set());
    let groups = command.get_groups().filter(|group| !group.get_args().any(is_hidden)).cloned();
    Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(arguments)
        .groups(groups)
        .subcommands(commands.map(without_hidden))
}

/// All help of the program, or of a command, by its name; `None` if there is no such command.
pub(super) fn help(name: &[String]) -> Option<StyledStr> {
    let mut all = by_task();
    all.build();
    let is_of_shard = name.first().is_some_and(|name| SHARD_COMMANDS.contains(&name.as_str()));
    let shard = is_of_shard.then_some(SHARD);
    let mut words = shard.into_iter().chain(name.iter().map(String::as_str));
    let command = words.try_fold(&mut all, |command, word| command.find_subcommand_mut(word))?;
    Some(command.render_long_help())
}

fn list(command: &Command) -> String {
    let mut list = String::new();
    for (task, names) in TASKS {
        group(&mut list, task, names, command);
    }
    list.push('\n');
    list
}

/// The main commands, and the names of the others.
fn short_list(command: &Command) -> String {
    let mut list = String::new();
    group(&mut list, "Commands", &MAIN, command);
    let names = TASKS.iter().flat_map(|(_, names)| names.iter().copied());
    let others: Vec<&str> = names.filter(|name| !MAIN.contains(name)).collect();
    let _ = writeln!(list, "  Others: {}\n", others.join(", "));
    list
}

fn group(list: &mut String, title: &str, names: &[&str], command: &Command) {
    let _ = writeln!(list, "{HEADING}{title}:{HEADING:#}");
    for subcommand in names.iter().filter_map(|name| command.find_subcommand(name)) {
        let (name, about) = (subcommand.get_name(), subcommand.get_about());
        let about = about.map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(list, "  {LITERAL}{name:<11}{LITERAL:#}  {about}");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_belongs_to_one_task() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let listed: Vec<&str> = TASKS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(listed.len(), shown.len());
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), shown);
    }
}
