//! The policy of a command.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use sframe_input::plain_error;
use sframe_policy::{Baseline, Policy, find_config, read_config};

use super::args::policy::{PolicyArgs, SeverityArgs};

/// The maximum size in bytes of a baseline.
const MOST: u64 = 1 << 30;

/// The policy that the options and the configuration define.
///
/// # Errors
/// Returns an error if the configuration or the baseline cannot be read.
pub(super) fn policy(args: &PolicyArgs) -> io::Result<Policy> {
    let mut policy = severities(&args.severities)?;
    if let Some(path) = &args.baseline {
        policy.set_baseline(baseline(path)?);
    }
    Ok(policy)
}

/// The same without a baseline.
///
/// # Errors
/// Returns an error if the configuration cannot be read.
pub(super) fn severities(args: &SeverityArgs) -> io::Result<Policy> {
    let nearest = || env::current_dir().ok().and_then(|folder| find_config(&folder));
    let config = match &args.config {
        Some(config) => Some(config.clone()),
        None if args.no_config => None,
        None => nearest(),
    };
    let config = config.as_deref().map(read_config).transpose().map_err(io::Error::other)?;
    let mut policy = config.unwrap_or_default();
    if let Some(known) = args.known {
        policy.known(known.into());
    }
    args.allow.iter().cloned().for_each(|pattern| policy.allow(pattern));
    args.warn.iter().cloned().for_each(|pattern| policy.warn(pattern));
    args.deny.iter().cloned().for_each(|pattern| policy.deny(pattern));
    Ok(policy)
}

fn baseline(path: &Path) -> io::Result<Baseline> {
    let name = path.display();
    let failed = |why: &str| io::Error::other(format!("--baseline: {name}: {why}"));
    let file = fs::File::open(path).map_err(|error| failed(&plain_error(&error)))?;
    let mut text = String::new();
    let read = file.take(MOST).read_to_string(&mut text);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => failed("it is no baseline: it is not text"),
        _ => failed(&plain_error(&error)),
    })?;
    Baseline::read(&text).map_err(|why| failed(&why))
}
