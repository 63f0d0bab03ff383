//! Where results are kept: a folder, or a bucket and a copy of what is needed of it.

use std::path::{Path, PathBuf};

use sframe_store::Store;

use crate::stored::{Error, Result};

/// Where results are kept.
pub(super) enum Place {
    /// A folder.
    Folder(PathBuf),
    /// A bucket, and a folder for as long as this lives.
    #[cfg(feature = "s3")]
    Bucket(Box<sframe_store::Bucket>, tempfile::TempDir),
}

#[cfg_attr(not(feature = "s3"), allow(unused_variables, reason = "all places are folders"))]
impl Place {
    /// The place that is named on the command line. A bucket's copy is empty.
    ///
    /// # Errors
    /// It is no address of a bucket, or there is no room for a copy; and this program knows no
    /// buckets.
    pub(super) fn of(name: &Path) -> Result<Place> {
        if is_address(name) { Place::bucket(name) } else { Ok(Place::Folder(name.to_owned())) }
    }

    #[cfg(feature = "s3")]
    fn bucket(name: &Path) -> Result<Place> {
        let bucket = sframe_store::Bucket::new(name)?;
        let copy = tempfile::Builder::new().prefix("sframe-check-").tempdir()?;
        Ok(Place::Bucket(Box::new(bucket), copy))
    }

    #[cfg(not(feature = "s3"))]
    fn bucket(name: &Path) -> Result<Place> {
        let what = format!(
            "{}: a bucket needs a program that was built with the feature s3",
            name.display()
        );
        Err(sframe_store::Error::Usage(what).into())
    }

    /// The folder to work in.
    pub(super) fn folder(&self) -> &Path {
        match self {
            Place::Folder(folder) => folder,
            #[cfg(feature = "s3")]
            Place::Bucket(_, copy) => copy.path(),
        }
    }

    /// Names this place, not the copy of it, in an error.
    pub(super) fn name_in(&self, error: Error) -> Error {
        match (self, error) {
            #[cfg(feature = "s3")]
            (Place::Bucket(bucket, copy), Error::Store(error)) => {
                Error::Store(error.renamed(copy.path(), bucket.address()))
            }
            (_, error) => error,
        }
    }

    /// The copy, where this is a bucket.
    pub(super) fn copy(&self) -> Option<&Path> {
        match self {
            Place::Folder(_) => None,
            #[cfg(feature = "s3")]
            Place::Bucket(_, copy) => Some(copy.path()),
        }
    }

    /// Has shards, and what tells of them, in the folder, as far as they are there.
    fn fetch(&self) -> Result<()> {
        match self {
            Place::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            Place::Bucket(bucket, copy) => Ok(bucket.fetch(copy.path())?),
        }
    }

    /// Has all that is there in the folder, tables with it.
    pub(super) fn fetch_all(&self) -> Result<()> {
        self.fetch()?;
        match self {
            Place::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            Place::Bucket(bucket, copy) => Ok(bucket.fetch_tables(copy.path())?),
        }
    }

    /// The same, but for tables, of a store that has been merged: in a bucket, others have no `run.json`. Errors do
    /// not name the place.
    pub(super) fn fetch_merged(&self) -> Result<()> {
        self.fetch()?;
        match self {
            Place::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            Place::Bucket(_, copy) if copy.path().join("run.json").exists() => Ok(()),
            #[cfg(feature = "s3")]
            Place::Bucket(..) => {
                let what = "there is no merged store".to_owned();
                Err(sframe_store::Error::Usage(what).into())
            }
        }
    }

    /// Has one shard in the folder, if it is there.
    pub(super) fn fetch_shard(&self, shard: u32) -> Result<()> {
        match self {
            Place::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            Place::Bucket(bucket, copy) => Ok(bucket.fetch_shard(copy.path(), shard)?),
        }
    }

    /// Keeps a shard of the store in the folder.
    pub(super) fn put_shard(&self, store: &Store, shard: u32) -> Result<()> {
        match self {
            Place::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            Place::Bucket(bucket, _) => Ok(bucket.put_shard(store, shard).map(drop)?),
        }
    }

    /// Keeps what merging has made of the store in the folder.
    pub(super) fn put_merged(&self, store: &Store) -> Result<()> {
        match self {
            Place::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            Place::Bucket(bucket, _) => Ok(bucket.put_merged(store)?),
        }
    }
}

/// Whether a place is the address of a bucket.
pub(super) fn is_address(name: &Path) -> bool {
    name.as_os_str().as_encoded_bytes().starts_with(b"s3://")
}
