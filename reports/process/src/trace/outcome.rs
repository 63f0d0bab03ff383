//! The results of a trace.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};
use sframe_validator::unwind::Frame;

use crate::statement::Witness;

/// A verdict on the row of a witness at a PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The row recovers the caller.
    Right,
    /// The row does not recover the caller.
    Wrong(Mistake),
    /// There is no row.
    NoRow,
    /// The file has no section of the witness.
    NoSection,
    /// The row cannot be judged, with the reason.
    Undecided(String),
}

impl Verdict {
    /// What is wrong, if the row is.
    pub(super) const fn mistake(&self) -> Option<&Mistake> {
        match self {
            Verdict::Wrong(mistake) => Some(mistake),
            _ => None,
        }
    }
}

/// A row that does not recover the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) fields: Fields,
    /// What the witness says and what is true.
    pub(super) explanation: String,
    /// The return address that it recovers.
    pub(super) ra: Option<u64>,
    /// What the row says and what is true, if the truth is such a row.
    pub(super) frames: Option<Box<[Frame; 2]>>,
    /// The known defect that it is a case of.
    pub(super) known: Option<&'static str>,
}

/// What a row recovers wrongly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fields {
    /// The CFA, and with it the caller's SP.
    pub cfa: bool,
    /// The return address.
    pub ra: bool,
    /// The caller's FP.
    pub fp: bool,
    /// Whether there is a caller.
    pub outermost: bool,
}

/// The names of the fields.
impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Fields {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fields".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let all = Fields { cfa: true, ra: true, fp: true, outermost: true };
        let names: Vec<&str> = all.names().collect();
        schemars::json_schema!({"type": "array", "items": {"type": "string", "enum": names}})
    }
}

impl Fields {
    /// The names of the fields.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all =
            [(self.cfa, "CFA"), (self.ra, "RA"), (self.fp, "FP"), (self.outermost, "outermost")];
        all.into_iter().filter(|(wrong, _)| *wrong).map(|(_, name)| name)
    }
}

/// The results of tracing a program.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The number of instructions that were executed one by one, by all threads.
    pub steps: u64,
    /// The time that this has taken.
    pub elapsed: Duration,
    /// The number of processes.
    pub processes: u64,
    /// The number of threads of all processes.
    pub threads: u64,
    /// How the trace has ended.
    pub end: End,
    /// The files whose code was executed, in the order in which they were mapped.
    pub modules: Vec<ModuleTrace>,
    /// The number of steps in code that is in no file, or that the program can change: it is not checked.
    pub steps_elsewhere: u64,
    /// The number of threads and processes that ran without being traced, because they were made with `CLONE_UNTRACED`.
    pub untraced: u64,
}

/// How a trace has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program has ended with this status.
    Exited(i32),
    /// A signal with this number has ended the program.
    Killed(i32),
    /// The maximum number of steps was reached, so the program was ended.
    Steps,
    /// The time limit was reached, so the program was ended.
    Time,
    /// Ctrl-C has ended the program.
    Interrupted,
}

/// The results about the code of one file.
#[derive(Clone, Debug, Default)]
pub struct ModuleTrace {
    /// The path of the file, or `[vdso]`.
    pub name: Vec<u8>,
    /// The number of different PCs that were executed.
    pub pcs: u64,
    /// The results for each witness, in the order of [`Witness::ALL`].
    pub witnesses: Vec<WitnessTrace>,
}

/// The results about a witness in one file. The counts are numbers of PCs; those of all fields add up to the PCs that were
/// executed.
#[derive(Clone, Debug)]
pub struct WitnessTrace {
    /// The witness.
    pub witness: Witness,
    /// The file has a section of this witness.
    pub has_section: bool,
    /// The row recovers the caller.
    pub right: u64,
    /// The row does not recover the caller.
    pub wrong: u64,
    /// The number of wrong rows that are cases of known defects.
    pub known: u64,
    /// There is no row.
    pub no_row: u64,
    /// It is unknown whether the row recovers the caller.
    pub undecided: u64,
    /// The wrong rows by function, in the order in which they were found.
    pub functions: Vec<WrongFunction>,
    /// The reasons why rows were not judged, with their numbers of PCs.
    pub reasons: BTreeMap<String, Reason>,
}

/// The wrong rows of a function.
#[derive(Clone, Debug)]
pub struct WrongFunction {
    /// The name of the function, or its address in the file.
    pub function: String,
    /// What is wrong.
    pub fields: Fields,
    /// The known defect that all of these rows are cases of.
    pub known: Option<&'static str>,
    /// The number of PCs.
    pub pcs: u64,
    /// The first PC.
    pub example: Example,
}

/// A PC in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The address in the file.
    pub address: u64,
    /// The start of the function, according to a witness.
    pub function: Option<u64>,
    /// The offset from the symbol before it, with the symbol's name.
    pub symbol: Option<(String, u64)>,
    /// The instruction's bytes, and possibly bytes after it.
    pub code: Vec<u8>,
    /// What the witness says and what is true; empty for PCs that were not judged.
    pub explanation: String,
}

impl Example {
    /// The name of the function: its symbol. If there is none in the function, the function's address.
    #[must_use]
    pub fn function_name(&self) -> String {
        let size = self.function.map(|start| self.address.saturating_sub(start));
        match &self.symbol {
            Some((name, offset)) if size.is_none_or(|size| *offset <= size) => name.clone(),
            _ => format!("{:#x}", self.function.unwrap_or(self.address)),
        }
    }
}

/// The PCs that were not judged for one reason.
#[derive(Clone, Debug)]
pub struct Reason {
    /// Their number.
    pub pcs: u64,
    /// The first one.
    pub example: Example,
}

impl ModuleTrace {
    pub(super) fn new(name: Vec<u8>) -> ModuleTrace {
        let witnesses = Witness::ALL.into_iter().map(WitnessTrace::new).collect();
        ModuleTrace { name, pcs: 0, witnesses }
    }
}

impl WitnessTrace {
    const fn new(witness: Witness) -> WitnessTrace {
        WitnessTrace {
            witness,
            has_section: true,
            right: 0,
            wrong: 0,
            known: 0,
            no_row: 0,
            undecided: 0,
            functions: Vec::new(),
            reasons: BTreeMap::new(),
        }
    }

    /// Adds the verdict about a PC in a function.
    pub(super) fn add(&mut self, verdict: Verdict, example: impl FnOnce() -> Example) {
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::NoRow => self.no_row += 1,
            Verdict::NoSection => {
                self.has_section = false;
                self.no_row += 1;
            }
            Verdict::Undecided(reason) => {
                self.undecided += 1;
                let new = || Reason { pcs: 0, example: example() };
                self.reasons.entry(reason).or_insert_with(new).pcs += 1;
            }
            Verdict::Wrong(Mistake { fields, explanation, known, .. }) => {
                self.wrong += 1;
                self.known += u64::from(known.is_some());
                let example = Example { explanation, ..example() };
                let function = example.function_name();
                let same = |found: &&mut WrongFunction| {
                    found.function == function && found.fields == fields && found.known == known
                };
                match self.functions.iter_mut().find(same) {
                    Some(found) => found.pcs += 1,
                    None => {
                        let pcs = 1;
                        let new = WrongFunction { function, fields, known, pcs, example };
                        self.functions.push(new);
                    }
                }
            }
        }
    }
}

impl Trace {
    /// The number of rows that do not recover the caller.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.witnesses().map(|witness| witness.wrong).sum()
    }

    /// Whether something could not be judged.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.steps_elsewhere > 0 || self.witnesses().any(|witness| witness.undecided > 0)
    }

    fn witnesses(&self) -> impl Iterator<Item = &WitnessTrace> {
        self.modules.iter().flat_map(|module| &module.witnesses)
    }
}
