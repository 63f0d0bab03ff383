//! `sframe-check repo`.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::args::repo::RepoArgs;
use super::check::{debug_packages, debuginfod, ended, limit_memory, report, shown_options};
use super::gates::gated;
use super::outputs::{Outputs, Shown};
use super::policy::policy;
use super::{Exit, complain, interrupt, stdout};
use sframe_input::pattern::Wildcards;
use sframe_input::repository::{Entry, Repository, Wanted};
use sframe_input::{Input, Pattern};
use sframe_record::text::printable_path;
use sframe_scan::{CheckOptions, Sink, scan_repository};

pub(super) fn run(args: &RepoArgs) -> io::Result<Exit> {
    let opened = Repository::new(&args.repository).map_err(|error| error.to_string());
    let opened = opened.and_then(|opened| Ok((opened, wanted(args)?)));
    let (repository, wanted) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            writeln!(io::stderr(), "sframe-check: {why}")?;
            return Ok(Exit::Failure);
        }
    };
    if args.list {
        return list(args, repository.packages(wanted));
    }
    let policy = policy(&args.policy)?;
    let interrupted = interrupt::flag()?;
    let mut options = CheckOptions {
        stop: Some(interrupted.clone()),
        ..shown_options(&args.what, &policy, &args.gates, &args.output)?
    };
    options.debuginfod = args.what.debuginfod.then(debuginfod).transpose()?;
    limit_memory(&mut options, &args.resources);
    let unusable =
        debug_packages(&args.what, &mut options).into_iter().filter_map(|input| match input {
            Input::Unreadable(path, why) => Some(Entry::Unreadable(path, why)),
            Input::File(_) | Input::Image(_) | Input::Content(..) | Input::Special(..) => None,
        });
    let entries = unusable.chain(repository.packages(wanted));
    let scan = |entries: &mut dyn Iterator<Item = Entry>, sink: &mut dyn Sink| {
        scan_repository(entries, &options, &policy, args.resources.threads, sink)
    };
    let outputs = Outputs {
        output: &args.output,
        gates: &args.gates,
        policy: Some(&args.policy),
        shown: Shown { all: args.what.all, known: policy.denies_known(), findings: true },
        inputs: &[],
    };
    let summary = report(outputs, entries, Entry::held, scan)?;
    if summary.inputs == 0 && !interrupted.load(Ordering::Relaxed) {
        complain(&nothing(args, "nothing to check"))?;
    }
    Ok(ended(&interrupted, gated(&args.policy, &args.gates, &summary)))
}

/// Why a repository has nothing to check or to list.
fn nothing(args: &RepoArgs, what: &str) -> String {
    let options = [
        ("--name", !args.name.is_empty()),
        ("--section", !args.section.is_empty()),
        ("--min-size", args.min_size > 0),
        ("--max-size", args.max_size.is_some()),
        ("--architecture", !args.architecture.is_empty()),
        ("--suite", !args.suite.is_empty()),
        ("--component", !args.component.is_empty()),
    ];
    let used: Vec<&str> =
        options.into_iter().filter(|(_, used)| *used).map(|(option, _)| option).collect();
    let selected = match used.as_slice() {
        [] => String::new(),
        used => format!(" selected by {}", used.join(", ")),
    };
    let repository = printable_path(Path::new(&args.repository));
    format!("{what}: no index of {repository} lists a package{selected}")
}

/// Writes the path or URL of each package.
fn list(args: &RepoArgs, entries: impl Iterator<Item = Entry>) -> io::Result<Exit> {
    let (mut out, mut exit, mut listed_any) = (stdout(), Exit::Clean, false);
    for entry in entries {
        match entry {
            Entry::Package(listed) => {
                listed_any = true;
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
    if !listed_any && !matches!(exit, Exit::Incomplete) {
        complain(&nothing(args, "nothing to list"))?;
        exit = Exit::Incomplete;
    }
    Ok(exit)
}

fn wanted(args: &RepoArgs) -> Result<Wanted, String> {
    Ok(Wanted {
        names: patterns(&args.name).map_err(|why| format!("--name {why}"))?,
        sections: patterns(&args.section).map_err(|why| format!("--section {why}"))?,
        least: args.min_size,
        most: args.max_size.unwrap_or(u64::MAX),
        architectures: args.architecture.clone(),
        suites: args.suite.clone(),
        components: args.component.clone(),
    })
}

/// The patterns of an option; `None` if it is not given.
fn patterns(texts: &[String]) -> Result<Option<Vec<Pattern>>, String> {
    let patterns = Pattern::all(texts, Wildcards::Any).map_err(|error| error.to_string())?;
    Ok((!patterns.is_empty()).then_some(patterns))
}
