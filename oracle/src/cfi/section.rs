//! A section of call frame information: its entries, read once, and their defects.

use gimli::Reader;
use sframe_validator::Abi;
use sframe_validator::unwind::Expression;

use super::entry::{self, Cie, Entry, FdeRecord, read_cie, read_fde, read_prefix};
use super::error::{CfiError, CfiErrorKind};
use super::instruction::{Environment, Instructions};
use super::layout::{Kind, Layout};
use super::machine::Initial;
use super::order::Order;
use super::pointer::{Bases, Slice, byte_order};
use super::state::State;

/// The maximum number of defects that are listed; further ones are only counted.
const MAX_DEFECTS: usize = 1000;

/// The size in bytes of a short entry. Memory reserved for as many functions as a section could have entries of this
/// size is never much larger than the section, and its unused part is never touched.
const USUAL_ENTRY: usize = 32;

/// A CFI section: its entries and its defects.
#[derive(Clone, Debug)]
pub struct Cfi<'a> {
    pub(super) layout: Layout<'a>,
    kind: Option<Kind>,
    section: u32,
    abi: Abi,
    /// Whether its functions keep registers for their callers, as the psABI says.
    pub(super) keeps_registers: bool,
    file_size: u64,
    pub(super) cies: Vec<Cie>,
    pub(super) fdes: Vec<FdeRecord>,
    pub(super) order: Order,
    defects: Vec<CfiError>,
    defect_counts: Vec<DefectCount>,
}

/// The defects of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefectCount {
    /// The first defect.
    pub first: CfiError,
    /// Their number, listed or not.
    pub count: u64,
}

/// The state of reading all entries.
#[derive(Default)]
struct Reading<'a> {
    states: Vec<State>,
    /// The index of the previous FDE's CIE.
    last: usize,
    /// The offsets of CIEs that cannot be read, in ascending order.
    unreadable: Vec<u32>,
    /// FDEs that refer to a later CIE.
    waiting: Vec<entry::Prefix<'a>>,
}

impl<'a> Cfi<'a> {
    /// Reads the bytes of a section at `address` in a linked file with 8-byte addresses.
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
        let endian = byte_order(abi.endian());
        let whole = Slice::new(data, endian);
        let layout = Layout { whole, kind, endian, address_size: 8, bases };
        Cfi::read(layout, abi, 0, data.len() as u64)
    }

    /// A table of `functions`, each with one of `cies`, in a file of `file_size` bytes.
    pub(crate) fn of_records(
        layout: Layout<'a>,
        abi: Abi,
        file_size: u64,
        cies: impl IntoIterator<Item = Cie>,
        functions: Vec<FdeRecord>,
    ) -> Cfi<'a> {
        let mut cfi = Cfi { kind: None, ..Cfi::empty(layout, abi, 0, file_size) };
        let mut states = Vec::new();
        cies.into_iter().for_each(|cie| cfi.add_cie(cie, &mut states));
        cfi.fdes = functions;
        cfi.order_functions();
        cfi
    }

    /// Reads the entries of section number `section`, which has at most 4 GiB, in a file of `file_size` bytes.
    pub(super) fn read(layout: Layout<'a>, abi: Abi, section: u32, file_size: u64) -> Cfi<'a> {
        let entries = layout.whole.len() / USUAL_ENTRY;
        let mut cfi = Cfi::empty(layout, abi, section, file_size);
        cfi.fdes.reserve_exact(entries);
        cfi.read_entries();
        cfi.order_functions();
        cfi
    }

    fn empty(layout: Layout<'a>, abi: Abi, section: u32, file_size: u64) -> Cfi<'a> {
        Cfi {
            kind: Some(layout.kind),
            layout,
            section,
            abi,
            keeps_registers: true,
            file_size,
            cies: Vec::new(),
            fdes: Vec::new(),
            order: Order::default(),
            defects: Vec::new(),
            defect_counts: Vec::new(),
        }
    }

    /// Orders the functions by address.
    fn order_functions(&mut self) {
        let (order, defects) = Order::of(&self.fdes);
        self.order = order;
        for error in defects {
            self.defect(error);
        }
    }

    /// Reads all entries in order.
    fn read_entries(&mut self) {
        let layout = self.layout.clone();
        let mut reading = Reading::default();
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
                    self.read_entry(prefix, &layout, &mut reading);
                }
                Err(error) => {
                    // Zeros that pad a section to its alignment are not an entry.
                    if input.slice().iter().any(|byte| *byte != 0) {
                        self.defect(error);
                    }
                    break;
                }
            }
        }
        let waiting = std::mem::take(&mut reading.waiting);
        for prefix in &waiting {
            self.add_fde(prefix, &layout, &mut reading);
        }
        if !waiting.is_empty() {
            self.fdes.sort_by_key(|fde| fde.offset);
        }
    }

    fn read_entry(
        &mut self,
        prefix: entry::Prefix<'a>,
        layout: &Layout<'a>,
        reading: &mut Reading<'a>,
    ) {
        if prefix.is_cie {
            match read_cie(&prefix, layout) {
                Ok(cie) => self.add_cie(cie, &mut reading.states),
                Err(error) => {
                    self.defect(error);
                    reading.unreadable.extend(u32::try_from(prefix.offset));
                }
            }
        } else if prefix.cie_offset(layout).is_ok_and(|offset| offset > prefix.offset) {
            reading.waiting.push(prefix);
        } else {
            self.add_fde(&prefix, layout, reading);
        }
    }

    fn add_cie(&mut self, mut cie: Cie, states: &mut Vec<State>) {
        let initial = Initial::of(self.initial_instructions(&cie), &cie, self.abi, states);
        for error in initial.restore.into_iter().chain(initial.state.err()) {
            self.defect(error);
        }
        cie.initial = initial.state;
        cie.traces = initial.traces;
        self.cies.push(cie);
    }

    fn add_fde(
        &mut self,
        prefix: &entry::Prefix<'a>,
        layout: &Layout<'a>,
        reading: &mut Reading<'a>,
    ) {
        match self.read_fde(prefix, layout, &mut reading.last, &reading.unreadable) {
            Ok(record) => self.fdes.push(record),
            Err(error) => self.defect(error),
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

    pub(super) fn defect(&mut self, error: CfiError) {
        let same = |known: &&mut DefectCount| known.first.kind.name() == error.kind.name();
        match self.defect_counts.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => self.defect_counts.push(DefectCount { first: error, count: 1 }),
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

    /// The instructions with which each function of a CIE starts.
    #[must_use]
    pub fn initial_instructions(&self, cie: &Cie) -> Instructions<'_> {
        self.instructions(cie.instructions, cie)
    }

    pub(super) fn instructions(&self, span: (u32, u32), cie: &Cie) -> Instructions<'_> {
        let (start, end) = (span.0 as usize, span.1 as usize);
        let bytes = self.layout.whole.slice().get(start..end).unwrap_or_default();
        let input = Slice::new(bytes, self.layout.endian);
        Instructions::new(input, self.environment(), cie.encoding, cie.address_size)
    }

    /// The format of the section; `None` if the table was made from the Linux kernel's ORC tables, by
    /// [`OrcFunctions`](crate::orc::OrcFunctions).
    #[must_use]
    pub const fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Whether a register without a rule is unchanged, as the psABI says of those that functions keep for their callers. Go's
    /// functions keep none but the frame pointer (Go internal ABI specification, "Architecture specifics").
    pub(crate) const fn keeps_registers(&self) -> bool {
        self.keeps_registers
    }

    /// What people call such a table: CFI or ORC.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self.kind {
            Some(_) => "CFI",
            None => "ORC",
        }
    }

    /// The name of the section, according to its format.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.kind {
            Some(Kind::EhFrame) => ".eh_frame",
            Some(Kind::DebugFrame) => ".debug_frame",
            None => ".orc_unwind",
        }
    }

    /// The ELF index of the section; 0 for bare bytes.
    #[must_use]
    pub const fn section(&self) -> u32 {
        self.section
    }

    /// The machine, which determines the meaning of register numbers.
    #[must_use]
    pub const fn abi(&self) -> Abi {
        self.abi
    }

    /// Whether the section is in a relocatable object.
    #[must_use]
    pub const fn is_relocatable(&self) -> bool {
        self.layout.bases.relocations.is_some()
    }

    pub(crate) const fn file_size(&self) -> u64 {
        self.file_size
    }

    /// The section's bytes, to which [`Expression`] refers.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.layout.whole.slice()
    }

    /// The bytes of an expression. Two expressions are equal if their bytes are.
    #[must_use]
    pub fn expression(&self, expression: Expression) -> &'a [u8] {
        let start = expression.offset as usize;
        let end = start.saturating_add(expression.length as usize);
        self.data().get(start..end).unwrap_or_default()
    }

    /// The first 1,000 defects of the entries, in the order in which they were found; those about the order of
    /// functions come last. Defects of an FDE's instructions are errors among its rows.
    #[must_use]
    pub fn defects(&self) -> &[CfiError] {
        &self.defects
    }

    /// The first defect of each kind, and the number of defects of that kind, listed or not.
    #[must_use]
    pub fn defect_counts(&self) -> &[DefectCount] {
        &self.defect_counts
    }

    /// The common information entries that are readable, in the order of the file.
    #[must_use]
    pub fn cies(&self) -> &[Cie] {
        &self.cies
    }

    /// The number of functions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.fdes.len()
    }

    /// Whether there are no functions.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.fdes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory for functions is reserved once: a short entry has 32 bytes.
    #[test]
    fn memory_is_reserved_for_as_many_functions_as_fit() {
        for count in [0, 1, 100] {
            let bytes = vec![0; 32 * count];
            let cfi = Cfi::from_bytes(&bytes, Kind::EhFrame, 0, Abi::Amd64);
            assert!((count..=count + 8).contains(&cfi.fdes.capacity()));
        }
    }
}
