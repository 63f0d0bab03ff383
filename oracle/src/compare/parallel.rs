//! Compares the parts of a large file with several threads.
//!
//! The results are those of one comparison of the whole file, whatever the number of threads and the size of the parts.

use core::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sframe_validator::elf::Elf;
use sframe_validator::{Section, Version};

use super::divide::{Part, divide};
use super::file::Tables;
use super::range::Range;
use super::sink::Sink;
use super::verdict::Totals;
use crate::cfi::{Cfi, CfiError, Fde};
use crate::witness::{Budgets, Places};

/// The number of functions in a part.
const FUNCTIONS: usize = 256;
/// The number of parts that are compared before their results are passed on. Memory grows with it.
const AT_ONCE: usize = 32;
/// The maximum number of results of a part that are kept. The compilers' code has at most a few for each function.
const MOST_RESULTS: usize = 1 << 13;

/// Sweeps over the code of `elf` with the functions of `sections` and `cfi`, all of which must belong to the file.
/// `sink` receives every range that is not [`Verdict::Equal`](super::Verdict::Equal), in the order of addresses. The threads of the current
/// `rayon` pool compare parts of a large file.
///
/// The time is linear in the size of the file, whatever its tables claim.
pub fn compare<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    mut sink: impl FnMut(&Range<'c>),
) -> Totals {
    compare_file(elf, sections, cfi, &mut sink)
}

/// Like [`compare`], for a sink that needs more details.
pub(crate) fn compare_file<'c, S: Sink<'c>>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    sink: &mut S,
) -> Totals {
    let places = Places::of(sections);
    let tables = Tables { elf, sections, cfi, places: &places };
    compare_whole(&tables, sink)
}

/// Compares all of a file's code.
fn compare_whole<'c, S: Sink<'c>>(tables: &Tables<'_, 'c>, sink: &mut S) -> Totals {
    let mut budgets = tables.budgets();
    let parts = divide(tables.elf, tables.places, tables.cfi, part_size(tables.sections));
    let mut totals = match parts.as_slice() {
        [part] => tables.compare(part, &mut budgets, sink),
        parts => compare_parts(tables, parts, &mut budgets, sink),
    };
    totals.functions.unplaced = tables.places.unplaced.count();
    totals
}

/// The number of functions in a part of a file with these sections.
fn part_size(sections: &[Section<'_>]) -> usize {
    let is_first = |section: &Section<'_>| section.header().version == Version::V1;
    // Repeated rows of version 1 are understood by lookups in CFI, whose work is limited for the file as a whole.
    if sections.iter().any(is_first) { usize::MAX } else { FUNCTIONS }
}

fn compare_parts<'c, S: Sink<'c>>(
    tables: &Tables<'_, 'c>,
    parts: &[Part],
    budgets: &mut Budgets,
    sink: &mut S,
) -> Totals {
    let counts = sink.counts_code_without_sframe();
    let mut joined = Joined { last: None, sink };
    let mut totals = Totals::default();
    for parts in parts.chunks(AT_ONCE) {
        if let Some(compared) = compare_together::<S>(tables, parts, budgets, counts) {
            for (of_part, results) in compared {
                totals += of_part;
                results.into_iter().for_each(|result| result.pass_to(&mut joined));
            }
        } else {
            for part in parts {
                totals += tables.compare(part, budgets, &mut joined);
            }
        }
    }
    joined.flush();
    totals
}

/// The totals and the results of each part. `None` if the budgets are too small for all of them, which only one part after
/// the other can find out, or if they have too many results.
fn compare_together<'c, S: Sink<'c>>(
    tables: &Tables<'_, 'c>,
    parts: &[Part],
    budgets: &mut Budgets,
    counts_code_without_sframe: bool,
) -> Option<Vec<(Totals, Vec<Reported<'c>>)>> {
    let whole = &*budgets;
    let left = Mutex::new(Some(whole.copy()));
    let compare = |part: &Part| {
        lock(&left).as_ref()?;
        let mut budgets = whole.copy();
        let mut results = Results::<S>::new(counts_code_without_sframe);
        let totals = tables.compare(part, &mut budgets, &mut results);
        let mut left = lock(&left);
        let is_enough = left.as_mut()?.take_used(whole, &budgets) && !results.are_too_many;
        if !is_enough {
            *left = None;
        }
        Some((totals, results.reported))
    };
    let compared = parts.par_iter().map(compare).collect::<Option<Vec<_>>>()?;
    *budgets = left.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    Some(compared)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a comparison reports to its sink.
enum Reported<'c> {
    Range(Range<'c>),
    WithoutSframe(Fde<'c>, u64),
    Error(Fde<'c>, CfiError),
}

impl<'c> Reported<'c> {
    fn pass_to(self, sink: &mut impl Sink<'c>) {
        match self {
            Reported::Range(range) => sink.range(&range),
            Reported::WithoutSframe(function, bytes) => sink.without_sframe(&function, bytes),
            Reported::Error(function, error) => sink.error(&function, error),
        }
    }
}

/// Keeps what a part reports, for a sink `S`.
struct Results<'c, S> {
    reported: Vec<Reported<'c>>,
    are_too_many: bool,
    counts_code_without_sframe: bool,
    sink: PhantomData<fn() -> S>,
}

impl<'c, S> Results<'c, S> {
    const fn new(counts_code_without_sframe: bool) -> Self {
        let sink = PhantomData;
        Results { reported: Vec::new(), are_too_many: false, counts_code_without_sframe, sink }
    }

    fn add(&mut self, reported: Reported<'c>) {
        if self.reported.len() < MOST_RESULTS {
            self.reported.push(reported);
        } else {
            self.are_too_many = true;
        }
    }
}

impl<'c, S: Sink<'c>> Sink<'c> for Results<'c, S> {
    const NEITHER: bool = S::NEITHER;
    const EQUAL: bool = S::EQUAL;

    fn range(&mut self, range: &Range<'c>) {
        self.add(Reported::Range(*range));
    }

    fn counts_code_without_sframe(&self) -> bool {
        self.counts_code_without_sframe
    }

    fn without_sframe(&mut self, function: &Fde<'c>, bytes: u64) {
        self.add(Reported::WithoutSframe(*function, bytes));
    }

    fn error(&mut self, function: &Fde<'c>, error: CfiError) {
        self.add(Reported::Error(*function, error));
    }
}

/// Passes results on to a sink. Ranges that a part ends and the next one continues are joined.
struct Joined<'c, 's, S> {
    last: Option<Range<'c>>,
    sink: &'s mut S,
}

impl<'c, S: Sink<'c>> Joined<'c, '_, S> {
    fn flush(&mut self) {
        if let Some(range) = self.last.take() {
            self.sink.range(&range);
        }
    }
}

impl<'c, S: Sink<'c>> Sink<'c> for Joined<'c, '_, S> {
    const NEITHER: bool = S::NEITHER;
    const EQUAL: bool = S::EQUAL;

    fn range(&mut self, range: &Range<'c>) {
        match &mut self.last {
            Some(last) if last.continues(range) => last.end = range.end,
            _ => {
                self.flush();
                self.last = Some(*range);
            }
        }
    }

    fn counts_code_without_sframe(&self) -> bool {
        self.sink.counts_code_without_sframe()
    }

    fn without_sframe(&mut self, function: &Fde<'c>, bytes: u64) {
        self.flush();
        self.sink.without_sframe(function, bytes);
    }

    fn error(&mut self, function: &Fde<'c>, error: CfiError) {
        self.flush();
        self.sink.error(function, error);
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::write::SectionBuilder;
    use sframe_validator::{Abi, Placement};

    use super::*;

    /// Keeps everything as text, apart from the order of different kinds.
    #[derive(Default, Debug, PartialEq)]
    struct Texts<const COUNTS: bool> {
        ranges: Vec<String>,
        sizes: Vec<String>,
        errors: Vec<String>,
    }

    impl<'c, const COUNTS: bool> Sink<'c> for Texts<COUNTS> {
        const NEITHER: bool = true;

        fn range(&mut self, range: &Range<'c>) {
            self.ranges.push(format!("{range:?}"));
        }

        fn counts_code_without_sframe(&self) -> bool {
            COUNTS
        }

        fn without_sframe(&mut self, function: &Fde<'c>, bytes: u64) {
            self.sizes.push(format!("{function:?} {bytes}"));
        }

        fn error(&mut self, function: &Fde<'c>, error: CfiError) {
            self.errors.push(format!("{function:?} {error:?}"));
        }
    }

    type Outcome<const COUNTS: bool> = (Totals, Texts<COUNTS>, Budgets);

    fn in_parts<const COUNTS: bool>(
        tables: &Tables<'_, '_>,
        size: usize,
        budgets: Budgets,
    ) -> Outcome<COUNTS> {
        let (mut texts, mut budgets) = (Texts::default(), budgets);
        let parts = divide(tables.elf, tables.places, tables.cfi, size);
        let totals = compare_parts(tables, &parts, &mut budgets, &mut texts);
        (totals, texts, budgets)
    }

    fn whole<const COUNTS: bool>(tables: &Tables<'_, '_>, budgets: Budgets) -> Outcome<COUNTS> {
        let (mut texts, mut budgets) = (Texts::default(), budgets);
        let part = Part::of(crate::compare::code_of(tables.elf));
        let totals = tables.compare(&part, &mut budgets, &mut texts);
        (totals, texts, budgets)
    }

    /// Compares a file in parts of several sizes and as a whole, with full and with small budgets. Returns the largest
    /// number of parts.
    fn assert_same<const COUNTS: bool>(tables: &Tables<'_, '_>) -> usize {
        let full = tables.budgets();
        let mut small = full.copy();
        assert!(small.take_some(), "budgets have bytes or repetitions");
        for budgets in [full, small] {
            let (totals, texts, left) = whole::<COUNTS>(tables, budgets.copy());
            for size in [1, 2, 7, 1000] {
                let (in_parts, in_texts, left_after) = in_parts(tables, size, budgets.copy());
                assert_eq!((in_parts, &in_texts), (totals, &texts), "{size} functions");
                assert!(left_after.is_like(&left), "{size} functions: {left_after:?} {left:?}");
            }
        }
        divide(tables.elf, tables.places, tables.cfi, 1).len()
    }

    #[test]
    fn files_with_version_1_are_not_divided() {
        let bytes =
            |version| SectionBuilder::new(version, Abi::Amd64).build().expect("it fits").bytes;
        let files = [Version::V1, Version::V2, Version::V3].map(bytes);
        let [first, second, third] = files.each_ref().map(|file| {
            Section::parse(file, Placement::at(0).with_abi(Some(Abi::Amd64))).expect("sound")
        });
        assert_eq!(part_size(&[third, first]), usize::MAX);
        assert_eq!(part_size(&[second, third]), FUNCTIONS);
    }

    /// Every golden file, with its sections and without.
    #[test]
    fn parts_have_the_results_of_the_whole() {
        let mut parts = 0;
        for path in sframe_corpus::golden(&["o", "so", "exe"]) {
            let file = std::fs::read(&path).expect("readable");
            let Ok(elf) = Elf::parse(&file) else { continue };
            let Ok(cfi) = Cfi::load_all(&elf) else { continue };
            let contents: Vec<_> = elf.sframe_contents().collect();
            let sections: Vec<_> = contents
                .iter()
                .filter_map(|sframe| {
                    let placement = sframe.placement().ok()?.with_abi(elf.abi());
                    Section::parse(sframe.data.ok()?, placement).ok()
                })
                .collect();
            let places = Places::of(&sections);
            let with = Tables { elf: &elf, sections: &sections, cfi: &cfi, places: &places };
            parts += assert_same::<false>(&with);
            let places = Places::default();
            let without = Tables { elf: &elf, sections: &[], cfi: &cfi, places: &places };
            assert_same::<true>(&without);
        }
        assert!(parts > 2000, "{parts}");
    }
}
