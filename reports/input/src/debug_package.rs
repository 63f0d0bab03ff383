//! Separate debug files in packages: Debian's `-dbgsym`, RPM's `-debuginfo`, Arch Linux's `-debug`.
//!
//! All packages are read once to collect the build-ids of their debug files. When a debug file with CFI is requested,
//! its package is unpacked again; only the most recent one stays in memory.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use sframe_oracle::debug_file::{build_id, check};
use sframe_validator::elf::{Elf, SHT_NOBITS};

use super::package::{Content, Limits, Member, Unpacker, Visitor};
use super::{DebugBytes, DebugFile, DebugFileError, Input, Selection, open_file, plain_error};
use sframe_record::text::printable;

/// Where all distributions install debug files.
const FOLDER: &[u8] = b"usr/lib/debug/";
/// The sections that contain CFI. In a debug file, `.eh_frame` usually has no bytes.
const CFI: [&[u8]; 3] = [b".debug_frame", b".zdebug_frame", b".eh_frame"];

/// Packages of debug files, indexed by build-id.
#[derive(Debug)]
pub struct DebugPackages {
    unpacker: Unpacker,
    files: HashMap<Vec<u8>, Stored>,
    held: Mutex<Option<(PathBuf, Arc<Vec<u8>>)>>,
}

/// A debug file stored in a package.
#[derive(Clone, Debug)]
struct Stored {
    package: PathBuf,
    inside: Vec<u8>,
    with_cfi: bool,
}

impl Stored {
    /// `package!usr/lib/debug/...`
    fn path(&self) -> PathBuf {
        let mut path = self.package.clone().into_os_string();
        path.push("!");
        path.push(OsStr::from_bytes(&self.inside));
        path.into()
    }
}

impl DebugPackages {
    /// Indexes the debug files in all packages at `paths`, including those in folders; if two have the same build-id,
    /// the first is used. Also returns the inputs that cannot be used.
    #[must_use]
    pub fn index(paths: &[OsString], limits: Limits) -> (DebugPackages, Vec<Input>) {
        let unpacker = Unpacker::new(limits);
        let (mut files, mut unusable) = (HashMap::new(), Vec::new());
        for path in paths {
            let inputs: Vec<Input> =
                Selection::new(std::slice::from_ref(path), Vec::new()).collect();
            let read = |input| match input {
                Input::File(path) => read_through(path, &unpacker),
                Input::Image(_) | Input::Content(..) | Input::Special(..) => (Vec::new(), None),
                unreadable @ Input::Unreadable(..) => (Vec::new(), Some(unreadable)),
            };
            let read: Vec<(Vec<_>, Option<Input>)> = inputs.into_par_iter().map(read).collect();
            let before = (files.len(), unusable.len());
            for (found, failed) in read {
                for (id, stored) in found {
                    files.entry(id).or_insert(stored);
                }
                unusable.extend(failed);
            }
            if before == (files.len(), unusable.len()) {
                let reason = "it is not a package of debug files".to_owned();
                unusable.push(Input::Unreadable(path.into(), reason));
            }
        }
        (DebugPackages { unpacker, files, held: Mutex::new(None) }, unusable)
    }

    /// The build-ids of the files that have debug files here, in ascending order.
    #[must_use]
    pub fn build_ids(&self) -> Vec<&[u8]> {
        let mut ids: Vec<&[u8]> = self.files.keys().map(Vec::as_slice).collect();
        ids.sort_unstable();
        ids
    }

    /// The debug file of `elf`; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the debug file with its build-id cannot be used. The message contains the path and the
    /// reason.
    pub fn find(&self, elf: &Elf<'_>) -> Result<Option<DebugFile>, DebugFileError> {
        let Some(stored) = build_id(elf).and_then(|id| self.files.get(id)) else { return Ok(None) };
        let path = stored.path();
        if !stored.with_cfi {
            return Ok(Some(DebugFile { path, data: DebugBytes::WithoutCfi }));
        }
        let data = self.unpack(stored, &path)?;
        match check(elf, &data) {
            Ok(()) => Ok(Some(DebugFile { path, data: DebugBytes::Member(data) })),
            Err(mismatch) => Err(DebugFileError::Mismatch(path, mismatch)),
        }
    }

    /// The bytes of a debug file. Threads wait for each other here, so that at most one debug file is in memory.
    fn unpack(&self, stored: &Stored, path: &Path) -> Result<Arc<Vec<u8>>, DebugFileError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, bytes)) = &*held
            && of == path
        {
            return Ok(bytes.clone());
        }
        // Free the previous file before reading the next.
        *held = None;
        let path = || path.to_owned();
        let file =
            open_file(&stored.package).map_err(|error| DebugFileError::Unopened(path(), error))?;
        let mut one = One { name: &stored.inside, bytes: None };
        self.unpacker
            .visit(&file, &mut one)
            .map_err(|error| DebugFileError::Package(path(), error))?;
        let bytes = Arc::new(one.bytes.ok_or_else(|| DebugFileError::Gone(path()))?);
        *held = Some((path(), bytes.clone()));
        Ok(bytes)
    }
}

/// The debug files in a package, and an error if the package could not be read completely.
fn read_through(path: PathBuf, unpacker: &Unpacker) -> (Vec<(Vec<u8>, Stored)>, Option<Input>) {
    let mut all = All { package: &path, found: Vec::new(), damaged: None };
    let file = open_file(&path).map_err(|error| plain_error(&error));
    let read =
        file.and_then(|file| unpacker.visit(&file, &mut all).map_err(|error| error.to_string()));
    let All { found, damaged, .. } = all;
    let failed = read.err().or(damaged).map(|why| Input::Unreadable(path, why));
    (found, failed)
}

/// Collects the debug files of a package.
struct All<'p> {
    package: &'p Path,
    found: Vec<(Vec<u8>, Stored)>,
    damaged: Option<String>,
}

impl Visitor for All<'_> {
    fn wants(&mut self, name: Option<&[u8]>) -> bool {
        name.is_some_and(|name| name.starts_with(FOLDER))
    }

    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        match member.content {
            Content::Elf(bytes) => {
                let stored = member.name.and_then(|name| stored(self.package, name, bytes));
                self.found.extend(stored);
            }
            Content::Unreadable(why) => {
                let name = member.name.map(|name| format!("{}: ", printable(name)));
                self.damaged.get_or_insert(name.unwrap_or_default() + &why);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The build-id and location of the debug file `bytes`; `None` if it has no build-id.
fn stored(package: &Path, name: &[u8], bytes: &[u8]) -> Option<(Vec<u8>, Stored)> {
    let elf = Elf::parse(bytes).ok()?;
    let with_cfi = elf
        .sections()
        .iter()
        .any(|section| section.sh_type != SHT_NOBITS && CFI.contains(&section.name.bytes()));
    let stored = Stored { package: package.to_owned(), inside: name.to_vec(), with_cfi };
    Some((build_id(&elf)?.to_vec(), stored))
}

/// Extracts one file from a package.
struct One<'n> {
    name: &'n [u8],
    bytes: Option<Vec<u8>>,
}

impl Visitor for One<'_> {
    fn wants(&mut self, name: Option<&[u8]>) -> bool {
        name == Some(self.name)
    }

    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        match member.content {
            Content::Elf(bytes) if member.name == Some(self.name) => {
                self.bytes = Some(bytes.to_vec());
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
