//! The account of a section from its functions, without its bytes. Memory grows by eight bytes for each function.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use sframe_validator::Version;
use sframe_validator::section::{FreType, HEADER_SIZE};

use crate::account::{Account, Parts};
use crate::encode::Form;
use crate::measure::Measured;
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

    /// Adds a function.
    pub(crate) fn add(&mut self, function: &Function, measured: &Measured) {
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
        let mut block = hash(function, measured);
        if version == Version::V3 {
            block = with_attributes(block, function, measured);
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
    let mut hasher = Mixer::default();
    // The width of start fields.
    measured.starts.checked_div(measured.rows).hash(&mut hasher);
    for row in &function.rows {
        row.start.wrapping_sub(function.start.address).hash(&mut hasher);
        row.frame.hash(&mut hasher);
    }
    hasher.finish()
}

/// A hash of rows and of the attributes before them (V3 2.3).
fn with_attributes(rows: u64, function: &Function, measured: &Measured) -> u64 {
    let mut hasher = Mixer::default();
    (rows, measured.rows, measured.flexible).hash(&mut hasher);
    (function.block, function.signal, function.pauth_key_b).hash(&mut hasher);
    // The width of start fields is an attribute even if there are none.
    function.start_width.filter(|_| measured.rows == 0).map(FreType::code).hash(&mut hasher);
    hasher.finish()
}

/// A fast hash of numbers. Blocks that collide by design count as equal, which makes only a count of possible savings
/// wrong.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut number = [0; 8];
            number.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            self.write_u64(u64::from_le_bytes(number));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio, and the finalizer of SplitMix64 in short.
        let mixed = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}
