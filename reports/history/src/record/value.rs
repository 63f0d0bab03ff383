//! Strings and addresses of the JSON.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// A string, borrowed from the line where nothing in it is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Text<'r>(#[serde(borrow)] pub Cow<'r, str>);

impl Text<'_> {
    /// The string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'r> From<&'r str> for Text<'r> {
    fn from(text: &'r str) -> Text<'r> {
        Text(Cow::Borrowed(text))
    }
}

/// An address, or an offset in a section of a relocatable object: `"0x401000"` in JSON, whose
/// numbers lose the low bits of a kernel's addresses in many readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub u64);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
        struct Hexadecimal;

        impl Visitor<'_> for Hexadecimal {
            type Value = Address;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address such as \"0x401000\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Address, E> {
                // `from_str_radix` takes a sign as well.
                let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
                let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                let unexpected = || E::invalid_value(serde::de::Unexpected::Str(text), &self);
                address.map(Address).ok_or_else(unexpected)
            }
        }

        deserializer.deserialize_str(Hexadecimal)
    }
}
