//! Entries in the vocabulary of all witnesses.

use core::fmt;

use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::layout::{Base, Kind, Layout, RawEntry};

/// RAX, RDX, RDI, RBP, RSP by their DWARF numbers (psABI, figure 3.36).
const AX: Register = Register(0);
const DX: Register = Register(1);
const DI: Register = Register(5);
const BP: Register = Register(6);
const SP: Register = Register(7);

/// The offsets of saved registers, in bytes.
struct Saved {
    ip: i64,
    sp: i64,
    bp: Option<i64>,
}

/// In `struct pt_regs`.
const PT_REGS: Saved = Saved { ip: 128, sp: 152, bp: Some(32) };
/// In what the processor pushes, the part of `struct pt_regs` from IP on.
const INTERRUPT_FRAME: Saved = Saved { ip: 0, sp: 24, bp: None };

/// The meaning of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing is known about the code.
    Undefined,
    /// A frame; that of code at the end of the stack is [`Frame::OUTERMOST`].
    Frame {
        /// The frame.
        frame: Frame,
        /// Whether it was interrupted: the PC in its caller is not after a call.
        signal: bool,
    },
    /// The entry says something that was not determined.
    Undecided(Doubt),
}

/// Why the meaning of an entry is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The layout is not known, and the possible ones differ here.
    Layout,
    /// The type has no meaning.
    Type(u8),
    /// The base of SP has no meaning.
    SpBase(u8),
    /// The base of BP has no meaning.
    BpBase(u8),
    /// The CFA is a number loaded from memory, plus an offset.
    LoadedAndAdded,
    /// The CFA is in memory at an address that is loaded from memory itself.
    LoadedTwice,
    /// Entries with the same address differ. The kernel's sort does not define which one is valid.
    Conflict,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Layout => f.write_str("the layout of the table is not known"),
            Doubt::Type(number) => write!(f, "type {number} has no meaning"),
            Doubt::SpBase(number) => write!(f, "base {number} of SP has no meaning"),
            Doubt::BpBase(number) => write!(f, "base {number} of BP has no meaning"),
            Doubt::LoadedAndAdded => f.write_str("the CFA is loaded from memory and added to"),
            Doubt::LoadedTwice => f.write_str("the CFA is at an address loaded from memory"),
            Doubt::Conflict => f.write_str("entries with the same address differ"),
        }
    }
}

impl Meaning {
    /// The meaning of an entry in a table that has one of these layouts.
    pub(super) fn of(entry: RawEntry, layouts: &[Layout]) -> Meaning {
        let mut meanings = layouts.iter().map(|layout| Meaning::in_layout(entry, *layout));
        let Some(first) = meanings.next() else { return Meaning::Undecided(Doubt::Layout) };
        if meanings.all(|other| other == first) { first } else { Meaning::Undecided(Doubt::Layout) }
    }

    fn in_layout(entry: RawEntry, layout: Layout) -> Meaning {
        let bases = || Ok((Address::of(entry, layout)?, SavedBp::of(entry, layout)?));
        let frame = match layout.kind(entry) {
            Kind::Undefined => return Meaning::Undefined,
            Kind::EndOfStack => return Meaning::Frame { frame: Frame::OUTERMOST, signal: false },
            Kind::Call => bases().map(|(address, bp)| call(address, bp)),
            Kind::Regs => bases().and_then(|(address, bp)| regs(address, bp, &PT_REGS)),
            Kind::PartialRegs => {
                bases().and_then(|(address, bp)| regs(address, bp, &INTERRUPT_FRAME))
            }
            Kind::Other(number) => Err(Doubt::Type(number)),
        };
        match frame {
            Ok(frame) => Meaning::Frame { frame, signal: layout.is_signal(entry) },
            Err(doubt) => Meaning::Undecided(doubt),
        }
    }
}

/// The address that an entry computes from its base of SP.
#[derive(Clone, Copy)]
enum Address {
    /// `register + offset`.
    Register(Register, i64),
    /// The 8 bytes in memory at `register + offset`.
    Memory(Register, i64),
}

impl Address {
    fn of(entry: RawEntry, layout: Layout) -> Result<Address, Doubt> {
        let offset = i64::from(entry.sp_offset);
        Ok(match layout.sp_base(entry) {
            Base::Ax => Address::Register(AX, 0),
            Base::Dx => Address::Register(DX, 0),
            Base::Di => Address::Register(DI, 0),
            Base::Bp => Address::Register(BP, offset),
            Base::Sp => Address::Register(SP, offset),
            Base::R10 => Address::Register(Register(10), 0),
            Base::R13 => Address::Register(Register(13), 0),
            Base::MemoryAtBp => Address::Memory(BP, offset),
            Base::MemoryAtSp if offset == 0 => Address::Memory(SP, 0),
            Base::MemoryAtSp => return Err(Doubt::LoadedAndAdded),
            Base::Undefined | Base::PreviousSp | Base::Other(_) => {
                return Err(Doubt::SpBase(entry.sp_base()));
            }
        })
    }
}

/// The frame of a function: the address is the CFA.
fn call(address: Address, bp: SavedBp) -> Frame {
    let cfa = match address {
        Address::Register(register, offset) => Cfa::RegisterOffset { register, offset },
        Address::Memory(register, offset) => Cfa::Dereference { register, offset },
    };
    let fp = match bp {
        SavedBp::Nowhere => Recovery::Unchanged,
        SavedBp::AtAddress(offset) => Recovery::AtCfa(offset),
        SavedBp::AtBp(offset) => Recovery::AtRegister { register: BP, offset },
    };
    Frame { cfa, ra: Recovery::AtCfa(-8), fp, ra_signed: false }
}

/// The frame of code that was interrupted: the address is that of the saved registers, or of those that the processor pushes.
fn regs(address: Address, bp: SavedBp, saved: &Saved) -> Result<Frame, Doubt> {
    let Address::Register(register, address) = address else { return Err(Doubt::LoadedTwice) };
    let at = |offset| Recovery::AtRegister { register, offset: address + offset };
    let fp = match bp {
        SavedBp::Nowhere => saved.bp.map_or(Recovery::Unchanged, at),
        SavedBp::AtAddress(offset) => at(offset),
        SavedBp::AtBp(offset) => Recovery::AtRegister { register: BP, offset },
    };
    let cfa = Cfa::Dereference { register, offset: address + saved.sp };
    Ok(Frame { cfa, ra: at(saved.ip), fp, ra_signed: false })
}

/// Where the caller's BP is.
#[derive(Clone, Copy)]
enum SavedBp {
    /// In its register, or in the `struct pt_regs`.
    Nowhere,
    /// At an offset from the address that the entry computes.
    AtAddress(i64),
    /// At an offset from BP.
    AtBp(i64),
}

impl SavedBp {
    fn of(entry: RawEntry, layout: Layout) -> Result<SavedBp, Doubt> {
        let offset = i64::from(entry.bp_offset);
        match layout.bp_base(entry) {
            Base::Undefined => Ok(SavedBp::Nowhere),
            Base::PreviousSp => Ok(SavedBp::AtAddress(offset)),
            Base::Bp => Ok(SavedBp::AtBp(offset)),
            _ => Err(Doubt::BpBase(entry.bp_base())),
        }
    }
}
