//! The place of a store: a folder, or a bucket and a local copy of the parts that are needed.

use std::path::{Path, PathBuf};

use sframe_store::{Manifest, Store};

use sframe_scan::stored::{Error, Result};

/// The place of a store.
pub(super) enum StorePlace {
    /// A folder.
    Folder(PathBuf),
    /// A bucket, and a temporary folder for its copy.
    #[cfg(feature = "s3")]
    Bucket(Box<sframe_store::Bucket>, tempfile::TempDir),
}

#[cfg_attr(not(feature = "s3"), allow(unused_variables, reason = "all places are folders"))]
impl StorePlace {
    /// The place that the command line names. The copy of a bucket is empty at first.
    ///
    /// # Errors
    /// Returns an error if the address is invalid, the copy cannot be created, or this program was built without
    /// buckets.
    pub(super) fn of(name: &Path) -> Result<StorePlace> {
        if is_address(name) {
            StorePlace::bucket(name)
        } else {
            Ok(StorePlace::Folder(name.to_owned()))
        }
    }

    #[cfg(feature = "s3")]
    fn bucket(name: &Path) -> Result<StorePlace> {
        let bucket = sframe_store::Bucket::new(name)?;
        let copy = tempfile::Builder::new().prefix("sframe-check-").tempdir()?;
        Ok(StorePlace::Bucket(Box::new(bucket), copy))
    }

    #[cfg(not(feature = "s3"))]
    fn bucket(name: &Path) -> Result<StorePlace> {
        let what = format!(
            "{}: a bucket needs a program that was built with the feature s3: `cargo install sframe-check --features s3`",
            name.display()
        );
        Err(sframe_store::Error::Usage(what).into())
    }

    /// The folder to work in.
    pub(super) fn folder(&self) -> &Path {
        match self {
            StorePlace::Folder(folder) => folder,
            #[cfg(feature = "s3")]
            StorePlace::Bucket(_, copy) => copy.path(),
        }
    }

    /// The store of a manifest's scan in this place, which is made if there is none.
    pub(super) fn create(&self, manifest: Manifest) -> Result<Store> {
        Ok(match self {
            StorePlace::Folder(folder) => Store::create(folder, manifest)?,
            #[cfg(feature = "s3")]
            StorePlace::Bucket(_, copy) => Store::create_copy(copy.path(), manifest)?,
        })
    }

    /// Names this place instead of its copy in an error.
    pub(super) fn name_in(&self, error: Error) -> Error {
        match (self, error) {
            #[cfg(feature = "s3")]
            (StorePlace::Bucket(bucket, copy), Error::Store(error)) => {
                Error::Store(error.renamed(copy.path(), bucket.address()))
            }
            (_, error) => error,
        }
    }

    /// The copy, if this is a bucket.
    pub(super) fn copy(&self) -> Option<&Path> {
        match self {
            StorePlace::Folder(_) => None,
            #[cfg(feature = "s3")]
            StorePlace::Bucket(_, copy) => Some(copy.path()),
        }
    }

    /// Copies the existing shards, and the files that describe them, to the folder.
    fn fetch(&self) -> Result<()> {
        match self {
            StorePlace::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            StorePlace::Bucket(bucket, copy) => Ok(bucket.fetch(copy.path())?),
        }
    }

    /// Copies everything, including the tables, to the folder.
    pub(super) fn fetch_all(&self) -> Result<()> {
        self.fetch()?;
        match self {
            StorePlace::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            StorePlace::Bucket(bucket, copy) => Ok(bucket.fetch_tables(copy.path())?),
        }
    }

    /// Copies a merged store without its tables to the folder. In a bucket, only merged stores have a `run.json`.
    /// Errors do not name the place.
    pub(super) fn fetch_merged(&self) -> Result<()> {
        self.fetch()?;
        match self {
            StorePlace::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            StorePlace::Bucket(_, copy) if copy.path().join("run.json").exists() => Ok(()),
            #[cfg(feature = "s3")]
            StorePlace::Bucket(..) => {
                let what = "there is no merged store".to_owned();
                Err(sframe_store::Error::Usage(what).into())
            }
        }
    }

    /// Copies one shard, if it exists, to the folder.
    pub(super) fn fetch_shard(&self, shard: u32) -> Result<()> {
        match self {
            StorePlace::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            StorePlace::Bucket(bucket, copy) => Ok(bucket.fetch_shard(copy.path(), shard)?),
        }
    }

    /// Saves a shard of the store to this place.
    pub(super) fn put_shard(&self, store: &Store, shard: u32) -> Result<()> {
        match self {
            StorePlace::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            StorePlace::Bucket(bucket, _) => Ok(bucket.put_shard(store, shard).map(drop)?),
        }
    }

    /// Saves the files of a merged store to this place.
    pub(super) fn put_merged(&self, store: &Store) -> Result<()> {
        match self {
            StorePlace::Folder(_) => Ok(()),
            #[cfg(feature = "s3")]
            StorePlace::Bucket(bucket, _) => Ok(bucket.put_merged(store)?),
        }
    }
}

/// Whether `name` is the address of a bucket.
pub(super) fn is_address(name: &Path) -> bool {
    name.as_os_str().as_encoded_bytes().starts_with(b"s3://")
}
