//! The rows that LLVM's integrated assembler writes for AMD64, in version 2. All of it was observed by running llvm-mc 23.
//!
//! It keeps the offset of FP's slot as a number, of which 0 means that FP is unchanged. `.cfi_rel_offset` adds its operand to
//! it (`relative-save-ignored`), `.cfi_restore` takes it from the first row (`restore-to-first-row`), and no other directive
//! changes it (`same-value-ignored`, `frame-pointer-undefined`, `frame-pointer-in-register`, `value-offset-ignored`). RA is
//! always at CFA-8.

use sframe_oracle::cfi::{Fde, Instruction};
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register, Row};

use crate::model::Function;

/// The number of directives that save FP, of which each combination of `.cfi_offset` and `.cfi_rel_offset` is tried. CFI
/// does not distinguish them.
const MAX_SAVES: u32 = 6;
/// The size in bytes of a slot.
const SLOT: i64 = 8;
/// The maximum number of a CIE's instructions that are executed for one of its functions.
const MAX_INITIAL: usize = 64;

/// The entries that it may write for a function; none if it leaves the function out.
pub(crate) fn describe(fde: &Fde<'_>) -> Vec<Function> {
    let fp = fde.cfi().abi().fp();
    let saves = fde.instructions().flatten().filter(|of| saved(fde, of).is_some_and(|s| s.0 == fp));
    let number = u32::try_from(saves.count()).unwrap_or(u32::MAX);
    // Beyond the maximum, all of them are of one kind.
    let combinations = if number <= MAX_SAVES {
        (0..1 << number).collect::<Vec<u64>>()
    } else {
        vec![0, u64::MAX]
    };
    let mut found: Vec<Function> = Vec::new();
    for relative in combinations {
        let function = translate(fde, relative);
        found.extend(function.filter(|function| !found.contains(function)));
    }
    found
}

/// The register that an instruction saves, and its offset from the CFA.
fn saved(fde: &Fde<'_>, instruction: &Instruction) -> Option<(Register, i64)> {
    let factor = fde.cie().data_alignment_factor;
    match *instruction {
        Instruction::Offset(register, offset) => {
            Some((register, offset.cast_signed().saturating_mul(factor)))
        }
        Instruction::OffsetSf(register, offset) => Some((register, offset.saturating_mul(factor))),
        Instruction::NegativeOffset(register, offset) => {
            Some((register, offset.cast_signed().saturating_neg().saturating_mul(factor)))
        }
        _ => None,
    }
}

/// A row that is being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    base: Register,
    cfa: i64,
    /// The offset of FP's slot; 0 if FP is unchanged.
    fp: i64,
}

impl State {
    fn frame(self, abi: Abi) -> Frame {
        let State { base: register, cfa: offset, fp } = self;
        Frame {
            cfa: Cfa::RegisterOffset { register, offset },
            ra: Recovery::AtCfa(abi.fixed_ra_offset().into()),
            fp: if fp == 0 { Recovery::Unchanged } else { Recovery::AtCfa(fp) },
            ra_signed: false,
        }
    }
}

/// A function's entry. The bits of `relative` say which directives that save FP are `.cfi_rel_offset`.
fn translate(fde: &Fde<'_>, relative: u64) -> Option<Function> {
    let (cfi, start) = (fde.cfi(), fde.start().address);
    let mut assembler = Assembler {
        fde,
        abi: cfi.abi(),
        relative,
        // observed: without any rule, rows have FP+0 (`no-initial-rules`).
        state: State { base: cfi.abi().fp(), cfa: 0, fp: 0 },
        remembered: Vec::new(),
        rows: Vec::new(),
    };
    for instruction in cfi.initial_instructions(fde.cie()).take(MAX_INITIAL) {
        assembler.execute(&instruction.ok()?)?;
    }
    let mut place = start;
    for instruction in fde.instructions() {
        let instruction = instruction.ok()?;
        let next = match instruction {
            Instruction::AdvanceLoc(delta) => {
                let bytes = delta.saturating_mul(fde.cie().code_alignment_factor);
                place.saturating_add(bytes)
            }
            Instruction::SetLoc(to) => to.address,
            _ => {
                assembler.execute(&instruction)?;
                continue;
            }
        };
        assembler.end_row(place, next);
        place = next;
    }
    let end = start.saturating_add(fde.size());
    assembler.end_row(place, end);
    Some(Function {
        start: fde.start(),
        size: u32::try_from(fde.size()).ok()?,
        signal: false,
        pauth_key_b: false,
        block: None,
        start_width: None,
        flexible: false,
        rows: assembler.rows,
    })
}

struct Assembler<'f, 'c> {
    fde: &'f Fde<'c>,
    abi: Abi,
    relative: u64,
    state: State,
    remembered: Vec<State>,
    rows: Vec<Row>,
}

impl Assembler<'_, '_> {
    fn end_row(&mut self, start: u64, end: u64) {
        let frame = self.state.frame(self.abi);
        match self.rows.last_mut() {
            _ if start >= end => {}
            Some(last) if last.frame == frame => last.end = end,
            _ => self.rows.push(Row { start, end, frame }),
        }
    }

    /// `None` if it gives up on the function.
    fn execute(&mut self, instruction: &Instruction) -> Option<()> {
        let factor = self.fde.cie().data_alignment_factor;
        let fp = self.abi.fp();
        match *instruction {
            Instruction::DefCfa(register, offset) => self.cfa(register, offset.cast_signed())?,
            Instruction::DefCfaSf(register, offset) => {
                self.cfa(register, offset.saturating_mul(factor))?;
            }
            Instruction::DefCfaRegister(register) => self.cfa(register, self.state.cfa)?,
            Instruction::DefCfaOffset(offset) => self.state.cfa = offset.cast_signed(),
            Instruction::DefCfaOffsetSf(offset) => self.state.cfa = offset.saturating_mul(factor),
            Instruction::Restore(register) if register == fp => {
                let first = self.rows.first().map(|row| row.frame.fp);
                self.state.fp = match first {
                    Some(Recovery::AtCfa(offset)) => offset,
                    Some(_) => 0,
                    None => self.state.fp,
                };
            }
            // Without a row before it, the assembler gives up.
            Instruction::RememberState if self.rows.is_empty() => return None,
            Instruction::RememberState => self.remembered.push(self.state),
            Instruction::RestoreState => self.state = self.remembered.pop()?,
            Instruction::DefCfaExpression(_) | Instruction::ValExpression(..) => return None,
            Instruction::Expression(register, _) if register == fp => return None,
            _ => {
                if let Some((_, offset)) = saved(self.fde, instruction).filter(|of| of.0 == fp) {
                    let is_relative = self.relative & 1 != 0;
                    self.relative >>= 1;
                    self.state.fp = if is_relative {
                        self.state.fp.saturating_add(self.operand(offset))
                    } else {
                        offset
                    };
                }
            }
        }
        Some(())
    }

    /// The operand of `.cfi_rel_offset`, which counts from the register of the CFA. CFI has multiples of 8 alone, so what the
    /// CFA's offset has beyond one was cut off.
    fn operand(&self, offset: i64) -> i64 {
        let over = self.state.cfa.saturating_add(offset).rem_euclid(SLOT);
        self.state.cfa.saturating_add(offset).saturating_sub(over)
    }

    fn cfa(&mut self, register: Register, offset: i64) -> Option<()> {
        let is_usual = register == self.abi.sp() || register == self.abi.fp();
        is_usual.then_some(())?;
        (self.state.base, self.state.cfa) = (register, offset);
        Some(())
    }
}
