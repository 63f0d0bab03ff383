//! `sframe-check show SCAN`.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use sframe_history::report;
use sframe_policy::{Judge, Policy};
use sframe_record::{Record, Summary, Text};
use sframe_store::{ShardState, Store};

use super::args::stored::ShowArgs;
use super::place::StorePlace;
use super::policy::policy;
use super::{Exit, check, complain};
use crate::render::Renderer;
use crate::stored::{self, Result};

pub(super) fn run(args: &ShowArgs) -> io::Result<Exit> {
    let mut renderer = check::renderer(&args.output, args.all, None);
    renderer.begin()?;
    let policy = policy(&args.policy)?;
    let (summary, ending) = read(&args.scan, policy, renderer.as_mut())
        .map_err(|error| io::Error::other(format!("{}: {error}", args.scan.display())))?;
    renderer.end(&summary)?;
    if ending == Ending::Early {
        let unknown = "the scan did not reach its end: files that it had not checked by then are not shown, and their \
                       findings are unknown";
        complain(&format!("{}: {unknown}", args.scan.display()))?;
    }
    let exit = check::exit(args.policy.fail_on, &summary);
    Ok(if ending == Ending::Complete || exit == Exit::Findings { exit } else { Exit::Incomplete })
}

/// How a stored scan ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// All of it was read.
    Complete,
    /// The scan was interrupted.
    Early,
    /// The scan was complete, but parts of its store cannot be read any longer.
    Damaged,
}

/// Hands the records of a store or report to `renderer`, and returns their sum.
fn read(
    path: &Path,
    policy: Policy,
    renderer: &mut dyn Renderer,
) -> io::Result<(Summary<'static>, Ending)> {
    let place = StorePlace::of(path)?;
    place.fetch_merged()?;
    if place.folder().is_dir() {
        let read = store(place.folder(), path, policy, renderer);
        return Ok(read.map_err(|error| place.name_in(error))?);
    }
    let (mut summary, mut written) = (Summary::default(), Ok(()));
    let mut judge = Judge::new(policy);
    let each = |record: &Record<'_>| {
        let record = judge.judge(record.clone());
        summary.add(&record);
        if written.is_ok() {
            written = renderer.file(&record);
        }
    };
    let read = report::read(BufReader::new(File::open(path)?), each).map_err(io::Error::other)?;
    summary.notes = judge.notes().into_iter().map(Text::from).collect();
    let ending = if read.complete { Ending::Complete } else { Ending::Early };
    written.map(|()| (summary, ending))
}

/// Hands the records in the sound shards of a store to `renderer`, and names the other shards.
fn store(
    folder: &Path,
    name: &Path,
    policy: Policy,
    renderer: &mut dyn Renderer,
) -> Result<(Summary<'static>, Ending)> {
    let store = Store::open(folder)?;
    let merged = store.run().totals.is_some();
    let mut ending = if merged { Ending::Complete } else { Ending::Early };
    let mut sound = Vec::new();
    for shard in 0..store.manifest().shards() {
        let state = store.state(shard)?;
        if matches!(state, ShardState::Whole(_)) {
            sound.push(shard);
            continue;
        }
        if merged {
            ending = Ending::Damaged;
        }
        let unknown = "its files are not shown";
        complain(&format!("{}: shard {shard} is {state}: {unknown}", name.display()))?;
    }
    let summary = stored::summary(&store, sound, policy, &mut |record| renderer.file(record))?;
    Ok((summary, ending))
}
