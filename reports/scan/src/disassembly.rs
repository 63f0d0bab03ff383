//! Machine code as text, for AMD64 (in the AT&T syntax of GNU tools) and AArch64. There is no text for other
//! machines.

mod aarch64;

use sframe_record::Address;
use sframe_record::json::hex;
use sframe_validator::Abi;

/// A machine instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address or, in a relocatable object, its offset in the section.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The instruction in the syntax of an assembler.
    pub text: String,
}

impl From<Instruction> for sframe_record::Instruction<'static> {
    fn from(instruction: Instruction) -> sframe_record::Instruction<'static> {
        sframe_record::Instruction {
            address: Address(instruction.address),
            bytes: hex(&instruction.bytes).into(),
            text: instruction.text.into(),
        }
    }
}

/// The instructions of `code`, which begins with one at `address`: at most `limit` instructions, from the one that
/// contains `from`. They end before bytes that are not an instruction.
#[must_use]
pub fn disassemble(
    abi: Abi,
    code: &[u8],
    address: u64,
    from: u64,
    limit: usize,
) -> Vec<Instruction> {
    let instructions: Box<dyn Iterator<Item = Instruction> + '_> = match abi {
        Abi::Amd64 => Box::new(amd64::instructions(code, address)),
        Abi::Aarch64Little | Abi::Aarch64Big => Box::new(aarch64::instructions(code, address)),
        _ => {
            let _ = (code, address);
            Box::new(std::iter::empty())
        }
    };
    let ends_after_start = |instruction: &Instruction| {
        instruction.address.saturating_add(instruction.bytes.len() as u64) > from
    };
    instructions.skip_while(|instruction| !ends_after_start(instruction)).take(limit).collect()
}

mod amd64 {
    use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter};

    use super::Instruction;

    pub(super) fn instructions(code: &[u8], address: u64) -> impl Iterator<Item = Instruction> {
        let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let mut formatter = GasFormatter::new();
        let options = formatter.options_mut();
        options.set_uppercase_hex(false);
        options.set_space_after_operand_separator(false);
        options.set_branch_leading_zeros(false);
        options.set_rip_relative_addresses(true);
        std::iter::from_fn(move || {
            let start = decoder.position();
            let decoded = (decoder.can_decode()).then(|| decoder.decode())?;
            if decoded.is_invalid() {
                return None;
            }
            let mut text = String::new();
            formatter.format(&decoded, &mut text);
            let bytes = code.get(start..decoder.position())?.to_vec();
            Some(Instruction { address: decoded.ip(), bytes, text })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(abi: Abi, code: &[u8], from: u64) -> Vec<(u64, String)> {
        let instructions = disassemble(abi, code, 0x1000, from, 8);
        instructions.into_iter().map(|i| (i.address, i.text)).collect()
    }

    /// The expected text is the output of `objdump -d` for these bytes.
    #[test]
    fn amd64_code_is_disassembled_like_objdump() {
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xe8, 0, 0, 0, 0, 0xc9, 0xc3];
        let all = texts(Abi::Amd64, &code, 0x1000);
        let wanted =
            ["push %rbp", "mov %rsp,%rbp", "sub $0x20,%rsp", "call 0x100d", "leave", "ret"];
        assert_eq!(all.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), wanted);
        assert_eq!(all.last().map(|(address, _)| *address), Some(0x100e));
        // 0x1002 is inside the second instruction.
        assert_eq!(texts(Abi::Amd64, &code, 0x1002).first(), all.get(1));
    }

    /// The expected text is the output of `objdump -d -M no-aliases` for these bytes, except for the notation of
    /// numbers.
    #[test]
    fn aarch64_code_is_disassembled_like_objdump() {
        let code =
            [0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0, 0x91, 0x3f, 0x23, 3, 0xd5, 0xc0, 3, 0x5f, 0xd6];
        let all = texts(Abi::Aarch64Little, &code, 0x1000);
        let wanted = ["stp x29, x30, [sp, #-16]!", "add x29, sp, #0x0", "paciasp", "ret x30"];
        assert_eq!(all.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), wanted);
        assert_eq!(texts(Abi::Aarch64Little, &code, 0x1008).first(), all.get(2));
    }

    /// objdump prints `.inst 0x5f005400 ; undefined` for the second word, and likewise for the others, but `shl d0, d0,
    /// #0` for 0x5f405400.
    #[test]
    fn reserved_shifts_end_the_list() {
        for word in [0x5f00_5400, 0x7f07_5400, 0x7f00_6400, 0x5f00_7400, 0x5f00_0400, 0x7f00_9c00] {
            let code = [0xd503_201f, word, 0xd503_201f].map(u32::to_le_bytes).concat();
            assert_eq!(texts(Abi::Aarch64Little, &code, 0x1000), [(0x1000, "nop".to_owned())]);
        }
        let shift = texts(Abi::Aarch64Little, &0x5f40_5400_u32.to_le_bytes(), 0x1000);
        assert_eq!(shift, [(0x1000, "shl d0, d0, #0".to_owned())]);
    }

    #[test]
    fn addresses_end_with_the_address_space() {
        let nops = [0xd503_201f_u32.to_le_bytes(); 3].concat();
        let last = u64::MAX - 3;
        let all = disassemble(Abi::Aarch64Little, &nops, last - 4, last - 4, 8);
        assert_eq!(all.iter().map(|nop| nop.address).collect::<Vec<_>>(), [last - 4, last]);
    }

    #[test]
    fn bytes_that_are_not_code_end_the_list() {
        assert_eq!(texts(Abi::Amd64, &[0x90, 0x06, 0x90], 0x1000).len(), 1);
        assert_eq!(texts(Abi::S390x, &[7, 7], 0x1000), []);
    }
}
