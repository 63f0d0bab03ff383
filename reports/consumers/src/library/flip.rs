//! Sections of the other byte order: the library changes a copy in place, function by function, and counts.

use super::{Release, sane, words_length};
use crate::answer::Stop;
use crate::bytes::Bytes;
use crate::header::Header;
use crate::rows::{SPENT, Work};
use sframe_validator::Endian;

/// The library writes its own memory after the copy.
const BEYOND: Stop = Stop::undecided("it writes its own memory after a copied section");
const BAD: Stop = Stop::error("the functions, rows and sizes of the section do not add up");

/// The section in the byte order of the host.
pub(super) fn flip(section: &[u8], release: Release) -> Result<Vec<u8>, Stop> {
    let mut copy = Copy { bytes: section.to_vec(), work: Work::of(section.len()), release };
    for (at, width) in [(0, 2), (8, 4), (12, 4), (16, 4), (20, 4), (24, 4)] {
        copy.swap(at, width)?;
    }
    let header = Header::read(copy.read())?;
    if release.uses_offsets && header.auxiliary != 0 {
        return Err(Stop::error("there is an auxiliary header in the other byte order"));
    }
    sane(&header, release)?;
    if release.uses_offsets && header.version < 2 {
        return Err(Stop::error("the version is not read"));
    }
    copy.functions(&header)?;
    Ok(copy.bytes)
}

struct Copy {
    bytes: Vec<u8>,
    work: Work,
    release: Release,
}

/// What was changed so far.
#[derive(Default)]
struct Done {
    table: i64,
    rows: i64,
    count: u32,
}

impl Copy {
    fn read(&self) -> Bytes<'_> {
        Bytes::new(&self.bytes, Endian::Little)
    }

    fn length(&self) -> i64 {
        self.read().len()
    }

    fn swap(&mut self, at: i64, width: usize) -> Result<(), Stop> {
        let at = usize::try_from(at).map_err(|_| BEYOND)?;
        let end = at.checked_add(width).ok_or(BEYOND)?;
        self.bytes.get_mut(at..end).ok_or(BEYOND)?.reverse();
        Ok(())
    }

    fn functions(&mut self, header: &Header) -> Result<(), Stop> {
        let release = self.release;
        let entry = (release.entry)(header.version);
        let mut done = Done::default();
        for index in 0..header.functions {
            let at = header.functions_at() + i64::from(index) * entry;
            if at >= self.length() || (release.uses_offsets && at + entry > self.length()) {
                return Err(BAD);
            }
            let start_width = if header.version == 3 { 8 } else { 4 };
            self.swap(at, start_width)?;
            let rest = at + if header.version == 3 { 8 } else { 4 };
            self.swap(rest, 4)?;
            self.swap(rest + 4, 4)?;
            done.table += entry;
            let rows_at =
                header.rows_at() + i64::from(self.read().u32(rest + 4).map_err(|_| BEYOND)?);
            if header.version == 3 {
                self.block(&mut done, rows_at)?;
            } else {
                self.swap(rest + 8, 4)?;
                let count = self.read().u32(rest + 8).map_err(|_| BEYOND)?;
                let info = self.read().u8(rest + 12).map_err(|_| BEYOND)?;
                self.rows(&mut done, rows_at, count, info)?;
            }
        }
        self.totals(header, &done)
    }

    /// The attributes before the rows of version 3.
    fn block(&mut self, done: &mut Done, at: i64) -> Result<(), Stop> {
        if at <= self.length() && at + 5 > self.length() {
            return Err(BAD);
        }
        self.swap(at, 2)?;
        done.rows += 5;
        let count = self.read().u16(at).map_err(|_| BEYOND)?;
        let info = self.read().u8(at + 2).map_err(|_| BEYOND)?;
        self.checked_rows(done, at + 5, u32::from(count), info)
    }

    fn rows(&mut self, done: &mut Done, at: i64, count: u32, info: u8) -> Result<(), Stop> {
        if self.release.uses_offsets {
            return self.checked_rows(done, at, count, info);
        }
        let (end, mut at) = (done.count.wrapping_add(count), at);
        while done.count < end {
            let size = self.row(at, info)?;
            done.table += size;
            if size > self.length() {
                return Err(BAD);
            }
            at += size;
            done.count += 1;
        }
        Ok(())
    }

    /// Since 2.46, rows must end before the section does.
    fn checked_rows(&mut self, done: &mut Done, at: i64, count: u32, info: u8) -> Result<(), Stop> {
        let (end, mut at) = (done.count.wrapping_add(count), at);
        while done.count < end {
            let width = 1i64 << (info & 0xf).min(3);
            if info & 0xf <= 2 && at <= self.length() {
                let words = at + width + 1;
                let has_info = words <= self.length();
                let words_at = has_info.then(|| self.read().u8(words - 1)).transpose()?;
                let whole =
                    words_at.is_some_and(|info| words + words_length(info) <= self.length());
                if !whole {
                    return Err(BAD);
                }
            }
            let size = self.row(at, info)?;
            done.rows += size;
            at += size;
            done.count += 1;
        }
        Ok(())
    }

    /// Changes a row, and returns its size.
    fn row(&mut self, at: i64, info: u8) -> Result<i64, Stop> {
        if !self.work.take() {
            return Err(SPENT);
        }
        let width = match info & 0xf {
            code @ 0..=2 => 1i64 << code,
            _ => return Err(Stop::crash("an assertion fails: the rows have an unknown type")),
        };
        match width {
            2 => self.swap(at, 2)?,
            4 => self.swap(at, 4)?,
            _ => {}
        }
        let words = at + width + 1;
        let info = self.read().u8(words - 1).map_err(|_| BEYOND)?;
        let size = match (info >> 5) & 3 {
            1 => 2,
            2 => 4,
            _ => 1,
        };
        if size > 1 {
            for index in 0..i64::from((info >> 1) & 0xf) {
                let width = if size == 2 { 2 } else { 4 };
                self.swap(words + index * size, width)?;
            }
        }
        Ok(width + 1 + words_length(info))
    }

    fn totals(&self, header: &Header, done: &Done) -> Result<(), Stop> {
        if done.count != header.rows {
            return Err(BAD);
        }
        if !self.release.uses_offsets {
            let whole = done.table == self.length() - header.size();
            return if whole { Ok(()) } else { Err(BAD) };
        }
        let between = i64::from(header.row_offset) - i64::from(header.function_offset);
        if done.table > between || done.rows > i64::from(header.rows_length) {
            return Err(BAD);
        }
        let end = usize::try_from(header.rows_at() + done.rows).unwrap_or(usize::MAX);
        let padding = self.bytes.get(end..).unwrap_or_default();
        if padding.iter().any(|byte| *byte != 0) {
            return Err(Stop::error("the section ends with bytes that are not zero"));
        }
        Ok(())
    }
}
