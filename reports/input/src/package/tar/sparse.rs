//! Sparse files in POSIX archives, as GNU tar and libarchive write them: the archive contains the data without the
//! holes, and a map of where each part belongs (GNU tar's manual, "Storing Sparse Files": "PAX Format, Versions 0.0 and
//! 0.1" and "Version 1.0"). The library reads those in GNU tar's own format.

use std::io::{self, Read};
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use ::tar::PaxExtensions;
use sframe_record::numbers::{counted, grouped};

use super::super::limits::Meter;
use super::super::stream::{Part, fill};
use super::super::{HEADERS, plain_error};
use super::BLOCK;

/// The fields of a member's extended header that describe a sparse file.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    /// The file's real name, if the member's is a placeholder (0.1 and 1.0).
    pub(super) name: Option<Vec<u8>>,
    major: Option<u64>,
    minor: Option<u64>,
    /// The size of the file including its holes, in bytes.
    size: Option<u64>,
    entries: Option<u64>,
    /// The offset and size of each part of the data (0.0 and 0.1).
    map: Vec<u64>,
    damaged: bool,
}

impl Sparse {
    /// The sparse file that an extended header describes, if it describes one.
    pub(super) fn of(extensions: PaxExtensions<'_>) -> Option<Sparse> {
        let mut sparse: Option<Sparse> = None;
        for extension in extensions.filter_map(Result::ok) {
            if let Some(key) = extension.key_bytes().strip_prefix(b"GNU.sparse.") {
                let sparse = sparse.get_or_insert_default();
                sparse.damaged |= sparse.set(key, extension.value_bytes()).is_none();
            }
        }
        sparse
    }

    /// Stores the value of a key; `None` if the value is invalid.
    fn set(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let in_entry = !self.map.len().is_multiple_of(2);
        match key {
            b"name" => self.name = Some(value.to_vec()),
            b"major" => self.major = Some(number(value)?),
            b"minor" => self.minor = Some(number(value)?),
            b"size" | b"realsize" => self.size = Some(number(value)?),
            b"numblocks" => self.entries = Some(number(value)?),
            // In version 0.0, both keys occur once for each entry.
            b"offset" if !in_entry => self.map.push(number(value)?),
            b"numbytes" if in_entry => self.map.push(number(value)?),
            b"offset" | b"numbytes" => return None,
            b"map" => {
                self.map = value.split(|byte| *byte == b',').map(number).collect::<Option<_>>()?;
            }
            _ => {}
        }
        Some(())
    }

    /// The file including its holes. `data` is its content in the archive; `meter` counts the holes.
    ///
    /// # Errors
    /// Returns the reason if the map does not fit this file.
    pub(super) fn expanded<'d>(
        self,
        mut data: Part<'d>,
        meter: &'d Meter,
    ) -> Result<Expanded<'d>, String> {
        let map = match (self.major, self.minor) {
            _ if self.damaged => return Err(NO_MAP.to_owned()),
            (None, None) => self.map,
            (Some(1), Some(0)) => read_map(&mut data)?,
            _ => return Err("it is a sparse file in an unknown format".to_owned()),
        };
        let size = self.size.ok_or("the size of the sparse file is not recorded")?;
        let parts = parts(&map, size)?;
        if let Some(stated) = self.entries.filter(|stated| *stated != parts.len() as u64) {
            return Err(format!(
                "its sparse map has {}, but its header states {}",
                counted_entries(parts.len() as u64),
                grouped(stated)
            ));
        }
        let mapped = parts.iter().map(|part| part.end - part.start).fold(0, u64::saturating_add);
        let stored = data.left();
        if mapped != stored {
            return Err(format!(
                "its sparse map has {} of data, but the archive has {}",
                counted(mapped, "byte"),
                grouped(stored)
            ));
        }
        Ok(Expanded { data, parts: parts.into_iter().peekable(), position: 0, size, meter })
    }
}

fn counted_entries(number: u64) -> String {
    let entries = if number == 1 { "entry" } else { "entries" };
    format!("{} {entries}", grouped(number))
}

const NO_MAP: &str = "its sparse map is not a list of offsets and sizes";

/// The map that precedes the data (1.0): a line with the number of entries, then one line each for the offset and size
/// of every entry, padded to a multiple of [`BLOCK`].
fn read_map(data: &mut Part<'_>) -> Result<Vec<u64>, String> {
    let (mut line, mut numbers, mut wanted) = (Vec::new(), Vec::new(), None);
    for _ in 0..HEADERS / BLOCK as u64 {
        let mut block = [0; BLOCK];
        let block = fill(data, &mut block).map_err(|error| plain_error(&error))?;
        if block.is_empty() {
            return Err("its sparse map is truncated".to_owned());
        }
        for byte in block {
            if *byte != b'\n' {
                line.push(*byte);
                continue;
            }
            let number = number(&line).ok_or(NO_MAP)?;
            line.clear();
            match wanted {
                None => wanted = Some(number.saturating_mul(2)),
                Some(_) => numbers.push(number),
            }
            if wanted == Some(numbers.len() as u64) {
                return Ok(numbers);
            }
        }
    }
    Err(format!("its sparse map is longer than {} MiB", HEADERS >> 20))
}

/// The parts of a file of `size` bytes that contain data, in ascending order and without overlap.
fn parts(map: &[u64], size: u64) -> Result<Vec<Range<u64>>, String> {
    let (entries, rest) = map.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(NO_MAP.to_owned());
    }
    let mut before = 0;
    let part = |[offset, length]: &[u64; 2]| {
        if *offset < before {
            return Err(format!("its sparse map has data at {offset} after data up to {before}"));
        }
        let end = offset.checked_add(*length).filter(|end| *end <= size);
        before = end.ok_or_else(|| format!("its sparse map extends past its {size} bytes"))?;
        Ok(*offset..before)
    };
    entries.iter().map(part).collect()
}

fn number(digits: &[u8]) -> Option<u64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// The content of a sparse file including its holes.
pub(super) struct Expanded<'d> {
    data: Part<'d>,
    /// The parts of the file that `data` contains.
    parts: Peekable<IntoIter<Range<u64>>>,
    position: u64,
    size: u64,
    meter: &'d Meter,
}

impl Read for Expanded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.parts.next_if(|part| part.end <= self.position).is_some() {}
        let (is_data, end) = match self.parts.peek() {
            Some(part) if part.start <= self.position => (true, part.end),
            Some(part) => (false, part.start),
            None => (false, self.size),
        };
        let left = usize::try_from(end.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let buffer = buffer.get_mut(..length).unwrap_or_default();
        let read = match is_data {
            true => self.data.read(buffer)?,
            false if length == 0 => 0,
            false => {
                self.meter.count(length)?;
                buffer.fill(0);
                length
            }
        };
        self.position = self.position.saturating_add(read as u64);
        Ok(read)
    }
}
