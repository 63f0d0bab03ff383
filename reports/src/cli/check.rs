//! `sframe-check PATH...`.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
#[cfg(feature = "packages")]
use std::sync::Arc;

use sframe_validator::check::Options;

use super::args::{CheckArgs, Format, Level, Oracle, WhatArgs};
use super::{Exit, stdout, styled_stdout, terminal_width};
#[cfg(feature = "packages")]
use crate::input::DebugPackages;
use crate::input::{Input, Selection};
use crate::render::{JsonDocument, JsonLines, Renderer, Text, TextOptions, WithProgress};
use crate::report::Summary;
use crate::scan::{Against, CheckOptions, scan};

pub(super) fn run(args: &CheckArgs) -> io::Result<Exit> {
    if args.coverage && args.what.against == Some(Oracle::None) {
        let message = "--coverage tells what CFI describes: it cannot go with --against none";
        writeln!(io::stderr(), "sframe-check: {message}")?;
        return Ok(Exit::Failure);
    }
    let mut options = check_options(args);
    let unusable = debug_packages(&args.what, &mut options);
    let inputs = unusable.into_iter().chain(selection(&args.paths)?);
    let mut renderer = renderer(args.format, args.verbose, args.coverage);
    renderer.begin()?;
    let mut sink = WithProgress::new(renderer.as_mut(), io::stderr().is_terminal());
    let summary = scan(inputs, &options, args.threads, &mut sink)?;
    sink.finish();
    renderer.end(&summary)?;
    Ok(exit(args.fail_on, &summary))
}

fn check_options(args: &CheckArgs) -> CheckOptions {
    CheckOptions {
        raw: args.raw.options(),
        coverage: args.coverage,
        producers: args.format != Format::Text,
        // As text they are shown on request only.
        named_examples: args.verbose || args.format != Format::Text,
        ..what_options(&args.what)
    }
}

/// What to check, by itself.
pub(super) fn what_options(args: &WhatArgs) -> CheckOptions {
    let mut validator = Options { pedantic: args.pedantic, ..Options::default() };
    if args.all {
        validator.keep = usize::MAX;
    }
    CheckOptions {
        validator,
        raw: None,
        only: args.only.clone(),
        ignore: args.ignore.clone(),
        against: match args.against {
            None => Against::CfiIfAny,
            Some(Oracle::Cfi) => Against::Cfi,
            Some(Oracle::None) => Against::None,
        },
        coverage: false,
        named_examples: false,
        debug_dirs: args.debug_dir.clone(),
        #[cfg(feature = "packages")]
        debug_packages: None,
        hash: false,
        producers: false,
        #[cfg(feature = "packages")]
        limits: args.unpack.limits(),
    }
}

/// What the words of the command line name.
pub(super) fn selection(paths: &[OsString]) -> io::Result<Selection> {
    let list = if paths.iter().any(|path| path == "-") { read_list()? } else { Vec::new() };
    Ok(Selection::new(paths, &list))
}

/// Looks into the packages of debug files; those that are of no use are inputs that cannot be read.
#[cfg(feature = "packages")]
pub(super) fn debug_packages(args: &WhatArgs, options: &mut CheckOptions) -> Vec<Input> {
    if args.unpack.debug_packages.is_empty() {
        return Vec::new();
    }
    let (packages, unusable) = DebugPackages::index(&args.unpack.debug_packages, options.limits);
    options.debug_packages = Some(Arc::new(packages));
    unusable
}

#[cfg(not(feature = "packages"))]
pub(super) fn debug_packages(_: &WhatArgs, _: &mut CheckOptions) -> Vec<Input> {
    Vec::new()
}

/// A renderer to standard output.
pub(super) fn renderer(format: Format, verbose: bool, coverage: bool) -> Box<dyn Renderer> {
    match format {
        Format::Text => {
            let options = TextOptions { verbose, coverage, width: terminal_width() };
            Box::new(Text::new(styled_stdout(), options))
        }
        Format::Json => Box::new(JsonDocument::new(stdout())),
        Format::Ndjson => Box::new(JsonLines::new(stdout())),
    }
}

fn read_list() -> io::Result<Vec<u8>> {
    let mut list = Vec::new();
    io::stdin().lock().read_to_end(&mut list)?;
    Ok(list)
}

/// The exit status that a scan's findings have.
pub(super) fn exit(level: Level, summary: &Summary) -> Exit {
    let found = level.severity().is_some_and(|level| summary.worst() >= Some(level));
    if found {
        Exit::Findings
    } else if summary.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    }
}
