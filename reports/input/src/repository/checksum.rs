//! What an index states in order to recognise a file.

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
    pub(super) fn sha256(field: &str, text: &str) -> Result<Checksum, String> {
        whole(Algorithm::Sha256, field, text)
    }

    /// The checksum of an element in XML with the attribute `type`.
    pub(super) fn of_kind(kind: &str, text: &str) -> Result<Checksum, String> {
        match kind {
            "sha256" => whole(Algorithm::Sha256, "checksum", text),
            "sha512" => whole(Algorithm::Sha512, "checksum", text),
            _ => Err("its checksum is neither sha256 nor sha512".to_owned()),
        }
    }

    /// The value of the field `C` of Alpine's index.
    pub(super) fn of_control(text: &str) -> Result<Checksum, String> {
        match text {
            "" => Err("its C is missing".to_owned()),
            _ if is_checksum(text) => Ok(Checksum::Control(text.to_owned())),
            _ => Err("its C is not Q1 and a SHA-1 in Base64".to_owned()),
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

fn whole(algorithm: Algorithm, field: &str, text: &str) -> Result<Checksum, String> {
    if text.is_empty() {
        return Err(format!("its {field} is missing"));
    }
    if !algorithm.is_hash(text) {
        let digits = algorithm.digits();
        return Err(format!("its {field} is not {digits} lower-case hexadecimal digits"));
    }
    Ok(Checksum::Whole(algorithm, text.to_owned()))
}
