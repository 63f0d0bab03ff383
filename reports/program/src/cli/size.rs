//! `sframe-check size`.

use std::io::{self, Write};

use sframe_input::Selection;

use super::args::DocumentFormat;
use super::args::size::SizeArgs;
use super::{Exit, complain, stdout, styled_stdout};
use crate::size::{Options, Sizes, json, measure, write_text};

/// The number of sections that are listed without `--by-file`.
const FEW: u64 = 3;

pub(super) fn run(args: &SizeArgs) -> io::Result<Exit> {
    let (mut sections, mut total, mut unreadable) = (Vec::new(), Sizes::default(), 0_u64);
    let options =
        Options { raw: args.raw.options(), limits: args.limits.limits(), what_if: args.what_if };
    let mut failed = None;
    for input in Selection::new(&args.paths, Vec::new()) {
        let is_named = args.paths.iter().any(|named| *named == *input.path());
        measure(&input, is_named, &options, &mut |section| match section {
            Ok(sizes) => {
                total.add(&sizes);
                if args.by_file || total.sections <= FEW {
                    sections.push(sizes);
                }
            }
            Err(why) => {
                unreadable = unreadable.saturating_add(1);
                failed = failed.take().or(complain(&why).err());
            }
        });
        failed.take().map_or(Ok(()), Err)?;
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
