//! `sframe-check forecast`.

use std::io;
use std::sync::atomic::Ordering;

use super::args::forecast::ForecastArgs;
use super::args::policy::GateArgs;
use super::args::{Format, Level};
use super::check::{ended, limit_memory, report, selection};
use super::gates::exit;
use super::outputs::{Outputs, Shown};
use super::{Exit, complain, interrupt};
use sframe_input::Input;
use sframe_policy::Policy;
use sframe_record::catalogue;
use sframe_scan::{Against, CheckOptions, Sink, scan};

pub(super) fn run(args: &ForecastArgs) -> io::Result<Exit> {
    let interrupted = interrupt::flag()?;
    let is_text = args.output.formats().all(|format| format == Format::Text);
    let mut options = CheckOptions {
        stop: Some(interrupted.clone()),
        forecast: args.encoding.clone(),
        gc_sections: args.gc_sections,
        producers: !is_text,
        // The sections that files have already are not the question.
        ignore: catalogue::all().collect(),
        against: Against::None,
        limits: args.unpack.limits.limits(),
        ..CheckOptions::default()
    };
    limit_memory(&mut options, &args.resources);
    let shown = Shown { all: false, known: false, findings: false };
    let gates = GateArgs::default();
    let outputs = Outputs {
        output: &args.output,
        gates: &gates,
        policy: None,
        shown,
        inputs: &args.inputs.names(),
    };
    let scan = |inputs: &mut dyn Iterator<Item = Input>, sink: &mut dyn Sink| {
        scan(inputs, &options, &Policy::default(), args.resources.threads, sink)
    };
    let summary = report(outputs, selection(&args.inputs)?, Input::held, scan)?;
    if summary.forecasts().is_empty() && !interrupted.load(Ordering::Relaxed) {
        complain(
            &"nothing to forecast: there is no ELF file with code for a machine that SFrame is defined for",
        )?;
    }
    // Releases without SFrame for a machine have no prediction; others have one, unless CFI cannot be read.
    let is_unknown = summary.forecasts().iter().any(|(total, _)| {
        total.forecast.is_unknown()
            || total.forecast.sections.iter().all(|section| section.unknown > 0)
    });
    let exit = match exit(Level::Never, &summary) {
        Exit::Clean if is_unknown => Exit::Incomplete,
        exit => exit,
    };
    Ok(ended(&interrupted, exit))
}
