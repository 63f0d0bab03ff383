//! Addresses in JSON. A number in JSON has 53 reliable bits, so an address is text in hexadecimal.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An address or a register's value: `"0x401000"` in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A text that is not an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError {
    text: String,
    /// Why the digits are not a number; `None` if there is no `0x` before them.
    reason: Option<ParseIntError>,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => write!(f, "{}: {reason}", self.text),
            None => write!(f, "{}: no 0x", self.text),
        }
    }
}

impl std::error::Error for AddressError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.reason.as_ref().map(|reason| reason as _)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let error = |reason| AddressError { text: text.to_owned(), reason };
        let digits = text.strip_prefix("0x").ok_or_else(|| error(None))?;
        let value = u64::from_str_radix(digits, 16);
        Ok(Address(value.map_err(|reason| error(Some(reason)))?))
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
