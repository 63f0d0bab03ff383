//! The tables to which PT_DYNAMIC leads (gABI, "Dynamic Section").

use crate::elf::{
    SHT_DYNAMIC, SHT_DYNSYM, SHT_FINI_ARRAY, SHT_GNU_HASH, SHT_GNU_VERSYM, SHT_HASH,
    SHT_INIT_ARRAY, SHT_RELA, SHT_RELR, SHT_STRTAB,
};
use alloc::vec::Vec;

use super::super::{EM_S390, Segment};
use super::loads::Loads;
use super::{Content, Format, Piece};

/// `DT_RELA`, the value of `DT_PLTREL` if stubs have relocations with addends.
const DT_RELA: u64 = 7;

/// The entries of the dynamic section that lead to tables; addresses are 0 if there is none.
#[derive(Debug, Default)]
pub(super) struct Dynamic {
    format: Option<Format>,
    own: (u64, u64),
    hash: u64,
    gnu_hash: u64,
    symbols: u64,
    versions: u64,
    strings: (u64, u64),
    rela: (u64, u64),
    relr: (u64, u64),
    /// The relocations of stubs, and their format.
    stubs: (u64, u64),
    stub_format: u64,
    preinit: (u64, u64),
    init: (u64, u64),
    fini: (u64, u64),
    /// `DT_PLTGOT`.
    pub(super) got: u64,
    /// `DT_TLSDESC_PLT`.
    pub(super) tls_stub: u64,
}

impl Dynamic {
    pub(super) fn of(loads: &Loads<'_>, segment: &Segment, format: Format) -> Dynamic {
        let own = (segment.address, segment.file_size);
        let mut out = Dynamic { format: Some(format), own, ..Dynamic::default() };
        let data = loads.bytes(segment.address, segment.file_size).unwrap_or_default();
        let word = format.numbers.word();
        for entry in data.chunks_exact(2 * word) {
            let (tag, value) = entry.split_at(word);
            let field = match format.numbers.number(tag) {
                0 => break,
                2 => &mut out.stubs.1,
                3 => &mut out.got,
                4 => &mut out.hash,
                5 => &mut out.strings.0,
                6 => &mut out.symbols,
                7 => &mut out.rela.0,
                8 => &mut out.rela.1,
                10 => &mut out.strings.1,
                20 => &mut out.stub_format,
                23 => &mut out.stubs.0,
                25 => &mut out.init.0,
                26 => &mut out.fini.0,
                27 => &mut out.init.1,
                28 => &mut out.fini.1,
                32 => &mut out.preinit.0,
                33 => &mut out.preinit.1,
                35 => &mut out.relr.1,
                36 => &mut out.relr.0,
                0x6fff_fef6 => &mut out.tls_stub,
                0x6fff_fef5 => &mut out.gnu_hash,
                0x6fff_fff0 => &mut out.versions,
                _ => continue,
            };
            *field = format.numbers.number(value);
        }
        if out.stub_format != DT_RELA {
            out.stubs = (0, 0);
        }
        // Where the relocations of stubs are the last ones of all, they are a table of their own.
        let before = out.stubs.0.wrapping_sub(out.rela.0);
        if out.stubs.1 > 0 && before < out.rela.1 {
            out.rela.1 = before;
        }
        out
    }

    /// The address and size of the relocations of stubs.
    pub(super) const fn stub_relocations(&self) -> (u64, u64) {
        self.stubs
    }

    /// The address and size of the other relocations with addends.
    pub(super) const fn relocations(&self) -> (u64, u64) {
        self.rela
    }

    /// The tables that are in the file.
    pub(super) fn pieces(&self, loads: &Loads<'_>) -> Vec<Piece> {
        let Some(format) = self.format else { return Vec::new() };
        let word = format.numbers.word() as u64;
        let (symbol, rela) = (if word == 8 { 24 } else { 16 }, 3 * word);
        let (count, hash, gnu_hash) = self.symbol_count(loads, format);
        let symbols = (self.symbols, count.saturating_mul(symbol));
        let table = |place, name, sh_type, entry, content| {
            Piece::new(place, name, content).of_type(sh_type, entry)
        };
        let pieces = [
            table(self.own, b".dynamic", SHT_DYNAMIC, 2 * word, Content::Data),
            table((self.hash, hash), b".hash".as_slice(), SHT_HASH, 4, Content::Table),
            table((self.gnu_hash, gnu_hash), b".gnu.hash", SHT_GNU_HASH, 0, Content::Table),
            table(symbols, b".dynsym", SHT_DYNSYM, symbol, Content::Symbols),
            table(self.strings, b".dynstr", SHT_STRTAB, 0, Content::Strings),
            table(
                (self.versions, if self.versions == 0 { 0 } else { 2 * count }),
                b".gnu.version",
                SHT_GNU_VERSYM,
                2,
                Content::Table,
            ),
            table(self.rela, b".rela.dyn", SHT_RELA, rela, Content::OfSymbols),
            table(self.stubs, b".rela.plt", SHT_RELA, rela, Content::OfSymbols),
            table(self.relr, b".relr.dyn", SHT_RELR, word, Content::Table),
            table(self.preinit, b".preinit_array", 16, word, Content::Data),
            table(self.init, b".init_array", SHT_INIT_ARRAY, word, Content::Data),
            table(self.fini, b".fini_array", SHT_FINI_ARRAY, word, Content::Data),
        ];
        let is_whole = |piece: &Piece| {
            piece.start != 0 && piece.size > 0 && loads.bytes(piece.start, piece.size).is_some()
        };
        pieces.into_iter().filter(is_whole).collect()
    }

    /// The number of dynamic symbols, and the sizes of the two hash tables. Without such a table, symbols end where their
    /// names start, as linkers write them.
    fn symbol_count(&self, loads: &Loads<'_>, format: Format) -> (u64, u64, u64) {
        let old = loads.from(self.hash).and_then(|data| old_hash(data, format));
        let gnu = loads.from(self.gnu_hash).and_then(|data| gnu_hash(data, format));
        let old = old.map(|(count, size)| (Some(count), size));
        let symbol = if format.numbers.word() == 8 { 24 } else { 16 };
        let up_to_names = self.strings.0.checked_sub(self.symbols).map(|size| size / symbol);
        let counts = [old, gnu].into_iter().flatten().filter_map(|(count, _)| count);
        let room = loads.from(self.symbols).map_or(0, |data| data.len() as u64 / symbol);
        let count = counts.max().or(up_to_names).unwrap_or(0).min(room);
        let size = |table: Option<(Option<u64>, u64)>| table.map_or(0, |(_, size)| size);
        (count, size(old), size(gnu))
    }
}

/// The number of symbols in a table of `DT_HASH`, which has one for each in its chains, and the size of the table.
fn old_hash(data: &[u8], format: Format) -> Option<(u64, u64)> {
    // s390x ELF ABI supplement: entries have 8 bytes.
    let size = if format.machine == EM_S390 && format.numbers.word() == 8 { 8 } else { 4 };
    let buckets = format.numbers.number_at(data, 0, size)?;
    let symbols = format.numbers.number_at(data, size, size)?;
    let entries = buckets.checked_add(symbols)?.checked_add(2)?;
    let bytes = entries.checked_mul(size as u64)?;
    (bytes <= data.len() as u64).then_some((symbols, bytes))
}

/// The number of symbols in a table of `DT_GNU_HASH`, and the size of the table: four numbers, a Bloom filter, the first
/// symbol of each bucket, and the hash of each symbol in the order of the buckets, of which bit 0 ends a bucket. A table
/// without symbols does not have their number.
fn gnu_hash(data: &[u8], format: Format) -> Option<(Option<u64>, u64)> {
    let number = |at: usize| format.numbers.number_at(data, at, 4);
    let buckets = usize::try_from(number(0)?).ok()?;
    let first = number(4)?;
    let filter = usize::try_from(number(8)?).ok()?.checked_mul(format.numbers.word())?;
    let buckets_start = filter.checked_add(16)?;
    let chains_start = buckets.checked_mul(4)?.checked_add(buckets_start)?;
    let heads = data.get(buckets_start..chains_start)?.chunks_exact(4);
    let last_head = heads.map(|head| format.numbers.number(head)).max().unwrap_or(0);
    let Some(chain) = last_head.checked_sub(first) else {
        return Some((None, chains_start as u64));
    };
    let start = usize::try_from(chain).ok()?.checked_mul(4)?.checked_add(chains_start)?;
    let rest = data.get(start..)?.chunks_exact(4);
    let more = rest.map(|hash| format.numbers.number(hash)).position(|hash| hash & 1 != 0)?;
    let end = start.checked_add(more.checked_add(1)?.checked_mul(4)?)?;
    let count = last_head.checked_add(more as u64)?.checked_add(1)?;
    Some((Some(count), end as u64))
}
