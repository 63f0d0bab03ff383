//! Call sites: whether a stack walker finds the frame of the caller.
//!
//! A walker knows the return addresses of a stack. Some walkers look up the byte before such an address, which is in the call
//! instruction. Others look up the address itself (`backtrace` of the GNU C library, the stack walkers of Linux). After a
//! call that does not return, it may belong to another row, to the next function or to none: `abort` and `__cxa_throw`
//! are such calls, and so is every `__stack_chk_fail`.

use core::ops::AddAssign;

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::piece::{Piece, Stated, Statement, with_pieces};
use super::tables::Tables;
use crate::cfi::Cfi;
use crate::code::Program;
use crate::witness::CodeRange;

/// What a walker finds that looks up the return address itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterCall {
    /// The frame of the call.
    Same,
    /// An equal frame, in the row of another function.
    SameElsewhere,
    /// Another frame of the same function.
    OtherRow,
    /// Another frame, of another function.
    OtherFunction,
    /// No row: the walk ends.
    Nothing,
    /// A row that cannot be read.
    Unreadable,
}

/// Call instructions by what a walker finds that looks up the return address itself. One that looks up the byte before it finds
/// the frame of the call at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SiteSums {
    /// [`AfterCall::Same`].
    pub same: u64,
    /// [`AfterCall::SameElsewhere`].
    pub same_elsewhere: u64,
    /// [`AfterCall::OtherRow`].
    pub other_row: u64,
    /// [`AfterCall::OtherFunction`].
    pub other_function: u64,
    /// [`AfterCall::Nothing`].
    pub nothing: u64,
    /// [`AfterCall::Unreadable`].
    pub unreadable: u64,
}

impl SiteSums {
    /// The number of calls that the witness describes.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.same
            .saturating_add(self.same_elsewhere)
            .saturating_add(self.other_row)
            .saturating_add(self.other_function)
            .saturating_add(self.nothing)
            .saturating_add(self.unreadable)
    }

    /// The number of calls whose return address belongs to another row, to another function or to none.
    #[must_use]
    pub const fn affected(&self) -> u64 {
        self.same_elsewhere
            .saturating_add(self.other_row)
            .saturating_add(self.other_function)
            .saturating_add(self.nothing)
    }

    fn add(&mut self, after: AfterCall) {
        let sum = match after {
            AfterCall::Same => &mut self.same,
            AfterCall::SameElsewhere => &mut self.same_elsewhere,
            AfterCall::OtherRow => &mut self.other_row,
            AfterCall::OtherFunction => &mut self.other_function,
            AfterCall::Nothing => &mut self.nothing,
            AfterCall::Unreadable => &mut self.unreadable,
        };
        *sum = sum.saturating_add(1);
    }
}

impl AddAssign for SiteSums {
    fn add_assign(&mut self, other: SiteSums) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.same, other.same);
        add(&mut self.same_elsewhere, other.same_elsewhere);
        add(&mut self.other_row, other.other_row);
        add(&mut self.other_function, other.other_function);
        add(&mut self.nothing, other.nothing);
        add(&mut self.unreadable, other.unreadable);
    }
}

/// A call instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Its address.
    pub call: CodeAddress,
    /// Its end: the return address, in the same section.
    pub return_address: u64,
    /// What SFrame says after it, if it describes the call.
    pub sframe: Option<AfterCall>,
    /// What CFI says after it, if it describes the call.
    pub cfi: Option<AfterCall>,
}

/// Looks up each call of the functions of `code`, and its return address, in `sections` and `cfi`, all of which must belong
/// to the file. Calls after which a witness does not say the same are passed to `found`, in the order of addresses. Returns
/// the sums for SFrame and for CFI.
pub fn call_sites<'c>(
    code: &Program<'_>,
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    mut found: impl FnMut(&CallSite),
) -> (SiteSums, SiteSums) {
    let (mut in_sframe, mut in_cfi) = (SiteSums::default(), SiteSums::default());
    with_pieces(Tables { elf, sections, cfi }, |pieces_in| {
        for function in code.functions() {
            let calls = code.calls(*function);
            let mut places: Vec<CodeRange> = Vec::new();
            for call in &calls {
                for address in [call.end - 1, call.end] {
                    let start = CodeAddress { address, ..function.start };
                    // A call may follow another one.
                    if places.last().is_none_or(|last| last.end <= address) {
                        places.push(CodeRange { start, end: address.saturating_add(1) });
                    }
                }
            }
            let pieces = pieces_in(&places);
            let at = |address: u64| {
                let next = pieces.partition_point(|piece| piece.start.address <= address);
                let piece = next.checked_sub(1).and_then(|index| pieces.get(index));
                piece.filter(|piece| piece.end > address)
            };
            for call in calls {
                let (before, after) = (at(call.end - 1), at(call.end));
                let site = CallSite {
                    call: CodeAddress { address: call.start, ..function.start },
                    return_address: call.end,
                    sframe: judge(before, after, |piece| piece.sframe),
                    cfi: judge(before, after, |piece| piece.cfi),
                };
                site.sframe.into_iter().for_each(|after| in_sframe.add(after));
                site.cfi.into_iter().for_each(|after| in_cfi.add(after));
                let is_same =
                    |after: Option<AfterCall>| after.is_none_or(|after| after == AfterCall::Same);
                if !is_same(site.sframe) || !is_same(site.cfi) {
                    found(&site);
                }
            }
        }
    });
    (in_sframe, in_cfi)
}

/// What a witness says after a call; `None` if it does not describe the call.
fn judge<'c, F: Copy + PartialEq>(
    before: Option<&Piece<'c>>,
    after: Option<&Piece<'c>>,
    of: impl Fn(&Piece<'c>) -> Statement<F>,
) -> Option<AfterCall> {
    let before = match of(before?) {
        Statement::Nothing => return None,
        Statement::Unreadable => return Some(AfterCall::Unreadable),
        Statement::Row(stated) => stated,
    };
    Some(match after.map_or(Statement::Nothing, of) {
        Statement::Nothing => AfterCall::Nothing,
        Statement::Unreadable => AfterCall::Unreadable,
        Statement::Row(Stated { function, frame, .. }) => {
            match (before.function == function, before.frame == frame) {
                (true, true) => AfterCall::Same,
                (false, true) => AfterCall::SameElsewhere,
                (true, false) => AfterCall::OtherRow,
                (false, false) => AfterCall::OtherFunction,
            }
        }
    })
}
