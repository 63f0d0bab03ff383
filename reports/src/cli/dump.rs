//! `sframe-check dump FILE`.

use std::fs;
use std::io::{self, Write};

use super::args::DumpArgs;
use super::{Exit, stdout};
use crate::dump::dump_file;
use sframe_input::plain_error;
use sframe_record::text::printable_path;

pub(super) fn run(args: &DumpArgs) -> io::Result<Exit> {
    let mut complaints = io::stderr();
    let regular = fs::metadata(&args.file).map(|metadata| metadata.is_file());
    let problem = match regular {
        Ok(true) => None,
        Ok(false) => Some("not a regular file".to_owned()),
        Err(error) => Some(plain_error(&error)),
    };
    if let Some(problem) = problem {
        let _ = writeln!(complaints, "{}: {problem}", printable_path(&args.file));
        return Ok(Exit::Incomplete);
    }
    let mut out = stdout();
    let outcome = dump_file(&args.file, args.style, args.raw.options(), &mut out, &mut complaints)?;
    out.flush()?;
    Ok(if outcome.unreadable > 0 { Exit::Incomplete } else { Exit::Clean })
}
