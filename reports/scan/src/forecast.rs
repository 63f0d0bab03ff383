//! What SFrame would cost a file.

use std::cell::Cell;

use sframe_oracle::cfi::{Cfi, section_bytes};
use sframe_record::{Forecast, Predicted};
use sframe_synthesis::Forecaster;
use sframe_validator::Endian;
use sframe_validator::elf::{Elf, ElfKind, SectionHeaders};

use super::elf_file::ElfFile;
use super::not_comparable::CFI_LOST;
use super::options::CheckOptions;
use super::tables::with_tables;
use crate::describe::forecast::{encoding_name, forecast, predicted, unknown};

/// Whether a linked file has no usable section headers.
fn is_bare(elf: &Elf<'_>) -> bool {
    elf.section_headers() != SectionHeaders::Listed
}

/// The forecast for a file, from its own CFI and that of its debug file. None if it has no code or SFrame is not defined
/// for the machine.
pub(super) fn of_file(file: &ElfFile<'_>, options: &CheckOptions) -> Option<Forecast<'static>> {
    let mut made = forecast(file.elf);
    // An assembler describes functions without bytes, too.
    let has_cfi = file.elf.kind() == ElfKind::Relocatable && made.sizes.eh_frame > 0;
    // A file of debug data has the sizes of code that is in another file.
    let is_apart = file.elf.code().next().is_none() && file.elf.missing_code().next().is_none();
    let is_code = (made.sizes.code > 0 && !is_apart) || has_cfi;
    if options.forecast.is_empty() || !is_code || file.elf.abi().is_none() {
        return None;
    }
    made.gc_sections = options.gc_sections && file.elf.kind() != ElfKind::Relocatable;
    with_tables(file.path, file.elf, options, |tables| {
        let all_unknown = |reason: &str| {
            let names = options.forecast.iter().map(|&encoding| encoding_name(encoding).into());
            names.map(|name| unknown(name, reason)).collect()
        };
        made.sections = match tables.get() {
            Ok([]) if is_bare(file.elf) => all_unknown(CFI_LOST),
            Ok(cfi) => {
                made.without_cfi =
                    u64::from(cfi.iter().all(|cfi| cfi.functions().next().is_none()));
                sections(file, cfi, options)
            }
            Err(error) => all_unknown(&error.to_string()),
        };
    });
    Some(made)
}

thread_local! {
    /// What a thread remembers from one file to the next.
    static FORECASTER: Cell<Option<Forecaster>> = const { Cell::new(None) };
}

/// A section for each encoding.
fn sections(
    file: &ElfFile<'_>,
    cfi: &[Cfi<'_>],
    options: &CheckOptions,
) -> Vec<Predicted<'static>> {
    let (encodings, gc_sections) = (&options.forecast, options.gc_sections);
    let fits = |earlier: &Forecaster| {
        earlier.encodings() == encodings && earlier.gc_sections() == gc_sections
    };
    let earlier = FORECASTER.take().filter(fits);
    let new = || Forecaster::new(encodings).with_gc_sections(gc_sections);
    let mut forecaster = earlier.unwrap_or_else(new);
    let sections = forecaster.forecast(file.elf, cfi).into_iter().zip(encodings);
    let sections =
        sections.map(|(section, encoding)| predicted(*encoding, section, file.names)).collect();
    FORECASTER.set(Some(forecaster));
    sections
}

/// `version`, `eh_frame_ptr_enc`, `fde_count_enc`, and `table_enc` of `.eh_frame_hdr` as all linkers write them (LSB 5.0,
/// 10.6.2): a pointer relative to its own place, a number, and a table of pairs relative to the section, of 4 bytes each.
const EH_FRAME_HDR: [u8; 4] = [1, 0x1b, 0x03, 0x3b];

/// The number of functions that `.eh_frame_hdr` lists; 0 if there is none, or if it is damaged.
pub(super) fn functions_with_cfi(elf: &Elf<'_>) -> u64 {
    let named = elf.sections().iter().find(|section| section.name.bytes() == b".eh_frame_hdr");
    let header = named.and_then(|section| section_bytes(elf, section, section.size).ok());
    let Some(header) = header else { return 0 };
    let count = header.get(8..12).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
    let count = u64::from(match elf.endian() {
        Endian::Little => u32::from_le_bytes(count),
        Endian::Big => u32::from_be_bytes(count),
    });
    let entries = header.len().saturating_sub(12) / 8;
    if header.starts_with(&EH_FRAME_HDR) && count <= entries as u64 { count } else { 0 }
}
