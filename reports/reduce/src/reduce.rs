//! The smallest source, or the smallest inputs of a link, that still show a finding.

mod minimize;
mod starts;
mod tester;

use std::collections::BTreeMap;
use std::path::Path;

use sframe_record::{Finding, Record};
use sframe_validator::elf::Elf;

use crate::assembler::{Assembler, NoObject};
use crate::error::ReduceError;
use crate::inputs::Inputs;
use crate::linker::Linker;
use crate::wanted::Wanted;
use minimize::minimize;
use starts::starts;
use tester::Tester;

/// Says what is found in a file: all findings, with the known defects that they are cases of.
pub type Check<'c> = dyn Fn(&Path) -> Record<'static> + 'c;

/// What is needed to reduce a finding.
pub struct Task<'t> {
    /// The file.
    pub elf: &'t Elf<'t>,
    /// A finding of the file.
    pub finding: &'t Finding<'t>,
    /// What has to be the same about a finding of the object.
    pub wanted: Wanted,
    /// The assemblers that have to show it: one, or several for the inputs of a link.
    pub assemblers: &'t [Assembler],
    /// The linker that has to show it; `None` if an object shows it.
    pub linker: Option<&'t Linker>,
    /// Checks an object.
    pub check: &'t Check<'t>,
    /// Whether to try other spellings of the directives even if it is not known what defect the finding is a case of.
    pub respell: bool,
    /// Whether to stop early.
    pub stop: &'t dyn Fn() -> bool,
}

/// The result.
#[derive(Debug)]
pub enum Outcome {
    /// The smallest source.
    Reduced(Box<Reduced>),
    /// Neither the assembler nor the linker shows the finding.
    NotShown(Nearest),
    /// It was stopped early.
    Stopped,
}

/// Inputs with the finding.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The source or sources.
    pub inputs: Inputs,
    /// The file made from them.
    pub made: Made,
    /// What is found in it.
    pub record: Record<'static>,
    /// The finding.
    pub finding: Finding<'static>,
    /// The number of directives before.
    pub directives_before: usize,
    /// The number of files that were made and checked.
    pub runs: u64,
    /// Every directive and piece of code was tried, and is needed.
    pub is_smallest: bool,
}

/// A file that was made, and what the programs printed.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The object, or the output of the link.
    pub bytes: Vec<u8>,
    /// What the assembler prints, for each source.
    pub messages: Vec<String>,
    /// What the linker prints.
    pub link_messages: String,
}

/// What is shown instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest {
    /// The message of an assembler or a linker that made no file.
    pub refused: Option<String>,
    /// The findings of the file, each by its rule and known defect, and their numbers.
    pub findings: BTreeMap<(String, Option<String>), u64>,
}

/// Reduces a finding.
///
/// # Errors
/// Returns an error if the file's functions cannot be read, or a program cannot be run.
pub fn reduce(task: &Task<'_>) -> Result<Outcome, ReduceError> {
    let tester = Tester::new(task);
    let mut nearest = Nearest::default();
    for (number, inputs) in starts(task).enumerate() {
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(error) if number == 0 => return Err(error.into()),
            // More functions are too many.
            Err(_) => continue,
        };
        if tester.is_over() {
            break;
        }
        match tester.examine(&inputs) {
            Ok((record, _)) => {
                if tester.narrow(&record) {
                    return minimize(&tester, inputs);
                }
                if number == 0 {
                    nearest = Nearest::of(&record);
                }
            }
            Err(NoObject::NotRun(error)) => return Err(error.into()),
            Err(NoObject::Refused(why)) if number == 0 => nearest.refused = Some(why),
            Err(NoObject::Refused(_)) => {}
        }
    }
    if (task.stop)() {
        return Ok(Outcome::Stopped);
    }
    Ok(Outcome::NotShown(nearest))
}

impl Nearest {
    fn of(record: &Record<'static>) -> Nearest {
        let mut nearest = Nearest::default();
        for finding in &record.findings {
            let known = finding.known.as_ref().map(|known| known.as_str().to_owned());
            *nearest.findings.entry((finding.rule.as_str().to_owned(), known)).or_default() += 1;
        }
        nearest
    }
}
