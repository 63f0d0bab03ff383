//! `sframe-check shard plan`, `scan`, `status` and `merge`: a distributed scan.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{self, Path, PathBuf};

use sframe_store::{
    DamagedFile, Manifest, Merged, Previous, Remedy, ShardState, Stamps, Status, Store,
};

use super::args::stored::{MergeArgs, PlanArgs, ScanArgs, ShardCommand, ShardsArgs, StatusArgs};
use super::args::{DocumentFormat, WhatArgs};
use super::output_file::{Content, OutputFiles};
use super::place::StorePlace;
use super::supervise::{die_with_parent, own_arguments, supervise};
use super::{Exit, check, complain, stdout};
use sframe_input::{Input, plain_error};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::{printable, printable_path};
use sframe_scan::stored::{self, Planning, Result, Scanner};
use sframe_scan::{CheckOptions, Checker};

/// The options of a scan with stored results, which always includes the coverage.
///
/// # Errors
/// Returns an error if a package of debug files is unusable, or if servers are to be asked.
pub(super) fn options(what: &WhatArgs) -> Result<CheckOptions> {
    if what.debuginfod {
        let what = "--debuginfod cannot go with a store, which keeps results though servers change: name folders with \
                    --debug-dir, or packages with --debug-packages";
        return Err(sframe_store::Error::Usage(what.to_owned()).into());
    }
    let mut options = check::what_options(what);
    if let Some(Input::Unreadable(path, reason)) =
        check::debug_packages(what, &mut options).into_iter().next()
    {
        let what = format!("{}: {reason}", printable_path(&path));
        return Err(sframe_store::Error::Usage(what).into());
    }
    Ok(CheckOptions { coverage: true, hash: true, producers: true, ..options })
}

pub(super) fn run(command: &ShardCommand) -> io::Result<Exit> {
    match command {
        ShardCommand::Plan(args) => plan(args),
        ShardCommand::Scan(args) => Ok(scan(args)),
        ShardCommand::Status(args) => Ok(status(args)),
        ShardCommand::Merge(args) => Ok(merge(args)),
    }
}

fn plan(args: &PlanArgs) -> io::Result<Exit> {
    let mut outputs = OutputFiles::of(args.inputs.names());
    outputs.check(&args.output, Content::Report)?;
    let options = options(&args.what)?;
    let planning = Planning {
        key: stored::key(&options),
        inputs: &args.inputs.names(),
        shards: Some(args.shards),
        hash: true,
        scanner: Scanner {
            checker: &Checker::new(&options),
            previous: &Previous::default(),
            known: &Stamps::default(),
            threads: args.threads,
        },
    };
    // Shards may be checked in another working folder.
    let found = check::lasting_selection(&args.inputs)?.map(absolute);
    let manifest = stored::plan(planning, found, None)?;
    let (file, mut out) = outputs.create(&args.output, Content::Report)?;
    let is_compressed = args.output.extension().is_some_and(|extension| extension == "zst");
    let written = match is_compressed {
        true => manifest.write_compressed(&mut out),
        false => manifest.write(&mut out),
    };
    written.and_then(|()| out.flush()).map_err(|error| {
        io::Error::other(format!("{}: {}", printable_path(&args.output), plain_error(&error)))
    })?;
    drop(out);
    file.finish()?;
    let bytes = manifest.items().iter().fold(0, |sum: u64, item| sum.saturating_add(item.size));
    let items = counted(manifest.items().len() as u64, "item");
    let shards = counted(manifest.shards().into(), "shard");
    writeln!(io::stderr(), "sframe-check: {items} of {} bytes in {shards}", grouped(bytes))?;
    Ok(Exit::Clean)
}

fn absolute(input: Input) -> Input {
    let absolute = |path: PathBuf| path::absolute(&path).unwrap_or(path);
    match input {
        Input::File(path) => Input::File(absolute(path)),
        Input::Special(path, kind) => Input::Special(absolute(path), kind),
        Input::Unreadable(path, why) => Input::Unreadable(absolute(path), why),
        Input::Image(path) => Input::Image(absolute(path)),
        content @ Input::Content(..) => content,
    }
}

fn scan(args: &ScanArgs) -> Exit {
    let started = args.die_with_parent || args.copy.is_some() || args.alone.item.is_some();
    if started && !die_with_parent() {
        return Exit::Again;
    }
    status_of(scan_shard(args))
}

fn scan_shard(args: &ScanArgs) -> Result<Exit> {
    let manifest = Manifest::open(&args.shards.manifest)?;
    let options = options(&args.what)?;
    if manifest.key() != &stored::key(&options) {
        let message =
            "the manifest was made by another version, or with other options for what to check";
        return Err(sframe_store::Error::Usage(message.to_owned()).into());
    }
    if let Some(item) = args.alone.item {
        return check_item(&manifest, item, &options);
    }
    if let Some(copy) = &args.copy {
        return check_shard(&Store::create_copy(copy, manifest)?, args, &options);
    }
    let place = StorePlace::of(&args.shards.store)?;
    scan_in(&place, manifest, args, &options).map_err(|error| place.name_in(error))
}

fn scan_in(
    place: &StorePlace,
    manifest: Manifest,
    args: &ScanArgs,
    options: &CheckOptions,
) -> Result<Exit> {
    place.fetch_shard(args.shard)?;
    let store = place.create(manifest)?;
    let exit = match place.copy() {
        Some(copy) => check_copy(&store, args.shard, copy)?,
        None => check_shard(&store, args, options)?,
    };
    if exit == Exit::Clean {
        place.put_shard(&store, args.shard)?;
    }
    Ok(exit)
}

/// Checks a shard of a bucket's copy in a separate process. This process keeps the copy until it knows why the other
/// one ended.
fn check_copy(store: &Store, shard: u32, copy: &Path) -> Result<Exit> {
    let is_whole = || Ok(matches!(store.state(shard), Ok(ShardState::Whole(_))).into());
    let arguments = own_arguments(2, &[OsStr::new("--copy"), copy.as_os_str()]);
    match supervise(&arguments, is_whole)? {
        Exit::Interrupted => Ok(Exit::Again),
        exit => Ok(exit),
    }
}

fn check_shard(store: &Store, args: &ScanArgs, options: &CheckOptions) -> Result<Exit> {
    let scanner = Scanner {
        checker: &Checker::new(options),
        previous: &Previous::default(),
        known: &Stamps::default(),
        threads: args.threads,
    };
    stored::check_shard(store, args.shard, scanner, None, &mut |_| {})?;
    Ok(Exit::Clean)
}

/// Checks one item for the parent process.
pub(super) fn check_item(manifest: &Manifest, item: u32, options: &CheckOptions) -> Result<Exit> {
    let number = usize::try_from(item).unwrap_or(usize::MAX);
    let Some(item) = manifest.items().get(number) else {
        return Err(sframe_store::Error::Usage(format!("the manifest has no item {item}")).into());
    };
    stored::check_alone(item, &Checker::new(options), &mut stdout())?;
    Ok(Exit::Clean)
}

fn status(args: &StatusArgs) -> Exit {
    status_of(show_status(args))
}

fn show_status(args: &StatusArgs) -> Result<Exit> {
    let manifest = Manifest::open(&args.shards.manifest)?;
    let place = StorePlace::of(&args.shards.store)?;
    let status = status_in(&place, &manifest).map_err(|error| place.name_in(error))?;
    let mut out = stdout();
    match args.format {
        DocumentFormat::Text => {
            writeln!(out, "{}", printable(status.to_string().as_bytes()))?;
        }
        DocumentFormat::Json => {
            sframe_record::json::write(&mut out, &status)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(if status.is_sound() { Exit::Clean } else { Exit::Findings })
}

fn status_in(place: &StorePlace, manifest: &Manifest) -> Result<Status> {
    place.fetch_all()?;
    Ok(sframe_store::status(manifest, place.folder())?)
}

fn merge(args: &MergeArgs) -> Exit {
    status_of(merge_shards(&args.shards))
}

fn merge_shards(args: &ShardsArgs) -> Result<Exit> {
    let manifest = Manifest::open(&args.manifest)?;
    let place = StorePlace::of(&args.store)?;
    merge_in(&place, manifest, args).map_err(|error| place.name_in(error))
}

fn merge_in(place: &StorePlace, manifest: Manifest, args: &ShardsArgs) -> Result<Exit> {
    place.fetch_all()?;
    let mut store = place.create(manifest)?;
    match store.merge() {
        Ok(Merged { totals, found }) => {
            place.put_merged(&store)?;
            complain_of(&args.store, &found)?;
            mention_tables(&store, &args.store)?;
            let without =
                totals.without.iter().fold(0, |sum: u64, (_, number)| sum.saturating_add(number));
            let (records, items) =
                (counted(totals.records, "record"), counted(totals.items, "item"));
            let without = counted(without, "file");
            writeln!(
                io::stderr(),
                "sframe-check: complete: {records} of {items}, {without} without a record"
            )?;
            Ok(Exit::Clean)
        }
        Err(error @ sframe_store::Error::Unmergeable(_)) => {
            complain(&error)?;
            Ok(Exit::Findings)
        }
        Err(error) => Err(error.into()),
    }
}

/// Says that a complete store, which the user calls `name`, has no tables, and what adds them.
pub(super) fn mention_tables(store: &Store, name: &Path) -> io::Result<()> {
    if store.has_tables() {
        return Ok(());
    }
    let what = if cfg!(target_endian = "big") {
        "no tables for DuckDB and pandas, which big-endian hosts cannot write: a program on another host adds them \
         when it merges the store"
    } else {
        "no tables for DuckDB and pandas, which this build leaves out: released programs and \
         `cargo install sframe-check --features tables` add them when they merge the store"
    };
    complain(&format!("{}: {what}", name.display()))
}

/// Reports the damage that merging found in a store that was complete before.
pub(super) fn complain_of(store: &Path, found: &[DamagedFile]) -> io::Result<()> {
    found.iter().try_for_each(|file| {
        let done = match file.remedy {
            Remedy::Merge => "the store is merged again".to_owned(),
            remedy => remedy.to_string(),
        };
        complain(&format!("{}: {file}: {done}", store.display()))
    })
}

/// The exit status for the engine that runs shards.
fn status_of(result: Result<Exit>) -> Exit {
    result.unwrap_or_else(|error| {
        if error.is_unread() {
            return Exit::Unread;
        }
        let _ = complain(&error);
        if error.may_pass() { Exit::Again } else { Exit::Never }
    })
}
