//! From parts to bytes.

use sframe_validator::Endian;
use sframe_validator::section::{FreType, HEADER_SIZE, Version};

use super::{FunctionParts, Parts, RowParts};

impl Parts {
    /// The section's bytes. Start fields that do not reach are cut, as a careless linker does.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let (rows, offsets) = self.rows();
        let mut out = Out { bytes: Vec::new(), endian: self.endian };
        self.write_header(&mut out, rows.len());
        out.bytes.extend(&self.auxiliary);
        out.bytes.extend(&self.gap_before_functions);
        for (function, offset) in self.functions.iter().zip(offsets) {
            self.write_entry(&mut out, function, offset);
        }
        out.bytes.extend(&self.gap_before_rows);
        out.bytes.extend(rows);
        out.bytes.extend(&self.trailing);
        out.bytes.truncate(out.bytes.len().saturating_sub(self.cut));
        out.bytes
    }

    /// The FRE sub-section, and where in it each function's rows are.
    #[must_use]
    pub fn rows(&self) -> (Vec<u8>, Vec<u32>) {
        let mut out = Out { bytes: Vec::new(), endian: self.endian };
        let mut offsets = vec![0; self.functions.len()];
        for &place in &self.blocks {
            let function = &self.functions[place];
            out.bytes.extend(&function.hole);
            offsets[place] = out.bytes.len() as u32;
            if self.version == Version::V3 {
                out.u16(function.stored_count() as u16);
                out.bytes.extend([function.info, function.info2, function.rep_size]);
            }
            for row in &function.rows {
                out.row(row, function.fre_type);
            }
        }
        out.bytes.extend(&self.unused);
        (out.bytes, offsets)
    }

    fn write_header(&self, out: &mut Out, fre_len: usize) {
        let header = &self.header;
        let entries = self.functions.len() * self.version.entry_size() as usize;
        let fdeoff = self.gap_before_functions.len();
        let freoff = fdeoff + entries + self.gap_before_rows.len();
        let rows: usize = self.functions.iter().map(|function| function.rows.len()).sum();
        out.u16(header.magic);
        out.bytes.extend([header.version, header.flags, header.abi_arch]);
        out.bytes.push(header.cfa_fixed_fp_offset.cast_unsigned());
        out.bytes.push(header.cfa_fixed_ra_offset.cast_unsigned());
        out.bytes.push(header.auxhdr_len.unwrap_or(self.auxiliary.len() as u8));
        out.u32(header.num_fdes.unwrap_or(self.functions.len() as u32));
        out.u32(header.num_fres.unwrap_or(rows as u32));
        out.u32(header.fre_len.unwrap_or(fre_len as u32));
        out.u32(header.fdeoff.unwrap_or(fdeoff as u32));
        out.u32(header.freoff.unwrap_or(freoff as u32));
        debug_assert_eq!(out.bytes.len() as u64, HEADER_SIZE);
    }

    fn write_entry(&self, out: &mut Out, function: &FunctionParts, offset: u32) {
        let field = if self.pcrel { out.bytes.len() as u64 } else { 0 };
        let start = function.start.wrapping_sub(self.address.wrapping_add(field));
        match self.version {
            Version::V1 | Version::V2 => out.u32(start as u32),
            Version::V3 => out.u64(start),
        }
        out.u32(function.size);
        out.u32(function.fre_offset.unwrap_or(offset));
        if self.version < Version::V3 {
            out.u32(function.stored_count());
            out.bytes.push(function.info);
        }
        if self.version == Version::V2 {
            out.bytes.push(function.rep_size);
            out.u16(function.padding);
        }
    }
}

impl FunctionParts {
    fn stored_count(&self) -> u32 {
        self.num_fres.unwrap_or(self.rows.len() as u32)
    }
}

impl RowParts {
    /// The info byte.
    #[must_use]
    pub fn stored_info(&self) -> u8 {
        let size = match self.width {
            1 => 0,
            2 => 1,
            _ => 2,
        };
        let count = self.words.len() as u8 & 0xf;
        let bits = u8::from(self.base_sp) | u8::from(self.mangled) << 7;
        self.info.unwrap_or(bits | count << 1 | size << 5)
    }
}

struct Out {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Out {
    fn ordered<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.endian == Endian::Big {
            little.reverse();
        }
        self.bytes.extend_from_slice(&little);
    }

    fn u16(&mut self, value: u16) {
        self.ordered(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.ordered(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.ordered(value.to_le_bytes());
    }

    fn row(&mut self, row: &RowParts, fre_type: FreType) {
        match fre_type {
            FreType::Addr1 => self.bytes.push(row.start as u8),
            FreType::Addr2 => self.u16(row.start as u16),
            FreType::Addr4 => self.u32(row.start),
        }
        self.bytes.push(row.stored_info());
        for word in &row.words {
            match row.width {
                1 => self.bytes.push(*word as u8),
                2 => self.u16(*word as u16),
                _ => self.u32(*word),
            }
        }
    }
}
