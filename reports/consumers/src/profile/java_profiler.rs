//! DataDog's java-profiler, whose layout of bits is not the specification's.

use sframe_validator::Abi;
use sframe_validator::unwind::Frame;

use crate::answer::{Answer, Found, Stop};
use crate::bytes::Bytes;
use crate::consumer::{Consumer, Lookups, Opening, Places, Reader};
use crate::frames::{cfa, saved, unsigned};
use crate::header::{Header, MAGIC, PCREL, SIZE, SORTED};
use crate::input::Input;
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{SPENT, Work};

static PAGE: Page = Page {
    name: "java-profiler",
    also: &[],
    title: "DataDog's profiler for Java, native frames",
    versions: "the sources of spring 2026",
    source: "DataDog/java-profiler d034fcaf: ddprof-lib/src/main/cpp/sframe.cpp, sframe.h, codeCache.cpp",
    reads: &[2],
    machines: &[Abi::Amd64, Abi::Aarch64Little],
    without_row: "it takes the previous record in the library, or before the first one a frame with a frame pointer",
    subtracts_one: None,
    reports_errors: false,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "the version is 2, the ABI is the machine's, and the flag for PC-relative starts is not set",
        ),
        Statement::proved(Subject::Header, "both tables fit, and do not overlap"),
        Statement::proved(
            Subject::Bounds,
            "every row fits; a function with a row that does not is left out",
        ),
        Statement::proved(Subject::Order, "rows are sorted if the SORTED flag is not set"),
        Statement::proved(
            Subject::Lookup,
            "all rows are one list; the last row at or before the PC is taken, in whatever function",
        ),
        Statement::proved(Subject::Decoding, "an offset from the CFA has at most 24 bits"),
    ],
    faults: &[
        Fault::proved(
            "all",
            "bits have another layout than in the specification: nearly all rows are lost or wrong, silently",
        ),
        Fault::proved("all", "functions have no end: a PC in a gap gets the last row before it"),
        Fault::by_reading(
            "before d034fcaf4",
            "sections with PC-relative starts were read as if their starts were relative to the section",
        ),
    ],
    producers: &[
        "nothing helps but a section that it refuses: PC-relative starts (GNU as and ld 2.45 and later), or version 3",
    ],
};

/// The consumer.
pub(super) struct JavaProfiler;

impl Consumer for JavaProfiler {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        match open(input) {
            Ok(list) => Opening::Accept(Box::new(list)),
            Err(stop) => stop.into(),
        }
    }
}

/// The size of an entry of the function table.
const ENTRY: i64 = 20;

/// All rows of the section.
struct List {
    address: u64,
    records: Vec<Record>,
    /// Whether rows were left out because there are too many.
    spent: bool,
}

#[derive(Clone, Copy)]
struct Record {
    /// The first PC, relative to the library.
    place: u32,
    function: u32,
    start: i32,
    frame: Frame,
}

fn open(input: &Input<'_>) -> Result<List, Stop> {
    let bytes = Bytes::new(input.bytes, input.machine.endian());
    if bytes.len() < SIZE {
        return Err(Stop::nothing("the section is too small"));
    }
    let header = Header::read(bytes)?;
    test(&header, bytes, input.machine)?;
    if input.address > u64::from(u32::MAX) {
        return Err(Stop::nothing("the section is more than 4 GiB after the library's start"));
    }
    let section = Section { header, bytes, machine: input.machine };
    let mut list = List { address: input.address, records: Vec::new(), spent: false };
    let work = Work::of(input.bytes.len());
    for index in 0..header.functions {
        list.add(&section, index, &work)?;
    }
    if list.records.is_empty() {
        return Err(Stop::nothing("no row could be read"));
    }
    if !header.has(SORTED) {
        // The order is by the sign of a difference of 32 bits.
        let first = list.records.first().map_or(0, |record| record.place);
        list.records.sort_by_key(|record| record.place.wrapping_sub(first).cast_signed());
    }
    Ok(list)
}

fn test(header: &Header, bytes: Bytes<'_>, machine: Abi) -> Result<(), Stop> {
    if header.magic != MAGIC {
        return Err(Stop::nothing("the magic number is wrong"));
    }
    if header.version != 2 {
        return Err(Stop::nothing("only version 2 is read"));
    }
    if header.abi != machine.id() {
        return Err(Stop::nothing("the ABI is another machine's"));
    }
    if header.size() > bytes.len() {
        return Err(Stop::nothing("the auxiliary header does not fit"));
    }
    if header.has(PCREL) {
        return Err(Stop::nothing("PC-relative starts are not supported"));
    }
    let rows_end = header.rows_at() + i64::from(header.rows_length);
    let functions_end = header.functions_at() + i64::from(header.functions) * ENTRY;
    if functions_end > bytes.len() || rows_end > bytes.len() {
        return Err(Stop::nothing("the tables do not fit"));
    }
    let overlap = functions_end > header.rows_at() && header.functions_at() < rows_end;
    if header.functions > 0 && header.rows_length > 0 && overlap {
        return Err(Stop::nothing("the tables overlap"));
    }
    Ok(())
}

impl List {
    /// Adds a function's rows, all or none.
    fn add(&mut self, section: &Section<'_>, index: u32, work: &Work) -> Result<(), Stop> {
        let Section { header, bytes, .. } = section;
        let at = header.functions_at() + i64::from(index) * ENTRY;
        let (start, info) = (bytes.i32(at)?, bytes.u8(at + 16)?);
        let (offset, count) = (bytes.u32(at + 8)?, bytes.u32(at + 12)?);
        let (repeats, code) = (info & 1 != 0, (info >> 1) & 3);
        if repeats || count == 0 || code == 3 || offset >= header.rows_length {
            return Ok(());
        }
        let mut row_at = header.rows_at() + i64::from(offset);
        let kept = self.records.len();
        for _ in 0..count {
            if !work.take() {
                self.spent = true;
                break;
            }
            let Some((first, frame, next)) = section.row(row_at, 1 << code) else {
                self.records.truncate(kept);
                break;
            };
            row_at = next;
            let place = self.section().wrapping_add(start.cast_unsigned()).wrapping_add(first);
            let record = Record { place, function: index, start, frame };
            self.records.push(record);
        }
        Ok(())
    }
}

/// A section with tables that fit.
struct Section<'a> {
    header: Header,
    bytes: Bytes<'a>,
    machine: Abi,
}

impl Section<'_> {
    /// A row's first PC in the function, whose field has `width` bytes, its frame, and the place of the next row.
    fn row(&self, at: i64, width: u8) -> Option<(u32, Frame, i64)> {
        let header = &self.header;
        let end = header.rows_at() + i64::from(header.rows_length);
        let words = at + i64::from(width) + 1;
        if words > end {
            return None;
        }
        let start = self.bytes.unsigned(at, width).ok()?;
        let info = self.bytes.u8(words - 1).ok()?;
        let code = (info >> 1) & 3;
        let (has_ra, has_fp) = (info & 8 != 0, info & 0x10 != 0);
        let size = 1u8 << code;
        let next = words + i64::from(size) * (1 + i64::from(has_ra) + i64::from(has_fp));
        if code == 3 || next > end {
            return None;
        }
        let word = |index: i64| self.bytes.signed(words + index * i64::from(size), size).ok();
        let offset = word(0)?;
        if !(-(1 << 23)..1 << 23).contains(&offset) {
            return None;
        }
        let stored_ra = if has_ra { Some(word(1)?) } else { None };
        let stored_fp = if has_fp { Some(word(1 + i64::from(has_ra))?) } else { None };
        let fixed = |value: i8| (value != 0).then_some(i32::from(value));
        let ra = saved(fixed(header.fixed_ra).or(stored_ra));
        let fp = saved(stored_fp.or(fixed(header.fixed_fp)));
        // Bit 0 is taken for FP, not SP.
        let base = cfa(self.machine, info ^ 1, offset);
        Some((start, unsigned(base, ra, fp), next))
    }
}

impl List {
    /// An address relative to the library, which has 32 bits.
    fn relative(&self, address: u64) -> u32 {
        u32::try_from(address & 0xffff_ffff).unwrap_or(0)
    }

    fn section(&self) -> u32 {
        self.relative(self.address)
    }

    fn find(&self, pc: u64) -> Answer {
        let relative = self.relative(pc);
        if self.spent {
            return Err(SPENT);
        }
        let (mut low, mut high) = (0, self.records.len());
        while low < high {
            let middle = low + (high - low - 1) / 2;
            let Some(record) = self.records.get(middle) else { break };
            match record.place.cmp(&relative) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(self.found(record)),
            }
        }
        let before = low.checked_sub(1).and_then(|index| self.records.get(index));
        let before = before.ok_or(Stop::nothing("it is before the first row"))?;
        Ok(self.found(before))
    }

    fn found(&self, record: &Record) -> Found {
        let start = self.address.wrapping_add_signed(i64::from(record.start));
        Found { function: record.function, start, frame: record.frame }
    }
}

impl Reader for List {
    fn places(&self) -> Places {
        let list = self.records.iter().map(|record| u64::from(record.place)).collect();
        Places { list, wraps: true, is_complete: !self.spent, ..Places::default() }
    }

    fn lookups(&self) -> Box<dyn Lookups + '_> {
        Box::new(self)
    }
}

impl Lookups for &List {
    fn answer(&mut self, pc: u64) -> Answer {
        self.find(pc)
    }

    fn period(&mut self, _: u64) -> u64 {
        1
    }
}
