//! Reads `--format json`: a single document, whose `files` are passed on as they are read.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::error::Place;
use super::{Ending, Error, FORMAT, Start, Tool};
use crate::Record;

type Each<'e> = &'e mut dyn FnMut(&Record<'_>);

/// Reads the document to its end; nothing may follow it.
pub(super) fn read(input: Start<impl BufRead>, each: Each<'_>) -> Result<Ending, Error> {
    let place = Cell::new(Place { line: 1, column: 0 });
    let input = Counted { input: input.into_input(), place: &place };
    let mut json = serde_json::Deserializer::from_reader(input);
    let mut found = Found::default();
    let read = Document { each, found: &mut found, place: &place }.deserialize(&mut json);
    match (found.format, found.damage) {
        (Some(format), _) if format != u64::from(FORMAT) => return Err(Error::Format(format)),
        (_, Some(damage)) => return Err(damage),
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
    /// Why a record cannot be read.
    damage: Option<Error>,
}

/// Counts the lines and columns that are read.
struct Counted<'d, R> {
    input: R,
    place: &'d Cell<Place>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(bytes)?;
        let read = bytes.get(..count).unwrap_or_default();
        self.place.set(read.iter().fold(self.place.get(), |place, byte| place.after(*byte)));
        Ok(count)
    }
}

struct Document<'d> {
    each: Each<'d>,
    found: &'d mut Found,
    place: &'d Cell<Place>,
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
                "files" => {
                    let (each, damage) = (&mut *self.each, &mut self.found.damage);
                    map.next_value_seed(Files { each, damage, place: self.place })?;
                }
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

/// Records are parsed from their text, as lines are: the parser is compiled once.
struct Files<'d> {
    each: Each<'d>,
    damage: &'d mut Option<Error>,
    place: &'d Cell<Place>,
}

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
        while let Some(text) = files.next_element::<Box<RawValue>>()? {
            match Record::parse(text.get()) {
                Ok(record) => (self.each)(&record),
                Err(error) => {
                    let end = self.place.get();
                    *self.damage = Some(Error::damaged_record(text.get(), &error, end));
                    return Err(A::Error::custom("a record cannot be read"));
                }
            }
        }
        Ok(())
    }
}
