//! The account of a section from its functions, without its bytes. Memory grows by eight bytes for each function.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use sframe_validator::Version;
use sframe_validator::section::{FreType, HEADER_SIZE};

use crate::account::{Account, Parts};
use crate::encode::Form;
use crate::measure::{Measured, measure};
use crate::model::Function;

/// The functions of a section counted so far.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    form: Form,
    account: Account,
    /// Hashes of the functions' rows.
    blocks: HashSet<u64>,
}

impl Tally {
    /// A section without functions.
    pub(crate) fn new(form: Form) -> Tally {
        let account = Account {
            version: form.version,
            abi: form.abi,
            size: 0,
            parts: Parts { header: HEADER_SIZE, ..Parts::default() },
            functions: 0,
            flexible: 0,
            rows: 0,
            code: 0,
            shareable: 0,
        };
        Tally { form, account, blocks: HashSet::new() }
    }

    /// Adds a function, which has an encoding.
    pub(crate) fn add(&mut self, function: &Function) {
        let Some(measured) = measure(&self.form, function) else { return };
        let (account, version) = (&mut self.account, self.form.version);
        account.functions += 1;
        account.flexible += u64::from(measured.flexible);
        account.rows += measured.rows;
        account.code = account.code.saturating_add(function.size.into());
        let parts = &mut account.parts;
        parts.index += version.entry_size();
        parts.attributes += version.attribute_size();
        parts.row_starts += measured.starts;
        parts.row_info += measured.rows;
        parts.data_words += measured.words;
        let mut block = hash(function, &measured);
        if version == Version::V3 {
            block = with_attributes(block, function, &measured);
        }
        // Before version 3, nothing is stored for a function without rows.
        let is_stored = version == Version::V3 || measured.rows > 0;
        if is_stored && !self.blocks.insert(block) {
            let rows = measured.starts + measured.rows + measured.words;
            self.account.shareable += version.attribute_size() + rows;
        }
    }

    /// The account.
    pub(crate) fn finish(mut self) -> Account {
        let parts = &mut self.account.parts;
        let used = parts.header
            + parts.index
            + parts.attributes
            + parts.row_starts
            + parts.row_info
            + parts.data_words;
        self.account.size = if self.form.padded { used.next_multiple_of(8) } else { used };
        parts.unused = self.account.size - used;
        self.account
    }
}

/// A hash of rows.
fn hash(function: &Function, measured: &Measured) -> u64 {
    let mut hasher = DefaultHasher::new();
    if measured.rows > 0 {
        (measured.starts / measured.rows).hash(&mut hasher);
    }
    for row in &function.rows {
        row.start.wrapping_sub(function.start.address).hash(&mut hasher);
        row.frame.hash(&mut hasher);
    }
    hasher.finish()
}

/// A hash of rows and of the attributes before them (V3 2.3).
fn with_attributes(rows: u64, function: &Function, measured: &Measured) -> u64 {
    let mut hasher = DefaultHasher::new();
    (rows, measured.rows, measured.flexible).hash(&mut hasher);
    (function.block, function.signal, function.pauth_key_b).hash(&mut hasher);
    // The width of start fields is an attribute even if there are none.
    function.start_width.filter(|_| measured.rows == 0).map(FreType::code).hash(&mut hasher);
    hasher.finish()
}
