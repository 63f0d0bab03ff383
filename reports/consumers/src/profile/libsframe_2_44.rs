//! libsframe of binutils 2.41 to 2.44.

use sframe_validator::Abi;
use sframe_validator::unwind::Frame;

use crate::answer::Stop;
use crate::consumer::{Consumer, Objects, Opening};
use crate::input::Input;
use crate::library::search::{find, other_places, relative};
use crate::library::{self, Entry, Library, Release, open_input};
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{NO_ROW, Rows, SPENT, Work};
use crate::table::{Extent, Table, TableReader};

static PAGE: Page = Page {
    name: "libsframe-2.44",
    also: &[
        "libsframe-2.41",
        "libsframe-2.42",
        "libsframe-2.43",
        "binutils-2.41",
        "binutils-2.42",
        "binutils-2.43",
        "binutils-2.44",
    ],
    title: "libsframe of GNU binutils, and with it readelf, objdump and ld",
    versions: "2.41 to 2.44",
    source: "binutils 2.44 (Debian binutils-source 2.44-3): libsframe/sframe.c",
    reads: &[2],
    machines: &[Abi::Amd64, Abi::Aarch64Little, Abi::Aarch64Big],
    without_row: "it returns an error code",
    subtracts_one: None,
    reports_errors: true,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "version 1 or 2, and no flag other than SORTED and FRAME_POINTER",
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
            "the first row that covers the PC, whatever comes before it",
        ),
        Statement::proved(Subject::Decoding, "a row has at most 3 words"),
        Statement::proved(Subject::EndOfStack, "a row without words is an error"),
    ],
    faults: &[
        Fault::proved(
            "2.41 to 2.44",
            "the tables are read from the end of the header, whatever fdeoff and freoff are",
        ),
        Fault::proved(
            "2.41 to 2.44",
            "version 1 is accepted, but its entries of 17 bytes are read as if they had 20",
        ),
        Fault::proved(
            "2.41 to 2.44",
            "rows of repeated blocks are selected by the PC relative to the section, not to the function",
        ),
        Fault::proved(
            "2.41 to 2.44",
            "more than 12 bytes of words overflow a buffer, and the process aborts",
        ),
        Fault::proved(
            "2.41 to 2.44",
            "an unknown row type aborts the process; a repeated block of size 0 divides by zero",
        ),
        Fault::proved(
            "2.41 to 2.44",
            "readelf reports a section with PC-relative starts as \"Out of Memory\"",
        ),
    ],
    producers: &[
        "use the GNU as and ld of the same release: 2.45 sets a flag that this library refuses",
        "write the tables one after the other, without a gap and without an auxiliary header",
    ],
};

/// The release.
const RELEASE: Release = Release {
    versions: &[1, 2],
    flags: |_| 3,
    uses_offsets: false,
    entry: |_| 20,
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
        if entry.repeats() {
            return Self::scan_block(entry, rows, pc, work);
        }
        let start = i32::try_from(entry.start).unwrap_or(0);
        let place = |offset: u32| offset.cast_signed().wrapping_add(start);
        if rows.steps().first().is_some_and(|step| place(step.start) > pc) {
            return Err(NO_ROW);
        }
        // Long functions have thousands of rows, and a scan from the first one for each PC would take quadratic time.
        let offset = pc.checked_sub(start).and_then(|offset| u32::try_from(offset).ok());
        for step in rows.ending_from(offset.unwrap_or(0)) {
            if !work.take() {
                return Err(SPENT);
            }
            if place(step.start) <= pc && pc <= place(step.end) {
                return step.frame;
            }
        }
        Err(rows.failure().unwrap_or(NO_ROW))
    }

    /// The first row that contains a PC in a repeated block: the PC relative to the section, by the block's size.
    fn scan_block(entry: &Entry, rows: &Rows, pc: i32, work: &Work) -> Result<Frame, Stop> {
        for step in rows.steps() {
            if !work.take() {
                return Err(SPENT);
            }
            let Some(masked) = pc.checked_rem(i32::from(entry.block)) else {
                return Err(Stop::crash("it divides by a repetition size of 0"));
            };
            if step.start.cast_signed() <= masked && masked <= step.end.cast_signed() {
                return step.frame;
            }
        }
        Err(rows.failure().unwrap_or(NO_ROW))
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
        self.0.entry(index).map_or_else(Rows::failed, |entry| self.0.rows(&entry, work))
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, work: &Work) -> Result<Frame, Stop> {
        self.scan(&self.0.entry(index)?, rows, relative(&self.0, pc)?, work)
    }
}
