//! A CIE's initial instructions.

use sframe_oracle::cfi::{Cfi, Cie, Instruction, Kind};
use sframe_validator::Endian;
use sframe_validator::unwind::Expression;

/// The initial instructions of `cie`, expressions by their place in `cfi`'s section; `None` where
/// they cannot be read.
///
/// The oracle decodes the instructions of FDEs. So these are put into one, of a section that has
/// nothing else.
pub(super) fn initial_instructions(cfi: &Cfi<'_>, cie: &Cie) -> Option<Vec<Instruction>> {
    let (place, bytes) = span(cfi, cie)?;
    let section = section_of(bytes, cfi.abi().endian())?;
    let shift = place.checked_sub(section.len() - bytes.len());
    let copy = Cfi::from_bytes(&section, Kind::DebugFrame, 0, cfi.abi());
    let function = copy.functions().next()?;
    let moved = |expression: Expression| {
        let offset = (expression.offset as usize).checked_add(shift?)?;
        Some(Expression { offset: u32::try_from(offset).ok()?, ..expression })
    };
    let in_place = |instruction| {
        Some(match instruction {
            Instruction::DefCfaExpression(e) => Instruction::DefCfaExpression(moved(e)?),
            Instruction::Expression(register, e) => Instruction::Expression(register, moved(e)?),
            Instruction::ValExpression(register, e) => {
                Instruction::ValExpression(register, moved(e)?)
            }
            other => other,
        })
    };
    function.instructions().map(|instruction| in_place(instruction.ok()?)).collect()
}

/// The section offset of a CIE's instructions and their bytes (DWARF 5 6.4.1, LSB 10.6). The oracle
/// has read the entry before: its version and augmentation are known ones.
fn span<'c>(cfi: &'c Cfi<'_>, cie: &Cie) -> Option<(usize, &'c [u8])> {
    let data = cfi.data();
    let mut rest = data.get(cie.offset as usize..)?;
    let endian = cfi.abi().endian();
    let short = u32_at(&mut rest, endian)?;
    let (length, wide) = match short {
        u32::MAX => (u64_at(&mut rest, endian)?, true),
        _ => (u64::from(short), false),
    };
    let id = if wide && cfi.kind() == Kind::DebugFrame { 8 } else { 4 };
    let mut entry = rest.get(..usize::try_from(length).ok()?)?.get(id + 1..)?;
    let augmentation = entry.split(|byte| *byte == 0).next()?;
    entry = entry.get(augmentation.len() + 1..)?;
    if augmentation.starts_with(b"eh") {
        return None;
    }
    if cie.version == 4 {
        // The sizes of addresses and segment selectors.
        entry = entry.get(2..)?;
    }
    number(&mut entry)?;
    number(&mut entry)?;
    if cie.version == 1 {
        entry = entry.get(1..)?;
    } else {
        number(&mut entry)?;
    }
    if augmentation.starts_with(b"z") {
        let length = usize::try_from(number(&mut entry)?).ok()?;
        entry = entry.get(length..)?;
    }
    let end = data.len() - rest.len() + usize::try_from(length).ok()?;
    Some((end - entry.len(), entry))
}

/// A `.debug_frame` whose only FDE has these instructions, at its end.
fn section_of(instructions: &[u8], endian: Endian) -> Option<Vec<u8>> {
    let word = |value: u32| match endian {
        Endian::Little => value.to_le_bytes(),
        Endian::Big => value.to_be_bytes(),
    };
    // Version 1, no augmentation, factors 1 and -1, column 0.
    let cie = [1, 0, 1, 0x7f, 0, 0, 0, 0];
    let mut bytes = Vec::with_capacity(48 + instructions.len());
    bytes.extend(word(4 + 8));
    bytes.extend(word(u32::MAX));
    bytes.extend(cie);
    bytes.extend(word(u32::try_from(instructions.len()).ok()?.checked_add(4 + 16)?));
    // The CIE's offset, then the range: one byte at 0.
    bytes.extend(word(0));
    bytes.extend([0; 8]);
    bytes.extend(match endian {
        Endian::Little => 1_u64.to_le_bytes(),
        Endian::Big => 1_u64.to_be_bytes(),
    });
    bytes.extend(instructions);
    Some(bytes)
}

fn u32_at(bytes: &mut &[u8], endian: Endian) -> Option<u32> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(match endian {
        Endian::Little => u32::from_le_bytes(*head),
        Endian::Big => u32::from_be_bytes(*head),
    })
}

fn u64_at(bytes: &mut &[u8], endian: Endian) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(match endian {
        Endian::Little => u64::from_le_bytes(*head),
        Endian::Big => u64::from_be_bytes(*head),
    })
}

/// An LEB128 number, as if unsigned; what is above 64 bits is of no interest.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let length = bytes.iter().position(|byte| *byte < 0x80)? + 1;
    let (digits, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(digits.iter().rev().fold(0, |value, digit| value << 7 | u64::from(digit & 0x7f)))
}
