//! The content of rows: the number and size of data words, and the places that they give for the CFA and the slots of
//! RA and FP.

mod cfa_alignment;
mod cfa_offset_huge;
mod cfa_offset_low;
mod confirmed_oddity;
mod flex_base_bit;
mod flex_cfa_base;
mod flex_control_reserved;
mod flex_layout;
mod flex_needless;
mod flex_not_loaded;
mod flex_register;
mod flex_sp_loaded;
mod flex_unused_register;
mod flex_word_count;
mod fp_lost;
mod fp_slot_elsewhere;
mod frame_record_split;
mod mangled_ra;
mod outermost_info;
mod pauth_key_unused;
mod ra_padding_unneeded;
mod ra_without_fp;
mod register_in_default_row;
mod register_number;
mod slot_alignment;
mod slot_outside_frame;
mod word_count;
mod word_count_zero;
mod word_size_wide;

use core::fmt;

use super::entry::{Check, Entry};
use crate::section::Control;
use crate::subject::RowContext;
use crate::unwind::{Cfa, Recovery};

pub(crate) use confirmed_oddity::RULE as CONFIRMED_ODDITY;

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&word_count::RULE, Check::RowContent(word_count::check)),
    Entry::new(&word_count_zero::RULE, Check::RowContent(word_count_zero::check)),
    Entry::new(&outermost_info::RULE, Check::RowContent(outermost_info::check)),
    Entry::new(&word_size_wide::RULE, Check::RowContent(word_size_wide::check)),
    Entry::new(&mangled_ra::RULE, Check::RowContent(mangled_ra::check)),
    Entry::new(&ra_padding_unneeded::RULE, Check::RowContent(ra_padding_unneeded::check)),
    Entry::new(&ra_without_fp::RULE, Check::RowContent(ra_without_fp::check)),
    Entry::new(&register_in_default_row::RULE, Check::RowContent(register_in_default_row::check)),
    Entry::new(&register_number::RULE, Check::RowContent(register_number::check)),
    Entry::new(&cfa_offset_low::RULE, Check::RowValues(cfa_offset_low::check)),
    Entry::new(&cfa_alignment::RULE, Check::RowValues(cfa_alignment::check)),
    Entry::new(&cfa_offset_huge::RULE, Check::RowContent(cfa_offset_huge::check)),
    Entry::new(&slot_alignment::RULE, Check::RowValues(slot_alignment::check)),
    Entry::new(&slot_outside_frame::RULE, Check::RowValues(slot_outside_frame::check)),
    Entry::new(&fp_lost::RULE, Check::RowValues(fp_lost::check)),
    Entry::new(&frame_record_split::RULE, Check::RowContent(frame_record_split::check)),
    Entry::new(&fp_slot_elsewhere::RULE, Check::RowContent(fp_slot_elsewhere::check)),
    Entry::page(&confirmed_oddity::RULE),
    Entry::new(&flex_word_count::RULE, Check::RowContent(flex_word_count::check)),
    Entry::new(&flex_layout::RULE, Check::RowContent(flex_layout::check)),
    Entry::new(&flex_cfa_base::RULE, Check::RowContent(flex_cfa_base::check)),
    Entry::new(&flex_control_reserved::RULE, Check::RowContent(flex_control_reserved::check)),
    Entry::new(&flex_register::RULE, Check::RowContent(flex_register::check)),
    Entry::new(&flex_unused_register::RULE, Check::RowContent(flex_unused_register::check)),
    Entry::new(&flex_not_loaded::RULE, Check::RowValues(flex_not_loaded::check)),
    Entry::new(&flex_sp_loaded::RULE, Check::RowValues(flex_sp_loaded::check)),
    Entry::new(&flex_base_bit::RULE, Check::RowContent(flex_base_bit::check)),
    Entry::new(&flex_needless::RULE, Check::RowsOf(flex_needless::check)),
    Entry::new(&pauth_key_unused::RULE, Check::RowsOf(pauth_key_unused::check)),
];

/// The control words of a flexible row with a valid layout: for each, what it is for, and its index.
fn controls(row: &RowContext<'_>) -> impl Iterator<Item = (&'static str, usize, Control)> {
    let indices: &[(&str, usize)] = match row.row.words.count() {
        2 => &[("CFA", 0)],
        4 => &[("CFA", 0), ("RA", 2)],
        5 => &[("CFA", 0), ("FP", 3)],
        6 => &[("CFA", 0), ("RA", 2), ("FP", 4)],
        _ => &[],
    };
    let readable = row.layout.flexible && row.frame.is_ok();
    let indices = if readable { indices } else { &[] };
    let words = row.row.words;
    indices
        .iter()
        .filter_map(move |&(name, index)| Some((name, index, Control(words.unsigned(index)?))))
}

/// The row's CFA offset, if the CFA is based on SP.
fn sp_based(row: &RowContext<'_>) -> Option<i64> {
    match row.frame.ok()?.cfa {
        Cfa::RegisterOffset { register, offset } if register == row.layout.abi.sp() => Some(offset),
        _ => None,
    }
}

/// The stack slots of RA and FP that have a data word: the name, the index of the word, and the offset from the CFA.
fn slots(row: &RowContext<'_>) -> impl Iterator<Item = (&'static str, usize, i64)> {
    let tracked = row.layout.fixed_ra == 0;
    // The words that contain the offsets. In flexible rows, each follows its control word.
    let (ra_word, fp_word) = match (row.layout.flexible, row.row.words.count()) {
        (false, _) => (tracked.then_some(1), Some(1 + usize::from(tracked))),
        (true, 4) => (Some(3), None),
        (true, 5) => (None, Some(4)),
        (true, 6) => (Some(3), Some(5)),
        (true, _) => (None, None),
    };
    let slot = |name, word: Option<usize>, recovery| match recovery {
        Recovery::AtCfa(offset) => Some((name, word?, offset)),
        _ => None,
    };
    let frame = row.frame.ok();
    let ra = frame.and_then(|frame| slot("RA", ra_word, frame.ra));
    let fp = frame.and_then(|frame| slot("FP", fp_word, frame.fp));
    ra.into_iter().chain(fp)
}

/// A number of data words, as text for people.
struct WordCount(u8);

impl fmt::Display for WordCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} data word{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}
