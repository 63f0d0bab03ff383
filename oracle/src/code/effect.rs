//! The effects of which transfer functions are made, for every machine.
//!
//! A decoder turns each instruction into a few effects on registers and the stack, and where control goes after it.
//! Effects say only what matters for unwinding: an instruction that computes something else makes its result unknown.

/// A register by its DWARF number, but for vector registers ([`FIRST_VECTOR`]).
pub(super) type RegisterNumber = u8;

/// No register: an address without a base, or an unknown value. Nothing is ever known about it.
pub(super) const NO_REGISTER: RegisterNumber = 60;

/// A register of the decoder's own, for steps within an instruction.
pub(super) const SCRATCH: RegisterNumber = 33;

/// The lower halves of the vector registers that functions keep for their callers: AArch64's D8 to D15.
pub(super) const FIRST_VECTOR: RegisterNumber = 34;

/// The number of registers: those of the machine (AArch64 has most, 0 to 31; the return address of AMD64 is 16), [`SCRATCH`],
/// and eight vector registers.
pub(super) const REGISTERS: usize = 42;

/// An effect of an instruction. What it does to an abstract state is its transfer function (`state.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// `to = from + plus`.
    Copy { to: RegisterNumber, from: RegisterNumber, plus: i32 },
    /// `to` = `from` plus this number of lengths of predicates, which are multiples of 2 bytes (AArch64).
    AddPredicates { to: RegisterNumber, from: RegisterNumber, predicates: i16 },
    /// `to` becomes a number from 0 to `most`: some low bits of `from`.
    Narrow { to: RegisterNumber, from: RegisterNumber, most: u32 },
    /// `to` becomes the low 4 bytes of `from`, extended with their sign.
    Extend { to: RegisterNumber, from: RegisterNumber },
    /// `to = value`.
    Constant { to: RegisterNumber, value: i64 },
    /// `to = a + (b << shift)`; `b` may be extended from its own size with its sign.
    Add {
        to: RegisterNumber,
        a: RegisterNumber,
        b: RegisterNumber,
        shift: u8,
        extension: Extension,
    },
    /// `to = index * size`: the distance of an element from the start of its array.
    Scale { to: RegisterNumber, index: RegisterNumber, size: u8 },
    /// `to = a - b`.
    Subtract { to: RegisterNumber, a: RegisterNumber, b: RegisterNumber },
    /// `to` becomes a number from 0 to `most`.
    Limit { to: RegisterNumber, most: u32 },
    /// The register is rounded down; `place` identifies the instruction.
    Align { register: RegisterNumber, place: u32 },
    /// `to` becomes the 8 bytes at `base + offset`.
    Load { to: RegisterNumber, base: RegisterNumber, offset: i32 },
    /// `to` becomes the element of an array at `base + offset + index * scale`.
    Element {
        to: RegisterNumber,
        base: RegisterNumber,
        offset: i32,
        index: RegisterNumber,
        scale: u8,
        size: u8,
        extension: Extension,
    },
    /// `size` bytes at `base + offset` become the value of `from`.
    Store { from: RegisterNumber, base: RegisterNumber, offset: i32, size: u8 },
    /// An unknown number of bytes from the address in `base` on get unknown content.
    Fill { base: RegisterNumber },
    /// The registers of a set, by bits, become unknown.
    Clobber(u32),
    /// A function is called and returns: the registers of a set become unknown, and so does the memory below SP.
    Call(u32),
    /// A system call, with its number in a register: the registers of a set become unknown. After the one with the number
    /// `clone`, a new thread has the stack in `stack`, or that of its parent if it is 0; after `clone3`, it may have another one.
    /// Those with the numbers `ends` do not return.
    SystemCall {
        number: RegisterNumber,
        clone: u16,
        stack: RegisterNumber,
        ends: [u16; 3],
        clobbers: u32,
    },
    /// Two registers are compared.
    Compare { a: RegisterNumber, b: RegisterNumber },
    /// A register is compared with a number.
    CompareNumber { a: RegisterNumber, number: u32 },
    /// The result of the last comparison is lost.
    Forget,
    /// The return address in its register is signed (AArch64).
    Sign(Key),
    /// A signed return address in its register becomes the address itself (AArch64).
    Authenticate(Key),
    /// The address of the instruction is a part of the signature. Directives that name it come before the instruction, so that the
    /// row at it is that after it (AArch64).
    NamedByDirective,
    /// The signature of the return address in its register is removed, if there is one (AArch64).
    Strip,
}

/// A set of registers by bits, and of what else effects concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct RegisterSet(u64);

impl RegisterSet {
    /// The result of the last comparison.
    pub(super) const COMPARED: RegisterSet = RegisterSet(1 << 63);

    /// All registers, and what else effects concern.
    pub(super) const ALL: RegisterSet = RegisterSet(u64::MAX);

    /// Effects that always matter concern this one, about which something is always known.
    pub(super) const ALWAYS: RegisterSet = RegisterSet(1 << 62);

    /// The stack, and whether the return address is signed.
    pub(super) const FRAME: RegisterSet = RegisterSet(1 << 61);

    /// A single register, or [`NO_REGISTER`].
    pub(super) const fn of(register: RegisterNumber) -> RegisterSet {
        RegisterSet(1 << (register & 63))
    }

    /// The registers of a set of the first 32.
    pub(super) const fn of_set(set: u32) -> RegisterSet {
        RegisterSet(set as u64)
    }

    /// Whether two sets have anything in common.
    pub(super) const fn meet(self, other: RegisterSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The registers of both sets.
    pub(super) const fn and(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 & other.0)
    }

    pub(super) const fn with(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 | other.0)
    }

    pub(super) const fn without(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 & !other.0)
    }

    /// Takes the lowest register from the set.
    #[allow(clippy::cast_possible_truncation, reason = "the number of a bit")]
    pub(super) const fn pop(&mut self) -> Option<RegisterNumber> {
        let lowest = self.0.trailing_zeros() as RegisterNumber;
        self.0 &= self.0.wrapping_sub(1);
        if lowest < u64::BITS as RegisterNumber { Some(lowest) } else { None }
    }
}

impl Effect {
    /// The registers that matter: if nothing is known about them, the transfer function is the identity.
    pub(super) fn subjects(&self) -> RegisterSet {
        let of = RegisterSet::of;
        match *self {
            Effect::Copy { to, from, .. }
            | Effect::AddPredicates { to, from, .. }
            | Effect::Narrow { to, from, most: u32::MAX }
            | Effect::Extend { to, from } => of(to).with(of(from)),
            Effect::Add { to, a, b, .. } | Effect::Subtract { to, a, b } => {
                of(to).with(of(a)).with(of(b))
            }
            Effect::Load { to, base, .. } | Effect::Element { to, base, .. }
                if base != NO_REGISTER =>
            {
                of(to).with(of(base))
            }
            Effect::Store { from, base, .. } => of(from).with(of(base)),
            Effect::Fill { base } => of(base),
            Effect::Clobber(set) => RegisterSet::of_set(set),
            Effect::Forget => RegisterSet::COMPARED,
            // The result may be known although nothing was known before.
            _ => RegisterSet::ALWAYS,
        }
    }

    /// What the effect may change.
    pub(super) fn changes(&self) -> RegisterSet {
        match *self {
            Effect::Copy { to, .. }
            | Effect::AddPredicates { to, .. }
            | Effect::Narrow { to, .. }
            | Effect::Extend { to, .. }
            | Effect::Constant { to, .. }
            | Effect::Add { to, .. }
            | Effect::Scale { to, .. }
            | Effect::Subtract { to, .. }
            | Effect::Limit { to, .. }
            | Effect::Align { register: to, .. }
            | Effect::Load { to, .. }
            | Effect::Element { to, .. } => RegisterSet::of(to),
            Effect::Clobber(set) => RegisterSet::of_set(set),
            Effect::Call(set) => RegisterSet::of_set(set).with(RegisterSet::FRAME),
            Effect::SystemCall { .. } => RegisterSet::ALL,
            Effect::Compare { .. } | Effect::CompareNumber { .. } | Effect::Forget => {
                RegisterSet::COMPARED
            }
            Effect::Store { .. }
            | Effect::Fill { .. }
            | Effect::Sign(_)
            | Effect::Authenticate(_)
            | Effect::NamedByDirective
            | Effect::Strip => RegisterSet::FRAME,
        }
    }
}

/// A key that signs return addresses (Arm Architecture Reference Manual, D8.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    A,
    B,
}

/// Both keys.
pub(super) const KEYS: [Key; 2] = [Key::A, Key::B];

/// A number for the instruction at an address, different from those of other instructions of a function.
#[allow(clippy::cast_possible_truncation, reason = "functions are smaller than 4 GiB")]
pub(super) const fn place(address: u64) -> u32 {
    address as u32
}

/// How a number becomes one of 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extension {
    Zero,
    Sign,
}

/// When a branch is taken, after a comparison of unsigned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Above,
    AboveOrEqual,
    Below,
    BelowOrEqual,
    Equal,
    NotEqual,
    Other,
}

impl Condition {
    /// When the branch is not taken.
    pub(super) const fn negated(self) -> Condition {
        match self {
            Condition::Above => Condition::BelowOrEqual,
            Condition::AboveOrEqual => Condition::Below,
            Condition::Below => Condition::AboveOrEqual,
            Condition::BelowOrEqual => Condition::Above,
            Condition::Equal => Condition::NotEqual,
            Condition::NotEqual => Condition::Equal,
            Condition::Other => Condition::Other,
        }
    }
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlFlow {
    /// At the following instruction.
    Following,
    /// At the following instruction, if the system call returns.
    SystemCall,
    /// At an address.
    Jump(u64),
    /// At an address or at the following instruction.
    Branch(u64, Condition),
    /// At the address in a register.
    Indirect(RegisterNumber),
    /// At the following instruction, if the function at an address returns.
    Call(u64),
    /// At the following instruction, if a function at an unknown address returns.
    IndirectCall,
    /// At the following instruction, if the function returns whose address is in the file at this address.
    CallBy(u64),
    /// Nowhere, after a function was called that does not return. An exception may pass the call.
    NoReturnCall,
    /// In the caller.
    Return,
    /// Nowhere: the instruction traps.
    Stop,
}

impl ControlFlow {
    /// Whether the instruction contains the address at which execution may continue.
    pub(super) const fn is_direct(self) -> bool {
        matches!(self, ControlFlow::Jump(_) | ControlFlow::Branch(..) | ControlFlow::Call(_))
    }

    /// Whether the instruction is a call.
    pub(super) const fn is_call(self) -> bool {
        matches!(
            self,
            ControlFlow::Call(_)
                | ControlFlow::IndirectCall
                | ControlFlow::CallBy(_)
                | ControlFlow::NoReturnCall
        )
    }
}

/// Decodes the instructions of a machine, and knows their semantics.
pub(super) trait Decoder<'c> {
    /// Decodes the instruction at an offset in `code`, which is at `address`. Its effects are added to `effects`. Returns its
    /// length in bytes; `None` if it is no instruction.
    fn decode(
        &mut self,
        code: &'c [u8],
        offset: usize,
        address: u64,
        effects: &mut Vec<Effect>,
    ) -> Option<(u8, ControlFlow)>;

    /// Decodes only what cross references need.
    fn preview(&mut self, code: &'c [u8], offset: usize, address: u64) -> Option<Preview>;
}

/// A cheap first decoding of an instruction, for cross references.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preview {
    /// Its length in bytes.
    pub(super) length: u8,
    pub(super) next: ControlFlow,
    /// An address of code or data that it contains.
    pub(super) refers: Option<u64>,
    /// The table of addresses from which a jump takes the one to which it leads.
    pub(super) table: Option<u64>,
}
