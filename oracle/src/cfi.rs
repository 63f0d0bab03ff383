//! DWARF call frame information: `.eh_frame` and `.debug_frame` as functions and rows.
//!
//! [`Cfi::load_all`] reads the frame of every entry once, in the order of the file: which code it
//! is about, which CIE it follows, where its instructions are. Rows are made when they are asked
//! for, by evaluating the instructions for the CFA, the return address, the frame pointer and the
//! AArch64 signing state, and nothing else.
//!
//! What cannot be read costs its own entry. It is listed with its place ([`Cfi::defects`]), or is
//! an error among the rows; the next entry is still there.
//!
//! # What a missing rule means
//!
//! A register without a rule is [`Recovery::Unchanged`], as one with the rule "same value" is. The
//! same holds for the return address, on every machine. On AMD64 its column 16 names no register,
//! so that such a row cannot be unwound: SFrame, where it says CFA - 8, differs from it, and
//! that difference is told.
//!
//! [`Recovery::Unchanged`]: sframe_validator::unwind::Recovery::Unchanged

mod entry;
mod error;
mod expression;
mod instruction;
mod machine;
mod pointer;
mod rows;

pub use entry::Cie;
pub use error::{CfiError, CfiErrorKind};
pub use instruction::{Instruction, Instructions};
pub use machine::MAX_STATES;
pub(crate) use machine::Traces;
pub use rows::{RowContext, Rows};

use gimli::{Reader, RunTimeEndian};
use sframe_validator::elf::{
    Class, Elf, ElfError, ElfKind, ElfSection, RelocationTable, SHT_NOBITS,
};
use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::Expression;
use sframe_validator::{Abi, Endian};

use entry::{Entry, FdeRecord, read_cie, read_fde, read_prefix};
use instruction::Environment;
use pointer::{Bases, Relocations, Slice};

/// `SHF_COMPRESSED`.
const SHF_COMPRESSED: u64 = 0x800;
/// Defects that are listed one by one; more are only counted.
const MAX_DEFECTS: usize = 1000;

/// Which of the two formats a section has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `.eh_frame` (LSB 10.6).
    EhFrame,
    /// `.debug_frame` (DWARF 5 6.4.1).
    DebugFrame,
}

/// What reading an entry needs to know of its section.
#[derive(Clone, Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) whole: Slice<'a>,
    pub(crate) kind: Kind,
    pub(crate) endian: RunTimeEndian,
    pub(crate) address_size: u8,
    pub(crate) bases: Bases,
}

impl<'a> Layout<'a> {
    fn offset_of(&self, input: &Slice<'a>) -> u64 {
        input.offset_from(self.whole) as u64
    }

    /// The rest of `input` as a range of section offsets.
    fn span(&self, input: &Slice<'a>) -> Result<(u32, u32), CfiErrorKind> {
        let start = input.offset_from(self.whole);
        let fits = |offset| u32::try_from(offset).map_err(|_| CfiErrorKind::Truncated);
        Ok((fits(start)?, fits(start + input.len())?))
    }
}

/// A CFI section: its entries and its defects.
#[derive(Clone, Debug)]
pub struct Cfi<'a> {
    layout: Layout<'a>,
    section: u32,
    abi: Abi,
    file_size: u64,
    cies: Vec<Cie>,
    fdes: Vec<FdeRecord>,
    /// Indices into `fdes` by address; empty where the order of the file is that.
    order: Vec<u32>,
    defects: Vec<CfiError>,
    /// The first defect of each kind and how many there are.
    defect_counts: Vec<(CfiError, u64)>,
}

/// A function as CFI describes it: one FDE.
#[derive(Clone, Copy, Debug)]
pub struct Fde<'c> {
    cfi: &'c Cfi<'c>,
    record: &'c FdeRecord,
    cie: &'c Cie,
}

impl<'a> Cfi<'a> {
    /// Reads every CFI section of a file, `.eh_frame` before `.debug_frame`. A section whose bytes
    /// cannot be read has one defect and no functions; a file without such sections yields none,
    /// and so does one of a machine that SFrame is not defined for.
    ///
    /// # Errors
    /// [`ElfError::Malformed`], where a relocatable object's relocations cannot be read.
    pub fn load_all(elf: &Elf<'a>) -> Result<Vec<Cfi<'a>>, ElfError> {
        let Some(abi) = elf.abi() else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for kind in [Kind::EhFrame, Kind::DebugFrame] {
            for section in elf.sections().iter().filter(|s| kind_of(s) == Some(kind)) {
                found.push(Cfi::load(elf, section, kind, abi)?);
            }
        }
        Ok(found)
    }

    fn load(
        elf: &Elf<'a>,
        section: &ElfSection<'_>,
        kind: Kind,
        abi: Abi,
    ) -> Result<Cfi<'a>, ElfError> {
        let compressed = section.flags & SHF_COMPRESSED != 0 || section.name == b".zdebug_frame";
        let data = elf.section_data(section);
        let unreadable = match data {
            _ if compressed => Some("it is compressed"),
            Err(_) => Some("it ends outside the file"),
            Ok(data) if u32::try_from(data.len()).is_err() => Some("it has more than 4 GiB"),
            Ok(_) => None,
        };
        let data = data.ok().filter(|_| unreadable.is_none()).unwrap_or_default();
        let address_of = |name: &[u8]| {
            elf.sections().iter().find(|section| section.name == name).map(|s| s.address)
        };
        let relocations = if elf.kind() == ElfKind::Relocatable {
            let mut entries = RelocationTable::load(elf, section.index)?.relocations;
            entries.sort_by_key(|relocation| relocation.offset);
            Some(Relocations { entries, machine: elf.machine() })
        } else {
            None
        };
        let bases = Bases {
            section: section.address,
            text: address_of(b".text"),
            data: address_of(b".got"),
            relocations,
        };
        let address_size = if elf.class() == Class::Elf32 { 4 } else { 8 };
        let mut cfi = Cfi::read(data, kind, elf.endian(), address_size, bases, abi);
        cfi.section = section.index;
        cfi.file_size = elf.data().len() as u64;
        if let Some(why) = unreadable {
            cfi.defect(CfiErrorKind::UnreadableSection(why).at(0));
        }
        Ok(cfi)
    }

    /// Reads the bytes of a section that stands at `address` in a linked file of 8-byte addresses.
    ///
    /// ```
    /// use sframe_oracle::cfi::{Cfi, Kind};
    /// use sframe_validator::Abi;
    ///
    /// let cfi = Cfi::from_bytes(&[0; 4], Kind::EhFrame, 0x1000, Abi::Amd64);
    /// assert_eq!(cfi.functions().count(), 0);
    /// assert!(cfi.defects().is_empty());
    /// ```
    #[must_use]
    pub fn from_bytes(data: &'a [u8], kind: Kind, address: u64, abi: Abi) -> Cfi<'a> {
        let bases = Bases { section: address, text: None, data: None, relocations: None };
        let data = if u32::try_from(data.len()).is_ok() { data } else { &[] };
        Cfi::read(data, kind, abi.endian(), 8, bases, abi)
    }

    fn read(
        data: &'a [u8],
        kind: Kind,
        endian: Endian,
        address_size: u8,
        bases: Bases,
        abi: Abi,
    ) -> Cfi<'a> {
        let endian = match endian {
            Endian::Little => RunTimeEndian::Little,
            Endian::Big => RunTimeEndian::Big,
        };
        let whole = Slice::new(data, endian);
        let layout = Layout { whole, kind, endian, address_size, bases };
        let mut cfi = Cfi {
            layout,
            section: 0,
            abi,
            file_size: data.len() as u64,
            cies: Vec::new(),
            fdes: Vec::new(),
            order: Vec::new(),
            defects: Vec::new(),
            defect_counts: Vec::new(),
        };
        // An FDE may name a CIE behind it, so all CIEs come first.
        let unreadable = cfi.read_cies();
        cfi.read_fdes(&unreadable);
        cfi.sort();
        cfi
    }

    /// Reads all CIEs; returns the offsets of those that are not readable, ordered.
    fn read_cies(&mut self) -> Vec<u32> {
        let layout = self.layout.clone();
        let mut unreadable = Vec::new();
        let mut states = Vec::new();
        let mut input = layout.whole;
        let mut terminated = false;
        while !input.is_empty() {
            let offset = layout.offset_of(&input);
            match read_prefix(&mut input, &layout) {
                Ok(Entry::Terminator) => terminated |= layout.kind == Kind::EhFrame,
                Ok(Entry::Short(offset)) => self.defect(CfiErrorKind::Truncated.at(offset)),
                Ok(Entry::Some(prefix)) => {
                    if terminated {
                        self.defect(CfiErrorKind::EntriesAfterTerminator.at(offset));
                        terminated = false;
                    }
                    if prefix.is_cie {
                        match read_cie(&prefix, &layout) {
                            Ok(cie) => self.add_cie(cie, &mut states),
                            Err(error) => {
                                self.defect(error);
                                unreadable.extend(u32::try_from(offset));
                            }
                        }
                    }
                }
                Err(error) => {
                    // What pads a section to its alignment is no entry.
                    if input.slice().iter().any(|byte| *byte != 0) {
                        self.defect(error);
                    }
                    break;
                }
            }
        }
        unreadable
    }

    fn add_cie(&mut self, mut cie: Cie, states: &mut Vec<machine::State>) {
        let initial = machine::initial_state(
            self.instructions(cie.instructions, &cie),
            &cie,
            self.abi,
            states,
        );
        if let Err(error) = initial {
            self.defect(error);
        }
        cie.initial = initial;
        self.cies.push(cie);
    }

    fn read_fdes(&mut self, unreadable: &[u32]) {
        let layout = self.layout.clone();
        let mut input = layout.whole;
        let mut last = 0;
        while !input.is_empty() {
            match read_prefix(&mut input, &layout) {
                Ok(Entry::Some(prefix)) if !prefix.is_cie => {
                    match self.read_fde(&prefix, &layout, &mut last, unreadable) {
                        Ok(record) => self.fdes.push(record),
                        Err(error) => self.defect(error),
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }

    fn read_fde(
        &self,
        prefix: &entry::Prefix<'a>,
        layout: &Layout<'a>,
        last: &mut usize,
        unreadable: &[u32],
    ) -> Result<FdeRecord, CfiError> {
        let offset = prefix.cie_offset(layout)?;
        let at = |kind: CfiErrorKind| kind.at(prefix.id_offset);
        let missing = || at(CfiErrorKind::BadCiePointer(offset));
        let wanted = u32::try_from(offset).map_err(|_| missing())?;
        if self.cies.get(*last).is_none_or(|cie| cie.offset != wanted) {
            let found = self.cies.binary_search_by_key(&wanted, |cie| cie.offset);
            *last = found.map_err(|_| {
                if unreadable.binary_search(&wanted).is_ok() {
                    at(CfiErrorKind::UnreadableCie(offset))
                } else {
                    missing()
                }
            })?;
        }
        let cie = self.cies.get(*last).ok_or_else(missing)?;
        read_fde(prefix, layout, cie, u32::try_from(*last).unwrap_or(u32::MAX))
    }

    /// Orders functions by address, and finds those that are empty or overlap.
    fn sort(&mut self) {
        let key = |fde: &FdeRecord| (fde.start, fde.size);
        if !self.fdes.is_sorted_by_key(key) {
            let count = u32::try_from(self.fdes.len()).unwrap_or(u32::MAX);
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|index| self.record(*index).map(key));
            self.order = order;
        }
        let mut defects = Vec::new();
        // The function before that reaches furthest.
        let mut reaching: Option<FdeRecord> = None;
        for fde in self.sorted() {
            let record = *fde.record;
            if record.size == 0 {
                defects.push(CfiErrorKind::EmptyRange.at(record.offset.into()));
                continue;
            }
            let end = |fde: &FdeRecord| fde.start.address.saturating_add(fde.size);
            match reaching.filter(|last| last.start.section == record.start.section) {
                Some(last) if end(&last) > record.start.address => {
                    let kind = CfiErrorKind::Overlap(last.offset.into());
                    defects.push(kind.at(record.offset.into()));
                    if end(&record) > end(&last) {
                        reaching = Some(record);
                    }
                }
                _ => reaching = Some(record),
            }
        }
        for error in defects {
            self.defect(error);
        }
    }

    fn record(&self, index: u32) -> Option<&FdeRecord> {
        self.fdes.get(usize::try_from(index).ok()?)
    }

    fn defect(&mut self, error: CfiError) {
        let same = |(first, _): &&mut (CfiError, u64)| first.kind.name() == error.kind.name();
        match self.defect_counts.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => self.defect_counts.push((error, 1)),
        }
        if self.defects.len() < MAX_DEFECTS {
            self.defects.push(error);
        }
    }

    fn environment(&self) -> Environment<'_> {
        Environment {
            whole: self.layout.whole,
            bases: &self.layout.bases,
            aarch64: self.abi.is_aarch64(),
        }
    }

    fn instructions(&self, span: (u32, u32), cie: &Cie) -> Instructions<'_> {
        let (start, end) = (span.0 as usize, span.1 as usize);
        let bytes = self.layout.whole.slice().get(start..end).unwrap_or_default();
        let input = Slice::new(bytes, self.layout.endian);
        Instructions::new(input, self.environment(), cie)
    }

    /// Which format the section has.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.layout.kind
    }

    /// The section's name, by its format.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.layout.kind {
            Kind::EhFrame => ".eh_frame",
            Kind::DebugFrame => ".debug_frame",
        }
    }

    /// The ELF index of the section; 0 for bare bytes.
    #[must_use]
    pub const fn section(&self) -> u32 {
        self.section
    }

    /// The machine that decides what register numbers mean.
    #[must_use]
    pub const fn abi(&self) -> Abi {
        self.abi
    }

    /// Whether it is a relocatable object's.
    #[must_use]
    pub const fn is_relocatable(&self) -> bool {
        self.layout.bases.relocations.is_some()
    }

    pub(crate) const fn file_size(&self) -> u64 {
        self.file_size
    }

    /// The section's bytes, which [`Expression`] points into.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.layout.whole.slice()
    }

    /// The bytes of an expression; two say the same when these are equal.
    #[must_use]
    pub fn expression(&self, expression: Expression) -> &'a [u8] {
        let start = expression.offset as usize;
        let end = start.saturating_add(expression.length as usize);
        self.data().get(start..end).unwrap_or_default()
    }

    /// What is wrong with the entries, the first 1,000: in the order they were found, those about
    /// the order of functions last. Defects of an FDE's instructions show among its rows.
    #[must_use]
    pub fn defects(&self) -> &[CfiError] {
        &self.defects
    }

    /// The first defect of each kind and the number of that kind, listed or not.
    #[must_use]
    pub fn defect_counts(&self) -> &[(CfiError, u64)] {
        &self.defect_counts
    }

    /// The common information entries that are readable, in the order of the file.
    #[must_use]
    pub fn cies(&self) -> &[Cie] {
        &self.cies
    }

    /// Number of functions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.fdes.len()
    }

    /// Whether there is no function at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.fdes.is_empty()
    }

    fn fde<'c>(&'c self, record: &'c FdeRecord) -> Option<Fde<'c>> {
        let cie = self.cies.get(usize::try_from(record.cie).ok()?)?;
        Some(Fde { cfi: self, record, cie })
    }

    /// The functions in the order of the file.
    pub fn functions(&self) -> impl Iterator<Item = Fde<'_>> {
        self.fdes.iter().filter_map(|record| self.fde(record))
    }

    /// The functions by section and address, then by size.
    pub fn sorted(&self) -> impl Iterator<Item = Fde<'_>> {
        (0..self.fdes.len()).filter_map(|place| self.fde(self.record_at(place)?))
    }

    /// Function number `place` of [`Cfi::sorted`].
    #[inline]
    pub(crate) fn nth_sorted(&self, place: usize) -> Option<Fde<'_>> {
        self.fde(self.record_at(place)?)
    }

    /// Entry `place` of the order by address.
    fn record_at(&self, place: usize) -> Option<&FdeRecord> {
        match self.order.get(place) {
            Some(index) => self.record(*index),
            None => self.fdes.get(place),
        }
    }

    /// The function whose range has `place`; of several, the one that starts last.
    #[must_use]
    pub fn find(&self, place: CodeAddress) -> Option<Fde<'_>> {
        let (mut low, mut high) = (0, self.fdes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.record_at(middle).is_some_and(|record| record.start <= place) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let fde = self.fde(self.record_at(low.checked_sub(1)?)?)?;
        fde.contains(place).then_some(fde)
    }
}

/// Which format a section has, by its name; NOBITS sections of debug files have none.
fn kind_of(section: &ElfSection<'_>) -> Option<Kind> {
    if section.sh_type == SHT_NOBITS {
        return None;
    }
    match section.name {
        b".eh_frame" => Some(Kind::EhFrame),
        b".debug_frame" | b".zdebug_frame" => Some(Kind::DebugFrame),
        _ => None,
    }
}

impl PartialEq for Fde<'_> {
    /// Whether both are the same entry of the same section.
    fn eq(&self, other: &Fde<'_>) -> bool {
        core::ptr::eq(self.record, other.record)
    }
}

impl<'c> Fde<'c> {
    /// Section offset of the entry.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.record.offset as u64
    }

    /// The section it stands in.
    #[must_use]
    pub const fn cfi(&self) -> &'c Cfi<'c> {
        self.cfi
    }

    /// The CIE it follows.
    #[must_use]
    pub const fn cie(&self) -> &'c Cie {
        self.cie
    }

    /// Where the function starts.
    #[must_use]
    pub const fn start(&self) -> CodeAddress {
        self.record.start
    }

    /// Bytes of code.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.record.size
    }

    /// Whether `place` is in the function's range.
    #[must_use]
    pub const fn contains(&self, place: CodeAddress) -> bool {
        place.section == self.record.start.section
            && place.address.wrapping_sub(self.record.start.address) < self.record.size
    }

    /// The instructions, without the CIE's initial ones.
    #[must_use]
    pub fn instructions(&self) -> Instructions<'c> {
        self.cfi.instructions(self.record.instructions, self.cie)
    }

    /// The rows, by evaluating the instructions. An error ends them.
    #[inline]
    pub fn rows<'x>(&self, context: &'x mut RowContext) -> Rows<'c, 'x> {
        Rows::new(self, context)
    }
}
