//! `sframe-check show SCAN`.

use std::ffi::OsString;
use std::io::{self, BufReader};
use std::path::Path;

use sframe_history::report;
use sframe_html::Report;
use sframe_input::open_named;
use sframe_policy::{Judge, Policy};
use sframe_record::text::printable_path;
use sframe_record::{Record, Summary, Text};
use sframe_store::Store;

use super::args::Format;
use super::args::policy::GateArgs;
use super::args::stored::ShowArgs;
use super::output_file::OutputFile;
use super::outputs::{Outputs, Shown};
use super::place::StorePlace;
use super::policy::policy;
use super::records::{Readable, readable};
use super::{Exit, complain, gates, stdout};
use sframe_render::report::{Html, Nothing, Renderer};
use sframe_scan::stored::{self, Result};

pub(super) fn run(args: &ShowArgs) -> io::Result<Exit> {
    let Some((scan, earlier)) = args.scans.split_last() else { return Ok(Exit::Failure) };
    if !earlier.is_empty() && args.output.format != Format::Html {
        complain(
            &"several scans can be shown with --format html only: name one, or use `compare` for two",
        )?;
        return Ok(Exit::Failure);
    }
    // A closed output stays recognisable.
    let named = |path: &Path, error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    let policy = policy(&args.policy)?;
    let shown = Shown { all: args.all, known: policy.denies_known(), findings: true };
    let gates = GateArgs::default();
    let inputs: Vec<OsString> = args.scans.iter().map(|scan| scan.clone().into()).collect();
    let outputs = Outputs {
        output: &args.output,
        gates: &gates,
        policy: Some(&args.policy),
        shown,
        inputs: &inputs,
    };
    let (mut renderer, files): (Box<dyn Renderer>, _) = match args.output.format {
        Format::Html => {
            let mut report = Report::default();
            report.set_name(&printable_path(scan));
            report.set_pages(args.output.pages.clone());
            for path in earlier {
                let mut summary = Summary::default();
                read(path, policy.clone(), &mut summary, &mut Nothing)
                    .map_err(|error| named(path, error))?;
                report.add_earlier(&printable_path(path), &summary);
            }
            outputs.with(Box::new(Html::new(stdout(), report)))?
        }
        _ => outputs.renderer(None)?,
    };
    let mut summary = Summary::default();
    let read = read(scan, policy, &mut summary, renderer.as_mut());
    let ending = match read.map_err(|error| named(scan, error)) {
        Ok(ending) => ending,
        // What was shown already becomes a whole document.
        Err(error) if summary.inputs > 0 && error.kind() != io::ErrorKind::BrokenPipe => {
            let note = format!("not all of the scan could be read: {error}");
            summary.notes.push(Text::from(note));
            renderer.finish(&summary)?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    renderer.finish(&summary)?;
    files.into_iter().try_for_each(OutputFile::finish)?;
    if ending == Ending::Early {
        let unknown = "the scan did not reach its end: files that it had not checked by then are not shown, and their \
                       findings are unknown";
        complain(&format!("{}: {unknown}", scan.display()))?;
    }
    let exit = gates::exit(args.policy.fail_on, &summary);
    Ok(if ending == Ending::Complete || exit == Exit::Findings { exit } else { Exit::Incomplete })
}

/// How a stored scan ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// All of it was read.
    Complete,
    /// The scan was interrupted.
    Early,
    /// Parts of its store cannot be read, or contradict the rest.
    Damaged,
}

/// Hands the records of a store or report to `renderer`, and adds them to `summary`.
fn read(
    path: &Path,
    policy: Policy,
    summary: &mut Summary<'static>,
    renderer: &mut dyn Renderer,
) -> io::Result<Ending> {
    let place = StorePlace::of(path)?;
    place.fetch_merged()?;
    if place.folder().is_dir() {
        let read = store(place.folder(), path, policy, summary, renderer);
        return Ok(read.map_err(|error| place.name_in(error))?);
    }
    let mut written = Ok(());
    let mut judge = Judge::new(policy);
    let each = |record: &Record<'_>| {
        let record = judge.judge(record.clone());
        summary.add(&record);
        if written.is_ok() {
            written = record.hand_over(renderer);
        }
    };
    let read = report::read(BufReader::new(open_named(path)?), each).map_err(io::Error::other);
    written?;
    summary.notes = judge.notes().into_iter().map(Text::from).collect();
    Ok(if read?.complete { Ending::Complete } else { Ending::Early })
}

/// Hands the records in the sound shards of a store to `renderer`, and reports the others.
fn store(
    folder: &Path,
    name: &Path,
    policy: Policy,
    summary: &mut Summary<'static>,
    renderer: &mut dyn Renderer,
) -> Result<Ending> {
    let store = Store::open(folder)?;
    let Readable { shards, merged, sound } = readable(&store, name)?;
    let ending = match (merged, sound) {
        (_, false) => Ending::Damaged,
        (true, true) => Ending::Complete,
        (false, true) => Ending::Early,
    };
    *summary = stored::summary(&store, shards, policy, renderer)?;
    Ok(ending)
}
