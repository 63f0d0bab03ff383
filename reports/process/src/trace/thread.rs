//! A traced thread: the instruction that it executes next, and its shadow stack.

use nix::libc;
use nix::unistd::Pid;
use sframe_validator::Abi;

use super::kind::Kind;
use super::shadow::{Caller, ShadowStack};
use super::space::Region;
use crate::live::LiveMemory;
use crate::ptrace::Registers;
use crate::walk::{Memory, amd64_context};

/// `rt_sigreturn`.
const RT_SIGRETURN: u64 = 15;
/// The size of a return address.
const WORD: u64 = 8;
/// The size of a system call instruction, which is executed again if a signal interrupts it.
const SYSCALL_SIZE: u64 = 2;

/// A thread.
pub(super) struct Thread {
    pub(super) pid: Pid,
    /// The number of its process.
    pub(super) process: usize,
    pub(super) stack: ShadowStack,
    pub(super) pc: u64,
    pub(super) sp: u64,
    pub(super) fp: u64,
    /// RAX and the first arguments, which a system call needs.
    pub(super) rax: u64,
    pub(super) arguments: [u64; 4],
    /// The kind of the instruction at `pc`.
    pub(super) kind: Kind,
    pub(super) region: Option<Region>,
    /// A signal was passed on, so that a handler may start.
    pub(super) signalled: bool,
}

impl Thread {
    pub(super) fn new(pid: Pid, process: usize, stack: ShadowStack) -> Thread {
        Thread {
            pid,
            process,
            stack,
            pc: 0,
            sp: 0,
            fp: 0,
            rax: 0,
            arguments: [0; 4],
            kind: Kind::Plain,
            region: None,
            signalled: false,
        }
    }

    /// Remembers the registers before the next step.
    #[inline]
    pub(super) fn remember(&mut self, registers: &Registers) {
        self.pc = registers.rip;
        self.sp = registers.rsp;
        self.fp = registers.rbp;
        if self.kind == Kind::Syscall {
            self.rax = registers.rax;
            self.arguments = [registers.rdi, registers.rsi, registers.rdx, registers.r10];
        }
    }

    /// The number of the system call that was executed.
    pub(super) fn syscall(&self) -> Option<u64> {
        (self.kind == Kind::Syscall).then_some(self.rax)
    }

    /// Whether the system call that was executed has made a thread or process that cannot be traced.
    pub(super) fn made_untraced(&self, now: &Registers, memory: &LiveMemory) -> bool {
        let [first, ..] = self.arguments;
        let flags = match self.syscall().and_then(|number| i64::try_from(number).ok()) {
            Some(libc::SYS_clone) => Some(first),
            // The flags are the first word of `struct clone_args` (clone(2)).
            Some(libc::SYS_clone3) => memory.word(Abi::Amd64, first),
            _ => None,
        };
        let is_untraced = |flags: u64| flags & libc::CLONE_UNTRACED as u64 != 0;
        flags.is_some_and(is_untraced) && now.rax.cast_signed() > 0
    }

    /// Updates the shadow stack after the instruction at `self.pc` was executed. Returns whether it has left the frame
    /// without a return.
    #[inline]
    pub(super) fn executed(&mut self, now: &Registers) -> bool {
        let (pc, sp) = (now.rip, now.rsp);
        match self.kind {
            Kind::Plain => {
                if sp > self.stack.limit() {
                    self.stack.left();
                }
            }
            Kind::Call { length } => {
                // Otherwise it was not executed: a signal was reported instead.
                if sp == self.sp.wrapping_sub(WORD) {
                    let ra = self.pc.wrapping_add(length.into());
                    self.stack.call(Caller { ra, sp: self.sp, fp: self.fp }, pc);
                }
            }
            Kind::Return => {
                return sp != self.sp && !self.stack.ret(pc, self.sp.wrapping_add(WORD), sp);
            }
            Kind::Jump => return self.stack.jump(pc, sp),
            Kind::IndirectJump => return self.stack.indirect_jump(pc, sp),
            _ => self.unusual(pc, sp),
        }
        false
    }

    fn unusual(&mut self, pc: u64, sp: u64) {
        match self.kind {
            Kind::LoadsSp if sp < self.sp => self.stack.switched(),
            Kind::Syscall if self.rax == RT_SIGRETURN => self.stack.sigreturn(pc, sp),
            // The old system calls at fixed addresses, which the kernel returns from, or a far return.
            Kind::Unknown if sp == self.sp.wrapping_add(WORD) => {
                self.stack.ret(pc, sp, sp);
            }
            Kind::Unknown if sp != self.sp => self.stack.left(),
            _ if sp > self.stack.limit() => self.stack.left(),
            _ => {}
        }
    }

    /// Updates the shadow stack if a signal handler has started. Returns whether it has: no instruction was executed.
    pub(super) fn handler_started(&mut self, now: &Registers, memory: &LiveMemory) -> bool {
        // The stack has the address to return to, and then the interrupted registers.
        let after_return = now.rsp.wrapping_add(WORD);
        let Some(ra) = memory.word(Abi::Amd64, now.rsp) else { return false };
        let Some(saved) = amd64_context(memory, after_return) else { return false };
        let (Some(sp), Some(fp)) = (saved.sp(Abi::Amd64), saved.fp(Abi::Amd64)) else {
            return false;
        };
        let interrupted = saved.pc == self.pc || saved.pc == self.pc.wrapping_sub(SYSCALL_SIZE);
        if now.rip == self.pc || sp != self.sp || !interrupted {
            return false;
        }
        let handler = Caller { ra, sp: after_return, fp: now.rbp };
        self.stack.signal(Caller { ra: saved.pc, sp, fp }, handler, now.rip);
        true
    }
}
