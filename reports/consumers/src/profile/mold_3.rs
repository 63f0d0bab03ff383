//! mold 3, which merges the sections of objects.

use sframe_validator::section::Function;
use sframe_validator::unwind::Frame;
use sframe_validator::{Abi, Placement, Section as StoredSection};

use crate::answer::{Opening, Stop};
use crate::bytes::Bytes;
use crate::consumer::Consumer;
use crate::header::{Header, MAGIC};
use crate::index::Index;
use crate::input::Input;
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{Rows, SPENT, Step, Work};
use crate::table::{Extent, NO_FUNCTION, Table, TableReader};

static PAGE: Page = Page {
    name: "mold-3",
    title: "the linker mold, which merges the sections of objects into one",
    versions: "2.42 to 3.0",
    source: "rui314/mold 011e194896a2: src/input_files.rs (parse_sframe), src/chunks/sframe.rs",
    reads: &[3],
    machines: &[Abi::Amd64, Abi::Aarch64Little, Abi::Aarch64Big, Abi::S390x],
    without_row: "it leaves the function out of the merged section",
    subtracts_one: None,
    statements: &[
        Statement::by_reading(Subject::Versions, "the version is 3; a section of another version is skipped in silence; no flag is tested"),
        Statement::by_reading(Subject::Header, "a short section, a wrong magic number or another machine's ABI ends the link"),
        Statement::by_reading(Subject::Bounds, "a table or rows that do not fit end the link with a crash"),
        Statement::by_reading(Subject::Lookup, "a function without a relocation for its start is left out; the order is made anew"),
        Statement::by_reading(Subject::Decoding, "rows are copied as they are; a reserved word size counts as 8 bytes"),
    ],
    faults: &[
        Fault::by_reading("3.0", "an unknown word size makes it copy a wrong number of bytes"),
        Fault::by_reading("2.42 to 3.0", "PLT entries get no rows"),
    ],
    producers: &["assemble everything with GNU as 2.46 or later: functions of version 2 objects are lost without a warning"],
};

/// The consumer.
pub(super) struct Mold;

impl Consumer for Mold {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        match open(input) {
            Ok(section) => Opening::Accept(Box::new(TableReader(section))),
            Err(stop) => stop.into(),
        }
    }
}

/// The section, of which mold copies functions and rows as they are.
struct Section<'a> {
    stored: StoredSection<'a>,
    index: Index,
}

fn open<'a>(input: &Input<'a>) -> Result<Section<'a>, Stop> {
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
    for index in 0..header.functions {
        let at = header.functions_at() + i64::from(index) * 16;
        let rows = bytes.u32(at + 12).map(|offset| header.rows_at() + i64::from(offset));
        if rows.and_then(|rows| bytes.u8(rows + 4)).is_err() {
            return Err(Stop::crash("a function or its attributes do not fit"));
        }
    }
    let placement = Placement::at(input.address).with_endian(Some(input.machine.endian()));
    let stored = StoredSection::parse(input.bytes, placement);
    let stored = stored.map_err(|_| Stop::error("the section is corrupted"))?;
    let starts = stored.entries().filter_map(|entry| Some((entry.start().ok()?.address, entry.index())));
    let index = Index::of(starts);
    Ok(Section { stored, index })
}

impl Section<'_> {
    fn function(&self, index: u32) -> Option<Function<'_>> {
        self.stored.entry(index)?.function().ok()
    }

    fn start(&self, index: u32) -> Option<u64> {
        Some(self.stored.entry(index)?.start().ok()?.address)
    }
}

impl Table for Section<'_> {
    fn length(&self) -> usize {
        self.stored.data().len()
    }

    fn count(&self) -> u32 {
        self.stored.entry_count()
    }

    fn extent(&self, index: u32) -> Option<Extent> {
        let function = self.function(index)?;
        let block = function.repeat_size().ok()?.unwrap_or(0);
        Some(Extent { start: self.start(index)?, size: function.size(), block })
    }

    fn find(&self, pc: u64) -> Result<u32, Stop> {
        let index = self.index.find(pc)?;
        let entry = self.stored.entry(index).ok_or(NO_FUNCTION)?;
        let start = entry.start().map_err(|_| NO_FUNCTION)?;
        let inside = pc.wrapping_sub(start.address) < u64::from(entry.size());
        if inside { Ok(index) } else { Err(NO_FUNCTION) }
    }

    fn rows(&self, index: u32, work: &Work) -> Rows {
        let mut rows = Rows::default();
        let Some(function) = self.function(index) else { return rows };
        if function.is_outermost() {
            rows.push(Step { start: 0, end: 0, frame: Ok(Frame::OUTERMOST) });
            return rows;
        }
        let start = self.start(index).unwrap_or(0);
        let Ok(stored) = function.rows() else { return rows };
        for row in stored {
            let Some(row) = row.ok().filter(|_| work.take()) else {
                rows.fail(if work.take() { Stop::error("a row has no meaning") } else { SPENT });
                break;
            };
            let offset = u32::try_from(row.start.saturating_sub(start)).unwrap_or(u32::MAX);
            rows.push(Step { start: offset, end: 0, frame: Ok(row.frame) });
        }
        rows
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, _: &Work) -> Result<Frame, Stop> {
        let start = self.start(index).ok_or(NO_FUNCTION)?;
        let offset = u32::try_from(pc.wrapping_sub(start)).unwrap_or(u32::MAX);
        let block = self.function(index).and_then(|function| function.repeat_size().ok()).flatten();
        match block.and_then(|block| offset.checked_rem(u32::from(block))) {
            Some(masked) => rows.before_next(masked),
            None => rows.before_next(offset),
        }
    }
}
