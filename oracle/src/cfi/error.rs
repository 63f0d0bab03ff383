//! Defects of call frame information and their places.

use core::fmt;

use super::state::MAX_STATES;

/// A defect at a place in a CFI section: something cannot be read, or breaks a rule of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfiError {
    /// The offset in bytes of the field or instruction from the start of the section.
    pub offset: u64,
    /// The defect.
    pub kind: CfiErrorKind,
}

/// The ways in which call frame information can be malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CfiErrorKind {
    /// The section's bytes are compressed, outside the file, shared with other sections, or more than 4 GiB; contains
    /// the reason.
    UnreadableSection(&'static str),
    /// A field or an operand ends past the end of its entry.
    Truncated,
    /// A LEB128 number does not fit in 64 bits.
    NumberTooLarge,
    /// An entry's length reaches past the end of the section, or is a reserved value; the entries after
    /// it cannot be found.
    EntryLength {
        /// The stored length.
        length: u64,
        /// Bytes left in the section.
        available: u64,
    },
    /// Entries follow the zero terminator of `.eh_frame`: an unwinder that reads the section sequentially does not see
    /// them.
    EntriesAfterTerminator,
    /// An FDE's CIE pointer does not lead to a CIE; contains the section offset to which it leads.
    BadCiePointer(u64),
    /// The FDE's CIE cannot be read; contains the CIE's offset.
    UnreadableCie(u64),
    /// A CIE version other than 1, 3 and 4.
    CieVersion(u8),
    /// A letter in the augmentation string that has no known meaning there.
    Augmentation(u8),
    /// An address size other than 2, 4 and 8, or a segment selector of more than 8 bytes.
    AddressSize(u8),
    /// A pointer encoding that is not defined, or has no base here.
    PointerEncoding(u8),
    /// The start of a function's range is stored elsewhere (`DW_EH_PE_indirect`) and known only in a running process.
    IndirectPointer(u8),
    /// The end of a range, or an address that instructions advance to, is past 2^64.
    AddressOverflow,
    /// An offset from a register or the CFA does not fit in 64 bits.
    OffsetOverflow,
    /// A register number that does not fit in 32 bits.
    RegisterNumber(u64),
    /// The range of a function has no bytes.
    EmptyRange,
    /// Two entries describe the same code; contains the section offset of the other one.
    Overlap(u64),
    /// An instruction code that no version and no known vendor defines.
    UnknownInstruction(u8),
    /// `DW_CFA_restore_state` without a preceding `DW_CFA_remember_state`.
    UnbalancedRestoreState,
    /// More than [`MAX_STATES`] states are remembered.
    TooManyStates,
    /// An instruction changes half of a CFA rule that is not a register plus an offset.
    CfaNotRegister,
    /// A CIE's initial instructions advance the location or restore a register's initial rule.
    NotInitial(u8),
    /// Instructions advance to an address past the function's range.
    AdvancePastEnd {
        /// The address.
        address: u64,
        /// The first address after the range.
        end: u64,
    },
    /// `DW_CFA_set_loc` leads to an address before the current one, or in another section.
    SetLocBackwards {
        /// The current location.
        from: u64,
        /// The address to which the operand leads.
        to: u64,
    },
    /// A relocatable object has no relocation for an address.
    MissingRelocation,
    /// The relocation is `R_*_NONE`: `ld -r` discarded the function.
    Discarded,
    /// The relocation's symbol is not defined in the object.
    UnresolvedRelocation,
    /// The relocation's type, given by its number, does not fit the field.
    RelocationType(u32),
}

impl CfiErrorKind {
    /// The defect's name, for findings.
    ///
    /// ```
    /// use sframe_oracle::cfi::CfiErrorKind;
    /// assert_eq!(CfiErrorKind::UnbalancedRestoreState.name(), "cfi-unbalanced-restore-state");
    /// ```
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            CfiErrorKind::UnreadableSection(_) => "cfi-unreadable-section",
            CfiErrorKind::Truncated => "cfi-truncated",
            CfiErrorKind::NumberTooLarge => "cfi-number-too-large",
            CfiErrorKind::EntryLength { .. } => "cfi-entry-length",
            CfiErrorKind::EntriesAfterTerminator => "cfi-entries-after-terminator",
            CfiErrorKind::BadCiePointer(_) => "cfi-bad-cie-pointer",
            CfiErrorKind::UnreadableCie(_) => "cfi-unreadable-cie",
            CfiErrorKind::CieVersion(_) => "cfi-cie-version",
            CfiErrorKind::Augmentation(_) => "cfi-unknown-augmentation",
            CfiErrorKind::AddressSize(_) => "cfi-address-size",
            CfiErrorKind::PointerEncoding(_) => "cfi-pointer-encoding",
            CfiErrorKind::IndirectPointer(_) => "cfi-indirect-pointer",
            CfiErrorKind::AddressOverflow => "cfi-address-overflow",
            CfiErrorKind::OffsetOverflow => "cfi-offset-overflow",
            CfiErrorKind::RegisterNumber(_) => "cfi-register-number",
            CfiErrorKind::EmptyRange => "cfi-empty-range",
            CfiErrorKind::Overlap(_) => "cfi-overlap",
            CfiErrorKind::UnknownInstruction(_) => "cfi-unknown-instruction",
            CfiErrorKind::UnbalancedRestoreState => "cfi-unbalanced-restore-state",
            CfiErrorKind::TooManyStates => "cfi-too-many-states",
            CfiErrorKind::CfaNotRegister => "cfi-cfa-not-register",
            CfiErrorKind::NotInitial(_) => "cfi-not-initial",
            CfiErrorKind::AdvancePastEnd { .. } => "cfi-advance-past-end",
            CfiErrorKind::SetLocBackwards { .. } => "cfi-set-loc-backwards",
            CfiErrorKind::MissingRelocation => "cfi-missing-relocation",
            CfiErrorKind::Discarded => "cfi-discarded",
            CfiErrorKind::UnresolvedRelocation => "cfi-unresolved-relocation",
            CfiErrorKind::RelocationType(_) => "cfi-relocation-type",
        }
    }

    pub(crate) const fn at(self, offset: u64) -> CfiError {
        CfiError { offset, kind: self }
    }
}

impl From<gimli::Error> for CfiErrorKind {
    fn from(error: gimli::Error) -> CfiErrorKind {
        match error {
            gimli::Error::BadUnsignedLeb128 | gimli::Error::BadSignedLeb128 => {
                CfiErrorKind::NumberTooLarge
            }
            _ => CfiErrorKind::Truncated,
        }
    }
}

impl core::error::Error for CfiError {}

impl fmt::Display for CfiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CFI section offset {:#x}: {}", self.offset, self.kind)
    }
}

impl fmt::Display for CfiErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CfiErrorKind::UnreadableSection(why) => write!(f, "the section is not readable: {why}"),
            CfiErrorKind::Truncated => f.write_str("the entry ends inside a field"),
            CfiErrorKind::NumberTooLarge => f.write_str("a LEB128 number has more than 64 bits"),
            CfiErrorKind::EntryLength { length, available } => {
                write!(f, "the entry has {length:#x} bytes, but {available:#x} are left")
            }
            CfiErrorKind::EntriesAfterTerminator => {
                f.write_str("entries follow the zero terminator")
            }
            CfiErrorKind::BadCiePointer(to) => write!(f, "no CIE starts at {to:#x}"),
            CfiErrorKind::UnreadableCie(at) => write!(f, "the CIE at {at:#x} is not readable"),
            CfiErrorKind::CieVersion(version) => {
                write!(f, "CIE version {version} is not 1, 3 or 4")
            }
            CfiErrorKind::Augmentation(letter) => {
                write!(f, "augmentation '{}' has no known meaning here", letter.escape_ascii())
            }
            CfiErrorKind::AddressSize(size) => {
                write!(f, "address size {size} is not 2, 4 or 8")
            }
            CfiErrorKind::PointerEncoding(encoding) => {
                write!(f, "pointer encoding {encoding:#04x} is not defined here")
            }
            CfiErrorKind::IndirectPointer(encoding) => {
                write!(f, "pointer encoding {encoding:#04x} leads to memory of a process")
            }
            CfiErrorKind::AddressOverflow => f.write_str("the address does not fit in 64 bits"),
            CfiErrorKind::OffsetOverflow => f.write_str("the offset does not fit in 64 bits"),
            CfiErrorKind::RegisterNumber(number) => {
                write!(f, "register number {number} does not fit in 32 bits")
            }
            CfiErrorKind::EmptyRange => f.write_str("the range has no bytes"),
            CfiErrorKind::Overlap(other) => {
                write!(f, "the FDE at {other:#x} describes the same code")
            }
            CfiErrorKind::UnknownInstruction(code) => {
                write!(f, "call frame instruction {code:#04x} is not defined")
            }
            CfiErrorKind::UnbalancedRestoreState => {
                f.write_str("restore_state without a remembered state")
            }
            CfiErrorKind::TooManyStates => {
                write!(f, "more than {} states are remembered", MAX_STATES)
            }
            CfiErrorKind::CfaNotRegister => {
                f.write_str("the CFA rule to be changed is not a register and an offset")
            }
            CfiErrorKind::NotInitial(code) => {
                write!(f, "instruction {code:#04x} is not allowed in a CIE")
            }
            CfiErrorKind::AdvancePastEnd { address, end } => {
                write!(f, "location {address:#x} is past the end of the function, {end:#x}")
            }
            CfiErrorKind::SetLocBackwards { from, to } => {
                write!(f, "set_loc leads back from {from:#x} to {to:#x}, or elsewhere")
            }
            CfiErrorKind::MissingRelocation => f.write_str("no relocation gives the address"),
            CfiErrorKind::Discarded => f.write_str("the function was discarded by the linker"),
            CfiErrorKind::UnresolvedRelocation => {
                f.write_str("the relocation's symbol is not defined in this object")
            }
            CfiErrorKind::RelocationType(kind) => {
                write!(f, "relocation type {kind} does not fit the field")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_sentences_with_their_values() {
        use CfiErrorKind as Kind;
        for (kind, says) in [
            (
                Kind::UnreadableSection("it is compressed"),
                "the section is not readable: it is compressed",
            ),
            (Kind::Truncated, "the entry ends inside a field"),
            (Kind::NumberTooLarge, "a LEB128 number has more than 64 bits"),
            (
                Kind::EntryLength { length: 0x20, available: 0x1f },
                "the entry has 0x20 bytes, but 0x1f are left",
            ),
            (Kind::EntriesAfterTerminator, "entries follow the zero terminator"),
            (Kind::BadCiePointer(0x10), "no CIE starts at 0x10"),
            (Kind::UnreadableCie(0x10), "the CIE at 0x10 is not readable"),
            (Kind::CieVersion(2), "CIE version 2 is not 1, 3 or 4"),
            (Kind::Augmentation(b'Q'), "augmentation 'Q' has no known meaning here"),
            (Kind::Augmentation(1), "augmentation '\\x01' has no known meaning here"),
            (Kind::AddressSize(3), "address size 3 is not 2, 4 or 8"),
            (Kind::PointerEncoding(5), "pointer encoding 0x05 is not defined here"),
            (Kind::IndirectPointer(0x9b), "pointer encoding 0x9b leads to memory of a process"),
            (Kind::AddressOverflow, "the address does not fit in 64 bits"),
            (Kind::OffsetOverflow, "the offset does not fit in 64 bits"),
            (Kind::RegisterNumber(1 << 32), "register number 4294967296 does not fit in 32 bits"),
            (Kind::EmptyRange, "the range has no bytes"),
            (Kind::Overlap(0x10), "the FDE at 0x10 describes the same code"),
            (Kind::UnknownInstruction(0x3f), "call frame instruction 0x3f is not defined"),
            (Kind::UnbalancedRestoreState, "restore_state without a remembered state"),
            (Kind::TooManyStates, "more than 1024 states are remembered"),
            (Kind::CfaNotRegister, "the CFA rule to be changed is not a register and an offset"),
            (Kind::NotInitial(0x41), "instruction 0x41 is not allowed in a CIE"),
            (
                Kind::AdvancePastEnd { address: 0x1011, end: 0x1010 },
                "location 0x1011 is past the end of the function, 0x1010",
            ),
            (
                Kind::SetLocBackwards { from: 0x1010, to: 0x1000 },
                "set_loc leads back from 0x1010 to 0x1000, or elsewhere",
            ),
            (Kind::MissingRelocation, "no relocation gives the address"),
            (Kind::Discarded, "the function was discarded by the linker"),
            (Kind::UnresolvedRelocation, "the relocation's symbol is not defined in this object"),
            (Kind::RelocationType(9), "relocation type 9 does not fit the field"),
        ] {
            assert_eq!(kind.to_string(), says);
            assert_eq!(kind.at(0x2b).to_string(), format!("CFI section offset 0x2b: {says}"));
        }
    }
}
