//! glibc 2.43 and 2.44: `backtrace`, if glibc was configured with `--enable-sframe`.

use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Recovery};

use crate::answer::Stop;
use crate::bytes::{Bytes, OUTSIDE};
use crate::consumer::{Consumer, Opening};
use crate::frames::{cfa, saved, unsigned};
use crate::header::{Header, MAGIC, SORTED};
use crate::input::Input;
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{NO_ROW, Rows, SPENT, Step, Work};
use crate::table::{Extent, NO_FUNCTION, Table, TableReader};

static PAGE: Page = Page {
    name: "glibc-2.43",
    also: &["glibc-2.44"],
    title: "backtrace() of the GNU C library, built with --enable-sframe (off by default)",
    versions: "2.43 and 2.44, whose readers are the same to the byte",
    source: "glibc 2.43 (Debian glibc-source 2.43-7; the files of 2.44-3 are the same): sysdeps/generic/sframe-read.c, sframe.c, debug/backtrace.c",
    reads: &[2],
    machines: &[Abi::Amd64, Abi::Aarch64Little],
    without_row: "it discards the frames and walks the whole stack again with DWARF CFI",
    subtracts_one: Some(false),
    reports_errors: false,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "the version is 2, and no flag other than 0x1, 0x2 and 0x4 is set",
        ),
        Statement::proved(
            Subject::Header,
            "fdeoff is not larger than freoff; neither is used otherwise",
        ),
        Statement::proved(Subject::Header, "the ABI and the counts are not tested"),
        Statement::proved(Subject::Bounds, "no size is tested, not even that of the header"),
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
            "rows before the selected one may have any number of words of any size",
        ),
        Statement::proved(
            Subject::Decoding,
            "the selected row has 1 to 3 words of 1, 2 or 4 bytes",
        ),
        Statement::by_reading(
            Subject::Limits,
            "CFA, RA and FP are not tested before memory is read",
        ),
        Statement::by_reading(
            Subject::EndOfStack,
            "a row without words is an error; most machines know no outermost frame",
        ),
        Statement::proved(
            Subject::ReturnAddress,
            "return addresses are looked up without subtracting one",
        ),
    ],
    faults: &[
        Fault::proved(
            "2.43 and 2.44",
            "a repeated block of size 0 divides by zero, which ends the process on AMD64",
        ),
        Fault::proved(
            "2.43 and 2.44",
            "the tables are read from the end of the header, whatever fdeoff and freoff are",
        ),
        Fault::proved("2.43 and 2.44", "a section that ends too early is read beyond its end"),
        Fault::proved(
            "2.43 and 2.44",
            "distances of 2 GiB or more between the section and the code are truncated to 32 bits",
        ),
        Fault::by_reading(
            "2.43 and 2.44",
            "on AArch64, a signed return address is not authenticated or stripped",
        ),
        Fault::by_reading(
            "2.43 and 2.44",
            "its configure test accepts an assembler that writes version 3, which it cannot read",
        ),
    ],
    producers: &[
        "write version 2: GNU as and ld 2.45 or earlier; 2.46 and later write version 3, which it ignores",
        "let the linker sort the table, and write no auxiliary header offset or gap",
        "describe _start and the first function of each thread, or the walk starts again with DWARF",
    ],
};

/// The consumer.
pub(super) struct Glibc;

impl Consumer for Glibc {
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

/// The section, with the tables where glibc believes that they are.
struct Section<'a> {
    bytes: Bytes<'a>,
    header: Header,
    address: u64,
    machine: Abi,
    rows_at: i64,
}

/// The size of an entry of the function table.
const ENTRY: i64 = 20;

fn open<'a>(input: &Input<'a>) -> Result<Section<'a>, Stop> {
    let bytes = Bytes::new(input.bytes, input.machine.endian());
    if bytes.u16(0)? != MAGIC {
        return Err(Stop::nothing("the magic number is wrong"));
    }
    let header = Header::read(bytes)?;
    if header.version != 2 {
        return Err(Stop::nothing("only version 2 is read"));
    }
    if header.flags & !7 != 0 {
        return Err(Stop::nothing("an unknown flag is set"));
    }
    if header.function_offset > header.row_offset {
        return Err(Stop::nothing("fdeoff is larger than freoff"));
    }
    // The size of the table is kept in 32 bits with a sign.
    let table = i64::from(header.functions.wrapping_mul(20).cast_signed());
    let rows_at = header.size() + table;
    Ok(Section { bytes, header, address: input.address, machine: input.machine, rows_at })
}

/// An entry of the function table.
struct Entry {
    size: u32,
    rows: u32,
    rows_at: i64,
    info: u8,
    block: u8,
}

impl Section<'_> {
    fn at(&self, index: u32) -> i64 {
        self.header.size() + i64::from(index) * ENTRY
    }

    /// The start, relative to the section.
    fn start(&self, index: u32) -> Result<i32, Stop> {
        let at = self.at(index);
        let stored = self.bytes.i32(at)?;
        if !self.header.has(crate::header::PCREL) {
            return Ok(stored);
        }
        // Computed in 32 bits.
        let field = i32::try_from(at & 0xffff_ffff).unwrap_or(0);
        Ok(stored.wrapping_add(field))
    }

    fn entry(&self, index: u32) -> Result<Entry, Stop> {
        let at = self.at(index);
        Ok(Entry {
            size: self.bytes.u32(at + 4)?,
            rows_at: self.rows_at + i64::from(self.bytes.u32(at + 8)?),
            rows: self.bytes.u32(at + 12)?,
            info: self.bytes.u8(at + 16)?,
            block: self.bytes.u8(at + 17)?,
        })
    }

    /// The address relative to the section, which is kept in 32 bits.
    fn relative(&self, pc: u64) -> i32 {
        let low = pc.wrapping_sub(self.address) & 0xffff_ffff;
        u32::try_from(low).unwrap_or(0).cast_signed()
    }

    fn read_rows(&self, entry: &Entry, work: &Work) -> Result<Rows, Stop> {
        let width = match entry.info & 0xf {
            code @ 0..=2 => 1u8 << code,
            _ if entry.rows == 0 => return Ok(Rows::default()),
            _ => return Err(Stop::error("the rows have an unknown type")),
        };
        let mut rows = Rows::default();
        let mut at = entry.rows_at;
        for index in 0..entry.rows {
            if !work.take() {
                rows.fail(SPENT);
                break;
            }
            let Ok(row) = self.row(at, width) else {
                rows.fail(OUTSIDE);
                break;
            };
            at = row.next;
            let end = if index + 1 < entry.rows {
                match self.bytes.unsigned(at, width) {
                    Ok(start) => start.wrapping_sub(1),
                    Err(stop) => {
                        rows.fail(stop);
                        break;
                    }
                }
            } else {
                entry.size.wrapping_sub(1)
            };
            rows.push(Step { start: row.start, end, frame: self.frame(row.info, row.words) });
        }
        Ok(rows)
    }

    fn row(&self, at: i64, width: u8) -> Result<Row, Stop> {
        let start = self.bytes.unsigned(at, width)?;
        let info = self.bytes.u8(at + i64::from(width))?;
        let words = at + i64::from(width) + 1;
        let (count, code) = ((info >> 1) & 0xf, (info >> 5) & 3);
        let size = if matches!(code, 1 | 2) { code * 2 } else { 1 };
        Ok(Row { start, info, words, next: words + i64::from(count) * i64::from(size) })
    }

    fn frame(&self, info: u8, words: i64) -> Result<Frame, Stop> {
        let (count, code) = (i64::from((info >> 1) & 0xf), (info >> 5) & 3);
        if code == 3 {
            return Err(Stop::error("the words have an unknown size"));
        }
        if count > 3 {
            return Err(Stop::error("the row has more than 3 words"));
        }
        let word = |index: i64| {
            let size = 1u8 << code;
            (index < count).then(|| self.bytes.signed(words + index * i64::from(size), size))
        };
        let Some(offset) = word(0).transpose()? else {
            return Err(Stop::error("the row has no words"));
        };
        let (ra, fp_at) = match self.header.fixed_ra {
            0 => match word(1).transpose()? {
                Some(offset) => (offset, 2),
                None => return Err(Stop::error("the row does not save RA")),
            },
            fixed => (i32::from(fixed), 1),
        };
        let fp = match self.header.fixed_fp {
            0 => saved(word(fp_at).transpose()?),
            fixed => Recovery::AtCfa(i64::from(fixed)),
        };
        let base = cfa(self.machine, info, offset);
        Ok(unsigned(base, saved(Some(ra)), fp))
    }
}

/// A row's place.
struct Row {
    start: u32,
    info: u8,
    words: i64,
    next: i64,
}

impl Table for Section<'_> {
    fn length(&self) -> usize {
        usize::try_from(self.bytes.len()).unwrap_or(0)
    }

    fn count(&self) -> u32 {
        let whole = self.bytes.after(self.header.size()) / 20;
        self.header.functions.min(u32::try_from(whole).unwrap_or(u32::MAX))
    }

    fn extent(&self, index: u32) -> Option<Extent> {
        let (start, entry) = (self.start(index).ok()?, self.entry(index).ok()?);
        let block = if entry.info & 0x10 != 0 { entry.block } else { 0 };
        let start = self.address.wrapping_add_signed(i64::from(start));
        Some(Extent { start, size: entry.size, block })
    }

    /// Where addresses relative to the section change their sign.
    fn other_places(&self) -> Vec<u64> {
        vec![self.address.wrapping_add(1 << 31)]
    }

    fn wraps(&self) -> bool {
        true
    }

    fn find(&self, pc: u64) -> Result<u32, Stop> {
        if self.header.functions == 0 {
            return Err(NO_FUNCTION);
        }
        if !self.header.has(SORTED) {
            return Err(Stop::nothing("the table is not sorted"));
        }
        let pc = self.relative(pc);
        let (mut low, mut high) =
            (0, i64::from(self.header.functions.wrapping_sub(1).cast_signed()));
        while low <= high {
            let middle = low + (high - low) / 2;
            let index = u32::try_from(middle).unwrap_or(0);
            let start = self.start(index)?;
            let inside = pc.wrapping_sub(start).cast_unsigned();
            if start <= pc && inside < self.bytes.u32(self.at(index) + 4)? {
                return Ok(index);
            }
            if start < pc {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        Err(NO_FUNCTION)
    }

    fn rows(&self, index: u32, work: &Work) -> Rows {
        let rows = self.entry(index).and_then(|entry| self.read_rows(&entry, work));
        rows.unwrap_or_else(Rows::failed)
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, work: &Work) -> Result<Frame, Stop> {
        let entry = self.entry(index)?;
        let offset = self.relative(pc).wrapping_sub(self.start(index)?).cast_unsigned();
        if entry.info & 0x10 == 0 {
            return rows.containing(offset);
        }
        let Some(masked) = offset.checked_rem(u32::from(entry.block)) else {
            return match (rows.steps().first(), self.machine) {
                (None, _) => Err(rows.failure().unwrap_or(NO_ROW)),
                (Some(first), _) if first.start > offset => Err(NO_ROW),
                // AArch64 divides by zero without an exception: the remainder is the dividend.
                (_, Abi::Aarch64Little | Abi::Aarch64Big) => rows.containing(offset),
                _ => Err(Stop::crash("it divides by a repetition size of 0")),
            };
        };
        rows.containing_in_block(offset, masked, work)
    }
}
