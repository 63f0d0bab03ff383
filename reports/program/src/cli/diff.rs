//! `sframe-check diff A B`.

use std::io::{self, Write};

use sframe_oracle::diff::Matching;
use sframe_validator::finding::Keep;

use super::args::DocumentFormat;
use super::args::look::{CompareRows, DiffArgs, MatchBy};
use super::{Exit, complain, stdout, styled_stdout};
use sframe_record::numbers::counted;
use sframe_record::text::printable_path;
use sframe_render::diff::{DiffOptions, RowsFrom, Text, diff_inputs, json};

/// The number of differing functions that are shown without `--all`.
const SHOWN: usize = 10;

pub(super) fn run(args: &DiffArgs) -> io::Result<Exit> {
    let options = DiffOptions {
        from: args.from.map(|from| match from {
            CompareRows::Sframe => RowsFrom::Sframe,
            CompareRows::Cfi => RowsFrom::Cfi,
            CompareRows::Code => RowsFrom::Code,
        }),
        matching: args.by.map(|by| match by {
            MatchBy::Pc => Matching::Address,
            MatchBy::Symbol => Matching::Symbol,
        }),
        keep: if args.all { Keep::All } else { Keep::First(SHOWN) },
    };
    let comparison = match diff_inputs(&args.first, &args.second, &options) {
        Ok(comparison) => comparison,
        Err(error) => {
            writeln!(io::stderr(), "{}: {}", printable_path(&error.path), error.why)?;
            return Ok(Exit::Incomplete);
        }
    };
    match (args.format, comparison.reports.as_slice()) {
        (DocumentFormat::Text, _) => Text::new(styled_stdout()).comparison(&comparison)?,
        (DocumentFormat::Json, [report]) => json::write(&mut stdout(), report)?,
        (DocumentFormat::Json, reports) => {
            let files = counted(reports.len() as u64, "file");
            complain(&format!(
                "--format json compares one file: the packages have {files} in common"
            ))?;
            return Ok(Exit::Failure);
        }
    }
    Ok(if comparison.is_different() {
        Exit::Findings
    } else if comparison.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}
