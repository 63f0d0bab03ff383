//! The meaning of a row's data words: by ABI for default rows (V3 3.1), by control words for flexible ones (V3 3.2).

use super::error::{Error, ErrorKind};
use super::function::{Function, FunctionField, FunctionInfo2};
use super::header::Version;
use super::row::{FrameRowEntry, RowInfo};
use crate::abi::Abi;
use crate::unwind::{Cfa, Frame, Recovery, Register};

/// s390x: the CFA is the caller's SP plus this number of bytes (`-SFRAME_S390X_SP_VAL_OFFSET`).
pub const S390X_CFA_ADJUSTMENT: i64 = 160;
/// s390x: stored CFA offsets are in units of this many bytes.
pub const S390X_CFA_FACTOR: i64 = 8;

/// The properties that determine the meaning of a function's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// The effective ABI.
    pub abi: Abi,
    /// The section's version.
    pub version: Version,
    /// `sfh_cfa_fixed_ra_offset`; if 0, RA has data words of its own.
    pub fixed_ra: i8,
    /// `sfh_cfa_fixed_fp_offset`; if 0, FP has data words of its own.
    pub fixed_fp: i8,
    /// Whether the rows are flexible.
    pub flexible: bool,
}

impl RowLayout {
    /// The layout of a function's rows.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownAbi`], [`ErrorKind::UnknownFdeType`].
    pub fn of(function: &Function<'_>) -> Result<RowLayout, Error> {
        let section = function.section();
        let header = section.header();
        let flexible = match function.attributes().info2.fde_type_code() {
            FunctionInfo2::DEFAULT => false,
            FunctionInfo2::FLEX => true,
            code => {
                let place = function.entry().field(FunctionField::Info2);
                return Err(Error::new(place.offset, place.name, ErrorKind::UnknownFdeType(code)));
            }
        };
        Ok(RowLayout {
            abi: section.abi()?,
            version: header.version,
            fixed_ra: header.cfa_fixed_ra_offset,
            fixed_fp: header.cfa_fixed_fp_offset,
            flexible,
        })
    }

    /// The largest number of data words that a default row can have: one for the CFA, and one each for RA and FP unless
    /// they are fixed.
    #[must_use]
    pub(crate) const fn max_default_words(&self) -> u8 {
        1 + (self.fixed_ra == 0) as u8 + (self.fixed_fp == 0) as u8
    }

    /// The frame that the row describes.
    ///
    /// # Errors
    /// [`ErrorKind::WordCount`], and for flexible rows [`ErrorKind::FlexLayout`] and [`ErrorKind::CfaWithoutRegister`].
    #[inline]
    pub fn interpret(&self, row: &FrameRowEntry<'_>) -> Result<Frame, Error> {
        if self.flexible { self.flexible_frame(row) } else { self.default_frame(row) }
    }

    fn default_frame(&self, row: &FrameRowEntry<'_>) -> Result<Frame, Error> {
        if row.words.count() == 0 {
            return self.without_words(row);
        }
        let words = [0, 1, 2].map(|index| row.words.signed(index).unwrap_or(0));
        DefaultWords::of(self).frame(row.info, words).ok_or_else(|| word_count(row))
    }

    /// Errata 2 of version 2 defines the meaning of a row without data words: RA is undefined.
    fn without_words(&self, row: &FrameRowEntry<'_>) -> Result<Frame, Error> {
        match self.version {
            Version::V1 => Err(word_count(row)),
            Version::V2 | Version::V3 => Ok(Frame::OUTERMOST),
        }
    }

    const fn cfa_factor(&self) -> i64 {
        if matches!(self.abi, Abi::S390x) { S390X_CFA_FACTOR } else { 1 }
    }

    const fn cfa_adjustment(&self) -> i64 {
        if matches!(self.abi, Abi::S390x) { S390X_CFA_ADJUSTMENT } else { 0 }
    }

    fn cfa_offset(&self, word: i32) -> i64 {
        i64::from(word) * self.cfa_factor() + self.cfa_adjustment()
    }

    const fn signature_bit(&self) -> u8 {
        if self.abi.is_aarch64() { RowInfo::MANGLED_RA } else { 0 }
    }

    fn flexible_frame(&self, row: &FrameRowEntry<'_>) -> Result<Frame, Error> {
        let words = &row.words;
        let word_pair = |index: usize| {
            let control = Control(words.unsigned(index)?);
            Some((control, i64::from(words.signed(index + 1)?)))
        };
        // The indexes of the RA pair and of the FP pair, by the number of words. If there are five words, the third is
        // padding for an RA without a rule.
        let (ra_at, fp_at) = match words.count() {
            0 => return Ok(Frame::OUTERMOST),
            2 => (None, None),
            4 => (Some(2), None),
            5 => (None, Some(3)),
            6 => (Some(2), Some(4)),
            _ => return Err(word_count(row)),
        };
        if (words.count() == 5) != (words.unsigned(2) == Some(0)) {
            return Err(Error::new(row.word_offset(2), "sfre_data", ErrorKind::FlexLayout));
        }
        let (control, _) = word_pair(0).ok_or_else(|| word_count(row))?;
        if !control.reg_p() {
            return Err(Error::new(row.word_offset(0), "sfre_data", ErrorKind::CfaWithoutRegister));
        }
        let offset = self.cfa_offset(words.signed(1).ok_or_else(|| word_count(row))?);
        let register = control.register();
        let cfa = if control.deref_p() {
            Cfa::Dereference { register, offset }
        } else {
            Cfa::RegisterOffset { register, offset }
        };
        let ra = match ra_at.and_then(word_pair) {
            Some((control, offset)) => control.recovery(offset),
            None if self.fixed_ra != 0 => Recovery::AtCfa(i64::from(self.fixed_ra)),
            None => Recovery::Unchanged,
        };
        let fp = match fp_at.and_then(word_pair) {
            Some((control, _)) if control.0 == 0 => {
                return Err(Error::new(
                    row.word_offset(fp_at.unwrap_or(0)),
                    "sfre_data",
                    ErrorKind::FlexLayout,
                ));
            }
            Some((control, offset)) => control.recovery(offset),
            None if self.fixed_fp != 0 => Recovery::AtCfa(i64::from(self.fixed_fp)),
            None => Recovery::Unchanged,
        };
        Ok(Frame { cfa, ra, fp, ra_signed: row.info.0 & self.signature_bit() != 0 })
    }
}

/// The meaning of the data words in a function's default rows, computed once for all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct DefaultWords {
    /// The base registers of the CFA.
    sp: Register,
    fp: Register,
    cfa_factor: i64,
    cfa_adjustment: i64,
    /// The largest number of words.
    most: u8,
    fixed_ra: i8,
    fixed_fp: i8,
    /// Whether RA's word is 0 if only FP is saved (s390x, `SFRAME_FRE_RA_OFFSET_INVALID`).
    ra_padding: bool,
    /// Whether an odd word has a register in its upper bits (s390x in version 2).
    registers: bool,
    /// The bit of the info byte that means that RA is signed; 0 if the ABI has none.
    signature_bit: u8,
}

impl DefaultWords {
    #[inline]
    pub(super) fn of(layout: &RowLayout) -> DefaultWords {
        let s390x = layout.abi == Abi::S390x;
        DefaultWords {
            sp: layout.abi.sp(),
            fp: layout.abi.fp(),
            cfa_factor: layout.cfa_factor(),
            cfa_adjustment: layout.cfa_adjustment(),
            most: layout.max_default_words(),
            fixed_ra: layout.fixed_ra,
            fixed_fp: layout.fixed_fp,
            ra_padding: s390x,
            registers: s390x && layout.version == Version::V2,
            signature_bit: layout.signature_bit(),
        }
    }

    /// The frame that a row describes; `None` if it has no words or too many. The info byte determines how many of
    /// `words` belong to the row.
    #[inline]
    pub(super) fn frame(&self, info: RowInfo, words: [i32; 3]) -> Option<Frame> {
        let count = info.word_count();
        if count == 0 || count > self.most {
            return None;
        }
        let [cfa, second, third] = words;
        let register = if info.base_is_sp() { self.sp } else { self.fp };
        let offset = i64::from(cfa) * self.cfa_factor + self.cfa_adjustment;
        let (ra, fp) = match self.fixed_ra {
            0 if count == 1 => (Recovery::Unchanged, None),
            0 => (self.tracked_ra(second), (count > 2).then_some(third)),
            fixed => (Recovery::AtCfa(i64::from(fixed)), (count > 1).then_some(second)),
        };
        let fp = match self.fixed_fp {
            0 => fp.map_or(Recovery::Unchanged, |word| self.saved_at(word)),
            fixed => Recovery::AtCfa(i64::from(fixed)),
        };
        let cfa = Cfa::RegisterOffset { register, offset };
        Some(Frame { cfa, ra, fp, ra_signed: info.0 & self.signature_bit != 0 })
    }

    #[inline]
    fn tracked_ra(&self, word: i32) -> Recovery {
        if self.ra_padding && word == 0 { Recovery::Unchanged } else { self.saved_at(word) }
    }

    /// A stack slot or a register.
    #[inline]
    fn saved_at(&self, word: i32) -> Recovery {
        if self.registers && word & 1 != 0 {
            let register = Register((word >> 1).cast_unsigned());
            return Recovery::RegisterOffset { register, offset: 0 };
        }
        Recovery::AtCfa(i64::from(word))
    }
}

/// The first word of a pair in a flexible row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control(pub u32);

impl Control {
    /// Whether the base is a register (bit 0); otherwise, it is the CFA.
    #[must_use]
    pub const fn reg_p(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether the value is in memory at base plus offset (bit 1).
    #[must_use]
    pub const fn deref_p(self) -> bool {
        self.0 & 2 != 0
    }

    /// The base register, in the bits from 3 up.
    #[must_use]
    pub const fn register(self) -> Register {
        Register(self.0 >> 3)
    }

    /// How this control word and `offset` recover RA or FP.
    #[must_use]
    pub const fn recovery(self, offset: i64) -> Recovery {
        let register = self.register();
        match (self.reg_p(), self.deref_p()) {
            (true, true) => Recovery::AtRegister { register, offset },
            (true, false) => Recovery::RegisterOffset { register, offset },
            (false, true) => Recovery::AtCfa(offset),
            (false, false) => Recovery::CfaOffset(offset),
        }
    }
}

#[cold]
fn word_count(row: &FrameRowEntry<'_>) -> Error {
    Error::new(row.info_offset(), "sfre_info", ErrorKind::WordCount(row.info.word_count()))
}
