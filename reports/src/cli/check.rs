//! `sframe-check PATH...`.

use std::io::{self, IsTerminal, Read, Write};
#[cfg(feature = "packages")]
use std::sync::Arc;

use sframe_validator::check::Options;

use super::args::{CheckArgs, Format, Oracle};
use super::{Exit, stdout, styled_stdout, terminal_width};
#[cfg(feature = "packages")]
use crate::input::DebugPackages;
use crate::input::{Input, Selection};
use crate::render::{JsonDocument, JsonLines, Renderer, Text, TextOptions, WithProgress};
use crate::report::Summary;
use crate::scan::{Against, CheckOptions, scan};

pub(super) fn run(args: &CheckArgs) -> io::Result<Exit> {
    if args.coverage && args.against == Some(Oracle::None) {
        let message = "--coverage tells what CFI describes: it cannot go with --against none";
        writeln!(io::stderr(), "sframe-check: {message}")?;
        return Ok(Exit::Failure);
    }
    let list = if args.paths.iter().any(|path| path == "-") { read_list()? } else { Vec::new() };
    let mut options = check_options(args);
    let unusable = debug_packages(args, &mut options);
    let inputs = unusable.into_iter().chain(Selection::new(&args.paths, &list));
    let mut renderer = renderer(args);
    renderer.begin()?;
    let mut sink = WithProgress::new(renderer.as_mut(), io::stderr().is_terminal());
    let summary = scan(inputs, &options, args.threads, &mut sink)?;
    sink.finish();
    renderer.end(&summary)?;
    Ok(exit(args, &summary))
}

fn check_options(args: &CheckArgs) -> CheckOptions {
    let mut validator = Options { pedantic: args.pedantic, ..Options::default() };
    if args.all {
        validator.keep = usize::MAX;
    }
    CheckOptions {
        validator,
        raw: args.raw.options(),
        only: args.only.clone(),
        ignore: args.ignore.clone(),
        against: match args.against {
            None => Against::CfiIfAny,
            Some(Oracle::Cfi) => Against::Cfi,
            Some(Oracle::None) => Against::None,
        },
        coverage: args.coverage,
        // As text they are shown on request only.
        named_examples: args.verbose || args.format != Format::Text,
        debug_dirs: args.debug_dir.clone(),
        #[cfg(feature = "packages")]
        debug_packages: None,
        hash: false,
        #[cfg(feature = "packages")]
        limits: args.unpack.limits(),
    }
}

/// Looks into the packages of debug files; those that are of no use are inputs that cannot be read.
#[cfg(feature = "packages")]
fn debug_packages(args: &CheckArgs, options: &mut CheckOptions) -> Vec<Input> {
    if args.unpack.debug_packages.is_empty() {
        return Vec::new();
    }
    let (packages, unusable) = DebugPackages::index(&args.unpack.debug_packages, options.limits);
    options.debug_packages = Some(Arc::new(packages));
    unusable
}

#[cfg(not(feature = "packages"))]
fn debug_packages(_: &CheckArgs, _: &mut CheckOptions) -> Vec<Input> {
    Vec::new()
}

fn renderer(args: &CheckArgs) -> Box<dyn Renderer> {
    match args.format {
        Format::Text => {
            let options = TextOptions {
                verbose: args.verbose,
                coverage: args.coverage,
                width: terminal_width(),
            };
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

fn exit(args: &CheckArgs, summary: &Summary) -> Exit {
    let found = args.fail_on.severity().is_some_and(|level| summary.worst() >= Some(level));
    if found {
        Exit::Findings
    } else if summary.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    }
}
