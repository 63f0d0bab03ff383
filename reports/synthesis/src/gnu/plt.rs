//! The entries that GNU ld writes for its own stubs.
//!
//! | Section | Entries |
//! |---|---|
//! | `.plt` on AMD64 | one for the head, with two rows, and one for all stubs, with two rows |
//! | `.plt.sec` | one row; 2.40 writes a head and stubs, as for `.plt` (`ld-plt-sec`) |
//! | `.plt.got` | one row, since 2.44 (`ld-plt-got`) |
//! | `.plt` on s390x | one for the head and one for all stubs, with a row each |
//!
//! Nothing is written for other machines and for `.iplt`.

use sframe_oracle::cfi::Fde;
use sframe_validator::Abi;
use sframe_validator::elf::ElfSection;
use sframe_validator::section::FreType;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Row};

use super::release::Release;
use crate::model::Function;
use crate::source::Source;

/// `endbr64`, with which stubs start if indirect branches are tracked.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// The tables of stubs of a dynamically linked file.
#[derive(Default)]
pub(super) struct Tables<'s, 'e, 'c> {
    /// In the order of the section table.
    tables: Vec<Stubs<'s, 'e, 'c>>,
}

impl<'s, 'e, 'c> Tables<'s, 'e, 'c> {
    /// The tables that the release describes, as far as the sections alone show.
    pub(super) fn of(source: &'s Source<'e, 'c>, release: Release) -> Tables<'s, 'e, 'c> {
        let is_described = |section: &&ElfSection<'_>| match (source.abi, section.name.bytes()) {
            (Abi::Amd64, b".plt" | b".plt.sec") | (Abi::S390x, b".plt") => true,
            (Abi::Amd64, b".plt.got") => release > Release::V2_40,
            _ => false,
        };
        if !source.is_dynamic() {
            return Tables::default();
        }
        let tables = source.elf.code_sections().filter(is_described).map(|section| {
            // observed: with `--no-ld-generated-unwind-info`, older linkers describe no stubs.
            let described = release == Release::V2_47_50;
            Stubs { source, section, release, described }
        });
        Tables { tables: tables.collect() }
    }

    /// Whether the linker wrote this CFI for stubs that it describes in SFrame as well.
    pub(super) fn are_in(&mut self, fde: &Fde<'_>) -> bool {
        let first = self.tables.first().map(|table| table.source);
        let section = first.and_then(|source| source.elf.code_section_at(fde.start()));
        let Some(index) = section.map(|section| section.index) else { return false };
        let table = self.tables.binary_search_by_key(&index, |table| table.section.index);
        let table = table.ok().and_then(|at| self.tables.get_mut(at));
        table.is_some_and(|table| {
            table.described = true;
            true
        })
    }

    /// The entries for all tables.
    pub(super) fn entries(&self) -> Vec<Function> {
        let tables = self.tables.iter().filter(|table| table.described);
        // A head without stubs has no second entry.
        tables.flat_map(Stubs::entries).filter(|function| function.size > 0).collect()
    }
}

/// A section of stubs.
struct Stubs<'s, 'e, 'c> {
    source: &'s Source<'e, 'c>,
    section: &'s ElfSection<'e>,
    release: Release,
    described: bool,
}

impl Stubs<'_, '_, '_> {
    fn entries(&self) -> Vec<Function> {
        match (self.source.abi, self.section.name.bytes()) {
            (Abi::S390x, b".plt") => {
                vec![self.part(0, 32, None, &[(0, 160)]), self.rest(32, &[(0, 160)])]
            }
            (Abi::S390x, _) => Vec::new(),
            (_, b".plt") => {
                let pushed = if self.is_tracked() { 9 } else { 11 };
                vec![self.head(), self.rest(16, &[(0, 8), (pushed, 16)])]
            }
            (_, b".plt.sec") if self.release == Release::V2_40 => {
                // observed: two stubs, however many there are.
                vec![self.head(), self.part(16, 32, Some(16), &[(0, 8)])]
            }
            (_, b".plt.sec") => vec![self.rest(0, &[(0, 8)])],
            _ => vec![self.rest(0, &[(0, 16)])],
        }
    }

    /// Whether stubs start with `endbr64`. 2.40 does not look.
    fn is_tracked(&self) -> bool {
        let stub = CodeAddress::absolute(self.section.address.saturating_add(16));
        let code = self.source.elf.code_bytes(stub, 4);
        self.release > Release::V2_40 && code == Some(&ENDBR64)
    }

    /// The head of a lazy table on AMD64.
    fn head(&self) -> Function {
        self.part(0, 16, None, &[(0, 16), (6, 24)])
    }

    /// The stubs after `skip` bytes.
    fn rest(&self, skip: u64, rows: &[(u64, i64)]) -> Function {
        let block = match self.source.abi {
            Abi::S390x => 32,
            _ if self.section.entry_size == 8 => 8,
            _ => 16,
        };
        self.part(skip, self.section.size.saturating_sub(skip), Some(block), rows)
    }

    /// An entry, with the start of each row and its CFA's offset from SP.
    fn part(&self, skip: u64, size: u64, block: Option<u8>, rows: &[(u64, i64)]) -> Function {
        let abi = self.source.abi;
        let start = self.section.address.saturating_add(skip);
        let end = start.saturating_add(block.map_or(size, u64::from));
        let ra = match abi.fixed_ra_offset() {
            0 => Recovery::Unchanged,
            fixed => Recovery::AtCfa(fixed.into()),
        };
        let frame = |offset| Frame {
            cfa: Cfa::RegisterOffset { register: abi.sp(), offset },
            ra,
            fp: Recovery::Unchanged,
            ra_signed: false,
        };
        let ends = rows.iter().skip(1).map(|(next, _)| start.saturating_add(*next)).chain([end]);
        let rows = rows.iter().zip(ends).map(|((from, offset), end)| Row {
            start: start.saturating_add(*from),
            end,
            frame: frame(*offset),
        });
        // observed: as wide as the whole section needs, of which 2.40 counts only the start of `.plt.sec`.
        let is_cut = self.release == Release::V2_40 && self.section.name.bytes() == b".plt.sec";
        let whole = if is_cut { 48 } else { self.section.size };
        let whole = u32::try_from(whole).unwrap_or(u32::MAX);
        Function {
            start: CodeAddress::absolute(start),
            size: u32::try_from(size).unwrap_or(u32::MAX),
            signal: false,
            pauth_key_b: false,
            block,
            start_width: Some(FreType::for_start(whole)),
            flexible: false,
            rows: rows.collect(),
        }
    }
}
