//! Manifests: what a scan is to check, and in which shard.

mod balance;
mod text;

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::durable::Draft;
use crate::error::{Error, Result};
use crate::field::Defect;
use crate::{ContentHash, Counts, Key, path_name};

/// The version of the format of manifests and shards. A reader refuses others.
pub const FORMAT: u64 = 1;
/// How many shards a scan can have: their numbers have five digits.
pub const MAX_SHARDS: u32 = 100_000;
/// How many items a manifest can have.
pub const MAX_ITEMS: u64 = u32::MAX as u64;

/// Something to check: a file, which may be a package or an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes when the plan was made.
    pub size: u64,
    /// The hash of its bytes then, where the planner has read them.
    pub hash: Option<ContentHash>,
}

/// What a scan is to check, and in which shard: JSON on lines, a header and the items in input
/// order. Its hash is the scan's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    key: Key,
    inputs: Vec<PathBuf>,
    without: Counts,
    items: Vec<Item>,
    /// By item, its shard.
    shard_of: Vec<u32>,
    /// By shard, the positions of its items.
    shards: Vec<Vec<u32>>,
    hash: ContentHash,
}

/// What a manifest is made from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the results will depend on besides the bytes.
    pub key: Key,
    /// The inputs as the user has named them.
    pub inputs: Vec<PathBuf>,
    /// How many shards to make.
    pub shards: u32,
    /// What the planner has met that needs no checking: files that are no ELF files.
    pub without: Counts,
    /// What is to be checked, in input order. A path that comes again is left out.
    pub items: Vec<Item>,
}

impl Manifest {
    /// Puts items into shards of about the same number of bytes: the largest first, each into the
    /// shard that has least. The same plan gives the same manifest.
    ///
    /// # Errors
    /// [`Error::Usage`] where there are no or too many shards, too many items, or what is no path.
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
            let what = format!("{} shards, allowed: 1 to {MAX_SHARDS}", plan.shards);
            return Err(Error::Usage(what));
        }
        if let Some(item) = plan.items.iter().find(|item| !path_name::is_path(&item.path)) {
            return Err(Error::Usage(format!("{:?} is no path", item.path)));
        }
        let mut seen: HashSet<PathBuf> = HashSet::with_capacity(plan.items.len());
        plan.items.retain(|item| seen.insert(item.path.clone()));
        if plan.items.len() as u64 > MAX_ITEMS {
            return Err(Error::Usage(format!("more than {MAX_ITEMS} items")));
        }
        let shard_of = balance::shards(&plan.items, plan.shards);
        let mut manifest = Manifest::new(plan, shard_of, [0; 32].into());
        let mut hasher = blake3::Hasher::new();
        manifest.lines(|line| {
            hasher.update(line);
            Ok(())
        })?;
        manifest.hash = hasher.finalize().into();
        Ok(manifest)
    }

    fn new(plan: Plan, shard_of: Vec<u32>, hash: ContentHash) -> Manifest {
        let mut shards = vec![Vec::new(); plan.shards as usize];
        for (position, &shard) in (0..).zip(&shard_of) {
            if let Some(items) = shards.get_mut(shard as usize) {
                items.push(position);
            }
        }
        let Plan { key, inputs, without, items, .. } = plan;
        Manifest { key, inputs, without, items, shard_of, shards, hash }
    }

    /// Reads a manifest, plain or compressed by zstd.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Defect`] or [`Error::Damaged`] where it is no manifest: that
    /// does not pass.
    pub fn open(path: &Path) -> Result<Manifest> {
        text::open(path)
    }

    /// Writes it to a file, compressed where the name ends in `.zst`. The file is whole or not
    /// there; one of that name is replaced.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<()> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let mut draft = Draft::new(folder.unwrap_or(Path::new(".")))?;
        let written = if path.extension().is_some_and(|extension| extension == "zst") {
            self.write_compressed(&mut draft)
        } else {
            self.lines(|line| draft.write_all(line))
        };
        written.map_err(Error::io("write", path))?;
        draft.replace(path)
    }

    fn write_compressed(&self, draft: &mut Draft) -> io::Result<()> {
        let mut lines = crate::lines::LinesWriter::new(draft)?;
        self.lines(|line| lines.line(line.strip_suffix(b"\n").unwrap_or(line)))?;
        lines.finish().map(drop)
    }

    /// Hands out its lines, line feeds with them.
    fn lines<E>(
        &self,
        write: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        text::lines(self, write)
    }

    /// What the results depend on besides the bytes.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The inputs as the user has named them.
    #[must_use]
    pub fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// What the planner has met that needs no checking.
    #[must_use]
    pub const fn without(&self) -> &Counts {
        &self.without
    }

    /// Everything to check, in input order. An item's number is its position here.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// How many shards there are, numbered from 0.
    #[must_use]
    pub fn shards(&self) -> u32 {
        // `plan` and `open` let no more through.
        u32::try_from(self.shards.len()).unwrap_or(MAX_SHARDS)
    }

    /// The items of a shard with their numbers, in input order; none of a shard that there is not.
    pub fn items_of(&self, shard: u32) -> impl ExactSizeIterator<Item = (u32, &Item)> {
        let numbers = self.shards.get(shard as usize).map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|&number| (number, self.item(number)))
    }

    /// The number of the item at a position in a shard.
    pub(crate) fn number_in(&self, shard: u32, position: u64) -> Option<u32> {
        self.shards.get(shard as usize)?.get(usize::try_from(position).ok()?).copied()
    }

    /// How many bytes the items of a shard have.
    #[must_use]
    pub fn bytes_of(&self, shard: u32) -> u64 {
        self.items_of(shard).fold(0, |sum, (_, item)| sum.saturating_add(item.size))
    }

    /// The hash of its lines: what this scan is known by.
    #[must_use]
    pub const fn hash(&self) -> ContentHash {
        self.hash
    }

    #[allow(clippy::indexing_slicing, reason = "the shards' lists hold positions of items")]
    fn item(&self, number: u32) -> &Item {
        &self.items[number as usize]
    }

    /// A defect where a path stands a second time.
    fn twice(line: u64, path: &Path) -> Defect {
        let value = format!("{:?} again", path.display().to_string());
        Defect { line, field: "path", value, allowed: "each path once".to_owned() }
    }
}
