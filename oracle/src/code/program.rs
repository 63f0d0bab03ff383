//! The whole program: the interprocedural part of the analysis. It decides where functions start, which functions a piece
//! of code belongs to, from which entries each is analysed, and within which budget.

mod function_context;

use std::borrow::Cow;
use std::collections::BTreeSet;

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Section};

use super::budget::{Budget, LARGEST_FUNCTION};
use super::context::{Entry, EntryKind, Fragment};
use super::cross_references::CrossReferences;
use super::effect::Decoder;
use super::fixpoint::Analysis;
use super::function::Function;
use super::function_bounds::{self, FunctionBounds};
use super::image::Image;
use super::imports::NoReturnImports;
use super::machine::{Machine, WithDecoder};
use super::outlined::OutlinedFunctions;
use super::scratch::ScratchBuffers;
use super::summary::SummaryCache;
use super::unnamed_functions::{Known, unnamed_functions};
use super::unproven::Unproven;
use super::workspace::Workspace;
use crate::cfi::Cfi;
use crate::witness::CodeRange;
use function_context::FunctionContext;

/// The maximum number of functions with jumps into a function that are analysed together with it.
const MAX_CALLERS: usize = 8;

/// The maximum number of functions that are asked to find out whether a chain of tail calls leads to one.
const MAX_CHAIN: usize = 32;

/// The machine code of a file, divided into functions, and what connects them.
#[derive(Debug)]
pub struct Program<'e> {
    abi: Abi,
    machine: Machine,
    image: Image<'e>,
    /// The places that have the name of a function, ordered.
    named: Vec<CodeAddress>,
    /// Those whose names are known to other files.
    exported: Vec<CodeAddress>,
    references: CrossReferences,
    /// The addresses of a linker's stubs, ordered.
    stubs: Vec<u64>,
    summaries: SummaryCache,
    outlined: OutlinedFunctions,
    /// For functions that are examined one by one.
    budget: Budget,
}

/// Where the analysis of a function begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entries {
    /// At the places in it that are called.
    Called,
    /// At those, and at its start.
    StartAndCalled,
}

impl<'e> Program<'e> {
    /// Divides the code of `elf` into functions, which start where symbols, SFrame or CFI say that one starts or, in sections about
    /// which these say nothing, where direct calls lead, and finds the cross references between them. `None` for machines other than AMD64 and AArch64.
    #[must_use]
    pub fn of(
        elf: &'e Elf<'e>,
        sections: &[Section<'_>],
        cfi: &'e [Cfi<'e>],
    ) -> Option<Program<'e>> {
        let program = Program::for_few(elf, sections, cfi)?;
        program.references.find_all(&program.image);
        Some(program)
    }

    /// Divides the code of `elf`, as [`Program::of`] does, for looking at a few functions. The cross references to each are found when
    /// it is examined, until there are so many that all are found at once. The results are the same.
    #[must_use]
    pub fn for_few(
        elf: &'e Elf<'e>,
        sections: &[Section<'_>],
        cfi: &'e [Cfi<'e>],
    ) -> Option<Program<'e>> {
        Program::new(Cow::Borrowed(elf), sections, Cow::Borrowed(cfi))
    }

    /// Divides the code of `elf`, as [`Program::for_few`] does, and keeps the file and its CFI.
    #[must_use]
    pub fn owning(
        elf: Elf<'e>,
        sections: &[Section<'_>],
        cfi: Vec<Cfi<'e>>,
    ) -> Option<Program<'e>> {
        Program::new(Cow::Owned(elf), sections, Cow::Owned(cfi))
    }

    fn new(
        elf: Cow<'e, Elf<'e>>,
        sections: &[Section<'_>],
        cfi: Cow<'e, [Cfi<'e>]>,
    ) -> Option<Program<'e>> {
        let abi = elf.abi()?;
        let symbols = SymbolTable::load(&elf).unwrap_or_default();
        let FunctionBounds { mut functions, undescribed } =
            function_bounds::find(&elf, &symbols, sections, &cfi);
        let (named, exported) = function_bounds::named(&symbols);
        drop(symbols);
        // A file without functions has no code of another machine.
        let of_abi = Machine::of(abi);
        let machine = of_abi.or(functions.is_empty().then_some(Machine::Amd64))?;
        let stubs = function_bounds::stubs(&elf, machine.conventions());
        let imports = NoReturnImports::of(&elf, machine, &stubs);
        if of_abi.is_some() && !undescribed.is_empty() {
            let known = Known {
                functions: &functions,
                named: &named,
                undescribed: &undescribed,
                imports: &imports,
            };
            let unnamed = unnamed_functions(&elf, machine, known);
            functions.extend(unnamed);
            functions.sort_unstable();
        }
        let entries = stubs.iter().copied().map(CodeAddress::absolute).collect();
        let image = Image::of(elf, cfi, functions, (machine, imports));
        let references = CrossReferences::on_demand(machine, entries);
        let bytes = image.functions().iter().fold(0_u64, |sum, f| sum.saturating_add(f.bytes()));
        let budget = Budget::of(bytes);
        let summaries = SummaryCache::for_functions(image.functions().len());
        let outlined = OutlinedFunctions::for_functions(image.functions().len());
        Some(Program {
            abi,
            machine,
            image,
            named,
            exported,
            references,
            stubs,
            summaries,
            outlined,
            budget,
        })
    }

    pub(super) const fn machine(&self) -> Machine {
        self.machine
    }

    /// The file.
    pub(super) fn elf(&self) -> &Elf<'e> {
        self.image.elf()
    }

    /// The place at an address of an analysis.
    pub(super) fn place(&self, address: u64) -> CodeAddress {
        self.image.place(address)
    }

    /// The index of the function that contains a place.
    pub(super) fn index_of(&self, place: CodeAddress) -> Option<usize> {
        self.image.find(place)
    }

    /// Whether a function starts at a place.
    pub(super) fn starts_at(&self, place: CodeAddress) -> bool {
        self.image.starts_at(place)
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

    /// Examines the function that contains `place`. `None` if there is none, if it has more than 1 MiB of code, if CFI says that
    /// the kernel enters it after a signal, with a stack of its own (unless it is the code by which a signal handler returns), or
    /// if CFI says that it is entered with another's frame, and the functions that jump to it are not all known.
    #[must_use]
    pub fn function(&self, place: CodeAddress) -> Option<Function<'e>> {
        self.function_in(place, &mut Workspace::default())
    }

    /// Examines a function, as [`Program::function`] does. Whoever examines several saves time if they are
    /// [taken back](Workspace::recycle).
    #[must_use]
    pub fn function_in(
        &self,
        place: CodeAddress,
        workspace: &mut Workspace<'e>,
    ) -> Option<Function<'e>> {
        let index = self.image.find(place)?;
        let range = *self.functions().get(index)?;
        let start = range.start;
        let evidence = self.evidence(index);
        let unusual = self.unusual_entry(start).filter(|_| !self.is_signal_return(index));
        let has_frame = unusual == Some(Unproven::EnteredWithFrame);
        let is_special = match has_frame {
            true => evidence != EntryEvidence::None,
            false => unusual.is_some(),
        };
        if range.bytes() > LARGEST_FUNCTION || is_special {
            return None;
        }
        let address = self.image.flat(start);
        let mut callers = self.callers(index, workspace);
        if evidence == EntryEvidence::None {
            callers.analyses.extend(self.before(index, workspace));
        }
        let is_function = match evidence {
            _ if has_frame => false,
            EntryEvidence::Strong => true,
            EntryEvidence::Weak => {
                callers.is_tail_called
                    || callers.analyses.is_empty() && !self.is_jump_target(address)
            }
            EntryEvidence::None => {
                callers.is_tail_called || callers.analyses.is_empty() && self.is_unused(index)
            }
        };
        let is_understood = evidence == EntryEvidence::Strong
            || callers.are_all_known
            || callers.is_tail_called && self.image.starts_as_called(start)
            || !self.is_jump_target(address);
        if has_frame && (callers.analyses.is_empty() || !callers.are_all_known) {
            callers.analyses.drain(..).for_each(|analysis| workspace.free(analysis));
            return None;
        }
        let is_taken_for_called =
            (is_function || callers.analyses.is_empty()) && !self.is_signal_return(index);
        let (mut analyses, mut last) = (callers.analyses, callers.last);
        if !is_understood {
            analyses.drain(..).for_each(|analysis| workspace.free(analysis));
        } else if is_function || analyses.is_empty() {
            analyses.reserve_exact(1);
            let entries = if is_function { Entries::StartAndCalled } else { Entries::Called };
            analyses.push(self.analysis(index, entries, workspace)?);
            last = is_function.then_some(index);
        }
        let base = address.wrapping_sub(start.address);
        Some(Function { abi: self.abi, range, base, analyses, last, is_taken_for_called })
    }

    /// In which other way than by a call CFI says that a function is entered.
    pub(super) fn unusual_entry(&self, start: CodeAddress) -> Option<Unproven> {
        if self.image.is_signal_frame(start) {
            return Some(Unproven::SignalFrame);
        }
        self.image.is_part_of_others(start).then_some(Unproven::EnteredWithFrame)
    }

    /// Whether a function is the code by which signal handlers return to the kernel, which is never called.
    fn is_signal_return(&self, index: usize) -> bool {
        let signal_return = &self.machine.conventions().signal_return;
        self.image.fragment(index).is_some_and(|it| signal_return.is_at_start(it.code))
            && !self.references.is_called(&self.image, index)
    }

    /// Whether functions contain jumps to an address in another one.
    fn is_jump_target(&self, address: u64) -> bool {
        self.references.is_jump_target(&self.image, address)
    }

    /// The function to which `functions()[index]` belongs, if that is only a fragment of it and comes before it:
    /// compilers collect code that is rarely executed. A function's fragments are best examined right after it.
    pub(crate) fn owner(&self, index: usize) -> Option<usize> {
        let [owner] = *self.references.sources(&self.image, index).as_slice() else { return None };
        let is_fragment = self.is_fragment(index) && !self.is_fragment(owner);
        (is_fragment && owner > index).then_some(owner)
    }

    /// Whether `functions()[index]` is only a fragment of other functions, as far as is known.
    fn is_fragment(&self, index: usize) -> bool {
        self.evidence(index) == EntryEvidence::None && !self.is_unused(index)
    }

    /// What says that a function starts where `functions()[index]` does, and that it is no fragment of another one.
    fn evidence(&self, index: usize) -> EntryEvidence {
        let Some(function) = self.functions().get(index) else { return EntryEvidence::None };
        let start = function.start;
        let is_in = |places: &[CodeAddress]| places.binary_search(&start).is_ok();
        if is_in(&self.exported) || self.references.is_called(&self.image, index) {
            EntryEvidence::Strong
        } else if is_in(&self.named) || self.references.is_mentioned(&self.image, index) {
            EntryEvidence::Weak
        } else {
            EntryEvidence::None
        }
    }

    /// Whether nothing in the file leads to a function, and CFI says that it is entered by a call: libraries contain functions
    /// that are not used.
    fn is_unused(&self, index: usize) -> bool {
        let function = self.functions().get(index);
        self.references.sources(&self.image, index).is_empty()
            && function.is_some_and(|function| self.image.starts_as_called(function.start))
    }

    /// Finds out how the functions with jumps into a function use it.
    fn callers(&self, index: usize, workspace: &mut Workspace<'e>) -> JumpCallers<'e> {
        let start =
            self.functions().get(index).map_or(0, |function| self.image.flat(function.start));
        let sources = self.references.sources(&self.image, index);
        let are_all_known = sources.len() <= MAX_CALLERS;
        let (analyses, last) = (Vec::new(), None);
        let mut callers = JumpCallers { analyses, last, is_tail_called: false, are_all_known };
        for source in sources.into_iter().take(MAX_CALLERS) {
            // Fragments of functions are analysed with the functions to which they belong.
            let is_fragment = self.is_fragment(source)
                && !self.is_tail_called(source, &mut BTreeSet::from([index]), workspace);
            let known = self.summaries.get(source).filter(|_| !is_fragment);
            if let Some(summary) = known.filter(|summary| !summary.contains(start))
                && workspace.budget(&self.budget).spend(summary.blocks)
            {
                let has_tail_call = summary.has_tail_call(start);
                callers.is_tail_called |= has_tail_call;
                callers.are_all_known &= has_tail_call;
                continue;
            }
            let analysis = (!is_fragment)
                .then(|| self.analysis(source, Entries::StartAndCalled, workspace))
                .flatten();
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

    /// The analysis of the function from whose end control comes to a fragment, to which no jump leads. Where CFI says that it is
    /// entered by a call, control must return from there: compilers leave out what comes after an instruction that is never executed.
    fn before(&self, index: usize, workspace: &mut Workspace<'e>) -> Option<Analysis<'e>> {
        let source = index.checked_sub(1)?;
        let is_alone = self.references.sources(&self.image, index).is_empty();
        if !is_alone
            || self.is_fragment(source)
            || !self.references.is_fallen_into(&self.image, index)
        {
            return None;
        }
        let start = self.functions().get(index)?.start;
        let range = self.image.fragment(index)?;
        let range = range.start..range.start.saturating_add(range.code.len() as u64);
        let analysis = self.analysis(source, Entries::StartAndCalled, workspace)?;
        if analysis.contains(range.start)
            && (!self.image.starts_as_called(start) || analysis.returns_from(&range))
        {
            return Some(analysis);
        }
        workspace.free(analysis);
        None
    }

    /// Whether a function that is not a fragment of another has a tail call to a function, or a chain of tail calls leads from one to it.
    /// `passed` are functions that need not be asked.
    fn is_tail_called(
        &self,
        index: usize,
        passed: &mut BTreeSet<usize>,
        workspace: &mut Workspace<'e>,
    ) -> bool {
        let Some(function) = self.functions().get(index) else { return false };
        let start = self.image.flat(function.start);
        let sources = self.references.sources(&self.image, index);
        sources.into_iter().take(MAX_CALLERS).any(|source| {
            passed.len() < MAX_CHAIN
                && passed.insert(source)
                && (!self.is_fragment(source) || self.is_tail_called(source, passed, workspace))
                && self.has_tail_call(source, start, workspace)
        })
    }

    /// Whether a function, which is entered at its start, has a tail call to an address.
    fn has_tail_call(&self, index: usize, to: u64, workspace: &mut Workspace<'e>) -> bool {
        if let Some(summary) = self.summaries.get(index) {
            return workspace.budget(&self.budget).spend(summary.blocks)
                && summary.has_tail_call(to);
        }
        let analysis = self.analysis(index, Entries::StartAndCalled, workspace);
        analysis.is_some_and(|analysis| {
            let has_tail_call = analysis.has_tail_call(to);
            workspace.free(analysis);
            has_tail_call
        })
    }

    /// Analyses a function from these entries.
    fn analysis(
        &self,
        index: usize,
        entries: Entries,
        workspace: &mut Workspace<'e>,
    ) -> Option<Analysis<'e>> {
        let from_start = entries == Entries::StartAndCalled;
        if from_start
            && let Some(summary) = self.summaries.get(index)
            && let Some(analysis) = workspace.take(index)
            && workspace.budget(&self.budget).spend(summary.blocks)
        {
            return Some(analysis);
        }
        let start = self.functions().get(index)?.start;
        let fragment = self.image.fragment(index)?;
        let called = self.references.called_within(&self.image, index);
        let is_called = called.first().is_some_and(|(place, _)| *place == start);
        let kind = |place, is_local| match is_local {
            true if self.named.binary_search(&place).is_err() => EntryKind::LocalCall,
            _ => EntryKind::Call,
        };
        let mut entries: Vec<Entry> = called
            .into_iter()
            .map(|(place, is_local)| Entry {
                address: self.image.flat(place),
                kind: kind(place, is_local),
            })
            .collect();
        if from_start && !is_called {
            let kind = match self.is_signal_return(index) {
                true => EntryKind::SignalReturn,
                false => EntryKind::Presumed,
            };
            entries.push(Entry { address: self.image.flat(start), kind });
        }
        let left = workspace.budget(&self.budget).left();
        let context = FunctionContext::new(self, left);
        let task = Task { fragment, entries, context: &context, scratch: &mut workspace.scratch };
        let analysis = self.machine.decode(task);
        let spent = context.spent();
        workspace.budget(&self.budget).spend(spent.unwrap_or(left));
        if let Some(blocks) = spent.filter(|_| from_start) {
            self.summaries.add(index, || analysis.summarize(blocks));
        }
        Some(analysis)
    }
}

/// A function to be analysed.
struct Task<'t, 'p, 'e> {
    fragment: Fragment<'e>,
    entries: Vec<Entry>,
    context: &'t FunctionContext<'p, 'e>,
    scratch: &'t mut ScratchBuffers,
}

impl<'e> WithDecoder<'e> for Task<'_, '_, 'e> {
    type Output = Analysis<'e>;

    fn run(self, decoder: &mut impl Decoder<'e>) -> Analysis<'e> {
        Analysis::compute(self.fragment, self.entries, decoder, self.context, self.scratch)
    }
}

/// What says that a function starts at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryEvidence {
    /// It is called, or has a name that other files know.
    Strong,
    /// It has a name, or instructions or data contain its address.
    Weak,
    None,
}

/// The functions with jumps into another: it is a fragment of them, or the target of their tail calls.
struct JumpCallers<'e> {
    /// The analyses of those that contain it.
    analyses: Vec<Analysis<'e>>,
    /// The number of the last one.
    last: Option<usize>,
    /// Whether one of them has a tail call to its start.
    is_tail_called: bool,
    /// Whether each of the jumps is known to be one or the other.
    are_all_known: bool,
}
