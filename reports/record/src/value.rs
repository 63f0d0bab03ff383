//! The strings and addresses in records.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::text::printable;

/// A string in a record. When read from JSON, it borrows from the line unless it contains escapes.
///
/// It may contain anything that a file's author put into a name, so displaying it escapes every character that a
/// terminal would interpret. [`Text::as_str`] returns the string unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text<'r>(#[serde(borrow)] pub Cow<'r, str>);

impl Text<'_> {
    /// The string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An owned copy of the string.
    #[must_use]
    pub fn into_owned(self) -> Text<'static> {
        Text(Cow::Owned(self.0.into_owned()))
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
        f.write_str(&printable(self.0.as_bytes()))
    }
}

impl<'r> From<&'r str> for Text<'r> {
    fn from(text: &'r str) -> Text<'r> {
        Text(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'static> {
    fn from(text: String) -> Text<'static> {
        Text(Cow::Owned(text))
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Text<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// An address, or an offset in a section of a relocatable object.
///
/// In JSON it is a string such as `"0x401000"`, because many readers lose the low bits of a kernel address in a JSON
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
        struct Hexadecimal;

        impl Visitor<'_> for Hexadecimal {
            type Value = Address;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address such as \"0x401000\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Address, E> {
                // `from_str_radix` also accepts a sign.
                let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
                let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                let unexpected = || E::invalid_value(serde::de::Unexpected::Str(text), &self);
                address.map(Address).ok_or_else(unexpected)
            }
        }

        deserializer.deserialize_str(Hexadecimal)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Address {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Address".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// Whether a number is zero, so that JSON does without it.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

#[cfg(test)]
mod tests {
    use super::{Address, Text};

    #[test]
    fn an_address_is_a_hexadecimal_string() {
        let top = Address(u64::MAX);
        let json = serde_json::to_string(&top).expect("a string");
        assert_eq!(json, "\"0xffffffffffffffff\"");
        assert_eq!(serde_json::from_str::<Address>(&json).expect("read again"), top);
        for damaged in ["\"401000\"", "\"0x\"", "\"0x+1\"", "\"0x10000000000000000\"", "16"] {
            assert!(serde_json::from_str::<Address>(damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn a_displayed_text_cannot_steer_a_terminal() {
        let text = Text::from("a\u{1b}[2J\nno findings");
        assert_eq!(text.to_string(), "a\\x1b[2J\\x0ano findings");
        assert_eq!(text.as_str(), "a\u{1b}[2J\nno findings");
    }
}
