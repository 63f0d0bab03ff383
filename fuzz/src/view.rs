//! A section as readers see it: the row of every PC, independent of how the section is stored.

use std::collections::BTreeSet;

use sframe_validator::Section;
use sframe_validator::section::Error;
use sframe_validator::unwind::{CodeAddress, Frame};

/// A reader's result for one PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// There is no function or no row.
    Nothing,
    /// There is a row.
    Row {
        /// The row's frame.
        frame: Frame,
        /// Whether the function is a signal frame.
        signal: bool,
        /// Whether the return address is signed with the B key.
        key_b: bool,
    },
    /// The row cannot be read.
    Unreadable,
}

/// The reader's result for `pc`.
#[must_use]
pub fn at(section: &Section<'_>, pc: u64) -> Seen {
    let found = || -> Result<Option<Seen>, Error> {
        let Some(function) = section.find_function(CodeAddress::absolute(pc))? else {
            return Ok(None);
        };
        let Some(row) = function.find_row(pc)? else { return Ok(None) };
        let key_b = row.frame.ra_signed && function.attributes().info.pauth_key_b();
        Ok(Some(Seen::Row { frame: row.frame, signal: function.is_signal_frame(), key_b }))
    };
    match found() {
        Ok(seen) => seen.unwrap_or(Seen::Nothing),
        Err(_) => Seen::Unreadable,
    }
}

/// The maximum number of blocks to examine one by one in a function whose rows repeat.
const MOST_BLOCKS: u64 = 0x1000;

/// The PCs at which a section's results may change. Between them, results are constant.
#[must_use]
pub fn edges(section: &Section<'_>) -> BTreeSet<u64> {
    let mut edges = BTreeSet::from([0]);
    for entry in section.entries() {
        let Ok(start) = entry.start() else { continue };
        let (start, size) = (start.address, u64::from(entry.size()));
        edges.extend([start, start.wrapping_add(size)]);
        let Ok(function) = entry.function() else { continue };
        let block = function.repeat_size().ok().flatten().map_or(size.max(1), u64::from);
        let blocks = (size / block).min(MOST_BLOCKS);
        let Ok(rows) = function.frame_row_entries() else { continue };
        for row in rows.map_while(Result::ok) {
            let first = start.wrapping_add(row.start.into());
            edges.extend((0..=blocks).map(|number| first.wrapping_add(number * block)));
        }
        edges.extend((0..=blocks).map(|number| start.wrapping_add(number * block)));
    }
    edges
}

/// The PCs from which on the sections differ, in order, with the results of both.
#[must_use]
pub fn differences(a: &Section<'_>, b: &Section<'_>) -> Vec<(u64, Seen, Seen)> {
    let mut edges = edges(a);
    edges.append(&mut self::edges(b));
    let both = |pc| (pc, at(a, pc), at(b, pc));
    edges.into_iter().map(both).filter(|(_, a, b)| a != b).collect()
}
