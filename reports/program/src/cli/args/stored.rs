//! The command line of scans whose results are kept: `--store`, `compare`, and what distributes a
//! scan over machines.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use sframe_history::Comparison;
use sframe_record::numbers::grouped;

use super::inputs::InputArgs;
use super::policy::{PolicyArgs, SeverityArgs};
use super::{DocumentFormat, OutputArgs, WhatArgs};

/// The end of `compare --help`, with its limits.
pub(in crate::cli) fn compare_help() -> String {
    let [files, listed, rules] =
        [Comparison::MOST_FILES, Comparison::MOST_LISTED_FILES, Comparison::MOST_LISTED_RULES]
            .map(|limit| grouped(limit as u64));
    format!(
        "\
A scan is a store, in a folder or at s3://BUCKET/NAME, or a report that was written with --format \
json or ndjson. Files are matched by package, path and member, even if versions in their names have \
changed. Findings are matched by rule, symbol and shape: code that only moved is no change.

Limits: {files} files of each scan are compared, and the rest is undecided. The {listed} files that got \
worst and {rules} rules are listed, and the others counted.

Exit status:
  0  nothing got worse
  1  something got worse: a new error or difference, lost coverage, a smaller share of a package's
     code with entries, a file that can no longer be read
  2  nothing is known to be worse, but something could not be decided
  3  wrong usage, or a scan cannot be read"
    )
}

pub(in crate::cli) const SHOW_HELP: &str = "\
A scan is a store, in a folder or at s3://BUCKET/NAME, or a report that was written with --format \
json or ndjson. A store keeps up to 100 findings of each rule and file, or all with --all.

      sframe-check show scans/today    # root causes and totals
      sframe-check show --by-file scans/today
      sframe-check show --format ndjson scans/today | jq .path
      sframe-check show --format html scans/2026-* > scans.html

The exit status is that of the scan, or 2 if the scan did not reach its end or its store is damaged.";

pub(in crate::cli) const SHARDS_HELP: &str = "\
A manifest lists what to check, and in which shard. Each shard is checked on its own, on any machine \
with access to the files and the store; a store has either all of a shard or nothing. `plan` and `scan` \
must be given the same options for what to check. Merging completes a store that has every shard.

      sframe-check shard plan pool --shards 16 --output night.manifest
      for k in $(seq 0 15); do
          sframe-check shard scan --manifest night.manifest --shard $k --store night; done
      sframe-check shard status --manifest night.manifest --store night
      sframe-check shard merge --manifest night.manifest --store night

If the program was built with the feature s3, a store may be in a bucket of S3, or of a service with its \
protocol and conditional writes: --store s3://BUCKET/NAME. Credentials, region and endpoint come from \
the variables that Amazon's tools read, such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL, or from the \
machine. Merging needs room for all shards and tables in the folder for temporary files.

Exit status of `scan`, for the scheduler that runs it:
  0   the shard is done, now or before
  64  do not retry: wrong usage, a bad manifest, or the store of another scan
  75  a retry may succeed

`plan`: 0 done, 3 wrong usage. `status`: 0 every file is whole, 1 some are not, 64, 75. `merge`: 0 done, \
1 some shards are not whole, 64, 75. A complete store has hashes of its files: `status` names each file \
that has changed, is missing or does not belong there. Scan a damaged shard again; `merge` writes \
everything else again.";

/// Where results are kept.
#[derive(Debug, Args)]
pub(in crate::cli) struct StoreArgs {
    /// Keep the results in this new folder
    ///
    /// Root causes and totals are printed; `show` prints the rest.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["format", "raw", "coverage", "statistics"], help_heading = "Keep the results")]
    pub(in crate::cli) store: Option<PathBuf>,
    /// Continue an interrupted scan of this store
    #[arg(long, requires = "store", hide_short_help = true, help_heading = "Keep the results")]
    pub(in crate::cli) resume: bool,
    /// Take the results of unchanged files from this store
    #[arg(long, hide_short_help = true, value_name = "DIR-or-URL", requires = "store", value_hint = ValueHint::DirPath, help_heading = "Keep the results")]
    pub(in crate::cli) previous: Option<PathBuf>,
    /// The process that a scan with --store starts to do the work
    #[arg(long, hide = true, requires = "store")]
    pub(in crate::cli) at_work: bool,
    #[command(flatten)]
    pub(in crate::cli) alone: AloneArgs,
}

/// The process that a scan starts for a file whose check killed another process.
#[derive(Debug, Args)]
pub(in crate::cli) struct AloneArgs {
    /// Check one item of the store's manifest, and write its records to standard output
    #[arg(long, hide = true, value_name = "N")]
    pub(in crate::cli) item: Option<u32>,
}

/// `compare`.
#[derive(Debug, Args)]
pub(in crate::cli) struct CompareArgs {
    /// A store or a report
    #[arg(value_name = "OLD", value_hint = ValueHint::AnyPath)]
    pub(in crate::cli) old: PathBuf,
    /// A later one
    #[arg(value_name = "NEW", value_hint = ValueHint::AnyPath)]
    pub(in crate::cli) new: PathBuf,
    /// The format of the changes
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: CompareFormat,
    /// Show each change in full, not the first twenty
    #[arg(long)]
    pub(in crate::cli) all: bool,
    #[command(flatten)]
    pub(in crate::cli) severities: SeverityArgs,
}

/// `show`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    /// A store or a report; with --format html, several of them, the oldest first
    ///
    /// The page is about the last scan, and shows figures of all of them as lines over time.
    #[arg(value_name = "SCAN", required = true, value_hint = ValueHint::AnyPath)]
    pub(in crate::cli) scans: Vec<PathBuf>,
    /// Show every finding and root cause that was kept
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) all: bool,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) policy: PolicyArgs,
}

/// `compare --format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum CompareFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// For a merge request or an issue
    Markdown,
    /// A page for a browser, in one file that needs no network
    Html,
}

/// `shard`.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ShardCommand {
    /// Write a manifest that divides a scan into shards
    ///
    /// It names everything to check, in shards of equal size.
    #[command(after_long_help = SHARDS_HELP)]
    Plan(PlanArgs),
    /// Check one shard of a manifest
    #[command(after_long_help = SHARDS_HELP)]
    Scan(ScanArgs),
    /// Report which shards of a manifest a store has
    #[command(after_long_help = SHARDS_HELP)]
    Status(StatusArgs),
    /// Complete a store that has every shard
    #[command(after_long_help = SHARDS_HELP)]
    Merge(MergeArgs),
}

/// `plan`.
#[derive(Debug, Args)]
pub(in crate::cli) struct PlanArgs {
    #[command(flatten)]
    pub(in crate::cli) inputs: InputArgs,
    /// How many shards to make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(sframe_store::MAX_SHARDS)))]
    pub(in crate::cli) shards: u32,
    /// The manifest to write; compressed if its name ends in .zst
    #[arg(short, long, value_name = "MANIFEST", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) output: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) what: WhatArgs,
    /// Number of threads; 0 for as many as the machine has
    #[arg(short = 'j', long, visible_alias = "jobs", value_name = "N", default_value_t = 0, value_parser = super::threads)]
    pub(in crate::cli) threads: usize,
}

/// Which shards of which scan.
#[derive(Debug, Args)]
pub(in crate::cli) struct ShardsArgs {
    /// The manifest that `plan` wrote
    #[arg(long, value_name = "MANIFEST", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) manifest: PathBuf,
    /// The folder of the results, or a bucket: s3://BUCKET/NAME
    #[arg(long, value_name = "DIR-or-URL", value_hint = ValueHint::DirPath)]
    pub(in crate::cli) store: PathBuf,
}

/// `scan`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ScanArgs {
    #[command(flatten)]
    pub(in crate::cli) shards: ShardsArgs,
    /// The number of the shard, from 0
    #[arg(long, value_name = "K")]
    pub(in crate::cli) shard: u32,
    /// End when the parent process ends
    #[arg(long)]
    pub(in crate::cli) die_with_parent: bool,
    /// The local copy of a bucket to work in
    #[arg(long, hide = true, value_name = "DIR")]
    pub(in crate::cli) copy: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) what: WhatArgs,
    /// Number of threads; 0 for as many as the machine has
    #[arg(short = 'j', long, visible_alias = "jobs", value_name = "N", default_value_t = 0, value_parser = super::threads)]
    pub(in crate::cli) threads: usize,
    #[command(flatten)]
    pub(in crate::cli) alone: AloneArgs,
}

/// `status`.
#[derive(Debug, Args)]
pub(in crate::cli) struct StatusArgs {
    #[command(flatten)]
    pub(in crate::cli) shards: ShardsArgs,
    /// The format of the status
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
}

/// `merge`.
#[derive(Debug, Args)]
pub(in crate::cli) struct MergeArgs {
    #[command(flatten)]
    pub(in crate::cli) shards: ShardsArgs,
}
