//! AArch64 code as text: that of disarm64, and our own where disarm64 has none or a wrong one.

use disarm64::{InsnDisplay, decoder};

use super::Instruction;

/// Instructions are always stored in little-endian order (Arm ARM B2.6.2).
pub(super) fn instructions(code: &[u8], address: u64) -> impl Iterator<Item = Instruction> {
    code.as_chunks().0.iter().zip(0..).map_while(move |(bytes, index)| {
        let address = address.checked_add(index * 4)?;
        let word = u32::from_le_bytes(*bytes);
        let decoded = decoder::decode(word).filter(|_| !is_reserved_shift(word))?;
        let text = decoded.display_at(address).to_string();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = scalable(word).unwrap_or_else(|| corrected(word, text));
        Some(Instruction { address, bytes: bytes.to_vec(), text })
    })
}

/// Whether this is a shift of a SIMD scalar by an immediate whose `immh`, the width of the elements, is 0. It is
/// reserved (Arm ARM C4.1, "Advanced SIMD scalar shift by immediate"), but decoded by disarm64 0.2, which overflows
/// when it computes the distance of such a shift to the left.
fn is_reserved_shift(word: u32) -> bool {
    word & 0xdff8_0400 == 0x5f00_0400
}

/// The text of instructions on scalable registers that concern the stack: `addvl`, `addpl`, `rdvl` and their kin for streaming mode,
/// and `ldr` and `str` of one register (Arm ARM C8.2, FEAT_SVE; C9.2, FEAT_SME).
fn scalable(word: u32) -> Option<String> {
    let field = |from: u32, width: u32| word >> from & ((1 << width) - 1);
    let signed = |number: u32, width: u32| (number << (32 - width)).cast_signed() >> (32 - width);
    let streaming = if word & 0x800 == 0 { "" } else { "s" };
    let number = signed(field(5, 6), 6);
    if word & 0xffa0_f000 == 0x0420_5000 {
        let unit = if field(22, 1) == 0 { 'v' } else { 'p' };
        let (to, from) = (x_or_sp(field(0, 5)), x_or_sp(field(16, 5)));
        return Some(format!("add{streaming}{unit}l {to}, {from}, #{number}"));
    }
    if word & 0xffff_f000 == 0x04bf_5000 {
        return Some(format!("rd{streaming}vl {}, #{number}", x_or_zero(field(0, 5))));
    }
    let name = match word & 0xffc0_0000 {
        0x8580_0000 => "ldr",
        0xe580_0000 => "str",
        _ => return None,
    };
    let register = match (field(13, 3), field(4, 1)) {
        (0b010, _) => format!("z{}", field(0, 5)),
        (0b000, 0) => format!("p{}", field(0, 4)),
        _ => return None,
    };
    let base = x_or_sp(field(5, 5));
    Some(match signed(field(16, 6) << 3 | field(10, 3), 9) {
        0 => format!("{name} {register}, [{base}]"),
        offset => format!("{name} {register}, [{base}, #{offset}, mul vl]"),
    })
}

/// The text of disarm64 0.2, but for two things: it has the same name for all loads of whole structures, and for all stores of them,
/// and placeholders in colons for the operands of many instructions on scalable registers.
fn corrected(word: u32, text: String) -> String {
    if word & 0xbf20_0000 == 0x0c00_0000 {
        let name = if word & 1 << 22 == 0 { "st" } else { "ld" };
        let elements = match word >> 12 & 0xf {
            0b0000 => 4,
            0b0100 => 3,
            0b1000 => 2,
            _ => 1,
        };
        return format!("{name}{elements}{}", text.get(3..).unwrap_or_default());
    }
    match text.split_once(' ') {
        Some((name, operands)) if operands.contains(':') => format!(".inst {word:#010x} // {name}"),
        _ => text,
    }
}

fn x_or_sp(register: u32) -> String {
    if register == 31 { "sp".to_owned() } else { format!("x{register}") }
}

fn x_or_zero(register: u32) -> String {
    if register == 31 { "xzr".to_owned() } else { format!("x{register}") }
}

#[cfg(test)]
mod tests {
    use sframe_validator::Abi;

    use super::super::disassemble;

    /// The expected text is that of GNU objdump 2.47.50 with `-M no-aliases`.
    #[test]
    fn scalable_registers_are_disassembled_like_objdump() {
        let wanted = [
            (0x043f_57df, "addvl sp, sp, #-2"),
            (0x0424_53e3, "addvl x3, x4, #31"),
            (0x047f_541f, "addpl sp, sp, #-32"),
            (0x04bf_57e9, "rdvl x9, #-1"),
            (0x04bf_5820, "rdsvl x0, #1"),
            (0x043f_5fff, "addsvl sp, sp, #-1"),
            (0x047f_587f, "addspl sp, sp, #3"),
            (0xe580_43e8, "str z8, [sp]"),
            (0xe580_47e9, "str z9, [sp, #1, mul vl]"),
            (0xe5a0_43a9, "str z9, [x29, #-256, mul vl]"),
            (0x859f_5fe8, "ldr z8, [sp, #255, mul vl]"),
            (0xe580_1fe4, "str p4, [sp, #7, mul vl]"),
            (0x85bf_1c6f, "ldr p15, [x3, #-1, mul vl]"),
            (0x8580_006f, "ldr p15, [x3]"),
        ];
        for (word, text) in wanted {
            assert_eq!(disassembled(word), text, "{word:#x}");
        }
    }

    #[test]
    fn structures_are_named_by_what_they_are() {
        // objdump: ld1 {v0.2d-v3.2d}, [sp], #64; st1 {v8.8b-v11.8b}, [sp]; ld3 {v0.16b-v2.16b}, [sp], #48.
        for (word, name) in [(0x4cdf_2fe0, "ld1"), (0x0c00_23e8, "st1"), (0x4cdf_43e0, "ld3")] {
            assert_eq!(disassembled(word).split(' ').next(), Some(name), "{word:#x}");
        }
    }

    #[test]
    fn operands_without_text_are_left_out() {
        // objdump: ld1w {z0.s}, p0/z, [x0, x1, lsl #2]
        assert_eq!(disassembled(0xa541_4000), ".inst 0xa5414000 // ld1w");
    }

    fn disassembled(word: u32) -> String {
        let all = disassemble(Abi::Aarch64Little, &word.to_le_bytes(), 0, 0, 1);
        all.into_iter().map(|instruction| instruction.text).collect()
    }
}
