//! Calls of addresses without code, such as that of a null function pointer: no witness describes them, but the call
//! itself was executed.

use sframe_validator::Abi;

use super::memory::Memory;
use super::registers::Cursor;
use crate::statement::{Silence, Statement};

/// The caller, if there is no code at the PC of `frame`, about which the witnesses make these statements, and code where
/// the call would return to. `rows` returns a witness's statement about an address.
pub(super) fn caller<'s>(
    abi: Abi,
    frame: &Cursor,
    mut statements: impl Iterator<Item = &'s Statement>,
    memory: &impl Memory,
    mut rows: impl FnMut(u64) -> Statement,
) -> Option<Cursor> {
    if !frame.exact || !statements.all(no_code) {
        return None;
    }
    let sp = frame.sp(abi)?;
    let mut registers = frame.registers;
    let pc = match abi {
        Abi::Amd64 => {
            registers.set(abi.sp(), Some(sp.checked_add(8)?));
            memory.word(abi, sp)?
        }
        Abi::Aarch64Little | Abi::Aarch64Big | Abi::S390x => registers.get(abi.ra())?,
    };
    (!no_code(&rows(pc.wrapping_sub(1)))).then_some(Cursor { pc, exact: false, registers })
}

/// Whether it is certain that no code is at the address.
const fn no_code(statement: &Statement) -> bool {
    matches!(statement.row, Err(Silence::Unmapped | Silence::NotExecutable))
}
