//! Remembers the contents of rows that broke no rule.

use alloc::vec::Vec;

use crate::section::{FrameRowEntry, RowInfo, RowLayout, ShortRow};

/// Rows whose content broke no rule, by info byte and data words. An entry may be overwritten by another. Its row is
/// then checked again, but a row that was never found sound is never skipped.
pub(crate) struct SoundRows {
    known: Vec<(u64, u16)>,
}

impl SoundRows {
    /// A power of two. Real sections have a few hundred different rows.
    const SLOTS: usize = 512;
    /// No row has this key: the low byte of a key is an info byte, and bit 8 marks flexible rows.
    const NONE: (u64, u16) = (0, u16::MAX);

    pub(crate) fn new() -> SoundRows {
        SoundRows { known: alloc::vec![SoundRows::NONE; SoundRows::SLOTS] }
    }

    /// A key that rows with equal content share; `None` for rows that are too long to remember.
    #[inline]
    fn key(row: &FrameRowEntry<'_>, layout: &RowLayout) -> Option<(u64, u16)> {
        let mut words = [0; 8];
        words.get_mut(..row.words.bytes().len())?.copy_from_slice(row.words.bytes());
        Some((u64::from_le_bytes(words), SoundRows::kind(row.info, layout.flexible)))
    }

    /// The info byte also determines the number of bytes of words.
    #[inline]
    fn kind(info: RowInfo, flexible: bool) -> u16 {
        u16::from(info.0) | u16::from(flexible) << 8
    }

    #[inline]
    fn slot(key: (u64, u16)) -> usize {
        let mixed = (key.0 ^ u64::from(key.1) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(mixed >> 55).unwrap_or(0)
    }

    pub(crate) fn contains(&self, row: &FrameRowEntry<'_>, layout: &RowLayout) -> bool {
        SoundRows::key(row, layout)
            .is_some_and(|key| self.known.get(SoundRows::slot(key)) == Some(&key))
    }

    #[inline]
    pub(crate) fn contains_short(&self, row: &ShortRow<'_>, flexible: bool) -> bool {
        let key = (row.packed_words(), SoundRows::kind(row.info, flexible));
        self.known.get(SoundRows::slot(key)) == Some(&key)
    }

    pub(crate) fn insert(&mut self, row: &FrameRowEntry<'_>, layout: &RowLayout) {
        let Some(key) = SoundRows::key(row, layout) else { return };
        if let Some(slot) = self.known.get_mut(SoundRows::slot(key)) {
            *slot = key;
        }
    }
}
