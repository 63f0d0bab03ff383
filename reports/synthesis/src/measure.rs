//! The size of a function's rows, without writing them. Nearly all the time of a forecast is spent here.
//!
//! The sizes are those of the validator's writer; tests compare the two.

use sframe_validator::section::{FreType, S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

use crate::encode::Form;
use crate::model::Function;

/// The bytes of a function's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Whether the rows are flexible.
    pub(crate) flexible: bool,
    /// The number of rows.
    pub(crate) rows: u64,
    /// The bytes of their start fields.
    pub(crate) starts: u64,
    /// The bytes of their data words.
    pub(crate) words: u64,
}

/// What takes each function of a section, with its size.
pub(crate) type Visit<'f> = &'f mut dyn FnMut(Function, Measured);

/// Measures a function; `None` if the form has no encoding for it.
pub(crate) fn measure(form: &Form, function: &Function) -> Option<Measured> {
    let is_possible = !function.signal || form.version == Version::V3;
    if !is_possible || function.rows.len() as u64 > u64::from(form.version.max_rows()) {
        return None;
    }
    let plain = sum(function, |frame| plain_words(form, frame)).filter(|_| !function.flexible);
    // Readers for AArch64 may not know flexible rows: producers write them there only by mistake.
    let is_known = form.version == Version::V3 && (!form.abi.is_aarch64() || function.flexible);
    let flexible = plain.is_none();
    let words = match plain {
        Some(words) => words,
        None if is_known => sum(function, |frame| flexible_words(form, frame))?,
        None => return None,
    };
    let last = function.rows.iter().map(|row| row.start).max().unwrap_or(function.start.address);
    let last = u32::try_from(last.wrapping_sub(function.start.address)).unwrap_or(u32::MAX);
    let width = function.start_width.unwrap_or(FreType::for_start(last)).width();
    let rows = function.rows.len() as u64;
    Some(Measured { flexible, rows, starts: rows * width as u64, words })
}

fn sum(function: &Function, words: impl Fn(&Frame) -> Option<u64>) -> Option<u64> {
    function.rows.iter().map(|row| words(&row.frame)).sum()
}

/// Data words, all of which have the size that the widest needs.
struct Words {
    count: u64,
    width: u64,
    without_lowest: bool,
}

impl Words {
    const fn new(form: &Form) -> Words {
        Words { count: 0, width: 1, without_lowest: form.without_lowest }
    }

    /// Adds an offset.
    fn signed(mut self, value: i64) -> Option<Words> {
        let value = i32::try_from(value).ok()?;
        let lowest = i32::from(self.without_lowest);
        let fits = |least: i32, most: i32| (least + lowest..=most).contains(&value);
        let width = match value {
            _ if fits(i8::MIN.into(), i8::MAX.into()) => 1,
            _ if fits(i16::MIN.into(), i16::MAX.into()) => 2,
            _ => 4,
        };
        self.count += 1;
        self.width = self.width.max(width);
        Some(self)
    }

    /// Adds the control word of a register and its offset.
    fn pair(mut self, register: Register, offset: i64) -> Option<Words> {
        let width = match register.0 {
            0..=31 => 1,
            32..=8191 => 2,
            8192..0x2000_0000 => 4,
            _ => return None,
        };
        self.count += 1;
        self.width = self.width.max(width);
        self.signed(offset)
    }

    const fn bytes(&self) -> u64 {
        self.count * self.width
    }
}

/// The bytes of the words of a default row (V3 3.1).
pub(crate) fn plain_words(form: &Form, frame: &Frame) -> Option<u64> {
    if *frame == Frame::OUTERMOST {
        return (form.version > Version::V1).then_some(0);
    }
    let abi = form.abi;
    let Cfa::RegisterOffset { register, offset } = frame.cfa else { return None };
    let is_base = register == abi.sp() || register == abi.fp();
    (is_base && (abi.is_aarch64() || !frame.ra_signed)).then_some(())?;
    let mut words = Words::new(form).signed(cfa_word(abi, offset)?)?;
    if abi.fixed_ra_offset() != 0 {
        (frame.ra == Recovery::AtCfa(abi.fixed_ra_offset().into())).then_some(())?;
    } else {
        words = match (frame.ra, frame.fp) {
            (Recovery::Unchanged, Recovery::Unchanged) => words,
            // Only on s390x can a row omit RA and have a word for FP.
            (Recovery::Unchanged, _) if abi == Abi::S390x => words.signed(0)?,
            (Recovery::Unchanged, _) => return None,
            (ra, _) => words.signed(slot_word(form, ra)?)?,
        };
    }
    if frame.fp != Recovery::Unchanged {
        words = words.signed(slot_word(form, frame.fp)?)?;
    }
    Some(words.bytes())
}

/// The bytes of the words of a flexible row (V3 3.2).
pub(crate) fn flexible_words(form: &Form, frame: &Frame) -> Option<u64> {
    if *frame == Frame::OUTERMOST {
        return Some(0);
    }
    let (Cfa::RegisterOffset { register, offset } | Cfa::Dereference { register, offset }) =
        frame.cfa
    else {
        return None;
    };
    (form.abi.is_aarch64() || !frame.ra_signed).then_some(())?;
    let mut words = Words::new(form).pair(register, cfa_word(form.abi, offset)?)?;
    let unruled = match form.abi.fixed_ra_offset() {
        0 => Recovery::Unchanged,
        fixed => Recovery::AtCfa(fixed.into()),
    };
    if frame.ra != unruled {
        words = rule_words(words, frame.ra)?;
    } else if frame.fp != Recovery::Unchanged {
        words = words.signed(0)?;
    }
    if frame.fp != Recovery::Unchanged {
        words = rule_words(words, frame.fp)?;
    }
    Some(words.bytes())
}

fn rule_words(words: Words, rule: Recovery) -> Option<Words> {
    match rule {
        // The control word 2.
        Recovery::AtCfa(offset) => words.pair(Register(0), offset),
        Recovery::AtRegister { register, offset }
        | Recovery::RegisterOffset { register, offset } => words.pair(register, offset),
        _ => None,
    }
}

fn cfa_word(abi: Abi, offset: i64) -> Option<i64> {
    if abi != Abi::S390x {
        return Some(offset);
    }
    let adjusted = offset.checked_sub(S390X_CFA_ADJUSTMENT)?;
    (adjusted % S390X_CFA_FACTOR == 0).then_some(adjusted / S390X_CFA_FACTOR)
}

fn slot_word(form: &Form, rule: Recovery) -> Option<i64> {
    let registers = form.abi == Abi::S390x && form.version == Version::V2;
    match rule {
        // Odd words are registers here, and 0 means that RA is not saved.
        Recovery::AtCfa(offset) if registers && offset % 2 != 0 => None,
        Recovery::AtCfa(0) if form.abi == Abi::S390x && !form.zero_slots => None,
        Recovery::AtCfa(offset) => Some(offset),
        Recovery::RegisterOffset { register, offset: 0 } if registers => {
            Some(i64::from(register.0.checked_mul(2)?) | 1)
        }
        _ => None,
    }
}
