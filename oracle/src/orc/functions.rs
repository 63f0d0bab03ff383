//! ORC tables in the form of call frame information.
//!
//! ORC has entries, and no functions. Here, the code of each function symbol is a function, and call frame instructions
//! lead to the rows of its entries. So everything that reads CFI reads ORC.

use gimli::RunTimeEndian;
use gimli::constants as dw;
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Register};

use super::layout::ENTRY;
use super::load::ENTRIES;
use super::{Meaning, Orc, OrcEntry, OrcError, OrcErrorKind};
use crate::cfi::{Bases, Cfi, Cie, FdeRecord, Kind, Layout, Slice};

const ABI: Abi = Abi::Amd64;

/// The frame after a call, before the first instruction of a function.
const AT_ENTRY: Frame = Frame {
    cfa: Cfa::RegisterOffset { register: Register(7), offset: 8 },
    ra: Recovery::AtCfa(-8),
    fp: Recovery::Unchanged,
    ra_signed: false,
};

/// The maximum size of all instructions in bytes. Those of Linux 6.1 need 6 MB.
const MAX_INSTRUCTIONS: usize = 1 << 30;

/// Functions with the frames that ORC tables state.
#[derive(Clone, Debug)]
pub struct OrcFunctions {
    /// The instructions; those of the CIEs come first.
    instructions: Vec<u8>,
    /// The end of the CIEs' instructions.
    initial_end: u32,
    /// The functions by address. Those of signal frames have CIE 1, all others CIE 0.
    functions: Vec<FdeRecord>,
    file_size: u64,
}

impl OrcFunctions {
    /// The functions that `orc`, the tables of `elf`, describes. A function starts at each function symbol, where signal frames
    /// start or end, and after code that is not described. An entry with an undecided meaning has expressions without a
    /// simpler meaning.
    ///
    /// Time and memory are linear in the entries and the function symbols.
    ///
    /// # Errors
    /// [`OrcErrorKind::TooMany`].
    pub fn of(elf: &Elf<'_>, orc: &Orc) -> Result<OrcFunctions, OrcError> {
        let symbols = SymbolTable::load(elf).unwrap_or_default();
        let mut writer = Writer::new(elf.data().len() as u64);
        let mut starts = symbols.symbols().iter().map(|symbol| symbol.start).peekable();
        let is_described = |entry: &&OrcEntry| {
            entry.meaning != Meaning::Undefined && entry.start.address < entry.end
        };
        for entry in orc.entries().iter().filter(is_described) {
            let end = CodeAddress { address: entry.end, ..entry.start };
            let mut row = *entry;
            while let Some(start) = starts.next_if(|start| *start < end) {
                if start > row.start {
                    writer.row(&OrcEntry { end: start.address, ..row })?;
                    row.start = start;
                }
                if start == row.start {
                    writer.end_function();
                }
            }
            writer.row(&row)?;
        }
        writer.end_function();
        Ok(writer.done)
    }

    /// The functions as a table of CFI.
    #[must_use]
    pub fn cfi(&self) -> Cfi<'_> {
        let endian = RunTimeEndian::Little;
        let layout = Layout {
            whole: Slice::new(&self.instructions, endian),
            // There are no entries to be read in this format.
            kind: Kind::DebugFrame,
            endian,
            address_size: 8,
            bases: Bases { section: 0, text: None, data: None, relocations: None },
        };
        let plain = Cie { instructions: (0, self.initial_end), ..Cie::plain(ABI.ra()) };
        let signal = Cie { signal: true, ..plain.clone() };
        Cfi::of_records(layout, ABI, self.file_size, [plain, signal], self.functions.clone())
    }
}

/// A function whose end is not known yet.
struct Open {
    start: CodeAddress,
    end: u64,
    signal: bool,
    /// The offset of its first entry in the table.
    offset: u32,
    /// The offset of its first instruction.
    instructions: u32,
    /// The last frame, and the address from which on it is valid; `None` if it is undecided.
    frame: Option<Frame>,
    location: u64,
}

/// Writes functions in the order of addresses.
struct Writer {
    done: OrcFunctions,
    open: Option<Open>,
}

impl Writer {
    fn new(file_size: u64) -> Writer {
        let mut instructions = Vec::new();
        write_cfa(&mut instructions, Some(AT_ENTRY.cfa));
        write_rule(&mut instructions, ABI.ra(), Some(AT_ENTRY.ra));
        let initial_end = offset(&instructions);
        let functions = Vec::new();
        Writer {
            done: OrcFunctions { instructions, initial_end, functions, file_size },
            open: None,
        }
    }

    /// Adds the frame of an entry. It continues the last function if it starts where that one ends.
    fn row(&mut self, entry: &OrcEntry) -> Result<(), OrcError> {
        let (frame, signal) = match entry.meaning {
            Meaning::Frame { frame, signal } => (Some(frame), signal),
            Meaning::Undefined | Meaning::Undecided(_) => (None, false),
        };
        let table_offset = u64::from(entry.index) * ENTRY as u64;
        let continues = |open: &Open| {
            let end = CodeAddress { address: open.end, ..open.start };
            end == entry.start && open.signal == signal
        };
        if !self.open.as_ref().is_some_and(continues) {
            self.end_function();
        }
        let out = &mut self.done.instructions;
        if out.len() > MAX_INSTRUCTIONS {
            let (section, offset) = (ENTRIES, table_offset);
            return Err(OrcError { section, offset, kind: OrcErrorKind::TooMany });
        }
        let open = self.open.get_or_insert_with(|| Open {
            start: entry.start,
            end: entry.start.address,
            signal,
            offset: u32::try_from(table_offset).unwrap_or(u32::MAX),
            instructions: offset(out),
            frame: Some(AT_ENTRY),
            location: entry.start.address,
        });
        open.end = entry.end;
        if open.frame != frame {
            write_advance(out, entry.start.address.saturating_sub(open.location));
            write_change(out, open.frame, frame);
            (open.frame, open.location) = (frame, entry.start.address);
        }
        Ok(())
    }

    /// Ends the last function.
    fn end_function(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.done.functions.push(FdeRecord {
            start: open.start,
            size: open.end.saturating_sub(open.start.address),
            offset: open.offset,
            cie: open.signal.into(),
            instructions: (open.instructions, offset(&self.done.instructions)),
        });
    }
}

/// The offset of the next instruction, which [`MAX_INSTRUCTIONS`] keeps far below 4 GiB.
fn offset(instructions: &[u8]) -> u32 {
    u32::try_from(instructions.len()).unwrap_or(u32::MAX)
}

/// Writes the instructions that change one frame into another. `None` is an undecided frame.
fn write_change(out: &mut Vec<u8>, from: Option<Frame>, to: Option<Frame>) {
    let cfa = |frame: Option<Frame>| frame.map(|frame| frame.cfa);
    if cfa(from) != cfa(to) {
        write_cfa(out, cfa(to));
    }
    for register in [ABI.ra(), ABI.fp()] {
        let rule = |frame: Option<Frame>| {
            frame.map(|frame| if register == ABI.ra() { frame.ra } else { frame.fp })
        };
        if rule(from) != rule(to) {
            write_rule(out, register, rule(to));
        }
    }
}

/// Writes an advance of the location.
fn write_advance(out: &mut Vec<u8>, mut bytes: u64) {
    while bytes > 0 {
        let step = u32::try_from(bytes).unwrap_or(u32::MAX);
        match u8::try_from(step) {
            Ok(short @ 0..=0x3f) => out.push(dw::DW_CFA_advance_loc.0 | short),
            Ok(short) => out.extend([dw::DW_CFA_advance_loc1.0, short]),
            Err(_) => {
                out.push(dw::DW_CFA_advance_loc4.0);
                out.extend(step.to_le_bytes());
            }
        }
        bytes -= u64::from(step);
    }
}

/// Writes a rule for the CFA.
fn write_cfa(out: &mut Vec<u8>, cfa: Option<Cfa>) {
    match cfa {
        Some(Cfa::RegisterOffset { register, offset }) => {
            out.push(dw::DW_CFA_def_cfa_sf.0);
            write_unsigned(out, register.0);
            out.extend(signed(offset));
        }
        Some(Cfa::Dereference { register, offset }) => {
            out.push(dw::DW_CFA_def_cfa_expression.0);
            let mut address = sum(register, offset);
            address.push(dw::DW_OP_deref.0);
            out.extend(block(address));
        }
        Some(Cfa::DereferencePlus { .. } | Cfa::Expression(_)) | None => {
            out.push(dw::DW_CFA_def_cfa_expression.0);
            out.extend(block(UNDECIDED.into()));
        }
        // DWARF has no such rule. The frame is an outermost one, whose CFA does not matter.
        Some(Cfa::Undefined) => {}
    }
}

/// Writes a rule for a register.
fn write_rule(out: &mut Vec<u8>, of: Register, rule: Option<Recovery>) {
    let (code, operand) = match rule {
        Some(Recovery::Unchanged) => (dw::DW_CFA_same_value, Vec::new()),
        Some(Recovery::Undefined) => (dw::DW_CFA_undefined, Vec::new()),
        Some(Recovery::AtCfa(offset)) => (dw::DW_CFA_offset_extended_sf, signed(offset)),
        Some(Recovery::CfaOffset(offset)) => (dw::DW_CFA_val_offset_sf, signed(offset)),
        Some(Recovery::AtRegister { register, offset }) => {
            (dw::DW_CFA_expression, block(sum(register, offset)))
        }
        Some(Recovery::RegisterOffset { register, offset }) => {
            (dw::DW_CFA_val_expression, block(sum(register, offset)))
        }
        Some(Recovery::AtExpression(_) | Recovery::Expression(_)) | None => {
            (dw::DW_CFA_expression, block(UNDECIDED.into()))
        }
    };
    out.push(code.0);
    write_unsigned(out, of.0);
    out.extend(operand);
}

/// An expression without a simpler meaning: a constant.
const UNDECIDED: [u8; 1] = [dw::DW_OP_lit0.0];

/// The expression `register + offset`.
fn sum(register: Register, offset: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    match u8::try_from(register.0) {
        Ok(number @ 0..=31) => bytes.push(dw::DW_OP_breg0.0 + number),
        _ => {
            bytes.push(dw::DW_OP_bregx.0);
            write_unsigned(&mut bytes, register.0);
        }
    }
    bytes.extend(signed(offset));
    bytes
}

/// An expression after its size.
fn block(expression: Vec<u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_unsigned(&mut bytes, u32::try_from(expression.len()).unwrap_or(u32::MAX));
    bytes.extend(expression);
    bytes
}

/// ULEB128 (DWARF 5 7.6).
fn write_unsigned(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        let [low, ..] = number.to_le_bytes();
        out.push(0x80 | low);
        number >>= 7;
    }
    let [last, ..] = number.to_le_bytes();
    out.push(last);
}

/// SLEB128 (DWARF 5 7.6).
fn signed(mut number: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !(-0x40..0x40).contains(&number) {
        let [low, ..] = number.to_le_bytes();
        bytes.push(0x80 | low);
        number >>= 7;
    }
    let [last, ..] = number.to_le_bytes();
    bytes.push(0x7f & last);
    bytes
}
