//! Whether `.debug_frame` says what `.eh_frame` says, where both describe a function.

use core::ops::ControlFlow;
use core::slice::{from_mut, from_ref};

use sframe_validator::elf::Elf;
use sframe_validator::finding::Finding;
use sframe_validator::unwind::CodeAddress;

use super::defects::{about_file, span_of};
use super::message::{self, Marked};
use super::tally::Tally;
use crate::cfi::{Cfi, Fde, Kind, RowContext};
use crate::compare::{Observer, Side, Verdict, code_of, judge, sweep};
use crate::rules::CFI_SECTIONS_DIFFER;
use crate::witness::{CfiWitness, Says, Witness as _};

/// Counts the functions about which the two sections differ, and keeps the first difference of some.
pub(super) fn compare(
    elf: &Elf<'_>,
    cfi: &[Cfi<'_>],
    tally: &mut Tally,
    findings: &mut Vec<Finding>,
) {
    let of = |kind| cfi.iter().find(|cfi| cfi.kind() == Some(kind) && !cfi.is_empty());
    let (Some(loaded), Some(debug)) = (of(Kind::EhFrame), of(Kind::DebugFrame)) else { return };
    let mut contexts = (RowContext::new(debug), RowContext::new(loaded));
    let mut of_debuggers = CfiWitness::new(from_ref(debug), from_mut(&mut contexts.0));
    let mut of_unwinders = CfiWitness::new(from_ref(loaded), from_mut(&mut contexts.1));
    let mut differences = Differences { tally, findings, last: None };
    sweep(&code_of(elf), &mut of_debuggers, &mut of_unwinders, &mut differences);
}

/// The differences between the two sections.
struct Differences<'t, 'c> {
    tally: &'t mut Tally,
    findings: &'t mut Vec<Finding>,
    /// The function of `.debug_frame` that was reported last.
    last: Option<Fde<'c>>,
}

impl<'c> Observer<CfiWitness<'c, '_>, CfiWitness<'c, '_>> for Differences<'_, 'c> {
    fn piece(
        &mut self,
        place: CodeAddress,
        _end: u64,
        debug: &mut CfiWitness<'c, '_>,
        loaded: &mut CfiWitness<'c, '_>,
    ) -> ControlFlow<()> {
        let (Says::Row(function, row), Says::Row(_, other)) = (debug.says(), loaded.says()) else {
            return ControlFlow::Continue(());
        };
        let abi = function.cfi().abi();
        let (marks, others) = (debug.marks(), loaded.marks());
        let one = Side { frame: &row.frame, marks, version: None };
        let two = Side { frame: &other.frame, marks: others, version: None };
        let Verdict::Different(fields) = judge(one, two, abi).verdict else {
            return ControlFlow::Continue(());
        };
        if self.last.replace(function) == Some(function) {
            return ControlFlow::Continue(());
        }
        self.tally.count(&CFI_SECTIONS_DIFFER, 1);
        if self.tally.keep(&CFI_SECTIONS_DIFFER) {
            let one = Marked { frame: row.frame, marks, no_rows: false };
            let two = Marked { frame: other.frame, marks: others, no_rows: false };
            let said = message::difference(fields, one, (".eh_frame", two), abi);
            let (name, at) = (function.cfi().name(), place.address);
            let message = format!("{name}: at {at:#x}, {said} (FDE at {:#x})", function.offset());
            let code = Some(span_of(&function));
            self.findings.push(Finding { code, ..about_file(&CFI_SECTIONS_DIFFER, message) });
        }
        ControlFlow::Continue(())
    }
}
