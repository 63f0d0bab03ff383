//! Simpler variants of directives and code.

use sframe_validator::Abi;
use sframe_validator::unwind::Register;

use crate::source::{Code, Directive, Part};
use crate::spelling::unescaped;

/// The factor of offsets in assemblers' CIEs.
const FACTOR: i64 = 8;
/// Offsets that a person would write, the best first. A frame on s390x begins 160 bytes below the CFA.
const PLAIN: [i64; 8] = [16, 8, 24, 32, 168, 160, 176, 184];
/// The most times that a number of bytes is doubled.
const DOUBLINGS: u32 = 20;

/// Simpler variants of a part, the simplest first.
pub(crate) fn variants(part: &Part, abi: Abi) -> Vec<Part> {
    match part {
        Part::Code(code) => codes(code, abi).into_iter().map(Part::Code).collect(),
        Part::Directive(directive) => {
            directives(directive).into_iter().map(Part::Directive).collect()
        }
    }
}

fn codes(code: &Code, abi: Abi) -> Vec<Code> {
    let (unit, size) = (u64::from(abi.instruction_alignment()), code.size(abi));
    if *code == Code::Nop {
        return Vec::new();
    }
    if matches!(code, Code::Reference(_)) {
        return vec![Code::Nop];
    }
    let doubled = (0..DOUBLINGS).map(|times| unit << times);
    let closer = [2, 4, 8, 16].map(|part| size - size / part / unit * unit);
    let sizes = doubled.chain(closer).chain([size.saturating_sub(unit)]);
    let smaller = sizes.filter(|smaller| (1..size).contains(smaller)).map(Code::Blank);
    let mut codes: Vec<Code> = [Code::Nop].into_iter().chain(smaller).collect();
    if matches!(code, Code::Bytes(_)) {
        codes.push(Code::Blank(size));
    }
    codes
}

fn directives(directive: &Directive) -> Vec<Directive> {
    if let Some(plain) = unescaped(directive) {
        return vec![plain];
    }
    let offset = match directive.name.as_str() {
        ".cfi_def_cfa_offset" => 0,
        ".cfi_def_cfa" | ".cfi_offset" | ".cfi_rel_offset" | ".cfi_val_offset" => 1,
        _ => return Vec::new(),
    };
    let number = directive.operands.get(offset).and_then(|operand| operand.parse().ok());
    let Some(number) = number else { return Vec::new() };
    let with = |number: i64| {
        let mut simpler = directive.clone();
        if let Some(operand) = simpler.operands.get_mut(offset) {
            *operand = number.to_string();
        }
        simpler
    };
    numbers(number).into_iter().map(with).collect()
}

/// Smaller numbers with the same sign, and the same remainder first.
fn numbers(number: i64) -> Vec<i64> {
    let Some(size) = number.checked_abs() else { return Vec::new() };
    let closer = [2, 4, 8, 16].map(|part| size - size / part / FACTOR * FACTOR);
    let all = PLAIN.into_iter().chain(closer).chain([size.saturating_sub(FACTOR)]);
    let all = all.flat_map(|plain| [plain, plain / FACTOR * FACTOR + size % FACTOR]);
    let mut numbers = Vec::new();
    for smaller in all.filter(|smaller| (1..size).contains(smaller)) {
        let smaller = smaller * number.signum();
        if !numbers.contains(&smaller) {
            numbers.push(smaller);
        }
    }
    numbers
}

/// The directive with the names of registers instead of their numbers; `None` if it has none.
pub(crate) fn spelled(directive: &Directive, abi: Abi) -> Option<Directive> {
    let registers = match directive.name.as_str() {
        ".cfi_def_cfa"
        | ".cfi_def_cfa_register"
        | ".cfi_offset"
        | ".cfi_rel_offset"
        | ".cfi_val_offset"
        | ".cfi_restore"
        | ".cfi_undefined"
        | ".cfi_same_value"
        | ".cfi_return_column" => 1,
        ".cfi_register" => 2,
        _ => return None,
    };
    let mut spelled = directive.clone();
    for operand in spelled.operands.iter_mut().take(registers) {
        let name = match abi.register_name(Register(operand.parse().ok()?))? {
            // AMD64 has a DWARF number for the return address; assemblers call it by the register that it is loaded into.
            "ra" => "rip",
            name => name,
        };
        *operand = if abi.is_aarch64() { name.to_owned() } else { format!("%{name}") };
    }
    Some(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_smaller_and_keep_their_sign() {
        assert_eq!(numbers(16), [8]);
        assert_eq!(numbers(-16), [-8]);
        assert!(numbers(0).is_empty());
        assert!(numbers(i64::MIN).is_empty());
        // An odd offset on s390x: the remainder is what matters.
        assert!(numbers(171).contains(&163), "{:?}", numbers(171));
        assert!(numbers(-4096).iter().all(|number| (-4095..0).contains(number)));
    }

    #[test]
    fn registers_are_spelled() {
        let spelled = |text: &str, abi| {
            spelled(&Directive::parse(text), abi).map(|directive| directive.to_string())
        };
        let amd64 = spelled(".cfi_offset 6, -16", Abi::Amd64);
        assert_eq!(amd64.as_deref(), Some(".cfi_offset %rbp, -16"));
        let aarch64 = spelled(".cfi_register 30, 29", Abi::Aarch64Little);
        assert_eq!(aarch64.as_deref(), Some(".cfi_register x30, x29"));
        assert_eq!(spelled(".cfi_def_cfa_offset 16", Abi::Amd64), None);
        assert_eq!(spelled(".cfi_offset 4000, -16", Abi::Amd64), None);
    }
}
