//! libsframe of binutils 2.46 and later.

use sframe_validator::Abi;
use sframe_validator::unwind::Frame;

use crate::answer::Stop;
use crate::consumer::{Consumer, Objects, Opening};
use crate::header::SORTED;
use crate::input::Input;
use crate::library::{self, Library, Release, open_input};
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{NO_ROW, Rows, Work};
use crate::table::{Extent, NO_FUNCTION, Table, TableReader};

static PAGE: Page = Page {
    name: "libsframe-2.47",
    also: &["libsframe-2.46", "binutils-2.46", "binutils-2.47"],
    title: "libsframe of GNU binutils, and with it readelf, objdump and ld",
    versions: "2.46 to 2.47.50",
    source: "binutils 2.47.50.20261021 (Debian binutils-source): libsframe/sframe.c",
    reads: &[2, 3],
    machines: &Abi::ALL,
    without_row: "it returns an error code",
    subtracts_one: None,
    reports_errors: true,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "version 2 or 3; in version 3, the flag FRAME_POINTER is unknown",
        ),
        Statement::proved(
            Subject::Header,
            "fdeoff is not larger than freoff; both are used when the section is opened",
        ),
        Statement::proved(
            Subject::Bounds,
            "of a section in the host's byte order, no size except the header's is tested",
        ),
        Statement::proved(
            Subject::Bounds,
            "in the other byte order, sizes and counts must add up, and padding must be zero",
        ),
        Statement::proved(Subject::Order, "without the SORTED flag, no function is found"),
        Statement::proved(
            Subject::Lookup,
            "the search is binary and ends at the first entry that covers the PC",
        ),
        Statement::proved(
            Subject::Lookup,
            "rows are tried in order until one covers the PC, or one starts after it",
        ),
        Statement::proved(
            Subject::Decoding,
            "a row has at most 6 words; on s390x, CFA offsets are scaled",
        ),
        Statement::proved(Subject::EndOfStack, "a row without words is an outermost frame"),
    ],
    faults: &[
        Fault::proved(
            "2.46 to 2.47.50",
            "lookups take every start as relative to its field: without that flag, they find wrong functions",
        ),
        Fault::proved("2.46 to 2.47.50", "lookups ignore fdeoff in the address of a field"),
        Fault::proved(
            "2.46 to 2.47.50",
            "more than 24 bytes of words overflow a buffer, and the process aborts",
        ),
        Fault::proved(
            "2.46 to 2.47.50",
            "an unknown row type aborts the process; a repeated block of size 0 divides by zero",
        ),
        Fault::proved(
            "2.46 to 2.47.50",
            "tables that do not fit are read beyond the section's end",
        ),
        Fault::proved(
            "2.46 to 2.47.50",
            "a PC 4 GiB after a function finds its rows: distances are cut to 32 bits",
        ),
        Fault::proved(
            "2.46 to 2.47.50",
            "a section in the other byte order is refused if it has an auxiliary header",
        ),
        Fault::proved(
            "2.46 to 2.47.50",
            "a section in the other byte order is refused if functions share rows: their bytes are swapped twice",
        ),
    ],
    producers: &[
        "set the flag for PC-relative starts",
        "write the tables one after the other, without a gap and without an auxiliary header",
    ],
};

/// The release.
const RELEASE: Release = Release {
    versions: &[2, 3],
    flags: |version| if version == 3 { 5 } else { 7 },
    uses_offsets: true,
    entry: |version| if version == 3 { 16 } else { 20 },
    room: 24,
    most_words: 6,
    has_outermost: true,
    scales_s390x: true,
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
    fn start(&self, index: u32) -> Result<i64, Stop> {
        Ok(self.0.relative_start(index, &self.0.entry(index)?))
    }

    fn relative(&self, pc: u64) -> i64 {
        pc.wrapping_sub(self.0.address).cast_signed()
    }

    fn offset(&self, index: u32, pc: u64) -> Result<u32, Stop> {
        let offset = self.relative(pc).wrapping_sub(self.start(index)?) & 0xffff_ffff;
        Ok(u32::try_from(offset).unwrap_or(0))
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
        Some(self.0.extent(self.0.relative_start(index, &entry), &entry))
    }

    /// Where addresses relative to the section change their sign.
    fn other_places(&self) -> Vec<u64> {
        vec![self.0.address.wrapping_add(1 << 63)]
    }

    fn wraps(&self) -> bool {
        true
    }

    fn find(&self, pc: u64) -> Result<u32, Stop> {
        if self.0.header.functions == 0 {
            return Err(NO_FUNCTION);
        }
        if !self.0.header.has(SORTED) {
            return Err(Stop::error("the table is not sorted"));
        }
        let (mut low, mut high) =
            (0, i64::from(self.0.header.functions.wrapping_sub(1).cast_signed()));
        while low <= high {
            let middle = low + (high - low) / 2;
            let index = u32::try_from(middle).unwrap_or(0);
            let start = self.start(index)?;
            let relative = self.relative(pc);
            if start <= relative && self.offset(index, pc)? < self.0.entry(index)?.size {
                return Ok(index);
            }
            if start < relative {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        Err(NO_FUNCTION)
    }

    fn rows(&self, index: u32, work: &Work) -> Rows {
        self.0.entry(index).map_or_else(Rows::failed, |entry| self.0.rows(&entry, work))
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, work: &Work) -> Result<Frame, Stop> {
        let (entry, offset) = (self.0.entry(index)?, self.offset(index, pc)?);
        if !entry.repeats() {
            return rows.containing(offset);
        }
        match offset.checked_rem(u32::from(entry.block)) {
            Some(masked) => rows.containing_in_block(offset, masked, work),
            None => match rows.steps().first() {
                None => Err(rows.failure().unwrap_or(NO_ROW)),
                Some(first) if first.start > offset => Err(NO_ROW),
                Some(_) => Err(Stop::crash("it divides by a repetition size of 0")),
            },
        }
    }
}
