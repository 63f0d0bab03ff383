//! Container images as folders (OCI Image Layout Specification): an index refers to manifests and a manifest to layers,
//! each a file named by its SHA-256.
//!
//! Each layer is treated as a package of its own: files that a later layer deletes (whiteouts) are checked too, since
//! they are in the image. If a layout is inside a tar archive, its files are read in stored order, because following
//! the index would need all of them in memory.

use std::collections::HashSet;
use std::fs;
use std::io::{BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use super::digest::{Algorithm, Hashed, OTHER, sha256};
use crate::open_file;

use super::{
    BUFFER, Content, DocumentError, Error, Place, Stop, Unpacker, Visit, Visitor, plain_error,
};

/// The maximum size in bytes of an index or manifest (OCI Distribution Specification, "Pushing Manifests").
const DOCUMENT: u64 = 4 << 20;
/// The maximum depth of nested indexes; usually there is one level.
const DEPTH: u32 = 8;
/// The maximum number of indexes and manifests of one image, which has one for each platform plus attachments.
const DOCUMENTS: usize = 10_000;
/// The index of an image.
const INDEX: &str = "index.json";
/// The folder of the files named by their hash.
const BLOBS: &str = "blobs/sha256/";

impl Unpacker {
    /// Hands every file in the layers of the image in `folder` to `visitor`, in the order of the index, each layer once.
    ///
    /// # Errors
    /// Returns an error if reading ended early: because of a missing index, a limit, or an error of the system.
    pub fn visit_image(&self, folder: &Path, visitor: &mut dyn Visitor) -> Result<(), Error> {
        let blobs = fs::read_dir(folder.join(BLOBS)).into_iter().flatten().filter_map(Result::ok);
        let sizes = blobs.filter_map(|blob| Some(blob.metadata().ok()?.len()));
        let size = sizes.fold(0, u64::saturating_add);
        Visit::run(self, size, visitor, |visit| {
            let mut layers = Layers { folder, documents: HashSet::new(), seen: HashSet::new() };
            let index = document(&folder.join(INDEX)).map_err(|defect| unusable(INDEX, defect))?;
            layers.follow(visit, INDEX, &index, 0)
        })
    }
}

/// The relevant fields of an index (`manifests`) or a manifest (`layers`).
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    manifests: Vec<Descriptor>,
    #[serde(default)]
    layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Descriptor {
    digest: String,
}

struct Layers<'f> {
    folder: &'f Path,
    documents: HashSet<String>,
    seen: HashSet<String>,
}

impl Layers<'_> {
    /// Visits the documents and layers that the document called `file` refers to.
    fn follow(
        &mut self,
        visit: &mut Visit<'_>,
        file: &str,
        bytes: &[u8],
        depth: u32,
    ) -> Result<(), Stop> {
        let document: Document = serde_json::from_slice(bytes)
            .map_err(|error| unusable(file, DocumentError::Json(error)))?;
        for Descriptor { digest } in &document.manifests {
            let hash = hash_of(digest);
            if hash.as_ref().is_ok_and(|hash| !self.documents.insert((*hash).to_owned())) {
                continue;
            }
            if depth >= DEPTH || self.documents.len() > DOCUMENTS {
                return Err(Stop::Error(Error::ManyDocuments));
            }
            match hash.and_then(|hash| self.manifest(hash)) {
                Ok(bytes) => self.follow(visit, &name(digest), &bytes, depth + 1)?,
                Err(defect) => {
                    let place = visit.member(&Place::default(), name(digest).as_bytes())?;
                    visit.report(&place, Content::Unreadable(defect.to_string()));
                }
            }
        }
        for Descriptor { digest } in &document.layers {
            let hash = hash_of(digest);
            if hash.as_ref().is_ok_and(|hash| !self.seen.insert((*hash).to_owned())) {
                continue;
            }
            let place = visit.member(&Place::default(), name(digest).as_bytes())?;
            match hash {
                Ok(hash) => self.layer(visit, &place, hash)?,
                Err(defect) => visit.report(&place, Content::Unreadable(defect.to_string())),
            }
        }
        Ok(())
    }

    fn manifest(&self, hash: &str) -> Result<Vec<u8>, DocumentError> {
        let bytes = document(&self.folder.join(BLOBS).join(hash))?;
        match sha256(&bytes) == hash {
            true => Ok(bytes),
            false => Err(DocumentError::OtherHash),
        }
    }

    fn layer(&self, visit: &mut Visit<'_>, place: &Place, hash: &str) -> Result<(), Stop> {
        let file = match open_file(&self.folder.join(BLOBS).join(hash)) {
            Ok(file) => file,
            Err(error) => {
                visit.report(place, Content::Unreadable(plain_error(&error)));
                return Ok(());
            }
        };
        let mut stream = Hashed::new(BufReader::with_capacity(BUFFER, file), Algorithm::Sha256);
        visit.content(place, &mut stream)?;
        match stream.finish() {
            Ok((_, found)) if found == hash => Ok(()),
            Ok(_) => visit.damaged(place, OTHER.to_owned()),
            Err(error) => visit.damaged(place, plain_error(&error)),
        }
    }
}

/// The path within the image of the file with this digest.
fn name(digest: &str) -> String {
    digest.strip_prefix("sha256:").map_or(digest.to_owned(), |hash| format!("{BLOBS}{hash}"))
}

/// The document called `file` cannot be used, so that the rest of the image is not read.
fn unusable(file: &str, defect: DocumentError) -> Stop {
    Stop::Error(Error::Document { file: file.to_owned(), defect })
}

fn hash_of(digest: &str) -> Result<&str, DocumentError> {
    let hash = digest.strip_prefix("sha256:").filter(|hash| Algorithm::Sha256.is_hash(hash));
    hash.ok_or(DocumentError::Digest)
}

fn document(path: &Path) -> Result<Vec<u8>, DocumentError> {
    let mut bytes = Vec::new();
    let read = open_file(path).and_then(|file| file.take(DOCUMENT + 1).read_to_end(&mut bytes));
    read.map_err(DocumentError::Io)?;
    match bytes.len() as u64 > DOCUMENT {
        true => Err(DocumentError::Large(DOCUMENT)),
        false => Ok(bytes),
    }
}

/// The SHA-256 in the file name, if `name` is the path of a file of an image.
pub(super) fn called_by(name: &[u8]) -> Option<&str> {
    let hash = str::from_utf8(name.strip_prefix(BLOBS.as_bytes())?).ok()?;
    Algorithm::Sha256.is_hash(hash).then_some(hash)
}
