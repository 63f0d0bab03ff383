//! `sframe-check dump FILE`.

use std::io::{self, Write};

use super::args::DumpArgs;
use super::{Exit, stdout};
use crate::dump::dump_file;

pub(super) fn run(args: &DumpArgs) -> io::Result<Exit> {
    let mut out = stdout();
    let outcome =
        dump_file(&args.file, args.style, args.raw.options(), &mut out, &mut io::stderr())?;
    out.flush()?;
    Ok(if outcome.unreadable > 0 { Exit::Incomplete } else { Exit::Clean })
}
