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
        Some((u64::from_le_bytes(words), SoundRows::kind(row.info, layout)))
    }

    /// The info byte also determines the number of bytes of words.
    #[inline]
    fn kind(info: RowInfo, layout: &RowLayout) -> u16 {
        u16::from(info.0) | u16::from(layout.flexible) << 8
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
    pub(crate) fn contains_short(&self, row: &ShortRow<'_>, layout: &RowLayout) -> bool {
        let key = (row.packed_words(), SoundRows::kind(row.info, layout));
        self.known.get(SoundRows::slot(key)) == Some(&key)
    }

    pub(crate) fn insert(&mut self, row: &FrameRowEntry<'_>, layout: &RowLayout) {
        let Some(key) = SoundRows::key(row, layout) else { return };
        if let Some(slot) = self.known.get_mut(SoundRows::slot(key)) {
            *slot = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::SoundRows;
    use crate::section::{Placement, RowLayout, Section};

    /// Reads a section (version 2, AMD64) whose function has rows of these info bytes and words.
    fn with_rows(rows: &[(u8, &[u8])], run: impl FnOnce(&Section<'_>)) {
        let count = u8::try_from(rows.len()).expect("few");
        let mut bytes = vec![0xe2, 0xde, 2, 0, 3, 0, 0xf8, 0, 1, 0, 0, 0, count, 0, 0, 0];
        // 4096 bytes of rows are more than the section has. The rows are 20 bytes after the header.
        bytes.extend([0, 16, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0]);
        bytes.extend([0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, count, 0, 0, 0, 0, 0, 0, 0]);
        for (info, words) in rows {
            bytes.extend([0, *info]);
            bytes.extend(*words);
        }
        // Short rows are recognised only if more bytes follow them.
        bytes.extend([0; 16]);
        run(&Section::parse(&bytes, Placement::at(0)).expect("a header"));
    }

    #[test]
    fn only_what_was_inserted_is_contained() {
        // Equal words with different info bytes, an equal info byte with different words, and equal bytes as words of different sizes.
        let rows: [(u8, &[u8]); 9] = [
            (0x00, &[]),
            (0x01, &[]),
            (0x03, &[8]),
            (0x02, &[8]),
            (0x03, &[16]),
            (0x05, &[8, 0]),
            (0x23, &[8, 0]),
            (0x0b, &[8, 0, 0, 0, 1]),
            (0x11, &[1, 2, 3, 4, 5, 6, 7, 8]),
        ];
        with_rows(&rows, |section| {
            let function = section.functions().next().expect("one").expect("readable");
            let layout = RowLayout::of(&function).expect("known");
            let other = RowLayout { flexible: true, ..layout };
            let entries = || function.frame_row_entries().expect("known");
            for (number, inserted) in entries().enumerate() {
                let mut sound = SoundRows::new();
                assert!(!sound.contains(&inserted.expect("readable"), &layout));
                sound.insert(&inserted.expect("readable"), &layout);
                let mut all = entries();
                for index in 0..rows.len() {
                    let short = all.short().expect("short");
                    let row = all.next().expect("one more").expect("readable");
                    let is_it = index == number;
                    assert_eq!(sound.contains(&row, &layout), is_it, "{index} {number}");
                    assert_eq!(sound.contains_short(&short, &layout), is_it, "{index} {number}");
                    assert!(!sound.contains(&row, &other) && !sound.contains_short(&short, &other));
                }
            }
        });
    }

    #[test]
    fn long_rows_are_not_remembered() {
        with_rows(&[(0x13, &[1, 2, 3, 4, 5, 6, 7, 8, 9])], |section| {
            let function = section.functions().next().expect("one").expect("readable");
            let layout = RowLayout::of(&function).expect("known");
            let row = function.frame_row_entries().expect("known").next();
            let row = row.expect("one").expect("readable");
            let mut sound = SoundRows::new();
            sound.insert(&row, &layout);
            assert!(!sound.contains(&row, &layout));
        });
    }

    /// Otherwise, the check would be slower than it has to be.
    #[test]
    fn the_rows_of_a_section_are_remembered_together() {
        let words: vec::Vec<[u8; 2]> = (1..=100).map(|number| [number * 2, 0xf0]).collect();
        let rows: vec::Vec<(u8, &[u8])> = words.iter().map(|words| (0x05, &words[..])).collect();
        with_rows(&rows, |section| {
            let function = section.functions().next().expect("one").expect("readable");
            let layout = RowLayout::of(&function).expect("known");
            let entries = || function.frame_row_entries().expect("known").flatten();
            let mut sound = SoundRows::new();
            entries().for_each(|row| sound.insert(&row, &layout));
            let kept = entries().filter(|row| sound.contains(row, &layout)).count();
            assert!(kept >= 70, "{kept}");
        });
    }
}
