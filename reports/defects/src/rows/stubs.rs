//! Rows of the stubs that GNU ld makes (`ld-plt-got`, `ld-plt-sec`).

use sframe_synthesis::Function;
use sframe_validator::unwind::{CodeAddress, Frame};
use sframe_validator::{Abi, Section, Version};

use super::{RowDefects, linker};

/// `endbr64`.
const ENDBR64: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];
/// The prefix `bnd`, with which older linkers write the jump.
const BND: u8 = 0xf2;
/// `jmp *offset(%rip)`.
const JUMP: &[u8] = &[0xff, 0x25];
/// The size in bytes of the longest stub that is one jump.
const STUB: u64 = 16;

impl<'r, 'c: 'r> RowDefects<'r, 'c> {
    /// The defect because of which GNU ld writes `frame` for the stub that contains the whole range.
    pub(super) fn stub_row(
        &mut self,
        section: &Section<'_>,
        (start, end): (CodeAddress, u64),
        row: Option<u64>,
        frame: &Frame,
    ) -> Option<&'static str> {
        let version = section.header().version;
        let code = self.elf.code_section_at(start)?;
        let defect = match (code.name.bytes(), version) {
            (b".plt.got", Version::V2 | Version::V3) => "ld-plt-got",
            (b".plt.sec", Version::V1) => "ld-plt-sec",
            _ => return None,
        };
        if !self.is_linked()
            || self.elf.abi() != Some(Abi::Amd64)
            || !self.is_jump(start, code.address)
        {
            return None;
        }
        let stubs = match self.stubs.take() {
            Some(stubs) => stubs,
            None => self.written()?.stubs(linker(version)),
        };
        let is_written = says(&stubs, start.address, end, row, frame);
        self.stubs = Some(stubs);
        is_written.then_some(defect)
    }

    /// Whether the stub at a place is one jump, which is entered by a call. `section` is where the stubs start.
    fn is_jump(&self, place: CodeAddress, section: u64) -> bool {
        let skipped = place.address.wrapping_sub(section);
        let is_at = |size: u64| {
            let start =
                CodeAddress { address: section.wrapping_add(skipped - skipped % size), ..place };
            let code = self.elf.code_bytes(start, STUB).unwrap_or_default();
            let code = code.strip_prefix(ENDBR64).unwrap_or(code);
            let code = code.strip_prefix(&[BND]).unwrap_or(code);
            code.starts_with(JUMP)
        };
        is_at(STUB) || is_at(STUB / 2)
    }
}

/// Whether the entries for stubs, by place, say this of all PCs in `[start, end)`, by a row that starts at `row`, if that is known.
fn says(stubs: &[Function], start: u64, end: u64, row: Option<u64>, frame: &Frame) -> bool {
    let after = stubs.partition_point(|stub| stub.start.address <= start);
    let Some(stub) = after.checked_sub(1).and_then(|last| stubs.get(last)) else { return false };
    let skipped = start - stub.start.address;
    if skipped >= stub.size.into() {
        return false;
    }
    // The rows of a repeated block are those of the first one.
    let shift = stub.block.map_or(0, |block| skipped - skipped % u64::from(block).max(1));
    let (start, end) = (start - shift, end.saturating_sub(shift));
    let mut rows = stub.rows.iter().filter(|row| row.start < end && start < row.end).peekable();
    rows.peek().is_some()
        && rows.all(|of| of.frame == *frame && row.is_none_or(|row| row == of.start))
}
