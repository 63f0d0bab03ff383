//! The bytes of an entry, and what the bits of its flags mean in each kernel.

/// The size of an entry of `.orc_unwind`, in bytes.
pub(super) const ENTRY: usize = 6;

/// The content of an entry of `.orc_unwind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawEntry {
    /// `sp_offset`, in bytes.
    pub sp_offset: i16,
    /// `bp_offset`, in bytes.
    pub bp_offset: i16,
    /// The bases, the type and the marks.
    pub flags: u16,
}

impl RawEntry {
    pub(super) fn read(bytes: [u8; ENTRY]) -> RawEntry {
        let [a, b, c, d, e, f] = bytes;
        RawEntry {
            sp_offset: i16::from_le_bytes([a, b]),
            bp_offset: i16::from_le_bytes([c, d]),
            flags: u16::from_le_bytes([e, f]),
        }
    }

    /// `sp_reg`: the number of the base of the previous SP.
    #[must_use]
    pub const fn sp_base(&self) -> u8 {
        self.bits(0, 4)
    }

    /// `bp_reg`: the number of the base of the previous BP.
    #[must_use]
    pub const fn bp_base(&self) -> u8 {
        self.bits(4, 4)
    }

    const fn bit(&self, number: u32) -> bool {
        self.bits(number, 1) != 0
    }

    /// Some bits of the flags, at most 8.
    const fn bits(&self, first: u32, count: u32) -> u8 {
        let [low, _] = (self.flags >> first & ((1 << count) - 1)).to_le_bytes();
        low
    }
}

/// A layout of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Linux 4.14 to 6.2.
    Linux4_14,
    /// Linux 6.3.
    Linux6_3,
    /// Linux 6.4 to 7.0.
    Linux6_4,
    /// Linux 7.1 and later.
    Linux7_1,
}

/// What an address is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Undefined,
    PreviousSp,
    Ax,
    Dx,
    Di,
    Bp,
    Sp,
    R10,
    R13,
    MemoryAtBp,
    MemoryAtSp,
    /// A number that has no meaning.
    Other(u8),
}

/// What an entry describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Undefined,
    EndOfStack,
    Call,
    Regs,
    PartialRegs,
    /// A number that has no meaning.
    Other(u8),
}

impl Layout {
    /// Those of tables without `.orc_header`.
    pub const WITHOUT_HEADER: [Layout; 3] = [Layout::Linux4_14, Layout::Linux6_3, Layout::Linux6_4];

    /// The layout that `.orc_header` identifies. Its content is what `scripts/orc_hash.sh` prints for the kernel's
    /// `arch/x86/include/asm/orc_types.h`.
    #[must_use]
    pub const fn of_header(hash: [u8; 20]) -> Option<Layout> {
        const LINUX_6_3: [u8; 20] = [
            0xdb, 0x84, 0xae, 0xd4, 0x10, 0x3b, 0x31, 0xdd, 0x51, 0xe0, 0x17, 0xf8, 0xf7, 0x97,
            0x83, 0xca, 0x98, 0x5c, 0x2c, 0x51,
        ];
        const LINUX_6_4: [u8; 20] = [
            0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9, 0xa5, 0xc6, 0x5b, 0xa5,
            0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24,
        ];
        const LINUX_7_1: [u8; 20] = [
            0x13, 0x7c, 0x36, 0xad, 0x76, 0x27, 0xc4, 0xdd, 0x55, 0x93, 0x21, 0x76, 0xbb, 0x0e,
            0xcd, 0xbd, 0x50, 0x41, 0xfc, 0x82,
        ];
        match hash {
            LINUX_6_3 => Some(Layout::Linux6_3),
            LINUX_6_4 => Some(Layout::Linux6_4),
            LINUX_7_1 => Some(Layout::Linux7_1),
            _ => None,
        }
    }

    /// The layouts that a table without a header may have. Every entry must be one that objtool writes, and most frames
    /// must be those of calls: the others are those of the kernel's entry code.
    pub(super) fn fitting(entries: &[RawEntry]) -> Vec<Layout> {
        let mut fitting = Layout::WITHOUT_HEADER.to_vec();
        fitting.retain(|layout| {
            let (mut calls, mut others) = (0_usize, 0_usize);
            let fit = entries.iter().all(|entry| {
                match layout.kind(*entry) {
                    Kind::Call => calls += 1,
                    Kind::Regs | Kind::PartialRegs => others += 1,
                    _ => {}
                }
                layout.fits(*entry)
            });
            fit && calls >= others
        });
        fitting
    }

    /// Whether objtool writes such an entry.
    fn fits(self, entry: RawEntry) -> bool {
        let is_rest_clear = entry.flags >> self.used_bits() == 0;
        let has_bases =
            !matches!(self.sp_base(entry), Base::Undefined | Base::PreviousSp | Base::Other(_))
                && matches!(self.bp_base(entry), Base::Undefined | Base::PreviousSp | Base::Bp);
        is_rest_clear
            && match self.kind(entry) {
                Kind::Call | Kind::Regs | Kind::PartialRegs => has_bases,
                // It is all zeros, apart from the mark or type.
                Kind::Undefined => entry == RawEntry { sp_offset: 0, bp_offset: 0, flags: 0 },
                Kind::EndOfStack => {
                    entry == RawEntry { sp_offset: 0, bp_offset: 0, flags: self.end_of_stack() }
                }
                Kind::Other(_) => false,
            }
    }

    /// What the previous SP is computed from.
    pub(super) const fn sp_base(self, entry: RawEntry) -> Base {
        self.base(entry.sp_base())
    }

    /// What the address of the previous BP is computed from.
    pub(super) const fn bp_base(self, entry: RawEntry) -> Base {
        self.base(entry.bp_base())
    }

    const fn base(self, number: u8) -> Base {
        match self {
            Layout::Linux4_14 | Layout::Linux6_3 | Layout::Linux6_4 => match number {
                0 => Base::Undefined,
                1 => Base::PreviousSp,
                2 => Base::Dx,
                3 => Base::Di,
                4 => Base::Bp,
                5 => Base::Sp,
                6 => Base::R10,
                7 => Base::R13,
                8 => Base::MemoryAtBp,
                9 => Base::MemoryAtSp,
                _ => Base::Other(number),
            },
            Layout::Linux7_1 => match number {
                0 => Base::Undefined,
                1 => Base::Ax,
                2 => Base::Dx,
                3 => Base::Sp,
                4 => Base::Bp,
                5 => Base::Di,
                6 => Base::R10,
                7 => Base::R13,
                8 => Base::PreviousSp,
                9 => Base::MemoryAtSp,
                10 => Base::MemoryAtBp,
                _ => Base::Other(number),
            },
        }
    }

    /// The flags of an entry for the end of the stack.
    const fn end_of_stack(self) -> u16 {
        match self {
            Layout::Linux4_14 => 1 << 10,
            Layout::Linux6_3 => 1 << 11,
            Layout::Linux6_4 | Layout::Linux7_1 => 1 << 8,
        }
    }

    const fn used_bits(self) -> u32 {
        match self {
            Layout::Linux4_14 => 11,
            Layout::Linux6_3 | Layout::Linux6_4 | Layout::Linux7_1 => 12,
        }
    }

    pub(super) const fn kind(self, entry: RawEntry) -> Kind {
        let end = match self {
            Layout::Linux4_14 => entry.bit(10),
            Layout::Linux6_3 => entry.bit(11),
            Layout::Linux6_4 | Layout::Linux7_1 => {
                return match entry.bits(8, 3) {
                    0 => Kind::Undefined,
                    1 => Kind::EndOfStack,
                    2 => Kind::Call,
                    3 => Kind::Regs,
                    4 => Kind::PartialRegs,
                    _ => Kind::Other(entry.bits(8, 3)),
                };
            }
        };
        match entry.bits(8, 2) {
            _ if entry.sp_base() == 0 && end => Kind::EndOfStack,
            _ if entry.sp_base() == 0 => Kind::Undefined,
            0 => Kind::Call,
            1 => Kind::Regs,
            2 => Kind::PartialRegs,
            _ => Kind::Other(entry.bits(8, 2)),
        }
    }

    /// Whether the frame was interrupted, so that the PC in its caller is not after a call. Up to 6.2 there is no mark, and
    /// the unwinder assumes so for all frames with saved registers.
    pub(super) const fn is_signal(self, entry: RawEntry) -> bool {
        match self {
            Layout::Linux4_14 => matches!(self.kind(entry), Kind::Regs | Kind::PartialRegs),
            Layout::Linux6_3 => entry.bit(10),
            Layout::Linux6_4 | Layout::Linux7_1 => entry.bit(11),
        }
    }
}
