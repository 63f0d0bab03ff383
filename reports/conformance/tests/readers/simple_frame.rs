//! The crate `simple-frame-rs` as a reader under test. It reads all three versions, and was written from the
//! specification's text. Its modules for the versions have the same names.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sframe_conformance::{
    Address, Answer, Base, Found, Frame, Function, Lost, Opened, Reader, Recovery, Row, Rule,
    Section, Start, Walked,
};

/// A section for the crate.
#[derive(Default)]
pub(crate) struct SimpleFrame {
    bytes: Vec<u8>,
    address: u64,
    machine: Machine,
}

/// What the crate leaves to its caller: the numbers of registers.
#[derive(Clone, Copy, Default)]
struct Machine {
    sp: u32,
    fp: u32,
    is_s390x: bool,
}

/// An offset from the CFA; on s390x in version 2, an odd one is a register, and RA's is 0 if it is not saved.
fn slot(offset: Option<i32>, has_registers: bool, zero_is_none: bool) -> Recovery {
    match offset {
        Some(0) if zero_is_none => Recovery::Unchanged,
        Some(odd) if has_registers && odd & 1 == 1 => {
            let base = Base::Register((odd >> 1).cast_unsigned());
            Recovery::Rule(Rule { base, offset: 0, load: false })
        }
        Some(offset) => Recovery::Rule(Rule { base: Base::Cfa, offset: offset.into(), load: true }),
        None => Recovery::Unchanged,
    }
}

/// The functions for one version.
macro_rules! version {
    ($module:ident, $name:ident, $has_registers:expr, $flexible:expr) => {
        mod $name {
            use fallible_iterator::FallibleIterator as _;
            use simple_frame_rs::$module;

            use super::*;

            type Failure = String;

            fn frame(
                fde: &$module::SFrameFDE,
                fre: &$module::SFrameFRE,
                section: &$module::SFrameSection<'_>,
                machine: Machine,
            ) -> Option<Frame> {
                if let Some(frame) = $flexible(fde, fre, section) {
                    return frame;
                }
                let cfa = fre.get_cfa_offset(section)?;
                let base =
                    if fre.info.get_cfa_base_reg_id() == 1 { machine.sp } else { machine.fp };
                let has_registers = $has_registers && machine.is_s390x;
                Some(Frame {
                    cfa: Some(Rule { base: Base::Register(base), offset: cfa.into(), load: false }),
                    ra: Some(slot(fre.get_ra_offset(section), has_registers, machine.is_s390x)),
                    fp: Some(slot(fre.get_fp_offset(section), has_registers, false)),
                    signed: Some(fre.info.get_mangled_ra_p()),
                })
            }

            pub(super) fn open(this: &SimpleFrame) -> Result<Vec<Function>, Failure> {
                let text = |error: simple_frame_rs::SFrameError| error.to_string();
                let section =
                    $module::SFrameSection::from(&this.bytes, this.address).map_err(text)?;
                let mut functions = Vec::new();
                let mut fdes = section.iter_fde();
                while let Some(fde) = fdes.next().map_err(text)? {
                    let mut rows = Vec::new();
                    let mut fres = fde.iter_fre(&section);
                    while let Some(fre) = fres.next().map_err(text)? {
                        let frame = frame(&fde, &fre, &section, this.machine);
                        let frame = frame.ok_or("a row without meaning")?;
                        rows.push(Row { start: fre.start_address.get(), frame });
                    }
                    functions.push(Function {
                        start: Some(Address(fde.get_pc(&section))),
                        size: Some(fde.func_size),
                        rows: Some(rows),
                        ..Function::default()
                    });
                }
                Ok(functions)
            }

            pub(super) fn lookup(this: &SimpleFrame, pc: u64) -> Result<Option<Found>, Failure> {
                let text = |error: simple_frame_rs::SFrameError| error.to_string();
                let section =
                    $module::SFrameSection::from(&this.bytes, this.address).map_err(text)?;
                let Some(fde) = section.find_fde(pc).map_err(text)? else { return Ok(None) };
                let Some(fre) = fde.find_fre(&section, pc).map_err(text)? else { return Ok(None) };
                let frame = frame(&fde, &fre, &section, this.machine);
                let frame = frame.ok_or("a row without meaning")?;
                Ok(Some(Found { function: Some(Address(fde.get_pc(&section))), frame }))
            }
        }
    };
}

version!(v1, first, false, |_: &v1::SFrameFDE, _: &_, _: &_| None);
version!(v2, second, true, |_: &v2::SFrameFDE, fre: &v2::SFrameFRE, _: &_| {
    // Errata 2.
    (fre.info.get_offset_count() == 0).then_some(Some(Frame::OUTERMOST))
});
version!(v3, third, false, flexible);

use simple_frame_rs::v3;

/// A rule of a flexible row.
fn rule(found: &v3::SFrameFlexRecoveryRule) -> Rule {
    let register = Base::Register(found.control.regnum().cast_unsigned());
    let base = if found.control.reg_p() { register } else { Base::Cfa };
    Rule { base, offset: found.offset.into(), load: found.control.deref_p() }
}

/// The frame of a flexible row, or of a row without words; `None` for other rows.
fn flexible(
    fde: &v3::SFrameFDE,
    fre: &v3::SFrameFRE,
    section: &v3::SFrameSection<'_>,
) -> Option<Option<Frame>> {
    if fre.info.get_dataword_count() == 0 {
        return Some(Some(Frame::OUTERMOST));
    }
    match fde.get_fde_type() {
        Ok(v3::SFrameFDEType::Flex) => {}
        Ok(_) => return None,
        Err(_) => return Some(None),
    }
    let fixed = |offset: i8| match offset {
        0 => Recovery::Unchanged,
        offset => slot(Some(offset.into()), false, false),
    };
    let recovery = |found: Option<v3::SFrameFlexRecoveryRule>, offset: i8| match found {
        Some(found) if !found.control.is_padding() => Recovery::Rule(rule(&found)),
        _ => fixed(offset),
    };
    let rules = fre.get_flex_recovery_rules();
    Some(rules.map(|rules| Frame {
        cfa: Some(rule(&rules.cfa)),
        ra: Some(recovery(rules.ra, section.get_cfa_fixed_ra_offset())),
        fp: Some(recovery(rules.fp, section.get_cfa_fixed_fp_offset())),
        signed: Some(fre.info.get_mangled_ra_p()),
    }))
}

/// The answer of a call that may panic.
fn answer<T>(call: impl FnOnce() -> Result<T, String>) -> Answer<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Answer::Given(value),
        Ok(Err(reason)) => Answer::Refused(reason),
        Err(_) => Answer::Lost(Lost::Crashed("panics".to_owned())),
    }
}

impl Reader for SimpleFrame {
    fn open(&mut self, section: &Section) -> Answer<Opened> {
        let (sp, fp) = match section.machine.as_str() {
            "amd64" => (7, 6),
            "s390x" => (15, 11),
            _ => (31, 29),
        };
        let machine = Machine { sp, fp, is_s390x: section.machine == "s390x" };
        let bytes = section.bytes().expect("hexadecimal");
        *self = SimpleFrame { bytes, address: section.address.0, machine };
        answer(|| {
            match self.bytes.get(2) {
                Some(1) => first::open(self),
                Some(2) => second::open(self),
                Some(3) => third::open(self),
                _ => Err("another version".to_owned()),
            }
            .map(|functions| Opened { functions: Some(functions), ..Opened::default() })
        })
    }

    fn lookup(&mut self, pc: u64) -> Answer<Option<Found>> {
        answer(|| match self.bytes.get(2) {
            Some(1) => first::lookup(self, pc),
            Some(2) => second::lookup(self, pc),
            _ => third::lookup(self, pc),
        })
    }

    fn walk(&mut self, _: &Start) -> Answer<Walked> {
        Answer::Unsupported("walks".to_owned())
    }
}
