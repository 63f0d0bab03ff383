//! Stores in buckets of S3 and compatible services, for machines without a shared folder.
//!
//! A bucket contains the same names as a folder. The work is done on a local copy. Finished files are uploaded in one
//! request under their final name, and never replace a sound file. This needs conditional writes (`If-None-Match`,
//! `If-Match`), which S3 has supported since 2024.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as ObjectPath;
use object_store::{
    ListResult, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use tokio::runtime::Runtime;

use crate::claim;
use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::files::{self, FILES, Files};
use crate::layout::{self, MANIFEST, RUN, SHARDS, TABLES};
use crate::run::Run;
use crate::shard::{self, Finished, ShardState, ShardTotals};
use crate::store::Store;

/// The prefix of bucket addresses.
const SCHEME: &str = "s3://";
/// The number of concurrent downloads.
const AT_ONCE: usize = 8;
/// The maximum size in bytes of an object that is fetched. Each object of a store is uploaded in one request, which S3
/// limits to this size (Amazon S3 User Guide, "Uploading objects": 5 GB).
const LARGEST: u64 = 5 << 30;
/// How often to retry uploading a shard while others upload and replace it.
const TRIES: u32 = 10;

/// A store in a bucket: `s3://BUCKET/NAME`. Credentials, region and endpoint come from the environment variables that
/// Amazon's own tools read (`AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT_URL`, ...), or from the machine's instance
/// metadata.
#[derive(Debug)]
pub struct Bucket {
    objects: Box<dyn ObjectStore>,
    /// The common prefix of all names in the bucket.
    name: ObjectPath,
    address: String,
    /// The maximum size in bytes of an object that is fetched.
    largest: u64,
    runtime: Runtime,
}

impl Bucket {
    /// The store at an address. No request is sent yet.
    ///
    /// # Errors
    /// [`Error::Usage`] if the address is invalid or an environment variable has an invalid value; [`Error::Io`] if the
    /// system cannot provide threads or sockets.
    pub fn new(address: &Path) -> Result<Bucket> {
        let text = address.to_str().unwrap_or_default().trim_end_matches('/');
        let usage = |why: String| Error::Usage(format!("{}: {why}", address.display()));
        let (bucket, name) = text
            .strip_prefix(SCHEME)
            .and_then(|rest| rest.split_once('/'))
            .filter(|(bucket, name)| !bucket.is_empty() && !name.is_empty())
            .ok_or_else(|| usage("not an address such as s3://BUCKET/NAME".to_owned()))?;
        let name = ObjectPath::parse(name).map_err(|error| usage(error.to_string()))?;
        let objects = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
        let objects = objects.map_err(|error| usage(error.to_string()))?;
        Bucket::of(Box::new(objects), name, text.to_owned())
    }

    fn of(objects: Box<dyn ObjectStore>, name: ObjectPath, address: String) -> Result<Bucket> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::io("open", Path::new(&address)))?;
        Ok(Bucket { objects, name, address, largest: LARGEST, runtime })
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> &Path {
        Path::new(&self.address)
    }

    /// Fetches one shard into a local copy, if the bucket has it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn fetch_shard(&self, copy: &Path, shard: u32) -> Result<()> {
        durable::make_folder(&copy.join(SHARDS))?;
        let path = layout::shard_path(copy, shard);
        self.runtime.block_on(self.fetch_file(copy, &path)).map(drop)
    }

    /// Fetches `run.json`, the manifest, the hashes of files and all shards that the bucket has into a local copy.
    /// Other objects among the shards become empty files.
    ///
    /// # Errors
    /// [`Error::Damaged`] if an object is larger than any that a store contains, and [`Error::Io`].
    pub fn fetch(&self, copy: &Path) -> Result<()> {
        let shards = copy.join(SHARDS);
        durable::make_folder(&shards)?;
        self.runtime.block_on(async {
            // run.json comes first: if it exists, so do the files that it refers to.
            for name in [RUN, FILES, MANIFEST] {
                self.fetch_file(copy, &copy.join(name)).await?;
            }
            let listed = self.objects.list_with_delimiter(Some(&self.object(copy, &shards))).await;
            let ListResult { common_prefixes, objects, .. } =
                listed.map_err(|error| self.failed("list", &shards, copy, error))?;
            let names = objects.into_iter().map(|object| object.location).chain(common_prefixes);
            let paths = names.filter_map(|name| Some(shards.join(name.filename()?)));
            let fetched = paths.map(|path| self.fetch_listed(copy, path));
            stream::iter(fetched).buffer_unordered(AT_ONCE).try_collect::<()>().await
        })
    }

    /// Fetches the tables that the list of files contains into the local copy of a complete store, after
    /// [`Bucket::fetch`]. Other objects next to the store's files become empty files.
    ///
    /// # Errors
    /// As for [`Bucket::fetch`].
    pub fn fetch_tables(&self, copy: &Path) -> Result<()> {
        let run = Run::read(copy).ok();
        let files = run.and_then(|run| Files::read(copy, run.files?).ok()).unwrap_or_default();
        let listed: BTreeSet<&str> = files.names().collect();
        self.runtime.block_on(async {
            let names = self.names_below(copy, copy).await?;
            let fetched = names.iter().map(|name| self.fetch_beside(copy, name, &listed));
            stream::iter(fetched).buffer_unordered(AT_ONCE).try_collect::<()>().await
        })
    }

    /// Fetches an object that is neither a shard nor a file that every store has.
    async fn fetch_beside(&self, copy: &Path, name: &str, listed: &BTreeSet<&str>) -> Result<()> {
        let (first, rest) = name.split_once('/').unwrap_or((name, ""));
        let path = copy.join(if first == TABLES { name } else { first });
        match first {
            RUN | FILES | MANIFEST | SHARDS => return Ok(()),
            // The marker object of a folder.
            TABLES if rest.is_empty() => return Ok(()),
            _ => durable::make_folder(path.parent().unwrap_or(copy))?,
        }
        if listed.contains(name) {
            self.fetch_file(copy, &path).await.map(drop)
        } else {
            File::create(&path).map(drop).map_err(Error::io("write", &path))
        }
    }

    /// The names of all objects below a folder of the copy, relative to the store.
    async fn names_below(&self, copy: &Path, folder: &Path) -> Result<Vec<String>> {
        let listed = self.objects.list(Some(&self.object(copy, folder))).try_collect::<Vec<_>>();
        let listed = listed.await.map_err(|error| self.failed("list", folder, copy, error))?;
        let name = |object: &ObjectPath| {
            let parts = object.prefix_match(&self.name)?;
            let parts: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
            (!parts.is_empty()).then(|| parts.join("/"))
        };
        Ok(listed.iter().filter_map(|object| name(&object.location)).collect())
    }

    async fn fetch_listed(&self, copy: &Path, path: PathBuf) -> Result<()> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if layout::shard_of(name).is_some() {
            self.fetch_file(copy, &path).await.map(drop)
        } else {
            File::create(&path).map(drop).map_err(Error::io("write", &path))
        }
    }

    /// Fetches a file into the copy, replacing any file with its name. Returns the version that was fetched; `None` if
    /// the object does not exist.
    async fn fetch_file(&self, copy: &Path, path: &Path) -> Result<Option<UpdateVersion>> {
        let failed = |error| self.failed("read", path, copy, error);
        let found = match self.objects.get(&self.object(copy, path)).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let limit = if path.ends_with(RUN) { Run::LONGEST as u64 } else { self.largest };
        if found.meta.size > limit {
            let reason = format!("it has {} bytes, allowed: {limit}", found.meta.size);
            return Err(Error::Damaged { path: self.path_of(copy, path), reason });
        }
        let version =
            UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        let mut draft = Draft::new(path.parent().unwrap_or(copy))?;
        let mut pieces = found.into_stream();
        while let Some(piece) = pieces.try_next().await.map_err(failed)? {
            draft.write_all(&piece).map_err(Error::io("write", path))?;
        }
        draft.replace(path)?;
        Ok(Some(version))
    }

    /// Uploads a shard that is complete in the copy. A damaged shard in the bucket is replaced, a sound one never. The
    /// compressed shard is held in memory.
    ///
    /// # Errors
    /// [`Error::Different`] if the bucket has a sound shard with other contents, [`Error::Foreign`] if it has one of
    /// another scan, [`Error::Damaged`] if the shard in the copy is damaged, [`Error::Busy`] if others keep replacing
    /// it, and [`Error::Io`].
    pub fn put_shard(&self, store: &Store, shard: u32) -> Result<Finished> {
        let copy = store.folder();
        let path = layout::shard_path(copy, shard);
        let totals = match store.state(shard)? {
            ShardState::Whole(totals) => totals,
            other => return Err(Error::Damaged { path, reason: other.to_string() }),
        };
        let bytes = PutPayload::from(fs::read(&path).map_err(Error::io("read", &path))?);
        let mut mode = PutMode::Create;
        for _ in 0..TRIES {
            let put = self.runtime.block_on(self.put(copy, &path, bytes.clone(), mode));
            let Refused = match put? {
                Ok(()) => return Ok(Finished::Written(totals)),
                Err(refused) => refused,
            };
            mode = match self.there(store, shard, &totals)? {
                There::Same => return Ok(Finished::There(totals)),
                There::Damaged(version) => PutMode::Update(version),
                There::Nothing => PutMode::Create,
            };
        }
        Err(Error::Busy { path: self.path_of(copy, &path) })
    }

    /// The state of a shard in the bucket; an error if it must not be replaced.
    fn there(&self, store: &Store, shard: u32, totals: &ShardTotals) -> Result<There> {
        // A temporary folder next to the copy's own files.
        let other = tempfile::tempdir_in(store.folder())
            .map_err(Error::io("make a folder in", store.folder()))?;
        let path = layout::shard_path(other.path(), shard);
        durable::make_folder(&other.path().join(SHARDS))?;
        let fetched = self.runtime.block_on(self.fetch_file(other.path(), &path))?;
        let Some(version) = fetched else { return Ok(There::Nothing) };
        let path = || self.path_of(store.folder(), &layout::shard_path(store.folder(), shard));
        match shard::state(other.path(), store.manifest(), shard)? {
            ShardState::Absent => Ok(There::Nothing),
            ShardState::Damaged(_) => Ok(There::Damaged(version)),
            ShardState::Whole(whole) if whole == *totals => Ok(There::Same),
            ShardState::Whole(_) => Err(Error::Different { path: path() }),
            ShardState::Foreign(reason) => Err(Error::Foreign { path: path(), reason }),
        }
    }

    /// Uploads a complete store's tables, manifest, hashes of files and `run.json`, in this order; the shards are there
    /// already. Tables of other shards are removed, as in a folder. Concurrent uploads write the same
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn put_merged(&self, store: &Store) -> Result<()> {
        let copy = store.folder();
        let tables = files::files_below(&copy.join(TABLES))?;
        let ours: BTreeSet<String> = tables.iter().map(|path| files::name_of(copy, path)).collect();
        self.runtime.block_on(async {
            let put = tables.into_iter().map(|path| self.put_file(copy, path));
            stream::iter(put).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            for name in self.names_below(copy, &copy.join(TABLES)).await? {
                if !ours.contains(&name) && claim::is_rows(&name) {
                    self.remove(copy, &copy.join(name)).await?;
                }
            }
            for name in [MANIFEST, FILES, RUN] {
                self.put_file(copy, copy.join(name)).await?;
            }
            Ok(())
        })
    }

    async fn remove(&self, copy: &Path, path: &Path) -> Result<()> {
        match self.objects.delete(&self.object(copy, path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", path, copy, error)),
        }
    }

    async fn put_file(&self, copy: &Path, path: PathBuf) -> Result<()> {
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        // Unconditional writes are never refused.
        self.put(copy, &path, bytes.into(), PutMode::Overwrite).await.map(drop)
    }

    /// Writes an object in one request; returns `Refused` if the condition is not met.
    async fn put(
        &self,
        copy: &Path,
        path: &Path,
        bytes: PutPayload,
        mode: PutMode,
    ) -> Result<std::result::Result<(), Refused>> {
        let options = PutOptions { mode, ..PutOptions::default() };
        match self.objects.put_opts(&self.object(copy, path), bytes, options).await {
            Ok(_) => Ok(Ok(())),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. },
            ) => Ok(Err(Refused)),
            Err(error) => Err(self.failed("write", path, copy, error)),
        }
    }

    /// The object for a file of a copy.
    fn object(&self, copy: &Path, path: &Path) -> ObjectPath {
        let names = path.strip_prefix(copy).unwrap_or(path).components();
        let names = names.map(|name| name.as_os_str().to_string_lossy());
        names.fold(self.name.clone(), |object, name| object.join(&*name))
    }

    /// The address of that object.
    fn path_of(&self, copy: &Path, path: &Path) -> PathBuf {
        Path::new(&self.address).join(path.strip_prefix(copy).unwrap_or(path))
    }

    fn failed(
        &self,
        action: &'static str,
        path: &Path,
        copy: &Path,
        error: object_store::Error,
    ) -> Error {
        let path = self.path_of(copy, path);
        match error {
            object_store::Error::NotSupported { .. }
            | object_store::Error::NotImplemented { .. }
            | object_store::Error::InvalidPath { .. } => {
                Error::Usage(format!("cannot {action} {}: {error}", path.display()))
            }
            error => Error::Io { action, path, source: io::Error::other(error) },
        }
    }
}

/// A conditional write was refused: the object exists already, or has changed.
struct Refused;

/// The state of a shard in the bucket.
enum There {
    /// A sound shard with the same contents.
    Same,
    /// A shard that cannot be used.
    Damaged(UpdateVersion),
    /// No shard, or no longer.
    Nothing,
}
