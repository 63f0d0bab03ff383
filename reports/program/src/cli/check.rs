//! `sframe-check PATH...`.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use sframe_validator::check::Options;
use sframe_validator::finding::Keep;

use super::args::consumers::Consumers;
use super::args::inputs::InputArgs;
use super::args::policy::GateArgs;
use super::args::{CheckArgs, Format, Oracle, OutputArgs, ResourceArgs, Rules, WhatArgs};
use super::gates::{failed, gated};
use super::output_file::OutputFile;
use super::outputs::{Outputs, Shown};
use super::policy::policy;
use super::{Exit, complain, interrupt};
use sframe_input::{
    DebugPackages, Debuginfod, Input, Selection, ahead, list, plain_error, read_named, read_up_to,
};
use sframe_policy::Policy;
use sframe_record::Summary;
use sframe_record::text::printable_path;
use sframe_render::report::{Display as Terminal, WithProgress};
use sframe_scan::{Against, CheckOptions, Sink, scan};

/// The findings of each rule and file that are listed, recognised as known defects, and grouped by root cause. Further ones are
/// counted.
const KEPT: Keep = Keep::First(100);

pub(super) fn run(args: &CheckArgs) -> io::Result<Exit> {
    if let Some(message) = contradiction(args) {
        complain(&message)?;
        return Ok(Exit::Failure);
    }
    let policy = policy(&args.policy)?;
    let interrupted = interrupt::flag()?;
    let mut options = CheckOptions {
        stop: Some(interrupted.clone()),
        raw: args.raw.options(),
        ..shown_options(&args.what, &policy, &args.gates, &args.output)?
    };
    limit_memory(&mut options, &args.resources);
    let unusable = debug_packages(&args.what, &mut options);
    options.debuginfod = args.what.debuginfod.then(debuginfod).transpose()?;
    let inputs = unusable.into_iter().chain(selection(&args.inputs)?);
    let outputs = Outputs {
        output: &args.output,
        gates: &args.gates,
        policy: Some(&args.policy),
        shown: Shown { all: args.what.all, known: policy.denies_known(), findings: true },
        inputs: &args.inputs.names(),
    };
    let scan = |inputs: &mut dyn Iterator<Item = Input>, sink: &mut dyn Sink| {
        scan(inputs, &options, &policy, args.resources.threads, sink)
    };
    let summary = report(outputs, inputs, Input::held, scan)?;
    if summary.inputs == 0 && !interrupted.load(Ordering::Relaxed) {
        complain(&"nothing to check: no files were found")?;
    }
    Ok(ended(&interrupted, gated(&args.policy, &args.gates, &summary)))
}

/// Scans `inputs`, each of which takes `size` bytes of memory, and writes their records.
pub(super) fn report<T: Send + 'static>(
    outputs: Outputs<'_>,
    mut inputs: impl Iterator<Item = T> + Send + 'static,
    size: fn(&T) -> usize,
    scan: impl FnOnce(&mut dyn Iterator<Item = T>, &mut dyn Sink) -> io::Result<Summary<'static>>,
) -> io::Result<Summary<'static>> {
    let shown = !outputs.output.quiet && io::stderr().is_terminal();
    let display = shown.then(Terminal::default);
    let (mut renderer, files) = outputs.renderer(display.as_ref())?;
    let summary = match display {
        None => scan(&mut inputs, &mut WithProgress::new(renderer.as_mut()))?,
        Some(display) => {
            let (mut inputs, tally) = ahead(inputs, size)?;
            let mut sink = WithProgress::new(renderer.as_mut()).on(display, tally);
            let summary = scan(&mut inputs, &mut sink)?;
            sink.finish();
            summary
        }
    };
    let summary = Summary { failed_gates: failed(outputs.gates, &summary), ..summary };
    renderer.finish(&summary)?;
    files.into_iter().try_for_each(OutputFile::finish)?;
    // The text says it with its totals.
    if outputs.output.quiet || outputs.output.format != Format::Text {
        summary.failed_gates.iter().try_for_each(|gate| complain(&gate.message))?;
    }
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
    options.limits.held = rest / sframe_scan::number_of_threads(resources.threads) as u64;
}

/// The options of a scan with this policy and output.
///
/// # Errors
/// Returns an error if standard error is closed.
pub(super) fn shown_options(
    what: &WhatArgs,
    policy: &Policy,
    gates: &GateArgs,
    output: &OutputArgs,
) -> io::Result<CheckOptions> {
    let others = what.consumers.iter().flat_map(Consumers::answered_by);
    others.into_iter().try_for_each(|message| complain(&message))?;
    let mut options = what_options(what);
    // The first findings of each rule do not show which of the others the policy is about.
    if gates.write_baseline.is_some() || policy.needs_each_finding() {
        options.validator.keep = Keep::All;
    }
    let OutputArgs { coverage, verbose, .. } = *output;
    let is_text = output.formats().all(|format| format == Format::Text);
    // Text shows producers and examples only on request.
    Ok(CheckOptions {
        coverage,
        producers: !is_text,
        named_examples: verbose || !is_text,
        require_section: gates.require_section,
        why: what.why || output.formats().any(|format| format == Format::Html),
        ..options
    })
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
    let keep = if args.all { Keep::All } else { KEPT };
    CheckOptions {
        validator: Options { pedantic: args.pedantic, keep, ..Options::default() },
        only: Rules::of(&args.only),
        ignore: Rules::of(&args.ignore),
        against: match args.against {
            None => Against::Any,
            Some(Oracle::Cfi) => Against::Cfi,
            Some(Oracle::Orc) => Against::Orc,
            Some(Oracle::Code) => Against::Code,
            Some(Oracle::None) => Against::None,
        },
        thorough: args.thorough,
        why: args.why,
        no_red_zone: args.no_red_zone,
        call_sites: args.call_sites,
        forecast: args.forecast.clone(),
        consumers: args.consumers.clone().unwrap_or_default().all,
        debug_dirs: args.debug_dir.clone(),
        limits: args.unpack.limits.limits(),
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

/// What asks servers for debug files.
///
/// # Errors
/// Returns an error if the environment names no servers, or if this program cannot ask any.
pub(super) fn debuginfod() -> io::Result<Arc<Debuginfod>> {
    Debuginfod::from_environment().map(Arc::new).map_err(io::Error::other)
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
        ("standard input".to_owned(), read_up_to(io::stdin().lock(), list::LARGEST))
    } else {
        (printable_path(name), read_named(name, list::LARGEST))
    };
    let failed = |why: &dyn Display| io::Error::other(format!("--files-from: {name}: {why}"));
    let bytes = read.map_err(|error| failed(&plain_error(&error)))?;
    list::paths(&bytes).map_err(|why| failed(&why))
}
