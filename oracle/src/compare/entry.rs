//! How functions are entered, as their rows say.

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::look_up::look_up;
use crate::cfi::{Cfi, RowContext};
use crate::code::{Function, Program, Truth};

/// The maximum number of rows that are read to find the one at a function's start.
const MAX_ROWS: usize = 64;

/// Examines the function that contains a place, as [`Program::function`] does. `None` also if `sections` and `cfi`, as far as they
/// describe its first instruction, all say that its caller's frame is elsewhere than after a call.
#[must_use]
pub fn function_as_described<'e>(
    code: &Program<'e>,
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &[Cfi<'_>],
    place: CodeAddress,
) -> Option<Function<'e>> {
    let mut function = code.function(place)?;
    let start = function.range().start;
    let sframe = look_up(elf, sections, &[], &[start]).pop().flatten();
    let sframe = sframe.and_then(|found| found.sframe?.frame);
    let cfi = cfi.iter().find_map(|table| {
        let mut context = RowContext::new(table);
        let mut rows = table.find(start)?.rows(&mut context).take(MAX_ROWS).flatten();
        rows.find(|row| row.contains(start.address)).map(|row| row.frame)
    });
    let frames = [sframe.as_ref(), cfi.as_ref()];
    (!is_entered_unusually(code, &mut function, frames)).then_some(function)
}

/// Whether all `frames` of a function's first instruction say that its caller's frame is elsewhere than after a call: then it is
/// entered in another way, such as `__morestack` of split stacks, which has two return addresses on the stack. A linker's stub is
/// entered by a call, and a function that was not taken for called is what its analysis says.
pub(super) fn is_entered_unusually(
    code: &Program<'_>,
    function: &mut Function<'_>,
    frames: [Option<&Frame>; 2],
) -> bool {
    let start = function.range().start;
    if code.is_stub(start) || !function.is_taken_for_called() || frames == [None, None] {
        return false;
    }
    let is_refuted = function.at(start.address, |facts| {
        frames.into_iter().flatten().all(|frame| facts.judge(frame).cfa == Truth::Refuted)
    });
    is_refuted.unwrap_or(false)
}
