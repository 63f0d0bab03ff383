//! The relocations of code in a relocatable object, such as a kernel module: where its calls and jumps lead.

mod conventions;

use sframe_validator::elf::{EM_AARCH64, EM_X86_64, Elf, ElfKind, Relocation, RelocationTable};
use sframe_validator::unwind::CodeAddress;

use super::effect::{Condition, Next};

/// Where the target of a relocated call or jump is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// In the same file.
    Place(CodeAddress),
    /// In the caller: a jump to the Linux kernel's `__x86_return_thunk` is a return.
    Return,
    /// In a function that does not return.
    Endless,
    /// In another file.
    Elsewhere,
}

/// The relocations of a file's code.
#[derive(Debug, Default)]
pub(super) struct Relocated {
    /// The places of relocated fields, ordered, and their targets if they are calls or jumps.
    leads: Vec<(CodeAddress, Lead)>,
    /// Instructions that may continue at another place, ordered: the kernel replaces them with jumps, or handles their
    /// exceptions there.
    branches: Vec<(CodeAddress, CodeAddress)>,
    /// The index of `.altinstr_aux`, if there is such a section: code for jumps that the kernel replaces.
    auxiliary: Option<u32>,
}

impl Relocated {
    /// The relocations of a relocatable object; nothing for other files.
    pub(super) fn of(elf: &Elf<'_>) -> Relocated {
        let mut found = Relocated::default();
        if elf.kind() != ElfKind::Relocatable {
            return found;
        }
        for section in elf.code_sections() {
            let table = RelocationTable::load(elf, section.index).unwrap_or_default();
            let place = |address| CodeAddress { section: section.index, address };
            let leads = table.relocations.iter().map(|r| (place(r.offset), lead(elf.machine(), r)));
            found.leads.extend(leads);
        }
        found.leads.sort_by_key(|(place, _)| *place);
        found.add_conventions(elf);
        found
    }

    /// The target of an instruction of `length` bytes, if it is relocated.
    pub(super) fn lead(&self, place: CodeAddress, length: u8) -> Option<Lead> {
        let first = self.leads.partition_point(|(relocated, _)| *relocated < place);
        let (relocated, lead) = self.leads.get(first)?;
        let is_inside = relocated.section == place.section
            && relocated.address - place.address < u64::from(length);
        is_inside.then_some(*lead)
    }

    /// Where else execution may continue after the instruction at a place.
    pub(super) fn branch(&self, place: CodeAddress) -> Option<CodeAddress> {
        if self.branches.is_empty() {
            return None;
        }
        let first = self.branches.partition_point(|(from, _)| *from < place);
        self.branches.get(first).filter(|(from, _)| *from == place).map(|(_, to)| *to)
    }

    /// Where execution continues after an instruction of `length` bytes, if relocations determine it. Only targets in the
    /// same section have addresses.
    #[inline(never)]
    pub(super) fn next(
        &self,
        place: CodeAddress,
        length: u8,
        next: Next,
        flat: impl Fn(CodeAddress) -> u64,
    ) -> Next {
        let next = match (next, self.lead(place, length)) {
            (Next::Jump(_), Some(lead)) => match lead {
                Lead::Place(to) if Some(to.section) == self.auxiliary => Next::Following,
                Lead::Place(to) => Next::Jump(flat(to)),
                Lead::Return => Next::Return,
                Lead::Endless | Lead::Elsewhere => Next::Stop,
            },
            (Next::Branch(_, condition), Some(lead)) => match lead {
                Lead::Place(to) => Next::Branch(flat(to), condition),
                _ => Next::Following,
            },
            (Next::Call(_), Some(lead)) => match lead {
                Lead::Place(to) => Next::Call(flat(to)),
                Lead::Endless => Next::Stop,
                _ => Next::IndirectCall,
            },
            (next, _) => next,
        };
        let branch = || self.branch(place).map(&flat);
        match next {
            Next::Following => branch().map_or(next, |to| Next::Branch(to, Condition::Other)),
            Next::Stop if branch() == Some(flat(place).wrapping_add(u64::from(length))) => {
                Next::Following
            }
            // A jump that the kernel may replace with an instruction that does nothing.
            Next::Jump(to) if branch().is_some() => Next::Branch(to, Condition::Other),
            _ => next,
        }
    }
}

/// The target of a relocation, if it is one of a call or a jump with a defined symbol.
fn lead(machine: u16, relocation: &Relocation) -> Lead {
    // R_X86_64_PC32 and R_X86_64_PLT32: the field is at the end of the instruction, from which the processor counts.
    // R_AARCH64_TSTBR14, R_AARCH64_CONDBR19, R_AARCH64_JUMP26, R_AARCH64_CALL26.
    let after = match (machine, relocation.kind) {
        (EM_X86_64, 2 | 4) => 4,
        (EM_AARCH64, 279 | 280 | 282 | 283) => 0,
        _ => return Lead::Elsewhere,
    };
    relocation.target().map_or(Lead::Elsewhere, |target| {
        let address = target.address.wrapping_add(after);
        Lead::Place(CodeAddress { address, ..target })
    })
}
