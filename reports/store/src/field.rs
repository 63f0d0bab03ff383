//! Reads the fields of JSON objects and reports their defects. Manifests and stores may come from anywhere, so each
//! defect is reported with line, field, value and the allowed values.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::ContentHash;

/// The maximum number of characters of a value in a message.
const SHOWN: usize = 60;

/// A defect of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The line's number, from 1.
    pub line: u64,
    /// The field; empty if the defect is in the line as a whole.
    pub field: &'static str,
    /// The invalid value.
    pub value: String,
    /// The allowed values.
    pub allowed: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Defect { line, field, value, allowed } = self;
        write!(f, "line {line}: ")?;
        if !field.is_empty() {
            write!(f, "`{field}` ")?;
        }
        write!(f, "is {value}, allowed: {allowed}")
    }
}

/// A JSON object and its line number.
#[derive(Debug)]
pub(crate) struct Object {
    line: u64,
    fields: Map<String, Value>,
}

impl Object {
    /// Parses a line that consists of one JSON object of at most `longest` bytes: the parsed object may take many times
    /// as much memory.
    pub(crate) fn parse(line: u64, text: &[u8], longest: usize) -> Result<Object, Defect> {
        if text.len() > longest {
            let (value, allowed) =
                (format!("{} bytes long", text.len()), format!("at most {longest}"));
            return Err(Defect { line, field: "", value, allowed });
        }
        let allowed = "one JSON object".to_owned();
        match serde_json::from_slice(text) {
            Ok(Value::Object(fields)) => Ok(Object { line, fields }),
            Ok(other) => Err(Defect { line, field: "", value: shown(&other.to_string()), allowed }),
            Err(error) => {
                let value = format!("not JSON ({error})");
                Err(Defect { line, field: "", value, allowed })
            }
        }
    }

    /// A defect of a field of this object.
    pub(crate) fn defect(
        &self,
        field: &'static str,
        value: impl AsRef<str>,
        allowed: impl Into<String>,
    ) -> Defect {
        Defect { line: self.line, field, value: shown(value.as_ref()), allowed: allowed.into() }
    }

    /// The defect of a field whose value is not `allowed`.
    fn not(&self, field: &'static str, allowed: impl Into<String>) -> Defect {
        let value = self.fields.get(field).map_or("missing".to_owned(), Value::to_string);
        self.defect(field, value, allowed)
    }

    /// Checks that a required field has the value `text`.
    pub(crate) fn expect(&self, name: &'static str, text: &str) -> Result<(), Defect> {
        if self.fields.get(name).and_then(Value::as_str) == Some(text) {
            Ok(())
        } else {
            Err(self.not(name, format!("{text:?}")))
        }
    }

    /// Whether the field exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// A required string.
    pub(crate) fn text(&self, name: &'static str) -> Result<&str, Defect> {
        self.fields.get(name).and_then(Value::as_str).ok_or_else(|| self.not(name, "a text"))
    }

    /// An optional string.
    pub(crate) fn optional_text(&self, name: &'static str) -> Result<Option<&str>, Defect> {
        if self.has(name) { self.text(name).map(Some) } else { Ok(None) }
    }

    /// A required number in a range.
    pub(crate) fn number(
        &self,
        name: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, Defect> {
        let number = self.fields.get(name).and_then(Value::as_u64);
        let (first, last) = (range.start(), range.end());
        number.filter(|number| range.contains(number)).ok_or_else(|| match first == last {
            true => self.not(name, first.to_string()),
            false => self.not(name, format!("a whole number from {first} to {last}")),
        })
    }

    /// A required hash.
    pub(crate) fn hash(&self, name: &'static str) -> Result<ContentHash, Defect> {
        let hash = self.fields.get(name).and_then(Value::as_str).and_then(|text| text.parse().ok());
        hash.ok_or_else(|| self.not(name, "64 hexadecimal digits in lower case"))
    }

    /// An optional hash.
    pub(crate) fn optional_hash(&self, name: &'static str) -> Result<Option<ContentHash>, Defect> {
        if self.has(name) { self.hash(name).map(Some) } else { Ok(None) }
    }

    /// A required object.
    pub(crate) fn object(&self, name: &'static str) -> Result<Object, Defect> {
        match self.fields.get(name) {
            Some(Value::Object(fields)) => Ok(Object { line: self.line, fields: fields.clone() }),
            _ => Err(self.not(name, "an object")),
        }
    }

    /// The fields of an optional object.
    pub(crate) fn optional_object(
        &self,
        name: &'static str,
    ) -> Result<Option<&Map<String, Value>>, Defect> {
        match self.fields.get(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(fields)),
            Some(_) => Err(self.not(name, "an object")),
        }
    }

    /// A required list of objects.
    pub(crate) fn objects(&self, name: &'static str) -> Result<Vec<Object>, Defect> {
        let Some(Value::Array(values)) = self.fields.get(name) else {
            return Err(self.not(name, "a list of objects"));
        };
        let objects = values.iter().map(|value| match value {
            Value::Object(fields) => Ok(Object { line: self.line, fields: fields.clone() }),
            other => Err(self.defect(name, other.to_string(), "a list of objects")),
        });
        objects.collect()
    }
}

/// A value, truncated for a message.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
