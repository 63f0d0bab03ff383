//! `sframe-check --store DIR PATH...`.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use sframe_store::{Previous, Stamps, StampsWriter, Store};

use super::args::CheckArgs;
use super::shards::{check_item, options};
use super::supervise::{die_with_parent, supervise};
use super::{Exit, check, styled_stdout, terminal_width};
use crate::render::{Pace, Text, TextOptions};
use crate::scan::{CheckOptions, Checker};
use crate::stored::{self, Planning, Result, Scanner, Total};

/// How many root causes are shown.
const CAUSES: usize = 10;

pub(super) fn run(folder: &Path, args: &CheckArgs) -> io::Result<Exit> {
    let started = args.store.at_work || args.store.alone.item.is_some();
    if started && !die_with_parent() {
        return Err(io::Error::other("the process that has started this one is gone"));
    }
    let mut options = options(&args.what)?;
    check::limit_memory(&mut options, args.output.memory_limit, args.threads);
    if let Some(item) = args.store.alone.item {
        return Ok(check_item(&open(folder)?, item, &options)?);
    }
    if args.store.at_work {
        return Ok(work(folder, args, &options)?);
    }
    if is_there(folder) {
        if !args.store.resume {
            let message = format!(
                "{} is a store already: --resume goes on with it, and --previous takes over from it \
                 to a new one",
                folder.display()
            );
            return Err(io::Error::other(message));
        }
        check_that_it_is(folder, args, &options)?;
    }
    supervise(|| Ok(open(folder)?.status().map_err(stored::Error::from)?.whole.len()))
}

fn is_there(folder: &Path) -> bool {
    folder.join("run.json").exists()
}

fn open(folder: &Path) -> Result<Store> {
    Ok(Store::open(folder)?)
}

/// Whether a store that is to be gone on with is of the same scan.
fn check_that_it_is(folder: &Path, args: &CheckArgs, options: &CheckOptions) -> Result<()> {
    let store = open(folder)?;
    let same_paths = store.manifest().inputs().iter().eq(args.paths.iter());
    let what = match () {
        () if !same_paths => "of other inputs",
        () if store.manifest().key() != &stored::key(options) => {
            "made by another version, or with other options for what to check"
        }
        () => return Ok(()),
    };
    Err(sframe_store::Error::Foreign { path: folder.to_owned(), reason: what.to_owned() }.into())
}

/// Does all that is left to do, in the process that is started for it.
fn work(folder: &Path, args: &CheckArgs, options: &CheckOptions) -> Result<Exit> {
    let key = stored::key(options);
    let (previous, known) = match &args.store.previous {
        Some(previous) => (Previous::open(previous, &key)?, Stamps::load(previous, &key)?),
        None => (Previous::default(), Stamps::default()),
    };
    fs::create_dir_all(folder)?;
    let mut stamps = StampsWriter::start(folder, &key)?;
    let checker = Checker::new(options);
    let scanner =
        Scanner { checker: &checker, previous: &previous, known: &known, threads: args.threads };
    let mut store = if is_there(folder) {
        open(folder)?
    } else {
        let planning = Planning { key, inputs: &args.paths, shards: None, hash: false, scanner };
        let found = check::selection(&args.paths)?;
        Store::create(folder, stored::plan(planning, found, Some(&mut stamps))?)?
    };
    check_shards(&store, args, scanner, &mut stamps)?;
    store.merge()?;
    stamps.save()?;
    tell(&store, args)
}

fn check_shards(
    store: &Store,
    args: &CheckArgs,
    scanner: Scanner<'_>,
    stamps: &mut StampsWriter,
) -> Result<()> {
    let manifest = store.manifest();
    let bytes = |shard| manifest.bytes_of(shard);
    let all = (0..manifest.shards()).map(bytes).fold(0, u64::saturating_add);
    let mut pace = Pace::new(all, !args.output.quiet && io::stderr().is_terminal());
    for shard in 0..manifest.shards() {
        let mut done = 0;
        stored::check_shard(store, shard, scanner, Some(stamps), &mut |item| {
            if let Some(item) = item {
                done += 1;
                pace.done(item);
            }
        })?;
        if done == 0 {
            pace.skip(bytes(shard));
        }
    }
    pace.finish();
    Ok(())
}

/// Tells what a complete store says.
fn tell(store: &Store, args: &CheckArgs) -> Result<Exit> {
    let Total { summary, causes } = stored::summary(store)?;
    let mut out = styled_stdout();
    sframe_history::groups::write_text(&mut out, &causes, CAUSES)?;
    if !args.output.quiet {
        let width = terminal_width();
        let options = TextOptions { verbose: args.verbose, coverage: true, width };
        Text::new(&mut out, options).totals(&summary)?;
    }
    out.flush()?;
    Ok(check::exit(args.fail_on, &summary))
}
