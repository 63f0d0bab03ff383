//! `sframe-check lookup FILE PC...`.

use std::io::{self, Write};

use super::args::DocumentFormat;
use super::args::look::LookupArgs;
use super::check::debuginfod;
use super::{Exit, stdout, styled_stdout};
use sframe_record::text::printable_path;
use sframe_render::lookup::{Question, look_up_file, write_json, write_text};
use sframe_scan::CheckOptions;

pub(super) fn run(args: &LookupArgs) -> io::Result<Exit> {
    let options = CheckOptions {
        debug_dirs: args.debug_dir.clone(),
        debuginfod: args.debuginfod.then(debuginfod).transpose()?,
        no_red_zone: args.no_red_zone,
        ..CheckOptions::default()
    };
    let question = Question {
        places: args.places.clone(),
        why: args.why || !args.register.is_empty(),
        registers: args.register.clone(),
    };
    let answers = match look_up_file(&args.file, &question, &options) {
        Ok(answers) => answers,
        Err(reason) => {
            writeln!(io::stderr(), "{}: {reason}", printable_path(&args.file))?;
            return Ok(Exit::Incomplete);
        }
    };
    for reason in &answers.not_found {
        writeln!(io::stderr(), "{}: {reason}", printable_path(&args.file))?;
    }
    match args.format {
        DocumentFormat::Text => {
            let mut out = styled_stdout();
            write_text(&mut out, &answers)?;
            out.flush()?;
        }
        DocumentFormat::Json => write_json(&mut stdout(), &answers)?,
    }
    Ok(if !answers.not_found.is_empty() {
        Exit::Failure
    } else if answers.is_different() {
        Exit::Findings
    } else if answers.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}
