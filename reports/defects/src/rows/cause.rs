//! Which defect it is, where an assembler writes another row than CFI's.
//!
//! The row is what the assembler writes; that has been found out before. The defect is the one of the call frame instructions at
//! the PC where both begin to differ, or what both values have to do with each other.

use sframe_oracle::cfi::Instruction;
use sframe_oracle::compare::Fields;
use sframe_synthesis::{Assembler, Release};
use sframe_validator::Abi;
use sframe_validator::section::{S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
use sframe_validator::unwind::{Cfa, Recovery, Register};

use super::modelled::{Both, Candidate, Modelled, Part, Step};

/// The defect because of which an assembler writes another row than CFI's at `place`.
pub(super) fn name(
    assembler: Assembler,
    modelled: &Modelled<'_>,
    candidate: &Candidate,
    place: u64,
    fields: Fields,
) -> Option<&'static str> {
    let both = candidate.at(place)?;
    if candidate.is_without_rows {
        let is_signal = candidate.signal && both.cfi.cfa != Cfa::Undefined;
        return Some(if is_signal { "signal-outermost" } else { "simple-outermost" });
    }
    let fde = &modelled.fde;
    let search = Search { assembler, abi: fde.cfi().abi(), ra: fde.cie().return_address, both };
    let parts = Part::ALL.into_iter().filter(|part| fields.intersects(fields_of(*part)));
    parts.into_iter().find_map(|part| {
        let (since, changed) =
            (candidate.since(place, part)?, candidate.unchanged_since(place, part)?);
        let by_steps = |of: u64| search.by_steps(part, modelled.steps_at(of));
        // A run may begin with a difference of another kind, and another part may have changed since this one did.
        let by_later_steps = || by_steps(place).or_else(|| by_steps(changed));
        search.by_values(part).or_else(|| by_steps(since)).or_else(by_later_steps)
    })
}

const fn fields_of(part: Part) -> Fields {
    match part {
        Part::Cfa => Fields::CFA,
        Part::Ra => Fields::RA.with(Fields::UNDEFINED_RA),
        Part::Fp => Fields::FP,
        Part::Signing => Fields::RA_SIGNING,
    }
}

struct Search {
    assembler: Assembler,
    abi: Abi,
    /// The register of the return address.
    ra: Register,
    both: Both,
}

impl Search {
    fn is_llvm(&self) -> bool {
        self.assembler == Assembler::Llvm
    }

    fn is_latest(&self) -> bool {
        self.assembler == Assembler::Gnu(Release::V2_47_50)
    }

    /// The defect, if the values show it.
    fn by_values(&self, part: Part) -> Option<&'static str> {
        match part {
            Part::Cfa => self.by_cfa(),
            Part::Ra => self.by_ra(),
            Part::Fp if self.is_slot_of_fp_taken_for_ra() => Some("frame-pointer-only"),
            Part::Fp | Part::Signing => None,
        }
    }

    fn by_cfa(&self) -> Option<&'static str> {
        if self.both.cfi.cfa == Cfa::Undefined {
            return Some("no-initial-rules");
        }
        let (
            Cfa::RegisterOffset { register: written, offset },
            Cfa::RegisterOffset { register, offset: whole },
        ) = (self.both.written.cfa, self.both.cfi.cfa)
        else {
            return None;
        };
        let is_other = register != self.abi.sp() && register != self.abi.fp();
        let is_from_sp = written == self.abi.sp() && offset == whole;
        if self.assembler == Assembler::Gnu(Release::V2_40) && is_other && is_from_sp {
            return Some("cfa-in-other-register");
        }
        let over = whole.wrapping_sub(S390X_CFA_ADJUSTMENT) % S390X_CFA_FACTOR;
        let is_cut = self.abi == Abi::S390x && written == register && over != 0;
        (is_cut && whole.abs_diff(offset) < S390X_CFA_FACTOR.unsigned_abs()).then_some("odd-offset")
    }

    fn by_ra(&self) -> Option<&'static str> {
        let (written, cfi) = (self.both.written.ra, self.both.cfi.ra);
        if self.is_slot_of_fp_taken_for_ra() {
            return Some("frame-pointer-only");
        }
        if self.is_latest() {
            return match (written, cfi) {
                (Recovery::Undefined, _) => Some("undefined-for-good"),
                (Recovery::AtCfa(cut), Recovery::AtCfa(whole)) if is_cut(cut, whole) => {
                    Some("return-offset-cut")
                }
                (_, Recovery::CfaOffset(_)) if self.abi == Abi::Amd64 => {
                    Some("return-value-ignored")
                }
                (Recovery::AtCfa(_), Recovery::AtExpression(_) | Recovery::AtRegister { .. }) => {
                    Some("return-in-escape")
                }
                _ => None,
            };
        }
        if self.abi != Abi::Amd64 {
            return None;
        }
        match cfi {
            Recovery::AtCfa(_) => Some("return-elsewhere"),
            Recovery::RegisterOffset { .. } => Some("return-in-register"),
            Recovery::CfaOffset(_) => Some("return-value-ignored"),
            Recovery::AtExpression(_) | Recovery::AtRegister { .. } if self.is_llvm() => {
                Some("return-in-escape")
            }
            _ => None,
        }
    }

    fn is_slot_of_fp_taken_for_ra(&self) -> bool {
        let Both { written, cfi } = &self.both;
        self.writes_fp_alone()
            && written.ra == cfi.fp
            && matches!(cfi.ra, Recovery::Unchanged | Recovery::Undefined)
    }

    /// The defect, if the instructions at the PC where the difference begins show it. The last one that is about the part
    /// decides.
    fn by_steps(&self, part: Part, steps: &[Step]) -> Option<&'static str> {
        let without_rule = || self.is_without_rule_for_ra(part).then_some("simple-return-address");
        let found = steps.iter().rev().find_map(|step| match (part, step.instruction) {
            (_, Instruction::RestoreState) if self.is_llvm() => None,
            (_, Instruction::RestoreState) if step.is_covered => Some("remembers-one-state"),
            (_, Instruction::RestoreState) if !self.is_latest() => Some("remembered-in-place"),
            (Part::Cfa, Instruction::DefCfaRegister(_)) if !self.is_llvm() => {
                Some("register-in-place")
            }
            (Part::Fp, instruction) => self.by_step_of_fp(instruction),
            (Part::Ra, instruction) => self.by_step_of_ra(instruction),
            _ => None,
        });
        found.or_else(without_rule)
    }

    fn by_step_of_fp(&self, instruction: Instruction) -> Option<&'static str> {
        let fp = self.abi.fp();
        let by_llvm = |defect| Some(defect).filter(|_| self.is_llvm());
        let by_older = |defect| Some(defect).filter(|_| !self.is_latest());
        match instruction {
            Instruction::SameValue(register) if register == fp => by_older("same-value-ignored"),
            Instruction::Undefined(register) if register == fp => {
                by_older("frame-pointer-undefined")
            }
            Instruction::Restore(register) if register == fp && self.is_llvm() => {
                Some("restore-to-first-row")
            }
            Instruction::Restore(register) if register == fp => Some("restore-with-older-cie"),
            Instruction::Register(register, _) if register == fp => {
                by_llvm("frame-pointer-in-register")
            }
            Instruction::ValOffset(register, _) | Instruction::ValOffsetSf(register, _)
                if register == fp =>
            {
                by_llvm("value-offset-ignored")
            }
            Instruction::Offset(register, _)
            | Instruction::OffsetSf(register, _)
            | Instruction::NegativeOffset(register, _)
                if register == fp =>
            {
                by_llvm("relative-save-ignored")
            }
            _ => None,
        }
    }

    fn by_step_of_ra(&self, instruction: Instruction) -> Option<&'static str> {
        match instruction {
            Instruction::Restore(register) if register == self.ra => {
                let is_fixed = self.abi.fixed_ra_offset() != 0;
                Some(if is_fixed { "return-restore-ignored" } else { "restore-with-older-cie" })
            }
            Instruction::SameValue(register) if register == self.ra => Some("same-value-ignored"),
            Instruction::Offset(register, _)
            | Instruction::OffsetSf(register, _)
            | Instruction::NegativeOffset(register, _)
                if register == self.abi.fp() && self.writes_fp_alone() =>
            {
                Some("frame-pointer-only")
            }
            _ => None,
        }
    }

    /// Whether a slot of FP without one of RA is written as that of RA.
    fn writes_fp_alone(&self) -> bool {
        let written = &self.both.written;
        self.assembler == Assembler::Gnu(Release::V2_40)
            && self.abi.is_aarch64()
            && matches!(written.ra, Recovery::AtCfa(_))
            && written.fp == Recovery::Unchanged
    }

    /// Whether CFI has no rule for the return address, and the assembler writes the ABI's.
    fn is_without_rule_for_ra(&self, part: Part) -> bool {
        let fixed = self.abi.fixed_ra_offset();
        let has_none = matches!(self.both.cfi.ra, Recovery::Unchanged | Recovery::Undefined);
        part == Part::Ra
            && fixed != 0
            && has_none
            && self.both.written.ra == Recovery::AtCfa(fixed.into())
    }
}

/// Whether an offset has only the lowest byte of another one, or the lowest two.
fn is_cut(cut: i64, whole: i64) -> bool {
    let [byte, second, ..] = whole.to_le_bytes();
    cut == i64::from(byte.cast_signed()) || cut == i64::from(i16::from_le_bytes([byte, second]))
}
