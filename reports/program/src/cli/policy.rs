//! The policy of a command.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use sframe_history::Root;
use sframe_input::pattern::{InvalidPattern, PatternRoom};
use sframe_input::{open_named, plain_error};
use sframe_policy::{Baseline, Policy, find_config, read_config, read_found_config};
use sframe_record::text::printable_path;

use super::args::policy::{PolicyArgs, SeverityArgs};

/// The policy that the options and the configuration define.
///
/// # Errors
/// Returns an error if the configuration or the baseline cannot be read.
pub(super) fn policy(args: &PolicyArgs) -> io::Result<Policy> {
    let mut policy = severities(&args.severities)?;
    if let Some(path) = &args.baseline {
        let config = config(&args.severities)?;
        let read = baseline(path)?;
        policy.set_baseline(read.relative_to(
            config.as_deref().map(folder),
            folder(path),
            &env::current_dir()?,
        ));
    }
    Ok(policy)
}

/// The path of the configuration that is read, if there is one.
fn config(args: &SeverityArgs) -> io::Result<Option<PathBuf>> {
    match &args.config {
        Some(config) => Ok(Some(config.clone())),
        None if args.no_config => Ok(None),
        None => find_config(&env::current_dir()?).map_err(io::Error::other),
    }
}

/// The files of a policy.
///
/// # Errors
/// Returns an error if it is unknown which configuration is read.
pub(super) fn policy_files(args: &PolicyArgs) -> io::Result<Vec<PathBuf>> {
    Ok(config(&args.severities)?.into_iter().chain(args.baseline.clone()).collect())
}

/// The folder of a file.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The folder that the paths in fingerprints are relative to: that of the configuration or, without one, that of the baseline or,
/// without one, the working folder.
///
/// # Errors
/// Returns an error if the working folder is unknown, or which configuration is read.
pub(super) fn root(args: &PolicyArgs, written: Option<&Path>) -> io::Result<Root> {
    let config = config(&args.severities)?;
    let file = config.as_deref().or(args.baseline.as_deref()).or(written);
    Ok(Root::of(file.map_or(Path::new("."), folder), &env::current_dir()?))
}

/// A baseline to be written to `file`.
///
/// # Errors
/// Returns an error if the working folder is unknown, or which configuration is read.
pub(super) fn new_baseline(args: &PolicyArgs, file: &Path) -> io::Result<Baseline> {
    let config = config(&args.severities)?;
    let root = config.as_deref().unwrap_or(file);
    Ok(Baseline::new(folder(file), folder(root), &env::current_dir()?))
}

/// The policy of the options and the configuration without a baseline.
///
/// # Errors
/// Returns an error if the configuration cannot be read.
pub(super) fn severities(args: &SeverityArgs) -> io::Result<Policy> {
    let mut policy = Policy::default();
    if let Some(config) = config(args)? {
        let read = if args.config.is_some() { read_config } else { read_found_config };
        policy = read(&config).map_err(io::Error::other)?;
        policy.set_root(Root::of(folder(&config), &env::current_dir()?));
    }
    if let Some(known) = args.known {
        policy.known(known.into());
    }
    let mut room = PatternRoom::default();
    for (option, pattern) in
        [("--allow", &args.allow), ("--warn", &args.warn), ("--deny", &args.deny)]
            .into_iter()
            .flat_map(|(option, patterns)| patterns.iter().map(move |pattern| (option, pattern)))
    {
        room.take(pattern.text()).map_err(|error| {
            let error = InvalidPattern::new(pattern.text(), error);
            io::Error::other(format!("{option}: {error}"))
        })?;
    }
    args.allow.iter().cloned().for_each(|pattern| policy.allow(pattern));
    args.warn.iter().cloned().for_each(|pattern| policy.warn(pattern));
    args.deny.iter().cloned().for_each(|pattern| policy.deny(pattern));
    Ok(policy)
}

fn baseline(path: &Path) -> io::Result<Baseline> {
    let failed =
        |why: &str| io::Error::other(format!("--baseline: {}: {why}", printable_path(path)));
    let file = open_named(path).map_err(|error| failed(&plain_error(&error)))?;
    Baseline::read(file).map_err(|error| failed(&error.to_string()))
}
