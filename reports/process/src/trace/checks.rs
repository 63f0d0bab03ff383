//! What was found out about each PC.

use std::collections::{BTreeMap, HashMap};

use nix::unistd::Pid;
use sframe_oracle::cfi::section_bytes;
use sframe_validator::elf::Elf;

use super::judge::{State, judge};
use super::kind::{Kind, LONGEST};
use super::known::{KnownDefect, WrongRow};
use super::outcome::{Example, Mistake, ModuleTrace, Verdict};
use super::shadow::{Caller, ShadowStack, Truth};
use super::space::{FileOffset, Space, Tables};
use super::thread::Thread;
use crate::files::Files;
use crate::modules::FileId;
use crate::ptrace::Registers;
use crate::statement::Witness;

/// In the byte for a PC: its kind is known.
const KIND: u8 = 0x1f;
/// The number of times at which the PC could not be judged because of the state of the stack.
const ATTEMPT: u8 = 0x20;
const ATTEMPTS: u8 = 0x60;
/// The PC needs no further look.
const DONE: u8 = 0x80;
/// The largest CFI section whose expressions are evaluated.
const LARGEST_SECTION: u64 = 1 << 30;

/// The verdicts on all PCs.
pub(super) struct Checks<'s> {
    pub(super) tables: Tables<'s>,
    modules: BTreeMap<FileId, ModuleTrace>,
    /// PCs that could not be judged yet.
    pending: HashMap<FileOffset, Pending>,
    /// PCs with a wrong row, which may turn out to describe the place to which the code jumps.
    claims: Vec<Claim>,
    /// The CFI sections of files, for expressions.
    sections: HashMap<FileId, Option<&'s [u8]>>,
    known_defect: KnownDefect,
    pub(super) pcs: u64,
    pub(super) wrong: u64,
    /// How many of the wrong rows are cases of known defects.
    pub(super) known: u64,
    pub(super) steps_elsewhere: u64,
}

/// The verdicts on a PC that could not be judged yet.
struct Pending {
    verdicts: Vec<Verdict>,
    example: Example,
}

/// The verdicts on a PC with a wrong row.
struct Claim {
    thread: Pid,
    file: FileId,
    verdicts: Vec<Verdict>,
    example: Example,
}

impl<'s> Checks<'s> {
    pub(super) fn new(files: &'s Files, known_defect: KnownDefect) -> Checks<'s> {
        Checks {
            tables: Tables::new(files),
            modules: BTreeMap::new(),
            pending: HashMap::new(),
            claims: Vec::new(),
            sections: HashMap::new(),
            known_defect,
            pcs: 0,
            wrong: 0,
            known: 0,
            steps_elsewhere: 0,
        }
    }

    /// The kind of the instruction at an offset in a file, if it was seen before, and whether there is nothing else to
    /// do. `None` if the offset is outside of the file.
    #[inline]
    pub(super) fn known(&mut self, at: FileOffset) -> Option<(Kind, bool)> {
        let byte = *self.tables.byte(at)?;
        Some((Kind::of_number(byte & KIND), byte & DONE != 0))
    }

    /// Judges the witnesses at a PC. Returns the kind of the instruction.
    #[cold]
    pub(super) fn check(
        &mut self,
        at: FileOffset,
        now: &Registers,
        space: &Space,
        thread: &Thread,
    ) -> Kind {
        let file = at.file;
        let mut code = [0; 2 * LONGEST];
        let read = space.memory.read_some(now.rip, &mut code);
        let code = code.get(..read).unwrap_or_default();
        let kind = Kind::decode(code, now.rip);
        let truth = thread.stack.truth();
        let (mut verdicts, function) = match self.is_original(at, code) {
            true => self.judge_all(file, now, space, &thread.stack),
            false => {
                let reason = "the code in memory is not that of the file".to_owned();
                (vec![Verdict::Undecided(reason); Witness::ALL.len()], None)
            }
        };
        let example = self.example(now, space, code, function);
        // With another state of the stack, the PC can perhaps be judged.
        let is_open = matches!(truth, Truth::Unknown(_) | Truth::Outermost)
            && verdicts.iter().any(|verdict| matches!(verdict, Verdict::Undecided(_)));
        let state = if is_open { self.next_attempt(at) } else { DONE };
        self.note(at, kind, state);
        if is_open {
            self.pending.insert(at, Pending { verdicts, example });
            return kind;
        }
        self.pending.remove(&at);
        self.name_known(file, &mut verdicts, &example);
        let wrong: Vec<&Mistake> = verdicts.iter().filter_map(Verdict::mistake).collect();
        self.wrong += wrong.len() as u64;
        self.known += wrong.iter().filter(|mistake| mistake.known.is_some()).count() as u64;
        match wrong.is_empty() {
            true => self.add(file, verdicts, &example),
            false => self.claims.push(Claim { thread: thread.pid, file, verdicts, example }),
        }
        kind
    }

    /// The state of a PC after a further attempt to judge it: there are up to four.
    fn next_attempt(&mut self, at: FileOffset) -> u8 {
        let attempts = self.tables.byte(at).map_or(ATTEMPTS, |byte| *byte & ATTEMPTS);
        if attempts < ATTEMPTS { attempts + ATTEMPT } else { DONE }
    }

    /// Notes the kind and the state of a PC in its byte.
    fn note(&mut self, at: FileOffset, kind: Kind, state: u8) {
        let Some(byte) = self.tables.byte(at) else { return };
        let is_new = *byte == 0;
        *byte = kind.number() | state;
        if is_new {
            self.pcs += 1;
            self.module(at.file).pcs += 1;
        }
    }

    /// A thread has left a frame without a return, and continues at `pc`. Rows that describe this place are not wrong:
    /// `longjmp` and `setcontext` describe the place to which they jump.
    #[cold]
    pub(super) fn left(&mut self, thread: Pid, pc: u64) {
        let mut claims = std::mem::take(&mut self.claims);
        for claim in claims.iter_mut().filter(|claim| claim.thread == thread) {
            for verdict in &mut claim.verdicts {
                if let Some(mistake) = verdict.mistake().filter(|found| found.ra == Some(pc)) {
                    self.known -= u64::from(mistake.known.is_some());
                    let reason = "the row describes the place to which the code jumps".to_owned();
                    *verdict = Verdict::Undecided(reason);
                    self.wrong -= 1;
                }
            }
        }
        let is_wrong =
            |claim: &Claim| claim.verdicts.iter().any(|verdict| verdict.mistake().is_some());
        let (wrong, settled): (Vec<_>, Vec<_>) = claims.into_iter().partition(is_wrong);
        self.claims = wrong;
        for Claim { file, verdicts, example, .. } in settled {
            self.add(file, verdicts, &example);
        }
    }

    /// Names the known defect that the row of SFrame is a case of, if it is wrong.
    fn name_known(&self, file: FileId, verdicts: &mut [Verdict], example: &Example) {
        let Some(file) = self.tables.modules.bytes(file) else { return };
        for (witness, verdict) in Witness::ALL.into_iter().zip(verdicts) {
            let Verdict::Wrong(mistake) = verdict else { continue };
            if let (Witness::Sframe, Some(frames)) = (witness, &mistake.frames) {
                let [stated, truth] = **frames;
                let address = example.address;
                mistake.known = (self.known_defect)(&WrongRow { file, address, stated, truth });
            }
        }
    }

    fn module(&mut self, file: FileId) -> &mut ModuleTrace {
        let modules = &self.tables.modules;
        let new = || ModuleTrace::new(modules.name(file).to_vec());
        self.modules.entry(file).or_insert_with(new)
    }

    fn add(&mut self, file: FileId, verdicts: Vec<Verdict>, example: &Example) {
        let module = self.module(file);
        for (witness, verdict) in module.witnesses.iter_mut().zip(verdicts) {
            witness.add(verdict, || example.clone());
        }
    }

    /// Whether the instruction is the one in the file. Otherwise the program or its debugger has changed it.
    fn is_original(&self, at: FileOffset, code: &[u8]) -> bool {
        let bytes = self.tables.modules.bytes(at.file).unwrap_or_default();
        let rest = usize::try_from(at.offset).ok().and_then(|offset| bytes.get(offset..));
        let rest = rest.unwrap_or_default();
        // The instruction's own bytes are enough, but its length is not known here.
        let length = rest.len().min(code.len()).min(LONGEST);
        length > 0 && rest.get(..length) == code.get(..length)
    }

    fn judge_all(
        &mut self,
        file: FileId,
        now: &Registers,
        space: &Space,
        stack: &ShadowStack,
    ) -> (Vec<Verdict>, Option<u64>) {
        let truth = stack.truth();
        let mut function = None;
        let state = State::new(now, &space.memory);
        let mut verdicts = Vec::with_capacity(Witness::ALL.len());
        for witness in Witness::ALL {
            let statement = self.tables.modules(space).statement(witness, now.rip);
            function = function.or(statement.function.map(|(start, _)| start));
            let needs_section = matches!(witness, Witness::Cfi) && statement.row.is_ok();
            let section = if needs_section { self.cfi_section(file) } else { None };
            let mut verdict = judge(&statement, truth, &state, section);
            if matches!(verdict, Verdict::Wrong(_) | Verdict::Undecided(_))
                && let Some(range) = statement.function
            {
                let modules = self.tables.modules(space);
                let starts = |at| modules.starts_function(at);
                let is_right = |caller| {
                    let truth = Truth::Called(caller);
                    judge(&statement, truth, &state, section) == Verdict::Right
                };
                if around(stack, range, starts).into_iter().any(is_right) {
                    verdict = Verdict::Right;
                }
            }
            verdicts.push(verdict);
        }
        (verdicts, function)
    }

    /// The section with a file's CFI expressions; `None` if it has two sections.
    fn cfi_section(&mut self, file: FileId) -> Option<&'s [u8]> {
        if let Some(known) = self.sections.get(&file) {
            return *known;
        }
        let found = self.tables.modules.bytes(file).and_then(eh_frame);
        self.sections.insert(file, found);
        found
    }

    fn example(
        &mut self,
        now: &Registers,
        space: &Space,
        code: &[u8],
        function: Option<u64>,
    ) -> Example {
        let modules = self.tables.modules(space);
        let symbol = modules.symbol(now.rip);
        let symbol =
            symbol.map(|s| (String::from_utf8_lossy(s.name.bytes()).into_owned(), s.offset));
        let bias = modules.place(now.rip).map_or(0, |place| place.bias);
        let address = now.rip.wrapping_sub(bias);
        let function = function.map(|start| start.wrapping_sub(bias));
        let code = code.get(..code.len().min(LONGEST)).unwrap_or_default().to_vec();
        Example { address, function, symbol, code, explanation: String::new() }
    }

    /// The results by file, with the PCs that could never be judged.
    pub(super) fn finish(mut self) -> Vec<ModuleTrace> {
        for Claim { file, verdicts, example, .. } in std::mem::take(&mut self.claims) {
            self.add(file, verdicts, &example);
        }
        let mut pending: Vec<_> = self.pending.drain().collect();
        pending.sort_by_key(|(at, _)| *at);
        for (at, Pending { verdicts, example }) in pending {
            self.add(at.file, verdicts, &example);
        }
        self.modules.into_values().collect()
    }
}

/// The callers of the frames around the current one that belong to the same function, which has called code of its own.
/// Such code has two frames: that of the call, and that of the function, which GCC's CFI of a retpoline describes
/// (`-mindirect-branch=thunk`). A row may be about either.
fn around(
    stack: &ShadowStack,
    (start, end): (u64, u64),
    mut starts_function: impl FnMut(u64) -> bool,
) -> Vec<Caller> {
    let is_inside = |address| start < address && address < end;
    // A call can be the last instruction of its function.
    let is_local = |ra: u64, target| {
        is_inside(target) && is_inside(ra.wrapping_sub(1)) && !starts_function(target)
    };
    stack.around(is_local).collect()
}

/// The bytes of `.eh_frame`, unless there is `.debug_frame` as well.
fn eh_frame(bytes: &[u8]) -> Option<&[u8]> {
    let elf = Elf::parse(bytes).ok()?;
    let named = |name: &'static [u8]| elf.sections().iter().find(|s| s.name.bytes() == name);
    if named(b".debug_frame").is_some() {
        return None;
    }
    match section_bytes(&elf, named(b".eh_frame")?, LARGEST_SECTION).ok()? {
        std::borrow::Cow::Borrowed(bytes) => Some(bytes),
        std::borrow::Cow::Owned(_) => None,
    }
}
