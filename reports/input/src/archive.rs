//! Archives (`.a`): their members and the files that thin archives refer to, in the System V, GNU and BSD formats
//! (ar(5)).
//!
//! Names are borrowed, and at most [`NAME`] bytes of the archive are read for each: many members may refer to the same
//! entry in the table of names.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sframe_record::text::path_of;

use crate::members::{ExceededLimit, MemberCount, NAME};

/// The first bytes of a regular archive and of a thin archive.
const MAGICS: [&[u8; 8]; 2] = [b"!<arch>\n", b"!<thin>\n"];
/// A member's header: name, date, owner, group, mode, size and [`HEADER_END`], all of them text.
const HEADER: usize = 60;
/// Position of the size field in a member header.
const SIZE: Range<usize> = 48..58;
const HEADER_END: &[u8] = b"`\n";
/// The table of names that do not fit into headers.
const NAMES: &[u8] = b"//";
/// Tables of symbols: GNU's, COFF's and BSD's.
const SYMBOLS: [&[u8]; 7] = [
    b"/",
    b"/SYM64/",
    b"/<ECSYMBOLS>/",
    b"__.SYMDEF",
    b"__.SYMDEF SORTED",
    b"__.SYMDEF_64",
    b"__.SYMDEF_64 SORTED",
];
const LONG_NAME: &str = "its name is longer than 4096 bytes";

/// One member of an archive.
#[derive(Debug)]
pub struct Member<'a> {
    /// The name's bytes, as stored; the first [`NAME`] of them.
    pub name: &'a [u8],
    /// Where its bytes are.
    pub content: Content<'a>,
    /// Offset of its bytes in the archive, if that is where they are.
    pub start: u64,
}

/// The location of a member's bytes.
#[derive(Debug)]
pub enum Content<'a> {
    /// The bytes are in the archive.
    Bytes(&'a [u8]),
    /// The bytes are in a separate file that a thin archive refers to: see [`named_file`].
    File(&'a Path),
    /// The bytes cannot be located.
    Damaged(Damage),
}

/// Why a member's bytes cannot be located.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Its end is missing.
    Truncated,
    /// Its name is damaged; contains what is wrong with it.
    Name(&'static str),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Damage::Truncated => "it extends past the end of the archive",
            Damage::Name(why) => why,
        })
    }
}

/// Why no further member of an archive can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveError {
    /// There is no member header at this offset.
    NoHeader(usize),
    /// The size of the member at this offset is not a number.
    Size(usize),
    /// The table of names is truncated.
    TruncatedNames,
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::NoHeader(place) => {
                write!(f, "there is no member header at offset {place:#x}")
            }
            ArchiveError::Size(place) => {
                write!(f, "the size of the member at {place:#x} is not a number")
            }
            ArchiveError::TruncatedNames => f.write_str("its table of names is truncated"),
        }
    }
}

impl std::error::Error for ArchiveError {}

/// Whether `data` starts with the magic number of an archive.
#[must_use]
pub fn is_archive(data: &[u8]) -> bool {
    MAGICS.iter().any(|magic| data.starts_with(*magic))
}

/// The path of `member` of the thin archive at `archive`: member paths are relative to the archive's folder.
#[must_use]
pub fn named_file(archive: &Path, member: &Path) -> PathBuf {
    archive.parent().unwrap_or(Path::new("")).join(member)
}

/// The members of an archive in stored order, without its tables of symbols and names. A member that cannot be read is
/// [`Content::Damaged`]. An error says why no further member can be found, and is the last item.
#[derive(Debug)]
pub struct Members<'a> {
    data: &'a [u8],
    /// Offset of the next header.
    place: usize,
    names: &'a [u8],
    thin: bool,
    /// Only symbol and name tables have been read so far.
    at_tables: bool,
    count: &'a mut MemberCount,
    /// Length in bytes of the archive's own name, which is stored with the name of each member.
    own_name: usize,
}

/// The members of the archive `data`. Each is added to `count`, and iteration stops at its limits.
pub fn members<'a>(data: &'a [u8], count: &'a mut MemberCount) -> Members<'a> {
    Members::of(data, count, 0)
}

impl<'a> Members<'a> {
    /// Starts at the first member of an archive whose own name has `own_name` bytes.
    pub(crate) fn of(data: &'a [u8], count: &'a mut MemberCount, own_name: usize) -> Members<'a> {
        let [plain, thin] = MAGICS;
        let (place, names) = (plain.len(), [].as_slice());
        Members {
            data,
            place,
            names,
            thin: data.starts_with(thin),
            at_tables: true,
            count,
            own_name,
        }
    }

    /// The bytes of the whole archive.
    #[must_use]
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The limit that ended the iteration early, if there was one.
    #[must_use]
    pub fn reached(&self) -> Option<ExceededLimit> {
        self.count.reached()
    }

    /// The next member that is not a table.
    fn read(&mut self) -> Result<Option<Member<'a>>, ArchiveError> {
        loop {
            let Some(header) = Header::read(self.data, self.place)? else { return Ok(None) };
            let start = self.place.saturating_add(HEADER);
            let stored = self.data.get(start..).unwrap_or_default();
            let own = stored.get(..header.size).unwrap_or(stored);
            let (name, taken) = self.name(header.name, own);
            let is_names = self.at_tables && name == Ok(NAMES);
            let is_symbols = self.at_tables && name.is_ok_and(|name| SYMBOLS.contains(&name));
            let is_table = is_names || is_symbols;
            // A thin archive contains only its tables.
            let size = if self.thin && !is_table { 0 } else { header.size };
            // Members start at even offsets.
            self.place = start.saturating_add(size).saturating_add(size % 2);
            let bytes = stored.get(taken..size);
            if is_table {
                if is_names {
                    self.names = bytes.ok_or(ArchiveError::TruncatedNames)?;
                }
                continue;
            }
            self.at_tables = false;
            return Ok(Some(self.member(header.name, name, bytes, start.saturating_add(taken))));
        }
    }

    fn member(
        &self,
        short: &'a [u8],
        name: Result<&'a [u8], &'static str>,
        bytes: Option<&'a [u8]>,
        start: usize,
    ) -> Member<'a> {
        let content = match (name, bytes) {
            (Err(why), _) => Content::Damaged(Damage::Name(why)),
            // A truncated path would name a different file.
            (Ok(name), _) if self.thin && name.len() == NAME => {
                Content::Damaged(Damage::Name(LONG_NAME))
            }
            (Ok(name), _) if self.thin => Content::File(path_of(name)),
            (Ok(_), Some(bytes)) => Content::Bytes(bytes),
            (Ok(_), None) => Content::Damaged(Damage::Truncated),
        };
        Member { name: name.unwrap_or(short.trim_ascii_end()), content, start: start as u64 }
    }

    /// The name of a member whose header has the name field `short`, and how many of its `own` bytes belong to the name
    /// (BSD).
    fn name(&self, short: &'a [u8], own: &'a [u8]) -> (Result<&'a [u8], &'static str>, usize) {
        match short {
            [b'/', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
                (self.name_in_table(digits).ok_or("its name is not in the table of names"), 0)
            }
            [b'#', b'1', b'/', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
                let name = number(digits).and_then(|length| own.get(..length));
                let text =
                    name.map(|name| cut(name.split(|byte| *byte == 0).next().unwrap_or(name)));
                (text.ok_or("its bytes end before its name does"), name.map_or(0, <[u8]>::len))
            }
            [b'/', ..] => (Ok(until(short, b' ')), 0),
            // A slash ends a name that contains spaces.
            _ if short.contains(&b'/') => (Ok(until(short, b'/')), 0),
            _ => (Ok(until(short, b' ')), 0),
        }
    }

    /// The name at an offset in the table of names: GNU ends names with a slash and a line feed, COFF with a NUL.
    fn name_in_table(&self, digits: &[u8]) -> Option<&'a [u8]> {
        let rest = self.names.get(number(digits)?..)?;
        let near = rest.get(..NAME.saturating_add(2)).unwrap_or(rest);
        match near.iter().position(|byte| matches!(byte, b'\n' | 0)) {
            Some(end) if near.get(end) == Some(&b'\n') => {
                Some(cut(near.get(..end)?.strip_suffix(b"/")?))
            }
            Some(end) => Some(cut(near.get(..end)?)),
            None => near.get(..NAME),
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.read().transpose()?;
        let counted = match &item {
            Ok(member) => self.count.add(self.own_name.saturating_add(member.name.len())),
            Err(_) => true,
        };
        if item.is_err() || !counted {
            self.place = usize::MAX;
        }
        counted.then_some(item)
    }
}

/// The relevant fields of a member header.
struct Header<'a> {
    name: &'a [u8],
    size: usize,
}

impl<'a> Header<'a> {
    /// The header at offset `place`; `None` at the end of the archive.
    fn read(data: &'a [u8], place: usize) -> Result<Option<Header<'a>>, ArchiveError> {
        let rest = data.get(place..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let header = rest.get(..HEADER).filter(|header| header.ends_with(HEADER_END));
        let header = header.ok_or(ArchiveError::NoHeader(place))?;
        let size = header.get(SIZE).and_then(number).ok_or(ArchiveError::Size(place))?;
        Ok(Some(Header { name: header.get(..16).unwrap_or_default(), size }))
    }
}

/// A decimal number, padded with spaces.
fn number(digits: &[u8]) -> Option<usize> {
    let digits = digits.trim_ascii_end();
    let plain = digits.iter().all(u8::is_ascii_digit);
    plain.then(|| str::from_utf8(digits).ok()?.parse().ok())?
}

fn until(text: &[u8], end: u8) -> &[u8] {
    text.split(|byte| *byte == end).next().unwrap_or(text)
}

fn cut(name: &[u8]) -> &[u8] {
    name.get(..NAME).unwrap_or(name)
}

#[cfg(test)]
mod tests;
