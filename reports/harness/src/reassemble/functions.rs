//! Selects the functions that are written.

use std::collections::BTreeMap;

use sframe_oracle::cfi::{Cfi, Cie, Fde, Kind};
use sframe_validator::elf::{Elf, ElfKind, ElfSection, SHT_NOBITS};
use sframe_validator::unwind::CodeAddress;

use super::rules::{Machine, State};
use super::start::Start;
use super::{LeftOut, Reason};

/// The maximum number of rules of a CIE, since they are written for each function. Every 16 bytes of an expression
/// count as one more rule. Real CIEs have about ten.
const MAX_INITIAL_RULES: usize = 64;

/// The state at the start of each CIE's functions, by the index of the CFI section and the CIE's offset in it.
#[derive(Debug)]
pub(super) struct Initials<'c> {
    states: BTreeMap<(usize, u32), Result<State<'c>, Reason>>,
}

impl<'c> Initials<'c> {
    pub(super) fn of(cfis: &'c [Cfi<'c>]) -> Initials<'c> {
        let cies = cfis.iter().enumerate().flat_map(|(place, cfi)| {
            cfi.cies().iter().map(move |cie| ((place, cie.offset), state_of(cfi, cie)))
        });
        Initials { states: cies.collect() }
    }

    fn get(&self, place: usize, cie: &Cie) -> Result<&State<'c>, Reason> {
        match self.states.get(&(place, cie.offset)) {
            Some(Ok(state)) => Ok(state),
            Some(Err(reason)) => Err(*reason),
            None => Err(Reason::Unreadable),
        }
    }
}

fn state_of<'c>(cfi: &'c Cfi<'c>, cie: &Cie) -> Result<State<'c>, Reason> {
    let mut machine = Machine::new(cfi, cie, None);
    for instruction in cfi.initial_instructions(cie) {
        machine.apply(&instruction.map_err(|_| Reason::Unreadable)?, |_| {})?;
    }
    if machine.state.weight() > MAX_INITIAL_RULES {
        return Err(Reason::ManyRules);
    }
    Ok(machine.state)
}

/// A function to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'c> {
    pub(super) fde: Fde<'c>,
    pub(super) initial: &'c State<'c>,
    /// Offset in bytes from the start of its section.
    pub(super) offset: u64,
    pub(super) code: &'c [u8],
    pub(super) start: Start,
}

impl<'c> Function<'c> {
    /// The state at the function's start.
    pub(super) fn machine(&self) -> Machine<'c> {
        Machine::of(&self.fde, self.initial)
    }
}

/// A code section and the functions in it, ordered by address.
#[derive(Debug)]
pub(super) struct CodeSection<'c> {
    pub(super) section: &'c ElfSection<'c>,
    pub(super) data: &'c [u8],
    pub(super) functions: Vec<Function<'c>>,
}

/// Everything to be written, and the functions that are left out.
#[derive(Debug)]
pub(super) struct Plan<'c> {
    pub(super) sections: Vec<CodeSection<'c>>,
    pub(super) left_out: LeftOut,
}

impl<'c> Plan<'c> {
    pub(super) fn of(
        elf: &'c Elf<'c>,
        cfis: &'c [Cfi<'c>],
        initials: &'c Initials<'c>,
    ) -> Plan<'c> {
        let mut plan = Plan { sections: sections(elf), left_out: LeftOut::default() };
        let mut all: Vec<_> = cfis
            .iter()
            .enumerate()
            .flat_map(|(place, cfi)| cfi.sorted().map(move |fde| (place, fde)))
            .collect();
        // If two entries have the same range, the one in .eh_frame, which unwinders read, comes first.
        all.sort_by_key(|(_, fde)| (fde.start(), fde.cfi().kind() == Some(Kind::DebugFrame)));
        let finder = Finder::of(&plan.sections, elf.kind());
        let mut last: Option<(CodeAddress, u64)> = None;
        for (place, fde) in all {
            if last == Some((fde.start(), fde.size())) && fde.cfi().kind() == Some(Kind::DebugFrame)
            {
                // A second entry for the same range can be ignored.
                continue;
            }
            match plan.admit(&finder, last, initials.get(place, fde.cie()), fde) {
                Ok(()) => last = Some((fde.start(), fde.size())),
                Err(reason) => plan.left_out.add(reason, fde.start()),
            }
        }
        plan
    }

    fn admit(
        &mut self,
        finder: &Finder,
        last: Option<(CodeAddress, u64)>,
        initial: Result<&'c State<'c>, Reason>,
        fde: Fde<'c>,
    ) -> Result<(), Reason> {
        if fde.size() == 0 {
            return Err(Reason::Empty);
        }
        let overlaps = |(start, size): (CodeAddress, u64)| {
            start.section == fde.start().section && fde.start().address - start.address < size
        };
        if last.is_some_and(overlaps) {
            return Err(Reason::Overlap);
        }
        let (number, offset) = finder.find(fde.start(), fde.size()).ok_or(Reason::NoCode)?;
        let section = self.sections.get_mut(number).ok_or(Reason::NoCode)?;
        let code = usize::try_from(offset).ok().and_then(|offset| section.data.get(offset..));
        let code = code.zip(usize::try_from(fde.size()).ok());
        let code = code.and_then(|(code, size)| code.get(..size)).ok_or(Reason::NoCode)?;
        let initial = initial?;
        let start = Start::of(&fde, initial, &State::at_entry(fde.cfi().abi()))?;
        section.functions.push(Function { fde, initial, offset, code, start });
        Ok(())
    }
}

/// The code sections that have bytes in the file. In malicious files, sections may share bytes: once all sections
/// together would exceed the size of the file, further ones are skipped.
fn sections<'c>(elf: &'c Elf<'c>) -> Vec<CodeSection<'c>> {
    let mut room = elf.data().len();
    let mut sections: Vec<CodeSection<'c>> = Vec::new();
    for section in elf.code_sections().filter(|section| section.sh_type != SHT_NOBITS) {
        let Ok(data) = elf.section_data(section) else { continue };
        let Some(left) = room.checked_sub(data.len()) else { continue };
        room = left;
        sections.push(CodeSection { section, data, functions: Vec::new() });
    }
    sections
}

/// Finds the section of an address.
struct Finder {
    /// Section number or 0, first address, size, and index in the plan; sorted.
    places: Vec<(u32, u64, u64, usize)>,
}

impl Finder {
    fn of(sections: &[CodeSection<'_>], kind: ElfKind) -> Finder {
        let mut places: Vec<_> = sections
            .iter()
            .enumerate()
            .map(|(number, code)| {
                let (index, address) = match kind {
                    ElfKind::Relocatable => (code.section.index, 0),
                    _ => (0, code.section.address),
                };
                (index, address, code.data.len() as u64, number)
            })
            .collect();
        places.sort_unstable();
        Finder { places }
    }

    /// The section that contains a whole range, and the range's offset in it.
    fn find(&self, start: CodeAddress, size: u64) -> Option<(usize, u64)> {
        let after = self.places.partition_point(|(section, address, ..)| {
            (*section, *address) <= (start.section, start.address)
        });
        let (section, address, length, number) = *self.places.get(after.checked_sub(1)?)?;
        let offset = start.address - address;
        let fits = section == start.section && offset.checked_add(size)? <= length;
        fits.then_some((number, offset))
    }
}
