//! From bytes to parts.

use sframe_validator::section::{Function, HEADER_SIZE, MAGIC};
use sframe_validator::{Placement, Section};

use super::{FunctionParts, HeaderParts, Parts, RowParts};

impl Parts {
    /// Takes a section apart that stands at `address`. `None` where its parts overlap, or one of
    /// them cannot be read.
    #[must_use]
    pub fn read(data: &[u8], address: u64) -> Option<Parts> {
        let section = Section::parse(data, Placement::at(address)).ok()?;
        let header = section.header();
        let at = |start: u64, end: u64| Some(data.get(start as usize..end as usize)?.to_vec());
        let functions: Vec<_> = section.functions().collect::<Result<_, _>>().ok()?;
        let mut parts = Parts {
            endian: section.endian(),
            version: header.version,
            abi: section.abi().ok()?,
            address,
            pcrel: header.flags.pcrel(),
            header: HeaderParts {
                magic: MAGIC,
                version: header.version.number(),
                flags: header.flags.0,
                abi_arch: header.abi_arch,
                cfa_fixed_fp_offset: header.cfa_fixed_fp_offset,
                cfa_fixed_ra_offset: header.cfa_fixed_ra_offset,
                auxhdr_len: None,
                num_fdes: None,
                num_fres: None,
                fre_len: None,
                fdeoff: None,
                freoff: None,
            },
            auxiliary: at(HEADER_SIZE, header.size())?,
            gap_before_functions: at(header.size(), header.fde_table_start())?,
            gap_before_rows: at(header.fde_table_end(), header.fre_start())?,
            functions: Vec::new(),
            blocks: Vec::new(),
            unused: Vec::new(),
            trailing: at(header.fre_end(), data.len() as u64)?,
            cut: 0,
        };
        let mut budget = section.row_budget();
        let mut blocks = Vec::new();
        for (place, function) in functions.iter().enumerate() {
            let mut rows = Vec::new();
            let mut entries = function.frame_row_entries().ok()?;
            for row in &mut entries {
                let row = row.ok()?;
                budget.charge(&row).ok()?;
                rows.push(RowParts {
                    start: row.start,
                    info: None,
                    base_sp: row.info.base_is_sp(),
                    mangled: row.info.mangled_ra(),
                    width: row.words.size(),
                    words: (0..row.words.count()).filter_map(|w| row.words.unsigned(w)).collect(),
                });
            }
            blocks.push((function.entry().rows_offset(), entries.offset(), place));
            parts.functions.push(function_parts(function, rows)?);
        }
        blocks.sort_unstable();
        let mut end = header.fre_start();
        for (from, to, place) in blocks {
            parts.functions[place].hole = at(end, from)?;
            parts.blocks.push(place);
            end = to;
        }
        parts.unused = at(end, header.fre_end())?;
        let rows: usize = parts.functions.iter().map(|function| function.rows.len()).sum();
        parts.header.num_fres = Some(header.num_fres).filter(|stored| *stored as usize != rows);
        Some(parts)
    }
}

fn function_parts(function: &Function<'_>, rows: Vec<RowParts>) -> Option<FunctionParts> {
    let attributes = function.attributes();
    Some(FunctionParts {
        start: function.start().ok()?.address,
        size: function.size(),
        fre_offset: None,
        num_fres: None,
        info: attributes.info.0,
        info2: attributes.info2.0,
        rep_size: attributes.rep_size,
        padding: attributes.padding,
        fre_type: function.fre_type().ok()?,
        hole: Vec::new(),
        rows,
    })
}
