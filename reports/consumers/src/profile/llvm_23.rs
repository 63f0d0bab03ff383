//! LLVM's SFrameParser, with which llvm-readobj prints.

use sframe_validator::unwind::{Frame, Recovery};
use sframe_validator::{Abi, Endian};

use crate::answer::Stop;
use crate::bytes::{Bytes, OUTSIDE};
use crate::consumer::{Consumer, Opening};
use crate::frames::{cfa, saved};
use crate::header::{Header, MAGIC, PCREL};
use crate::index::Index;
use crate::input::Input;
use crate::page::{Fault, Page, Statement, Subject};
use crate::rows::{Rows, SPENT, Step, Work};
use crate::table::{Extent, NO_FUNCTION, Table, TableReader};

static PAGE: Page = Page {
    name: "llvm-23",
    also: &["llvm-22", "llvm-24"],
    title: "LLVM's SFrameParser and llvm-readobj",
    versions: "22 to 24",
    source: "LLVM 23; trunk of October 2026 (24) did the same wherever its tools were tried: llvm/lib/Object/SFrameParser.cpp, llvm/include/llvm/Object/SFrameParser.h",
    reads: &[2],
    machines: &[Abi::Amd64, Abi::Aarch64Little, Abi::Aarch64Big],
    without_row: "it reports an error, and continues with the next function",
    subtracts_one: None,
    reports_errors: true,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "the version is 2; all flags are accepted, and the one for PC-relative starts is honoured",
        ),
        Statement::proved(
            Subject::Header,
            "the function table fits; its place and the auxiliary header's size are honoured",
        ),
        Statement::proved(
            Subject::Bounds,
            "every read is checked against the section's end, not against that of the rows",
        ),
        Statement::proved(Subject::Order, "functions and rows may have any order"),
        Statement::by_reading(
            Subject::Lookup,
            "it lists functions and rows, and looks up no PCs; the profile takes the function that starts last at or before the PC",
        ),
        Statement::proved(
            Subject::Decoding,
            "a row may have any number of words; those beyond the third are shown as extra offsets",
        ),
        Statement::proved(Subject::EndOfStack, "a row without words is a row without a CFA"),
    ],
    faults: &[
        Fault::proved(
            "22 to 24",
            "version 3 is refused, although GNU as 2.46 and later write nothing else",
        ),
        Fault::proved(
            "22 to 24",
            "freoff is ignored: rows are read from the end of the function table",
        ),
        Fault::proved(
            "22 to 24",
            "whether RA is fixed depends on the ABI only, and a fixed FP offset is ignored",
        ),
        Fault::proved("22 to 24", "words of s390x are not scaled"),
    ],
    producers: &["write version 2, with llvm-mc --gsframe or GNU as 2.45 or earlier"],
};

/// The consumer.
pub(super) struct Llvm;

impl Consumer for Llvm {
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
/// A read fails.
const TRUNCATED: Stop = Stop::error("the section ends too early");

struct Section<'a> {
    bytes: Bytes<'a>,
    header: Header,
    address: u64,
    machine: Abi,
    index: Index,
}

fn open<'a>(input: &Input<'a>) -> Result<Section<'a>, Stop> {
    let endian: Endian = input.machine.endian();
    let bytes = Bytes::new(input.bytes, endian);
    if bytes.len() < 4 {
        return Err(TRUNCATED);
    }
    if bytes.u16(0)? != MAGIC {
        return Err(Stop::error("the magic number is wrong"));
    }
    if bytes.u8(2)? != 2 {
        return Err(Stop::error("only version 2 is read"));
    }
    let header = Header::read(bytes).map_err(|_| TRUNCATED)?;
    if header.functions_at() + i64::from(header.functions) * ENTRY > bytes.len() {
        return Err(TRUNCATED);
    }
    let index = Index::default();
    let mut section =
        Section { bytes, header, address: input.address, machine: input.machine, index };
    let starts =
        (0..header.functions).filter_map(|index| Some((section.start(index).ok()?, index)));
    section.index = Index::of(starts);
    Ok(section)
}

impl Section<'_> {
    fn at(&self, index: u32) -> i64 {
        self.header.functions_at() + i64::from(index) * ENTRY
    }

    fn start(&self, index: u32) -> Result<u64, Stop> {
        let at = self.at(index);
        let base = if self.header.has(PCREL) { at } else { 0 };
        let stored = i64::from(self.bytes.i32(at)?);
        Ok(self.address.wrapping_add_signed(base).wrapping_add_signed(stored))
    }

    fn size(&self, index: u32) -> Result<u32, Stop> {
        self.bytes.u32(self.at(index) + 4)
    }

    fn block(&self, index: u32) -> Result<Option<u8>, Stop> {
        let repeats = self.bytes.u8(self.at(index) + 16)? & 0x10 != 0;
        Ok(if repeats { Some(self.bytes.u8(self.at(index) + 17)?) } else { None })
    }

    /// A row at an offset, and the offset of the next one.
    fn row(&self, at: i64, width: u8) -> Result<(Step, i64), Stop> {
        let start = self.bytes.unsigned(at, width)?;
        let words = at + i64::from(width) + 1;
        let info = self.bytes.u8(words - 1)?;
        let (count, code) = (i64::from((info >> 1) & 0xf), (info >> 5) & 3);
        if code == 3 {
            return Err(Stop::error("the words have an unknown size"));
        }
        let size = 1u8 << code;
        let next = words + count * i64::from(size);
        if next > self.bytes.len() {
            return Err(TRUNCATED);
        }
        let word = |index: i64| {
            (index < count)
                .then(|| self.bytes.signed(words + index * i64::from(size), size).ok())
                .flatten()
        };
        // RA is fixed by the ABI, and FP never.
        let is_amd64 = self.header.abi == Abi::Amd64.id();
        let fixed_ra = is_amd64.then_some(i32::from(self.header.fixed_ra));
        let ra: Recovery = saved(fixed_ra.or_else(|| word(1)));
        let fp = saved(word(if is_amd64 { 1 } else { 2 }));
        let frame = word(0).map(|offset| Frame {
            cfa: cfa(self.machine, info, offset),
            ra,
            fp,
            ra_signed: info & 0x80 != 0,
        });
        let frame = frame.ok_or(Stop::error("the row has no words"));
        Ok((Step { start, end: 0, frame }, next))
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
        let block = self.block(index).ok()?.unwrap_or(0);
        Some(Extent { start: self.start(index).ok()?, size: self.size(index).ok()?, block })
    }

    fn find(&self, pc: u64) -> Result<u32, Stop> {
        let index = self.index.find(pc)?;
        let inside = pc.wrapping_sub(self.start(index)?);
        if inside < u64::from(self.size(index)?) { Ok(index) } else { Err(NO_FUNCTION) }
    }

    fn rows(&self, index: u32, work: &Work) -> Rows {
        let mut rows = Rows::default();
        let entry = self.at(index);
        let fields =
            (self.bytes.u32(entry + 8), self.bytes.u32(entry + 12), self.bytes.u8(entry + 16));
        let (Ok(offset), Ok(count), Ok(info)) = fields else { return Rows::failed(TRUNCATED) };
        let table_end = self.header.functions_at() + i64::from(self.header.functions) * ENTRY;
        let mut at = table_end + i64::from(offset);
        for _ in 0..count {
            let row = match info & 0xf {
                _ if !work.take() => Err(SPENT),
                code @ 0..=2 => self.row(at, 1 << code),
                _ => Err(Stop::error("the rows have an unknown type")),
            };
            match row {
                Ok((step, next)) => {
                    rows.push(step);
                    at = next;
                }
                Err(stop) => {
                    // A read outside the section is an error.
                    rows.fail(if stop == OUTSIDE { TRUNCATED } else { stop });
                    break;
                }
            }
        }
        rows
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, _: &Work) -> Result<Frame, Stop> {
        let offset = u32::try_from(pc.wrapping_sub(self.start(index)?)).unwrap_or(u32::MAX);
        match self.block(index)? {
            None | Some(0) => rows.before_next(offset),
            Some(block) => rows.before_next(offset % u32::from(block)),
        }
    }
}
