//! The smallest source that still shows a finding.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use sframe_record::{Finding, Record};
use sframe_validator::elf::Elf;

use crate::assembler::{Assembler, NoObject, object};
use crate::read::{Place, Which, read};
use crate::shrink::Shrink;
use crate::simpler::{spelled, variants};
use crate::source::{Code, Function, Part, Source};
use crate::spelling::spellings;
use crate::wanted::{Wanted, by_directives_alone};

/// The most runs of the assembler.
const MOST_RUNS: u64 = 20_000;
/// The numbers of functions before and after that of the finding that are tried with it.
const NEIGHBOURS: [usize; 2] = [16, 1024];
/// The most times that all parts are tried again.
const ROUNDS: usize = 8;

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
    /// The assembler that has to show it.
    pub assembler: &'t Assembler,
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
    /// The assembler does not show the finding.
    NotShown(Nearest),
    /// It was stopped early.
    Stopped,
}

/// A source with the finding.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The source.
    pub source: Source,
    /// The object made from it.
    pub object: Vec<u8>,
    /// What the assembler prints.
    pub messages: String,
    /// What is found in the object.
    pub record: Record<'static>,
    /// The finding.
    pub finding: Finding<'static>,
    /// The number of directives before.
    pub directives_before: usize,
    /// The number of objects that were assembled and checked.
    pub runs: u64,
    /// Every directive and piece of code was tried, and is needed.
    pub is_smallest: bool,
}

/// What the assembler shows instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest {
    /// The message of an assembler that made no object.
    pub refused: Option<String>,
    /// The findings of the object, each by its rule and known defect, and their numbers.
    pub findings: BTreeMap<(String, Option<String>), u64>,
}

/// Reduces a finding.
///
/// # Errors
/// Returns the reason if the file's functions cannot be read, or the assembler cannot be run.
pub fn reduce(task: &Task<'_>) -> Result<Outcome, String> {
    let tester = Tester {
        task,
        wanted: RefCell::new(task.wanted.clone()),
        runs: Cell::new(0),
        seen: RefCell::default(),
        failed: RefCell::default(),
    };
    let mut nearest = Nearest::default();
    for (number, source) in starts(task).enumerate() {
        let source = match source {
            Ok(source) => source,
            Err(why) if number == 0 => return Err(why),
            // More functions are too many.
            Err(_) => continue,
        };
        if task_is_over(&tester) {
            break;
        }
        match tester.examine(&source) {
            Ok(record) => {
                let found = tester.wanted.borrow().find(&record).cloned();
                if let Some(finding) = found {
                    // From now on, it must stay a case of the same defect.
                    let wanted = tester.wanted.borrow().narrowed(&finding);
                    tester.wanted.replace(wanted);
                    return minimize(&tester, source);
                }
                if number == 0 {
                    nearest = Nearest::of(&record);
                }
            }
            Err(NoObject::NotRun(why)) => return Err(why),
            Err(NoObject::Refused(why)) if number == 0 => nearest.refused = Some(why),
            Err(NoObject::Refused(_)) => {}
        }
    }
    if (task.stop)() {
        return Ok(Outcome::Stopped);
    }
    Ok(Outcome::NotShown(nearest))
}

fn task_is_over(tester: &Tester<'_>) -> bool {
    (tester.task.stop)() || tester.runs.get() >= MOST_RUNS
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

/// The sources to begin with: the function of the finding alone, then in other spellings, and then with more and more others,
/// because some findings need them.
fn starts<'t>(task: &'t Task<'_>) -> impl Iterator<Item = Result<Source, String>> + 't {
    let place = place(task.finding);
    let alone = place.clone().map(|place| read(task.elf, Which::At(&place)));
    let alone = alone.into_iter().flat_map(|source| match source {
        Ok(source) => {
            let each = source.functions.into_iter();
            let alone = each.map(|function| Source { functions: vec![function], abi: source.abi });
            alone.map(Ok).collect()
        }
        Err(why) => vec![Err(why)],
    });
    let respelled = task.respell || task.finding.known.is_some();
    let alone = alone.flat_map(move |source| match source {
        Ok(source) if respelled => {
            let others: Vec<Source> = spellings(&source).collect();
            std::iter::once(source).chain(others).map(Ok).collect()
        }
        other => vec![other],
    });
    let around = NEIGHBOURS.into_iter().filter_map(move |count| {
        place.as_ref().map(|place| read(task.elf, Which::Around(place, count)))
    });
    alone.chain(around).chain(std::iter::once_with(|| read(task.elf, Which::All)))
}

/// The place of a finding, if it is about code.
fn place(finding: &Finding<'_>) -> Option<Place> {
    let of_code = finding.code.as_ref().map(|code| (Some(code.start), &code.code_section));
    let of_function =
        finding.function.as_ref().map(|function| (function.start, &function.code_section));
    let (address, section) = of_code.or(of_function)?;
    let section = section.as_ref().map(|section| section.as_str().to_owned());
    Some(Place { section, address: address?.0 })
}

/// Assembles sources, and looks for the finding.
struct Tester<'t> {
    task: &'t Task<'t>,
    wanted: RefCell<Wanted>,
    runs: Cell<u64>,
    /// Whether sources show it that were examined before.
    seen: RefCell<HashMap<String, bool>>,
    /// Why the assembler could not be run.
    failed: RefCell<Option<String>>,
}

impl Tester<'_> {
    fn examine(&self, source: &Source) -> Result<Record<'static>, NoObject> {
        self.examine_text(&source.text(), source).map(|(record, ..)| record)
    }

    fn examine_text(
        &self,
        text: &str,
        source: &Source,
    ) -> Result<(Record<'static>, Vec<u8>, String), NoObject> {
        self.runs.set(self.runs.get() + 1);
        let finished = self.task.assembler.assemble(text, source.abi)?;
        let path = object(&finished);
        let mut record = (self.task.check)(&path);
        by_directives_alone(&mut record);
        let bytes = std::fs::read(path).map_err(|error| NoObject::NotRun(error.to_string()))?;
        let messages = String::from_utf8_lossy(&finished.ran.errors).into_owned();
        Ok((record, bytes, messages))
    }

    fn shows(&self, source: &Source) -> bool {
        let text = source.text();
        if let Some(shows) = self.seen.borrow().get(&text) {
            return *shows;
        }
        if task_is_over(self) || self.failed.borrow().is_some() {
            return false;
        }
        let shows = match self.examine_text(&text, source) {
            Ok((record, ..)) => self.wanted.borrow().find(&record).is_some(),
            Err(NoObject::Refused(_)) => false,
            Err(NoObject::NotRun(why)) => {
                self.failed.replace(Some(why));
                false
            }
        };
        self.seen.borrow_mut().insert(text, shows);
        shows
    }
}

fn minimize(tester: &Tester<'_>, source: Source) -> Result<Outcome, String> {
    let directives_before = source.directives();
    let mut shrink = Shrink::new(source, |source: &Source| tester.shows(source));
    drop_functions(&mut shrink);
    plain_names(&mut shrink);
    plain_code(&mut shrink);
    let mut settled = false;
    for _ in 0..ROUNDS {
        settled = !round(&mut shrink);
        if settled {
            break;
        }
    }
    spell(&mut shrink);
    let source = shrink.into_smallest();
    if let Some(why) = tester.failed.take() {
        return Err(why);
    }
    if (tester.task.stop)() {
        return Ok(Outcome::Stopped);
    }
    let examined = tester.examine_text(&source.text(), &source);
    let (record, object, messages) = examined.map_err(|why| match why {
        NoObject::Refused(why) | NoObject::NotRun(why) => why,
    })?;
    let finding = tester.wanted.borrow().find(&record).cloned();
    let finding = finding.ok_or("the assembler does not do the same each time")?;
    Ok(Outcome::Reduced(Box::new(Reduced {
        source,
        object,
        messages,
        record,
        finding,
        directives_before,
        runs: tester.runs.get(),
        is_smallest: settled && tester.runs.get() < MOST_RUNS,
    })))
}

/// Tries all parts once. Returns whether the source has become smaller.
fn round<S: FnMut(&Source) -> bool>(shrink: &mut Shrink<Source, S>) -> bool {
    let mut changed = drop_functions(shrink);
    for number in 0..shrink.smallest().functions.len() {
        let parts = |source: &Source| source.functions.get(number).map_or(0, |f| f.parts.len());
        let function: Option<&Function> = shrink.smallest().functions.get(number);
        let had_code = function.is_some_and(|function| has_code(&function.parts));
        changed |= shrink.drop_runs(parts, |source, range| {
            let mut parts = source.functions.get(number)?.parts.clone();
            parts.drain(range);
            // A function without code is a case of its own.
            (had_code == has_code(&parts)).then(|| source.with_parts(number, parts))
        });
        changed |= shrink.replace_each(parts, |source, at| {
            let function = source.functions.get(number);
            let simpler = function.and_then(|function| function.parts.get(at));
            let simpler = simpler.map_or(Vec::new(), |part| variants(part, source.abi));
            let source = source.clone();
            simpler.into_iter().filter_map(move |part| {
                let mut parts = source.functions.get(number)?.parts.clone();
                *parts.get_mut(at)? = part;
                Some(source.with_parts(number, parts))
            })
        });
        let mut plain = shrink.smallest().clone();
        if let Some(function) = plain.functions.get_mut(number).filter(|function| function.simple) {
            function.simple = false;
            changed |= shrink.try_one(plain);
        }
    }
    changed
}

fn has_code(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Code(_)))
}

fn drop_functions<S: FnMut(&Source) -> bool>(shrink: &mut Shrink<Source, S>) -> bool {
    shrink.drop_runs(
        |source| source.functions.len(),
        |source, range| {
            let mut source = source.clone();
            source.functions.drain(range);
            (!source.functions.is_empty()).then_some(source)
        },
    )
}

/// Short names, one section, and no symbol table beyond labels; each of them, if not all at once.
fn plain_names<S: FnMut(&Source) -> bool>(shrink: &mut Shrink<Source, S>) {
    type Change = fn(&mut Source);
    let labels: Change = |source| {
        let count = source.functions.len();
        for (number, function) in source.functions.iter_mut().enumerate() {
            // The last one is most often that of the finding.
            function.label = match count - 1 - number {
                0 => "f".to_owned(),
                1 => "g".to_owned(),
                before => format!("g{before}"),
            };
        }
    };
    let sections: Change = |source| {
        source.functions.iter_mut().for_each(|function| function.section = ".text".to_owned());
    };
    let types: Change = |source| {
        source.functions.iter_mut().for_each(|function| function.is_typed = false);
    };
    let changes = [labels, sections, types];
    let mut all = shrink.smallest().clone();
    changes.iter().for_each(|change| change(&mut all));
    if shrink.try_one(all) {
        return;
    }
    for change in changes {
        let mut candidate = shrink.smallest().clone();
        change(&mut candidate);
        shrink.try_one(candidate);
    }
}

/// Code without a meaning, of the smallest size or else of the same.
fn plain_code<S: FnMut(&Source) -> bool>(shrink: &mut Shrink<Source, S>) {
    let with = |source: &Source, plain: &dyn Fn(&Code) -> Code| {
        let mut source = source.clone();
        for part in source.functions.iter_mut().flat_map(|function| &mut function.parts) {
            if let Part::Code(code) = part {
                *code = plain(code);
            }
        }
        source
    };
    let source = shrink.smallest().clone();
    let nops = with(&source, &|_| Code::Nop);
    let blanks = with(&source, &|code| Code::Blank(code.size(source.abi)));
    shrink.try_each([nops, blanks]);
}

/// Names of registers instead of numbers, in as many directives as possible.
fn spell<S: FnMut(&Source) -> bool>(shrink: &mut Shrink<Source, S>) {
    let spell = |part: &mut Part, abi| {
        if let Part::Directive(directive) = part
            && let Some(spelled) = spelled(directive, abi)
        {
            *directive = spelled;
        }
    };
    let mut all = shrink.smallest().clone();
    let abi = all.abi;
    all.functions.iter_mut().flat_map(|function| &mut function.parts).for_each(|p| spell(p, abi));
    if shrink.try_one(all) {
        return;
    }
    for number in 0..shrink.smallest().functions.len() {
        let parts = |source: &Source| source.functions.get(number).map_or(0, |f| f.parts.len());
        shrink.replace_each(parts, |source, at| {
            let mut source = source.clone();
            let part = source.functions.get_mut(number).and_then(|f| f.parts.get_mut(at));
            part.into_iter().for_each(|part| spell(part, abi));
            [source]
        });
    }
}
