//! The machines that SFrame is defined for: identifiers, byte orders, registers and fixed offsets.

use core::fmt;

/// The order of bytes in multi-byte fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// A register, by its machine's DWARF number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u32);

/// The ABI that the header's `sfh_abi_arch` identifies (V3 2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Abi {
    /// `SFRAME_ABI_AARCH64_ENDIAN_BIG`, 1.
    #[cfg_attr(feature = "serde", serde(rename = "AArch64-BE"))]
    Aarch64Big,
    /// `SFRAME_ABI_AARCH64_ENDIAN_LITTLE`, 2.
    #[cfg_attr(feature = "serde", serde(rename = "AArch64"))]
    Aarch64Little,
    /// `SFRAME_ABI_AMD64_ENDIAN_LITTLE`, 3.
    #[cfg_attr(feature = "serde", serde(rename = "AMD64"))]
    Amd64,
    /// `SFRAME_ABI_S390X_ENDIAN_BIG`, 4 (since version 2, errata 1).
    #[cfg_attr(feature = "serde", serde(rename = "s390x"))]
    S390x,
}

impl Abi {
    /// Every known ABI, in the order of its identifier.
    pub const ALL: [Abi; 4] = [Abi::Aarch64Big, Abi::Aarch64Little, Abi::Amd64, Abi::S390x];

    /// The ABI with an identifier; `None` for one that no version defines.
    #[must_use]
    pub const fn from_id(id: u8) -> Option<Abi> {
        match id {
            1 => Some(Abi::Aarch64Big),
            2 => Some(Abi::Aarch64Little),
            3 => Some(Abi::Amd64),
            4 => Some(Abi::S390x),
            _ => None,
        }
    }

    /// The identifier stored in `sfh_abi_arch`.
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Abi::Aarch64Big => 1,
            Abi::Aarch64Little => 2,
            Abi::Amd64 => 3,
            Abi::S390x => 4,
        }
    }

    /// The byte order that the identifier implies.
    #[must_use]
    pub const fn endian(self) -> Endian {
        match self {
            Abi::Aarch64Big | Abi::S390x => Endian::Big,
            Abi::Aarch64Little | Abi::Amd64 => Endian::Little,
        }
    }

    /// Whether this is AArch64, in either byte order.
    #[must_use]
    pub const fn is_aarch64(self) -> bool {
        matches!(self, Abi::Aarch64Big | Abi::Aarch64Little)
    }

    /// The stack pointer's DWARF register number.
    #[must_use]
    pub const fn sp(self) -> Register {
        Register(match self {
            Abi::Amd64 => 7,
            Abi::S390x => 15,
            Abi::Aarch64Big | Abi::Aarch64Little => 31,
        })
    }

    /// The frame pointer's DWARF register number.
    #[must_use]
    pub const fn fp(self) -> Register {
        Register(match self {
            Abi::Amd64 => 6,
            Abi::S390x => 11,
            Abi::Aarch64Big | Abi::Aarch64Little => 29,
        })
    }

    /// The DWARF number of the return-address register, or of the return-address column on a machine without such a
    /// register.
    #[must_use]
    pub const fn ra(self) -> Register {
        Register(match self {
            Abi::Amd64 => 16,
            Abi::S390x => 14,
            Abi::Aarch64Big | Abi::Aarch64Little => 30,
        })
    }

    /// The required value of `sfh_cfa_fixed_ra_offset`: bytes from the CFA, or 0 if the ABI does not fix RA.
    #[must_use]
    pub const fn fixed_ra_offset(self) -> i8 {
        match self {
            Abi::Amd64 => -8,
            Abi::Aarch64Big | Abi::Aarch64Little | Abi::S390x => 0,
        }
    }

    /// The distance in bytes from the caller's SP up to the CFA: on s390x, the caller's frame begins with an area of 160
    /// bytes in which its callee saves registers (ELF ABI s390x, "The stack frame").
    #[must_use]
    pub const fn sp_below_cfa(self) -> u64 {
        match self {
            Abi::S390x => 160,
            Abi::Aarch64Big | Abi::Aarch64Little | Abi::Amd64 => 0,
        }
    }

    /// The alignment of instructions, in bytes.
    #[must_use]
    pub const fn instruction_alignment(self) -> u32 {
        match self {
            Abi::Amd64 => 1,
            Abi::S390x => 2,
            Abi::Aarch64Big | Abi::Aarch64Little => 4,
        }
    }

    /// The short name used in output: `AMD64`, `AArch64`, `AArch64-BE`, `s390x`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Abi::Aarch64Big => "AArch64-BE",
            Abi::Aarch64Little => "AArch64",
            Abi::Amd64 => "AMD64",
            Abi::S390x => "s390x",
        }
    }

    /// The machine's own name for a DWARF register; `None` if it has none.
    #[must_use]
    pub fn register_name(self, register: Register) -> Option<&'static str> {
        const AMD64: [&str; 17] = [
            "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11",
            "r12", "r13", "r14", "r15", "ra",
        ];
        const AARCH64: [&str; 32] = [
            "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
            "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25",
            "x26", "x27", "x28", "x29", "x30", "sp",
        ];
        // ELF ABI s390x, table "DWARF register number mapping": the FPRs are not in numeric order.
        const S390X: [&str; 32] = [
            "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13",
            "r14", "r15", "f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7", "f8", "f10", "f12",
            "f14", "f9", "f11", "f13", "f15",
        ];
        // DWARF for the Arm 64-bit Architecture, 4.1.
        const FIRST_VECTOR: usize = 64;
        const VECTORS: [&str; 32] = [
            "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
            "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
            "v26", "v27", "v28", "v29", "v30", "v31",
        ];
        let number = usize::try_from(register.0).ok()?;
        let names: &[&str] = match self {
            Abi::Amd64 => &AMD64,
            Abi::S390x => &S390X,
            Abi::Aarch64Big | Abi::Aarch64Little => {
                let vector =
                    number.checked_sub(FIRST_VECTOR).and_then(|number| VECTORS.get(number));
                return vector.or_else(|| AARCH64.get(number)).copied();
            }
        };
        names.get(number).copied()
    }
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;
    use std::vec::Vec;

    use super::*;

    /// Format sheet 1.4 and 1.7: identifiers, byte orders, and the DWARF numbers of SP, FP and RA.
    #[test]
    fn abis_have_these_properties() {
        use Endian::{Big, Little};
        let properties = |abi: Abi| {
            let registers = [abi.sp(), abi.fp(), abi.ra()].map(|register| register.0);
            (abi.id(), abi.endian(), registers, abi.fixed_ra_offset(), abi.instruction_alignment())
        };
        let expected = [
            (1, Big, [31, 29, 30], 0, 4),
            (2, Little, [31, 29, 30], 0, 4),
            (3, Little, [7, 6, 16], -8, 1),
            (4, Big, [15, 11, 14], 0, 2),
        ];
        assert_eq!(Abi::ALL.map(properties), expected);
        assert_eq!(Abi::ALL.map(Abi::is_aarch64), [true, true, false, false]);
        let known: Vec<Abi> = (0..=u8::MAX).filter_map(Abi::from_id).collect();
        assert_eq!(known, Abi::ALL);
        let names = Abi::ALL.map(|abi| abi.to_string());
        assert_eq!(names, ["AArch64-BE", "AArch64", "AMD64", "s390x"]);
        assert_eq!(Register(5).to_string(), "r5");
        assert_eq!(Abi::Amd64.register_name(Register(16)), Some("ra"));
        assert_eq!(Abi::Amd64.register_name(Register(17)), None);
        assert_eq!(Abi::Aarch64Little.register_name(Register(72)), Some("v8"));
        assert_eq!(Abi::Aarch64Little.register_name(Register(95)), Some("v31"));
        assert_eq!(Abi::Aarch64Little.register_name(Register(96)), None);
    }
}
