//! The command line of outputs: what is written, and where.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sframe_record::Pages;

/// How findings are written.
#[derive(Debug, Args)]
pub(in crate::cli) struct OutputArgs {
    /// The format of the findings
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = "Output")]
    pub(in crate::cli) format: Format,
    /// Write the results to a file as well: FORMAT=FILE, such as sarif=out.sarif
    ///
    /// The option may be repeated.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = ToFile::parse, help_heading = "Output", hide_short_help = true)]
    pub(in crate::cli) output: Vec<ToFile>,
    /// Write suppressed findings to SARIF as well, marked as such
    ///
    /// GitHub's code scanning shows them like others.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(in crate::cli) sarif_suppressed: bool,
    /// Link the names of rules in HTML, SARIF and Markdown to their pages below this address
    ///
    /// It is the address of the web site that the package sframe-site writes. The summary in JSON has the addresses, too.
    #[arg(long, value_name = "ADDRESS", value_parser = Pages::parse, help_heading = "Output", hide_short_help = true)]
    pub(in crate::cli) pages: Option<Pages>,
    /// Report what code SFrame describes, and why not more
    ///
    /// The report compares with CFI, and gives the cause of each omission. Files without a section are part of the sums, and are
    /// listed with --verbose.
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) coverage: bool,
    /// Name every file, including sound and unchecked ones
    #[arg(short, long, help_heading = "Output")]
    pub(in crate::cli) verbose: bool,
    /// List findings file by file, not by root cause
    ///
    /// Without this option, scans of more than three files list each root cause once.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(in crate::cli) by_file: bool,
    /// Print only how often each rule is broken, and in how many files
    #[arg(long, conflicts_with_all = ["format", "verbose", "quiet", "by_file", "coverage"], help_heading = "Output", hide_short_help = true)]
    pub(in crate::cli) statistics: bool,
    /// Write the names of C++ and Rust functions as their source has them, in text
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(in crate::cli) demangle: When,
    /// Print findings only: no summary, no progress
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub(in crate::cli) quiet: bool,
}

impl OutputArgs {
    /// The formats of all outputs.
    pub(in crate::cli) fn formats(&self) -> impl Iterator<Item = Format> {
        [self.format].into_iter().chain(self.output.iter().map(|to_file| to_file.format))
    }
}

/// `--output`.
#[derive(Clone, Debug)]
pub(in crate::cli) struct ToFile {
    pub(in crate::cli) format: Format,
    pub(in crate::cli) path: PathBuf,
}

impl ToFile {
    fn parse(text: &str) -> Result<ToFile, String> {
        let (format, path) = text.split_once('=').unwrap_or((text, ""));
        if path.is_empty() {
            return Err("a format, an equals sign and a file are needed, such as sarif=out.sarif"
                .to_owned());
        }
        let known = Format::from_str(format, false);
        let format = known.map_err(|_| {
            let names = Format::value_variants().iter().filter_map(Format::to_possible_value);
            let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
            format!("\"{format}\" is no format: these are {}", names.join(", "))
        })?;
        Ok(ToFile { format, path: path.into() })
    }
}

/// `--demangle`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum When {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `--format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// A JSON object on each line: one for each file as it is checked, then the summary
    Ndjson,
    /// A page for a browser, in one file that needs no network
    Html,
    /// SARIF 2.1.0, for services that show findings beside code
    Sarif,
    /// JUnit's XML, which CI systems show as test results
    Junit,
    /// Markdown, for the summary page of a CI job
    Markdown,
    /// Commands of GitHub Actions, which show findings beside the lines of a change
    Github,
}
