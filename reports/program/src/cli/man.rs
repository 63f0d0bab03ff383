//! The manual pages, made from the definition of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;

use super::args::Cli;
use super::commands::USAGE;
use super::output_file::{Content, OutputFiles};

const SOURCE: &str = concat!("sframe-check ", env!("CARGO_PKG_VERSION"));

/// Writes all pages as one document: the program's, then those of its commands.
pub(super) fn one_document(out: &mut dyn Write) -> io::Result<()> {
    pages().iter().try_for_each(|command| page(command, out))
}

/// Writes a file for each page, such as `sframe-check-dump.1`. The folder is made if there is none.
pub(super) fn all(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut outputs = OutputFiles::default();
    for command in pages() {
        let mut text = Vec::new();
        page(&command, &mut text)?;
        outputs.write(&folder.join(format!("{}.1", name(&command))), Content::Report, &text)?;
    }
    Ok(())
}

/// The program, and its commands that are not internal.
fn pages() -> Vec<Command> {
    let mut program = Cli::command().override_usage(USAGE);
    program.build();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let all =
        commands.flat_map(|command| std::iter::once(command).chain(command.get_subcommands()));
    let all: Vec<Command> = all.cloned().collect();
    std::iter::once(program).chain(all).map(with_synopsis).collect()
}

/// The command with a synopsis that names its options and their values.
fn with_synopsis(mut command: Command) -> Command {
    let usage = command.render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let is_listed = |it: &&Arg| !it.is_positional() && !it.is_required_set() && !it.is_hide_set();
    let options: Vec<String> =
        command.get_arguments().filter(is_listed).map(|option| format!("[{option}]")).collect();
    let usage = usage.replacen("[OPTIONS]", &options.join(" "), 1);
    command.override_usage(usage)
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    Man::new(command.clone()).source(SOURCE).manual("User Commands").render(&mut text)?;
    out.write_all(with_headings(&String::from_utf8_lossy(&text)).as_bytes())?;
    let is_program = name(command) == "sframe-check";
    if is_program { Ok(()) } else { writeln!(out, ".SH \"SEE ALSO\"\n\\fBsframe\\-check\\fR(1)") }
}

/// `clap_mangen` omits the quotes of an empty date, so that the source would be the date, and gathers in EXTRA what help
/// prints after the options.
fn with_headings(page: &str) -> String {
    page.replacen(" 1  \"", " 1 \"\" \"", 1)
        .replace(".SH EXTRA\nExit status:\n", ".SH \"EXIT STATUS\"\n")
        .replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n")
        .replace("\nExamples:\n", "\n.SH EXAMPLES\n")
        .replace(".SH EXTRA\n", ".SH NOTES\n")
}
