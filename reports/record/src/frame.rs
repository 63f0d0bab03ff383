//! How frames are recovered, as people read it, with the machine's names of registers.

use std::fmt;

use serde::{Deserialize, Serialize};
use sframe_oracle::code::ProvenRow;
use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Named, Recovery};

use crate::value::Text;

/// How the frame of a PC is recovered. Readers of records borrow the texts from the line, and walks share those that occur
/// often.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrintedFrame<T> {
    /// The canonical frame address, such as `rsp+16`.
    pub cfa: T,
    /// The return address, such as `*(CFA-8)`.
    pub ra: T,
    /// The caller's frame pointer.
    pub fp: T,
    /// Whether the return address is signed (AArch64).
    #[serde(default)]
    pub ra_signed: bool,
}

impl PrintedFrame<Text<'static>> {
    /// The frame with the names that registers have on a machine.
    #[must_use]
    pub fn new(abi: Abi, frame: &Frame) -> PrintedFrame<Text<'static>> {
        PrintedFrame {
            cfa: Named(abi, frame.cfa).to_string().into(),
            ra: Named(abi, frame.ra).to_string().into(),
            fp: Named(abi, frame.fp).to_string().into(),
            ra_signed: frame.ra_signed,
        }
    }
}

impl<T> PrintedFrame<T> {
    /// The frame with another kind of texts.
    pub fn map<U>(self, mut text: impl FnMut(T) -> U) -> PrintedFrame<U> {
        let PrintedFrame { cfa, ra, fp, ra_signed } = self;
        PrintedFrame { cfa: text(cfa), ra: text(ra), fp: text(fp), ra_signed }
    }

    /// The frame whose texts borrow from this one.
    pub const fn as_ref(&self) -> PrintedFrame<&T> {
        let PrintedFrame { cfa, ra, fp, ra_signed } = self;
        PrintedFrame { cfa, ra, fp, ra_signed: *ra_signed }
    }
}

impl<T: fmt::Display> PrintedFrame<T> {
    /// The return address, and whether it is signed: `*(CFA-8) signed`.
    #[must_use]
    pub fn signed_ra(&self) -> String {
        let signed = if self.ra_signed { " signed" } else { "" };
        format!("{}{signed}", self.ra)
    }
}

/// What is known of how the frame of a PC is recovered. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownFrame<'r> {
    /// The canonical frame address, such as `rsp+16`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cfa: Option<Text<'r>>,
    /// The return address, such as `*(CFA-8)`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ra: Option<Text<'r>>,
    /// The caller's frame pointer.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fp: Option<Text<'r>>,
}

impl KnownFrame<'static> {
    /// What machine code proves, with the names that registers have on a machine.
    #[must_use]
    pub fn new(abi: Abi, row: &ProvenRow) -> KnownFrame<'static> {
        let recovery = |rule: Recovery| Named(abi, rule).to_string().into();
        KnownFrame {
            cfa: row.cfa.map(|cfa| Named(abi, cfa).to_string().into()),
            ra: row.ra.map(recovery),
            fp: row.fp.map(recovery),
        }
    }
}

impl KnownFrame<'_> {
    /// A copy that borrows from no line.
    #[must_use]
    pub fn owned(&self) -> KnownFrame<'static> {
        let text = |of: &Option<Text<'_>>| of.clone().map(Text::into_owned);
        KnownFrame { cfa: text(&self.cfa), ra: text(&self.ra), fp: text(&self.fp) }
    }
}
