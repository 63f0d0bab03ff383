//! The kernel's ORC tables as a witness.

use core::convert::Infallible;

use sframe_validator::unwind::{CodeAddress, Row};

use super::{Left, Marks, Says, Shared, Witness};
use crate::orc::{Meaning, Orc, OrcEntry, OrcRun};

/// The ORC tables of a file as a witness.
///
/// ORC has no functions, so a range of code that the tables describe without a gap counts as one. Undefined code is not
/// described; an entry with an undecided meaning is unreadable.
#[derive(Clone, Debug)]
pub struct OrcWitness<'o> {
    orc: &'o Orc,
    /// The number of the next run.
    next_run: usize,
    /// The run at the place entered last.
    run: Option<OrcRun>,
    /// The number of the entry read last, or of an earlier one.
    entry: usize,
    row: Option<Row>,
    shared: Shared,
}

impl<'o> OrcWitness<'o> {
    /// A witness for the tables of a file.
    #[must_use]
    pub const fn new(orc: &'o Orc) -> OrcWitness<'o> {
        let (run, row, shared) = (None, None, Shared::Unknown);
        OrcWitness { orc, next_run: 0, run, entry: 0, row, shared }
    }

    /// The marks of the entry at the address read last.
    #[must_use]
    pub fn marks(&self) -> Marks {
        let meaning = self.current().map(|entry| entry.meaning);
        let signal = matches!(meaning, Some(Meaning::Frame { signal: true, .. }));
        Marks { signal, key_b: false }
    }

    fn current(&self) -> Option<&'o OrcEntry> {
        self.orc.entries().get(self.entry)
    }
}

impl Witness for OrcWitness<'_> {
    type Function = OrcRun;
    type Row = Row;
    type Error = Infallible;

    fn enter(
        &mut self,
        place: CodeAddress,
        left: &mut impl FnMut(Left<OrcRun, Infallible>),
    ) -> u64 {
        let is_before_end =
            |run: &OrcRun| (place.section, place.address) < (run.start.section, run.end);
        if self.run.is_some_and(|run| !is_before_end(&run)) {
            self.finish(left);
        }
        if self.run.is_none() {
            let runs = self.orc.runs();
            while runs.get(self.next_run).is_some_and(|run| !is_before_end(run)) {
                self.next_run += 1;
            }
            match runs.get(self.next_run) {
                Some(run) if run.start <= place => {
                    self.run = Some(*run);
                    self.next_run += 1;
                }
                Some(run) if run.start.section == place.section => return run.start.address,
                _ => return u64::MAX,
            }
        }
        self.run.map_or(u64::MAX, |run| run.end)
    }

    fn describes(&self) -> bool {
        self.run.is_some()
    }

    fn read(&mut self, address: u64, _wanted: bool) -> u64 {
        self.row = None;
        let Some(run) = self.run else { return u64::MAX };
        let place = CodeAddress { address, ..run.start };
        let is_before =
            |entry: &OrcEntry| (entry.start.section, entry.end) <= (place.section, place.address);
        while self.current().is_some_and(is_before) {
            self.entry += 1;
        }
        let Some(entry) = self.current().filter(|entry| entry.contains(place)) else {
            return run.end;
        };
        self.row = entry.row();
        entry.end
    }

    fn says(&self) -> Says<'_, OrcRun, Row> {
        match (self.run, &self.row) {
            (None, _) => Says::Nothing,
            (Some(run), Some(row)) => Says::Row(run, row),
            (Some(run), None) => Says::Unreadable(run),
        }
    }

    fn note(&mut self, shared: bool) {
        self.shared = self.shared.with(shared);
    }

    fn finish(&mut self, left: &mut impl FnMut(Left<OrcRun, Infallible>)) {
        let shared = core::mem::take(&mut self.shared);
        if let Some(function) = self.run.take() {
            left(Left { function, shared, error: None });
        }
        self.row = None;
    }
}
