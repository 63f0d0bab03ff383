//! `sframe-check size`.

use std::io::{self, Write};
use std::path::Path;

use sframe_input::{Input, Selection};
use sframe_record::text::printable_path;

use super::args::DocumentFormat;
use super::args::size::SizeArgs;
use super::{Exit, complain, stdout, styled_stdout};
use crate::size::{Sizes, json, measure, write_text};

/// The number of sections that are listed without `--by-file`.
const FEW: u64 = 3;

pub(super) fn run(args: &SizeArgs) -> io::Result<Exit> {
    let (mut sections, mut total, mut unreadable) = (Vec::new(), Sizes::default(), 0_u64);
    for input in Selection::new(&args.paths, Vec::new()) {
        let is_named = |path: &Path| args.paths.iter().any(|named| *named == *path);
        let (path, measured) = match input {
            Input::File(path) => {
                let measured = measure(&path, args.raw.options(), args.what_if);
                // Folders have other files, too.
                let measured = match measured {
                    Ok(measured) => measured,
                    Err(_) if !is_named(&path) => continue,
                    Err(reason) => vec![Err(reason)],
                };
                (path, measured)
            }
            Input::Unreadable(path, reason) => (path, vec![Err(reason)]),
            Input::Special(path, kind) if is_named(&path) => {
                (path, vec![Err(format!("it is not a regular file: {}", kind.name()))])
            }
            Input::Special(..) | Input::Image(_) | Input::Content(..) => continue,
        };
        for section in measured {
            match section {
                Ok(sizes) => {
                    total.add(&sizes);
                    if args.by_file || total.sections <= FEW {
                        sections.push(sizes);
                    }
                }
                Err(reason) => {
                    unreadable += 1;
                    complain(&format!("{}: {reason}", printable_path(&path)))?;
                }
            }
        }
    }
    if total.sections == 0 && unreadable == 0 {
        complain(&"no SFrame section was found; `sframe-check forecast` says what one would cost")?;
    }
    if !args.by_file && total.sections > FEW {
        sections.clear();
    }
    let is_complete = unreadable == 0 && total.sections > 0;
    match args.format {
        DocumentFormat::Text => {
            let mut out = styled_stdout();
            sections.iter().try_for_each(|sizes| write_text(&mut out, sizes))?;
            if total.sections > 1 {
                write_text(&mut out, &total)?;
            }
            out.flush()?;
        }
        DocumentFormat::Json => json::write(&mut stdout(), &sections, &total)?,
    }
    Ok(if is_complete { Exit::Clean } else { Exit::Incomplete })
}
