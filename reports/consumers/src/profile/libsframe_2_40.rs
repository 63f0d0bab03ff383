//! libsframe of binutils 2.40.

use sframe_validator::Abi;
use sframe_validator::unwind::Frame;

use crate::answer::Stop;
use crate::consumer::{Consumer, Objects, Opening};
use crate::input::Input;
use crate::library::search::{find, other_places, relative};
use crate::library::{self, Entry, Library, Release, open_input};
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{NO_ROW, Rows, SPENT, Step, Work};
use crate::table::{Extent, Table, TableReader};

static PAGE: Page = Page {
    name: "libsframe-2.40",
    also: &["binutils-2.40"],
    title: "libsframe of GNU binutils, and with it readelf, objdump and ld",
    versions: "2.40",
    source: "binutils 2.40 (Debian binutils-source 2.40-2): libsframe/sframe.c",
    reads: &[1],
    machines: &[Abi::Amd64, Abi::Aarch64Little, Abi::Aarch64Big],
    without_row: "it returns an error code",
    subtracts_one: None,
    reports_errors: true,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "version 1, and no flag other than SORTED and FRAME_POINTER",
        ),
        Statement::proved(
            Subject::Header,
            "fdeoff is not larger than freoff; neither is used otherwise",
        ),
        Statement::proved(
            Subject::Bounds,
            "of a section in the host's byte order, no size except the header's is tested",
        ),
        Statement::proved(Subject::Order, "without the SORTED flag, no function is found"),
        Statement::proved(
            Subject::Lookup,
            "the last function that starts at or before the PC, whatever its size",
        ),
        Statement::proved(
            Subject::Lookup,
            "rows are tried in order; the next row is decoded and tested too",
        ),
        Statement::proved(Subject::Decoding, "a row has at most 3 words"),
        Statement::proved(Subject::EndOfStack, "a row without words is an error"),
    ],
    faults: &[
        Fault::proved(
            "2.40",
            "rows of repeated blocks are selected by the lowest 8 bits of addresses",
        ),
        Fault::proved(
            "2.40",
            "the tables are read from the end of the header, whatever fdeoff and freoff are",
        ),
        Fault::proved(
            "2.40",
            "more than 12 bytes of words overflow a buffer, and the process aborts",
        ),
        Fault::proved("2.40", "an unknown row type aborts the process"),
    ],
    producers: &["use the GNU as and ld of 2.40: nothing else writes version 1"],
};

/// The release.
const RELEASE: Release = Release {
    versions: &[1],
    flags: |_| 3,
    uses_offsets: false,
    entry: |_| 17,
    room: 12,
    most_words: 3,
    has_outermost: false,
    scales_s390x: false,
};

/// The consumer.
pub(super) struct Libsframe;

impl Consumer for Libsframe {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        match library::open(input, RELEASE) {
            Ok(library) => Opening::Accept(Box::new(TableReader(Section(library)))),
            Err(stop) => stop.into(),
        }
    }

    fn objects(&self) -> Objects {
        Objects::Inputs
    }

    fn open_object<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        open_input(input, RELEASE)
    }
}

struct Section<'a>(Library<'a>);

impl Section<'_> {
    fn scan(&self, entry: &Entry, rows: &Rows, pc: i32, work: &Work) -> Result<Frame, Stop> {
        if !entry.repeats()
            && let Some(offset) = Self::plain_offset(entry, rows, pc)
        {
            let is_after_all = rows.failure().is_none() && offset >= entry.size;
            let is_last = rows.steps().last().is_none_or(|last| last.start <= offset);
            return if is_after_all && is_last { Err(NO_ROW) } else { rows.before_next(offset) };
        }
        let mask = if entry.repeats() { 0xff } else { u32::MAX };
        let start = i32::try_from(entry.start).unwrap_or(0).cast_unsigned();
        let place = |offset: u32| start.wrapping_add(offset) & mask;
        let pc = pc.cast_unsigned() & mask;
        let steps = rows.steps();
        for (index, step) in steps.iter().enumerate() {
            if !work.take() {
                return Err(SPENT);
            }
            if place(step.start) > pc {
                return Err(NO_ROW);
            }
            let is_last = u32::try_from(index + 1).is_ok_and(|count| count == entry.rows);
            let end = match steps.get(index + 1) {
                _ if is_last => entry.size,
                Some(next) => next.start,
                None => break,
            };
            if place(end) > pc {
                return step.frame;
            }
        }
        Err(rows.failure().unwrap_or(NO_ROW))
    }

    /// The offset of a PC if rows ascend and no address wraps: a scan from the first row for each PC would take quadratic time.
    fn plain_offset(entry: &Entry, rows: &Rows, pc: i32) -> Option<u32> {
        let start = i32::try_from(entry.start).ok()?;
        let last = rows.steps().last().map_or(entry.size, |last| last.start.max(entry.size));
        start.cast_unsigned().checked_add(last)?;
        let offset = u32::try_from(pc.checked_sub(start)?).ok()?;
        (rows.ascend() && (start < 0) == (pc < 0)).then_some(offset)
    }

    /// The rows before the first that has too many words: it is an error for the row before it, too.
    fn usable(rows: Rows) -> Rows {
        let is_too_long =
            |step: &Step| step.frame.is_err_and(|stop| stop == library::TOO_MANY_WORDS);
        let mut steps = rows.steps().iter().enumerate();
        let Some((cut, _)) = steps.find(|(index, step)| *index > 0 && is_too_long(step)) else {
            return rows;
        };
        let mut usable = Rows::default();
        rows.steps().iter().take(cut).for_each(|step| usable.push(*step));
        usable.fail(library::TOO_MANY_WORDS);
        usable
    }
}

impl Table for Section<'_> {
    fn length(&self) -> usize {
        self.0.data.len()
    }

    fn count(&self) -> u32 {
        self.0.count()
    }

    fn extent(&self, index: u32) -> Option<Extent> {
        let entry = self.0.entry(index).ok()?;
        Some(self.0.extent(entry.start, &entry))
    }

    /// Version 1 does not record the size of blocks, and the lowest 8 bits of addresses select a row.
    fn period(&self, index: u32) -> u64 {
        let repeats = self.0.entry(index).is_ok_and(|entry| entry.repeats());
        if repeats { 256 } else { 1 }
    }

    fn other_places(&self) -> Vec<u64> {
        other_places(&self.0)
    }

    fn wraps(&self) -> bool {
        true
    }

    fn find(&self, pc: u64) -> Result<u32, Stop> {
        find(&self.0, pc)
    }

    fn rows(&self, index: u32, work: &Work) -> Rows {
        let rows = |entry| Self::usable(self.0.rows(&entry, work));
        self.0.entry(index).map_or_else(Rows::failed, rows)
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, work: &Work) -> Result<Frame, Stop> {
        self.scan(&self.0.entry(index)?, rows, relative(&self.0, pc)?, work)
    }
}
