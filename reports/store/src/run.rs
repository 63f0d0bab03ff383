//! `run.json`: a description of the store, and whether it is complete.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::field::{Defect, Object};
use crate::files::CHANGED;
use crate::layout::RUN;
use crate::manifest::{FORMAT, MAX_SHARDS};
use crate::path_name::{self, PathName};
use crate::status::Remedy;
use crate::{ContentHash, Counts, Key, Manifest};

const COMPLETE: &str = "complete";
const INCOMPLETE: &str = "incomplete";
/// The last field: the hash of all text before its value.
const HASH: &str = "hash";
const HASH_DIGITS: usize = 64;
/// The text after the value of the last field.
const SEAL_END: &str = "\"\n}\n";

/// A description of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Everything besides the checked bytes that affects the results.
    pub key: Key,
    /// The hash of its manifest.
    pub manifest: ContentHash,
    /// The inputs as named by the user.
    pub inputs: Vec<PathBuf>,
    /// The number of shards of the complete store.
    pub shards: u32,
    /// The totals; `None` until all shards are merged.
    pub totals: Option<Totals>,
    /// The hash of the list of files; `None` until all shards are merged, and in stores that an earlier version merged.
    pub files: Option<ContentHash>,
}

/// The totals of a complete store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// The number of items of the manifest.
    pub items: u64,
    /// The number of records.
    pub records: u64,
    /// The counts of files without a record, including those that the planner excluded.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<ContentHash>,
}

impl Run {
    /// The maximum size of `run.json` in bytes: it contains as many inputs as fit on a command line.
    pub(crate) const LONGEST: usize = 16 << 20;

    /// The description of an incomplete store for a manifest.
    pub(crate) fn of(manifest: &Manifest) -> Run {
        Run {
            key: manifest.key().clone(),
            manifest: manifest.hash(),
            inputs: manifest.inputs().to_vec(),
            shards: manifest.shards(),
            totals: None,
            files: None,
        }
    }

    /// Reads the description of the store at `folder`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Defect`], and [`Error::Damaged`] if its text does not match its hash.
    pub(crate) fn read(folder: &Path) -> Result<Run> {
        let path = folder.join(RUN);
        let mut text = Vec::new();
        durable::open_own(folder, RUN)
            .and_then(|file| file.take(Run::LONGEST as u64 + 1).read_to_end(&mut text))
            .map_err(Error::io("read", &path))?;
        let object = Object::parse(1, &text, Run::LONGEST).map_err(Error::defect(&path))?;
        let run = Run::of_object(&object).map_err(Error::defect(&path))?;
        // Stores of earlier versions have neither.
        let sealed = run.files.is_some() || object.has(HASH);
        if sealed && !is_sealed(&text) {
            return Err(Error::Damaged { path, reason: CHANGED.to_owned() });
        }
        Ok(run)
    }

    /// Like [`Run::read`], but the message about a damaged file says how to repair it.
    pub(crate) fn open(folder: &Path) -> Result<Run> {
        Run::read(folder).map_err(|error| error.with_remedy(Remedy::MoveAwayAndMerge))
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
            files: object.optional_hash("files")?,
        })
    }

    /// Writes it to a temporary file.
    pub(crate) fn draft(&self, folder: &Path) -> Result<Draft> {
        let Run { key, manifest, inputs, shards, totals, files } = self;
        let fields = Fields {
            format: FORMAT,
            state: if totals.is_some() { COMPLETE } else { INCOMPLETE },
            key,
            manifest: *manifest,
            inputs: inputs.iter().map(|path| PathName(path)).collect(),
            shards: *shards,
            totals: totals.as_ref(),
            files: *files,
        };
        let mut draft = Draft::new(folder)?;
        // Serialization cannot fail: all keys are strings.
        let text = serde_json::to_string_pretty(&fields).unwrap_or_default();
        draft.write_all(sealed(&text).as_bytes()).map_err(Error::io("write", folder))?;
        Ok(draft)
    }
}

/// Adds a last field to the text of a JSON object: the hash of all text before its value.
fn sealed(object: &str) -> String {
    let fields = object.strip_suffix("\n}").unwrap_or(object);
    let before = format!("{fields},\n  \"{HASH}\": \"");
    let hash = ContentHash::of(before.as_bytes());
    format!("{before}{hash}{SEAL_END}")
}

/// Whether a text has the hash that [`sealed`] adds.
fn is_sealed(text: &[u8]) -> bool {
    let end = text.strip_suffix(SEAL_END.as_bytes());
    let parts = end.and_then(|text| text.split_last_chunk::<HASH_DIGITS>());
    parts.is_some_and(|(before, hash)| ContentHash::of(before).to_string().as_bytes() == hash)
}

fn totals(object: &Object) -> std::result::Result<Totals, Defect> {
    Ok(Totals {
        items: object.number("items", 0..=u64::MAX)?,
        records: object.number("records", 0..=u64::MAX)?,
        without: Counts::read(object, "without")?,
    })
}
