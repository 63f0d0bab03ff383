//! Determines whether an assembler would move a function's first instructions into the CIE.

use std::collections::BTreeSet;

use sframe_oracle::cfi::Instruction;
use sframe_validator::unwind::Register;

use super::functions::Function;
use super::placed::Placed;
use super::rules::State;

/// The kinds of CIE that the assembler has created so far with only the state at entry.
///
/// GNU as moves instructions before the first advance into a new CIE, unless an existing CIE is a prefix of them, and
/// `.cfi_restore` resets to the CIE's rule (observed: 2.40 to 2.47.50). So the preceding functions affect whether a
/// register saved there is later reset correctly. Once there is a CIE with only the state at entry, the assembler uses
/// it for all functions. Before that, an instruction without effect is inserted to keep the others in the FDE.
#[derive(Debug, Default)]
pub(super) struct Settled(BTreeSet<(Register, bool, bool)>);

impl Settled {
    /// Whether the first instructions of this function, which is written next, must be kept in its FDE.
    pub(super) fn pins(&mut self, function: &Function<'_>, at_entry: &State<'_>) -> bool {
        let cie = function.fde.cie();
        let kind = (cie.return_address, cie.signal, cie.pauth_key_b);
        if function.initial == at_entry && !moves_first(function) {
            self.0.insert(kind);
        }
        function.start.pinned && (function.start.simple || !self.0.contains(&kind))
    }
}

/// Whether the function's first instruction is before the first advance and can move into the CIE.
fn moves_first(function: &Function<'_>) -> bool {
    match Placed::of(&function.fde).next() {
        Some(Ok((0, first))) => !matches!(
            first,
            Instruction::RememberState
                | Instruction::DefCfaExpression(_)
                | Instruction::Expression(..)
                | Instruction::ValExpression(..)
                | Instruction::ArgsSize(_)
                | Instruction::WindowSave
                | Instruction::NegateRaState
                | Instruction::NegateRaStateWithPc
                | Instruction::SetRaState(..)
        ),
        _ => false,
    }
}
