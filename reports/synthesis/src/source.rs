//! The functions of a file's CFI that a section could describe.

use sframe_oracle::cfi::{Cfi, Fde, RowContext};
use sframe_oracle::coverage::{Cause, Stubs, examine};
use sframe_validator::elf::{Elf, ElfKind, ElfSection, ReplacedCode};
use sframe_validator::unwind::{CodeAddress, Row};
use sframe_validator::{Abi, Version};

use crate::labels::Labels;
use crate::model::{Function, Losses};

/// A file and its CFI.
#[derive(Clone, Debug)]
pub(crate) struct Source<'e, 'c> {
    pub(crate) elf: &'e Elf<'e>,
    pub(crate) cfi: &'c [Cfi<'c>],
    pub(crate) abi: Abi,
    pub(crate) stubs: Stubs,
    pub(crate) labels: Labels,
    code: Code,
    /// Code that nothing executes any longer, which a section need not describe.
    replaced: Option<ReplacedCode<'e, 'e>>,
    /// Where stubs can be, in the terms of any part of this crate.
    stub_places: Code,
}

impl<'e, 'c> Source<'e, 'c> {
    /// The CFI of a file in the order of [`Cfi::load_all`]. `None` if SFrame is not defined for the machine.
    pub(crate) fn new(elf: &'e Elf<'e>, cfi: &'c [Cfi<'c>]) -> Option<Source<'e, 'c>> {
        let is_stubs = |section: &&ElfSection<'_>| {
            section.is_stubs() || section.name.bytes().starts_with(b".plt")
        };
        let stubs = elf.code_sections().filter(is_stubs);
        // An assembler describes functions in all sections of an object. In a linked file, addresses outside of code are
        // those of functions that the linker discarded.
        let (executable, all) = match elf.kind() {
            ElfKind::Relocatable => (None, Some(elf.sections())),
            _ => (Some(elf.executable()), None),
        };
        let all = all.unwrap_or_default().iter();
        let other = all.map(|s| (CodeAddress { section: s.index, address: 0 }, s.size));
        let executable = executable.into_iter().flatten();
        let stub_places = stubs.map(|s| (CodeAddress::absolute(s.address), s.size));
        Some(Source {
            elf,
            cfi,
            abi: elf.abi()?,
            stubs: Stubs::of(elf),
            labels: Labels::of(elf, &cfi.iter().map(Cfi::section).collect::<Vec<_>>()),
            code: Code::of(executable.chain(other)),
            replaced: elf.replaced_code(),
            stub_places: Code::of(stub_places),
        })
    }

    /// Passes each function to `visit`, in the order of the file, with the memory for reading its rows. A section for
    /// debuggers adds only functions that no earlier section describes. Functions without code in the file, such as
    /// those that a linker discarded, are left out.
    pub(crate) fn each(&self, mut visit: impl FnMut(&Fde<'c>, &mut RowContext)) {
        self.each_with(1, |function, contexts| {
            contexts.iter_mut().for_each(|c| visit(function, c))
        });
    }

    /// Like [`Source::each`], with the memory for reading the rows of each function `times` times.
    pub(crate) fn each_with(
        &self,
        times: usize,
        mut visit: impl FnMut(&Fde<'c>, &mut [RowContext]),
    ) {
        for (number, cfi) in self.cfi.iter().enumerate() {
            let earlier = self.cfi.get(..number).unwrap_or_default();
            let mut contexts = vec![RowContext::new(cfi); times];
            for function in cfi.functions() {
                let start = function.start();
                let is_known = earlier.iter().any(|cfi| cfi.find(start).is_some());
                let is_replaced = || self.replaced.as_ref().is_some_and(|it| it.contains(start));
                if !is_known && self.code.contains(start) && !is_replaced() {
                    visit(&function, &mut contexts);
                }
            }
        }
    }

    /// Whether a place is in a linker's stubs.
    pub(crate) fn is_stub(&self, place: CodeAddress) -> bool {
        let section = self.elf.code_section_at(place);
        !self.is_relocatable() && section.is_some_and(ElfSection::is_stubs)
    }

    /// Whether an address may be in a linker's stubs, in any section.
    pub(crate) fn may_be_stub(&self, place: CodeAddress) -> bool {
        self.stub_places.contains(CodeAddress::absolute(place.address))
    }

    /// Whether the file is linked dynamically.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.elf.sections().iter().any(|section| section.name.bytes() == b".dynamic")
    }

    fn is_relocatable(&self) -> bool {
        self.elf.kind() == ElfKind::Relocatable
    }

    /// Why an assembler of `version` writes nothing for a function.
    pub(crate) fn cause(
        &self,
        function: &Fde<'c>,
        version: Version,
        context: &mut RowContext,
    ) -> Option<Cause> {
        examine(&self.stubs, function, version, context).cause
    }
}

/// The file's executable places, with those whose bytes are not in the file.
#[derive(Clone, Debug)]
struct Code {
    /// Ranges in ascending order, each with the furthest end of all ranges of its section up to it.
    ranges: Vec<(CodeAddress, u64)>,
}

impl Code {
    fn of(ranges: impl Iterator<Item = (CodeAddress, u64)>) -> Code {
        let end = |(start, size): (CodeAddress, u64)| (start, start.address.saturating_add(size));
        let mut ranges: Vec<(CodeAddress, u64)> = ranges.map(end).collect();
        ranges.sort_unstable();
        let mut before: Option<(CodeAddress, u64)> = None;
        for range in &mut ranges {
            let earlier = before.filter(|(start, _)| start.section == range.0.section);
            range.1 = earlier.map_or(range.1, |(_, end)| range.1.max(end));
            before = Some(*range);
        }
        Code { ranges }
    }

    /// Whether there is code at a place, or a section ends there, where functions without bytes can be.
    fn contains(&self, place: CodeAddress) -> bool {
        let after = self.ranges.partition_point(|(start, _)| *start <= place);
        let last = after.checked_sub(1).and_then(|index| self.ranges.get(index));
        last.is_some_and(|(start, end)| start.section == place.section && place.address <= *end)
    }
}

/// Reads a function's rows. An error in its CFI is a loss.
pub(crate) fn read_function(
    function: &Fde<'_>,
    context: &mut RowContext,
) -> Result<Function, Cause> {
    let size = u32::try_from(function.size()).map_err(|_| Cause::OffsetRange)?;
    let rows: Result<Vec<Row>, _> = function.rows(context).collect();
    let cie = function.cie();
    Ok(Function {
        start: function.start(),
        size,
        signal: cie.signal,
        pauth_key_b: cie.pauth_key_b,
        block: None,
        start_width: None,
        flexible: false,
        rows: rows.map_err(|_| Cause::Unreadable)?,
    })
}

/// Counts a function that is left out.
pub(crate) fn lose(losses: &mut Losses, function: &Fde<'_>, cause: Cause) {
    losses.add(cause, function.start(), function.size());
}
