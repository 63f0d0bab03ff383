//! Generates programs from entropy. Each instruction has bytes of its own, so changing a byte changes only one
//! instruction.

use arbitrary::{Result, Unstructured};
use sframe_oracle::cfi::Kind;
use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Register};

use super::write::signs;
use super::{Expression, Frames, Function, Op, Program};

/// The number of bytes of entropy for the section, for a function without its instructions, and for an instruction.
const HEADER: usize = 16;
const HEAD: usize = 8;
const OP: usize = 8;
/// The number of instructions in a function.
const OPS: usize = 24;
/// The maximum number of functions.
const MAX_FUNCTIONS: usize = 16;
/// The maximum number of remembered states.
const MAX_DEPTH: usize = 8;

/// The constraints on the instructions.
pub struct Scope<'s> {
    /// Whether only constructs that gimli can read are allowed. This excludes vendors' instructions that it does not
    /// know, and augmentation `B`.
    pub for_gimli: bool,
    /// Whether only `.eh_frame` in versions 1 and 3 is allowed, for an ELF file.
    pub in_file: bool,
    /// The machine; if `None`, entropy selects it.
    pub abi: Option<Abi>,
    /// The allowed kinds of instructions, as a set of bits. Advances are always allowed.
    pub ops: u32,
    /// Whether a frame may be in effect at an advance. The frame at the start of a function must always be allowed.
    pub allows: &'s dyn Fn(Abi, Frame) -> bool,
}

impl Scope<'_> {
    /// Every kind of instruction.
    pub const ALL_OPS: u32 = (1 << 24) - 1;
}

impl Program {
    /// The program that `entropy` encodes, with functions from `start` on.
    #[must_use]
    pub fn new(entropy: &[u8], start: u64, scope: &Scope<'_>) -> Program {
        let (head, rest) = entropy.split_at(entropy.len().min(HEADER));
        let mut program = header(&mut Unstructured::new(head), scope).expect("never runs out");
        let mut end = start;
        for block in rest.chunks(HEAD + OPS * OP).take(MAX_FUNCTIONS) {
            let function = function(block, &program, scope, end).expect("never runs out");
            end = function.start + u64::from(function.size);
            program.functions.push(function);
        }
        program
    }
}

/// The offset of the CFA from SP at a function's entry.
fn entry_offset(abi: Abi) -> i64 {
    match abi {
        Abi::Amd64 => 8,
        Abi::S390x => 160,
        Abi::Aarch64Big | Abi::Aarch64Little => 0,
    }
}

fn header(input: &mut Unstructured<'_>, scope: &Scope<'_>) -> Result<Program> {
    let abi = scope.abi.map_or_else(|| input.choose(&Abi::ALL).copied(), Ok)?;
    let debug = input.ratio(1, 4)? && !scope.in_file;
    let kind = if debug { Kind::DebugFrame } else { Kind::EhFrame };
    let version = *input.choose(if debug { &[1, 3, 4][..] } else { &[1, 3] })?;
    let unit = abi.instruction_alignment();
    let code_factor = if input.arbitrary()? { unit } else { 1 };
    let data_factor = *input.choose(&[-8, -8, -4, 8, 1, -1, 4, 2])?;
    // absptr, udata4, sdata8, uleb128; pcrel sdata4, sdata8, sleb128.
    let encodings = [None, Some(0x1b), Some(0x1c), Some(0x00), Some(0x0c), Some(0x03), Some(0x01)];
    let encoding = if debug { None } else { *input.choose(&encodings)? };
    let encoding =
        encoding.or_else(|| input.ratio(1, 8).is_ok_and(|some| some && !debug).then_some(0x19));
    let mut initial = vec![Op::DefCfa {
        register: abi.sp(),
        offset: entry_offset(abi),
        form: input.arbitrary()?,
    }];
    if abi == Abi::Amd64 {
        initial.push(Op::Offset {
            register: abi.ra(),
            offset: -8,
            form: input.arbitrary::<u8>()? | 0x80,
        });
    }
    if input.arbitrary()? {
        initial.push(Op::SameValue { register: abi.fp() });
    }
    Ok(Program {
        abi,
        kind,
        version,
        code_factor,
        data_factor,
        signal: encoding.is_some() && input.ratio(1, 6)?,
        key_b: encoding.is_some() && abi.is_aarch64() && !scope.for_gimli && input.arbitrary()?,
        encoding,
        initial,
        functions: Vec::new(),
    })
}

fn function(block: &[u8], program: &Program, scope: &Scope<'_>, end: u64) -> Result<Function> {
    let (head, rest) = block.split_at(block.len().min(HEAD));
    let mut input = Unstructured::new(head);
    let unit = program.abi.instruction_alignment();
    let gap = u64::from(input.arbitrary::<u8>()? / 64 * 16);
    let slack = 1 + u32::from(input.arbitrary::<u8>()?);
    let mut function =
        Function { start: (end + gap).next_multiple_of(4), size: 0, ops: Vec::new() };
    let mut frames = Frames::new(program.abi);
    program.initial.iter().for_each(|op| frames.step(op));
    frames.start();
    for entropy in rest.chunks(OP) {
        let op = op(&mut Unstructured::new(entropy), program, scope, &frames)?;
        let Some(op) = op else { continue };
        if let Op::Advance { bytes, .. } = op {
            let bytes = bytes / unit * unit;
            make_allowed(program, scope, &mut frames, &mut function.ops);
            let op = match op {
                Op::Advance { form, .. } => Op::Advance { bytes, form },
                other => other,
            };
            function.size += bytes;
            function.ops.push(op);
        } else {
            frames.step(&op);
            function.ops.push(op);
        }
    }
    make_allowed(program, scope, &mut frames, &mut function.ops);
    // The last row has some bytes, so that the final state is visible.
    function.size += slack.next_multiple_of(unit);
    Ok(function)
}

/// Continues with plain rules if the current frame is not allowed.
fn make_allowed(program: &Program, scope: &Scope<'_>, frames: &mut Frames, ops: &mut Vec<Op>) {
    let abi = program.abi;
    if (scope.allows)(abi, frames.frame()) {
        return;
    }
    let ra = match abi {
        Abi::Amd64 => Op::Offset { register: abi.ra(), offset: -8, form: 0 },
        _ => Op::SameValue { register: abi.ra() },
    };
    let fp = Op::Restore { register: abi.fp(), form: 0 };
    let cfa = Op::DefCfa { register: abi.sp(), offset: entry_offset(abi) + 16, form: 0 };
    for op in [cfa, fp, ra] {
        frames.step(&op);
        ops.push(op);
        if (scope.allows)(abi, frames.frame()) {
            return;
        }
    }
    panic!("{:?} should be allowed", frames.frame());
}

/// Any register that matters, or another one.
fn register(number: u8, abi: Abi) -> Register {
    match number % 8 {
        0..=2 => abi.fp(),
        3 | 4 => abi.ra(),
        5 => abi.sp(),
        _ => other(number, abi),
    }
}

/// A register whose rules do not matter, but not AArch64's signing state.
fn other(number: u8, abi: Abi) -> Register {
    Register(match u32::from(number / 8) % 32 {
        number if abi == Abi::Amd64 => number % 16,
        number => number,
    })
}

fn expression(input: &mut Unstructured<'_>, abi: Abi, offset: i64) -> Result<Expression> {
    let (base, form): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
    let register = match base % 4 {
        0 => None,
        1 => Some(abi.sp()),
        2 => Some(abi.fp()),
        _ => Some(other(base, abi)),
    };
    Ok(Expression { register, offset, loaded: form & 0x80 != 0, form })
}

fn op(
    input: &mut Unstructured<'_>,
    program: &Program,
    scope: &Scope<'_>,
    frames: &Frames,
) -> Result<Option<Op>> {
    let abi = program.abi;
    let (class, form, number): (u8, u8, u8) =
        (input.arbitrary()?, input.arbitrary()?, input.arbitrary()?);
    let size = input.arbitrary::<i16>()?;
    // This bit selects most of the forms that gimli does not know.
    let form = if scope.for_gimli { form | 0x80 } else { form };
    let register = register(number, abi);
    let offset = i64::from(size % 32) * 8;
    let cfa_offset = entry_offset(abi) + i64::from(size).abs() % 64 * 16;
    let base = match number % 4 {
        0 | 1 => abi.sp(),
        2 => abi.fp(),
        _ => other(number, abi),
    };
    let mut classes = (0..24).map(|further| (class % 24 + further) % 24);
    let class = classes.find(|class| *class <= 4 || scope.ops & 1 << class != 0).unwrap_or(0);
    Ok(Some(match class {
        0..=4 => {
            let bytes = u32::from(size.unsigned_abs()) % if form & 0x40 == 0 { 32 } else { 0x800 };
            Op::Advance { bytes, form }
        }
        5 | 6 => Op::DefCfa { register: base, offset: cfa_offset, form },
        7 | 8 if frames.has_cfa_parts() => Op::DefCfaOffset { offset: cfa_offset, form },
        9 if frames.has_cfa_parts() => Op::DefCfaRegister { register: base },
        10 => {
            let mut expression = expression(input, abi, offset)?;
            expression.register.get_or_insert(abi.fp());
            Op::DefCfaExpression { expression }
        }
        11 => Op::Undefined { register },
        12 => Op::SameValue { register },
        13 | 14 => Op::Offset { register, offset: -offset.abs(), form },
        15 => Op::Offset { register, offset, form },
        16 => Op::ValOffset { register, offset, form },
        17 => Op::Register { register, source: other(form, abi) },
        18 => {
            let expression = expression(input, abi, offset)?;
            Op::Expression { register, expression: Expression { loaded: false, ..expression } }
        }
        19 => Op::ValExpression { register, expression: expression(input, abi, offset)? },
        20 => Op::Restore { register, form },
        21 if frames.depth() < MAX_DEPTH => Op::RememberState,
        22 if frames.depth() > 0 => Op::RestoreState,
        23 if signs(abi) => Op::NegateRaState { form },
        23 if form & 1 == 0 || scope.for_gimli => Op::ArgsSize { bytes: size.unsigned_abs() },
        23 => Op::WindowSave,
        _ => Op::Nop,
    }))
}
