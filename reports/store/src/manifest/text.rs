//! The text of a manifest: lines of JSON, a header followed by the items.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{FORMAT, Item, MAX_ITEMS, MAX_SHARDS, Manifest, Plan};
use crate::durable;
use crate::error::{Error, Result};
use crate::field::{Defect, Object};
use crate::lines::{LinesReader, is_damage};
use crate::path_name::{self, PathName};
use crate::{ContentHash, Counts, Key};

/// The maximum length of the header in bytes: it contains as many inputs as fit on a command line.
const MAX_HEADER: usize = 16 << 20;
/// The maximum length of other lines in bytes: a Linux path has at most 4,096 bytes, which JSON may escape with six
/// characters each.
const MAX_ITEM: usize = 64 << 10;
/// The magic number of zstd files (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

#[derive(Serialize)]
struct Header<'a> {
    r#type: &'static str,
    format: u64,
    key: &'a Key,
    inputs: Vec<PathName<'a>>,
    shards: u32,
    items: usize,
    without: &'a Counts,
}

#[derive(Serialize)]
struct ItemLine<'a> {
    #[serde(flatten)]
    path: PathName<'a>,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<ContentHash>,
    shard: u32,
}

/// Passes the lines of a manifest, including line feeds, to `write`.
pub(super) fn lines<E>(
    manifest: &Manifest,
    mut write: impl FnMut(&[u8]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut line = Vec::new();
    let header = Header {
        r#type: "manifest",
        format: FORMAT,
        key: &manifest.key,
        inputs: manifest.inputs.iter().map(|path| PathName(path)).collect(),
        shards: manifest.shards(),
        items: manifest.items.len(),
        without: &manifest.without,
    };
    put(&mut line, &header);
    write(&line)?;
    for (item, &shard) in manifest.items.iter().zip(&manifest.shard_of) {
        let Item { path, size, hash } = item;
        put(&mut line, &ItemLine { path: PathName(path), size: *size, hash: *hash, shard });
        write(&line)?;
    }
    Ok(())
}

fn put(line: &mut Vec<u8>, value: &impl Serialize) {
    line.clear();
    // Serialization cannot fail: all keys are strings, and the output is in memory.
    let _ = serde_json::to_writer(&mut *line, value);
    line.push(b'\n');
}

/// Reads a manifest, either plain or compressed.
pub(super) fn open(path: &Path) -> Result<Manifest> {
    let file = durable::open_file(path).map_err(Error::io("open", path))?;
    read(file, path)
}

/// Reads a manifest from an open file, which errors call `path`.
pub(super) fn read(mut file: File, path: &Path) -> Result<Manifest> {
    let mut magic = Vec::new();
    let begun = (&mut file).take(4).read_to_end(&mut magic).and_then(|_| file.rewind());
    begun.map_err(Error::io("read", path))?;
    let size = file.metadata().map_err(Error::io("read", path))?.len();
    let mut reading = Reading::default();
    let read = if magic == ZSTD_MAGIC {
        each_compressed_line(LinesReader::new(file, size), |line| reading.line(line))
    } else {
        each_line(BufReader::new(file), |line| reading.line(line))
    };
    match read.and_then(|()| reading.finish().map_err(Stop::Defect)) {
        Ok(manifest) => Ok(manifest),
        Err(Stop::Defect(defect)) => Err(Error::defect(path)(defect)),
        Err(Stop::Io(error)) if is_damage(&error) => {
            Err(Error::Damaged { path: path.to_owned(), reason: error.to_string() })
        }
        Err(Stop::Io(error)) => Err(Error::io("read", path)(error)),
    }
}

enum Stop {
    Io(io::Error),
    Defect(Defect),
}

fn each_compressed_line(
    mut lines: LinesReader<File>,
    mut each: impl FnMut(&[u8]) -> std::result::Result<(), Defect>,
) -> std::result::Result<(), Stop> {
    while lines.advance().map_err(Stop::Io)?.is_some() {
        each(lines.line()).map_err(Stop::Defect)?;
    }
    Ok(())
}

fn each_line(
    mut input: impl BufRead,
    mut each: impl FnMut(&[u8]) -> std::result::Result<(), Defect>,
) -> std::result::Result<(), Stop> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = MAX_HEADER as u64 + 1;
        if (&mut input).take(limit).read_until(b'\n', &mut line).map_err(Stop::Io)? == 0 {
            return Ok(());
        }
        match line.split_last() {
            Some((b'\n', text)) => each(text).map_err(Stop::Defect)?,
            _ => {
                let what = "a line is truncated, or too long for a manifest";
                return Err(Stop::Io(io::Error::new(io::ErrorKind::InvalidData, what)));
            }
        }
    }
}

/// A manifest being read.
#[derive(Default)]
struct Reading {
    line: u64,
    header: Option<(Plan, u64)>,
    shard_of: Vec<u32>,
    seen: HashSet<PathBuf>,
}

impl Reading {
    fn line(&mut self, text: &[u8]) -> std::result::Result<(), Defect> {
        self.line += 1;
        let longest = if self.header.is_none() { MAX_HEADER } else { MAX_ITEM };
        let object = Object::parse(self.line, text, longest)?;
        let Some((plan, _)) = &mut self.header else {
            self.header = Some(header(&object)?);
            return Ok(());
        };
        let path = path_name::read(&object)?;
        if !self.seen.insert(path.clone()) {
            return Err(Manifest::twice(self.line, &path));
        }
        let last = u64::from(plan.shards) - 1;
        let shard = u32::try_from(object.number("shard", 0..=last)?).unwrap_or_default();
        let size = object.number("size", 0..=u64::MAX)?;
        plan.items.push(Item { path, size, hash: object.optional_hash("hash")? });
        self.shard_of.push(shard);
        Ok(())
    }

    fn finish(self) -> std::result::Result<Manifest, Defect> {
        let defect = |line, field, value, allowed: &str| {
            Err(Defect { line, field, value, allowed: allowed.to_owned() })
        };
        let Some((plan, items)) = self.header else {
            return defect(1, "", "missing".to_owned(), "the header of a manifest");
        };
        if plan.items.len() as u64 != items {
            let allowed = format!("{}, as many as lines follow", plan.items.len());
            return defect(1, "items", items.to_string(), &allowed);
        }
        Ok(Manifest::new(plan, self.shard_of))
    }
}

/// The contents of the header, and the number of items that it announces.
fn header(object: &Object) -> std::result::Result<(Plan, u64), Defect> {
    object.expect("type", "manifest")?;
    object.number("format", FORMAT..=FORMAT)?;
    let inputs = object.objects("inputs")?;
    let shards = object.number("shards", 1..=u64::from(MAX_SHARDS))?;
    let plan = Plan {
        key: Key::read(&object.object("key")?)?,
        inputs: inputs.iter().map(path_name::read).collect::<std::result::Result<_, _>>()?,
        shards: u32::try_from(shards).unwrap_or(MAX_SHARDS),
        without: Counts::read(object, "without")?,
        items: Vec::new(),
    };
    Ok((plan, object.number("items", 0..=MAX_ITEMS)?))
}
