//! `sframe-check --store DIR PATH...`.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use sframe_record::Summary;
use sframe_store::{DamagedShard, Key, NO_HASHES, Previous, Stamps, StampsWriter, Store};

use super::args::CheckArgs;
use super::place::{StorePlace, is_address};
use super::policy::policy;
use super::shards::{check_item, complain_of, mention_tables, options};
use super::supervise::{die_with_parent, own_arguments, supervise};
use super::{Exit, check, complain, gates, styled_stdout, terminal_width};
use sframe_record::SymbolNames;
use sframe_render::report::{Causes, Pace, TextOptions};
use sframe_scan::stored::{self, Planning, Result, Scanner};
use sframe_scan::{CheckOptions, Checker};

pub(super) fn run(folder: &Path, args: &CheckArgs) -> io::Result<Exit> {
    let started = args.store.at_work || args.store.alone.item.is_some();
    if started && !die_with_parent() {
        return Err(io::Error::other("the process that has started this one is gone"));
    }
    if is_address(folder) {
        let message = "a scan by one machine keeps its results in a folder: `shard scan --manifest`, \
                       `status` and `merge` take the address of a bucket";
        return Err(io::Error::other(message));
    }
    let mut options = options(&args.what)?;
    check::limit_memory(&mut options, &args.resources);
    if let Some(item) = args.store.alone.item {
        return Ok(check_item(open(folder)?.manifest(), item, &options)?);
    }
    if args.store.at_work {
        return Ok(work(folder, args, &options)?);
    }
    Store::claim(folder).map_err(stored::Error::from)?;
    if is_there(folder) {
        if !args.store.resume {
            let message = format!(
                "{} is a store already: continue its scan with --resume, or make a new store from its \
                 unchanged results with --previous",
                folder.display()
            );
            return Err(io::Error::other(message));
        }
        check_that_it_is(folder, args, &options)?;
    }
    let done = || Ok(open(folder)?.status().map_err(stored::Error::from)?.whole.len());
    let exit = supervise(&own_arguments(0, &[OsStr::new("--at-work")]), done)?;
    if exit == Exit::Interrupted {
        interrupted(folder, args)?;
    }
    Ok(exit)
}

/// Prints the results of the complete shards.
fn interrupted(folder: &Path, args: &CheckArgs) -> Result<()> {
    let mut kept = "no results are stored yet".to_owned();
    if is_there(folder) {
        let store = open(folder)?;
        let status = store.status()?;
        if !status.whole.is_empty() {
            print(&store, args)?;
        }
        kept = format!("{} of {} shards are stored", status.whole.len(), status.shards);
    }
    writeln!(io::stderr(), "sframe-check: interrupted: {kept}; --resume continues the scan")?;
    Ok(())
}

fn is_there(folder: &Path) -> bool {
    folder.join("run.json").exists()
}

fn open(folder: &Path) -> Result<Store> {
    Ok(Store::open(folder)?)
}

/// Returns an error if the store belongs to another scan.
fn check_that_it_is(folder: &Path, args: &CheckArgs, options: &CheckOptions) -> Result<()> {
    let store = open(folder)?;
    let names = args.inputs.names();
    let same_paths = store.manifest().inputs().iter().eq(names.iter());
    let what = match () {
        () if !same_paths => "its inputs are different",
        () if store.manifest().key() != &stored::key(options) => {
            "it was made by another version, or with other options for what to check"
        }
        () => return Ok(()),
    };
    Err(sframe_store::Error::Foreign { path: folder.to_owned(), reason: what.to_owned() }.into())
}

/// Does the rest of the scan, in the worker process.
fn work(folder: &Path, args: &CheckArgs, options: &CheckOptions) -> Result<Exit> {
    let key = stored::key(options);
    let earlier = args.store.previous.as_deref().map(earlier).transpose()?;
    let (previous, known) = match &earlier {
        Some(earlier) => (previous(earlier, &key, args)?, Stamps::load(earlier.folder(), &key)?),
        None => (Previous::default(), Stamps::default()),
    };
    let mut stamps = StampsWriter::start(folder, &key)?;
    let checker = Checker::new(options);
    let scanner = Scanner {
        checker: &checker,
        previous: &previous,
        known: &known,
        threads: args.resources.threads,
    };
    let mut store = if is_there(folder) {
        open(folder)?
    } else {
        let planning =
            Planning { key, inputs: &args.inputs.names(), shards: None, hash: false, scanner };
        let found = check::lasting_selection(&args.inputs)?;
        Store::create(folder, stored::plan(planning, found, Some(&mut stamps))?)?
    };
    check_shards(&store, args, scanner, &mut stamps)?;
    let merged = store.merge()?;
    stamps.save()?;
    complain_of(folder, &merged.found)?;
    mention_tables(&store, folder)?;
    print(&store, args)
}

/// The store of an earlier scan.
fn earlier(name: &Path) -> Result<StorePlace> {
    let place = StorePlace::of(name)?;
    let named = |error: stored::Error| io::Error::other(format!("{}: {error}", name.display()));
    place.fetch_merged().map_err(named)?;
    Ok(place)
}

/// The results of an earlier scan. Reports damage in its store.
fn previous(earlier: &StorePlace, key: &Key, args: &CheckArgs) -> Result<Previous> {
    let opened = Previous::open(earlier.folder(), key).map_err(stored::Error::from);
    let previous = opened.map_err(|error| earlier.name_in(error))?;
    let name = args.store.previous.as_deref().unwrap_or(earlier.folder()).display();
    if previous.lacks_hashes() {
        complain(&format!("{name}: {NO_HASHES}"))?;
    }
    for DamagedShard { shard, reason, .. } in previous.unusable() {
        let what = "its files are checked again here; to repair that store, scan the shard again and merge";
        complain(&format!("{name}: shard {shard}: {reason}: {what}"))?;
    }
    Ok(previous)
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
    let is_shown = !args.output.quiet && io::stderr().is_terminal();
    let mut pace = if is_shown { Pace::shown(all) } else { Pace::hidden(all) };
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

/// Prints the results of a store, which may be incomplete.
fn print(store: &Store, args: &CheckArgs) -> Result<Exit> {
    let mut causes = Causes::default();
    let policy = policy(&args.policy)?;
    let known = policy.denies_known();
    let shards = 0..store.manifest().shards();
    let summary = stored::summary(store, shards, policy, &mut causes)?;
    let summary = Summary { failed_gates: gates::failed(&args.gates, &summary), ..summary };
    let mut out = styled_stdout();
    let options = TextOptions {
        verbose: args.output.verbose,
        all: args.what.all,
        coverage: true,
        summary: !args.output.quiet,
        known,
        names: SymbolNames::Mangled,
        findings: true,
        width: terminal_width(),
    };
    causes.write(&mut out, options, &summary)?;
    out.flush()?;
    Ok(gates::gated(&args.policy, &args.gates, &summary))
}
