//! What an index states in order to recognise a file.

use std::fmt;

use crate::package::{Algorithm, is_checksum};

/// A checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    /// The hash of all bytes, in hexadecimal digits.
    Whole(Algorithm, String),
    /// The hash of the control data of an apk package, as the index writes it.
    Control(String),
}

impl Checksum {
    /// The SHA-256 in a field of an index.
    pub(super) fn sha256(field: &'static str, text: &str) -> Result<Checksum, ChecksumError> {
        whole(Algorithm::Sha256, field, text)
    }

    /// The checksum of an element in XML with the attribute `type`.
    pub(super) fn of_kind(kind: &str, text: &str) -> Result<Checksum, ChecksumError> {
        match kind {
            "sha256" => whole(Algorithm::Sha256, "checksum", text),
            "sha512" => whole(Algorithm::Sha512, "checksum", text),
            _ => Err(ChecksumError::OtherKind),
        }
    }

    /// The value of the field `C` of Alpine's index.
    pub(super) fn of_control(text: &str) -> Result<Checksum, ChecksumError> {
        match text {
            "" => Err(ChecksumError::Missing("C")),
            _ if is_checksum(text) => Ok(Checksum::Control(text.to_owned())),
            _ => Err(ChecksumError::NotControl),
        }
    }

    /// The name of its kind.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Checksum::Whole(algorithm, _) => algorithm.name(),
            Checksum::Control(_) => "control",
        }
    }

    /// Its text, as the index writes it.
    pub(super) fn text(&self) -> &str {
        match self {
            Checksum::Whole(_, text) | Checksum::Control(text) => text,
        }
    }
}

/// Why an index states no checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChecksumError {
    /// There is no such field.
    Missing(&'static str),
    /// The field does not have the digits of a hash by this function.
    Digits(&'static str, Algorithm),
    /// It is by another function.
    OtherKind,
    /// It is not the checksum of control data.
    NotControl,
}

impl fmt::Display for ChecksumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChecksumError::Missing(field) => write!(f, "its {field} is missing"),
            ChecksumError::Digits(field, algorithm) => {
                let digits = algorithm.digits();
                write!(f, "its {field} is not {digits} lower-case hexadecimal digits")
            }
            ChecksumError::OtherKind => f.write_str("its checksum is neither sha256 nor sha512"),
            ChecksumError::NotControl => f.write_str("its C is not Q1 and a SHA-1 in Base64"),
        }
    }
}

fn whole(algorithm: Algorithm, field: &'static str, text: &str) -> Result<Checksum, ChecksumError> {
    if text.is_empty() {
        return Err(ChecksumError::Missing(field));
    }
    if !algorithm.is_hash(text) {
        return Err(ChecksumError::Digits(field, algorithm));
    }
    Ok(Checksum::Whole(algorithm, text.to_owned()))
}
