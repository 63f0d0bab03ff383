//! Where the bytes of a section go.

use std::collections::{BTreeMap, BTreeSet};

use sframe_validator::section::{Error, HEADER_SIZE, Section};
use sframe_validator::{Abi, Version};

/// The bytes of a section by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Parts {
    /// The header of 28 bytes.
    pub header: u64,
    /// The auxiliary header.
    pub auxiliary_header: u64,
    /// The function index.
    pub index: u64,
    /// The attributes that version 3 stores before a function's rows.
    pub attributes: u64,
    /// The start fields of rows.
    pub row_starts: u64,
    /// The info bytes of rows.
    pub row_info: u64,
    /// The data words of rows.
    pub data_words: u64,
    /// Bytes that belong to nothing: gaps, padding, and rows that no function has.
    pub unused: u64,
}

/// An account of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The version.
    pub version: Version,
    /// The ABI.
    pub abi: Abi,
    /// The bytes of the section.
    pub size: u64,
    /// The bytes by part; their sum is `size`.
    pub parts: Parts,
    /// The functions.
    pub functions: u64,
    /// Functions with flexible rows (version 3).
    pub flexible: u64,
    /// The rows that are stored; those that several functions share count once.
    pub rows: u64,
    /// The bytes of code in the functions. Functions that overlap count twice.
    pub code: u64,
    /// The bytes of attributes and rows that repeat the bytes of another function: what storing equal blocks once would
    /// save.
    pub shareable: u64,
}

/// Accounts for the bytes of an existing section.
///
/// # Errors
/// The [`Error`] of the first function or row that cannot be read.
pub fn account_of(section: &Section<'_>) -> Result<Account, Error> {
    let header = section.header();
    let mut account = Account {
        version: header.version,
        abi: section.abi()?,
        size: section.data().len() as u64,
        parts: Parts {
            header: HEADER_SIZE,
            auxiliary_header: header.size() - HEADER_SIZE,
            index: u64::from(section.entry_count()) * header.version.entry_size(),
            ..Parts::default()
        },
        functions: u64::from(section.entry_count()),
        flexible: 0,
        rows: 0,
        code: 0,
        shareable: 0,
    };
    let mut seen = Seen::default();
    let mut budget = section.row_budget();
    for function in section.functions() {
        let function = function?;
        account.code = account.code.saturating_add(function.size().into());
        account.flexible += u64::from(function.is_flexible());
        let start = function.entry().rows_offset();
        if function.num_rows() > 0 && !seen.starts.insert(start) {
            continue;
        }
        account.parts.attributes += header.version.attribute_size();
        let width = function.fre_type()?.width() as u64;
        let mut rows = function.frame_row_entries()?;
        for row in &mut rows {
            let row = row?;
            budget.charge(&row)?;
            account.rows += 1;
            account.parts.row_starts += width;
            account.parts.row_info += 1;
            account.parts.data_words += row.words.bytes().len() as u64;
        }
        account.shareable += seen.repeated(section.data(), start, rows.offset());
    }
    let parts = account.parts;
    let known = parts.header
        + parts.auxiliary_header
        + parts.index
        + parts.attributes
        + parts.row_starts
        + parts.row_info
        + parts.data_words;
    // Rows that overlap count twice.
    account.parts.unused = account.size.saturating_sub(known);
    Ok(account)
}

/// The row blocks seen so far.
#[derive(Default)]
struct Seen<'a> {
    starts: BTreeSet<u64>,
    blocks: BTreeMap<&'a [u8], ()>,
}

impl<'a> Seen<'a> {
    /// The size of a block if its bytes repeat those of another one.
    fn repeated(&mut self, data: &'a [u8], start: u64, end: u64) -> u64 {
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let Some(block) = range.and_then(|(start, end)| data.get(start..end)) else { return 0 };
        match self.blocks.insert(block, ()) {
            Some(()) => block.len() as u64,
            None => 0,
        }
    }
}
