//! Frames in the notation of the vectors: `r7+8`, `*(cfa-16)`, `unchanged`, `undefined`.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a rule's offset is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The canonical frame address.
    Cfa,
    /// A register, by its DWARF number.
    Register(u32),
}

/// The value `base + offset`, or the 8 bytes in memory there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The base.
    pub base: Base,
    /// The bytes added to it.
    pub offset: i64,
    /// Whether the value is in memory at that address.
    pub load: bool,
}

/// How the caller's RA or FP is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// It is still in its register.
    Unchanged,
    /// It cannot be recovered. An undefined RA marks an outermost frame.
    Undefined,
    /// By a rule.
    Rule(Rule),
}

/// What a row says about the caller. `None` is what a reader does not report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The canonical frame address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cfa: Option<Rule>,
    /// The return address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ra: Option<Recovery>,
    /// The caller's frame pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fp: Option<Recovery>,
    /// Whether the return address is signed (AArch64).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<bool>,
}

impl Frame {
    /// The frame without a caller.
    pub const OUTERMOST: Frame =
        Frame { cfa: None, ra: Some(Recovery::Undefined), fp: None, signed: None };

    /// Whether `found`, which a reader reports, is this frame. A reader may leave out RA, FP and the signature, but not
    /// the CFA. Of an outermost frame, only RA counts.
    #[must_use]
    pub fn agrees(&self, found: &Frame) -> bool {
        if self.ra == Some(Recovery::Undefined) {
            return found.ra == self.ra;
        }
        found.cfa == self.cfa
            && found.ra.is_none_or(|ra| Some(ra) == self.ra)
            && found.fp.is_none_or(|fp| Some(fp) == self.fp)
            && found.signed.is_none_or(|signed| Some(signed) == self.signed)
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Cfa => f.write_str("cfa"),
            Base::Register(number) => write!(f, "r{number}"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.load {
            write!(f, "*({}{:+})", self.base, self.offset)
        } else {
            write!(f, "{}{:+}", self.base, self.offset)
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recovery::Unchanged => f.write_str("unchanged"),
            Recovery::Undefined => f.write_str("undefined"),
            Recovery::Rule(rule) => rule.fmt(f),
        }
    }
}

/// A text that is not a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    text: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: neither BASE+OFFSET nor *(BASE+OFFSET)", self.text)
    }
}

impl std::error::Error for RuleError {}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Rule, RuleError> {
        let error = || RuleError { text: text.to_owned() };
        let loaded = text.strip_prefix("*(").and_then(|rest| rest.strip_suffix(')'));
        let plain = loaded.unwrap_or(text);
        let (base, offset) = plain.split_at(plain.find(['+', '-']).ok_or_else(error)?);
        let base = match base.strip_prefix('r') {
            Some(number) => Base::Register(number.parse().map_err(|_| error())?),
            None if base == "cfa" => Base::Cfa,
            None => return Err(error()),
        };
        let offset = offset.parse().map_err(|_| error())?;
        Ok(Rule { base, offset, load: loaded.is_some() })
    }
}

impl FromStr for Recovery {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Recovery, RuleError> {
        Ok(match text {
            "unchanged" => Recovery::Unchanged,
            "undefined" => Recovery::Undefined,
            rule => Recovery::Rule(rule.parse()?),
        })
    }
}

/// Both types are text in JSON.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

as_text!(Rule, Recovery);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["r7+8", "*(cfa-16)", "cfa+0", "*(r31-2147483648)"] {
            assert_eq!(text.parse::<Rule>().map(|rule| rule.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "r7", "cfa", "x7+8", "*(cfa-16", "r+8", "r7+", "r7+8)", "unchanged"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
        assert_eq!("unchanged".parse(), Ok(Recovery::Unchanged));
    }

    #[test]
    fn a_reader_may_leave_out_all_but_the_cfa() {
        let text = r#"{"cfa": "r7+8", "ra": "*(cfa-8)", "fp": "unchanged", "signed": false}"#;
        let expected: Frame = serde_json::from_str(text).expect("a frame");
        let agrees =
            |text: &str| expected.agrees(&serde_json::from_str::<Frame>(text).expect("a frame"));
        assert!(agrees(text));
        assert!(agrees(r#"{"cfa": "r7+8"}"#));
        assert!(!agrees(r#"{"ra": "*(cfa-8)"}"#));
        assert!(!agrees(r#"{"cfa": "r6+8"}"#));
        assert!(!agrees(r#"{"cfa": "r7+8", "fp": "*(cfa-16)"}"#));
        assert!(!agrees(r#"{"cfa": "r7+8", "signed": true}"#));
        assert!(!agrees(r#"{"ra": "undefined"}"#));
        assert!(!Frame::OUTERMOST.agrees(&expected));
        assert!(Frame::OUTERMOST.agrees(&Frame { fp: expected.fp, ..Frame::OUTERMOST }));
    }
}
