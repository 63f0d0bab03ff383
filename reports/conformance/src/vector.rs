//! The vectors, as `corpus/conformance/schema.json` describes them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};
use nix::fcntl::OFlag;
use serde::Deserialize;

use crate::address::Address;
use crate::frame::Frame;
use crate::reader::{Function, Header, Start, Walked};
use crate::section::Section;

/// The version of the schema that this crate reads.
pub const SCHEMA: u32 = 1;

/// The maximum size of a vector in MiB. Ours have 130 KB at most.
const LARGEST_MIB: u64 = 16;

static VECTORS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/vectors");

/// A vector.
#[derive(Clone, Debug, Deserialize)]
pub struct Vector {
    /// The version of the schema.
    pub schema: u32,
    /// The path below the folder of the vectors, without the extension: `v2/2.4-rows/one-amd64`.
    pub name: String,
    /// What it is about, in one sentence.
    pub title: String,
    /// The clause of the specification.
    pub clause: Clause,
    /// What is expected of readers.
    pub kind: Kind,
    /// Why a reader must refuse it, or why readers may differ.
    pub reason: Option<String>,
    /// The section.
    pub section: Section,
    /// The right answers.
    pub expect: Expect,
}

/// A clause of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Clause {
    /// The version of the format.
    pub version: u8,
    /// The section of that version's specification.
    pub section: String,
    /// Its subject.
    pub title: String,
}

/// What is expected of readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// There is one right answer.
    Sound,
    /// No frame may come out of it.
    Malformed,
    /// The specification is silent or contradicts producers: there are several acceptable answers.
    Differing,
}

/// The right answers. Those that a vector does not have are not tested.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Expect {
    /// The header.
    pub header: Option<Header>,
    /// The functions with their rows.
    pub functions: Option<Vec<Function>>,
    /// The rows at PCs.
    pub lookups: Vec<Lookup>,
    /// Walks of small memory images.
    pub walks: Vec<Walk>,
    /// Malformed: the PCs at which no frame may come out.
    pub refuse: Vec<Address>,
    /// Differing: a reader may refuse the section.
    pub may_refuse: bool,
}

/// The right answer to a lookup.
#[derive(Clone, Debug, Deserialize)]
pub struct Lookup {
    /// The PC.
    pub pc: Address,
    /// What is special about it.
    pub why: String,
    /// The start of the function.
    pub function: Option<Address>,
    /// The frame; `None` if there is none.
    pub frame: Option<Frame>,
    /// Other acceptable answers.
    #[serde(default)]
    pub or: Vec<Option<Frame>>,
}

/// The right answer to a walk.
#[derive(Clone, Debug, Deserialize)]
pub struct Walk {
    /// What it is about.
    pub title: String,
    /// Where it starts.
    #[serde(flatten)]
    pub start: Start,
    /// The right frames.
    pub expect: Walked,
    /// Other acceptable answers.
    #[serde(default)]
    pub or: Vec<Walked>,
}

/// A vector that cannot be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Io(PathBuf, io::Error),
    /// The file does not follow the schema.
    Json(PathBuf, serde_json::Error),
    /// The file follows another version of the schema.
    Schema(PathBuf, u32),
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::Io(_, error) => Some(error),
            LoadError::Json(_, error) => Some(error),
            LoadError::Schema(..) => None,
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            LoadError::Json(path, error) => write!(f, "{}: {error}", path.display()),
            LoadError::Schema(path, number) => {
                write!(f, "{}: schema {number}, only {SCHEMA} is known", path.display())
            }
        }
    }
}

fn parse(path: &Path, text: &[u8]) -> Result<Vector, LoadError> {
    let vector: Vector =
        serde_json::from_slice(text).map_err(|error| LoadError::Json(path.to_owned(), error))?;
    if vector.schema == SCHEMA {
        Ok(vector)
    } else {
        Err(LoadError::Schema(path.to_owned(), vector.schema))
    }
}

/// The vectors that are compiled into this crate, by name.
///
/// # Panics
/// Never: a test loads them all.
#[must_use]
pub fn vectors() -> Vec<Vector> {
    let mut found = Vec::new();
    let mut folders = vec![&VECTORS];
    while let Some(folder) = folders.pop() {
        for entry in folder.entries() {
            match entry {
                DirEntry::Dir(folder) => folders.push(folder),
                DirEntry::File(file) => {
                    found.push(parse(file.path(), file.contents()).expect("tested"));
                }
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The vectors below a folder, by name. Links are not followed.
///
/// # Errors
/// A folder or file cannot be read, or a file is not a vector.
pub fn load(folder: &Path) -> Result<Vec<Vector>, LoadError> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let failed = |error| LoadError::Io(folder.clone(), error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let text = text(&path).map_err(|error| LoadError::Io(path.clone(), error))?;
                found.push(parse(&path, &text)?);
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The bytes of a regular file. Nothing waits for what a pipe leads to, even if it takes the file's place meanwhile.
fn text(path: &Path) -> io::Result<Vec<u8>> {
    let not_a_file = || io::Error::other("it is not a regular file");
    if !fs::metadata(path)?.is_file() {
        return Err(not_a_file());
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(not_a_file());
    }
    let mut text = Vec::new();
    let most = LARGEST_MIB << 20;
    file.take(most + 1).read_to_end(&mut text)?;
    match text.len() as u64 > most {
        true => Err(io::Error::other(format!("it has more than {LARGEST_MIB} MiB, the limit"))),
        false => Ok(text),
    }
}
