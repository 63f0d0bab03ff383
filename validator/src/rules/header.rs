//! The section's first bytes, before it is known whether they are a header, and the header's fields.

mod abi_endian;
mod auxiliary_header;
mod auxiliary_header_outside;
mod bad_magic;
mod fixed_fp_offset;
mod fixed_ra_offset;
mod foreign_endian;
mod frame_pointer_claim;
mod frame_pointer_flag;
mod no_functions;
mod no_rows;
mod obsolete_version;
mod pcrel_flag_clear;
mod pcrel_flag_missing;
mod reserved_flags;
mod section_empty;
mod section_truncated;
mod sorted_object;
mod unknown_abi;
mod unknown_version;
mod unsorted_linked;

use super::entry::{Check, Entry};
use crate::abi::Endian;

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&section_empty::RULE, Check::Preamble(section_empty::check)),
    Entry::new(&section_truncated::RULE, Check::Preamble(section_truncated::check)),
    Entry::new(&bad_magic::RULE, Check::Preamble(bad_magic::check)),
    Entry::new(&foreign_endian::RULE, Check::Preamble(foreign_endian::check)),
    Entry::new(&unknown_version::RULE, Check::Preamble(unknown_version::check)),
    Entry::new(&obsolete_version::RULE, Check::Section(obsolete_version::check)),
    Entry::new(&reserved_flags::RULE, Check::Section(reserved_flags::check)),
    Entry::new(&frame_pointer_flag::RULE, Check::Section(frame_pointer_flag::check)),
    Entry::new(&frame_pointer_claim::RULE, Check::Section(frame_pointer_claim::check)),
    Entry::new(&unsorted_linked::RULE, Check::Section(unsorted_linked::check)),
    Entry::new(&sorted_object::RULE, Check::Section(sorted_object::check)),
    Entry::new(&pcrel_flag_missing::RULE, Check::Section(pcrel_flag_missing::check)),
    Entry::new(&pcrel_flag_clear::RULE, Check::Section(pcrel_flag_clear::check)),
    Entry::new(&unknown_abi::RULE, Check::Layout(unknown_abi::check)),
    Entry::new(&abi_endian::RULE, Check::Section(abi_endian::check)),
    Entry::new(&fixed_ra_offset::RULE, Check::Layout(fixed_ra_offset::check)),
    Entry::new(&fixed_fp_offset::RULE, Check::Layout(fixed_fp_offset::check)),
    Entry::new(&auxiliary_header::RULE, Check::Section(auxiliary_header::check)),
    Entry::new(&auxiliary_header_outside::RULE, Check::Layout(auxiliary_header_outside::check)),
    Entry::new(&no_functions::RULE, Check::Section(no_functions::check)),
    Entry::new(&no_rows::RULE, Check::Section(no_rows::check)),
];

/// The magic number in a byte order; `None` if there are fewer than 2 bytes.
fn magic(data: &[u8], endian: Endian) -> Option<u16> {
    let bytes = data.first_chunk::<2>()?;
    Some(match endian {
        Endian::Little => u16::from_le_bytes(*bytes),
        Endian::Big => u16::from_be_bytes(*bytes),
    })
}
