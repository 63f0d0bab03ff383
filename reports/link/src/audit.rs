//! The audit of one link.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::arguments::Arguments;
use crate::driver::{self, DriverError, Ends};
use crate::input::{Input, InputKind};
use crate::linker::{Identity, Linker};
use crate::load::{self, Loaded};
use crate::model::{Link, Outcome, Prediction};
use crate::obstacle::Obstacle;
use crate::options::{Moved, Options, Output};
use crate::remedy::{self, Remedy};
use crate::script::{self, Placement};
use crate::uncovered::Coverage;

const EXPERIMENTAL: &str = "with --wild-experimental-sframe, wild 0.10 merges version 2 and appends others, and may change \
                            that at any time: nothing is predicted";
/// What makes the linker's own inputs, and how to audit them.
const BITCODE: &str = "its code is made during the link, from bitcode: link once with -save-temps, and audit the objects \
                       that this leaves, or audit the link without -flto";

/// Observed with GNU ld 2.47.50, lld 23 and mold 3.0.
const UNALIGNED: &str =
    "is not aligned to instructions, and the link fails if code calls a function at an odd address";

/// What a link will make of SFrame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audit {
    /// The linker.
    pub linker: Identity,
    /// Its options.
    pub options: Options,
    /// The inputs that take part, in the order in which the linker reads them.
    pub inputs: Vec<Input>,
    /// Inputs with which the link fails, whatever SFrame the others have.
    #[serde(default)]
    pub obstacles: Vec<Obstacle>,
    /// What the linker will do.
    pub prediction: Prediction,
    /// Which code will have SFrame, and which will not.
    pub coverage: Coverage,
    /// What to do.
    pub remedies: Vec<Remedy>,
    /// What could not be determined. If there is anything, the prediction may be wrong.
    pub undecided: Vec<String>,
}

/// Whether there is something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The linker treats SFrame well, or there is none.
    Clean,
    /// SFrame is lost or wrong, or the link fails.
    Problem,
    /// Nothing bad is predicted, but something could not be determined.
    Undecided,
}

impl Status {
    /// The exit status that every command has for it.
    #[must_use]
    pub const fn exit(self) -> u8 {
        match self {
            Status::Clean => 0,
            Status::Problem => 1,
            Status::Undecided => 2,
        }
    }
}

impl Audit {
    /// Audits a link by `linker` with these arguments: paths of inputs, and options such as `-l`, `-L` and
    /// `--start-group`.
    #[must_use]
    pub fn of_inputs(linker: Linker, arguments: &[OsString]) -> Audit {
        Audit::of_arguments(Identity::named(linker), arguments, None, HashMap::new())
    }

    /// Audits the link that a compiler driver (`cc ... -o prog`) would do. The driver prints its commands (`-###`); those
    /// that compile run, and write into a temporary folder alone. Nothing is linked.
    ///
    /// # Errors
    /// Returns an error if the driver cannot be run, does not link, fails to compile, does not end in time, or would write files
    /// whose place cannot be chosen.
    pub fn of_command(command: &[OsString], ends: Ends<'_>) -> Result<Audit, DriverError> {
        let planned = driver::plan(command, ends)?;
        let driver::Planned { linker, arguments, folders, names, .. } = &planned;
        Ok(Audit::of_arguments(linker.clone(), arguments, folders.as_deref(), names.clone()))
    }

    fn of_arguments(
        linker: Identity,
        arguments: &[OsString],
        folders: Option<&[PathBuf]>,
        names: HashMap<PathBuf, String>,
    ) -> Audit {
        let mut arguments = Arguments::parse(arguments);
        let unknown = arguments.discard_sframe.as_deref();
        let unknown = unknown.and_then(|option| Obstacle::unknown_option(linker.linker, option));
        let mut obstacles: Vec<Obstacle> = unknown.into_iter().collect();
        let (of_scripts, mut faults) = read_scripts(linker.linker, &mut arguments);
        obstacles.extend(of_scripts);
        let loaded = load::load(linker.linker, &arguments, folders, names);
        let Loaded { inputs, obstacles: of_inputs, faults: more, calls_stubs, keeps_described } =
            loaded;
        obstacles.extend(of_inputs);
        let options = Options { calls_stubs, keeps_described, ..arguments.options };
        faults.extend(more);
        faults.extend(doubts(&linker, &inputs, &options));
        if linker.linker == Linker::Wild && options.wild_experimental {
            faults.push(EXPERIMENTAL.to_owned());
        }
        let link = Link { linker: linker.linker, options: &options, inputs: &inputs };
        let prediction = match obstacles.as_slice() {
            [] => link.predict(),
            obstacles => link.stopped(obstacles),
        };
        let mut coverage = Coverage::of(&inputs, &prediction);
        coverage.stubs = options.calls_stubs && !prediction.stubs_described && coverage.code > 0;
        let remedies = match obstacles.as_slice() {
            [] => remedy::remedies(&link, &prediction),
            obstacles => remedy::of_obstacles(obstacles),
        };
        Audit {
            linker,
            options,
            inputs,
            obstacles,
            prediction,
            coverage,
            remedies,
            undecided: faults,
        }
    }

    /// Whether there is something to do.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.prediction.outcome {
            Outcome::Unknown => Status::Undecided,
            _ if !self.prediction.notes.is_empty() => Status::Problem,
            Outcome::Merged | Outcome::NoSframe if self.undecided.is_empty() => Status::Clean,
            Outcome::Merged | Outcome::NoSframe => Status::Undecided,
            Outcome::Dropped if self.options.discard_sframe || self.options.script_discards => {
                Status::Clean
            }
            Outcome::Copied if self.coverage.is_described() => Status::Clean,
            _ => Status::Problem,
        }
    }
}

/// Reads the linker scripts of the command line, which may discard SFrame or put it elsewhere. Missing ones are obstacles.
fn read_scripts(linker: Linker, arguments: &mut Arguments) -> (Vec<Obstacle>, Vec<String>) {
    let (mut obstacles, mut faults) = (Vec::new(), Vec::new());
    for path in &arguments.scripts {
        let places = arguments.folders.iter().map(|folder| folder.join(path));
        let place = [path.clone()].into_iter().chain(places).find(|place| place.exists());
        let Some(place) = place else { continue };
        let bytes = sframe_input::FileBytes::open(&place);
        let text = bytes.as_ref().ok().filter(|bytes| script::is_script(bytes));
        let name = sframe_record::text::printable_path(&place);
        let Some(text) = text.and_then(|bytes| str::from_utf8(bytes).ok()) else {
            faults.push(format!("the linker script {name} cannot be read"));
            continue;
        };
        if linker == Linker::Mold {
            let unknown = script::unknown_to_mold(text);
            obstacles.extend(unknown.map(|word| Obstacle::unknown_command(&name, &word)));
        }
        let options = &mut arguments.options;
        match script::placement(text) {
            None if script::is_added(text) => {}
            None | Some(Placement::Orphan) => options.script_orphans = true,
            Some(Placement::Named) => options.script_names = true,
            Some(Placement::Discarded) => options.script_discards = true,
            Some(Placement::Moved { output, alone }) => {
                options.script_moves = Some(Moved { output, alone });
            }
            Some(Placement::Undecided(reason)) => {
                faults.push(format!("what the linker script {name} does with .sframe: {reason}"));
            }
        }
    }
    (obstacles, faults)
}

fn doubts(linker: &Identity, inputs: &[Input], options: &Options) -> Vec<String> {
    let mut doubts: Vec<String> = linker.doubt.iter().cloned().collect();
    for input in inputs {
        doubts.extend(input.faults.iter().map(|fault| format!("{}: {fault}", input.name)));
        if let Some(section) = &input.unaligned
            && options.output != Output::Relocatable
        {
            doubts.push(format!("{}: {section} {UNALIGNED}", input.name));
        }
        if input.kind == InputKind::Bitcode {
            doubts.push(format!("{}: {BITCODE}", input.name));
        }
        for fault in input.sframe.iter().filter_map(|section| section.fault.as_ref()) {
            doubts.push(format!("{}: .sframe: {fault}", input.name));
        }
    }
    doubts
}
