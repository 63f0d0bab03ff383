//! The registers of a frame.

use sframe_validator::Abi;
use sframe_validator::unwind::Register;

/// Registers by their DWARF numbers. A value that is not known is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Registers {
    values: [u64; Registers::COUNT],
    /// A bit for each known value. The other values are 0.
    known: u32,
}

impl Registers {
    /// The number of general registers that rows can name on any machine: AArch64 has 32.
    pub const COUNT: usize = 32;

    /// The value of a register.
    #[must_use]
    pub fn get(&self, register: Register) -> Option<u64> {
        let value = self.values.get(usize::try_from(register.0).ok()?)?;
        (self.known >> register.0 & 1 != 0).then_some(*value)
    }

    /// Sets the value of a register. Registers that rows cannot name are ignored.
    pub fn set(&mut self, register: Register, value: Option<u64>) {
        let number = usize::try_from(register.0).unwrap_or(usize::MAX);
        let Some(place) = self.values.get_mut(number) else { return };
        *place = value.unwrap_or_default();
        match value {
            Some(_) => self.known |= 1 << register.0,
            None => self.known &= !(1 << register.0),
        }
    }

    /// These values, in the order of their numbers.
    #[must_use]
    pub fn of(values: &[u64]) -> Registers {
        let mut registers = Registers::default();
        for (number, value) in (0..).zip(values) {
            registers.set(Register(number), Some(*value));
        }
        registers
    }

    /// The registers of a stopped thread.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn of_thread(r: &nix::libc::user_regs_struct) -> Registers {
        // In the order of DWARF numbers (System V ABI AMD64, figure 3.36).
        Registers::of(&[
            r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11,
            r.r12, r.r13, r.r14, r.r15,
        ])
    }

    /// These registers, and those that only `other` knows.
    #[must_use]
    fn with(mut self, other: &Registers) -> Registers {
        for register in (0..).map(Register).take(Registers::COUNT) {
            if self.get(register).is_none() {
                self.set(register, other.get(register));
            }
        }
        self
    }
}

/// A frame: where it is executing, and its registers as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The PC: of the innermost frame and of an interrupted one, the next instruction; otherwise a return address.
    pub pc: u64,
    /// Whether the instruction at the PC is the next one to be executed. Otherwise the PC is a return address, and the
    /// call is before it.
    pub exact: bool,
    /// The registers.
    pub registers: Registers,
}

impl Cursor {
    /// The innermost frame of a thread.
    #[must_use]
    pub const fn innermost(pc: u64, registers: Registers) -> Cursor {
        Cursor { pc, exact: true, registers }
    }

    /// This frame, with the registers that only `other` knows.
    #[must_use]
    pub fn with(self, other: &Cursor) -> Cursor {
        Cursor { registers: self.registers.with(&other.registers), ..self }
    }

    /// The stack pointer.
    #[must_use]
    pub fn sp(&self, abi: Abi) -> Option<u64> {
        self.registers.get(abi.sp())
    }

    /// The frame pointer.
    #[must_use]
    pub fn fp(&self, abi: Abi) -> Option<u64> {
        self.registers.get(abi.fp())
    }
}
