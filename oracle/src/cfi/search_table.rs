//! Compares `.eh_frame_hdr` with `.eh_frame`, of which it is the index (LSB 5.0, 10.6.2).
//!
//! Unwinders find the last entry of the table that is not after a PC, and use its FDE if that describes the PC. So an entry
//! that is missing, wrong, or of an FDE without code hides a function that `.eh_frame` describes.

use core::fmt;

use sframe_validator::elf::{Elf, SearchEntry, SearchTable, SearchTableError};
use sframe_validator::unwind::CodeAddress;

use super::Kind;
use super::error::{CfiError, CfiErrorKind};
use super::executable::Executable;
use super::function::Fde;
use super::section::{Cfi, DefectCount};

/// A defect of the table that unwinders search.
#[derive(Clone, Copy, Debug)]
pub struct SearchDefect<'c> {
    /// The defect.
    pub kind: SearchDefectKind,
    /// The function that it is about, if it is about one.
    pub function: Option<Fde<'c>>,
}

/// The ways in which unwinders can be misled. Numbers are addresses, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchDefectKind {
    /// No program header leads to the table.
    NoSegment,
    /// The program header does not lead to the section.
    Segment {
        /// Where it leads.
        to: u64,
        /// Where the section is.
        section: u64,
    },
    /// The table cannot be read.
    Unreadable(SearchTableError),
    /// The pointer to `.eh_frame` leads elsewhere.
    Pointer {
        /// Where it leads.
        to: u64,
        /// Where the section is.
        eh_frame: u64,
    },
    /// Entries are not in the order of their functions.
    Unsorted {
        /// How many entries are smaller than the one before them.
        count: u64,
        /// The index of the first of them.
        first: u64,
    },
    /// An entry leads to no FDE.
    NoFde {
        /// The index of the entry.
        entry: u64,
        /// Where it leads.
        to: u64,
    },
    /// The function of an entry is not where its FDE says.
    Start {
        /// The index of the entry.
        entry: u64,
        /// The function's start in the table.
        start: u64,
    },
    /// The table has no entry for a function.
    Missing {
        /// The number of its bytes for which no FDE is found.
        bytes: u64,
    },
    /// Another entry is found for PCs of a function, and its FDE does not describe them.
    Hidden {
        /// The number of bytes of the function for which no FDE is found.
        bytes: u64,
        /// The section offset of the other FDE.
        by: u64,
        /// The size of its function in bytes.
        size: u64,
    },
}

impl fmt::Display for SearchDefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchDefectKind::NoSegment => {
                f.write_str("no program header leads to the table: unwinders do not find it")
            }
            SearchDefectKind::Segment { to, section } => {
                write!(f, "PT_GNU_EH_FRAME leads to {to:#x}, and the table is at {section:#x}")
            }
            SearchDefectKind::Unreadable(error) => {
                write!(f, "unwinders cannot read the table: {error}")
            }
            SearchDefectKind::Pointer { to, eh_frame } => {
                write!(
                    f,
                    "the pointer to .eh_frame leads to {to:#x}, and .eh_frame is at {eh_frame:#x}"
                )
            }
            SearchDefectKind::Unsorted { count: 1, first } => {
                write!(f, "entry {first} is smaller than the one before it")
            }
            SearchDefectKind::Unsorted { count, first } => {
                write!(
                    f,
                    "{count} entries are smaller than the ones before them; the first is entry {first}"
                )
            }
            SearchDefectKind::NoFde { entry, to } => {
                write!(f, "entry {entry} leads to {to:#x}, where no FDE starts")
            }
            SearchDefectKind::Start { entry, start } => {
                write!(
                    f,
                    "entry {entry} says that the function starts at {start:#x}, and its FDE does not"
                )
            }
            SearchDefectKind::Missing { bytes } => {
                let bytes = Bytes(*bytes);
                write!(
                    f,
                    "the table has no entry for this function: unwinders find no FDE for {bytes} of it"
                )
            }
            SearchDefectKind::Hidden { bytes, by, size } => {
                let (bytes, what) =
                    (Bytes(*bytes), if *size == 0 { "no code" } else { "other code" });
                write!(
                    f,
                    "unwinders find no FDE for {bytes} of this function: \
                     the table leads them to .eh_frame+{by:#x}, which describes {what}"
                )
            }
        }
    }
}

/// A number of bytes in words.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 byte"),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// Hands each defect of the table in a linked file to `found`. `cfi` are the file's sections of call frame information; if
/// none of them is a readable `.eh_frame` of this file, only what the file itself shows is judged.
///
/// The time is that of sorting the functions and the entries.
pub fn check_search_table<'c>(
    elf: &Elf<'_>,
    cfi: &'c [Cfi<'c>],
    found: &mut dyn FnMut(SearchDefect<'c>),
) {
    let Some(table) = elf.search_table() else { return };
    let mut about_file = |kind| found(SearchDefect { kind, function: None });
    if let Some(kind) = of_segment(elf) {
        about_file(kind);
    }
    let read = table.and_then(|table| Ok((table, table.entries()?)));
    let (table, entries) = match read {
        Ok(read) => read,
        Err(error) => return about_file(SearchDefectKind::Unreadable(error)),
    };
    let Some(eh_frame) = cfi.iter().find(|cfi| is_eh_frame_of(cfi, elf)) else { return };
    let start = elf.section(eh_frame.section()).map_or(0, |section| section.address);
    if let Some(to) = table.eh_frame().filter(|to| *to != start) {
        about_file(SearchDefectKind::Pointer { to, eh_frame: start });
    }
    if let Some(kind) = of_order(entries.clone()) {
        about_file(kind);
    }
    Index::new(eh_frame, start, &table, entries).check(elf, found);
}

/// Whether the program header and the section are in the same place.
fn of_segment(elf: &Elf<'_>) -> Option<SearchDefectKind> {
    let mut sections = elf.sections().iter();
    let section = sections.find(|it| it.name == b".eh_frame_hdr" && it.is_loaded())?.address;
    match elf.search_table_segment() {
        Some(segment) if segment.address == section => None,
        Some(segment) => Some(SearchDefectKind::Segment { to: segment.address, section }),
        // Programs for bare machines find the table by symbols of their linker scripts.
        None => elf.is_dynamic().then_some(SearchDefectKind::NoSegment),
    }
}

/// Whether this is the `.eh_frame` of the file itself, not of its debug file.
fn is_eh_frame_of(cfi: &Cfi<'_>, elf: &Elf<'_>) -> bool {
    let section = elf.section(cfi.section()).filter(|section| section.name == b".eh_frame");
    let data = section.and_then(|section| elf.section_data(section).ok());
    cfi.kind() == Some(Kind::EhFrame) && data.is_some_and(|data| core::ptr::eq(data, cfi.data()))
}

/// Whether the entries are in order.
fn of_order(entries: impl Iterator<Item = SearchEntry> + Clone) -> Option<SearchDefectKind> {
    let pairs = entries.clone().zip(entries.skip(1)).zip(1..);
    let mut smaller =
        pairs.filter(|((before, this), _)| this.start < before.start).map(|(_, index)| index);
    let first: u64 = smaller.next()?;
    Some(SearchDefectKind::Unsorted { count: 1 + smaller.count() as u64, first })
}

/// The entries with their FDEs.
struct Index<'c> {
    cfi: &'c Cfi<'c>,
    /// By start; of one start, in the order of the table.
    entries: Vec<Entry<'c>>,
    /// Whether there is a table.
    has_table: bool,
}

/// An entry, and the FDE to which it leads.
#[derive(Clone, Copy)]
struct Entry<'c> {
    index: u64,
    start: u64,
    to: u64,
    fde: Option<Fde<'c>>,
}

impl<'c> Index<'c> {
    fn new(
        cfi: &'c Cfi<'c>,
        start: u64,
        table: &SearchTable<'_>,
        entries: impl Iterator<Item = SearchEntry>,
    ) -> Index<'c> {
        let fdes: Vec<Fde<'c>> = cfi.functions().collect();
        let fde_at = |address: u64| {
            let offset = address.checked_sub(start)?;
            let place = fdes.binary_search_by_key(&offset, Fde::offset).ok()?;
            fdes.get(place).copied()
        };
        let entry = |(entry, index): (SearchEntry, u64)| {
            let SearchEntry { start, fde: to } = entry;
            Entry { index, start, to, fde: fde_at(to) }
        };
        let mut entries: Vec<Entry<'c>> = entries.zip(0..).map(entry).collect();
        entries.sort_by_key(|entry| entry.start);
        Index { cfi, entries, has_table: table.has_entries() }
    }

    fn check(&self, elf: &Elf<'_>, found: &mut dyn FnMut(SearchDefect<'c>)) {
        let all_are_readable = self.cfi.defect_counts().iter().all(leaves_entries);
        let executable = Executable::of(elf);
        // Those to which a wrong entry leads, by offset: they are reported once.
        let mut wrong = Vec::new();
        let mut listed = Vec::with_capacity(self.entries.len());
        for &Entry { index: entry, start, to, fde } in &self.entries {
            match fde {
                // GNU ld leaves these out.
                Some(fde) if fde.size() == 0 => {}
                Some(fde) if fde.start().address == start => listed.push(fde.offset()),
                Some(fde) => {
                    wrong.push(fde.offset());
                    let kind = SearchDefectKind::Start { entry, start };
                    found(SearchDefect { kind, function: Some(fde) });
                }
                // Entries for FDEs without code, which mold moves to the end, are outside the code, and lead anywhere.
                None if all_are_readable && executable.contains(CodeAddress::absolute(start)) => {
                    let kind = SearchDefectKind::NoFde { entry, to };
                    found(SearchDefect { kind, function: None });
                }
                // It may lead to an FDE that cannot be read, which is reported for itself.
                None => {}
            }
        }
        if !self.has_table {
            return;
        }
        wrong.sort_unstable();
        listed.sort_unstable();
        let searched = Searched::of(&self.entries);
        for function in self.cfi.sorted().filter(|function| function.size() > 0) {
            let (start, size) = (function.start().address, function.size());
            let end = start.saturating_add(size);
            let bytes = (end - start).saturating_sub(searched.found_in(start, end));
            if bytes == 0 || wrong.binary_search(&function.offset()).is_ok() {
                continue;
            }
            let is_listed = listed.binary_search(&function.offset()).is_ok();
            let gap = searched.first_gap(start).and_then(|entry| self.entries.get(entry));
            let other = gap.and_then(|entry| entry.fde);
            let kind = match other {
                Some(other) if is_listed || other.start() == function.start() => {
                    SearchDefectKind::Hidden { bytes, by: other.offset(), size: other.size() }
                }
                // The entry that is found leads to no FDE, which is reported.
                None if is_listed || gap.is_some_and(|entry| entry.start == start) => continue,
                _ => SearchDefectKind::Missing { bytes },
            };
            found(SearchDefect { kind, function: Some(function) });
        }
    }
}

/// Whether every entry could be read although the section has such defects.
fn leaves_entries(defects: &DefectCount) -> bool {
    let CfiError { kind, .. } = defects.first;
    matches!(
        kind,
        CfiErrorKind::EmptyRange
            | CfiErrorKind::Overlap(_)
            | CfiErrorKind::EntriesAfterTerminator
            | CfiErrorKind::NotInitial(_)
    )
}

/// For which PCs a search of the sorted table finds an FDE that describes them.
struct Searched {
    ranges: Vec<Found>,
}

/// What is found by one entry.
struct Found {
    start: u64,
    /// The end of the code for which the search finds the entry, and its FDE describes it.
    end: u64,
    /// The number of bytes found by the entries before it.
    before: u64,
    /// The next entry, or this one, after whose code there is some for which nothing is found.
    gap: usize,
}

impl Searched {
    fn of(entries: &[Entry<'_>]) -> Searched {
        let nexts = entries.iter().skip(1).map(|entry| entry.start).chain([u64::MAX]);
        let mut before = 0_u64;
        let found = |((index, entry), next): ((usize, &Entry<'_>), u64)| {
            let start = entry.start;
            let size = entry.fde.map_or(0, |fde| fde.size());
            let found =
                Found { start, end: start.saturating_add(size).min(next), before, gap: index };
            before = before.saturating_add(found.end - start);
            found
        };
        let mut ranges: Vec<Found> = entries.iter().enumerate().zip(nexts).map(found).collect();
        let mut next: Option<(u64, usize)> = None;
        for found in ranges.iter_mut().rev() {
            if let Some((_, gap)) = next.filter(|(start, _)| *start == found.end) {
                found.gap = gap;
            }
            next = Some((found.start, found.gap));
        }
        Searched { ranges }
    }

    /// The number of bytes before `address` for which an FDE is found.
    fn found_before(&self, address: u64) -> u64 {
        let after = self.ranges.partition_point(|found| found.start < address);
        let last = after.checked_sub(1).and_then(|last| self.ranges.get(last));
        last.map_or(0, |found| found.before.saturating_add(address.min(found.end) - found.start))
    }

    /// The number of bytes in `[start, end)` for which an FDE is found.
    fn found_in(&self, start: u64, end: u64) -> u64 {
        self.found_before(end).saturating_sub(self.found_before(start))
    }

    /// The index of the entry that a search finds for the first PC from `start` on for which it finds no FDE; `None` if
    /// it finds no entry.
    fn first_gap(&self, start: u64) -> Option<usize> {
        let last = self.ranges.partition_point(|found| found.start <= start).checked_sub(1)?;
        let found = self.ranges.get(last)?;
        Some(if start < found.end { found.gap } else { last })
    }
}
