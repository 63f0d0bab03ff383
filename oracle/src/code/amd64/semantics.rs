//! The effects of AMD64 instructions after which the following one is executed.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

use super::{number, whole};
use crate::code::effect::{Effect, Extension, NO_REGISTER, RegisterNumber, SCRATCH, place};

/// RAX, which holds the number of a system call, and what CDQE extends.
const AX: RegisterNumber = 0;
/// The number of Linux's `clone` (arch/x86/entry/syscalls/syscall_64.tbl).
const CLONE: u16 = 56;
/// The numbers of Linux's `rt_sigreturn`, `exit` and `exit_group`.
const ENDS: [u16; 3] = [15, 60, 231];
/// RSP.
const SP: RegisterNumber = 7;
/// RBP.
const FP: RegisterNumber = 6;
/// RDI.
const DI: RegisterNumber = 5;
/// RSI, the stack of a new thread in `clone`.
const SI: RegisterNumber = 4;
/// The registers that a system call may change (psABI A.2.1): RAX, RCX, R11.
const SYSCALL: u32 = 0b1000_0000_0101;

/// The set of a register.
fn set_of(name: Register) -> u32 {
    number(name).map_or(0, |number| 1 << number)
}

/// The memory operand as a register, or [`NO_REGISTER`], plus an offset. `None` if it is anything else.
fn address(instruction: &Instruction) -> Option<(RegisterNumber, i32)> {
    if instruction.memory_index() != Register::None {
        return None;
    }
    base(instruction)
}

/// The memory operand without its index: a register, or [`NO_REGISTER`], plus an offset. `None` if it is anything else.
fn base(instruction: &Instruction) -> Option<(RegisterNumber, i32)> {
    if instruction.has_segment_prefix() {
        return None;
    }
    let base = match instruction.memory_base() {
        Register::None => NO_REGISTER,
        base => whole(base)?,
    };
    let offset = instruction.memory_displacement64().cast_signed();
    Some((base, i32::try_from(offset).ok()?))
}

/// A load of 8 bytes, or of an element of a jump table.
fn load(instruction: &Instruction, to: RegisterNumber, extension: Extension) -> Effect {
    if let Some(element) = element(instruction, to, extension) {
        return element;
    }
    match address(instruction) {
        Some((base, offset)) => Effect::Load { to, base, offset },
        None => Effect::Copy { to, from: NO_REGISTER, plus: 0 },
    }
}

/// A load of 4 bytes, without an extension, from the sum of two registers: how GCC loads an element if it does not optimise.
fn element_of_4_bytes(instruction: &Instruction) -> Option<Effect> {
    let to = instruction.op0_register();
    if !to.is_gpr32() || instruction.memory_index_scale() != 1 {
        return None;
    }
    element(instruction, number(to)?, Extension::Zero)
}

/// A load of an element of an array: the index, or the distance that GCC has computed from it if it does not optimise, is
/// in a register.
fn element(instruction: &Instruction, to: RegisterNumber, extension: Extension) -> Option<Effect> {
    // First, because most operands have no index.
    let index = whole(instruction.memory_index())?;
    let size = u8::try_from(instruction.memory_size().size()).ok()?;
    let scale = u8::try_from(instruction.memory_index_scale()).ok()?;
    if !matches!(size, 4 | 8) || scale != size && scale != 1 {
        return None;
    }
    let (base, offset) = base(instruction)?;
    Some(Effect::Element { to, base, offset, index, scale, size, extension })
}

/// Loads the target of a jump to an address in memory.
pub(super) fn jump_target(instruction: &Instruction, effects: &mut Vec<Effect>) {
    if instruction.is_ip_rel_memory_operand() {
        let value = instruction.ip_rel_memory_address().cast_signed();
        effects.push(Effect::Constant { to: SCRATCH, value });
        effects.push(Effect::Load { to: SCRATCH, base: SCRATCH, offset: 0 });
    } else {
        effects.push(load(instruction, SCRATCH, Extension::Zero));
    }
}

/// A store to the memory operand; [`NO_REGISTER`] stores something unknown.
fn store(instruction: &Instruction, from: RegisterNumber) -> Effect {
    let (base, offset) = address(instruction).unwrap_or((NO_REGISTER, 0));
    let size = match instruction.memory_size().size() {
        // The size of XSAVE's area depends on the processor.
        0 => u8::MAX,
        size => u8::try_from(size).unwrap_or(u8::MAX),
    };
    Effect::Store { from, base, offset, size }
}

/// The value of an immediate operand, sign-extended.
fn immediate(instruction: &Instruction, operand: u32) -> Option<i64> {
    instruction.try_immediate(operand).ok().map(u64::cast_signed)
}

/// Finds the effects of instructions.
#[derive(Default)]
pub(super) struct Semantics {
    /// Made for the first instruction that needs it: most functions have none.
    info: Option<InstructionInfoFactory>,
}

impl Semantics {
    /// The effects of an instruction after which the following one is executed.
    pub(super) fn effects(&mut self, instruction: &Instruction, effects: &mut Vec<Effect>) {
        match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pushfq => push(instruction, effects),
            Mnemonic::Pop => pop(instruction, effects),
            Mnemonic::Popfq => {
                effects.push(Effect::Forget);
                effects.push(Effect::Copy { to: SP, from: SP, plus: 8 });
            }
            Mnemonic::Mov => self.mov(instruction, effects),
            Mnemonic::Lea => effects.push(lea(instruction)),
            Mnemonic::Add | Mnemonic::Sub => self.add(instruction, effects),
            Mnemonic::And => self.and(instruction, effects),
            Mnemonic::Cmp => effects.push(compare(instruction)),
            Mnemonic::Test => effects.push(Effect::Forget),
            Mnemonic::Movzx => self.movzx(instruction, effects),
            Mnemonic::Movsxd | Mnemonic::Cdqe => self.sign_extend(instruction, effects),
            Mnemonic::Enter => enter(instruction, effects),
            Mnemonic::Leave => {
                effects.push(Effect::Copy { to: SP, from: FP, plus: 8 });
                effects.push(Effect::Load { to: FP, base: FP, offset: 0 });
            }
            Mnemonic::Syscall => {
                effects.push(Effect::SystemCall {
                    number: AX,
                    clone: CLONE,
                    stack: SI,
                    ends: ENDS,
                    clobbers: SYSCALL,
                });
            }
            Mnemonic::Int => effects.push(Effect::Clobber(SYSCALL)),
            Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Pause | Mnemonic::Prefetcht0 => {}
            _ if is_zeroing(instruction) => {
                effects.push(Effect::Forget);
                effects.extend(
                    number(instruction.op0_register()).map(|to| Effect::Constant { to, value: 0 }),
                );
            }
            _ => self.other(instruction, effects),
        }
    }

    fn mov(&mut self, instruction: &Instruction, effects: &mut Vec<Effect>) {
        let (to, from) = (instruction.op0_register(), instruction.op1_register());
        let size = instruction.memory_size().size();
        let effect = match (instruction.op0_kind(), instruction.op1_kind()) {
            (OpKind::Register, OpKind::Register) => match (whole(to), whole(from)) {
                (Some(to), Some(from)) => Effect::Copy { to, from, plus: 0 },
                _ if to.is_gpr32() && from.is_gpr32() => {
                    let (Some(to), Some(from)) = (number(to), number(from)) else { return };
                    Effect::Narrow { to, from, most: u32::MAX }
                }
                _ => Effect::Clobber(set_of(to)),
            },
            (OpKind::Register, OpKind::Memory) => match whole(to) {
                Some(to) if size == 8 => load(instruction, to, Extension::Sign),
                _ => element_of_4_bytes(instruction).unwrap_or(Effect::Clobber(set_of(to))),
            },
            (OpKind::Memory, OpKind::Register) => {
                store(instruction, whole(from).filter(|_| size == 8).unwrap_or(NO_REGISTER))
            }
            (OpKind::Memory, _) => store(instruction, NO_REGISTER),
            _ => match (number(to), immediate(instruction, 1)) {
                (Some(to), Some(value)) if instruction.op0_register().is_gpr64() => {
                    Effect::Constant { to, value }
                }
                (Some(to), Some(value)) if instruction.op0_register().is_gpr32() => {
                    Effect::Constant { to, value: value & 0xffff_ffff }
                }
                _ => return self.other(instruction, effects),
            },
        };
        effects.push(effect);
    }

    fn add(&mut self, instruction: &Instruction, effects: &mut Vec<Effect>) {
        effects.push(Effect::Forget);
        let is_sum = instruction.mnemonic() == Mnemonic::Add;
        let Some(to) = whole(instruction.op0_register()) else {
            return self.other(instruction, effects);
        };
        let plus = immediate(instruction, 1).and_then(|number| {
            i32::try_from(if is_sum { number } else { number.checked_neg()? }).ok()
        });
        effects.push(match (plus, whole(instruction.op1_register())) {
            (Some(plus), _) => Effect::Copy { to, from: to, plus },
            (None, Some(b)) if is_sum => {
                Effect::Add { to, a: to, b, shift: 0, extension: Extension::Zero }
            }
            (None, Some(b)) => Effect::Subtract { to, a: to, b },
            _ => Effect::Clobber(1 << to),
        });
    }

    /// `and` with a negative number aligns the stack; with another, it limits an index, unless it leaves the register's upper
    /// bits as they are: those with 4 bytes are zero then.
    fn and(&mut self, instruction: &Instruction, effects: &mut Vec<Effect>) {
        effects.push(Effect::Forget);
        let mask = immediate(instruction, 1);
        match (whole(instruction.op0_register()), number(instruction.op0_register()), mask) {
            (Some(SP), _, Some(..0)) => {
                effects.push(Effect::Align { register: SP, place: place(instruction.ip()) });
            }
            (_, Some(to), Some(mask))
                if u32::try_from(mask).is_ok() && instruction.op0_register().size() >= 4 =>
            {
                let most = u32::try_from(mask).unwrap_or(u32::MAX);
                effects.push(Effect::Narrow { to, from: to, most });
            }
            _ => self.other(instruction, effects),
        }
    }

    fn movzx(&mut self, instruction: &Instruction, effects: &mut Vec<Effect>) {
        let Some(to) = number(instruction.op0_register()) else {
            return self.other(instruction, effects);
        };
        let from = instruction.op1_register();
        let size = match instruction.op1_kind() {
            OpKind::Register => from.size(),
            _ => instruction.memory_size().size(),
        };
        let most = if size == 1 { 0xff } else { 0xffff };
        // The second byte of a register is not the low bits of a number.
        let is_high = matches!(from, Register::AH | Register::BH | Register::CH | Register::DH);
        effects.push(match number(from).filter(|_| !is_high) {
            Some(from) => Effect::Narrow { to, from, most },
            None => Effect::Limit { to, most },
        });
    }

    /// Extends 4 bytes with their sign.
    fn sign_extend(&mut self, instruction: &Instruction, effects: &mut Vec<Effect>) {
        if instruction.mnemonic() == Mnemonic::Cdqe {
            effects.push(Effect::Extend { to: AX, from: AX });
            return;
        }
        let Some(to) = whole(instruction.op0_register()) else {
            return self.other(instruction, effects);
        };
        effects.push(match number(instruction.op1_register()) {
            Some(from) => Effect::Extend { to, from },
            None => load_signed(instruction, to),
        });
    }

    /// Any instruction: what it writes is unknown.
    fn other(&mut self, instruction: &Instruction, effects: &mut Vec<Effect>) {
        if instruction.rflags_modified() != 0 {
            effects.push(Effect::Forget);
        }
        if writes_only_vectors(instruction) {
            return;
        }
        let info = self.info.get_or_insert_with(InstructionInfoFactory::new).info(instruction);
        let writes = |access| {
            matches!(
                access,
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            )
        };
        // Only the memory operand can be on the stack, apart from pushes. Its base may be written as well.
        if info.used_memory().iter().any(|used| writes(used.access())) {
            effects.push(match instruction.op0_kind() {
                OpKind::MemoryESRDI if is_repeated(instruction) => Effect::Fill { base: DI },
                OpKind::MemoryESRDI => {
                    Effect::Store { from: NO_REGISTER, base: DI, offset: 0, size: 8 }
                }
                _ => store(instruction, NO_REGISTER),
            });
        }
        let written = info.used_registers().iter().filter(|used| writes(used.access()));
        let set = written.fold(0, |set, used| set | set_of(used.register()));
        if set != 0 {
            effects.push(Effect::Clobber(set));
        }
    }
}

fn is_repeated(instruction: &Instruction) -> bool {
    instruction.has_rep_prefix() || instruction.has_repne_prefix()
}

/// Whether the instruction's only result is in a vector register. This is a shortcut for frequent instructions.
fn writes_only_vectors(instruction: &Instruction) -> bool {
    let first = instruction.op0_register();
    let has_implicit_result = matches!(
        instruction.mnemonic(),
        Mnemonic::Pcmpestri
            | Mnemonic::Pcmpistri
            | Mnemonic::Vpcmpestri
            | Mnemonic::Vpcmpistri
            | Mnemonic::Maskmovdqu
            | Mnemonic::Vmaskmovdqu
    );
    instruction.op0_kind() == OpKind::Register && first.is_vector_register() && !has_implicit_result
}

fn load_signed(instruction: &Instruction, to: RegisterNumber) -> Effect {
    match load(instruction, to, Extension::Sign) {
        element @ Effect::Element { .. } => element,
        _ => Effect::Clobber(1 << to),
    }
}

fn push(instruction: &Instruction, effects: &mut Vec<Effect>) {
    let size = instruction.stack_pointer_increment().saturating_neg();
    // The value of RSP that is pushed is the one before the push.
    let from = match instruction.op0_kind() {
        OpKind::Register => {
            let from = whole(instruction.op0_register());
            if from == Some(SP) {
                effects.push(Effect::Copy { to: SCRATCH, from: SP, plus: 0 });
                Some(SCRATCH)
            } else {
                from
            }
        }
        OpKind::Memory if size == 8 => {
            effects.push(load(instruction, SCRATCH, Extension::Sign));
            Some(SCRATCH)
        }
        _ => None,
    };
    let from = from.unwrap_or(NO_REGISTER);
    effects.push(Effect::Copy { to: SP, from: SP, plus: size.saturating_neg() });
    effects.push(Effect::Store { from, base: SP, offset: 0, size: if size == 8 { 8 } else { 2 } });
}

/// Saves FP, which becomes SP, and makes room. Between them are the addresses of as many frames as the nesting level says.
fn enter(instruction: &Instruction, effects: &mut Vec<Effect>) {
    // The processor uses the lowest 5 bits of the level.
    let addresses = (instruction.immediate8_2nd() & 31) * 8;
    effects.push(Effect::Copy { to: SP, from: SP, plus: -8 });
    effects.push(Effect::Store { from: FP, base: SP, offset: 0, size: 8 });
    effects.push(Effect::Copy { to: FP, from: SP, plus: 0 });
    effects.push(Effect::Copy { to: SP, from: SP, plus: -i32::from(addresses) });
    effects.push(Effect::Store { from: NO_REGISTER, base: SP, offset: 0, size: addresses });
    effects.push(Effect::Copy { to: SP, from: SP, plus: -i32::from(instruction.immediate16()) });
}

fn pop(instruction: &Instruction, effects: &mut Vec<Effect>) {
    let size = instruction.stack_pointer_increment();
    match (instruction.op0_kind(), whole(instruction.op0_register())) {
        (OpKind::Register, Some(to)) => {
            effects.push(Effect::Load { to, base: SP, offset: 0 });
            if to != SP {
                effects.push(Effect::Copy { to: SP, from: SP, plus: size });
            }
        }
        (OpKind::Register, None) => {
            effects.push(Effect::Clobber(set_of(instruction.op0_register())));
            effects.push(Effect::Copy { to: SP, from: SP, plus: size });
        }
        _ => {
            // An address relative to RSP is computed after RSP is increased.
            effects.push(Effect::Copy { to: SP, from: SP, plus: size });
            effects.push(store(instruction, NO_REGISTER));
        }
    }
}

fn lea(instruction: &Instruction) -> Effect {
    let Some(to) = whole(instruction.op0_register()) else {
        return Effect::Clobber(set_of(instruction.op0_register()));
    };
    if instruction.is_ip_rel_memory_operand() {
        return Effect::Constant { to, value: instruction.ip_rel_memory_address().cast_signed() };
    }
    if let Some((from, plus)) = address(instruction).filter(|(base, _)| *base != NO_REGISTER) {
        return Effect::Copy { to, from, plus };
    }
    let sum = || sum(instruction, to);
    distance(instruction, to).or_else(sum).unwrap_or(Effect::Clobber(1 << to))
}

/// The sum of two registers: glibc's string functions add the elements of their jump tables so.
fn sum(instruction: &Instruction, to: RegisterNumber) -> Option<Effect> {
    let b = whole(instruction.memory_index()).filter(|_| instruction.memory_index_scale() == 1)?;
    let (a, offset) = base(instruction)?;
    let is_sum = a != NO_REGISTER && offset == 0;
    is_sum.then_some(Effect::Add { to, a, b, shift: 0, extension: Extension::Zero })
}

/// The distance of an element from the start of its array.
fn distance(instruction: &Instruction, to: RegisterNumber) -> Option<Effect> {
    let index = whole(instruction.memory_index())?;
    let size = u8::try_from(instruction.memory_index_scale()).ok()?;
    (base(instruction)? == (NO_REGISTER, 0)).then_some(Effect::Scale { to, index, size })
}

fn compare(instruction: &Instruction) -> Effect {
    let first = instruction.op0_register();
    if let (Some(a), Some(b)) = (whole(first), whole(instruction.op1_register())) {
        return Effect::Compare { a, b };
    }
    let bits = match first.size() {
        1 => 0xff,
        2 => 0xffff,
        _ => i64::from(u32::MAX),
    };
    let limit = immediate(instruction, 1).and_then(|number| match first.size() {
        8 => u32::try_from(number).ok(),
        _ => u32::try_from(number & bits).ok(),
    });
    match (number(first), limit) {
        (Some(a), Some(number)) => Effect::CompareNumber { a, number },
        _ => Effect::Forget,
    }
}

fn is_zeroing(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Xor
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
        && (instruction.op0_register().is_gpr32() || instruction.op0_register().is_gpr64())
}
