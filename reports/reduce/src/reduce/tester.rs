//! Makes files of inputs, and looks for the finding in them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use sframe_harness::limited::Finished;
use sframe_record::{Finding, Record};

use super::{Made, Task};
use crate::assembler::{NoObject, OBJECT, object};
use crate::error::ProgramError;
use crate::inputs::{Input, Inputs};
use crate::linker::{OUTPUT, output};
use crate::wanted::{Wanted, by_directives_alone};

/// The most files that are made.
const MOST_RUNS: u64 = 20_000;
/// The most bytes of objects that are kept for the next link.
const MOST_KEPT: usize = 64 << 20;

/// What a program has left in this file.
fn left(finished: &Finished, name: &str) -> Result<Vec<u8>, NoObject> {
    Ok(finished.folder().read(name).map_err(ProgramError::Output)?)
}

pub(super) struct Tester<'t> {
    pub(super) task: &'t Task<'t>,
    wanted: RefCell<Wanted>,
    runs: Cell<u64>,
    /// Whether inputs show it that were examined before.
    seen: RefCell<HashMap<String, bool>>,
    /// Why a program could not be run.
    failed: RefCell<Option<ProgramError>>,
    objects: RefCell<Objects>,
}

/// Objects of earlier links, because most links change one source.
#[derive(Default)]
struct Objects {
    made: HashMap<String, (Vec<u8>, String)>,
    size: usize,
}

impl<'t> Tester<'t> {
    pub(super) fn new(task: &'t Task<'t>) -> Tester<'t> {
        Tester {
            task,
            wanted: RefCell::new(task.wanted.clone()),
            runs: Cell::new(0),
            seen: RefCell::default(),
            failed: RefCell::default(),
            objects: RefCell::default(),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        (self.task.stop)() || self.used_up()
    }

    pub(super) fn used_up(&self) -> bool {
        self.runs.get() >= MOST_RUNS
    }

    pub(super) const fn runs(&self) -> u64 {
        self.runs.get()
    }

    /// Why a program could not be run.
    pub(super) fn failure(&self) -> Option<ProgramError> {
        self.failed.take()
    }

    pub(super) fn find(&self, record: &Record<'static>) -> Option<Finding<'static>> {
        self.wanted.borrow().find(record).cloned()
    }

    /// Whether a record shows the finding. If so, it must stay a case of the same defect from now on.
    pub(super) fn narrow(&self, record: &Record<'static>) -> bool {
        let Some(finding) = self.find(record) else { return false };
        let wanted = self.wanted.borrow().narrowed(&finding);
        self.wanted.replace(wanted);
        true
    }

    /// Makes a file, and says what is found in it.
    pub(super) fn examine(&self, inputs: &Inputs) -> Result<(Record<'static>, Made), NoObject> {
        self.runs.set(self.runs.get() + 1);
        match self.task.linker {
            None => self.assembled(inputs),
            Some(_) => self.linked(inputs),
        }
    }

    fn assembled(&self, inputs: &Inputs) -> Result<(Record<'static>, Made), NoObject> {
        let first = inputs.sources.first();
        let input = first.ok_or_else(|| NoObject::Refused("there is no source".to_owned()))?;
        let finished = self.assembler(input)?.assemble(&input.source.text(), input.source.abi)?;
        let path = object(&finished);
        let mut record = (self.task.check)(&path);
        by_directives_alone(&mut record);
        let bytes = left(&finished, OBJECT)?;
        let messages = String::from_utf8_lossy(&finished.ran.errors).into_owned();
        Ok((record, Made { bytes, messages: vec![messages], ..Made::default() }))
    }

    fn linked(&self, inputs: &Inputs) -> Result<(Record<'static>, Made), NoObject> {
        let linker = self.task.linker.ok_or(ProgramError::NoLinker)?;
        let mut made = Made::default();
        let mut objects = Vec::new();
        for input in &inputs.sources {
            let (bytes, messages) = self.object(input)?;
            objects.push(bytes);
            made.messages.push(messages);
        }
        let finished = linker.link(&inputs.options, &objects)?;
        let path = output(&finished);
        let mut record = (self.task.check)(&path);
        by_directives_alone(&mut record);
        made.bytes = left(&finished, OUTPUT)?;
        made.link_messages = String::from_utf8_lossy(&finished.ran.errors).into_owned();
        Ok((record, made))
    }

    fn assembler(&self, input: &Input) -> Result<&'t crate::assembler::Assembler, NoObject> {
        let found = self.task.assemblers.get(input.assembler);
        Ok(found.ok_or(ProgramError::NoAssembler)?)
    }

    /// The object of a source, and what the assembler printed.
    fn object(&self, input: &Input) -> Result<(Vec<u8>, String), NoObject> {
        let text = input.source.text();
        let key = format!("{}\n{text}", input.assembler);
        if let Some(made) = self.objects.borrow().made.get(&key) {
            return Ok(made.clone());
        }
        let finished = self.assembler(input)?.assemble(&text, input.source.abi)?;
        let bytes = left(&finished, OBJECT)?;
        let made = (bytes, String::from_utf8_lossy(&finished.ran.errors).into_owned());
        let mut objects = self.objects.borrow_mut();
        objects.size += made.0.len() + key.len();
        if objects.size > MOST_KEPT {
            *objects = Objects::default();
        }
        objects.made.insert(key, made.clone());
        Ok(made)
    }

    pub(super) fn shows(&self, inputs: &Inputs) -> bool {
        let key = inputs.key();
        if let Some(shows) = self.seen.borrow().get(&key) {
            return *shows;
        }
        if self.is_over() || self.failed.borrow().is_some() {
            return false;
        }
        let shows = match self.examine(inputs) {
            Ok((record, _)) => self.wanted.borrow().find(&record).is_some(),
            Err(NoObject::Refused(_)) => false,
            Err(NoObject::NotRun(error)) => {
                self.failed.replace(Some(error));
                false
            }
        };
        self.seen.borrow_mut().insert(key, shows);
        shows
    }
}
