//! Converts bytes to a stored section.

use alloc::vec::Vec;

use super::{StoredFunction, StoredRow, StoredSection};
use crate::section::{Function, HEADER_SIZE, Placement, Section};

impl StoredSection {
    /// Takes apart the section at `address`. [`StoredSection::bytes`] returns the same bytes. Returns `None` if its
    /// parts overlap, or one of them cannot be read.
    #[must_use]
    pub fn read(data: &[u8], address: u64) -> Option<StoredSection> {
        let section = Section::parse(data, Placement::at(address)).ok()?;
        let header = section.header();
        let at = |start: u64, end: u64| {
            let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
            Some(data.get(start..end)?.to_vec())
        };
        let mut stored = StoredSection::new(header.version, section.abi().ok()?);
        stored.endian = section.endian();
        stored.address = address;
        stored.pcrel = header.has_pcrel_starts();
        stored.header.flags = header.flags.0;
        stored.header.abi_arch = header.abi_arch;
        stored.header.cfa_fixed_fp_offset = header.cfa_fixed_fp_offset;
        stored.header.cfa_fixed_ra_offset = header.cfa_fixed_ra_offset;
        stored.auxiliary = at(HEADER_SIZE, header.size())?;
        stored.gap_before_functions = at(header.size(), header.fde_table_start())?;
        stored.gap_before_rows = at(header.fde_table_end(), header.fre_start())?;
        stored.trailing = at(header.fre_end(), data.len() as u64)?;
        let (mut budget, mut blocks, mut count) = (section.row_budget(), Vec::new(), 0_u32);
        for (index, function) in section.functions().enumerate() {
            let function = function.ok()?;
            let mut rows = Vec::new();
            let mut entries = function.frame_row_entries().ok()?;
            for row in &mut entries {
                let row = row.ok()?;
                budget.charge(&row).ok()?;
                rows.push(StoredRow {
                    start: row.start,
                    info: None,
                    base_sp: row.info.base_is_sp(),
                    mangled: row.info.mangled_ra(),
                    width: row.words.size(),
                    words: (0..row.words.count()).filter_map(|w| row.words.unsigned(w)).collect(),
                });
            }
            count = count.checked_add(u32::try_from(rows.len()).ok()?)?;
            blocks.push((function.entry().rows_offset(), entries.offset(), index));
            stored.functions.push(stored_function(&function, rows)?);
        }
        blocks.sort_unstable();
        let mut end = header.fre_start();
        for (from, to, index) in blocks {
            stored.functions.get_mut(index)?.hole = at(end, from)?;
            stored.row_order.push(index);
            end = to;
        }
        stored.unused_rows = at(end, header.fre_end())?;
        stored.header.num_fres = Some(header.num_fres).filter(|stored| *stored != count);
        Some(stored)
    }
}

fn stored_function(function: &Function<'_>, rows: Vec<StoredRow>) -> Option<StoredFunction> {
    let attributes = function.attributes();
    Some(StoredFunction {
        info: attributes.info.0,
        info2: attributes.info2.0,
        rep_size: attributes.rep_size,
        padding: attributes.padding,
        fre_type: function.fre_type().ok()?,
        rows,
        ..StoredFunction::new(function.start().ok()?.address, function.size())
    })
}
