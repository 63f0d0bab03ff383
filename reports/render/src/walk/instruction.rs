//! The instruction of a frame.

use sframe_process::walk::{Cell, Level, Memory};
use sframe_record::Instruction;
use sframe_validator::Abi;

use sframe_scan::disassembly::{Instruction as Found, disassemble};

/// The size of the longest instruction of any machine.
const LONGEST: usize = 15;
/// The size of an AArch64 instruction.
const FIXED: u64 = 4;
/// The largest distance from the start of a function to a call in it that is found.
const FARTHEST: u64 = 1 << 16;

/// The instruction at a level that all witnesses have reached: the next one, or the call before a return address.
///
/// Instructions of AMD64 can be read only forwards. A call is found from the start of its function on, and only if an
/// instruction ends at the return address.
pub(super) fn at(abi: Abi, level: &Level, memory: &impl Memory) -> Option<Instruction<'static>> {
    let Cell { frame, .. } = level.cells.iter().flatten().next()?;
    let pc = frame.pc;
    if frame.exact {
        return read(abi, memory, pc, pc).map(Instruction::from);
    }
    let call = pc.wrapping_sub(1);
    if abi.is_aarch64() {
        return read(abi, memory, pc.wrapping_sub(FIXED), call).map(Instruction::from);
    }
    let mut functions = level.cells.iter().flatten().filter_map(|cell| {
        let right = cell.by_call.as_deref().unwrap_or(&cell.step);
        right.statement.function
    });
    let (start, _) = functions.find(|(start, end)| (*start..*end).contains(&call))?;
    let found = read(abi, memory, start, call)?;
    let end = found.address.wrapping_add(found.bytes.len() as u64);
    (end == pc).then(|| found.into())
}

/// The instruction that contains `wanted`, if instructions are read from `start` on.
fn read(abi: Abi, memory: &impl Memory, start: u64, wanted: u64) -> Option<Found> {
    let before = wanted.checked_sub(start).filter(|before| *before <= FARTHEST)?;
    let size = usize::try_from(before).ok()?.checked_add(LONGEST)?;
    // The code can end where memory does.
    let sizes = (size - LONGEST + 1..=size).rev();
    let mut code = vec![0; size];
    let size = sizes
        .into_iter()
        .find(|size| code.get_mut(..*size).is_some_and(|code| memory.read(start, code)))?;
    code.truncate(size);
    disassemble(abi, &code, start, wanted, 1).into_iter().next()
}
