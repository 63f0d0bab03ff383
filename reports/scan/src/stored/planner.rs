//! Plans a scan: finds the files to check, and makes a manifest of them.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sframe_store::{Counts, Item, Key, Known, Manifest, Plan, StampsWriter};

use super::file::hash_of;
use super::record::NOT_ELF;
use super::{Result, Scanner};
use crate::{CheckOptions, Event, Weigh, in_order};
use sframe_input::kind::{HEAD, Kind};
use sframe_input::{Input, has_large_holes, open_file};

/// The size of a shard of a scan on one machine. It takes some seconds, which are lost if the process is killed.
const SHARD_BYTES: u64 = 256 << 20;
/// The number of files of a shard of a scan on one machine.
const SHARD_ITEMS: usize = 4096;

/// The parameters of a plan.
#[derive(Debug)]
pub struct Planning<'p> {
    /// Everything that affects the results.
    pub key: Key,
    /// The inputs as named by the user.
    pub inputs: &'p [OsString],
    /// The number of shards; `None` for the default on one machine.
    pub shards: Option<u32>,
    /// Whether to read every file to hash its content.
    pub hash: bool,
    /// The scanner that will check the files: its options, and its knowledge of unchanged files.
    pub scanner: Scanner<'p>,
}

/// The result of looking at an input.
enum Planned {
    Item(Item),
    /// A file that is not checked: its kind and, if the next scan may reuse this result, its metadata.
    Without(&'static str, Option<Metadata>),
}

impl Weigh for Planned {
    fn weight(&self) -> usize {
        let path = match self {
            Planned::Item(item) => item.path.as_os_str().len(),
            Planned::Without(..) => 0,
        };
        size_of::<Planned>() + path
    }
}

/// Finds the files to check among `found`, and divides them into shards. Files that are not ELF files, archives or
/// packages are counted, and noted in `stamps`.
///
/// # Errors
/// Returns an error if threads cannot be started or the plan is invalid.
pub fn plan(
    planning: Planning<'_>,
    found: impl Iterator<Item = Input>,
    mut stamps: Option<&mut StampsWriter>,
) -> Result<Manifest> {
    let (mut items, mut without) = (Vec::new(), Counts::default());
    let resources = planning.scanner.resources();
    let look_at = |input, done: &mut dyn FnMut(Planned)| done(look_at(input, &planning));
    in_order(found, resources, look_at, |event| -> Result<()> {
        match event {
            Event::Done(Planned::Item(item)) => items.push(item),
            Event::Done(Planned::Without(kind, metadata)) => {
                without.add(kind, 1);
                if let (Some(stamps), Some(metadata)) = (&mut stamps, metadata) {
                    stamps.note(&metadata, Known::Without(kind));
                }
            }
            Event::Waiting => {}
        }
        Ok(())
    })?;
    let shards = planning.shards.unwrap_or_else(|| default_shards(&items));
    let inputs = planning.inputs.iter().map(PathBuf::from).collect();
    Ok(Manifest::plan(Plan { key: planning.key, inputs, shards, without, items })?)
}

/// The number of shards of a scan on one machine.
#[must_use]
pub fn default_shards(items: &[Item]) -> u32 {
    let bytes = items.iter().fold(0, |sum: u64, item| sum.saturating_add(item.size));
    let by_size = u32::try_from(bytes / SHARD_BYTES).unwrap_or(u32::MAX);
    let by_number = u32::try_from(items.len() / SHARD_ITEMS).unwrap_or(u32::MAX);
    by_size.max(by_number).clamp(1, 1000)
}

fn look_at(input: Input, planning: &Planning<'_>) -> Planned {
    match input {
        Input::File(path) => look_at_file(path, planning),
        Input::Special(_, kind) => Planned::Without(kind.name(), None),
        // Its check will report its contents, or why it cannot be read.
        Input::Image(path) | Input::Content(path, _) | Input::Unreadable(path, _) => {
            Planned::Item(Item { path, size: 0, hash: None })
        }
    }
}

fn look_at_file(path: PathBuf, planning: &Planning<'_>) -> Planned {
    let Ok(metadata) = fs::metadata(&path) else {
        return Planned::Item(Item { path, size: 0, hash: None });
    };
    // A file with large holes is not read completely, so its size does not count.
    let size = if has_large_holes(&metadata) { 0 } else { metadata.len() };
    let Scanner { checker, known, .. } = planning.scanner;
    let options = checker.options;
    match known.find(&metadata) {
        Some(Known::Content(hash)) => return Planned::Item(Item { path, size, hash: Some(hash) }),
        Some(Known::Without(NOT_ELF)) => return Planned::Without(NOT_ELF, Some(metadata)),
        Some(Known::Without(_)) | None => {}
    }
    if options.raw.is_none() && needs_no_check(&path, options).unwrap_or(false) {
        return Planned::Without(NOT_ELF, Some(metadata));
    }
    let hash = if planning.hash { hash_of(&path).ok() } else { None };
    Planned::Item(Item { path, size, hash })
}

/// Whether a file's first bytes show that it needs no check.
fn needs_no_check(path: &Path, options: &CheckOptions) -> io::Result<bool> {
    let mut head = [0; HEAD];
    let length = open_file(path)?.read(&mut head)?;
    Ok(match Kind::of(head.get(..length).unwrap_or_default()) {
        Kind::Elf | Kind::Archive | Kind::LinuxImage => false,
        Kind::Package(_) => options.limits.depth == 0,
        Kind::Empty | Kind::Other => true,
    })
}
