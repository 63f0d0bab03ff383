//! Reads `--format json`: a single document, whose `files` are passed on as they are read.

use std::fmt;
use std::io::BufRead;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::{Ending, Error, FORMAT, Start, Tool};
use crate::Record;

type Each<'e> = &'e mut dyn FnMut(&Record<'_>);

/// Reads the document to its end; nothing may follow it.
pub(super) fn read(input: Start<impl BufRead>, each: Each<'_>) -> Result<Ending, Error> {
    let mut json = serde_json::Deserializer::from_reader(input.into_input());
    let mut found = Found::default();
    let read = Document { each, found: &mut found }.deserialize(&mut json);
    match found.format {
        Some(format) if format != u64::from(FORMAT) => return Err(Error::Format(format)),
        _ => read.and_then(|()| json.end()).map_err(|error| Error::damaged(&error, 1))?,
    }
    if found.format.is_none() {
        return Err(Error::NoFormat);
    }
    Ok(found.ending)
}

/// The contents of the document other than its files.
#[derive(Default)]
struct Found {
    format: Option<u64>,
    ending: Ending,
}

struct Document<'d> {
    each: Each<'d>,
    found: &'d mut Found,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report of sframe-check")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "format" => {
                    let format: u64 = map.next_value()?;
                    self.found.format = Some(format);
                    if format != u64::from(FORMAT) {
                        return Err(A::Error::custom("another version"));
                    }
                }
                "tool" => self.found.ending.tool = Some(map.next_value::<Tool>()?.version),
                "files" => map.next_value_seed(Files(&mut *self.each))?,
                "summary" => {
                    map.next_value::<IgnoredAny>()?;
                    self.found.ending.complete = true;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Files<'d>(Each<'d>);

impl<'de> DeserializeSeed<'de> for Files<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Files<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the report's files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut files: A) -> Result<(), A::Error> {
        while let Some(record) = files.next_element::<Record<'de>>()? {
            (self.0)(&record);
        }
        Ok(())
    }
}
