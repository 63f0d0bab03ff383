//! `sframe-check size`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sframe_input::Selection;
use sframe_input::package::Unpacker;
use sframe_record::numbers::counted;

use super::args::DocumentFormat;
use super::args::size::SizeArgs;
use super::{Exit, complain, stdout, styled_stdout};
use sframe_render::size::{FoundBy, NotMeasured, Options, Sizes, json, measure, write_text};

/// The number of sections that are listed without `--by-file`.
const FEW: u64 = 3;
/// The number of causes that are counted. Messages of further ones are written each time.
const CAUSES: usize = 1_000;

pub(super) fn run(args: &SizeArgs) -> io::Result<Exit> {
    let (mut sections, mut total) = (Vec::new(), Sizes::default());
    let mut left_out = LeftOut { all: args.by_file, ..LeftOut::default() };
    let options = Options {
        raw: args.raw.options(),
        unpacker: Unpacker::new(args.limits.limits()),
        what_if: args.what_if,
    };
    let mut failed = None;
    for input in Selection::new(&args.paths, Vec::new()) {
        let is_named = args.paths.iter().any(|named| *named == *input.path());
        let found = if is_named { FoundBy::Name } else { FoundBy::Folder };
        measure(&input, found, &options, &mut |section| match section {
            Ok(sizes) => {
                total.add(&sizes);
                if args.by_file || total.sections <= FEW {
                    sections.push(sizes);
                }
            }
            Err(of) => failed = failed.take().or(left_out.add(&of).err()),
        });
        failed.take().map_or(Ok(()), Err)?;
    }
    left_out.finish()?;
    if total.sections == 0 && left_out.causes.is_empty() {
        complain(&"no SFrame section was found; `sframe-check forecast` says what one would cost")?;
    }
    if !args.by_file && total.sections > FEW {
        sections.clear();
    }
    let is_complete = left_out.causes.is_empty() && total.sections > 0;
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

/// What could not be measured, by cause. The first file of each cause is named, or all of them.
#[derive(Default)]
struct LeftOut {
    all: bool,
    causes: BTreeMap<String, u64>,
}

impl LeftOut {
    fn add(&mut self, of: &NotMeasured) -> io::Result<()> {
        let is_known = self.causes.contains_key(of.cause());
        let is_new = !is_known && self.causes.len() < CAUSES;
        if is_known || is_new {
            let count = self.causes.entry(of.cause().to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        if self.all || !is_known {
            complain(&format!("{}: {}", of.name, of.reason))
        } else {
            Ok(())
        }
    }

    fn finish(&self) -> io::Result<()> {
        let further = self.causes.iter().filter(|(_, count)| !self.all && **count > 1);
        for (cause, count) in further {
            let sections = counted(count - 1, "more section");
            complain(&format!("{sections} not measured, --by-file names them: {cause}"))?;
        }
        Ok(())
    }
}
