//! `sframe-check reassemble FILE`.

use std::io::{self, Write};
use std::path::Path;

use sframe_validator::elf::Elf;

use super::args::tools::ReassembleArgs;
use super::output_file::{Content, OutputFiles};
use super::{Exit, stdout};
use sframe_harness::reassemble::{
    Comparison, LeftOut, Mismatch, Outcome, Place, ReassembleError, compare, reassemble,
};
use sframe_input::{FileBytes, archive, plain_error};
use sframe_record::numbers::counted;
use sframe_record::text::printable_path;

/// The number of differing functions that are named.
const SHOWN: usize = 10;

/// The outer error ends the program; the inner one is the reason why an input cannot be read.
type Tried<T> = io::Result<Result<T, String>>;

pub(super) fn run(args: &ReassembleArgs) -> io::Result<Exit> {
    let tried = match (&args.compare, &args.output) {
        (Some(rebuilt), _) => compared(&args.file, rebuilt),
        (None, output) => written(&args.file, output.as_deref().unwrap_or(Path::new("-"))),
    };
    tried?.or_else(|why| {
        writeln!(io::stderr(), "{why}")?;
        Ok(Exit::Incomplete)
    })
}

/// `-o OUT`.
fn written(path: &Path, output: &Path) -> Tried<Exit> {
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(why) => return Ok(Err(why)),
    };
    let name = printable_path(path.file_name().map_or(path, Path::new));
    let write = |out: &mut dyn Write| match parse(path, &bytes) {
        Ok(elf) => {
            let written = match reassemble(&elf, &name, out) {
                Err(ReassembleError::Output(error)) => return Err(error),
                written => written.map_err(|error| about(path, &error.to_string())),
            };
            Ok(written.and_then(|written| unchanged(path, &bytes).map(|()| written)))
        }
        Err(why) => Ok(Err(why)),
    };
    let outcome = if output == Path::new("-") {
        let mut out = stdout();
        let outcome = write(&mut out)?;
        out.flush()?;
        outcome
    } else {
        let (file, mut out) = OutputFiles::of([path]).create(output, Content::Report)?;
        let outcome = write(&mut out).and_then(|outcome| out.flush().map(|()| outcome));
        let named =
            |error: io::Error| io::Error::new(error.kind(), about(output, &plain_error(&error)));
        let outcome = outcome.map_err(named)?;
        drop(out);
        if outcome.is_ok() {
            file.finish()?;
        }
        outcome
    };
    Ok(match outcome {
        Ok(outcome) => Ok(write_outcome(&outcome)?),
        Err(why) => Err(why),
    })
}

/// Reports what was written and what was skipped. Uses standard error, because the assembly may be on standard
/// output.
fn write_outcome(outcome: &Outcome) -> io::Result<Exit> {
    let mut out = io::stderr().lock();
    let functions = counted(outcome.functions, "function");
    let sections = counted(outcome.sections, "section");
    writeln!(out, "{functions} in {sections}, {} of code", counted(outcome.bytes, "byte"))?;
    write_left_out(&mut out, &outcome.left_out)?;
    let whole = outcome.functions > 0 && outcome.left_out.is_empty();
    Ok(if whole { Exit::Clean } else { Exit::Incomplete })
}

fn write_left_out(out: &mut dyn Write, left_out: &LeftOut) -> io::Result<()> {
    for (reason, (count, first)) in &left_out.functions {
        let functions = counted(*count, "function");
        writeln!(out, "left out: {functions}, the first at {}: {reason}", Place(*first))?;
    }
    match left_out.entries {
        0 => Ok(()),
        count => writeln!(out, "left out: {} of CFI that cannot be read", counted(count, "part")),
    }
}

/// `--compare REBUILT`.
fn compared(path: &Path, rebuilt: &Path) -> Tried<Exit> {
    let run = || {
        let (data, rebuilt_data) = (read(path)?, read(rebuilt)?);
        let (first, second) = (parse(path, &data)?, parse(rebuilt, &rebuilt_data)?);
        let comparison =
            compare(&first, &second).map_err(|error| about(rebuilt, &error.to_string()))?;
        unchanged(path, &data).and_then(|()| unchanged(rebuilt, &rebuilt_data))?;
        Ok(comparison)
    };
    Ok(match run() {
        Ok(comparison) => Ok(write_comparison(&comparison)?),
        Err(why) => Err(why),
    })
}

fn write_comparison(comparison: &Comparison) -> io::Result<Exit> {
    let mut out = stdout();
    let different = comparison.different.len() as u64;
    for (start, mismatch) in comparison.different.iter().take(SHOWN) {
        let what = match mismatch {
            Mismatch::Missing => "missing, or cannot be read".to_owned(),
            Mismatch::Size => "another size".to_owned(),
            Mismatch::Code => "other code".to_owned(),
            Mismatch::Attributes => "another return column, key or signal mark".to_owned(),
            Mismatch::Rows(at) => format!("other rules from +{at:#x} on"),
        };
        writeln!(out, "different: the function at {}: {what}", Place(*start))?;
    }
    if comparison.different.len() > SHOWN {
        writeln!(out, "and {} more", comparison.different.len() - SHOWN)?;
    }
    let same = counted(comparison.functions - different, "function");
    let rows = counted(comparison.rows, "row");
    writeln!(out, "{same} with {rows} the same, {different} different")?;
    if comparison.added > 0 {
        writeln!(out, "{} only in the rebuilt file", counted(comparison.added, "function"))?;
    }
    write_left_out(&mut out, &comparison.left_out)?;
    out.flush()?;
    Ok(if different + comparison.added > 0 {
        Exit::Findings
    } else if comparison.functions == 0 || !comparison.left_out.is_empty() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

fn about(path: &Path, why: &str) -> String {
    format!("{}: {why}", printable_path(path))
}

fn read(path: &Path) -> Result<FileBytes, String> {
    let system = |error| about(path, &plain_error(&error));
    let bytes = FileBytes::open(path).map_err(system)?;
    match archive::is_archive(&bytes) {
        true => Err(about(path, "an archive: take out the member")),
        false => Ok(bytes),
    }
}

fn unchanged(path: &Path, bytes: &FileBytes) -> Result<(), String> {
    bytes.intact().map_err(|error| about(path, &plain_error(&error)))
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<Elf<'a>, String> {
    Elf::parse(bytes).map_err(|error| about(path, &error.to_string()))
}
