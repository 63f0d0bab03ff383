//! `sframe-check dump FILE`.

use std::io::{self, Write};

use super::args::look::DumpArgs;
use super::{Exit, complain, stdout};
use sframe_render::dump::{DumpOptions, Selection, Style, dump_file};

pub(super) fn run(args: &DumpArgs) -> io::Result<Exit> {
    let options = DumpOptions {
        style: args.style.into(),
        raw: args.raw.options(),
        selection: Selection { functions: args.function.clone(), pcs: args.pc.clone() },
    };
    if options.style == Style::Gnu && !options.selection.is_all() {
        complain(&"--style gnu prints all functions; leave out --function and --pc, or the style")?;
        return Ok(Exit::Failure);
    }
    let mut out = stdout();
    let outcome = dump_file(&args.file, &options, &mut out, &mut io::stderr())?;
    out.flush()?;
    Ok(if outcome.unreadable > 0 { Exit::Incomplete } else { Exit::Clean })
}
