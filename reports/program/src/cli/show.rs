//! `sframe-check show SCAN`.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use sframe_history::report;
use sframe_record::{Record, Summary};
use sframe_store::{ShardState, Store};

use super::args::stored::ShowArgs;
use super::place::Place;
use super::{Exit, check, complain};
use crate::render::Renderer;
use crate::stored::{self, Result};

pub(super) fn run(args: &ShowArgs) -> io::Result<Exit> {
    let mut renderer = check::renderer(&args.output, args.all, None);
    renderer.begin()?;
    let (summary, complete) = read(&args.scan, renderer.as_mut())
        .map_err(|error| io::Error::other(format!("{}: {error}", args.scan.display())))?;
    renderer.end(&summary)?;
    let exit = check::exit(args.fail_on, &summary);
    Ok(if complete || exit == Exit::Findings { exit } else { Exit::Incomplete })
}

/// Hands the records of a store or report to `renderer`, and sums them up; whether the scan came to
/// its end.
fn read(path: &Path, renderer: &mut dyn Renderer) -> io::Result<(Summary<'static>, bool)> {
    let place = Place::of(path)?;
    place.fetch_merged()?;
    if place.folder().is_dir() {
        let read = store(place.folder(), path, renderer);
        return Ok(read.map_err(|error| place.name_in(error))?);
    }
    let (mut summary, mut written) = (Summary::default(), Ok(()));
    let each = |record: &Record<'_>| {
        summary.add(record);
        if written.is_ok() {
            written = renderer.file(record);
        }
    };
    let ending = report::read(BufReader::new(File::open(path)?), each).map_err(io::Error::other)?;
    written.map(|()| (summary, ending.complete))
}

fn store(
    folder: &Path,
    name: &Path,
    renderer: &mut dyn Renderer,
) -> Result<(Summary<'static>, bool)> {
    let store = Store::open(folder)?;
    let mut complete = store.run().totals.is_some();
    for shard in 0..store.manifest().shards() {
        let state = store.state(shard)?;
        if !matches!(state, ShardState::Whole(_)) {
            complete = false;
            complain(&format!("{}: shard {shard} is {state}", name.display()))?;
        }
    }
    let summary = stored::summary(&store, &mut |record| renderer.file(record))?;
    Ok((summary, complete))
}
