//! Where a section will be, and the relocations of its start fields.

use sframe_validator::elf::{Elf, ElfKind, SHT_GNU_SFRAME, SHT_PROGBITS};
use sframe_validator::section::{Header, Placement, StartRelocation, Starts};

/// Where a section will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a linked file, at this address.
    Linked(u64),
    /// In a relocatable object: start fields are 0 and have relocations, and the table is in the order of the file.
    Relocatable,
}

impl Place {
    /// The place in `elf`: that of its own SFrame section, or else the end of `.eh_frame`, where GNU ld would put one
    /// and move the rest. The address changes the values of start fields, but no size.
    #[must_use]
    pub fn of(elf: &Elf<'_>) -> Place {
        if elf.kind() == ElfKind::Relocatable {
            return Place::Relocatable;
        }
        let own = elf.sframe_sections().next().map(|section| section.address);
        let after = || {
            let section =
                elf.sections().iter().find(|section| section.name.bytes() == b".eh_frame")?;
            section.address.checked_add(section.size)?.checked_next_multiple_of(8)
        };
        Place::Linked(own.or_else(after).unwrap_or(0))
    }

    /// The place of an existing section.
    pub(crate) const fn of_section(placement: &Placement<'_>) -> Place {
        match placement.starts {
            Starts::Linked => Place::Linked(placement.address),
            Starts::Relocated(_) => Place::Relocatable,
        }
    }
}

/// A section that was made, with what is needed to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The section's bytes.
    pub bytes: Vec<u8>,
    /// The places of the start fields in a relocatable object, and the functions to which they refer; empty in a linked
    /// file.
    pub relocations: Vec<StartRelocation>,
}

impl Written {
    /// The placement with which the section is read, if it was made for `place`.
    #[must_use]
    pub fn placement(&self, place: Place) -> Placement<'_> {
        match place {
            Place::Linked(address) => Placement::at(address),
            Place::Relocatable => Placement::relocated(&self.relocations),
        }
    }
}

/// The type of the section. Producers that write no PC-relative starts do not know its own type (observed: GNU as and
/// ld 2.40 to 2.44).
pub(crate) fn section_type(section: &[u8]) -> u32 {
    let is_early = Header::parse(section, None).is_ok_and(|(header, _)| !header.flags.pcrel());
    if is_early { SHT_PROGBITS } else { SHT_GNU_SFRAME }
}
