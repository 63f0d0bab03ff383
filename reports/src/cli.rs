//! The command line.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::dump::{self, Style};

/// Checks SFrame stack-trace sections.
#[derive(Debug, Parser)]
#[command(name = "sframe-check", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prints a whole section
    Dump(DumpArgs),
}

/// `dump`
#[derive(Debug, Args)]
struct DumpArgs {
    file: PathBuf,
    #[arg(long, value_enum, default_value_t)]
    style: Style,
}

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {
        Command::Dump(args) => {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            let r = dump::dump_file(&args.file, args.style, None, &mut out, &mut io::stderr());
            let _ = out.flush();
            match r {
                Ok(_) => ExitCode::SUCCESS,
                Err(e) => {
                    eprintln!("{e}");
                    ExitCode::from(3)
                }
            }
        }
    }
}
