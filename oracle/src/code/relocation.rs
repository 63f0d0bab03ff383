//! The relocations of a relocatable object, such as a kernel module: they determine the targets of its calls and jumps,
//! and what its instructions and jump tables contain.

mod conventions;
mod data;
mod operand;
mod target;

use sframe_validator::elf::{Elf, ElfKind, Relocation, RelocationTable};
use sframe_validator::unwind::CodeAddress;

use super::conventions::Conventions;
use super::effect::{Condition, ControlFlow};
use data::DataRelocations;
pub(super) use target::{FIELD, RelocationTarget};

/// The number of bytes of a file for each relocation that is read. Those with few bytes (CREL) have about 5. Many headers that
/// lead to the same bytes must not multiply the work.
const BYTES_PER_RELOCATION: usize = 4;

/// The relocations of a file's code, and of the data that it refers to.
#[derive(Debug, Default)]
pub(super) struct CodeRelocations {
    /// The places of relocated fields in code, ordered, and what they refer to.
    fields: Vec<(CodeAddress, RelocationTarget)>,
    data: DataRelocations,
    /// Instructions that may continue at another place, ordered: the kernel replaces them with jumps, or handles their
    /// exceptions there.
    branches: Vec<(CodeAddress, CodeAddress)>,
    /// The index of `.altinstr_aux`, if there is such a section: code for jumps that the kernel replaces.
    auxiliary: Option<u32>,
}

impl CodeRelocations {
    /// The relocations of a relocatable object; nothing for other files. `None` if they cannot be read, or are more than its
    /// size allows: nothing is certain about the code then.
    pub(super) fn of(elf: &Elf<'_>, conventions: &Conventions) -> Option<CodeRelocations> {
        let mut found = CodeRelocations::default();
        if elf.kind() != ElfKind::Relocatable {
            return Some(found);
        }
        let mut room = elf.data().len() / BYTES_PER_RELOCATION;
        for section in elf.code_sections() {
            let place = |address| CodeAddress { section: section.index, address };
            let relocations = load(elf, section.index, &mut room)?;
            let fields =
                relocations.iter().map(|r| (place(r.offset), (conventions.relocation_target)(r)));
            found.fields.extend(fields);
        }
        found.fields.sort_by_key(|(place, _)| *place);
        let places = found.fields.iter().filter_map(|(_, target)| target.place());
        found.data = DataRelocations::of(elf, places, &mut room)?;
        found.add_conventions(elf, conventions);
        Some(found)
    }

    /// What an instruction of `length` bytes refers to, if it is relocated.
    pub(super) fn target(&self, place: CodeAddress, length: u8) -> Option<RelocationTarget> {
        self.field(place, length).map(|(_, target)| target)
    }

    /// The first relocated field of an instruction, and what it refers to.
    fn field(&self, place: CodeAddress, length: u8) -> Option<(CodeAddress, RelocationTarget)> {
        let first = self.fields.partition_point(|(relocated, _)| *relocated < place);
        let (field, target) = *self.fields.get(first)?;
        let is_inside =
            field.section == place.section && field.address - place.address < u64::from(length);
        is_inside.then_some((field, target))
    }

    /// The relocated numbers in data that code refers to.
    pub(super) const fn data(&self) -> &DataRelocations {
        &self.data
    }

    /// A further target of the instruction at a place.
    pub(super) fn branch(&self, place: CodeAddress) -> Option<CodeAddress> {
        if self.branches.is_empty() {
            return None;
        }
        let first = self.branches.partition_point(|(from, _)| *from < place);
        self.branches.get(first).filter(|(from, _)| *from == place).map(|(_, to)| *to)
    }

    /// Where control goes after an instruction of `length` bytes, if relocations determine it. `flat` gives the address
    /// of a place.
    #[inline(never)]
    pub(super) fn next(
        &self,
        place: CodeAddress,
        length: u8,
        next: ControlFlow,
        flat: impl Fn(CodeAddress) -> u64,
    ) -> ControlFlow {
        let next = match (next, self.target(place, length)) {
            (ControlFlow::Jump(_), Some(target)) => match target {
                RelocationTarget::Place(to) if Some(to.section) == self.auxiliary => {
                    ControlFlow::Following
                }
                RelocationTarget::Place(to) => ControlFlow::Jump(flat(to)),
                RelocationTarget::Return => ControlFlow::Return,
                _ => ControlFlow::Stop,
            },
            (ControlFlow::Branch(_, condition), Some(target)) => match target {
                RelocationTarget::Place(to) => ControlFlow::Branch(flat(to), condition),
                _ => ControlFlow::Following,
            },
            (ControlFlow::Call(_) | ControlFlow::CallBy(_), Some(RelocationTarget::NoReturn)) => {
                ControlFlow::NoReturnCall
            }
            (ControlFlow::Call(_), Some(RelocationTarget::Place(to))) => {
                ControlFlow::Call(flat(to))
            }
            (ControlFlow::Call(_), Some(_)) | (ControlFlow::CallBy(_), _) => {
                ControlFlow::IndirectCall
            }
            (next, _) => next,
        };
        let branch = || self.branch(place).map(&flat);
        match next {
            ControlFlow::Following => {
                branch().map_or(next, |to| ControlFlow::Branch(to, Condition::Other))
            }
            ControlFlow::Stop if branch() == Some(flat(place).wrapping_add(u64::from(length))) => {
                ControlFlow::Following
            }
            // A jump that the kernel may replace with an instruction that does nothing.
            ControlFlow::Jump(to) if branch().is_some() => {
                ControlFlow::Branch(to, Condition::Other)
            }
            _ => next,
        }
    }
}

/// The relocations of a section. Takes their number from `room`; `None` if that is not enough, or if they cannot be read.
fn load(elf: &Elf<'_>, section: u32, room: &mut usize) -> Option<Vec<Relocation>> {
    let table = RelocationTable::load(elf, section).ok().filter(|it| it.without_addend == 0)?;
    *room = room.checked_sub(table.relocations.len())?;
    Some(table.relocations)
}
