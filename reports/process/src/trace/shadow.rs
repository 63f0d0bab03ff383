//! The shadow stack: what a program's calls and returns say about its frames. It does no input or output.
//!
//! The stack knows a frame's caller for certain, or says that it does not. Whatever breaks the order of calls and
//! returns (a stack switch, `longjmp`, an exception) puts [`Entry::Unknown`] on top. Calls made from there on have
//! known callers again. The entries below remain. They are found again when SP has the value that it has after one of
//! their returns.

use core::fmt;

/// The maximum number of entries: a stack of 1 GiB with frames of 64 bytes.
const MOST: usize = 1 << 24;
/// The largest number of calls within a function at once. The Linux kernel fills the return predictor with 32 of them.
const MOST_LOCAL: usize = 64;
/// The size of a return address.
const WORD: u64 = 8;

/// The registers of a caller at the return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The return address.
    pub(crate) ra: u64,
    /// The stack pointer after the return: the CFA of the called function.
    pub(crate) sp: u64,
    /// The frame pointer.
    pub(crate) fp: u64,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// A function that was called, and the address that was called.
    Call(Caller, u64),
    /// The code that a signal handler returns to, and the registers of the interrupted code.
    Signal(Caller),
    /// A frame whose caller is unknown.
    Unknown(Doubt),
}

/// What is known about the caller of the current frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// There is no caller: the program or the thread has started here.
    Outermost,
    /// The frame was called.
    Called(Caller),
    /// The frame is the kernel's, and interrupted this code.
    Interrupted(Caller),
    /// The caller is unknown.
    Unknown(Doubt),
}

/// Why the caller of a frame is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Doubt {
    /// The stack pointer was loaded with a lower value.
    StackSwitch,
    /// The stack pointer is above the return address.
    FrameLeft,
    /// A function returned to another address than that of its call.
    OtherReturn,
    /// A return instruction used an address that was pushed, as a jump.
    PushedReturn,
    /// A signal handler changed the registers of the interrupted code.
    OtherContext,
    /// There are too many frames.
    TooDeep,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::StackSwitch => "the code has switched stacks",
            Doubt::FrameLeft => {
                "the frame was left without a return (longjmp, an exception, or a stack switch)"
            }
            Doubt::OtherReturn => {
                "a function has returned to another address than that of its call"
            }
            Doubt::PushedReturn => "a return was used as a jump",
            Doubt::OtherContext => "a signal handler has changed the interrupted code's registers",
            Doubt::TooDeep => "the stack has too many frames",
        })
    }
}

/// The frames of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShadowStack {
    entries: Vec<Entry>,
}

impl ShadowStack {
    /// What is known about the caller of the current frame.
    pub(crate) fn truth(&self) -> Truth {
        match self.entries.last() {
            None => Truth::Outermost,
            Some(Entry::Call(caller, _)) => Truth::Called(*caller),
            Some(Entry::Signal(caller)) => Truth::Interrupted(*caller),
            Some(Entry::Unknown(doubt)) => Truth::Unknown(*doubt),
        }
    }

    /// The highest stack pointer that the current frame can have.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        match self.entries.last() {
            Some(Entry::Call(caller, _)) => caller.sp,
            _ => u64::MAX,
        }
    }

    /// The callers of the frames around the current one, as long as calls like `is_local` have led inwards. It gets the
    /// return address and the address that was called.
    ///
    /// Code that its own function calls can be described as part of the frame of the function.
    pub(crate) fn around(
        &self,
        mut is_local: impl FnMut(u64, u64) -> bool,
    ) -> impl Iterator<Item = Caller> {
        let inner = self.entries.iter().rev();
        let outer = self.entries.iter().rev().skip(1);
        let local = inner.zip(outer).map_while(move |(inner, outer)| match (inner, outer) {
            (Entry::Call(called, target), Entry::Call(caller, _)) => {
                is_local(called.ra, *target).then_some(*caller)
            }
            _ => None,
        });
        local.take(MOST_LOCAL)
    }

    /// A call instruction has pushed a return address. `caller` is the state after the return, `target` the address that
    /// was called.
    #[inline]
    pub(crate) fn call(&mut self, caller: Caller, target: u64) {
        if self.entries.len() >= MOST {
            self.entries.clear();
            self.entries.push(Entry::Unknown(Doubt::TooDeep));
        }
        self.entries.push(Entry::Call(caller, target));
    }

    /// A return instruction has taken an address from the stack at `sp - 8`, and continued at `pc`. `after` is the new
    /// stack pointer: more than `sp` if the instruction removes arguments. Returns whether this was the return from the
    /// last call.
    #[inline]
    pub(crate) fn ret(&mut self, pc: u64, sp: u64, after: u64) -> bool {
        if let Some(Entry::Call(caller, _)) = self.entries.last()
            && (caller.ra, caller.sp) == (pc, sp)
        {
            self.entries.pop();
            return true;
        }
        self.unusual_return(pc, sp, after);
        false
    }

    #[cold]
    fn unusual_return(&mut self, pc: u64, sp: u64, after: u64) {
        if self.resume(pc, sp) {
            return;
        }
        match self.entries.last() {
            // The return address was replaced: a jump out of the frame. A function that starts like this has the
            // return address of the frame's caller on top of the stack.
            Some(Entry::Call(caller, _)) if caller.sp == sp => {
                self.entries.pop();
                let starts = |entry: &Entry| matches!(entry, Entry::Call(next, _) if next.sp == after.wrapping_add(WORD));
                if !self.entries.last().is_some_and(starts) {
                    self.doubt(Doubt::OtherReturn);
                }
            }
            Some(Entry::Call(caller, _)) if sp < caller.sp => self.doubt(Doubt::PushedReturn),
            Some(Entry::Unknown(_)) => {
                self.resume_frame(after);
            }
            _ => self.doubt(Doubt::OtherReturn),
        }
    }

    /// A jump to an address in a register or in memory was executed. Returns whether it has left the frame without a
    /// return.
    #[inline]
    pub(crate) fn indirect_jump(&mut self, pc: u64, sp: u64) -> bool {
        if let Some(Entry::Unknown(_)) = self.entries.last() {
            let _ = self.resume(pc, sp) || self.resume_frame(sp);
            return true;
        }
        self.jump(pc, sp)
    }

    /// A jump was executed. Returns whether it has left the frame without a return.
    #[inline]
    pub(crate) fn jump(&mut self, pc: u64, sp: u64) -> bool {
        match self.entries.last() {
            Some(Entry::Call(caller, _)) if sp < caller.sp => return false,
            // `pop %rcx; jmp *%rcx` is a return.
            Some(Entry::Call(caller, _)) if (caller.ra, caller.sp) == (pc, sp) => {
                self.entries.pop();
                return false;
            }
            Some(Entry::Call(..)) => self.doubt(Doubt::FrameLeft),
            _ => return false,
        }
        true
    }

    /// The stack pointer is above the [limit](ShadowStack::limit), after an instruction that is neither a call nor a
    /// return nor a jump.
    #[cold]
    pub(crate) fn left(&mut self) {
        self.doubt(Doubt::FrameLeft);
    }

    /// The stack pointer was loaded from another register or from memory, and is lower than before.
    #[cold]
    pub(crate) fn switched(&mut self) {
        self.doubt(Doubt::StackSwitch);
    }

    /// The kernel has interrupted the program, and called a signal handler at `target` that will return as
    /// `handler` says.
    #[cold]
    pub(crate) fn signal(&mut self, interrupted: Caller, handler: Caller, target: u64) {
        self.entries.push(Entry::Signal(interrupted));
        self.call(handler, target);
    }

    /// The kernel has restored the registers of interrupted code.
    #[cold]
    pub(crate) fn sigreturn(&mut self, pc: u64, sp: u64) {
        let same = |entry: &Entry| matches!(entry, Entry::Signal(c) if (c.ra, c.sp) == (pc, sp));
        match self.entries.iter().rposition(same) {
            Some(found) => self.entries.truncate(found),
            None => self.doubt(Doubt::OtherContext),
        }
    }

    /// Returns from the call with this return address, and this stack pointer after its return. Returns `false` if there is
    /// none.
    fn resume(&mut self, pc: u64, sp: u64) -> bool {
        self.truncate_at(|caller| (caller.ra, caller.sp) == (pc, sp))
    }

    /// Continues at any address in the frame of a call that has this stack pointer after its return, as `longjmp` and
    /// exceptions do. Returns `false` if there is none.
    fn resume_frame(&mut self, sp: u64) -> bool {
        self.truncate_at(|caller| caller.sp == sp)
    }

    fn truncate_at(&mut self, is_it: impl Fn(&Caller) -> bool) -> bool {
        let is_it = |entry: &Entry| matches!(entry, Entry::Call(caller, _) if is_it(caller));
        let found = self.entries.iter().rposition(is_it);
        if let Some(found) = found {
            self.entries.truncate(found);
        }
        found.is_some()
    }

    #[cold]
    fn doubt(&mut self, doubt: Doubt) {
        if !matches!(self.entries.last(), Some(Entry::Unknown(_))) {
            self.entries.push(Entry::Unknown(doubt));
        }
    }
}

#[cfg(test)]
mod tests;
