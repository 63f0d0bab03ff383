//! `run.json`: what a store is, and whether all of it is there.

use std::fs::File;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::durable::Draft;
use crate::error::{Error, Result};
use crate::field::{Defect, Object};
use crate::manifest::{FORMAT, MAX_SHARDS};
use crate::path_name::{self, PathName};
use crate::{ContentHash, Counts, Key, Manifest};

/// The longest `run.json`, in bytes: it has as many inputs as a command line holds.
const LONGEST: usize = 16 << 20;
const COMPLETE: &str = "complete";
const INCOMPLETE: &str = "incomplete";

/// What a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What its results depend on besides the bytes.
    pub key: Key,
    /// The hash of its manifest.
    pub manifest: ContentHash,
    /// The inputs as the user has named them.
    pub inputs: Vec<PathBuf>,
    /// How many shards it has when it is complete.
    pub shards: u32,
    /// What it holds, once all shards are merged; `None` until then.
    pub totals: Option<Totals>,
}

/// What a complete store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Items of the manifest.
    pub items: u64,
    /// Records.
    pub records: u64,
    /// What has no record, what the planner has met with it.
    pub without: Counts,
}

#[derive(Serialize)]
struct Fields<'a> {
    format: u64,
    state: &'static str,
    key: &'a Key,
    manifest: ContentHash,
    inputs: Vec<PathName<'a>>,
    shards: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<&'a Totals>,
}

impl Run {
    /// The run of a manifest, incomplete.
    pub(crate) fn of(manifest: &Manifest) -> Run {
        Run {
            key: manifest.key().clone(),
            manifest: manifest.hash(),
            inputs: manifest.inputs().to_vec(),
            shards: manifest.shards(),
            totals: None,
        }
    }

    /// Reads it.
    pub(crate) fn read(path: &Path) -> Result<Run> {
        let mut text = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut text))
            .map_err(Error::io("read", path))?;
        let object = Object::parse(1, &text, LONGEST).map_err(Error::defect(path))?;
        Run::of_object(&object).map_err(Error::defect(path))
    }

    fn of_object(object: &Object) -> std::result::Result<Run, Defect> {
        object.number("format", FORMAT..=FORMAT)?;
        let shards = object.number("shards", 1..=u64::from(MAX_SHARDS))?;
        let totals = match object.text("state")? {
            COMPLETE => Some(totals(&object.object("totals")?)?),
            INCOMPLETE => None,
            other => {
                let allowed = format!("{COMPLETE:?} or {INCOMPLETE:?}");
                return Err(object.defect("state", other, allowed));
            }
        };
        let inputs = object.objects("inputs")?;
        Ok(Run {
            key: Key::read(&object.object("key")?)?,
            manifest: object.hash("manifest")?,
            inputs: inputs.iter().map(path_name::read).collect::<std::result::Result<_, _>>()?,
            shards: u32::try_from(shards).unwrap_or(MAX_SHARDS),
            totals,
        })
    }

    /// Writes it to a file in the making.
    pub(crate) fn draft(&self, folder: &Path) -> Result<Draft> {
        let Run { key, manifest, inputs, shards, totals } = self;
        let fields = Fields {
            format: FORMAT,
            state: if totals.is_some() { COMPLETE } else { INCOMPLETE },
            key,
            manifest: *manifest,
            inputs: inputs.iter().map(|path| PathName(path)).collect(),
            shards: *shards,
            totals: totals.as_ref(),
        };
        let mut draft = Draft::new(folder)?;
        // The type has text keys only.
        let mut text = serde_json::to_vec_pretty(&fields).unwrap_or_default();
        text.push(b'\n');
        draft.write_all(&text).map_err(Error::io("write", folder))?;
        Ok(draft)
    }
}

fn totals(object: &Object) -> std::result::Result<Totals, Defect> {
    Ok(Totals {
        items: object.number("items", 0..=u64::MAX)?,
        records: object.number("records", 0..=u64::MAX)?,
        without: Counts::read(object, "without")?,
    })
}
