//! Which functions are carried, and which cannot be.

use std::collections::BTreeMap;

use sframe_oracle::cfi::{Cfi, Cie, Fde, Kind};
use sframe_validator::elf::{Elf, ElfKind, ElfSection, SHT_NOBITS};
use sframe_validator::section::CodeAddress;

use super::rules::{Machine, State};
use super::start::Start;
use super::{LeftOut, Reason};

/// The most rules that a CIE may have, an expression counted as one for each 16 bytes: they are
/// written for each function. Real CIEs have ten.
const MAX_INITIAL_RULES: usize = 64;

/// The state that each CIE starts its functions with, by its section's place among the CFI sections
/// and its own offset.
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

/// A function that is carried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'c> {
    pub(super) fde: Fde<'c>,
    pub(super) initial: &'c State<'c>,
    /// Bytes from the start of its section.
    pub(super) offset: u64,
    pub(super) code: &'c [u8],
    pub(super) start: Start,
}

impl<'c> Function<'c> {
    /// The state at the function's start.
    pub(super) fn machine(&self) -> Machine<'c> {
        Machine::new(self.fde.cfi(), self.fde.cie(), Some(self.initial))
    }
}

/// A code section and the functions in it, by place.
#[derive(Debug)]
pub(super) struct CodeSection<'c> {
    pub(super) section: &'c ElfSection<'c>,
    pub(super) data: &'c [u8],
    pub(super) functions: Vec<Function<'c>>,
}

/// All that is written.
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
        // Of two descriptions of one range the one that unwinders read comes first.
        all.sort_by_key(|(_, fde)| (fde.start(), fde.cfi().kind() == Kind::DebugFrame));
        let relocatable = elf.kind() == ElfKind::Relocatable;
        let finder = Finder::of(&plan.sections, relocatable);
        let mut last: Option<(CodeAddress, u64)> = None;
        for (place, fde) in all {
            if last == Some((fde.start(), fde.size())) && fde.cfi().kind() == Kind::DebugFrame {
                // Said twice, which loses nothing.
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
        let start = Start { simple: false, pinned: false };
        let mut function = Function { fde, initial: initial?, offset, code, start };
        function.start = Start::of(&function, &State::at_entry(fde.cfi().abi()))?;
        section.functions.push(function);
        Ok(())
    }
}

/// The code sections that have bytes in the file. Sections that share bytes with others, which those
/// of sound files do not, are only taken as long as all together have no more than the file.
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

/// Finds the section of a place.
struct Finder {
    /// Section number or 0, first address, size, place in the plan; ordered.
    places: Vec<(u32, u64, u64, usize)>,
}

impl Finder {
    fn of(sections: &[CodeSection<'_>], relocatable: bool) -> Finder {
        let mut places: Vec<_> = sections
            .iter()
            .enumerate()
            .map(|(number, code)| {
                let (index, address) = match relocatable {
                    true => (code.section.index, 0),
                    false => (0, code.section.address),
                };
                (index, address, code.data.len() as u64, number)
            })
            .collect();
        places.sort_unstable();
        Finder { places }
    }

    /// The section that has all of a range, and how far into it the range starts.
    fn find(&self, start: CodeAddress, size: u64) -> Option<(usize, u64)> {
        let behind = self.places.partition_point(|(section, address, ..)| {
            (*section, *address) <= (start.section, start.address)
        });
        let (section, address, length, number) = *self.places.get(behind.checked_sub(1)?)?;
        let offset = start.address - address;
        let fits = section == start.section && offset.checked_add(size)? <= length;
        fits.then_some((number, offset))
    }
}
