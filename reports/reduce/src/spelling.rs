//! Other spellings of directives: different assembly with the same CFI. A file does not show how its directives were
//! spelled, and some defects are those of one spelling.

use sframe_validator::Abi;

use crate::source::{Directive, Function, Part, Source};

/// Instructions whose operands are plain numbers, and how many they have.
const PLAIN: [(&str, u8, usize); 9] = [
    (".cfi_undefined", 0x07, 1),
    (".cfi_same_value", 0x08, 1),
    (".cfi_register", 0x09, 2),
    (".cfi_remember_state", 0x0a, 0),
    (".cfi_restore_state", 0x0b, 0),
    (".cfi_def_cfa", 0x0c, 2),
    (".cfi_def_cfa_register", 0x0d, 1),
    (".cfi_def_cfa_offset", 0x0e, 1),
    // DW_CFA_nop. GNU as has no directive for it.
    (".cfi_nop", 0x00, 0),
];
/// `DW_CFA_offset` and `DW_CFA_restore`, to which the register is added.
const OFFSET: u8 = 0x80;
const RESTORE: u8 = 0xc0;
/// The factor of offsets in assemblers' CIEs.
const FACTOR: i64 = -8;
const ESCAPE: &str = ".cfi_escape";

/// The source in other spellings, without those that change nothing.
pub(crate) fn spellings(source: &Source) -> impl Iterator<Item = Source> {
    let respelled = [relative, restored, escaped].map(|respell| {
        let mut other = source.clone();
        for function in &mut other.functions {
            respell(function, source.abi);
        }
        other
    });
    let source = source.clone();
    respelled.into_iter().filter(move |other| *other != source)
}

fn directives(function: &mut Function) -> impl Iterator<Item = &mut Directive> {
    function.parts.iter_mut().filter_map(|part| match part {
        Part::Directive(directive) => Some(directive),
        Part::Code(_) => None,
    })
}

fn operand(directive: &Directive, number: usize) -> Option<i64> {
    directive.operands.get(number)?.parse().ok()
}

/// `.cfi_rel_offset` for `.cfi_offset`: the offset is counted from the CFA's register.
fn relative(function: &mut Function, abi: Abi) {
    let mut offset = i64::try_from(abi.sp_below_cfa()).ok();
    let mut remembered = Vec::new();
    for directive in directives(function) {
        match directive.name.as_str() {
            ".cfi_def_cfa_offset" => offset = operand(directive, 0),
            ".cfi_def_cfa" => offset = operand(directive, 1),
            ".cfi_remember_state" => remembered.push(offset),
            ".cfi_restore_state" => offset = remembered.pop().flatten(),
            ".cfi_offset" => {
                let sum = operand(directive, 1).zip(offset).and_then(|(at, of)| at.checked_add(of));
                if let Some((sum, operand)) = sum.zip(directive.operands.get_mut(1)) {
                    directive.name = ".cfi_rel_offset".to_owned();
                    *operand = sum.to_string();
                }
            }
            _ => {}
        }
    }
}

/// `.cfi_restore` for a rule that the function starts with.
fn restored(function: &mut Function, _: Abi) {
    let is_early = |part: &&Part| matches!(part, Part::Directive(_));
    let early: Vec<Part> = function.parts.iter().take_while(is_early).cloned().collect();
    // It keeps directives out of the CIE.
    function.parts.retain(|part| {
        !matches!(part, Part::Directive(directive) if unescaped(directive).is_some_and(|of| of.name == ".cfi_nop"))
    });
    let late = function.parts.iter_mut().skip_while(|part| matches!(part, Part::Directive(_)));
    for part in late {
        if early.contains(part)
            && let Part::Directive(directive) = part
            && directive.name == ".cfi_offset"
        {
            directive.name = ".cfi_restore".to_owned();
            directive.operands.truncate(1);
        }
    }
}

/// `.cfi_escape` for everything that it can express.
fn escaped(function: &mut Function, _: Abi) {
    for directive in directives(function) {
        let Some(bytes) = encoded(directive) else { continue };
        directive.name = ESCAPE.to_owned();
        directive.operands = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    }
}

fn encoded(directive: &Directive) -> Option<Vec<u8>> {
    let numbers: Option<Vec<i64>> =
        (0..directive.operands.len()).map(|number| operand(directive, number)).collect();
    let numbers = numbers?;
    let mut bytes = Vec::new();
    match (directive.name.as_str(), numbers.as_slice()) {
        (".cfi_offset", [register @ 0..64, offset]) if offset % FACTOR == 0 => {
            bytes.push(OFFSET | u8::try_from(*register).ok()?);
            leb128(&mut bytes, u64::try_from(offset / FACTOR).ok()?);
        }
        (".cfi_restore", [register @ 0..64]) => bytes.push(RESTORE | u8::try_from(*register).ok()?),
        (name, numbers) => {
            let is_this =
                |(plain, _, count): &&(&str, u8, usize)| *plain == name && *count == numbers.len();
            bytes.push(PLAIN.iter().find(is_this)?.1);
            for number in numbers {
                leb128(&mut bytes, u64::try_from(*number).ok()?);
            }
        }
    }
    Some(bytes)
}

fn leb128(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = value.to_le_bytes()[0] & 0x7f;
        value >>= 7;
        if value == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

/// The directive for the instruction that an escape consists of; `None` if it is no escape, or has no directive.
pub(crate) fn unescaped(directive: &Directive) -> Option<Directive> {
    if directive.name != ESCAPE {
        return None;
    }
    let byte = |operand: &String| match operand.strip_prefix("0x") {
        Some(hex) => u8::from_str_radix(hex, 16).ok(),
        None => operand.parse().ok(),
    };
    let bytes: Option<Vec<u8>> = directive.operands.iter().map(byte).collect();
    let bytes = bytes?;
    let (first, rest) = bytes.split_first()?;
    let mut numbers = numbers(rest)?;
    let name = match first & 0xc0 {
        OFFSET => {
            let offset = numbers.first_mut()?;
            *offset = offset.checked_mul(FACTOR)?;
            numbers.insert(0, i64::from(first & 0x3f));
            ".cfi_offset"
        }
        RESTORE => {
            numbers.insert(0, i64::from(first & 0x3f));
            ".cfi_restore"
        }
        _ => PLAIN.iter().find(|(_, code, _)| code == first)?.0,
    };
    let plain =
        Directive { name: name.to_owned(), operands: numbers.iter().map(i64::to_string).collect() };
    // An escape of several instructions, or one that is cut off, is none of these.
    (encoded(&plain)? == bytes).then_some(plain)
}

/// Numbers in LEB128, unsigned.
fn numbers(mut bytes: &[u8]) -> Option<Vec<i64>> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        let mut number = 0_i64;
        let mut shift = 0_u32;
        loop {
            let (byte, rest) = bytes.split_first()?;
            bytes = rest;
            if shift > 56 {
                return None;
            }
            number |= i64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        numbers.push(number);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The bytes are those of DWARF 5, 7.24.
    #[test]
    fn instructions_are_encoded_as_dwarf_says() {
        for (text, bytes) in [
            (".cfi_def_cfa_offset 16", &[0x0e, 0x10][..]),
            (".cfi_def_cfa_offset 200", &[0x0e, 0xc8, 0x01]),
            (".cfi_def_cfa 7, 8", &[0x0c, 7, 8]),
            (".cfi_offset 6, -16", &[0x86, 2]),
            (".cfi_restore 6", &[0xc6]),
            (".cfi_remember_state", &[0x0a]),
        ] {
            let directive = Directive::parse(text);
            assert_eq!(encoded(&directive).as_deref(), Some(bytes), "{text}");
            let operands: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            let escape = Directive { name: ESCAPE.to_owned(), operands };
            assert_eq!(unescaped(&escape), Some(directive));
        }
        for text in [
            ".cfi_escape 0x0e",
            ".cfi_escape 0x0e, 0x10, 0x10",
            ".cfi_escape 0x0f, 1, 0x30",
            ".cfi_escape",
        ] {
            assert_eq!(unescaped(&Directive::parse(text)), None, "{text}");
        }
        assert_eq!(encoded(&Directive::parse(".cfi_offset 6, 16")), None);
        assert_eq!(encoded(&Directive::parse(".cfi_offset 6, -12")), None);
    }

    #[test]
    fn relative_offsets_are_counted_from_the_register_of_the_cfa() {
        let parts = [".cfi_def_cfa_offset 32", ".cfi_offset 6, -16"];
        let parts = parts.map(|text| Part::Directive(Directive::parse(text)));
        let mut function = Function {
            label: "f".to_owned(),
            section: ".text".to_owned(),
            is_typed: false,
            simple: false,
            parts: parts.into(),
        };
        relative(&mut function, Abi::Amd64);
        let Some(Part::Directive(directive)) = function.parts.last() else { panic!("a directive") };
        // GNU as manual: the offset is relative to the register, which is CFA - 32.
        assert_eq!(directive.to_string(), ".cfi_rel_offset 6, 16");
    }
}
