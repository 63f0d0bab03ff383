//! The entries of a CFI section: CIEs and FDEs (DWARF 5 6.4.1, LSB 10.6).

use gimli::Reader;
use gimli::constants as dw;
use sframe_validator::unwind::{CodeAddress, Register};

use super::error::{CfiError, CfiErrorKind};
use super::layout::{Kind, Layout};
use super::pointer::{Slice, read_value};
use super::state::State;
use super::traces::Traces;

/// A common information entry.
#[derive(Clone, Debug)]
pub struct Cie {
    /// Section offset of the entry.
    pub offset: u32,
    /// The format's version: 1, 3 or 4.
    pub version: u8,
    /// The factor of stored advances.
    pub code_alignment_factor: u64,
    /// The factor of stored offsets.
    pub data_alignment_factor: i64,
    /// The column whose rule recovers the return address.
    pub return_address: Register,
    /// Augmentation `S`: functions that use it are signal frames.
    pub signal: bool,
    /// Augmentation `B`: the B key signs return addresses (AArch64).
    pub pauth_key_b: bool,
    /// Augmentation `G`: the frames have tagged memory (AArch64).
    pub tagged: bool,
    /// Augmentation `z`: FDEs have augmentation data with a length.
    pub(crate) sized: bool,
    /// The encoding from augmentation `R`, or `DW_EH_PE_absptr`.
    pub(crate) encoding: u8,
    /// Augmentation `L`: the encoding of the pointers to language-specific data.
    pub(crate) lsda_encoding: Option<u8>,
    pub(crate) address_size: u8,
    pub(crate) segment_size: u8,
    /// The state before an FDE's first instruction.
    pub(crate) initial: Result<State, CfiError>,
    /// The traces of the initial instructions, because assemblers move an FDE's leading instructions here.
    pub(crate) traces: Traces,
    /// The section offsets of the initial instructions.
    pub(crate) instructions: (u32, u32),
}

impl Cie {
    /// The size in bytes of the initial instructions.
    pub(crate) const fn instruction_bytes(&self) -> u64 {
        let (start, end) = self.instructions;
        end.saturating_sub(start) as u64
    }

    /// A CIE of version 4 for 8-byte addresses, without an augmentation, factors or instructions.
    pub(crate) fn plain(return_address: Register) -> Cie {
        Cie {
            offset: 0,
            version: 4,
            code_alignment_factor: 1,
            data_alignment_factor: 1,
            return_address,
            signal: false,
            pauth_key_b: false,
            tagged: false,
            sized: false,
            encoding: dw::DW_EH_PE_absptr.0,
            lsda_encoding: None,
            address_size: 8,
            segment_size: 0,
            initial: Ok(State::INITIAL),
            traces: Traces::default(),
            instructions: (0, 0),
        }
    }
}

/// An FDE as stored in a section's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FdeRecord {
    pub(crate) start: CodeAddress,
    pub(crate) size: u64,
    pub(crate) offset: u32,
    /// The index of its CIE.
    pub(crate) cie: u32,
    pub(crate) instructions: (u32, u32),
}

/// The fields with which both CIEs and FDEs start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix<'c> {
    pub(crate) offset: u64,
    /// Section offset of the CIE id or pointer.
    pub(crate) id_offset: u64,
    pub(crate) id: u64,
    pub(crate) id_size: usize,
    pub(crate) is_cie: bool,
    pub(crate) rest: Slice<'c>,
}

/// The content of the section at an offset.
pub(crate) enum Entry<'c> {
    Terminator,
    Some(Prefix<'c>),
    /// An entry that is too short for its id.
    Short(u64),
}

/// Reads the first fields of the next entry.
pub(crate) fn read_prefix<'c>(
    input: &mut Slice<'c>,
    layout: &Layout<'c>,
) -> Result<Entry<'c>, CfiError> {
    let offset = layout.offset_of(input);
    let mut head = *input;
    let length_error = |length: u64, left: usize| {
        CfiErrorKind::EntryLength { length, available: left as u64 }.at(offset)
    };
    let Ok(short) = head.read_u32() else { return Err(CfiErrorKind::Truncated.at(offset)) };
    let (length, dwarf64) = match short {
        0xffff_ffff => {
            let Ok(long) = head.read_u64() else { return Err(CfiErrorKind::Truncated.at(offset)) };
            (long, true)
        }
        0xffff_fff0.. => return Err(length_error(short.into(), head.len())),
        _ => (u64::from(short), false),
    };
    let left = head.len();
    let Ok(mut rest) =
        usize::try_from(length).map_err(|_| ()).and_then(|n| head.split(n).map_err(|_| ()))
    else {
        return Err(length_error(length, left));
    };
    *input = head;
    if length == 0 {
        return Ok(Entry::Terminator);
    }
    // LSB: in .eh_frame, the id has 4 bytes even if the length has 8.
    let id_size = if dwarf64 && layout.kind == Kind::DebugFrame { 8 } else { 4 };
    let id_offset = layout.offset_of(&rest);
    let id = if id_size == 8 { rest.read_u64() } else { rest.read_u32().map(u64::from) };
    let Ok(id) = id else { return Ok(Entry::Short(offset)) };
    let is_cie = match (layout.kind, id_size) {
        (Kind::EhFrame, _) => id == 0,
        (Kind::DebugFrame, 8) => id == u64::MAX,
        (Kind::DebugFrame, _) => id == u64::from(u32::MAX),
    };
    Ok(Entry::Some(Prefix { offset, id_offset, id, id_size, is_cie, rest }))
}

impl Prefix<'_> {
    /// The section offset of the CIE to which an FDE refers.
    pub(crate) fn cie_offset(&self, layout: &Layout<'_>) -> Result<u64, CfiError> {
        let bad = |to| CfiErrorKind::BadCiePointer(to).at(self.id_offset);
        match layout.kind {
            Kind::EhFrame => self
                .id_offset
                .checked_sub(self.id)
                .ok_or_else(|| bad(self.id_offset.wrapping_sub(self.id))),
            Kind::DebugFrame => {
                let relocations = layout.bases.relocations.as_ref();
                match relocations.and_then(|r| r.absolute(self.id_offset, self.id_size)) {
                    None => Ok(self.id),
                    Some(Ok(target)) => Ok(target.address),
                    Some(Err(kind)) => Err(kind.at(self.id_offset)),
                }
            }
        }
    }
}

/// Reads the CIE that starts with `prefix`. The initial instructions are not evaluated yet.
pub(crate) fn read_cie(prefix: &Prefix<'_>, layout: &Layout<'_>) -> Result<Cie, CfiError> {
    let mut rest = prefix.rest;
    let whole = layout.whole;
    let input = &mut rest;
    cie_fields(prefix, layout, input).map_err(|kind| kind.at(input.offset_from(whole) as u64))
}

fn cie_fields<'c>(
    prefix: &Prefix<'c>,
    layout: &Layout<'c>,
    input: &mut Slice<'c>,
) -> Result<Cie, CfiErrorKind> {
    let version = input.read_u8()?;
    if !matches!(version, 1 | 3 | 4) {
        return Err(CfiErrorKind::CieVersion(version));
    }
    let augmentation = input.read_null_terminated_slice()?;
    let (mut address_size, mut segment_size) = (layout.address_size, 0);
    if version == 4 {
        address_size = input.read_u8()?;
        segment_size = input.read_u8()?;
    }
    if !matches!(address_size, 2 | 4 | 8) {
        return Err(CfiErrorKind::AddressSize(address_size));
    }
    if segment_size > 8 {
        return Err(CfiErrorKind::AddressSize(segment_size));
    }
    let mut letters = augmentation.slice();
    if let Some(rest) = letters.strip_prefix(b"eh") {
        // gcc 2 puts a pointer to the exception table here.
        read_value(input, dw::DW_EH_PE_absptr.0, address_size)?;
        letters = rest;
    }
    let code_alignment_factor = input.read_uleb128()?;
    let data_alignment_factor = input.read_sleb128()?;
    let return_address = match version {
        1 => u64::from(input.read_u8()?),
        _ => input.read_uleb128()?,
    };
    let return_address =
        u32::try_from(return_address).map_err(|_| CfiErrorKind::RegisterNumber(return_address))?;
    let mut cie = Cie {
        offset: u32::try_from(prefix.offset).map_err(|_| CfiErrorKind::Truncated)?,
        version,
        code_alignment_factor,
        data_alignment_factor,
        address_size,
        segment_size,
        ..Cie::plain(Register(return_address))
    };
    let mut data = Slice::new(&[], layout.endian);
    let mut place = augmentation;
    place.skip(augmentation.len() - letters.len())?;
    for (index, letter) in letters.iter().enumerate() {
        match letter {
            b'z' if index == 0 => {
                let length = input.read_uleb128()?;
                data =
                    input.split(usize::try_from(length).map_err(|_| CfiErrorKind::Truncated)?)?;
                cie.sized = true;
            }
            b'L' if cie.sized => cie.lsda_encoding = Some(data.read_u8()?),
            b'P' if cie.sized => {
                let encoding = data.read_u8()?;
                layout.bases.skip(&mut data, layout.whole, encoding, address_size)?;
            }
            b'R' if cie.sized => cie.encoding = data.read_u8()?,
            b'S' => cie.signal = true,
            b'B' => cie.pauth_key_b = true,
            b'G' => cie.tagged = true,
            _ => {
                *input = place;
                return Err(CfiErrorKind::Augmentation(*letter));
            }
        }
        place.skip(1)?;
    }
    cie.instructions = layout.span(input)?;
    Ok(cie)
}

/// Reads the FDE that starts with `prefix` and has the CIE with number `index`.
pub(crate) fn read_fde(
    prefix: &Prefix<'_>,
    layout: &Layout<'_>,
    cie: &Cie,
    index: u32,
) -> Result<FdeRecord, CfiError> {
    let mut at = prefix.rest.offset_from(layout.whole) as u64;
    fde_fields(prefix, layout, (cie, index), &mut at).map_err(|kind| kind.at(at))
}

/// Reads the fields of an FDE that follow its prefix. `at` becomes the offset of the field read last.
fn fde_fields<'c>(
    prefix: &Prefix<'c>,
    layout: &Layout<'c>,
    (cie, index): (&Cie, u32),
    at: &mut u64,
) -> Result<FdeRecord, CfiErrorKind> {
    let mut rest = prefix.rest;
    let input = &mut rest;
    input.skip(usize::from(cie.segment_size))?;
    *at = layout.offset_of(input);
    let start = layout.bases.read(input, layout.whole, cie.encoding, cie.address_size)?;
    *at = layout.offset_of(input);
    // The size has the format of the start, without its base. A negative size, in a signed format, ends past the
    // address space.
    let size = read_value(input, cie.encoding, cie.address_size)?;
    start.address.checked_add(size).ok_or(CfiErrorKind::AddressOverflow)?;
    *at = layout.offset_of(input);
    if cie.sized {
        let length = input.read_uleb128()?;
        input.skip(usize::try_from(length).map_err(|_| CfiErrorKind::Truncated)?)?;
    }
    Ok(FdeRecord {
        start,
        size,
        offset: u32::try_from(prefix.offset).map_err(|_| CfiErrorKind::Truncated)?,
        cie: index,
        instructions: layout.span(input)?,
    })
}
