//! The names of a store's files.

use std::path::{Path, PathBuf};

/// The folder of shards in a store.
pub(crate) const SHARDS: &str = "shards";
pub(crate) const RUN: &str = "run.json";
pub(crate) const MANIFEST: &str = "manifest.ndjson.zst";
/// The file of stamps.
pub(crate) const STAMPS: &str = "stamps";
/// The defect of a file of a store that is a link: what it leads to is somewhere else, where nothing is the store's.
pub(crate) const LINK: &str = "it is a link, which no file of a store is";
/// The folder of tables.
pub(crate) const TABLES: &str = "tables";
const EXTENSION: &str = ".ndjson.zst";

/// The path of a shard in the store at `folder`.
pub(crate) fn shard_path(folder: &Path, shard: u32) -> PathBuf {
    folder.join(shard_name(shard))
}

/// The path of a shard relative to the store.
pub(crate) fn shard_name(shard: u32) -> String {
    format!("{SHARDS}/{shard:05}{EXTENSION}")
}

/// The shard number in a file name, if the name is that of a shard.
pub(crate) fn shard_of(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(EXTENSION)?;
    let plain = digits.len() == 5 && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// The file with the rows of a table and a shard.
pub(crate) const ROWS: &str = "rows.parquet";

/// Whether a folder among the tables has the name of one.
pub(crate) fn is_table(name: &str) -> bool {
    matches!(
        name,
        "files"
            | "counts"
            | "findings"
            | "differences"
            | "coverage"
            | "forecasts"
            | "forecast_losses"
            | "consumers"
            | "producers"
    )
}

/// Whether a folder in that of a table has the name of a shard's.
pub(crate) fn is_shard_folder(name: &str) -> bool {
    let digits = name.strip_prefix("shard=").unwrap_or_default();
    digits.len() == 5 && digits.bytes().all(|digit| digit.is_ascii_digit())
}
