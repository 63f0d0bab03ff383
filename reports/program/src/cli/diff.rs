//! `sframe-check diff A B`.

use std::io::{self, Write};

use sframe_oracle::diff::Matching;
use sframe_validator::finding::Keep;

use super::args::DocumentFormat;
use super::args::look::{DiffArgs, MatchBy};
use super::{Exit, stdout, styled_stdout};
use sframe_record::text::printable_path;
use sframe_render::diff::{DiffOptions, Text, diff_files, json};

/// The number of differing functions that are shown without `--all`.
const SHOWN: usize = 10;

pub(super) fn run(args: &DiffArgs) -> io::Result<Exit> {
    let options = DiffOptions {
        matching: args.by.map(|by| match by {
            MatchBy::Pc => Matching::Address,
            MatchBy::Symbol => Matching::Symbol,
        }),
        keep: if args.all { Keep::All } else { Keep::First(SHOWN) },
    };
    let report = match diff_files(&args.first, &args.second, &options) {
        Ok(report) => report,
        Err(error) => {
            writeln!(io::stderr(), "{}: {}", printable_path(&error.path), error.why)?;
            return Ok(Exit::Incomplete);
        }
    };
    match args.format {
        DocumentFormat::Text => Text::new(styled_stdout()).write(&report)?,
        DocumentFormat::Json => json::write(&mut stdout(), &report)?,
    }
    Ok(if report.is_different() {
        Exit::Findings
    } else if report.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}
