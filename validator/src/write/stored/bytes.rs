//! Converts a stored section to bytes.

use alloc::vec::Vec;

use super::{StoredFunction, StoredRow, StoredSection};
use crate::abi::Endian;
use crate::section::{FreType, HEADER_SIZE, Version};

impl StoredSection {
    /// The section's bytes. Numbers that do not fit in their fields are truncated, as a careless linker would do.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let (rows, offsets) = self.rows();
        let mut out = Out { bytes: Vec::new(), endian: self.endian };
        self.write_header(&mut out, rows.len());
        out.bytes.extend_from_slice(&self.auxiliary);
        out.bytes.extend_from_slice(&self.gap_before_functions);
        for (index, (function, offset)) in self.functions.iter().zip(offsets).enumerate() {
            self.write_entry(&mut out, index, function, offset);
        }
        out.bytes.extend_from_slice(&self.gap_before_rows);
        out.bytes.extend_from_slice(&rows);
        out.bytes.extend_from_slice(&self.trailing);
        out.bytes.truncate(out.bytes.len().saturating_sub(self.cut));
        out.bytes
    }

    /// The FRE sub-section, and the offset in it of each function's rows.
    #[must_use]
    pub fn rows(&self) -> (Vec<u8>, Vec<u32>) {
        let mut out = Out { bytes: Vec::new(), endian: self.endian };
        let mut offsets = alloc::vec![0; self.functions.len()];
        for &index in &self.row_order {
            let function = self.functions.get(index).zip(offsets.get_mut(index));
            let Some((function, offset)) = function else { continue };
            out.bytes.extend_from_slice(&function.hole);
            *offset = narrow(out.bytes.len());
            if self.version == Version::V3 {
                let count = u16::try_from(function.stored_count()).unwrap_or(u16::MAX);
                out.put(count, 2);
                out.bytes.extend([function.info, function.info2, function.rep_size]);
            }
            for row in &function.rows {
                out.row(row, function.fre_type);
            }
        }
        out.bytes.extend_from_slice(&self.unused_rows);
        (out.bytes, offsets)
    }

    fn write_header(&self, out: &mut Out, fre_len: usize) {
        let header = &self.header;
        let entries = self.functions.len() as u64 * self.version.entry_size();
        let fdeoff = self.gap_before_functions.len();
        let before_rows = fdeoff as u64 + entries + self.gap_before_rows.len() as u64;
        let freoff = u32::try_from(before_rows).unwrap_or(u32::MAX);
        let rows = self.functions.iter().map(|function| function.rows.len()).sum();
        let auxiliary = u8::try_from(self.auxiliary.len()).unwrap_or(u8::MAX);
        out.put(header.magic, 2);
        out.bytes.extend([header.version, header.flags, header.abi_arch]);
        out.bytes.push(header.cfa_fixed_fp_offset.cast_unsigned());
        out.bytes.push(header.cfa_fixed_ra_offset.cast_unsigned());
        out.bytes.push(header.auxhdr_len.unwrap_or(auxiliary));
        out.put(header.num_fdes.unwrap_or(narrow(self.functions.len())), 4);
        out.put(header.num_fres.unwrap_or(narrow(rows)), 4);
        out.put(header.fre_len.unwrap_or(narrow(fre_len)), 4);
        out.put(header.fdeoff.unwrap_or(narrow(fdeoff)), 4);
        out.put(header.freoff.unwrap_or(freoff), 4);
        debug_assert_eq!(out.bytes.len() as u64, HEADER_SIZE);
    }

    fn write_entry(&self, out: &mut Out, index: usize, function: &StoredFunction, offset: u32) {
        let start = self.start_value(index, function).cast_unsigned();
        out.put(start, if self.version == Version::V3 { 8 } else { 4 });
        out.put(function.size, 4);
        out.put(function.fre_offset.unwrap_or(offset), 4);
        if self.version < Version::V3 {
            out.put(function.stored_count(), 4);
            out.bytes.push(function.info);
        }
        if self.version == Version::V2 {
            out.bytes.push(function.rep_size);
            out.put(function.padding, 2);
        }
    }
}

/// Converts a count of objects in memory to a field of 32 bits.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Output bytes in a byte order.
struct Out {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Out {
    /// Appends the low `width` bytes of a number.
    fn put(&mut self, value: impl Into<u64>, width: usize) {
        let little = value.into().to_le_bytes();
        let bytes = little.iter().take(width);
        match self.endian {
            Endian::Little => self.bytes.extend(bytes),
            Endian::Big => self.bytes.extend(bytes.rev()),
        }
    }

    fn row(&mut self, row: &StoredRow, fre_type: FreType) {
        self.put(row.start, fre_type.width());
        self.bytes.push(row.stored_info());
        let width = match row.width {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        for word in &row.words {
            self.put(*word, width);
        }
    }
}
