//! What the source of a function has that keeps it out of SFrame, although CFI as such does not.

use sframe_validator::elf::{Elf, ElfKind};

use super::Cause;
use crate::cfi::{Cfi, Fde, Instruction};

/// The symbols in the sections of CFI, which `.cfi_label` defines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// For each section that has any, its index and their offsets, ordered.
    sections: Vec<(u32, Vec<u64>)>,
}

impl Labels {
    /// The symbols in the sections of `cfi`, which belong to the file.
    pub(crate) fn of(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Labels {
        let is_relocatable = elf.kind() == ElfKind::Relocatable;
        let of_section = |cfi: &Cfi<'_>| {
            let section = elf.section(cfi.section())?;
            let start = if is_relocatable { 0 } else { section.address };
            let labels = elf.labels_in(section.index).ok()?.into_iter();
            let offsets: Vec<u64> = labels.filter_map(|place| place.checked_sub(start)).collect();
            (!offsets.is_empty()).then_some((section.index, offsets))
        };
        Labels { sections: cfi.iter().filter_map(of_section).collect() }
    }

    /// Whether a symbol is among the instructions of a function.
    fn are_in(&self, function: &Fde<'_>) -> bool {
        let section = function.cfi().section();
        let Some((_, offsets)) = self.sections.iter().find(|(index, _)| *index == section) else {
            return false;
        };
        let (start, end) = function.instruction_offsets();
        let after = offsets.partition_point(|offset| *offset < start);
        offsets.get(after).is_some_and(|offset| *offset <= end)
    }
}

/// What only the source can have that CFI shows, if nothing else keeps a function out of SFrame.
pub(crate) fn of_source(function: &Fde<'_>, labels: &Labels) -> Option<Cause> {
    if labels.are_in(function) {
        return Some(Cause::Label);
    }
    is_escaped(function).then_some(Cause::Escape)
}

/// Whether a function has an instruction that no directive makes.
// observed: GNU as 2.40 to 2.47.50 write `advance_loc` only before another instruction, and `nop` only at the end of an entry, where
// it fills the last word. After `.cfi_label` or `.cfi_escape` without an instruction for the place, two advances follow each other.
fn is_escaped(function: &Fde<'_>) -> bool {
    let mut has_advanced = false;
    let mut has_ended = false;
    function.instructions().filter_map(Result::ok).any(|instruction| {
        let is_advance = matches!(instruction, Instruction::AdvanceLoc(_));
        let is_nop = instruction == Instruction::Nop;
        let is_odd = is_advance && has_advanced || has_ended && !is_nop;
        (has_advanced, has_ended) = (is_advance, is_nop);
        is_odd
            || matches!(
                instruction,
                Instruction::SetLoc(_)
                    | Instruction::DefCfaExpression(_)
                    | Instruction::Expression(..)
                    | Instruction::ValExpression(..)
                    | Instruction::ArgsSize(_)
                    | Instruction::NegativeOffset(..)
            )
    })
}
