//! Patterns of machine code: what the first instructions do with the stack. Understands GNU (AT&T) syntax for AMD64 and
//! the syntax of AArch64.

use sframe_record::Instruction;

/// The number of instructions in a pattern.
const INSTRUCTIONS: usize = 2;
/// The pattern of an instruction that does not affect frames.
const ANY: &str = "*";

/// Operations that affect frames: they move the stack, save registers that unwinding needs, or leave the function.
const OF_FRAMES: [&str; 21] = [
    "push", "pop", "ret", "leave", "enter", "call", "jmp", "iret", "endbr64", "hlt", "ud2", "stp",
    "ldp", "bl", "blr", "br", "b", "paciasp", "autiasp", "retaa", "bti",
];
/// Prefixes that precede the operation.
const PREFIXES: [&str; 7] = ["bnd", "notrack", "lock", "rep", "repz", "repnz", "data16"];
/// Registers on which frames are based.
const FRAME_REGISTERS: [&str; 6] = ["%rsp", "%rbp", "sp", "x29", "%esp", "%ebp"];

/// The pattern of the instructions where two tables differ, meant to be the same for all functions with the same
/// mistake.
pub(super) fn pattern(instructions: &[Instruction<'_>]) -> Vec<String> {
    let mut pattern: Vec<String> = instructions
        .iter()
        .take(INSTRUCTIONS)
        .map(|instruction| abstracted(&instruction.text))
        .collect();
    pattern.dedup_by(|b, a| a == ANY && b == ANY);
    pattern
}

/// For instance `sub imm,sp` for `sub $0x18,%rsp`.
fn abstracted(text: &str) -> String {
    let mut words = text.trim_start().splitn(2, char::is_whitespace);
    let (mut operation, mut rest) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    while PREFIXES.contains(&operation) {
        let mut words = rest.trim_start().splitn(2, char::is_whitespace);
        (operation, rest) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    }
    let operands = operands(rest);
    let of_frame = |operand: &&str| FRAME_REGISTERS.contains(operand);
    // The destination is the last operand on AMD64, and the first on AArch64.
    let writes_frame = operands.first().is_some_and(|o| of_frame(o) && !o.starts_with('%'))
        || operands.last().is_some_and(|o| of_frame(o) && o.starts_with('%'));
    // Operations of AMD64 may have a size suffix.
    let sized = operation.strip_suffix(['q', 'l', 'w']).unwrap_or(operation);
    let known = [operation, sized].into_iter().find(|name| OF_FRAMES.contains(name));
    let Some(operation) = known.or(writes_frame.then_some(operation)) else {
        return ANY.to_owned();
    };
    let kinds: Vec<&str> = operands.iter().map(|operand| kind(operand)).collect();
    format!("{operation} {}", kinds.join(",")).trim_end().to_owned()
}

/// The operands, split at the commas between them.
fn operands(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let cut = |character: char| {
        match character {
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    };
    text.split(cut).map(str::trim).filter(|operand| !operand.is_empty()).collect()
}

/// The kind of an operand; registers of frames are kept distinct.
fn kind(operand: &str) -> &'static str {
    let target = operand.trim_start_matches('*');
    match target {
        "%rsp" | "sp" | "%esp" => "sp",
        "%rbp" | "x29" | "%ebp" => "fp",
        memory if memory.contains(['(', '[']) => "mem",
        immediate if immediate.starts_with(['$', '#']) => "imm",
        register if register.starts_with('%') => "reg",
        place if place.starts_with("0x") || place.starts_with(|c: char| c.is_ascii_digit()) => {
            "place"
        }
        _ => "reg",
    }
}

#[cfg(test)]
mod tests {
    use super::abstracted;

    #[test]
    fn only_instructions_that_affect_frames_are_kept() {
        for (text, expected) in [
            ("sub $0x18,%rsp", "sub imm,sp"),
            ("sub $0x28,%rsp", "sub imm,sp"),
            ("pop %rbp", "pop fp"),
            ("popq %r12", "pop reg"),
            ("bnd jmp *0x2fc5(%rip)", "jmp mem"),
            ("jmp *0x2fb9(%rip)        # 0x3fe0", "jmp mem"),
            ("call 0x401020", "call place"),
            ("repz ret", "ret"),
            ("lea -0x10(%rbp),%rsp", "lea mem,sp"),
            ("mov %rsp,%rbp", "mov sp,fp"),
            ("mov %rbp,%rdi", "*"),
            ("mov 0x8(%rsp),%rax", "*"),
            ("stp x29, x30, [sp, #-32]!", "stp fp,reg,mem"),
            ("ldp x29, x30, [sp], #32", "ldp fp,reg,mem,imm"),
            ("add sp, sp, #0x10", "add sp,sp,imm"),
            ("add x0, sp, #0x10", "*"),
            ("ret", "ret"),
            ("", "*"),
            ("lock", "*"),
            ("push (,(", "push mem"),
        ] {
            assert_eq!(abstracted(text), expected, "{text}");
        }
    }
}
