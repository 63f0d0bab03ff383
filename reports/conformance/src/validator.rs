//! The reader of `sframe-validator` as a reader under test.

use sframe_validator::section::Function as StoredFunction;
use sframe_validator::unwind::{self, Cfa, Register, without_signature};
use sframe_validator::{Abi, Error, Placement, Section as StoredSection};

use crate::address::Address;
use crate::frame::{Base, Frame, Recovery, Rule};
use crate::reader::{
    Answer, End, Found, Function, Header, Key, Opened, Reader, Row, Start, Walked, WalkedFrame,
};
use crate::section::{self, Section};

/// The number of frames after which a walk is too long.
const LONGEST: usize = 64;

/// The reader of `sframe-validator`.
#[derive(Clone, Debug, Default)]
pub struct Validator {
    bytes: Vec<u8>,
    address: u64,
}

impl Validator {
    fn section(&self) -> Result<StoredSection<'_>, Error> {
        StoredSection::parse(&self.bytes, Placement::at(self.address))
    }
}

impl Reader for Validator {
    fn open(&mut self, section: &Section) -> Answer<Opened> {
        let Some(bytes) = section.bytes() else {
            return Answer::Refused("not hexadecimal".to_owned());
        };
        *self = Validator { bytes, address: section.address.0 };
        answer(self.section().map(|section| describe(&section)))
    }

    fn lookup(&mut self, pc: u64) -> Answer<Option<Found>> {
        answer(self.section().and_then(|section| find(&section, pc)))
    }

    fn walk(&mut self, start: &Start) -> Answer<Walked> {
        answer(self.section().and_then(|section| Walk::new(&section, start).map(Walk::run)))
    }
}

fn answer<T>(result: Result<T, Error>) -> Answer<T> {
    result.map_or_else(|error| Answer::Refused(error.to_string()), Answer::Given)
}

/// The header, and the functions as far as each of them can be read.
fn describe(section: &StoredSection<'_>) -> Opened {
    let header = section.header();
    let functions: Result<Vec<Function>, Error> =
        section.functions().map(|function| describe_function(&function?)).collect();
    Opened {
        header: Some(Header {
            version: Some(header.version.number()),
            flags: Some(header.flags.0),
            abi_arch: Some(header.abi_arch),
            cfa_fixed_fp_offset: Some(header.cfa_fixed_fp_offset),
            cfa_fixed_ra_offset: Some(header.cfa_fixed_ra_offset),
            auxhdr_len: Some(header.auxhdr_len),
            num_fdes: Some(header.num_fdes),
            num_fres: Some(header.num_fres),
            fre_len: Some(header.fre_len),
            fdeoff: Some(header.fdeoff),
            freoff: Some(header.freoff),
        }),
        functions: functions.ok(),
    }
}

fn describe_function(function: &StoredFunction<'_>) -> Result<Function, Error> {
    let section = function.section();
    let start = function.start()?.address;
    let rows: Result<Vec<Row>, Error> =
        function.rows()?.map(|row| row.map(|row| at(start, &row))).collect();
    let attributes = function.attributes();
    let fde_type = if function.is_flexible() { "flex" } else { "default" };
    Ok(Function {
        start: Some(Address(start)),
        size: Some(function.size()),
        repeat: function.repeat_size().ok().map(|size| size.map_or(0, u32::from)),
        fde_type: Some(fde_type.to_owned()),
        signal: Some(function.is_signal_frame()),
        key: section.abi()?.is_aarch64().then_some(if attributes.info.pauth_key_b() {
            Key::B
        } else {
            Key::A
        }),
        rows: Some(rows?),
    })
}

/// Starts of rows fit in 32 bits, as they are stored.
fn at(start: u64, row: &unwind::Row) -> Row {
    let offset = row.start.wrapping_sub(start);
    Row { start: u32::try_from(offset).unwrap_or(u32::MAX), frame: frame(&row.frame) }
}

fn find(section: &StoredSection<'_>, pc: u64) -> Result<Option<Found>, Error> {
    section.find(pc)?.map_or(Ok(None), |(function, row)| {
        let start = Some(Address(function.start()?.address));
        Ok(Some(Found { function: start, frame: frame(&row.frame) }))
    })
}

pub(crate) fn frame(found: &unwind::Frame) -> Frame {
    let register = |Register(number)| Base::Register(number);
    let cfa = match found.cfa {
        Cfa::RegisterOffset { register: base, offset } => {
            Some(Rule { base: register(base), offset, load: false })
        }
        Cfa::Dereference { register: base, offset } => {
            Some(Rule { base: register(base), offset, load: true })
        }
        Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => None,
    };
    let (ra, fp) = (recovery(found.ra), recovery(found.fp));
    Frame { cfa, ra, fp, signed: Some(found.ra_signed) }
}

fn recovery(found: unwind::Recovery) -> Option<Recovery> {
    use unwind::Recovery as Stored;
    let rule = |base, offset, load| Recovery::Rule(Rule { base, offset, load });
    Some(match found {
        Stored::Unchanged => Recovery::Unchanged,
        Stored::Undefined => Recovery::Undefined,
        Stored::AtCfa(offset) => rule(Base::Cfa, offset, true),
        Stored::CfaOffset(offset) => rule(Base::Cfa, offset, false),
        Stored::AtRegister { register, offset } => rule(Base::Register(register.0), offset, true),
        Stored::RegisterOffset { register, offset } => {
            rule(Base::Register(register.0), offset, false)
        }
        Stored::AtExpression(_) | Stored::Expression(_) => return None,
    })
}

/// A walk with the validator's own steps.
struct Walk<'a> {
    section: &'a StoredSection<'a>,
    abi: Abi,
    memory: Vec<(u64, Vec<u8>)>,
    start: &'a Start,
    frames: Vec<WalkedFrame>,
    /// The PC of the last frame is the address to which a call returns.
    is_called: bool,
}

impl<'a> Walk<'a> {
    fn new(section: &'a StoredSection<'a>, start: &'a Start) -> Result<Walk<'a>, Error> {
        let abi = section.abi()?;
        let register = |register: Register| start.registers.get(&register.0).copied();
        let first = WalkedFrame { pc: start.pc, sp: register(abi.sp()), fp: register(abi.fp()) };
        let memory = start.memory.iter();
        let memory = memory.filter_map(|part| Some((part.address.0, section::bytes(&part.hex)?)));
        Ok(Walk {
            section,
            abi,
            memory: memory.collect(),
            start,
            frames: vec![first],
            is_called: false,
        })
    }

    fn run(mut self) -> Walked {
        let end = loop {
            match self.step() {
                Ok(()) if self.frames.len() < LONGEST => {}
                Ok(()) => break End::Error,
                Err(end) => break end,
            }
        };
        Walked { frames: self.frames, end: Some(end) }
    }

    /// Adds the caller's frame, or returns how the walk ends.
    fn step(&mut self) -> Result<(), End> {
        let last = self.frames.last().copied().ok_or(End::Error)?;
        let found = self.section.find(last.pc.0.wrapping_sub(u64::from(self.is_called)));
        let (function, row) = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Err(End::Uncovered),
            Err(_) => return Err(End::Error),
        };
        let is_first = self.frames.len() == 1;
        let registers = |register: Register| {
            if register == self.abi.sp() {
                last.sp.map(|value| value.0)
            } else if register == self.abi.fp() {
                last.fp.map(|value| value.0)
            } else {
                let value = self.start.registers.get(&register.0).filter(|_| is_first);
                value.map(|value| value.0)
            }
        };
        let caller = match row.frame.apply(self.abi, registers, |address| self.read(address)) {
            Ok(Some(caller)) => caller,
            Ok(None) => return Err(End::Outermost),
            Err(_) => return Err(End::Error),
        };
        let before = last.sp.map_or(0, |sp| sp.0);
        if caller.sp < before || (caller.sp == before && !is_first) {
            return Err(End::Error);
        }
        let bits = self.start.pointer_bits.unwrap_or(48);
        let pc = if caller.ra_signed { without_signature(caller.ra, bits) } else { caller.ra };
        self.frames.push(WalkedFrame {
            pc: Address(pc),
            sp: Some(Address(caller.sp)),
            fp: caller.fp.map(Address),
        });
        self.is_called = !function.is_signal_frame();
        Ok(())
    }

    fn read(&self, address: u64) -> Option<u64> {
        let (start, bytes) = self.memory.iter().find(|(start, bytes)| {
            address.checked_sub(*start).is_some_and(|at| at + 8 <= bytes.len() as u64)
        })?;
        let at = usize::try_from(address - start).ok()?;
        let word = bytes.get(at..)?.first_chunk()?;
        Some(match self.section.endian() {
            sframe_validator::Endian::Little => u64::from_le_bytes(*word),
            sframe_validator::Endian::Big => u64::from_be_bytes(*word),
        })
    }
}
