//! The functions of a file, and what they say about each other.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Section};

use super::bounds;
use super::decoder::Machine;
use super::effect::{Effect, Next};
use super::fixpoint::{Analysis, Observer};
use super::image::Image;
use super::leads::Followed;
use super::scan::Scan;
use super::state::State;
use super::statement::{Facts, Watched};
use super::surroundings::{By, Entry, Exceptions, Part, Surroundings};
use super::workspace::Workspace;
use crate::cfi::Cfi;
use crate::witness::CodeRange;

/// The maximum size in bytes of a function that is examined.
pub const LARGEST_FUNCTION: u64 = 1 << 20;
/// The size of the longest instruction in bytes, minus 1 (AMD64).
const LONGEST: u64 = 14;
/// The maximum number of blocks that are executed for each byte of a file's code. Compilers' code needs less than one for two
/// bytes, if each function is examined once.
const BLOCKS_PER_BYTE: u64 = 8;
/// The maximum number of functions with jumps into a function that are examined together with it.
const MOST_SOURCES: usize = 8;

/// The code of a file, divided into functions.
#[derive(Debug)]
pub struct Code<'e> {
    abi: Abi,
    image: Image<'e>,
    /// The places that have the name of a function, ordered.
    named: Vec<CodeAddress>,
    scan: Scan,
    /// The addresses of a linker's stubs, ordered.
    stubs: Vec<u64>,
    followed: Followed,
    /// For functions that are examined one by one.
    budget: Budget,
}

/// The number of blocks that may still be executed. Files made to take long would need many times more than others.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    /// For code of a number of bytes.
    pub(crate) const fn of(bytes: u64) -> Budget {
        Budget(AtomicU64::new(
            bytes.saturating_mul(BLOCKS_PER_BYTE).saturating_add(LARGEST_FUNCTION),
        ))
    }

    fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns false if less is left.
    fn spend(&self, blocks: u64) -> bool {
        let spend = |left: u64| left.checked_sub(blocks);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }
}

impl<'e> Code<'e> {
    /// Divides the code of `elf` into functions, which start where symbols, SFrame or CFI say that one starts, and finds
    /// the calls and jumps between them. `None` for machines other than AMD64 and AArch64.
    #[must_use]
    pub fn of(elf: &'e Elf<'e>, sections: &[Section<'_>], cfi: &'e [Cfi<'e>]) -> Option<Code<'e>> {
        Code::new(Cow::Borrowed(elf), sections, Cow::Borrowed(cfi))
    }

    /// Divides the code of `elf`, as [`Code::of`] does, and keeps the file and its CFI.
    #[must_use]
    pub fn owning(elf: Elf<'e>, sections: &[Section<'_>], cfi: Vec<Cfi<'e>>) -> Option<Code<'e>> {
        Code::new(Cow::Owned(elf), sections, Cow::Owned(cfi))
    }

    fn new(
        elf: Cow<'e, Elf<'e>>,
        sections: &[Section<'_>],
        cfi: Cow<'e, [Cfi<'e>]>,
    ) -> Option<Code<'e>> {
        let abi = elf.abi()?;
        let functions = bounds::functions(&elf, sections, &cfi);
        let named = bounds::named(&elf);
        let stubs = bounds::stubs(&elf, abi);
        let entries = stubs.iter().copied().map(CodeAddress::absolute).collect();
        let image = Image::of(elf, cfi, functions);
        let scan = Scan::of(&image, entries, abi)?;
        let bytes = image.functions().iter().fold(0_u64, |sum, f| sum.saturating_add(f.bytes()));
        let budget = Budget::of(bytes);
        let followed = Followed::none_of(image.functions().len());
        Some(Code { abi, image, named, scan, stubs, followed, budget })
    }

    /// The machine.
    pub(super) const fn abi(&self) -> Abi {
        self.abi
    }

    /// The file.
    pub(super) fn elf(&self) -> &Elf<'e> {
        self.image.elf()
    }

    /// The functions, in the order of addresses.
    #[must_use]
    pub fn functions(&self) -> &[CodeRange] {
        self.image.functions()
    }

    /// Whether a linker's stub starts at a place: it is entered like any function.
    pub(crate) fn is_stub(&self, place: CodeAddress) -> bool {
        place.section == 0 && self.stubs.binary_search(&place.address).is_ok()
    }

    /// Examines the function that contains `place`. `None` if there is none, if it has more than 1 MiB of code, if the
    /// kernel enters it after a signal, with a stack of its own, or if CFI says that it is entered with another's frame.
    #[must_use]
    pub fn function(&self, place: CodeAddress) -> Option<Function<'e>> {
        self.function_in(place, &mut Workspace::default())
    }

    /// Examines a function, as [`Code::function`] does. Whoever examines several saves time if they are
    /// [taken back](Workspace::recycle).
    #[must_use]
    pub fn function_in(
        &self,
        place: CodeAddress,
        workspace: &mut Workspace<'e>,
    ) -> Option<Function<'e>> {
        let index = self.image.find(place)?;
        let range = *self.functions().get(index)?;
        let is_special =
            self.image.is_signal_frame(range.start) || self.image.is_part_of_others(range.start);
        if range.bytes() > LARGEST_FUNCTION || is_special {
            return None;
        }
        let start = range.start;
        let address = self.image.flat(start);
        let evidence = self.evidence(index);
        let callers = self.callers(index, workspace);
        let is_function = match evidence {
            Evidence::Strong => true,
            Evidence::Weak => {
                callers.is_tail_called
                    || callers.analyses.is_empty() && !self.scan.is_jump_target(address)
            }
            Evidence::None => callers.is_tail_called || self.is_unused(index),
        };
        let is_understood = evidence == Evidence::Strong
            || callers.are_all_known
            || callers.is_tail_called && self.image.starts_as_called(start)
            || !self.scan.is_jump_target(address);
        let (mut analyses, mut last) = (callers.analyses, callers.last);
        if !is_understood {
            analyses.drain(..).for_each(|analysis| workspace.free(analysis));
        } else if is_function || analyses.is_empty() {
            analyses.reserve_exact(1);
            analyses.push(self.analysis(index, is_function, workspace)?);
            last = is_function.then_some(index);
        }
        let base = address.wrapping_sub(start.address);
        Some(Function { abi: self.abi, range, base, analyses, last })
    }

    /// The function to which `functions()[index]` belongs, if that is only a part of it and comes before it: compilers collect
    /// code that is rarely executed. A function's parts are best examined right after it.
    pub(crate) fn owner(&self, index: usize) -> Option<usize> {
        let [owner] = *self.scan.sources(index).as_slice() else { return None };
        let is_part = self.is_part(index) && !self.is_part(owner);
        (is_part && owner > index).then_some(owner)
    }

    /// Whether `functions()[index]` is only a part of other functions, as far as is known.
    fn is_part(&self, index: usize) -> bool {
        self.evidence(index) == Evidence::None && !self.is_unused(index)
    }

    /// How certain it is that a function starts where `functions()[index]` does, and that it is no part of another one.
    fn evidence(&self, index: usize) -> Evidence {
        let Some(function) = self.functions().get(index) else { return Evidence::None };
        let start = function.start;
        if self.scan.is_called(start) || self.named.binary_search(&start).is_ok() {
            Evidence::Strong
        } else if self.scan.is_mentioned(self.image.flat(start)) {
            Evidence::Weak
        } else {
            Evidence::None
        }
    }

    /// Whether nothing in the file leads to a function, and CFI says that it is entered by a call: libraries contain functions
    /// that are not used.
    fn is_unused(&self, index: usize) -> bool {
        let function = self.functions().get(index);
        self.scan.sources(index).is_empty()
            && function.is_some_and(|function| self.image.starts_as_called(function.start))
    }

    /// Examines the functions with jumps into a function.
    fn callers(&self, index: usize, workspace: &mut Workspace<'e>) -> Callers<'e> {
        let start =
            self.functions().get(index).map_or(0, |function| self.image.flat(function.start));
        let sources = self.scan.sources(index);
        let are_all_known = sources.len() <= MOST_SOURCES;
        let (analyses, last) = (Vec::new(), None);
        let mut callers = Callers { analyses, last, is_tail_called: false, are_all_known };
        for source in sources.into_iter().take(MOST_SOURCES) {
            // Parts of functions are examined with the functions to which they belong.
            let is_part = self.is_part(source);
            let known = self.followed.get(source).filter(|_| !is_part);
            if let Some(leads) = known.filter(|leads| !leads.contains(start))
                && workspace.budget(&self.budget).spend(leads.blocks)
            {
                let has_tail_call = leads.has_tail_call(start);
                callers.is_tail_called |= has_tail_call;
                callers.are_all_known &= has_tail_call;
                continue;
            }
            let analysis = (!is_part).then(|| self.analysis(source, true, workspace)).flatten();
            let Some(analysis) = analysis else {
                callers.are_all_known = false;
                continue;
            };
            let has_tail_call = analysis.has_tail_call(start);
            callers.is_tail_called |= has_tail_call;
            if analysis.contains(start) {
                callers.analyses.push(analysis);
                callers.last = Some(source);
            } else {
                callers.are_all_known &= has_tail_call;
                workspace.free(analysis);
            }
        }
        callers
    }

    /// Follows a function from the places in it that are called, and from its start if that is an entry.
    fn analysis(
        &self,
        index: usize,
        from_start: bool,
        workspace: &mut Workspace<'e>,
    ) -> Option<Analysis<'e>> {
        if from_start
            && let Some(leads) = self.followed.get(index)
            && let Some(analysis) = workspace.take(index)
            && workspace.budget(&self.budget).spend(leads.blocks)
        {
            return Some(analysis);
        }
        let CodeRange { start, end } = *self.functions().get(index)?;
        let part = self.image.part(index)?;
        let called = self.scan.called_within(start, end).iter();
        let by = |place: &CodeAddress| match self.scan.is_local(*place) {
            true if self.named.binary_search(place).is_err() => By::LocalCall,
            _ => By::Call,
        };
        let mut entries: Vec<Entry> =
            called.map(|place| Entry { address: self.image.flat(*place), by: by(place) }).collect();
        if from_start && !self.scan.is_called(start) {
            entries.push(Entry { address: self.image.flat(start), by: By::Presumption });
        }
        let left = workspace.budget(&self.budget).left();
        let around = Around { code: self, left, spent: Cell::new(Some(0)) };
        let scratch = &mut workspace.scratch;
        let analysis = match Machine::of(self.abi)? {
            Machine::Amd64(mut it) => Analysis::compute(part, entries, &mut *it, &around, scratch),
            Machine::Aarch64(mut it) => Analysis::compute(part, entries, &mut it, &around, scratch),
        };
        let spent = around.spent.get();
        workspace.budget(&self.budget).spend(spent.unwrap_or(left));
        if let Some(blocks) = spent.filter(|_| from_start) {
            self.followed.add(index, || analysis.leads(blocks));
        }
        Some(analysis)
    }
}

/// How certain it is that a function starts at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// It is called or has a name.
    Strong,
    /// Instructions or data contain its address.
    Weak,
    None,
}

/// The functions with jumps into another.
struct Callers<'e> {
    /// The analyses of those that contain it.
    analyses: Vec<Analysis<'e>>,
    /// The number of the last one.
    last: Option<usize>,
    /// Whether one of them calls its start with a jump.
    is_tail_called: bool,
    /// Whether all of the jumps are one or the other.
    are_all_known: bool,
}

/// The surroundings of a function in a file.
struct Around<'r, 'e> {
    code: &'r Code<'e>,
    /// The number of blocks that may be executed.
    left: u64,
    /// The number of blocks that were executed; `None` if it would have to be larger.
    spent: Cell<Option<u64>>,
}

impl Around<'_, '_> {
    fn place(&self, address: u64) -> CodeAddress {
        self.code.image.place(address)
    }
}

impl<'e> Surroundings<'e> for Around<'_, 'e> {
    fn abi(&self) -> Abi {
        self.code.abi
    }

    fn read(&self, address: u64, size: usize) -> Option<&'e [u8]> {
        // Tables are read in the byte order of AMD64 and of nearly all AArch64 systems.
        let is_little = self.code.abi != Abi::Aarch64Big;
        self.code.image.bytes_from(address).filter(|_| is_little)?.get(..size)
    }

    fn next_referenced(&self, address: u64) -> u64 {
        self.code.scan.next_referenced(address)
    }

    fn part(&self, address: u64) -> Option<Part<'e>> {
        let index = self.code.image.find(self.place(address))?;
        self.code.image.part(index).filter(|part| part.code.len() as u64 <= LARGEST_FUNCTION)
    }

    fn is_part_of_functions(&self, address: u64) -> bool {
        let index = self.code.image.find(self.place(address));
        index.is_some_and(|index| self.code.evidence(index) == Evidence::None)
    }

    fn exceptions(&self, part: &Part<'e>) -> Exceptions {
        self.code.image.exceptions(self.place(part.start), part)
    }

    fn number(&self, address: u64, bytes: &[u8]) -> Option<u64> {
        self.code.image.number(address, bytes)
    }

    #[inline]
    fn relocate(&self, address: u64, length: u8, next: Next, effects: &mut [Effect]) -> Next {
        self.code.image.relocate(address, length, next, effects)
    }

    fn is_kernel(&self) -> bool {
        self.code.image.is_kernel()
    }

    fn never_returns(&self, address: u64) -> bool {
        self.code.scan.is_endless(address)
    }

    fn spend(&self) -> bool {
        let spent = self.spent.get().filter(|spent| *spent < self.left);
        self.spent.set(spent.map(|blocks| blocks.saturating_add(1)));
        spent.is_some()
    }

    fn is_entered_elsewhere(&self, address: u64) -> bool {
        self.code.scan.is_jump_target(address)
    }
}

/// A function, and what is known before each of its instructions.
pub struct Function<'e> {
    abi: Abi,
    range: CodeRange,
    /// The distance of addresses in analyses from those in the section.
    base: u64,
    /// Those of the functions that the code belongs to: itself, or those that jump into it with their own frames.
    analyses: Vec<Analysis<'e>>,
    /// The number of the last one, if it was followed from its start.
    last: Option<usize>,
}

impl<'e> Function<'e> {
    /// The analyses of the functions that the code belongs to, and the number of the last one, if it was followed from its start.
    pub(super) fn into_analyses(self) -> (Vec<Analysis<'e>>, Option<usize>) {
        (self.analyses, self.last)
    }

    /// The function's code.
    #[must_use]
    pub const fn range(&self) -> CodeRange {
        self.range
    }

    /// Whether a place is in the function's code.
    #[must_use]
    pub const fn contains(&self, place: CodeAddress) -> bool {
        place.section == self.range.start.section
            && place.address >= self.range.start.address
            && place.address < self.range.end
    }

    /// What the truth of most frames depends on.
    pub(crate) fn viewed(&self) -> Watched {
        Watched::viewed(self.abi)
    }

    /// Passes the first address and the end of each instruction in `range` that is reached, with the facts before it, to
    /// `visit`, in the order of addresses.
    pub fn visit(&mut self, range: Range<u64>, visit: impl FnMut(u64, u64, Facts<'_>)) {
        self.visit_runs(range, Watched::ALL, |start| start.saturating_add(1), visit);
    }

    /// Passes runs of instructions to `visit`, before which the same is known about the `watched` registers and the stack. `until` returns
    /// an address before which the run that starts at an address has to end, as far as instructions do.
    pub(crate) fn visit_runs(
        &mut self,
        range: Range<u64>,
        watched: Watched,
        mut until: impl FnMut(u64) -> u64,
        mut visit: impl FnMut(u64, u64, Facts<'_>),
    ) {
        let abi = self.abi;
        let start = range.start.max(self.range.start.address);
        let base = self.base;
        let range = start.wrapping_add(base)..range.end.min(self.range.end).wrapping_add(base);
        let mut visit = |from: u64, to: u64, state: &State| {
            visit(from.wrapping_sub(base), to.wrapping_sub(base), Facts { state, abi });
        };
        if let [analysis] = self.analyses.as_mut_slice() {
            let until = |from: u64| until(from.wrapping_sub(base)).wrapping_add(base);
            return analysis.visit(range, &mut Observer { watched: watched.0, until, visit });
        }
        // What is known is true for all functions to which the code belongs.
        let mut states: BTreeMap<u64, (u64, State)> = BTreeMap::new();
        for analysis in &mut self.analyses {
            let until = |from: u64| from.saturating_add(1);
            let visit = |from: u64, to: u64, state: &State| {
                let (_, known) = states.entry(from).or_insert_with(|| (to, state.clone()));
                known.join(state);
            };
            let mut observer = Observer { watched: Watched::ALL.0, until, visit };
            analysis.visit(range.clone(), &mut observer);
        }
        for (from, (to, state)) in &states {
            visit(*from, *to, state);
        }
    }

    /// For each of these addresses of instructions, which are ordered, the last instruction before it that changed the frame.
    /// `None` if a jump leads from there to the address, if it is more than 256 bytes away, or if the code belongs to
    /// several functions.
    pub(crate) fn changes_before(&mut self, addresses: &[u64]) -> Vec<Option<u64>> {
        let base = self.base;
        let [analysis] = self.analyses.as_mut_slice() else { return vec![None; addresses.len()] };
        let flat: Vec<u64> = addresses.iter().map(|address| address.wrapping_add(base)).collect();
        let changes = analysis.changes_before(&flat).into_iter();
        let is_own =
            |change: &u64| self.contains(CodeAddress { address: *change, ..self.range.start });
        changes.map(|change| Some(change?.wrapping_sub(base)).filter(is_own)).collect()
    }

    /// Passes the facts at an address to `look`. `None` if no known path leads there.
    pub fn at<T>(&mut self, address: u64, look: impl FnOnce(Facts<'_>) -> T) -> Option<T> {
        let (mut look, mut found) = (Some(look), None);
        // The instruction that contains the address may start before it.
        let from = address.saturating_sub(LONGEST);
        self.visit(from..address.saturating_add(1), |start, end, facts| {
            if (start..end).contains(&address) {
                found = look.take().map(|look| look(facts));
            }
        });
        found
    }
}
