//! The frames in a linker's stubs on AArch64, through which functions of other files are called.
//!
//! No symbol and no CFI describes them there. They are straight code between jumps, with few instructions.

use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Row};

/// The size of an instruction.
const SIZE: u64 = 4;
/// The largest size of a stub, with the instructions that fill the space after the previous one.
const LONGEST: u64 = 32;

/// The frame at `address`, if it is in a stub that consists of known instructions. An address inside an instruction is in
/// no stub: they jump, and never call.
pub(super) fn row(elf: &Elf<'_>, address: u64) -> Option<Row> {
    let abi = elf.abi().filter(|abi| abi.is_aarch64())?;
    let section = elf.code_section_at(CodeAddress::absolute(address))?;
    if !section.is_stubs() || !address.is_multiple_of(SIZE) {
        return None;
    }
    let instruction = |address: u64| {
        // They have this byte order on all AArch64 processors.
        let bytes = elf.code_bytes(CodeAddress::absolute(address), SIZE)?;
        Some(Instruction::of(u32::from_le_bytes(bytes.try_into().ok()?)))
    };
    if instruction(address)? == Instruction::Other {
        return None;
    }
    // The instructions from the stub's start, in reverse order.
    let mut pushed = false;
    let mut before = address;
    while before > section.address {
        before = before.checked_sub(SIZE).filter(|before| address - before <= LONGEST)?;
        match instruction(before)? {
            Instruction::End => break,
            Instruction::Plain => {}
            Instruction::Push if !pushed => pushed = true,
            Instruction::Push | Instruction::Other => return None,
        }
    }
    let (offset, ra) = if pushed { (16, Recovery::AtCfa(-8)) } else { (0, Recovery::Unchanged) };
    let cfa = Cfa::RegisterOffset { register: abi.sp(), offset };
    let frame = Frame { cfa, ra, fp: Recovery::Unchanged, ra_signed: false };
    Some(Row { start: address, end: address.saturating_add(SIZE), frame })
}

/// The instructions of stubs, as linkers write them for lazy binding, for BTI and for authenticated pointers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instruction {
    /// An instruction after which the next one is not executed: `br x17`, its authenticating form `braa x17, x16`, or
    /// `brk`, with which mold fills space.
    End,
    /// An instruction that changes only x16 and x17.
    Plain,
    /// `stp x16, x30, [sp, #-16]!`, in the stub that leads to the dynamic linker.
    Push,
    Other,
}

impl Instruction {
    const fn of(word: u32) -> Instruction {
        match word {
            0xd61f_0220 | 0xd71f_0a30 => Instruction::End,
            0xa9bf_7bf0 => Instruction::Push,
            _ if word & 0xffe0_001f == 0xd420_0000 => Instruction::End,
            // nop, bti c, autia1716.
            0xd503_201f | 0xd503_245f | 0xd503_219f => Instruction::Plain,
            // adrp x16.
            _ if word & 0x9f00_001f == 0x9000_0010 => Instruction::Plain,
            // ldr x17, [x16, #offset].
            _ if word & 0xffc0_03ff == 0xf940_0211 => Instruction::Plain,
            // add x16, x16, #offset.
            _ if word & 0xff80_03ff == 0x9100_0210 => Instruction::Plain,
            _ => Instruction::Other,
        }
    }
}
