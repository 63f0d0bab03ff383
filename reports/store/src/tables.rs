//! The tables of a complete store, as Parquet: `tables/TABLE/shard=00017/rows.parquet`.
//!
//! They are partitioned by shard, like the records: each file is made from the lines of one shard, in one pass with one
//! row group in memory, and the same scan gives the same bytes. If they were partitioned by package, every shard would
//! add to every file. Readers can use the statistics of the row groups to skip data instead.

mod column;
mod coverage;
mod describe;
mod files;
mod findings;
mod forecast;
mod readings;
mod write;

pub use describe::markdown;

use std::fs::{self, File};
use std::path::Path;

use sframe_record::Record;

use crate::claim;
use crate::durable;
use crate::error::{Error, Result};
use crate::layout::{ROWS, TABLES};
use crate::manifest::Manifest;
use crate::shard::{ShardLine, ShardReader};
use column::Table;
use coverage::Coverage;
use files::{Counts, Files, Producers};
use findings::{Difference, Differences, Findings};
use forecast::{ForecastLosses, Forecasts};
use readings::Consumers;
use write::TableWriter;

/// The version of the tables. It increases when a column is removed or changes its meaning; columns may be added within
/// a version.
pub const TABLES_FORMAT: u32 = 1;

/// Writes the tables of a store whose shards are all complete, replacing existing ones. They appear all at once; the
/// caller holds the store's lock.
pub(crate) fn write(folder: &Path, manifest: &Manifest) -> Result<()> {
    let tables = folder.join(TABLES);
    let (draft, lock) = durable::draft_folder(folder)?;
    let mut number = 0;
    for shard in 0..manifest.shards() {
        let reader = ShardReader::open(folder, manifest, shard)?;
        write_shard(reader, draft.path(), manifest, shard, &mut number)?;
    }
    durable::sync_tree(draft.path())?;
    claim::remove_tables(folder)?;
    let written = draft.keep();
    fs::rename(&written, &tables).map_err(Error::io("write", &tables))?;
    drop(lock);
    durable::sync_folder(folder)
}

/// Writes a shard's part of all tables. `number` is the number of the next record in the store.
fn write_shard(
    reader: ShardReader<'_>,
    draft: &Path,
    manifest: &Manifest,
    shard: u32,
    number: &mut u64,
) -> Result<()> {
    let mut tables = ShardTables::start(draft, manifest, shard)?;
    reader.each_line(|line| {
        if let ShardLine::Record { record, .. } = line {
            tables.add(*number, &record)?;
            *number += 1;
        }
        Ok::<(), Error>(())
    })?;
    tables.finish()
}

/// The writers of a shard's part of each table.
struct ShardTables {
    files: TableWriter<Files>,
    counts: TableWriter<Counts>,
    findings: TableWriter<Findings>,
    differences: TableWriter<Differences>,
    coverage: TableWriter<Coverage>,
    forecasts: TableWriter<Forecasts>,
    forecast_losses: TableWriter<ForecastLosses>,
    consumers: TableWriter<Consumers>,
    producers: TableWriter<Producers>,
}

impl ShardTables {
    fn start(draft: &Path, manifest: &Manifest, shard: u32) -> Result<ShardTables> {
        Ok(ShardTables {
            files: start(draft, manifest, shard)?,
            counts: start(draft, manifest, shard)?,
            findings: start(draft, manifest, shard)?,
            differences: start(draft, manifest, shard)?,
            coverage: start(draft, manifest, shard)?,
            forecasts: start(draft, manifest, shard)?,
            forecast_losses: start(draft, manifest, shard)?,
            consumers: start(draft, manifest, shard)?,
            producers: start(draft, manifest, shard)?,
        })
    }

    fn add(&mut self, number: u64, record: &Record<'_>) -> Result<()> {
        self.files.row(number, record, record)?;
        record.counts.iter().try_for_each(|count| self.counts.row(number, record, count))?;
        for finding in &record.findings {
            self.findings.row(number, record, finding)?;
            if let Some(difference) = &finding.difference {
                self.differences.row(number, record, &Difference { finding, difference })?;
            }
        }
        if let Some(coverage) = &record.coverage {
            let mut losses = coverage.losses.iter();
            losses.try_for_each(|loss| self.coverage.row(number, record, loss))?;
        }
        if let Some(forecast) = &record.forecast {
            let mut rows = forecast::rows(forecast);
            rows.try_for_each(|row| self.forecasts.row(number, record, &row))?;
            let mut losses = forecast::losses(forecast);
            losses.try_for_each(|loss| self.forecast_losses.row(number, record, &loss))?;
        }
        for reading in &record.readings {
            self.consumers.row(number, record, &reading)?;
        }
        record.producers.iter().try_for_each(|made| self.producers.row(number, record, made))
    }

    fn finish(self) -> Result<()> {
        self.files.finish()?;
        self.counts.finish()?;
        self.findings.finish()?;
        self.differences.finish()?;
        self.coverage.finish()?;
        self.forecasts.finish()?;
        self.forecast_losses.finish()?;
        self.consumers.finish()?;
        self.producers.finish()
    }
}

fn start<T: Table>(draft: &Path, manifest: &Manifest, shard: u32) -> Result<TableWriter<T>> {
    let folder = draft.join(T::NAME).join(format!("shard={shard:05}"));
    fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
    let path = folder.join(ROWS);
    let file = File::create(&path).map_err(Error::io("write", &path))?;
    TableWriter::start(file, path, manifest.hash())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::is_table;

    /// Merging replaces these folders, and refuses to touch others.
    #[test]
    fn the_folders_of_all_tables_are_known() {
        let names = [
            Files::NAME,
            Counts::NAME,
            Findings::NAME,
            Differences::NAME,
            Coverage::NAME,
            Forecasts::NAME,
            ForecastLosses::NAME,
            Consumers::NAME,
            Producers::NAME,
        ];
        assert!(names.into_iter().all(is_table));
        assert!(!is_table("mine"));
    }
}
