//! The account of a section from its functions, without its bytes. Memory grows by eight bytes for each function.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::{FixedState, FoldHasher, RandomState};
use sframe_validator::Version;
use sframe_validator::section::{FreType, HEADER_SIZE};

use crate::account::{Account, Parts};
use crate::encode::Form;
use crate::measure::Measured;
use crate::model::Function;
use crate::patterns::Shape;

/// The functions of a section counted so far.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    form: Form,
    account: Account,
    /// Hashes of the functions' rows.
    blocks: HashSet<u64, RandomState>,
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
        Tally { form, account, blocks: HashSet::default() }
    }

    /// Adds a function. Returns the hash of its frames.
    pub(crate) fn add(&mut self, function: &Function, measured: &Measured) -> u64 {
        let starts = function.rows.iter().map(|row| row.start.wrapping_sub(function.start.address));
        let width = measured.starts.checked_div(measured.rows).unwrap_or(0);
        let frames = hash_frames(function);
        let block = Block {
            starts: hash_starts(starts, width),
            frames,
            signal: function.signal,
            pauth_key_b: function.pauth_key_b,
            repeated: function.block,
            start_width: function.start_width,
        };
        self.add_block(function.size, measured, &block);
        frames
    }

    /// Adds a function of `size` bytes with a known entry. `starts` is a hash of the starts of its rows, as offsets.
    pub(crate) fn add_shape(&mut self, size: u32, shape: &Shape, measured: &Measured, starts: u64) {
        let block = Block {
            starts,
            frames: shape.frames,
            signal: shape.signal,
            pauth_key_b: shape.pauth_key_b,
            repeated: None,
            start_width: shape.by_size.then(|| FreType::for_start(size)),
        };
        self.add_block(size, measured, &block);
    }

    fn add_block(&mut self, size: u32, measured: &Measured, block: &Block) {
        let (account, version) = (&mut self.account, self.form.version);
        account.functions += 1;
        account.flexible += u64::from(measured.flexible);
        account.rows += measured.rows;
        account.code = account.code.saturating_add(size.into());
        let parts = &mut account.parts;
        parts.index += version.entry_size();
        parts.attributes += version.attribute_size();
        parts.row_starts += measured.starts;
        parts.row_info += measured.rows;
        parts.data_words += measured.words;
        // Before version 3, nothing is stored for a function without rows.
        let is_stored = version == Version::V3 || measured.rows > 0;
        if is_stored && !self.blocks.insert(block.hash(version, measured)) {
            let rows = measured.starts + measured.rows + measured.words;
            self.account.shareable += version.attribute_size() + rows;
        }
    }

    /// The number of functions.
    pub(crate) const fn functions(&self) -> u64 {
        self.account.functions
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

/// What is stored for a function besides its index entry.
struct Block {
    /// A hash of the starts of its rows.
    starts: u64,
    /// A hash of their frames.
    frames: u64,
    signal: bool,
    pauth_key_b: bool,
    repeated: Option<u8>,
    start_width: Option<FreType>,
}

impl Block {
    /// A hash of the rows, and of the attributes that version 3 stores before them (V3 2.3).
    fn hash(&self, version: Version, measured: &Measured) -> u64 {
        let mut hasher = hasher();
        hasher.write_u64(self.starts);
        hasher.write_u64(self.frames);
        // The width of start fields.
        hasher.write_u64(measured.starts.checked_div(measured.rows).unwrap_or(0));
        if version == Version::V3 {
            let flags = [measured.flexible, self.signal, self.pauth_key_b].map(u64::from);
            // The width of start fields is an attribute even if there are none.
            let width = self.start_width.filter(|_| measured.rows == 0);
            let width = width.map_or(0, |width| u64::from(width.code()) + 1);
            let repeated = self.repeated.map_or(0, |block| u64::from(block) + 1);
            let flags = flags.iter().fold(0, |bits, flag| bits << 1 | flag);
            hasher.write_u64(measured.rows);
            hasher.write_u64(flags | repeated << 8 | width << 24);
        }
        hasher.finish()
    }
}

/// Hashes rows. Blocks that collide by design count as equal, which makes only a count of possible savings wrong.
fn hasher() -> FoldHasher<'static> {
    FixedState::default().build_hasher()
}

/// A hash of the starts of rows, as they are stored in fields of `width` bytes. A field whose width goes by the function's size
/// has no room for the upper bytes of a start after the function's end.
pub(crate) fn hash_starts(starts: impl Iterator<Item = u64>, width: u64) -> u64 {
    let mut hasher = hasher();
    let bits = u32::try_from(width.saturating_mul(8)).unwrap_or(u64::BITS);
    let unused = u64::BITS.saturating_sub(bits);
    starts.for_each(|start| hasher.write_u64(start.wrapping_shl(unused)));
    hasher.finish()
}

/// A hash of the frames of a function's rows.
fn hash_frames(function: &Function) -> u64 {
    let mut hasher = hasher();
    function.rows.iter().for_each(|row| row.frame.hash(&mut hasher));
    hasher.finish()
}
