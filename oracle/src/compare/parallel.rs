//! Compares the parts of a large file with several threads.
//!
//! The results are those of one comparison of the whole file, whatever the number of threads and the size of the parts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sframe_validator::elf::Elf;
use sframe_validator::{Section, Version};

use super::divide::{Part, divide};
use super::event::{Event, Report, Wanted};
use super::file::Task;
use super::range::Range;
use super::tables::Tables;
use super::verdict::Totals;
use crate::cfi::Cfi;
use crate::witness::{Budgets, Places};

/// The number of functions in a part.
const FUNCTIONS: usize = 256;
/// The number of parts that are compared before their results are passed on. Memory grows with it.
const AT_ONCE: usize = 32;
/// The maximum number of events of a part that are kept. The compilers' code has at most a few for each function.
const MOST_EVENTS: usize = 1 << 13;

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
    let wanted = Wanted { neither: true, ..Wanted::default() };
    compare_file(Tables { elf, sections, cfi }, wanted, &mut |event| {
        if let Event::Range(range) = event {
            sink(&range);
        }
    })
}

/// As [`compare`], reporting everything that is `wanted`.
pub(crate) fn compare_file<'c>(
    tables: Tables<'_, 'c>,
    wanted: Wanted,
    report: &mut Report<'_, 'c>,
) -> Totals {
    let places = Places::of(tables.sections);
    let task = Task { tables, places: &places, wanted };
    let mut budgets = task.budgets();
    let parts = divide(tables.elf, &places, tables.cfi, part_size(tables.sections));
    let mut totals = match parts.as_slice() {
        [part] => task.compare(part, &mut budgets, report),
        parts => compare_parts(&task, parts, &mut budgets, report),
    };
    totals.functions.unplaced = places.unplaced.count();
    totals
}

/// The number of functions in a part of a file with these sections.
fn part_size(sections: &[Section<'_>]) -> usize {
    let is_first = |section: &Section<'_>| section.header().version == Version::V1;
    // Repeated rows of version 1 are understood by lookups in CFI, whose work is limited for the file as a whole.
    if sections.iter().any(is_first) { usize::MAX } else { FUNCTIONS }
}

fn compare_parts<'c>(
    task: &Task<'_, 'c>,
    parts: &[Part],
    budgets: &mut Budgets,
    report: &mut Report<'_, 'c>,
) -> Totals {
    let mut joined = Joined { last: None, report };
    let mut totals = Totals::default();
    for parts in parts.chunks(AT_ONCE) {
        if let Some(compared) = compare_together(task, parts, budgets) {
            for (of_part, events) in compared {
                totals += of_part;
                events.into_iter().for_each(|event| joined.add(event));
            }
        } else {
            for part in parts {
                totals += task.compare(part, budgets, &mut |event| joined.add(event));
            }
        }
    }
    joined.flush();
    totals
}

/// The totals and the events of each part. `None` if the budgets are too small for all of them, which only one part after
/// the other can find out, or if they have too many events.
fn compare_together<'c>(
    task: &Task<'_, 'c>,
    parts: &[Part],
    budgets: &mut Budgets,
) -> Option<Vec<(Totals, Vec<Event<'c>>)>> {
    let whole = &*budgets;
    let left = Mutex::new(Some(whole.copy()));
    let compare = |part: &Part| {
        lock(&left).as_ref()?;
        let mut budgets = whole.copy();
        let (mut events, mut are_too_many) = (Vec::new(), false);
        let totals = task.compare(part, &mut budgets, &mut |event| {
            if events.len() < MOST_EVENTS {
                events.push(event);
            } else {
                are_too_many = true;
            }
        });
        let mut left = lock(&left);
        let is_enough = left.as_mut()?.take_used(whole, &budgets) && !are_too_many;
        if !is_enough {
            *left = None;
        }
        Some((totals, events))
    };
    let compared = parts.par_iter().map(compare).collect::<Option<Vec<_>>>()?;
    *budgets = left.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    Some(compared)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes events on. Ranges that a part ends and the next one continues are joined.
struct Joined<'c, 'r, 'f> {
    last: Option<Range<'c>>,
    report: &'r mut Report<'f, 'c>,
}

impl<'c> Joined<'c, '_, '_> {
    fn add(&mut self, event: Event<'c>) {
        let Event::Range(range) = event else {
            self.flush();
            return (self.report)(event);
        };
        match &mut self.last {
            Some(last) if last.continues(&range) => last.end = range.end,
            _ => {
                self.flush();
                self.last = Some(range);
            }
        }
    }

    fn flush(&mut self) {
        if let Some(range) = self.last.take() {
            (self.report)(Event::Range(range));
        }
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::write::SectionBuilder;
    use sframe_validator::{Abi, Placement};

    use super::*;

    /// Everything that was reported, as text, apart from the order of different kinds.
    #[derive(Default, Debug, PartialEq)]
    struct Texts {
        ranges: Vec<String>,
        sizes: Vec<String>,
        errors: Vec<String>,
    }

    impl Texts {
        fn add(&mut self, event: Event<'_>) {
            let kind = match event {
                Event::Range(_) => &mut self.ranges,
                Event::WithoutSframe(..) => &mut self.sizes,
                Event::Error(..) => &mut self.errors,
            };
            kind.push(format!("{event:?}"));
        }
    }

    type Outcome = (Totals, Texts, Budgets);

    fn in_parts(task: &Task<'_, '_>, size: usize, mut budgets: Budgets) -> Outcome {
        let mut texts = Texts::default();
        let parts = divide(task.tables.elf, task.places, task.tables.cfi, size);
        let totals = compare_parts(task, &parts, &mut budgets, &mut |event| texts.add(event));
        (totals, texts, budgets)
    }

    fn whole(task: &Task<'_, '_>, mut budgets: Budgets) -> Outcome {
        let mut texts = Texts::default();
        let part = Part::of(crate::compare::code_of(task.tables.elf));
        let totals = task.compare(&part, &mut budgets, &mut |event| texts.add(event));
        (totals, texts, budgets)
    }

    /// Compares a file in parts of several sizes and as a whole, with full and with small budgets. Returns the largest
    /// number of parts.
    fn assert_same(task: &Task<'_, '_>) -> usize {
        let full = task.budgets();
        let mut small = full.copy();
        assert!(small.take_some(), "budgets have bytes or repetitions");
        for budgets in [full, small] {
            let (totals, texts, left) = whole(task, budgets.copy());
            for size in [1, 2, 7, 1000] {
                let (in_parts, in_texts, left_after) = in_parts(task, size, budgets.copy());
                assert_eq!((in_parts, &in_texts), (totals, &texts), "{size} functions");
                assert!(left_after.is_like(&left), "{size} functions: {left_after:?} {left:?}");
            }
        }
        divide(task.tables.elf, task.places, task.tables.cfi, 1).len()
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
            let mut wanted = Wanted { neither: true, ..Wanted::default() };
            let places = Places::of(&sections);
            let tables = Tables { elf: &elf, sections: &sections, cfi: &cfi };
            parts += assert_same(&Task { tables, places: &places, wanted });
            wanted.sizes_without_sframe = true;
            let tables = Tables { sections: &[], ..tables };
            assert_same(&Task { tables, places: &Places::default(), wanted });
        }
        assert!(parts > 2000, "{parts}");
    }
}
