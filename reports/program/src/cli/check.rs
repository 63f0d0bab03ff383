//! `sframe-check PATH...`.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use sframe_validator::check::Options;
use sframe_validator::finding::Keep;

use super::args::inputs::InputArgs;
use super::args::{CheckArgs, Format, Level, Oracle, OutputArgs, ResourceArgs, WhatArgs};
use super::{Exit, complain, interrupt, stdout, styled_stdout, terminal_width};
use crate::render::{
    Display as Terminal, Grouped, JsonDocument, JsonLines, Renderer, Text, TextOptions,
    WithProgress,
};
use crate::scan::{Against, CheckOptions, Sink, scan};
use sframe_input::{DebugPackages, Input, Selection, ahead, list, plain_error};
use sframe_record::{Severity, Summary};

/// The findings of each rule and file that are grouped by root cause. Further ones are counted.
pub(super) const KEPT: Keep = Keep::First(100);

pub(super) fn run(args: &CheckArgs) -> io::Result<Exit> {
    if let Some(message) = contradiction(args) {
        complain(&message)?;
        return Ok(Exit::Failure);
    }
    let interrupted = interrupt::flag()?;
    let mut options = CheckOptions { stop: Some(interrupted.clone()), ..check_options(args) };
    limit_memory(&mut options, &args.resources);
    let unusable = debug_packages(&args.what, &mut options);
    let inputs = unusable.into_iter().chain(selection(&args.inputs)?);
    let scan = |inputs: &mut dyn Iterator<Item = Input>, sink: &mut dyn Sink| {
        scan(inputs, &options, args.resources.threads, sink)
    };
    let summary = report(&args.output, args.what.all, inputs, Input::held, scan)?;
    if summary.inputs == 0 && !interrupted.load(Ordering::Relaxed) {
        complain(&"nothing to check: no files were found")?;
    }
    Ok(ended(&interrupted, exit(args.fail_on, &summary)))
}

/// Scans `inputs`, each of which takes `size` bytes of memory, and writes their records with `all` findings or the
/// first few.
pub(super) fn report<T: Send + 'static>(
    output: &OutputArgs,
    all: bool,
    mut inputs: impl Iterator<Item = T> + Send + 'static,
    size: fn(&T) -> usize,
    scan: impl FnOnce(&mut dyn Iterator<Item = T>, &mut dyn Sink) -> io::Result<Summary<'static>>,
) -> io::Result<Summary<'static>> {
    let shown = !output.quiet && io::stderr().is_terminal();
    let display = shown.then(Terminal::default);
    let mut renderer = renderer(output, all, display.as_ref());
    renderer.begin()?;
    let summary = match display {
        None => scan(&mut inputs, &mut WithProgress::new(renderer.as_mut(), false))?,
        Some(display) => {
            let (mut inputs, tally) = ahead(inputs, size)?;
            let mut sink = WithProgress::new(renderer.as_mut(), true).on(display, tally);
            let summary = scan(&mut inputs, &mut sink)?;
            sink.finish();
            summary
        }
    };
    renderer.end(&summary)?;
    Ok(summary)
}

/// The exit status of a scan that may have been interrupted.
pub(super) fn ended(interrupted: &AtomicBool, exit: Exit) -> Exit {
    if !interrupted.load(Ordering::Relaxed) {
        return exit;
    }
    // Writing fails if the terminal is closed.
    let _ = writeln!(io::stderr(), "sframe-check: interrupted: the rest was not checked");
    Exit::Interrupted
}

/// Divides the memory limit: at most a quarter is for records that wait, and an eighth for records of known files.
/// The threads share the rest for members of packages.
pub(super) fn limit_memory(options: &mut CheckOptions, resources: &ResourceArgs) {
    let Some(limit) = resources.memory_limit else { return };
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    options.waiting = options.waiting.min(size(limit / 4));
    options.remembered = options.remembered.min(size(limit / 8));
    let rest = limit.saturating_sub((options.waiting + options.remembered) as u64);
    options.limits.held = rest / crate::scan::number_of_threads(resources.threads) as u64;
}

fn check_options(args: &CheckArgs) -> CheckOptions {
    CheckOptions { raw: args.raw.options(), ..shown_options(&args.what, &args.output) }
}

/// The options of a scan with this output.
pub(super) fn shown_options(what: &WhatArgs, output: &OutputArgs) -> CheckOptions {
    let OutputArgs { format, coverage, verbose, .. } = *output;
    let is_text = format == Format::Text;
    let mut options = what_options(what);
    if is_text {
        options.validator.keep = options.validator.keep.max(KEPT);
    }
    // Text shows them only on request.
    CheckOptions { coverage, producers: !is_text, named_examples: verbose || !is_text, ..options }
}

/// Why an option cannot go with `--against`: it needs what that leaves out.
fn contradiction(args: &CheckArgs) -> Option<String> {
    let without = args.what.against.filter(|with| matches!(with, Oracle::Code | Oracle::None))?;
    let name = without.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
    let (option, does) = match (args.output.coverage, args.what.thorough) {
        (true, _) => ("--coverage", "reports what CFI or ORC describes"),
        (false, true) => ("--thorough", "compares CFI or ORC with the code"),
        (false, false) => return None,
    };
    Some(format!("{option} {does}, so it cannot go with --against {name}"))
}

/// The options of a scan, regardless of its output.
pub(super) fn what_options(args: &WhatArgs) -> CheckOptions {
    CheckOptions {
        validator: Options { pedantic: args.pedantic, ..Options::default() },
        all: args.all,
        only: args.only.clone(),
        ignore: args.ignore.clone(),
        against: match args.against {
            None => Against::Any,
            Some(Oracle::Cfi) => Against::Cfi,
            Some(Oracle::Orc) => Against::Orc,
            Some(Oracle::Code) => Against::Code,
            Some(Oracle::None) => Against::None,
        },
        thorough: args.thorough,
        call_sites: args.call_sites,
        debug_dirs: args.debug_dir.clone(),
        limits: args.unpack.limits(),
        ..CheckOptions::default()
    }
}

/// The inputs that the command line names.
///
/// # Errors
/// Returns an error if the list of paths cannot be read, or is no such list.
pub(super) fn selection(inputs: &InputArgs) -> io::Result<Selection> {
    if inputs.has_content() && inputs.files_from.as_deref() == Some(Path::new("-")) {
        return Err(io::Error::other("standard input is a list or a file to be checked, not both"));
    }
    let list = inputs.files_from.as_deref().map(read_list).transpose()?.unwrap_or_default();
    let selection = Selection::new(&inputs.paths, list);
    Ok(if inputs.follow_links { selection.following_links() } else { selection })
}

/// Reads the packages of debug files. Returns the unusable ones as unreadable inputs.
pub(super) fn debug_packages(args: &WhatArgs, options: &mut CheckOptions) -> Vec<Input> {
    if args.unpack.debug_packages.is_empty() {
        return Vec::new();
    }
    let (packages, unusable) = DebugPackages::index(&args.unpack.debug_packages, options.limits);
    options.debug_packages = Some(Arc::new(packages));
    unusable
}

/// A renderer to standard output, which may be the terminal that shows `display`.
pub(super) fn renderer(
    output: &OutputArgs,
    all: bool,
    display: Option<&Terminal>,
) -> Box<dyn Renderer> {
    let OutputArgs { format, verbose, by_file, coverage, quiet } = *output;
    let out: Box<dyn Write> = match format {
        Format::Text => Box::new(styled_stdout()),
        Format::Json | Format::Ndjson => Box::new(stdout()),
    };
    let out = match display.filter(|_| io::stdout().is_terminal()) {
        Some(display) => Box::new(display.above(out)),
        None => out,
    };
    let out = BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::Text => {
            let width = terminal_width();
            let options = TextOptions { verbose, all, coverage, summary: !quiet, width };
            match by_file || verbose || all {
                true => Box::new(Text::new(out, options)),
                false => Box::new(Grouped::new(out, options)),
            }
        }
        Format::Json => Box::new(JsonDocument::new(out)),
        Format::Ndjson => Box::new(JsonLines::new(out)),
    }
}

/// Like [`selection`], for a scan that reads its inputs again later.
pub(super) fn lasting_selection(inputs: &InputArgs) -> io::Result<Selection> {
    if inputs.has_content() {
        let message = "standard input cannot be read again later: save it in a file (--files-from - \
                       reads a list of paths)";
        return Err(io::Error::other(message));
    }
    selection(inputs)
}

/// The paths in a list.
fn read_list(name: &Path) -> io::Result<Vec<OsString>> {
    let (name, read) = if name == Path::new("-") {
        let mut bytes = Vec::new();
        ("standard input".to_owned(), io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (name.display().to_string(), fs::read(name))
    };
    let failed = |why: &dyn Display| io::Error::other(format!("--files-from: {name}: {why}"));
    let bytes = read.map_err(|error| failed(&plain_error(&error)))?;
    list::paths(&bytes).map_err(|why| failed(&why))
}

/// The exit status for the findings of a scan.
pub(super) fn exit(level: Level, summary: &Summary<'_>) -> Exit {
    let least = level.severity().map(Severity::from);
    let found = summary.worst().zip(least).is_some_and(|(worst, least)| worst <= least);
    if found {
        Exit::Findings
    } else if summary.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    }
}
