//! One step of a stack walk: from a frame to its caller.

use core::fmt;

use super::{Cfa, Frame, Recovery, Register};
use crate::abi::Abi;

/// The caller of a frame: its registers at the return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The return address. If [`Caller::ra_signed`], it contains a pointer-authentication code.
    pub ra: u64,
    /// Whether the return address is signed (AArch64): see [`without_signature`].
    pub ra_signed: bool,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer; `None` if it cannot be recovered.
    pub fp: Option<u64>,
}

/// Why a frame's caller cannot be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplyError {
    /// The value of this register is unknown.
    Register(Register),
    /// The 8 bytes at this address cannot be read.
    Memory(u64),
    /// A DWARF expression, which needs an evaluator.
    Expression,
    /// The frame has no CFA, but a return address.
    NoCfa,
}

impl core::error::Error for ApplyError {}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplyError::Register(register) => write!(f, "the value of {register} is unknown"),
            ApplyError::Memory(address) => write!(f, "the memory at {address:#x} cannot be read"),
            ApplyError::Expression => f.write_str("the frame needs a DWARF expression"),
            ApplyError::NoCfa => f.write_str("the frame has no CFA"),
        }
    }
}

impl Frame {
    /// The caller of this frame, or `None` if the frame is the outermost one (its RA is undefined).
    ///
    /// `registers` returns the value of a register at the frame's PC, or `None` if it is unknown. In the innermost frame
    /// all registers are known, in its callers only SP and FP: no function saves the others where the stack trace could
    /// find them. `read` returns the 8 bytes of memory at an address, in the machine's byte order, or `None` if they
    /// cannot be read.
    ///
    /// SP in the caller is the CFA; on s390x, it is the CFA minus 160 (ELF ABI s390x, "The stack frame").
    ///
    /// The return address follows the call. To find the frame of the *caller*, look up `ra - 1`, which is inside the call:
    /// after a call that does not return, `ra` may belong to another row or to the next function. Only if the frame is a
    /// signal frame was the code interrupted at `ra` itself.
    ///
    /// # Errors
    /// An [`ApplyError`] if RA depends on an unknown register, on memory that cannot be read, or on an expression. If
    /// that is so only for FP, [`Caller::fp`] is `None`.
    ///
    /// ```
    /// use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
    /// use sframe_validator::{Abi, Placement, Section};
    ///
    /// // One AMD64 function of 16 bytes at 0x1000: at +0, CFA = SP + 8; at +1, after `push %rbp`, CFA = SP + 16 and FP
    /// // is at CFA - 16 (version 2).
    /// let bytes: &[u8] = &[
    ///     0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0, 1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0,
    ///     0, 0x10, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
    ///     0, 0x03, 8, 1, 0x05, 16, 0xf0,
    /// ];
    /// let section = Section::parse(bytes, Placement::at(0))?;
    ///
    /// // The stack from 0x7ff0 up: the saved FP, the return address to 0x1008, then the caller's frame of 16 bytes, which
    /// // holds FP 0 and the return address 0x2000, for which there is no function.
    /// let stack = [0x8010_u64, 0x1008, 0, 0x2000];
    /// let read = |address: u64| stack.get(usize::try_from(address.checked_sub(0x7ff0)? / 8).ok()?).copied();
    ///
    /// let (mut pc, mut sp, mut fp) = (0x1004, 0x7ff0, Some(0x9000));
    /// let mut trace = vec![pc];
    /// // A walker must end on any stack: each frame is above the last one.
    /// while let Some((_, row)) = section.find(if trace.len() == 1 { pc } else { pc - 1 })? {
    ///     let registers = |register: Register| match register {
    ///         _ if register == Abi::Amd64.sp() => Some(sp),
    ///         _ if register == Abi::Amd64.fp() => fp,
    ///         _ => None,
    ///     };
    ///     let Some(caller) = row.frame.apply(Abi::Amd64, registers, read)? else { break };
    ///     if caller.sp <= sp {
    ///         break;
    ///     }
    ///     (pc, sp, fp) = (caller.ra, caller.sp, caller.fp);
    ///     trace.push(pc);
    /// }
    /// assert_eq!(trace, [0x1004, 0x1008, 0x2000]);
    /// assert_eq!(fp, Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply(
        &self,
        abi: Abi,
        registers: impl Fn(Register) -> Option<u64>,
        mut read: impl FnMut(u64) -> Option<u64>,
    ) -> Result<Option<Caller>, ApplyError> {
        if self.ra == Recovery::Undefined {
            return Ok(None);
        }
        let value = |register| registers(register).ok_or(ApplyError::Register(register));
        let mut load = |address| read(address).ok_or(ApplyError::Memory(address));
        let cfa = match self.cfa {
            Cfa::RegisterOffset { register, offset } => {
                value(register)?.wrapping_add_signed(offset)
            }
            Cfa::Dereference { register, offset } => {
                load(value(register)?.wrapping_add_signed(offset))?
            }
            Cfa::DereferencePlus { register, offset, plus } => {
                let address = value(register)?.wrapping_add_signed(offset.into());
                load(address)?.wrapping_add_signed(plus.into())
            }
            Cfa::Expression(_) => return Err(ApplyError::Expression),
            Cfa::Undefined => return Err(ApplyError::NoCfa),
        };
        let mut recover = |recovery, register| match recovery {
            Recovery::Unchanged => value(register),
            Recovery::AtCfa(offset) => load(cfa.wrapping_add_signed(offset)),
            Recovery::CfaOffset(offset) => Ok(cfa.wrapping_add_signed(offset)),
            Recovery::AtRegister { register, offset } => {
                load(value(register)?.wrapping_add_signed(offset))
            }
            Recovery::RegisterOffset { register, offset } => {
                Ok(value(register)?.wrapping_add_signed(offset))
            }
            Recovery::AtExpression(_) | Recovery::Expression(_) => Err(ApplyError::Expression),
            Recovery::Undefined => Err(ApplyError::Register(register)),
        };
        Ok(Some(Caller {
            ra: recover(self.ra, abi.ra())?,
            ra_signed: self.ra_signed,
            sp: cfa.wrapping_sub(abi.sp_below_cfa()),
            fp: recover(self.fp, abi.fp()).ok(),
        }))
    }
}

/// An address without its pointer-authentication code, as `XPACI` would leave it (Arm ARM, "Pointer authentication"):
/// bit 55, which no code occupies, is copied to all bits from `address_bits` up.
///
/// `address_bits` is the size of virtual addresses, 48 or 52 on Linux; for a core dump, the note `NT_ARM_PAC_MASK` states
/// the bits that codes occupy.
///
/// ```
/// use sframe_validator::unwind::without_signature;
///
/// assert_eq!(without_signature(0x002a_aaab_1234_5678, 48), 0x0000_aaab_1234_5678);
/// assert_eq!(without_signature(0xffab_8000_1008_1234, 48), 0xffff_8000_1008_1234);
/// assert_eq!(without_signature(0x0000_aaaa_1234_5678, 48), 0x0000_aaaa_1234_5678);
/// ```
#[must_use]
pub const fn without_signature(address: u64, address_bits: u32) -> u64 {
    let high = u64::MAX.unbounded_shl(address_bits);
    if address >> 55 & 1 == 0 { address & !high } else { address | high }
}
