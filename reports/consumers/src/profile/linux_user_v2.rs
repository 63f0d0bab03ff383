//! Linux: stacks of user programs, by the series that reads version 2.

use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Recovery};

use crate::answer::Stop;
use crate::bytes::Bytes;
use crate::consumer::{Consumer, Opening};
use crate::frames::{cfa, unsigned};
use crate::header::{Header, MAGIC, SORTED};
use crate::input::Input;
use crate::linux::{registrable, rows_end, text, tiling};
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{Rows, SPENT, Step, Work};
use crate::table::{Extent, NO_FUNCTION, Table, TableReader};

static PAGE: Page = Page {
    name: "linux-user-v2",
    also: &[],
    title: "stacks of user programs in the Linux kernel, series that reads version 2 (superseded; nothing of it is in Linux 7.3-rc7)",
    versions: "v6 to v10 of the series",
    source: "thesamesam/linux 434a88819877: kernel/unwind/sframe.c, sframe.h, user.c",
    reads: &[2],
    machines: &[Abi::Amd64],
    without_row: "it follows the frame pointer",
    subtracts_one: Some(false),
    reports_errors: false,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "the version is 2, with the flag SORTED; other flags are ignored",
        ),
        Statement::proved(
            Subject::Header,
            "no auxiliary header; at least one function and one row",
        ),
        Statement::proved(
            Subject::Header,
            "the rows start at or after the end of the function table, and both fit; the ABI is not compared",
        ),
        Statement::proved(
            Subject::Bounds,
            "a function starts inside the text, and rows fit in the rows' part",
        ),
        Statement::proved(
            Subject::Order,
            "rows start in strictly ascending order, and not after the function's end",
        ),
        Statement::proved(
            Subject::Lookup,
            "the last function that starts at or before the PC, if it covers the PC",
        ),
        Statement::proved(
            Subject::Decoding,
            "all rows up to the one after the PC are decoded, and must have a CFA and use all words",
        ),
        Statement::by_reading(
            Subject::Bounds,
            "the first bad row that a lookup meets removes the section for the whole process",
        ),
        Statement::by_reading(
            Subject::Limits,
            "the CFA is above SP and 8-byte aligned; an FP that is the CFA's base is not below SP",
        ),
        Statement::by_reading(Subject::EndOfStack, "no row means the end of the stack"),
        Statement::proved(
            Subject::ReturnAddress,
            "return addresses are looked up without subtracting one",
        ),
    ],
    faults: &[
        Fault::proved(
            "v6 to v10",
            "the flag for PC-relative starts is ignored: sections of GNU ld 2.45 are accepted and misread",
        ),
        Fault::proved("v6 to v10", "a row without words removes the section for the whole process"),
        Fault::proved("v6 to v10", "a repeated block of size 0 divides by zero in the kernel"),
        Fault::proved("v6 to v10", "the CFA may not equal SP, not even in the topmost frame"),
        Fault::proved(
            "v6 to v10",
            "PCs and ends of functions are compared without a sign: a function that reaches across the section's start is not found, and one before it covers the PCs after the section",
        ),
        Fault::proved(
            "v6 to v10",
            "PCs are cut to 32 bits: 4 GiB after a function, its rows are found",
        ),
    ],
    producers: &["use GNU as and ld 2.41 to 2.44, and leave out rows with equal starts"],
};

/// The consumer.
pub(super) struct LinuxUserV2;

impl Consumer for LinuxUserV2 {
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

/// The size of an entry of the function table.
const ENTRY: i64 = 20;

struct Section<'a> {
    bytes: Bytes<'a>,
    header: Header,
    address: u64,
    machine: Abi,
    text: (u64, u64),
}

fn open<'a>(input: &Input<'a>) -> Result<Section<'a>, Stop> {
    registrable(input)?;
    let bytes = Bytes::new(input.bytes, input.machine.endian());
    let header = Header::read(bytes).map_err(|_| Stop::nothing("the header does not fit"))?;
    if header.magic != MAGIC {
        return Err(Stop::nothing("the magic number is wrong"));
    }
    if header.version != 2 {
        return Err(Stop::nothing("only version 2 is read"));
    }
    if !header.has(SORTED) {
        return Err(Stop::nothing("the table is not sorted"));
    }
    tiling(&header, bytes, ENTRY, input.address)?;
    Ok(Section { bytes, header, address: input.address, machine: input.machine, text: text(input) })
}

/// An entry of the function table.
struct Entry {
    start: i32,
    size: u32,
    rows_at: i64,
    rows: u32,
    info: u8,
    block: u8,
}

impl Section<'_> {
    fn at(&self, index: u32) -> i64 {
        self.header.functions_at() + i64::from(index) * ENTRY
    }

    fn rows_end(&self) -> i64 {
        rows_end(&self.header, self.address)
    }

    fn entry(&self, index: u32) -> Result<Entry, Stop> {
        let at = self.at(index);
        let entry = Entry {
            start: self.bytes.i32(at)?,
            size: self.bytes.u32(at + 4)?,
            rows_at: self.header.rows_at() + i64::from(self.bytes.u32(at + 8)?),
            rows: self.bytes.u32(at + 12)?,
            info: self.bytes.u8(at + 16)?,
            block: self.bytes.u8(at + 17)?,
        };
        Ok(entry)
    }

    fn start(&self, entry: &Entry) -> u64 {
        self.address.wrapping_add_signed(i64::from(entry.start))
    }

    /// The address relative to the section, of which 32 bits are kept.
    fn relative(&self, pc: u64) -> i32 {
        let low = pc.wrapping_sub(self.address) & 0xffff_ffff;
        u32::try_from(low).unwrap_or(0).cast_signed()
    }

    /// The row at an offset, and the place of the next one.
    fn row(&self, entry: &Entry, at: i64) -> Result<(Step, i64), Stop> {
        let width = match entry.info & 0xf {
            code @ 0..=2 => 1u8 << code,
            _ => return Err(Stop::drops_section("the rows have an unknown type")),
        };
        let words = at + i64::from(width) + 1;
        if words > self.rows_end() {
            return Err(Stop::drops_section("a row does not fit"));
        }
        let start = self.bytes.unsigned(at, width)?;
        if entry.info & 0x10 == 0 && start > entry.size {
            return Err(Stop::drops_section("a row starts after the function's end"));
        }
        let info = self.bytes.u8(words - 1)?;
        let (count, code) = (i64::from((info >> 1) & 0xf), (info >> 5) & 3);
        if count == 0 || code == 3 {
            return Err(Stop::drops_section("a row has no words, or words of an unknown size"));
        }
        let size = 1u8 << code;
        let next = words + count * i64::from(size);
        if next > self.rows_end() {
            return Err(Stop::drops_section("a row does not fit"));
        }
        let word = |index: i64| self.bytes.signed(words + index * i64::from(size), size);
        let frame = self.frame(info, count, word)?;
        Ok((Step { start, end: 0, frame: Ok(frame) }, next))
    }

    fn frame(
        &self,
        info: u8,
        count: i64,
        word: impl Fn(i64) -> Result<i32, Stop>,
    ) -> Result<Frame, Stop> {
        let mut used = 1;
        let ra = match self.header.fixed_ra {
            0 if count < 2 => return Err(Stop::drops_section("a row does not save RA")),
            0 => {
                used = 2;
                word(1)?
            }
            fixed => i32::from(fixed),
        };
        let fp = match self.header.fixed_fp {
            0 if used < count => {
                used += 1;
                word(used - 1)?
            }
            fixed => i32::from(fixed),
        };
        if used < count {
            return Err(Stop::drops_section("a row has a word too many"));
        }
        // An offset of 0 means that FP was not saved.
        let fp = if fp == 0 { Recovery::Unchanged } else { Recovery::AtCfa(i64::from(fp)) };
        let base = cfa(self.machine, info, word(0)?);
        Ok(unsigned(base, Recovery::AtCfa(i64::from(ra)), fp))
    }
}

impl Table for Section<'_> {
    fn length(&self) -> usize {
        usize::try_from(self.bytes.len()).unwrap_or(0)
    }

    fn count(&self) -> u32 {
        self.header.functions
    }

    fn extent(&self, index: u32) -> Option<Extent> {
        let entry = self.entry(index).ok()?;
        let block = if entry.info & 0x10 != 0 { entry.block } else { 0 };
        Some(Extent { start: self.start(&entry), size: entry.size, block })
    }

    /// The ends of the text, and where addresses relative to the section change their sign.
    fn other_places(&self) -> Vec<u64> {
        let (start, end) = self.text;
        vec![start, end.saturating_add(1), self.address, self.address.wrapping_add(1 << 31)]
    }

    fn wraps(&self) -> bool {
        true
    }

    fn find(&self, pc: u64) -> Result<u32, Stop> {
        if !(self.text.0..=self.text.1).contains(&pc) {
            return Err(Stop::nothing("it is outside the text"));
        }
        let relative = self.relative(pc);
        let (mut low, mut high) = (0, i64::from(self.header.functions) - 1);
        let (mut lowest, mut highest) = (i32::MIN, i32::MAX);
        let mut found = None;
        while low <= high {
            let middle = low + (high - low) / 2;
            let index = u32::try_from(middle).unwrap_or(0);
            let start = self.bytes.i32(self.at(index))?;
            if (relative >= start && start < lowest) || (relative < start && start > highest) {
                return Err(Stop::drops_section("the search meets functions out of order"));
            }
            if relative >= start {
                (lowest, found, low) = (start, Some(index), middle + 1);
            } else {
                (highest, high) = (start, middle - 1);
            }
        }
        let index = found.ok_or(NO_FUNCTION)?;
        let entry = self.entry(index)?;
        let start = self.start(&entry);
        if start < self.text.0 || start > self.text.1 {
            return Err(Stop::error("the function starts outside the text"));
        }
        // The end is compared without a sign.
        let end = entry.start.cast_unsigned().wrapping_add(entry.size);
        if relative < entry.start || relative.cast_unsigned() >= end {
            return Err(NO_FUNCTION);
        }
        Ok(index)
    }

    fn rows(&self, index: u32, work: &Work) -> Rows {
        let entry = match self.entry(index) {
            Ok(entry) => entry,
            Err(stop) => return Rows::failed(stop),
        };
        let mut rows = Rows::default();
        let mut at = entry.rows_at;
        for _ in 0..entry.rows {
            let row = if work.take() { self.row(&entry, at) } else { Err(SPENT) };
            let (step, next) = match row {
                Ok(row) => row,
                Err(stop) => {
                    rows.fail(stop);
                    break;
                }
            };
            at = next;
            if rows.steps().last().is_some_and(|last| step.start <= last.start) {
                rows.fail(Stop::drops_section("two rows start at one PC or in the wrong order"));
                break;
            }
            rows.push(step);
        }
        rows
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, _: &Work) -> Result<Frame, Stop> {
        let entry = self.entry(index)?;
        let low = pc.wrapping_sub(self.start(&entry)) & 0xffff_ffff;
        let offset = u32::try_from(low).unwrap_or(0);
        if entry.info & 0x10 == 0 {
            return rows.before_next(offset);
        }
        match offset.checked_rem(u32::from(entry.block)) {
            Some(masked) => rows.before_next(masked),
            None => Err(Stop::crash("it divides by a repetition size of 0")),
        }
    }
}
