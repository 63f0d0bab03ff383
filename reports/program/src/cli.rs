//! The program: arguments, streams and exit status.

mod args;
mod arguments;
mod check;
mod commands;
mod compare;
mod conformance;
mod diff;
mod dump;
mod forecast;
mod gates;
mod hints;
mod interrupt;
mod link;
mod lookup;
mod make;
mod man;
mod output_file;
mod outputs;
mod pager;
mod place;
mod policy;
mod reassemble;
mod records;
mod reduce;
mod repo;
mod shards;
mod show;
mod size;
mod store;
mod supervise;
mod torture;
mod trace;
mod usage;
mod walk;

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use clap::FromArgMatches;

use args::look::ExplainArgs;
use args::{CheckArgs, Cli, Color, Command, DocumentFormat, ManArgs};
use pager::Paged;
use sframe_record::catalogue;
use sframe_record::text::printable;
use sframe_render::explain;

/// What the program's exit status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything that was asked for was checked, and nothing at or above the level was found.
    Clean,
    /// Something at or above the level was found.
    Findings,
    /// No such finding, but something could not be read or decided.
    Incomplete,
    /// Wrong usage, or the tool itself failed.
    Failure,
    /// Of a trace: no such finding, but a signal has ended the traced program.
    Died,
    /// Of a trace: no such finding, but a limit has ended the traced program.
    Limit,
    /// Of a shard: another try has no sense.
    Never,
    /// Of a shard: another try may succeed.
    Again,
    /// Ctrl-C has ended the scan: what was known until then is reported.
    Interrupted,
    /// Nobody reads the output any more: what is left was not checked, or not written.
    Unread,
    /// As the program ended that this process was started for.
    Like(u8),
}

/// 128 and the number of SIGPIPE, as shells report a program that this signal has ended.
const UNREAD: u8 = 141;

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Incomplete => 2,
            Exit::Failure => 3,
            Exit::Died => 4,
            Exit::Limit => 5,
            // EX_USAGE and EX_TEMPFAIL of sysexits.h, as engines know them.
            Exit::Never => 64,
            Exit::Again => 75,
            Exit::Interrupted => interrupt::STATUS,
            Exit::Unread => UNREAD,
            Exit::Like(status) => status,
        })
    }
}

/// Runs the program with the arguments of the process.
#[must_use]
pub(crate) fn run() -> Exit {
    let parsed = commands::parsed().try_get_matches_from(arguments::arguments());
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error),
    };
    match cli.color {
        Color::Auto => {}
        Color::Always => ColorChoice::Always.write_global(),
        Color::Never => ColorChoice::Never.write_global(),
    }
    if !cli.no_pager {
        pager::enable();
    }
    let exit = execute(cli);
    match pager::finish() {
        Ok(()) => exit,
        Err(error) => failed(&error),
    }
}

/// What a failure to write means.
fn failed(error: &io::Error) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        // Whoever reads has seen enough, and needs no message.
        return Exit::Unread;
    }
    let _ = complain(error);
    Exit::Failure
}

/// Runs the command.
fn execute(cli: Cli) -> Exit {
    let result = match cli.command {
        None => check(&cli.check),
        Some(Command::Check(args)) => check(&args),
        Some(Command::Forecast(args)) => forecast::run(&args),
        Some(Command::Link(args)) => link::run(&args),
        Some(Command::Conformance(args)) => conformance::run(&args),
        Some(Command::Size(args)) => size::run(&args),
        Some(Command::Synthesize(args)) => make::synthesize_file(&args),
        Some(Command::Repair(args)) => make::repair_file(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Shard { command }) => shards::run(&command),
        Some(Command::Dump(args)) => dump::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Lookup(args)) => lookup::run(&args),
        Some(Command::Walk(args)) => walk::run(&args),
        Some(Command::Trace(args)) => trace::run(&args),
        Some(Command::Explain(args)) => explain(&args),
        Some(Command::Repo(args)) => repo::run(&args),
        Some(Command::Reassemble(args)) => reassemble::run(&args),
        Some(Command::Reduce(args)) => reduce::run(&args),
        Some(Command::Torture(args)) => torture::run(&args),
        Some(Command::Limited(args)) => torture::limited(&args),
        Some(Command::Attended(args)) => Ok(conformance::attended(&args)),
        Some(Command::Completions { shell }) => {
            let script = commands::completions(shell);
            print(|out| out.write_all(script.as_bytes()))
        }
        Some(Command::Man(args)) => man(&args),
        Some(Command::Help { command }) => help(&command),
    };
    result.unwrap_or_else(|error| failed(&error))
}

/// Tells on standard error what went wrong. What comes from files does not reach the terminal as a
/// control sequence.
fn complain(what: &dyn Display) -> io::Result<()> {
    pager::complain(&format!("sframe-check: {}\n", printable(what.to_string().as_bytes())))
}

/// The check, which needs no name on the command line.
fn check(args: &CheckArgs) -> io::Result<Exit> {
    if let Some(why) = hints::not_a_path(&args.inputs.paths) {
        complain(&why)?;
        return Ok(Exit::Failure);
    }
    if let Some(folder) = &args.store.store {
        return store::run(folder, args);
    }
    check::run(args)
}

/// Standard output for what has no styles: looking for them costs more than a dump.
fn stdout() -> BufWriter<Box<dyn Write>> {
    BufWriter::with_capacity(1 << 16, unbuffered_stdout())
}

/// Standard output, with styles only where they belong.
fn styled_stdout() -> BufWriter<AutoStream<Box<dyn Write>>> {
    let choice = AutoStream::choice(&io::stdout());
    BufWriter::with_capacity(1 << 16, AutoStream::new(unbuffered_stdout(), choice))
}

fn unbuffered_stdout() -> Box<dyn Write> {
    match io::stdout().is_terminal() {
        true => Box::new(Paged),
        false => Box::new(io::stdout().lock()),
    }
}

/// Columns of the terminal that standard output is, if it is one.
fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Exit> {
    let mut out = styled_stdout();
    write(&mut out)?;
    out.flush()?;
    Ok(Exit::Clean)
}

fn help(command: &[String]) -> io::Result<Exit> {
    let Some(help) = commands::help(command) else {
        let name = &command.join(" ");
        let all = || "`sframe-check help` lists all".to_owned();
        let hint = hints::instead_of(name).unwrap_or_else(all);
        complain(&format!("there is no command `{name}`; {hint}"))?;
        return Ok(Exit::Failure);
    };
    print(|out| write!(out, "{}", help.ansi()))
}

fn man(args: &ManArgs) -> io::Result<Exit> {
    match &args.all {
        Some(folder) => {
            let named = |error| io::Error::other(format!("{}: {error}", folder.display()));
            man::all(folder).map(|()| Exit::Clean).map_err(named)
        }
        None => print(man::one_document),
    }
}

fn explain(args: &ExplainArgs) -> io::Result<Exit> {
    let width = terminal_width();
    let rules = || catalogue::all().map(explain::Subject::Rule);
    let named = || args.names.iter().flat_map(|of| of.0.iter().copied());
    if args.format == DocumentFormat::Json {
        return match (args.list_known, args.names.is_empty()) {
            (true, _) => print(|out| explain::json(out, explain::known(args.producer.as_ref()))),
            (false, true) => print(|out| explain::json(out, rules())),
            (false, false) => print(|out| explain::json(out, named())),
        };
    }
    if args.all && args.markdown {
        return print(explain::markdown);
    }
    if args.all {
        return print(|out| explain::pages(out, rules(), width));
    }
    if args.list_known {
        return print(|out| explain::list_known(out, args.producer.as_ref(), width));
    }
    if args.names.is_empty() {
        return print(explain::list);
    }
    print(|out| explain::pages(out, named(), width))
}
