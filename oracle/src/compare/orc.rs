//! Compares the SFrame sections of a kernel or module with its ORC tables.

use core::ops::ControlFlow;

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Row};

use super::code::code_of;
use super::judge::{Side, judge};
use super::sweep::{Observer, sweep};
use super::verdict::{Fields, Verdict};
use crate::orc::{Orc, OrcRun};
use crate::witness::{
    Budgets, Current, Evidence, OrcWitness, Places, Says, SframeFunction, SframeWitness, Statement,
    Witness,
};

/// The result of comparing SFrame and ORC at a PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrcVerdict {
    /// Both agree.
    Equal,
    /// Both agree as far as the SFrame version can express; it cannot express these fields.
    Limited(Fields),
    /// They differ in these fields.
    Different(Fields),
    /// Only ORC describes the code.
    OnlyOrc,
    /// Only SFrame describes the code.
    OnlySframe,
    /// Neither describes the code.
    Neither,
    /// One of them cannot be read there.
    Undecided,
}

/// Executable bytes by verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OrcSums {
    /// Bytes with [`OrcVerdict::Equal`].
    pub equal: u64,
    /// Bytes with [`OrcVerdict::Limited`].
    pub limited: u64,
    /// Bytes with [`OrcVerdict::Different`].
    pub different: u64,
    /// Bytes with [`OrcVerdict::OnlyOrc`].
    pub only_orc: u64,
    /// Bytes with [`OrcVerdict::OnlySframe`].
    pub only_sframe: u64,
    /// Bytes with [`OrcVerdict::Neither`].
    pub neither: u64,
    /// Bytes with [`OrcVerdict::Undecided`].
    pub undecided: u64,
}

impl OrcSums {
    fn add(&mut self, verdict: OrcVerdict, bytes: u64) {
        let sum = match verdict {
            OrcVerdict::Equal => &mut self.equal,
            OrcVerdict::Limited(_) => &mut self.limited,
            OrcVerdict::Different(_) => &mut self.different,
            OrcVerdict::OnlyOrc => &mut self.only_orc,
            OrcVerdict::OnlySframe => &mut self.only_sframe,
            OrcVerdict::Neither => &mut self.neither,
            OrcVerdict::Undecided => &mut self.undecided,
        };
        *sum = sum.saturating_add(bytes);
    }
}

/// A range of PCs with one verdict. Adjacent ranges with equal content are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrcRange {
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive.
    pub end: u64,
    /// The result of comparing SFrame and ORC.
    pub verdict: OrcVerdict,
    /// SFrame's statement.
    pub sframe: Option<Statement<SframeFunction>>,
    /// ORC's statement. Its function is the range that ORC describes without a gap.
    pub orc: Option<Statement<OrcRun>>,
}

impl OrcRange {
    fn continues(&self, next: &OrcRange) -> bool {
        let place = CodeAddress { address: self.end, ..self.start };
        *next == OrcRange { start: place, end: next.end, ..*self }
    }
}

/// The results so far.
struct Comparison<S> {
    sums: OrcSums,
    /// The last range, which the next one may extend.
    pending: Option<OrcRange>,
    sink: S,
}

impl<S: FnMut(&OrcRange)> Comparison<S> {
    fn report(&mut self, range: OrcRange) {
        match &mut self.pending {
            Some(last) if last.continues(&range) => last.end = range.end,
            _ => {
                self.flush();
                self.pending = Some(range);
            }
        }
    }

    fn flush(&mut self) {
        if let Some(range) = self.pending.take() {
            (self.sink)(&range);
        }
    }
}

impl<'w, S, E> Observer<SframeWitness<'w, E>, OrcWitness<'_>> for Comparison<S>
where
    S: FnMut(&OrcRange),
    E: FnMut(&Current<'w>, CodeAddress, &Row) -> Evidence,
{
    fn piece(
        &mut self,
        place: CodeAddress,
        end: u64,
        sframe: &mut SframeWitness<'w, E>,
        orc: &mut OrcWitness<'_>,
    ) -> ControlFlow<()> {
        let verdict = decide(sframe.current(), &sframe.says(), &orc.says(), orc);
        let range = OrcRange {
            start: place,
            end,
            verdict,
            sframe: statement(&sframe.says()),
            orc: statement(&orc.says()),
        };
        self.sums.add(verdict, end - place.address);
        if verdict == OrcVerdict::Equal {
            self.flush();
        } else {
            self.report(range);
        }
        ControlFlow::Continue(())
    }
}

fn statement<F: Copy>(says: &Says<'_, F, Row>) -> Option<Statement<F>> {
    let frame = match says {
        Says::Row(_, row) => Some(row.frame),
        _ => None,
    };
    says.function().map(|function| Statement { function, frame })
}

fn decide(
    current: Option<&Current<'_>>,
    sframe: &Says<'_, SframeFunction, Row>,
    orc: &Says<'_, OrcRun, Row>,
    witness: &OrcWitness<'_>,
) -> OrcVerdict {
    let is_in_orc = orc.anything();
    match (sframe, orc, current) {
        (Says::Row(_, row), Says::Row(_, other), Some(current)) => {
            let first =
                Side { frame: &row.frame, marks: current.marks, version: Some(current.version) };
            let second = Side { frame: &other.frame, marks: witness.marks(), version: None };
            match judge(first, second, current.abi).verdict {
                Verdict::Equal => OrcVerdict::Equal,
                Verdict::Limited(fields) => OrcVerdict::Limited(fields),
                Verdict::Different(fields) => OrcVerdict::Different(fields),
                _ => OrcVerdict::Undecided,
            }
        }
        (Says::Nothing | Says::NoRows(_), ..) if is_in_orc => OrcVerdict::OnlyOrc,
        (Says::Nothing | Says::NoRows(_), ..) => OrcVerdict::Neither,
        (Says::Row(..), ..) if !is_in_orc => OrcVerdict::OnlySframe,
        _ => OrcVerdict::Undecided,
    }
}

/// Sweeps over the code of `elf` with the functions of `sections` and the entries of `orc`, all of which must belong to the
/// file. `sink` receives every range that is not [`OrcVerdict::Equal`], in the order of addresses.
///
/// The time is linear in the size of the file.
pub fn compare_orc(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    orc: &Orc,
    sink: impl FnMut(&OrcRange),
) -> OrcSums {
    let places = Places::of(sections);
    let mut comparison = Comparison { sums: OrcSums::default(), pending: None, sink };
    let mut budgets = Budgets::new(sections, elf.data().len() as u64);
    let origin = CodeAddress::absolute(0);
    let evidence = |_: &Current<'_>, _: CodeAddress, _: &Row| Evidence::NONE;
    let mut first =
        SframeWitness::new(sections, &places.functions, origin, elf.abi(), &mut budgets, evidence);
    let mut second = OrcWitness::new(orc);
    sweep(&code_of(elf), &mut first, &mut second, &mut comparison);
    comparison.flush();
    comparison.sums
}
