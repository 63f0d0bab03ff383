//! The system calls for which `nix` has no safe wrapper: it has no names for real-time signals, which a traced program
//! may receive, and does not run code in a child.

#![allow(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use nix::errno::Errno;
use nix::libc::{self, c_int};
use nix::sys::personality::{self, Persona};
use nix::sys::ptrace;
use nix::unistd::Pid;

/// Starts a program that is traced by the calling thread. It stops when it begins.
pub(super) fn spawn(program: &OsString, arguments: &[OsString]) -> io::Result<Pid> {
    let mut command = Command::new(program);
    command.args(arguments);
    let prepare = || {
        if let Ok(persona) = personality::get() {
            // Only the reproducibility of addresses depends on it.
            let _ = personality::set(persona | Persona::ADDR_NO_RANDOMIZE);
        }
        ptrace::traceme()?;
        Ok(())
    };
    // SAFETY: the closure makes three system calls in the child, and neither allocates nor takes locks.
    let command = unsafe { command.pre_exec(prepare) };
    let child = command.spawn()?;
    i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)
}

/// Waits for a thread that the calling thread traces. Returns its id and status.
#[inline]
pub(super) fn wait() -> Result<(Pid, c_int), Errno> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the status during the call.
        let found = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        match Errno::result(found) {
            Ok(pid) => return Ok((Pid::from_raw(pid), status)),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// The place of a debug register in the memory that [`write_debug_register`] writes.
const DEBUG_REGISTERS: usize = std::mem::offset_of!(libc::user, u_debugreg);

/// Sets a debug register of a stopped thread.
pub(super) fn write_debug_register(pid: Pid, number: usize, value: u64) -> Result<(), Errno> {
    let place = DEBUG_REGISTERS + number * size_of::<u64>();
    let place = ptr::without_provenance_mut(place);
    ptrace::write_user(pid, place, value.cast_signed())
}

/// Continues a stopped thread for one instruction, with the signal of this number if it is not 0.
#[inline]
pub(super) fn step(pid: Pid, signal: c_int) -> Result<(), Errno> {
    let (address, data) = (ptr::null_mut::<libc::c_void>(), libc::c_long::from(signal));
    // SAFETY: PTRACE_SINGLESTEP reads and writes no memory of this process; its last argument is a number.
    let result = unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, pid.as_raw(), address, data) };
    Errno::result(result).map(drop)
}
