//! `sframe-check walk`.

use std::io::{self, Write};

use sframe_process::Places;

use super::args::DocumentFormat;
use super::args::walk::WalkArgs;
use super::check::debuginfod;
use super::{Exit, stdout, styled_stdout};
use sframe_record::text::printable_path;
use sframe_render::walk::{walk_core, walk_process, write_json, write_text};

pub(super) fn run(args: &WalkArgs) -> io::Result<Exit> {
    let rules = args.rules();
    let places = Places {
        exe: args.exe.clone(),
        sysroot: args.sysroot.clone(),
        debug_dirs: args.debug_dir.clone(),
        debuginfod: args.debuginfod.then(debuginfod).transpose()?,
    };
    let (input, walks) = match (&args.core, args.pid) {
        (Some(core), _) => (printable_path(core), walk_core(core, &places, args.thread, &rules)),
        (None, pid) => {
            let pid = pid.unwrap_or_default();
            (format!("process {pid}"), walk_process(pid, &args.debug_dir, args.thread, &rules))
        }
    };
    let walks = match walks {
        Ok(walks) => walks,
        Err(reason) => {
            writeln!(io::stderr(), "{input}: {reason}")?;
            return Ok(Exit::Incomplete);
        }
    };
    match args.format {
        DocumentFormat::Text => {
            let mut out = styled_stdout();
            write_text(&mut out, &walks)?;
            out.flush()?;
        }
        DocumentFormat::Json => write_json(&mut stdout(), &walks)?,
    }
    Ok(if walks.is_different() {
        Exit::Findings
    } else if walks.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}
