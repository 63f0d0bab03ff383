//! `sframe-check compare OLD NEW`.

use std::io::{self, BufRead as _, BufReader, Write};
use std::path::Path;

use sframe_history::changes::{self, Options, Scan};
use sframe_history::{Comparison, Record, When, report};
use sframe_input::open_named;
use sframe_policy::Judge;
use sframe_record::json;
use sframe_store::{ShardLine, Store};
use sframe_validator::elf::Elf;

use super::args::stored::{CompareArgs, CompareFormat};
use super::place::StorePlace;
use super::policy::severities;
use super::records::{Readable, readable};
use super::{Exit, styled_stdout};
use sframe_scan::stored::Result;

pub(super) fn run(args: &CompareArgs) -> io::Result<Exit> {
    let name = |path: &Path| {
        let name = json::name(path.as_os_str().as_encoded_bytes());
        Scan { name, ..Scan::default() }
    };
    let policy = severities(&args.severities)?;
    let mut comparison = Comparison::new(name(&args.old), name(&args.new));
    for (when, path) in [(When::Old, &args.old), (When::New, &args.new)] {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let side =
            &mut Side { when, comparison: &mut comparison, judge: Judge::new(policy.clone()) };
        read(path, side).map_err(named)?;
    }
    let changes = comparison.finish();
    let mut out = styled_stdout();
    let options = if args.all { Options { details: usize::MAX } } else { Options::default() };
    match args.format {
        CompareFormat::Text => changes::write_text(&mut out, &changes, &options)?,
        CompareFormat::Json => changes::write_json(&mut out, &changes)?,
        CompareFormat::Html => sframe_html::write_changes(&mut out, &changes)?,
        CompareFormat::Markdown => changes::write_markdown(&mut out, &changes, &options)?,
    }
    out.flush()?;
    Ok(if changes.worse {
        Exit::Findings
    } else if changes.is_decided() {
        Exit::Clean
    } else {
        Exit::Incomplete
    })
}

/// One of the two scans.
struct Side<'c> {
    when: When,
    comparison: &'c mut Comparison,
    judge: Judge,
}

impl Side<'_> {
    fn add(&mut self, record: Record<'_>) {
        self.comparison.add(self.when, &self.judge.judge(record));
    }

    fn scan(&mut self) -> &mut Scan {
        self.comparison.scan_mut(self.when)
    }
}

fn read(path: &Path, side: &mut Side<'_>) -> io::Result<()> {
    let place = StorePlace::of(path)?;
    place.fetch_merged()?;
    if place.folder().is_dir() {
        let read = store(place.folder(), path, side);
        Ok(read.map_err(|error| place.name_in(error))?)
    } else {
        report(path, side)
    }
}

fn report(path: &Path, side: &mut Side<'_>) -> io::Result<()> {
    let mut input = BufReader::new(open_named(path)?);
    if Elf::is_elf(input.fill_buf()?) {
        let why = "an ELF file, not a scan; `sframe-check diff OLD NEW` compares two ELF files";
        return Err(io::Error::other(why));
    }
    let ending = report::read(input, |record| side.add(record.clone()));
    let ending = ending.map_err(io::Error::other)?;
    let scan = side.scan();
    (scan.complete, scan.tool) = (ending.complete, ending.tool);
    Ok(())
}

/// Adds the records in the sound shards of the store in `folder`, which the messages call `name`. The files in other
/// shards are unknown, and are not reported as removed.
fn store(folder: &Path, name: &Path, side: &mut Side<'_>) -> Result<()> {
    let store = Store::open(folder)?;
    let Readable { shards, merged, sound } = readable(&store, name)?;
    for shard in shards {
        store.read(shard)?.each_line(|line| {
            if let ShardLine::Record { record, .. } = line {
                side.add(*record);
            }
            Ok::<(), sframe_store::Error>(())
        })?;
    }
    let tool = &store.run().key.tool;
    let tool = tool.strip_prefix("sframe-check ").unwrap_or(tool).to_owned();
    let scan = side.scan();
    (scan.complete, scan.damaged, scan.tool) = (merged && sound, merged && !sound, Some(tool));
    Ok(())
}
