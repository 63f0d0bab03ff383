//! The list of commands in the help, grouped by task.

use std::fmt::Write as _;

use anstyle::Style;
use clap::builder::StyledStr;
use clap::{Command, CommandFactory};
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

/// The definition of the command line, with help that lists commands by task: clap's own list is one
/// row of all.
pub(super) fn by_task() -> Command {
    let plain = Cli::command();
    let list = list(&plain);
    let names: Vec<String> =
        plain.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let hidden = |all: Command, name| all.mut_subcommand(name, |command| command.hide(true));
    let command = names.into_iter().fold(plain.override_usage(USAGE), hidden);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{all-args}}{{after-help}}"
    ))
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

/// The help of the program, or of a command; `None` if there is no such command.
pub(super) fn help(name: Option<&str>) -> Option<StyledStr> {
    let mut all = by_task();
    all.build();
    match name {
        Some(name) if SHARD_COMMANDS.contains(&name) => {
            let shard = all.find_subcommand_mut(SHARD)?;
            Some(shard.find_subcommand_mut(name)?.render_long_help())
        }
        Some(name) => Some(all.find_subcommand_mut(name)?.render_long_help()),
        None => Some(all.render_long_help()),
    }
}

fn list(command: &Command) -> String {
    let mut list = String::new();
    for (task, names) in TASKS {
        let _ = writeln!(list, "{HEADING}{task}:{HEADING:#}");
        for subcommand in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let (name, about) = (subcommand.get_name(), subcommand.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {LITERAL}{name:<11}{LITERAL:#}  {about}");
        }
    }
    list.push('\n');
    list
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
