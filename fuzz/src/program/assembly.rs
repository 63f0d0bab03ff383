//! Writes programs as assembly with `.cfi_` directives, in any of the forms that an instruction has.

use std::fmt::Write;

use sframe_validator::unwind::Cfa;

use super::{Frames, Function, Op, Program};

/// An instruction whose form has this bit is written as `.cfi_escape`.
const ESCAPED: u8 = 0x20;

impl Program {
    /// The functions `f0`, `f1`, ... in `.text`, at their addresses relative to the section's start. The assembler
    /// writes the CIE, which must equal this program's.
    #[must_use]
    pub fn assembly(&self) -> String {
        let mut text = String::from("\t.text\n");
        for (number, function) in self.functions.iter().enumerate() {
            line(&mut text, format_args!(".org {:#x}", function.start));
            line(&mut text, format_args!(".type f{number}, %function"));
            writeln!(text, "f{number}:").expect("to memory");
            self.write_function(&mut text, function);
            line(&mut text, format_args!(".size f{number}, .-f{number}"));
        }
        text
    }

    fn write_function(&self, text: &mut String, function: &Function) {
        line(text, format_args!(".cfi_startproc"));
        for (_, mark) in [(self.signal, ".cfi_signal_frame"), (self.key_b, ".cfi_b_key_frame")]
            .iter()
            .filter(|(set, _)| *set)
        {
            line(text, format_args!("{mark}"));
        }
        // Offsets are relative to the assembler's CFA, which it does not know after an escape.
        let plain = !function.ops.iter().any(changes_cfa_unseen);
        let mut frames = Frames::new(self.abi);
        self.initial.iter().for_each(|op| frames.step(op));
        frames.start();
        let mut end = function.size;
        for op in &function.ops {
            match op {
                Op::Advance { bytes: 0, .. } => {}
                Op::Advance { bytes, .. } => {
                    line(text, format_args!(".zero {bytes}"));
                    end -= bytes;
                }
                op => {
                    let cfa = match frames.frame().cfa {
                        Cfa::RegisterOffset { offset, .. } if plain => Some(offset),
                        _ => None,
                    };
                    line(text, format_args!("{}", self.directive(op, cfa)));
                    frames.step(op);
                }
            }
        }
        line(text, format_args!(".zero {end}"));
        line(text, format_args!(".cfi_endproc"));
    }

    /// The directive for an instruction. `cfa`: the CFA's offset, if the assembler knows it.
    fn directive(&self, op: &Op, cfa: Option<i64>) -> String {
        match *op {
            op if op.is_escaped() => self.escape(&op),
            Op::DefCfa { register, offset, .. } => format!(".cfi_def_cfa {}, {offset}", register.0),
            Op::DefCfaRegister { register } => format!(".cfi_def_cfa_register {}", register.0),
            Op::DefCfaOffset { offset, form } => match cfa {
                Some(cfa) if form & 1 != 0 => format!(".cfi_adjust_cfa_offset {}", offset - cfa),
                _ => format!(".cfi_def_cfa_offset {offset}"),
            },
            Op::Undefined { register } => format!(".cfi_undefined {}", register.0),
            Op::SameValue { register } => format!(".cfi_same_value {}", register.0),
            Op::Offset { register, offset, form } => match cfa {
                Some(cfa) if form & 1 != 0 => {
                    format!(".cfi_rel_offset {}, {}", register.0, offset + cfa)
                }
                _ => format!(".cfi_offset {}, {offset}", register.0),
            },
            Op::ValOffset { register, offset, .. } => {
                format!(".cfi_val_offset {}, {offset}", register.0)
            }
            Op::Register { register, source } => {
                format!(".cfi_register {}, {}", register.0, source.0)
            }
            Op::Restore { register, .. } => format!(".cfi_restore {}", register.0),
            Op::RememberState => ".cfi_remember_state".to_owned(),
            Op::RestoreState => ".cfi_restore_state".to_owned(),
            Op::WindowSave => ".cfi_window_save".to_owned(),
            Op::NegateRaState { form } if form & 0x81 == 1 => {
                ".cfi_negate_ra_state_with_pc".to_owned()
            }
            Op::NegateRaState { .. } => ".cfi_negate_ra_state".to_owned(),
            op => self.escape(&op),
        }
    }

    fn escape(&self, op: &Op) -> String {
        let bytes: Vec<_> = self.op_bytes(op).iter().map(|byte| format!("{byte:#04x}")).collect();
        format!(".cfi_escape {}", bytes.join(", "))
    }
}

impl Op {
    /// Changes the form to a directive, if there is one.
    pub const fn spell_out(&mut self) {
        match self {
            Op::DefCfa { form, .. }
            | Op::DefCfaOffset { form, .. }
            | Op::Offset { form, .. }
            | Op::ValOffset { form, .. }
            | Op::Restore { form, .. } => *form &= !ESCAPED,
            _ => {}
        }
    }

    /// Whether the instruction is written as bytes, because there is no directive for it or its form requires it.
    #[must_use]
    pub const fn is_escaped(&self) -> bool {
        match *self {
            Op::DefCfa { form, .. }
            | Op::DefCfaOffset { form, .. }
            | Op::Offset { form, .. }
            | Op::ValOffset { form, .. }
            | Op::Restore { form, .. } => form & ESCAPED != 0,
            Op::DefCfaExpression { .. }
            | Op::Expression { .. }
            | Op::ValExpression { .. }
            | Op::Nop
            | Op::ArgsSize { .. } => true,
            _ => false,
        }
    }
}

fn changes_cfa_unseen(op: &Op) -> bool {
    let cfa = matches!(op, Op::DefCfa { .. } | Op::DefCfaOffset { .. });
    cfa && op.is_escaped() || matches!(op, Op::DefCfaExpression { .. })
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    writeln!(text, "\t{what}").expect("to memory");
}
