//! FEAT_PAuth_LR, which disarm64 does not decode: return addresses that are signed with SP and with the address of an instruction
//! (Arm Architecture Reference Manual, C6.2: PACIASPPC, AUTIASPPC, AUTIASPPCR, RETAASPPC, RETAASPPCR, and those with the key B).

use crate::code::effect::{ControlFlow, Effect, Key};

/// Decodes one of these instructions at the start of `code`. Its effects are added to `effects`. `None` for others.
#[inline]
pub(super) fn decode(code: &[u8], effects: &mut Vec<Effect>) -> Option<ControlFlow> {
    let bits = u32::from_le_bytes(*code.first_chunk()?);
    let is_b = |bit: u32| if bits >> bit & 1 == 0 { Key::A } else { Key::B };
    let effect = match bits {
        // paciasppc, pacibsppc; pacnbiasppc, pacnbibsppc
        0xdac1_a3fe | 0xdac1_a7fe | 0xdac1_83fe | 0xdac1_87fe => Effect::Sign(is_b(10)),
        // autiasppcr Xn, autibsppcr Xn
        _ if bits & 0xffff_fc1f == 0xdac1_901e => Effect::Authenticate(Key::A),
        _ if bits & 0xffff_fc1f == 0xdac1_941e => Effect::Authenticate(Key::B),
        // autiasppc LABEL, autibsppc LABEL
        _ if bits & 0xffc0_001f == 0xf380_001f => Effect::Authenticate(is_b(21)),
        // retaasppc LABEL, retabsppc LABEL
        _ if bits & 0xffc0_001f == 0x5500_001f || is_return_by_register(bits) => {
            return Some(ControlFlow::Return);
        }
        _ => return None,
    };
    effects.extend([Effect::NamedByDirective, effect]);
    Some(ControlFlow::Following)
}

/// retaasppcr Xm, retabsppcr Xm. With the zero register, it is `retaa` or `retab`.
const fn is_return_by_register(bits: u32) -> bool {
    bits & 0xffff_fbe0 == 0xd65f_0be0 && bits & 31 != 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bits: u32) -> (Option<ControlFlow>, Vec<Effect>) {
        let mut effects = Vec::new();
        let next = decode(&bits.to_le_bytes(), &mut effects);
        (next, effects)
    }

    /// The encodings are those that GNU as 2.47.50 wrote for `.arch armv9.5-a+pauth-lr`.
    #[test]
    fn each_form_is_decoded() {
        let signs =
            |key| (Some(ControlFlow::Following), vec![Effect::NamedByDirective, Effect::Sign(key)]);
        let authenticates = |key| {
            (
                Some(ControlFlow::Following),
                vec![Effect::NamedByDirective, Effect::Authenticate(key)],
            )
        };
        for (bits, wanted) in [
            (0xdac1_a3fe, signs(Key::A)),         // paciasppc
            (0xdac1_a7fe, signs(Key::B)),         // pacibsppc
            (0xdac1_83fe, signs(Key::A)),         // pacnbiasppc
            (0xdac1_87fe, signs(Key::B)),         // pacnbibsppc
            (0xf380_009f, authenticates(Key::A)), // autiasppc .-16
            (0xf3a0_00bf, authenticates(Key::B)), // autibsppc .-20
            (0xdac1_907e, authenticates(Key::A)), // autiasppcr x3
            (0xdac1_947e, authenticates(Key::B)), // autibsppcr x3
        ] {
            assert_eq!(decoded(bits), wanted, "{bits:#x}");
        }
        // retaasppc .-32, retabsppc .-36, retaasppcr x3, retabsppcr x3
        for bits in [0x5500_011f, 0x5520_013f, 0xd65f_0be3, 0xd65f_0fe3] {
            assert_eq!(decoded(bits), (Some(ControlFlow::Return), Vec::new()), "{bits:#x}");
        }
        // ret, retaa, movk x31, #0, paciza x30, pacm, b.eq .
        for bits in [0xd65f_03c0, 0xd65f_0bff, 0xf280_001f, 0xdac1_23fe, 0xd503_24ff, 0x5400_0000] {
            assert_eq!(decoded(bits), (None, Vec::new()), "{bits:#x}");
        }
    }
}
