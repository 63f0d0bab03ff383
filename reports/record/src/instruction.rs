//! Machine instructions.

use serde::{Deserialize, Serialize};

use crate::value::{Address, Text};

/// A machine instruction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instruction<'r> {
    /// Its address.
    #[serde(default)]
    pub address: Address,
    /// Its bytes in hexadecimal.
    #[serde(borrow, default)]
    pub bytes: Text<'r>,
    /// The instruction in assembly language.
    #[serde(borrow, default)]
    pub text: Text<'r>,
}

impl Instruction<'_> {
    /// `0x4 pop %rbp`, or its bytes if it is not decoded.
    #[must_use]
    pub fn named(&self) -> String {
        let Instruction { address, bytes, text } = self;
        match text.is_empty() && !bytes.is_empty() {
            true => format!("{address} with the bytes {bytes}"),
            false => format!("{address} {text}").trim_end().to_owned(),
        }
    }

    /// An owned copy.
    #[must_use]
    pub fn into_owned(self) -> Instruction<'static> {
        let Instruction { address, bytes, text } = self;
        Instruction { address, bytes: bytes.into_owned(), text: text.into_owned() }
    }
}
