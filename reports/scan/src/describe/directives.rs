//! The call frame instructions that lead to a row of CFI.

use std::collections::VecDeque;

use sframe_oracle::cfi::{Fde, Instruction};
use sframe_record::{Address, Directive};
use sframe_validator::Abi;
use sframe_validator::unwind::{Named, Register};

/// The number of instructions that are listed: the last ones.
const MOST: usize = 32;

/// The last instructions of `fde` that apply at `pc` or before, without the CIE's.
pub(super) fn directives(fde: &Fde<'_>, abi: Abi, pc: u64) -> Vec<Directive<'static>> {
    let mut place = fde.start().address;
    let mut last = VecDeque::new();
    for instruction in fde.instructions() {
        let Ok(instruction) = instruction else { break };
        match instruction {
            Instruction::AdvanceLoc(units) => {
                let factor = fde.cie().code_alignment_factor;
                place = place.saturating_add(units.saturating_mul(factor));
            }
            Instruction::SetLoc(to) => place = to.address,
            _ => {}
        }
        if place > pc {
            break;
        }
        let Some(text) = text(&instruction, fde, abi) else { continue };
        if last.len() == MOST {
            last.pop_front();
        }
        last.push_back(Directive { address: Address(place), text: text.into() });
    }
    last.into()
}

/// The name of an instruction, and the register that it is about; `None` if it changes no rule.
fn text(instruction: &Instruction, fde: &Fde<'_>, abi: Abi) -> Option<String> {
    let about = |name: &str, register: Register| {
        let register = match register {
            register if register == abi.fp() => "fp".to_owned(),
            register if register == fde.cie().return_address => "ra".to_owned(),
            other => Named(abi, other).to_string(),
        };
        format!("{name} {register}")
    };
    Some(match *instruction {
        Instruction::DefCfa(..) | Instruction::DefCfaSf(..) => "def_cfa".to_owned(),
        Instruction::DefCfaRegister(_) => "def_cfa_register".to_owned(),
        Instruction::DefCfaOffset(_) | Instruction::DefCfaOffsetSf(_) => {
            "def_cfa_offset".to_owned()
        }
        Instruction::DefCfaExpression(_) => "def_cfa_expression".to_owned(),
        Instruction::Undefined(register) => about("undefined", register),
        Instruction::SameValue(register) => about("same_value", register),
        Instruction::Offset(register, _)
        | Instruction::OffsetSf(register, _)
        | Instruction::NegativeOffset(register, _) => about("offset", register),
        Instruction::ValOffset(register, _) | Instruction::ValOffsetSf(register, _) => {
            about("val_offset", register)
        }
        Instruction::Register(register, _) => about("register", register),
        Instruction::Expression(register, _) => about("expression", register),
        Instruction::ValExpression(register, _) => about("val_expression", register),
        Instruction::Restore(register) => about("restore", register),
        Instruction::RememberState => "remember_state".to_owned(),
        Instruction::RestoreState => "restore_state".to_owned(),
        Instruction::WindowSave => "window_save".to_owned(),
        Instruction::NegateRaState => "negate_ra_state".to_owned(),
        Instruction::NegateRaStateWithPc => "negate_ra_state_with_pc".to_owned(),
        Instruction::SetRaState(..) => "set_ra_state".to_owned(),
        Instruction::Nop
        | Instruction::SetLoc(_)
        | Instruction::AdvanceLoc(_)
        | Instruction::ArgsSize(_) => return None,
    })
}
