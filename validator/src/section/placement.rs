//! Where a section is, and how the start addresses of its functions are determined.

use crate::abi::{Abi, Endian};
use crate::unwind::CodeAddress;

/// The relocation of one function's start field in a relocatable object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartRelocation {
    /// The offset in bytes from the start of the section to the relocated field.
    pub field_offset: u64,
    /// The symbol's place plus the addend; `None` for `R_*_NONE`, which `ld -r` leaves for functions that it discarded.
    pub target: Option<CodeAddress>,
}

/// How start fields are converted to addresses.
#[derive(Clone, Copy, Debug)]
pub enum Starts<'a> {
    /// In a linked file, the field is relative to itself or to the section, depending on the flag.
    Linked,
    /// In a relocatable object, these relocations give the starts, and the flag is ignored. They are ordered by field
    /// offset.
    Relocated(&'a [StartRelocation]),
}

/// What a reader needs to know about a section besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// The section's address in a linked file.
    pub address: u64,
    /// The source of start addresses.
    pub starts: Starts<'a>,
    /// Overrides the ABI in the header's `sfh_abi_arch`.
    pub abi: Option<Abi>,
    /// Overrides the byte order of the magic number.
    pub endian: Option<Endian>,
    /// Whether the code may rely on the red zone of its machine, if that has one.
    pub red_zone: bool,
}

impl<'a> Placement<'a> {
    /// A linked section at `address`.
    #[must_use]
    pub const fn at(address: u64) -> Placement<'a> {
        Placement { address, starts: Starts::Linked, abi: None, endian: None, red_zone: true }
    }

    /// A section of a relocatable object with the relocations of its start fields, ordered by
    /// field offset.
    #[must_use]
    pub const fn relocated(relocations: &'a [StartRelocation]) -> Placement<'a> {
        Placement { starts: Starts::Relocated(relocations), ..Placement::at(0) }
    }

    /// Says whether the code may rely on a red zone.
    #[must_use]
    pub const fn with_red_zone(mut self, red_zone: bool) -> Placement<'a> {
        self.red_zone = red_zone;
        self
    }

    /// Overrides the header's ABI.
    #[must_use]
    pub const fn with_abi(mut self, abi: Option<Abi>) -> Placement<'a> {
        self.abi = abi;
        self
    }

    /// Overrides the magic number's byte order.
    #[must_use]
    pub const fn with_endian(mut self, endian: Option<Endian>) -> Placement<'a> {
        self.endian = endian;
        self
    }
}
