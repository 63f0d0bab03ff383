//! How the kernel's readers since version 3 find and decode rows: those of user stacks and of its own stack share it.
//!
//! An entry or a row that has no meaning is an error: [`Kernel::bad`] says what it costs.

use sframe_validator::Abi;
use sframe_validator::section::Control;
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use crate::answer::Stop;
use crate::bytes::Bytes;
use crate::frames::{cfa, unsigned};
use crate::header::{Header, MAGIC, PCREL, SORTED};
use crate::input::Input;
use crate::rows::{Rows, SPENT, Step, Work};
use crate::table::{Extent, NO_FUNCTION, Table};

/// The size of an entry of the function table, and of the attributes before a function's rows.
const ENTRY: i64 = 16;
const ATTRIBUTES: i64 = 5;

/// Differences between the kernel's readers.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Whether a section at address 0, and PCs outside the text, are refused.
    pub(crate) is_user: bool,
    /// Whether the header must have the SORTED flag.
    pub(crate) sorted_only: bool,
    /// What it costs if an entry or a row has no meaning.
    pub(crate) bad: fn(&'static str) -> Stop,
    /// The frame that the walker makes of a row's rules, or why it ends.
    pub(crate) walk: fn(Frame) -> Result<Frame, Stop>,
}

/// A section that a kernel has accepted.
pub(crate) struct Kernel<'a> {
    bytes: Bytes<'a>,
    header: Header,
    address: u64,
    machine: Abi,
    text: (u64, u64),
    rules: Rules,
    /// The entries by start, if the kernel sorts an unsorted table.
    order: Option<Vec<u32>>,
}

/// Tests the header.
pub(crate) fn open<'a>(input: &Input<'a>, rules: Rules) -> Result<Kernel<'a>, Stop> {
    if rules.is_user {
        registrable(input)?;
    }
    let bytes = Bytes::new(input.bytes, input.machine.endian());
    // Of a user, the kernel copies a header carefully. Its own memory it just reads, before it looks at the section's length.
    let short = if rules.is_user {
        Stop::nothing("the header does not fit")
    } else {
        Stop::undecided("a header is read before the section's length is tested")
    };
    let header = Header::read(bytes).map_err(|_| short)?;
    if header.magic != MAGIC {
        return Err(Stop::nothing("the magic number is wrong"));
    }
    if header.version != 3 {
        return Err(Stop::nothing("only version 3 is read"));
    }
    if rules.sorted_only && !header.has(SORTED) {
        return Err(Stop::nothing("the table is not sorted"));
    }
    if !header.has(PCREL) {
        return Err(Stop::nothing("the flag for PC-relative starts is not set"));
    }
    tiling(&header, bytes, ENTRY, input.address)?;
    let text = text(input);
    let (address, machine) = (input.address, input.machine);
    let mut kernel = Kernel { bytes, header, address, machine, text, rules, order: None };
    if !header.has(SORTED) {
        kernel.order = Some(kernel.sorted());
    }
    Ok(kernel)
}

/// The tests of a user's section and text before the header is read.
pub(crate) fn registrable(input: &Input<'_>) -> Result<(), Stop> {
    if input.address == 0 || text(input).0 == 0 {
        return Err(Stop::nothing("the section or the text is at address 0"));
    }
    Ok(())
}

/// The text, or all addresses but 0.
pub(crate) fn text(input: &Input<'_>) -> (u64, u64) {
    input.text.unwrap_or((1, u64::MAX))
}

/// The tests of counts and places that all kernel readers share.
pub(crate) fn tiling(
    header: &Header,
    bytes: Bytes<'_>,
    entry: i64,
    address: u64,
) -> Result<(), Stop> {
    if header.auxiliary != 0 {
        return Err(Stop::nothing("there is an auxiliary header"));
    }
    if header.functions == 0 || header.rows == 0 {
        return Err(Stop::nothing("there are no functions or no rows"));
    }
    if header.size() >= bytes.len() {
        return Err(Stop::nothing("the header does not fit"));
    }
    // Addresses wrap, which lets the kernel accept rows that end beyond the last address.
    let place = |offset: i64| address.wrapping_add_signed(offset);
    let functions_end = place(header.functions_at() + i64::from(header.functions) * entry);
    let rows_end = place(header.rows_at() + i64::from(header.rows_length));
    if place(header.rows_at()) < functions_end || rows_end > place(bytes.len()) {
        return Err(Stop::nothing("the tables overlap or do not fit"));
    }
    Ok(())
}

/// The section offset of the rows' end; before the section if the address of the end wraps.
pub(crate) fn rows_end(header: &Header, address: u64) -> i64 {
    let end = header.rows_at() + i64::from(header.rows_length);
    if address.checked_add_signed(end).is_some() { end } else { -1 }
}

/// What the kernel keeps of a function.
struct Function {
    start: u64,
    size: u32,
    rows_at: i64,
    rows: u16,
    info: u8,
    info2: u8,
    block: u8,
}

impl Kernel<'_> {
    /// The entries in the order of their starts.
    fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.header.functions).collect();
        order.sort_by_cached_key(|index| self.start(*index).unwrap_or(u64::MAX));
        order
    }

    /// The entry at a place in the search.
    fn ranked(&self, place: i64) -> u32 {
        let place = u32::try_from(place).unwrap_or(0);
        let Some(order) = &self.order else { return place };
        let index = usize::try_from(place).ok().and_then(|place| order.get(place));
        index.copied().unwrap_or(0)
    }

    fn at(&self, index: u32) -> i64 {
        self.header.functions_at() + i64::from(index) * ENTRY
    }

    fn rows_end(&self) -> i64 {
        rows_end(&self.header, self.address)
    }

    fn start(&self, index: u32) -> Result<u64, Stop> {
        let at = self.at(index);
        let field = self.address.wrapping_add_signed(at);
        Ok(field.wrapping_add_signed(self.bytes.i64(at)?))
    }

    fn function(&self, index: u32) -> Result<Function, Stop> {
        let (at, start) = (self.at(index), self.start(index)?);
        let (first, end) = self.text;
        if start < first || start >= end {
            return Err(Stop::error("the function starts outside the text"));
        }
        let attributes = self.header.rows_at() + i64::from(self.bytes.u32(at + 12)?);
        if attributes + ATTRIBUTES > self.rows_end() {
            return Err(Stop::error("the function's attributes do not fit"));
        }
        Ok(Function {
            start,
            size: self.bytes.u32(at + 8)?,
            rows_at: attributes + ATTRIBUTES,
            rows: self.bytes.u16(attributes)?,
            info: self.bytes.u8(attributes + 2)?,
            info2: self.bytes.u8(attributes + 3)?,
            block: self.bytes.u8(attributes + 4)?,
        })
    }

    fn bad(&self, reason: &'static str) -> Stop {
        (self.rules.bad)(reason)
    }

    /// The row at an offset, its first PC and the place of the next one.
    fn row(&self, function: &Function, at: i64) -> Result<(Step, i64), Stop> {
        let width = match function.info & 0xf {
            code @ 0..=2 => 1u8 << code,
            _ => return Err(self.bad("the rows have an unknown type")),
        };
        let words = at + i64::from(width) + 1;
        if words > self.rows_end() {
            return Err(self.bad("a row does not fit"));
        }
        let start = self.bytes.unsigned(at, width)?;
        if function.info & 0x10 == 0 && start > function.size {
            return Err(self.bad("a row starts after the function's end"));
        }
        let info = self.bytes.u8(words - 1)?;
        let (count, code) = (i64::from((info >> 1) & 0xf), (info >> 5) & 3);
        if code == 3 {
            return Err(self.bad("the words have an unknown size"));
        }
        let size = 1u8 << code;
        let next = words + count * i64::from(size);
        if next > self.rows_end() {
            return Err(self.bad("a row does not fit"));
        }
        let mut words = Words { bytes: self.bytes, at: words, left: count, size };
        let frame = self.frame(function, info, &mut words);
        Ok((Step { start, end: 0, frame: frame.and_then(self.rules.walk) }, next))
    }

    fn frame(&self, function: &Function, info: u8, words: &mut Words<'_>) -> Result<Frame, Stop> {
        if words.left == 0 {
            return Err(Stop::error("the row has no words, and so no register for the CFA"));
        }
        let frame = match function.info2 & 0x1f {
            0 => self.default_frame(info, words)?,
            1 => self.flexible_frame(words)?,
            _ => return Err(self.bad("the function has an unknown type")),
        };
        if words.left > 0 {
            return Err(self.bad("the row has a word too many"));
        }
        // The kernel removes signatures whether or not the row says that there is one.
        let ra_signed = self.machine.is_aarch64() && info & 0x80 != 0;
        frame.map(|frame| Frame { ra_signed, ..frame })
    }

    fn default_frame(&self, info: u8, words: &mut Words<'_>) -> Result<Result<Frame, Stop>, Stop> {
        let offset = words.signed()?;
        let mut other = |fixed: i8| match fixed {
            0 if words.left > 0 => words.signed(),
            fixed => Ok(i32::from(fixed)),
        };
        let (ra, fp) = (other(self.header.fixed_ra)?, other(self.header.fixed_fp)?);
        let base = cfa(self.machine, info, offset);
        Ok(Ok(unsigned(base, nonzero(ra), nonzero(fp))))
    }

    fn flexible_frame(&self, words: &mut Words<'_>) -> Result<Result<Frame, Stop>, Stop> {
        if words.left < 2 {
            return Err(self.bad("the row has no rule for the CFA"));
        }
        let (control, offset) = (Control(words.unsigned()?), words.signed()?);
        let ra = rule(words, self.header.fixed_ra)?;
        let fp = rule(words, self.header.fixed_fp)?;
        if words.left > 0 {
            return Err(self.bad("the row has a word too many"));
        }
        if !control.reg_p() {
            return Ok(Err(Stop::error("the CFA has no register")));
        }
        let (register, offset) = (control.register(), i64::from(offset));
        let base = if control.deref_p() {
            Cfa::Dereference { register, offset }
        } else {
            Cfa::RegisterOffset { register, offset }
        };
        Ok(Ok(unsigned(base, ra, fp)))
    }
}

/// An offset of 0 means that nothing was saved.
fn nonzero(offset: i32) -> Recovery {
    if offset == 0 { Recovery::Unchanged } else { Recovery::AtCfa(i64::from(offset)) }
}

/// The rule for RA or FP of a flexible row: a pair of words, or one word that is padding, or none.
fn rule(words: &mut Words<'_>, fixed: i8) -> Result<Recovery, Stop> {
    if words.left < 2 {
        return Ok(nonzero(i32::from(fixed)));
    }
    let control = Control(words.unsigned()?);
    if control.0 == 0 {
        return Ok(nonzero(i32::from(fixed)));
    }
    Ok(control.recovery(i64::from(words.signed()?)))
}

/// The words of a row that were not read yet.
struct Words<'a> {
    bytes: Bytes<'a>,
    at: i64,
    left: i64,
    size: u8,
}

impl Words<'_> {
    fn next(&mut self) -> i64 {
        let at = self.at;
        self.at += i64::from(self.size);
        self.left -= 1;
        at
    }

    fn signed(&mut self) -> Result<i32, Stop> {
        let at = self.next();
        self.bytes.signed(at, self.size)
    }

    fn unsigned(&mut self) -> Result<u32, Stop> {
        let at = self.next();
        self.bytes.unsigned(at, self.size)
    }
}

impl Table for Kernel<'_> {
    fn length(&self) -> usize {
        usize::try_from(self.bytes.len()).unwrap_or(0)
    }

    fn count(&self) -> u32 {
        self.header.functions
    }

    fn extent(&self, index: u32) -> Option<Extent> {
        let start = self.start(index).ok()?;
        let size = self.bytes.u32(self.at(index) + 8).ok()?;
        let function = self.function(index);
        let block =
            function.map_or(0, |found| if found.info & 0x10 != 0 { found.block } else { 0 });
        Some(Extent { start, size, block })
    }

    /// The ends of the text.
    fn other_places(&self) -> Vec<u64> {
        vec![self.text.0, self.text.1.saturating_add(1)]
    }

    fn find(&self, pc: u64) -> Result<u32, Stop> {
        if self.rules.is_user && !(self.text.0..=self.text.1).contains(&pc) {
            return Err(Stop::nothing("it is outside the text"));
        }
        let (mut low, mut high) = (0, i64::from(self.header.functions) - 1);
        let (mut lowest, mut highest) = (0, u64::MAX);
        let mut found = None;
        while low <= high {
            let middle = low + (high - low) / 2;
            let index = self.ranked(middle);
            let start = self.start(index)?;
            if pc >= start {
                if start < lowest {
                    return Err(self.bad("the search meets functions out of order"));
                }
                (lowest, found, low) = (start, Some(index), middle + 1);
            } else {
                if start > highest {
                    return Err(self.bad("the search meets functions out of order"));
                }
                (highest, high) = (start, middle - 1);
            }
        }
        let index = found.ok_or(NO_FUNCTION)?;
        let function = self.function(index)?;
        let end = function.start.wrapping_add(u64::from(function.size));
        if pc < function.start || pc >= end {
            return Err(NO_FUNCTION);
        }
        Ok(index)
    }

    fn rows(&self, index: u32, work: &Work) -> Rows {
        let function = match self.function(index) {
            Ok(function) => function,
            Err(stop) => return Rows::failed(stop),
        };
        let mut rows = Rows::default();
        let mut at = function.rows_at;
        for _ in 0..function.rows {
            if !work.take() {
                rows.fail(SPENT);
                break;
            }
            match self.row(&function, at) {
                Ok((step, next)) => {
                    at = next;
                    if rows.steps().last().is_some_and(|last| step.start <= last.start) {
                        rows.fail(self.bad("two rows start at one PC or in the wrong order"));
                        break;
                    }
                    rows.push(step);
                }
                Err(stop) => {
                    rows.fail(stop);
                    break;
                }
            }
        }
        rows
    }

    fn select(&self, index: u32, rows: &Rows, pc: u64, _: &Work) -> Result<Frame, Stop> {
        let function = self.function(index)?;
        let offset = u32::try_from(pc.wrapping_sub(function.start) & 0xffff_ffff).unwrap_or(0);
        if function.info & 0x10 == 0 {
            return rows.before_next(offset);
        }
        match offset.checked_rem(u32::from(function.block)) {
            Some(masked) => rows.before_next(masked),
            None if self.machine.is_aarch64() => rows.before_next(offset),
            None => Err(Stop::crash("it divides by a repetition size of 0")),
        }
    }
}
