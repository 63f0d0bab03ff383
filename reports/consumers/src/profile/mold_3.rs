//! mold 3, which merges the sections of objects.

use sframe_validator::section::Function;
use sframe_validator::unwind::Frame;
use sframe_validator::{Abi, Placement, Section as StoredSection};

use crate::answer::{Answer, Found, Stop};
use crate::bytes::Bytes;
use crate::consumer::{Consumer, Lookups, Objects, Opening, Places, Reader};
use crate::header::{Header, MAGIC};
use crate::index::Index;
use crate::input::Input;
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{Rows, SPENT, Step, Work};
use crate::table::{Extent, NO_FUNCTION, places};

static PAGE: Page = Page {
    name: "mold-3",
    also: &["mold-2.42"],
    title: "the linker mold, which merges the sections of objects into one",
    versions: "2.42 to 3.0",
    source: "rui314/mold 011e194896a2: src/input_files.rs (parse_sframe), src/chunks/sframe.rs",
    reads: &[3],
    machines: &[Abi::Amd64, Abi::Aarch64Little, Abi::Aarch64Big, Abi::S390x],
    without_row: "it leaves the function out of the merged section",
    subtracts_one: None,
    reports_errors: false,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "the version is 3; a section of another version is skipped in silence; no flag is tested",
        ),
        Statement::proved(
            Subject::Header,
            "a short section, a wrong magic number or another machine's ABI ends the link",
        ),
        Statement::proved(
            Subject::Bounds,
            "a table or rows that do not fit end the link with a crash",
        ),
        Statement::by_reading(
            Subject::Lookup,
            "a function without a relocation for its start is left out; the order is made anew",
        ),
        Statement::proved(
            Subject::Decoding,
            "rows are copied as they are; a reserved word size counts as 8 bytes",
        ),
    ],
    faults: &[
        Fault::proved(
            "3.0",
            "fixed offsets of RA and FP in the input's header are lost, and rows that rely on them are misread",
        ),
        Fault::proved("3.0", "an unknown word size makes it copy a wrong number of bytes"),
        Fault::proved("2.42 to 3.0", "PLT entries get no rows"),
        Fault::proved("3.0", "a table, rows or words that do not fit end the link with a crash"),
    ],
    producers: &[
        "assemble everything with GNU as 2.46 or later: functions of version 2 objects are lost without a warning",
    ],
};

/// The consumer.
pub(super) struct Mold;

impl Consumer for Mold {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        match open(input) {
            Ok(section) => Opening::Accept(Box::new(section)),
            Err(stop) => stop.into(),
        }
    }

    fn objects(&self) -> Objects {
        Objects::Inputs
    }
}

/// The functions, as mold copies them.
struct Section {
    functions: Vec<Copied>,
    index: Index,
    /// Whether all rows were read.
    is_complete: bool,
}

/// A function and its rows, with the meaning that they have after mold's own header.
struct Copied {
    extent: Extent,
    rows: Rows,
}

fn open(input: &Input<'_>) -> Result<Section, Stop> {
    let bytes = Bytes::new(input.bytes, input.machine.endian());
    let header = Header::read(bytes).map_err(|_| Stop::error("the section is corrupted"))?;
    if header.magic != MAGIC {
        return Err(Stop::error("the section is corrupted"));
    }
    if header.abi != input.machine.id() {
        return Err(Stop::error("the section is for another machine"));
    }
    if header.version != 3 {
        return Err(Stop::nothing("only version 3 is read"));
    }
    if header.functions == 0 {
        return Err(Stop::nothing("there are no functions, and no section is written"));
    }
    let work = Work::of(input.bytes.len());
    for index in 0..header.functions {
        let at = header.functions_at() + i64::from(index) * 16;
        measure(bytes, &header, at, &work)?;
    }
    let functions = copy(input, &work)?;
    let starts = functions.iter().map(|function| function.extent.start);
    let index = Index::of(starts.zip(0..));
    Ok(Section { functions, index, is_complete: !work.is_spent() })
}

/// Walks over a function's rows, as mold does to know how many bytes to copy.
fn measure(bytes: Bytes<'_>, header: &Header, at: i64, work: &Work) -> Result<(), Stop> {
    const OUTSIDE: Stop = Stop::crash("a function or its rows do not fit");
    let offset = bytes.u32(at + 12).map_err(|_| OUTSIDE)?;
    let block = header.rows_at() + i64::from(offset);
    let count = bytes.u16(block).map_err(|_| OUTSIDE)?;
    // An unknown type counts like the others.
    let width = 1i64 << (bytes.u8(block + 2).map_err(|_| OUTSIDE)? & 0xf);
    let mut at = block + 5;
    for _ in 0..count {
        if !work.take() {
            return Err(SPENT);
        }
        let info = bytes.u8(at + width).map_err(|_| OUTSIDE)?;
        // A reserved size counts as 8.
        let size = 1i64 << ((info >> 5) & 3);
        at += width + 1 + i64::from((info >> 1) & 0xf) * size;
    }
    if at > bytes.len() { Err(OUTSIDE) } else { Ok(()) }
}

/// The functions with the header that mold writes: the offsets that are fixed are those of the machine.
fn copy(input: &Input<'_>, work: &Work) -> Result<Vec<Copied>, Stop> {
    let mut bytes = input.bytes.to_vec();
    let fixed = [0, input.machine.fixed_ra_offset().cast_unsigned()];
    if let Some(stored) = bytes.get_mut(5..7) {
        stored.copy_from_slice(&fixed);
    }
    // The length of the rows is not looked at. All bytes equal, it has no byte order.
    if let Some(stored) = bytes.get_mut(16..20) {
        stored.fill(u8::MAX);
    }
    let placement = Placement::at(input.address).with_endian(Some(input.machine.endian()));
    let stored = StoredSection::parse(&bytes, placement);
    let stored = stored.map_err(|_| Stop::error("the section is corrupted"))?;
    Ok(stored.functions().flatten().filter_map(|function| copied(&function, work)).collect())
}

fn copied(function: &Function<'_>, work: &Work) -> Option<Copied> {
    let start = function.start().ok()?.address;
    let block = function.repeat_size().ok().flatten().unwrap_or(0);
    let extent = Extent { start, size: function.size(), block };
    Some(Copied { extent, rows: rows(function, work) })
}

fn rows(function: &Function<'_>, work: &Work) -> Rows {
    let mut rows = Rows::default();
    if function.is_outermost() {
        rows.push(Step { start: 0, end: 0, frame: Ok(Frame::OUTERMOST) });
        return rows;
    }
    let (Ok(rows_with_meaning), Ok(entries)) = (function.rows(), function.frame_row_entries())
    else {
        return Rows::failed(Stop::error("the rows have no meaning"));
    };
    for (row, entry) in rows_with_meaning.zip(entries) {
        if !work.take() {
            rows.fail(SPENT);
            break;
        }
        let (Ok(row), Ok(entry)) = (row, entry) else {
            rows.fail(Stop::error("a row has no meaning"));
            break;
        };
        // The row's address would not do: a function may reach beyond the last address.
        rows.push(Step { start: entry.start, end: 0, frame: Ok(row.frame) });
    }
    rows
}

impl Section {
    fn function(&self, index: u32) -> Result<&Copied, Stop> {
        let place = usize::try_from(index).ok();
        place.and_then(|place| self.functions.get(place)).ok_or(NO_FUNCTION)
    }
}

impl Section {
    fn find(&self, pc: u64) -> Result<(u32, &Copied, u32), Stop> {
        let index = self.index.find(pc)?;
        let found = self.function(index)?;
        let offset = u32::try_from(pc.wrapping_sub(found.extent.start)).unwrap_or(u32::MAX);
        if offset >= found.extent.size { Err(NO_FUNCTION) } else { Ok((index, found, offset)) }
    }
}

impl Reader for Section {
    fn places(&self) -> Places {
        let functions = self.functions.iter();
        let list = places(functions.map(|function| (function.extent, &function.rows)));
        Places { list, is_complete: self.is_complete, ..Places::default() }
    }

    fn lookups(&self) -> Box<dyn Lookups + '_> {
        Box::new(self)
    }
}

impl Lookups for &Section {
    fn answer(&mut self, pc: u64) -> Answer {
        let (index, Copied { extent, rows }, offset) = self.find(pc)?;
        let masked = offset.checked_rem(u32::from(extent.block)).unwrap_or(offset);
        Ok(Found { function: index, start: extent.start, frame: rows.before_next(masked)? })
    }

    fn period(&mut self, pc: u64) -> u64 {
        self.find(pc).map_or(1, |(_, found, _)| found.extent.period())
    }
}
