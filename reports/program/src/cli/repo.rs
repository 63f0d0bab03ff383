//! `sframe-check repo`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use clap::{Args, ValueHint};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::args::{Format, How, Level, OutputArgs, WhatArgs, threads};
use super::check::{debug_packages, ended, exit, limit_memory, shown_options, told};
use super::{Exit, interrupt, stdout};
use crate::scan::{CheckOptions, Sink, scan_repository};
use sframe_input::Input;
use sframe_input::repository::{Entry, Repository, Wanted};
use sframe_record::text::printable_path;

pub(super) const HELP: &str = "\
A repository is a folder or an address with Packages in it (a flat one, as dpkg-scanpackages makes
it), or with dists/SUITE/COMPONENT/binary-MACHINE/Packages, also compressed. Each package is read as
a stream, once, and has to have the size and SHA-256 that its index says. Signatures are not looked
at. http: and https: need a program that was built with the feature http.

Examples:
  The libraries of a local mirror:
      sframe-check repo --suite trixie --section '*libs' /srv/mirror/debian
  What a build has left:
      dpkg-scanpackages . > Packages && sframe-check repo .
  Keep the results of a mirror's packages for amd64:
      sframe-check repo --list --architecture amd64 /srv/mirror/debian | sframe-check --store night -
  One source's packages on a server:
      sframe-check repo --suite sid --component main --architecture amd64 --name 'libssl*' \\
          https://debian.example.org/debian";

/// `repo`.
#[derive(Debug, Args)]
pub(super) struct RepoArgs {
    /// A folder, or a file:, http: or https: URL
    #[arg(value_name = "PATH-or-URL", value_hint = ValueHint::DirPath)]
    repository: OsString,

    /// Only packages with such a name, as 'lib*'
    #[arg(long, value_name = "GLOB", help_heading = "Which packages")]
    name: Vec<String>,
    /// Only packages of such a section, as libs or '*/libs'
    #[arg(long, value_name = "GLOB", help_heading = "Which packages")]
    section: Vec<String>,
    /// Only packages of this size or more: in bytes, or with K, M or G behind (1024, 1024², 1024³)
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0", help_heading = "Which packages")]
    min_size: u64,
    /// Only packages of this size or less
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Which packages")]
    max_size: Option<u64>,
    /// Only packages for this machine, as amd64, or for all; several with commas
    #[arg(long, value_name = "MACHINE", value_delimiter = ',', help_heading = "Which packages")]
    architecture: Vec<String>,
    /// Only of this suite, as trixie; without this option all of a folder
    #[arg(long, value_delimiter = ',', help_heading = "Which packages")]
    suite: Vec<String>,
    /// Only of this component, as main
    #[arg(long, value_delimiter = ',', help_heading = "Which packages")]
    component: Vec<String>,

    #[command(flatten)]
    what: WhatArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// The least severity that makes the exit status 1
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, help_heading = "What to check")]
    fail_on: Level,

    /// Check nothing: write the packages' paths, ended by NUL characters, as a scan takes them from
    /// standard input
    #[arg(long, conflicts_with_all = ["format", "coverage", "verbose"], help_heading = "Output")]
    list: bool,
    /// How to write what is found
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = "Output")]
    format: Format,
    /// Tell which code SFrame and CFI describe, and why CFI alone describes some of it
    #[arg(long, help_heading = "Output")]
    coverage: bool,
    /// Name every file, also those that are sound or not checked
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,

    /// Number of threads; 0 for as many as the machine has
    #[arg(short = 'j', long, visible_alias = "jobs", value_name = "N", default_value_t = 0, value_parser = threads)]
    threads: usize,
}

pub(super) fn run(args: &RepoArgs) -> io::Result<Exit> {
    let opened = Repository::new(&args.repository).and_then(|opened| Ok((opened, wanted(args)?)));
    let (repository, wanted) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            writeln!(io::stderr(), "sframe-check: {why}")?;
            return Ok(Exit::Failure);
        }
    };
    if args.list {
        return list(repository.packages(wanted));
    }
    let interrupted = interrupt::flag()?;
    let mut options = CheckOptions {
        stop: Some(interrupted.clone()),
        coverage: args.coverage,
        ..shown_options(&args.what, args.format, args.verbose)
    };
    limit_memory(&mut options, args.output.memory_limit, args.threads);
    let unusable =
        debug_packages(&args.what, &mut options).into_iter().filter_map(|input| match input {
            Input::Unreadable(path, why) => Some(Entry::Unreadable(path, why)),
            Input::File(_) | Input::Image(_) | Input::Special(..) => None,
        });
    let entries = unusable.chain(repository.packages(wanted));
    let how = How {
        format: args.format,
        verbose: args.verbose,
        by_file: args.output.by_file,
        all: args.what.all,
        coverage: args.coverage,
        quiet: args.output.quiet,
    };
    let scan = |entries: &mut dyn Iterator<Item = Entry>, sink: &mut dyn Sink| {
        scan_repository(entries, &options, args.threads, sink)
    };
    let summary = told(&how, entries, Entry::held, scan)?;
    Ok(ended(&interrupted, exit(args.fail_on, &summary)))
}

/// Writes where the packages are.
fn list(entries: impl Iterator<Item = Entry>) -> io::Result<Exit> {
    let (mut out, mut exit) = (stdout(), Exit::Clean);
    for entry in entries {
        match entry {
            Entry::Package(listed) => {
                out.write_all(listed.address().as_os_str().as_bytes())?;
                out.write_all(b"\0")?;
            }
            Entry::Unreadable(path, why) => {
                exit = Exit::Incomplete;
                writeln!(io::stderr(), "sframe-check: {}: {why}", printable_path(&path))?;
            }
        }
    }
    out.flush()?;
    Ok(exit)
}

fn wanted(args: &RepoArgs) -> Result<Wanted, String> {
    Ok(Wanted {
        names: globs(&args.name)?,
        sections: globs(&args.section)?,
        least: args.min_size,
        most: args.max_size.unwrap_or(u64::MAX),
        architectures: args.architecture.clone(),
        suites: args.suite.clone(),
        components: args.component.clone(),
    })
}

fn globs(patterns: &[String]) -> Result<Option<GlobSet>, String> {
    let mut globs = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).build();
        globs.add(glob.map_err(|error| format!("{pattern} is no pattern: {}", error.kind()))?);
    }
    let globs = globs.build().map_err(|error| error.to_string())?;
    Ok((!globs.is_empty()).then_some(globs))
}

/// Bytes, or with `K`, `M` or `G` behind.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (text.get(..text.len() - 1), 10),
        Some(b'M' | b'm') => (text.get(..text.len() - 1), 20),
        Some(b'G' | b'g') => (text.get(..text.len() - 1), 30),
        _ => (Some(text), 0),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "write 4096, 500K, 10M or 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("3K"), Ok(3072));
        assert_eq!(size("2g"), Ok(2_147_483_648));
        for wrong in ["", "K", "-1", "1.5M", "99999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
