//! Manifests: the list of what a scan checks, and in which shard.

mod balance;
mod text;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::field::Defect;
use crate::layout::MANIFEST;
use crate::{ContentHash, Counts, Key, path_name};

/// The version of the format of manifests and shards. Readers refuse other versions.
pub const FORMAT: u64 = 1;
/// The maximum number of shards: shard numbers have five digits.
pub const MAX_SHARDS: u32 = 100_000;
/// The maximum number of items of a manifest.
pub const MAX_ITEMS: u64 = u32::MAX as u64;

/// An item to check: a file, which may be a package or an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes when the manifest was planned.
    pub size: u64,
    /// The hash of its bytes at that time, if the planner read them.
    pub hash: Option<ContentHash>,
}

/// The list of what a scan checks, and in which shard: lines of JSON, with a header followed by the items in input
/// order. Its hash identifies the scan. It is the hash of the lines as this program writes them, so that a manifest that
/// another program has formatted in another way is of the same scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    key: Key,
    inputs: Vec<PathBuf>,
    without: Counts,
    items: Vec<Item>,
    /// The shard of each item.
    shard_of: Vec<u32>,
    /// The positions of the items of each shard.
    shards: Vec<Vec<u32>>,
    hash: ContentHash,
}

/// The data from which a manifest is made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Everything besides the checked bytes that affects the results.
    pub key: Key,
    /// The inputs as named by the user.
    pub inputs: Vec<PathBuf>,
    /// The number of shards.
    pub shards: u32,
    /// The files that the planner excluded, since they are not ELF files.
    pub without: Counts,
    /// The items to check, in input order. Duplicate paths are dropped.
    pub items: Vec<Item>,
}

impl Manifest {
    /// Distributes items over shards with about the same number of bytes: each item, largest first, goes to the shard
    /// with the fewest bytes. The same plan gives the same manifest.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are no shards or too many, too many items, or an invalid path.
    ///
    /// ```
    /// use sframe_store::{ContentHash, Counts, Item, Key, Manifest, Plan};
    ///
    /// let hash = ContentHash::of(b"");
    /// let key = Key { tool: "sframe-check 0.1.0".to_owned(), rules: hash, options: hash };
    /// let item = |path: &str, size| Item { path: path.into(), size, hash: None };
    /// let manifest = Manifest::plan(Plan {
    ///     key,
    ///     inputs: vec!["lib".into()],
    ///     shards: 2,
    ///     without: Counts::default(),
    ///     items: vec![item("lib/a", 10_000), item("lib/b", 90_000), item("lib/c", 50_000)],
    /// })?;
    /// // The largest is alone in its shard.
    /// let second: Vec<_> = manifest.items_of(1).map(|(_, item)| item.path.clone()).collect();
    /// assert_eq!(second, ["lib/a".as_ref(), "lib/c".as_ref() as &std::path::Path]);
    /// # Ok::<(), sframe_store::Error>(())
    /// ```
    pub fn plan(mut plan: Plan) -> Result<Manifest> {
        if !(1..=MAX_SHARDS).contains(&plan.shards) {
            let what = format!("a plan has 1 to {MAX_SHARDS} shards, not {}", plan.shards);
            return Err(Error::Usage(what));
        }
        if let Some(item) = plan.items.iter().find(|item| !path_name::is_path(&item.path)) {
            return Err(Error::Usage(format!("{:?} is not a path", item.path)));
        }
        let mut seen: HashSet<PathBuf> = HashSet::with_capacity(plan.items.len());
        plan.items.retain(|item| seen.insert(item.path.clone()));
        if plan.items.len() as u64 > MAX_ITEMS {
            return Err(Error::Usage(format!("more than {MAX_ITEMS} items")));
        }
        let shard_of = balance::shards(&plan.items, plan.shards);
        Ok(Manifest::new(plan, shard_of))
    }

    fn new(plan: Plan, shard_of: Vec<u32>) -> Manifest {
        let mut shards = vec![Vec::new(); plan.shards as usize];
        for (position, &shard) in (0..).zip(&shard_of) {
            if let Some(items) = shards.get_mut(shard as usize) {
                items.push(position);
            }
        }
        let Plan { key, inputs, without, items, .. } = plan;
        let hash = ContentHash::from([0; 32]);
        let mut manifest = Manifest { key, inputs, without, items, shard_of, shards, hash };
        let mut hasher = blake3::Hasher::new();
        let hashed: std::result::Result<(), std::convert::Infallible> = manifest.lines(|line| {
            hasher.update(line);
            Ok(())
        });
        let Ok(()) = hashed;
        manifest.hash = hasher.finalize().into();
        manifest
    }

    /// Reads a manifest, either plain or compressed with zstd.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Defect`] or [`Error::Damaged`] if the file is not a valid manifest.
    pub fn open(path: &Path) -> Result<Manifest> {
        text::open(path)
    }

    /// Reads the manifest of the store at `folder`.
    ///
    /// # Errors
    /// As for [`Manifest::open`]; also if the file is a link.
    pub(crate) fn open_own(folder: &Path) -> Result<Manifest> {
        let path = folder.join(MANIFEST);
        let file = durable::open_own(folder, MANIFEST).map_err(Error::io("open", &path))?;
        text::read(file, &path)
    }

    /// Writes it to a file, compressed if the name ends in `.zst`. The file is either complete or absent; an existing
    /// file is replaced.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<()> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let mut draft = Draft::new(folder.unwrap_or(Path::new(".")))?;
        let is_compressed = path.extension().is_some_and(|extension| extension == "zst");
        let written = match is_compressed {
            true => self.write_compressed(&mut draft),
            false => self.write(&mut draft),
        };
        written.map_err(Error::io("write", path))?;
        draft.replace(path)
    }

    /// Writes it as text.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.lines(|line| out.write_all(line))
    }

    /// Writes it compressed with zstd.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write_compressed(&self, out: &mut impl io::Write) -> io::Result<()> {
        let mut lines = crate::lines::LinesWriter::new(out)?;
        self.lines(|line| lines.line(line.strip_suffix(b"\n").unwrap_or(line)))?;
        lines.finish().map(drop)
    }

    /// Passes its lines, including line feeds, to `write`.
    fn lines<E>(
        &self,
        write: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        text::lines(self, write)
    }

    /// Everything besides the checked bytes that affects the results.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The inputs as named by the user.
    #[must_use]
    pub fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// The files that the planner excluded, since they are not ELF files.
    #[must_use]
    pub const fn without(&self) -> &Counts {
        &self.without
    }

    /// The items to check, in input order. An item's number is its position in this list.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The number of shards, which are numbered from 0.
    #[must_use]
    pub fn shards(&self) -> u32 {
        // `plan` and `open` enforce the maximum.
        u32::try_from(self.shards.len()).unwrap_or(MAX_SHARDS)
    }

    /// The items of a shard with their numbers, in input order; empty if there is no such shard.
    pub fn items_of(&self, shard: u32) -> impl ExactSizeIterator<Item = (u32, &Item)> {
        let numbers = self.shards.get(shard as usize).map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|&number| (number, self.item(number)))
    }

    /// The number of the item at a position in a shard.
    pub(crate) fn number_in(&self, shard: u32, position: u64) -> Option<u32> {
        self.shards.get(shard as usize)?.get(usize::try_from(position).ok()?).copied()
    }

    /// The total size in bytes of the items of a shard.
    #[must_use]
    pub fn bytes_of(&self, shard: u32) -> u64 {
        self.items_of(shard).fold(0, |sum, (_, item)| sum.saturating_add(item.size))
    }

    /// The hash of its lines, which identifies the scan.
    #[must_use]
    pub const fn hash(&self) -> ContentHash {
        self.hash
    }

    #[allow(clippy::indexing_slicing, reason = "the shards' lists hold positions of items")]
    fn item(&self, number: u32) -> &Item {
        &self.items[number as usize]
    }

    /// The defect of a path that is listed twice.
    fn twice(line: u64, path: &Path) -> Defect {
        let value = format!("{:?} again", path.display().to_string());
        Defect { line, field: "path", value, allowed: "each path once".to_owned() }
    }
}
