//! The effects of AArch64 instructions after which the following one is executed.

use disarm64_defn::{InsnClass, InsnOperandKind};

use super::tags::GRANULE;
use super::{Instruction, LR, SP, vectors};
use crate::code::effect::{Effect, Extension, Key, NO_REGISTER, RegisterNumber, SCRATCH, place};

/// The register in which a system call returns its result.
const SYSCALL: u32 = 1;
/// The number of Linux's `clone` (include/uapi/asm-generic/unistd.h), in X8.
const CLONE: u16 = 220;
/// The numbers of Linux's `exit`, `exit_group` and `rt_sigreturn`.
const ENDS: [u16; 3] = [93, 94, 139];

impl Instruction {
    /// The effects of an instruction after which the following one is executed.
    pub(super) fn effects(&self, effects: &mut Vec<Effect>) {
        match self.class {
            InsnClass::ADDSUB_IMM if self.is_tagged_sum() => effects.push(self.tagged_sum()),
            InsnClass::ADDSUB_IMM => self.add_immediate(effects),
            InsnClass::ADDSUB_EXT | InsnClass::ADDSUB_SHIFT => self.add_register(effects),
            InsnClass::LOG_IMM => self.logical_immediate(effects),
            InsnClass::LOG_SHIFT => self.logical_register(effects),
            InsnClass::MOVEWIDE => effects.push(self.move_wide()),
            InsnClass::PCRELADDR => {
                let value = self.relative().cast_signed();
                effects.push(Effect::Constant { to: self.rd(), value });
            }
            InsnClass::BITFIELD => effects.push(self.bit_field()),
            InsnClass::DP_1SRC => effects.push(self.one_source()),
            InsnClass::CONDCMP_IMM | InsnClass::CONDCMP_REG | InsnClass::FLOATCMP => {
                effects.push(Effect::Forget);
            }
            InsnClass::EXCEPTION => {
                effects.push(Effect::SystemCall {
                    number: 8,
                    clone: CLONE,
                    stack: 1,
                    ends: ENDS,
                    clobbers: SYSCALL,
                });
            }
            InsnClass::IC_SYSTEM => self.system(effects),
            InsnClass::LDST_UNSCALED | InsnClass::LDST_IMM9 if self.is_tag_access() => {
                self.access_tags(effects);
            }
            InsnClass::LDST_POS
            | InsnClass::LDST_UNSCALED
            | InsnClass::LDST_UNPRIV
            | InsnClass::LDST_IMM9 => self.access(effects),
            InsnClass::LDST_REGOFF => effects.extend(self.access_by_register()),
            InsnClass::LDST_IMM10 => self.load_authenticated(effects),
            InsnClass::LDSTPAIR_OFF | InsnClass::LDSTPAIR_INDEXED | InsnClass::LDSTNAPAIR_OFFS => {
                self.access_pair(effects)
            }
            InsnClass::LDSTEXCL
            | InsnClass::LSE_ATOMIC
            | InsnClass::LSE128_ATOMIC
            | InsnClass::THE
            | InsnClass::RCPC3 => self.access_atomically(effects),
            InsnClass::ASISDLSE
            | InsnClass::ASISDLSEP
            | InsnClass::ASISDLSO
            | InsnClass::ASISDLSOP => self.access_vectors(effects),
            InsnClass::SVE_MISC if self.is_scalable_sum() => effects.push(self.scalable_sum()),
            _ => self.other(effects),
        }
    }

    /// A register that an instruction writes, unless it is the zero register.
    pub(super) fn clobber(register: RegisterNumber) -> Effect {
        Effect::Clobber(if register == SP { 0 } else { 1 << register })
    }

    /// A source register; the zero register has no known value.
    pub(super) const fn source(register: RegisterNumber) -> RegisterNumber {
        if register == SP { NO_REGISTER } else { register }
    }

    fn add_immediate(&self, effects: &mut Vec<Effect>) {
        let (rd, rn) = (self.rd(), self.rn());
        let immediate = self.field(10, 12) << if self.bit(22) { 12 } else { 0 };
        let sets_flags = self.bit(29);
        effects.push(match (sets_flags, self.bit(30)) {
            (true, true) if rd == SP => Effect::CompareNumber { a: rn, number: immediate },
            (true, _) => Effect::Forget,
            (false, subtracts) if self.is_wide() => {
                let plus = immediate.cast_signed();
                Effect::Copy { to: rd, from: rn, plus: if subtracts { -plus } else { plus } }
            }
            _ => Effect::Clobber(1 << rd),
        });
        if sets_flags {
            effects.push(Self::clobber(rd));
        }
    }

    fn add_register(&self, effects: &mut Vec<Effect>) {
        let is_extended = self.class == InsnClass::ADDSUB_EXT;
        // The extended form knows SP, the shifted one the zero register.
        let of =
            |register: RegisterNumber| if is_extended { register } else { Self::source(register) };
        let (rd, a, b) = (self.rd(), of(self.rn()), Self::source(self.rm()));
        let shift = self.field(10, if is_extended { 3 } else { 6 });
        let shift = u8::try_from(shift).unwrap_or(u8::MAX);
        let is_left = is_extended || self.field(22, 2) == 0;
        if self.bit(29) {
            let compares = rd == SP && self.bit(30) && self.is_wide() && shift == 0 && is_left;
            effects.push(if compares { Effect::Compare { a, b } } else { Effect::Forget });
            effects.push(Self::clobber(rd));
            return;
        }
        let to = of(rd);
        let extension = match is_extended && self.field(13, 3) >= 4 {
            true => Extension::Sign,
            false => Extension::Zero,
        };
        effects.push(match self.bit(30) {
            false if is_left && self.is_wide() => Effect::Add { to, a, b, shift, extension },
            true if is_left && self.is_wide() && shift == 0 => Effect::Subtract { to, a, b },
            _ if is_extended => Effect::Clobber(1 << rd),
            _ => Self::clobber(rd),
        });
    }

    /// `and` aligns SP or limits an index.
    fn logical_immediate(&self, effects: &mut Vec<Effect>) {
        let (rd, rn) = (self.rd(), self.rn());
        let sets_flags = self.field(29, 2) == 3;
        if sets_flags {
            effects.extend([Effect::Forget, Self::clobber(rd)]);
            return;
        }
        let is_and = self.field(29, 2) == 0;
        let ones = self.field(10, 6) + 1;
        // The lowest bits: not rotated, and not a repeated pattern.
        let is_low = self.field(16, 6) == 0 && ones < 32 && self.bit(22) == self.is_wide();
        effects.push(if is_and && rd == SP {
            Effect::Align { register: SP, place: place(self.address) }
        } else if is_and && is_low {
            Effect::Narrow { to: rd, from: rn, most: (1 << ones) - 1 }
        } else {
            Effect::Clobber(1 << rd)
        });
    }

    /// `orr` with the zero register moves a value.
    fn logical_register(&self, effects: &mut Vec<Effect>) {
        let (rd, rm) = (self.rd(), self.rm());
        let is_move = self.field(29, 2) == 1
            && !self.bit(21)
            && self.rn() == SP
            && self.field(10, 6) == 0
            && rd != SP;
        if self.field(29, 2) == 3 {
            effects.push(Effect::Forget);
        }
        effects.push(match (is_move, self.is_wide()) {
            (true, _) if rm == SP => Effect::Constant { to: rd, value: 0 },
            (true, true) => Effect::Copy { to: rd, from: rm, plus: 0 },
            (true, false) => Effect::Narrow { to: rd, from: rm, most: u32::MAX },
            _ => Self::clobber(rd),
        });
    }

    fn move_wide(&self) -> Effect {
        let to = self.rd();
        let value = i64::from(self.field(5, 16)) << (16 * self.field(21, 2));
        match self.field(29, 2) {
            2 if to != SP => Effect::Constant { to, value },
            0 if to != SP && self.is_wide() => Effect::Constant { to, value: !value },
            _ => Self::clobber(to),
        }
    }

    /// `ubfm` of the lowest bits limits an index.
    fn bit_field(&self) -> Effect {
        let (to, from) = (self.rd(), Self::source(self.rn()));
        let ones = self.field(10, 6) + 1;
        if self.field(29, 2) == 2 && self.field(16, 6) == 0 && ones < 32 && to != SP {
            return Effect::Narrow { to, from, most: (1 << ones) - 1 };
        }
        Self::clobber(to)
    }

    /// Pointer authentication of LR; other results are unknown.
    fn one_source(&self) -> Effect {
        let is_lr = self.rd() == LR && self.field(16, 5) == 1 && self.is_wide();
        match self.field(10, 6) {
            0 if is_lr => Effect::Sign(Key::A),
            1 if is_lr => Effect::Sign(Key::B),
            4 if is_lr => Effect::Authenticate(Key::A),
            5 if is_lr => Effect::Authenticate(Key::B),
            16 if is_lr => Effect::Strip,
            _ => Self::clobber(self.rd()),
        }
    }

    /// Hints sign and authenticate LR; `mrs` and `sysl` write a register.
    fn system(&self, effects: &mut Vec<Effect>) {
        const HINT: u32 = 0xd503_201f;
        if self.bits & 0xffff_f01f == HINT {
            effects.extend(match self.field(5, 7) {
                7 => Some(Effect::Strip),
                24 | 25 => Some(Effect::Sign(Key::A)),
                26 | 27 => Some(Effect::Sign(Key::B)),
                28 | 29 => Some(Effect::Authenticate(Key::A)),
                30 | 31 => Some(Effect::Authenticate(Key::B)),
                // `pacia1716`, `pacib1716`, `autia1716`, `autib1716`.
                8 | 10 | 12 | 14 => Some(Effect::Clobber(1 << 17)),
                _ => None,
            });
        } else if self.bit(21) {
            effects.push(Self::clobber(self.rd()));
        }
    }

    /// A load or store of one register.
    fn access(&self, effects: &mut Vec<Effect>) {
        let (rt, rn) = (self.rd(), self.rn());
        let is_vector = self.bit(26);
        let scale = match is_vector && self.bit(23) {
            true => 4,
            false => self.field(30, 2),
        };
        let offset = match self.class {
            InsnClass::LDST_POS => (self.field(10, 12) << scale).cast_signed(),
            _ => self.signed(12, 9),
        };
        let is_indexed = self.class == InsnClass::LDST_IMM9;
        let (before, after) = match (is_indexed, self.bit(11)) {
            (false, _) => (0, 0),
            (true, true) => (offset, 0),
            (true, false) => (0, offset),
        };
        let offset = if is_indexed { 0 } else { offset };
        effects.extend((after == 0).then_some(Effect::Copy { to: rn, from: rn, plus: before }));
        let is_load = if is_vector { self.bit(22) } else { self.field(22, 2) != 0 };
        let is_prefetch = !is_vector && self.field(30, 2) == 3 && self.field(22, 2) == 2;
        let is_whole = !is_vector && scale == 3;
        effects.extend(match (is_load, is_vector) {
            _ if is_prefetch => None,
            (true, true) => vectors::load(rt, rn, offset),
            (true, false) if is_whole && rt != SP => {
                Some(Effect::Load { to: rt, base: rn, offset })
            }
            (true, false) if scale < 2 && self.field(22, 2) == 1 && rt != SP => {
                Some(Effect::Limit { to: rt, most: (1 << (8 << scale)) - 1 })
            }
            (true, false) => Some(Self::clobber(rt)),
            (false, _) => {
                let from = match is_vector {
                    true => vectors::stored(rt, scale),
                    false if is_whole => Self::source(rt),
                    false => NO_REGISTER,
                };
                Some(Effect::Store { from, base: rn, offset, size: 1 << scale })
            }
        });
        effects.extend((after != 0).then_some(Effect::Copy { to: rn, from: rn, plus: after }));
    }

    /// `ldraa` and `ldrab` load from an authenticated address.
    fn load_authenticated(&self, effects: &mut Vec<Effect>) {
        let distance = (self.signed(22, 1) << 9 | self.field(12, 9).cast_signed()) * 8;
        let rn = self.rn();
        if self.bit(11) {
            effects.push(Effect::Copy { to: rn, from: rn, plus: distance });
        }
        effects.push(Self::clobber(self.rd()));
    }

    /// A load or store at a register plus another.
    fn access_by_register(&self) -> Option<Effect> {
        let (rt, is_vector, size) = (self.rd(), self.bit(26), self.field(30, 2));
        let kind = self.field(22, 2);
        if is_vector {
            return if self.bit(22) { vectors::load_anything(rt) } else { None };
        }
        if size == 3 && kind == 2 {
            return None;
        }
        if kind == 0 {
            let from = if size == 3 { Self::source(rt) } else { NO_REGISTER };
            return Some(Effect::Store { from, base: NO_REGISTER, offset: 0, size: 1 << size });
        }
        let is_scaled = size == 0 || self.bit(12);
        if !is_scaled || rt == SP || self.rm() == SP {
            return Some(Self::clobber(rt));
        }
        let extension = if kind >= 2 { Extension::Sign } else { Extension::Zero };
        let (base, index) = (self.rn(), self.rm());
        let size = 1 << size;
        Some(Effect::Element { to: rt, base, offset: 0, index, scale: size, size, extension })
    }

    /// A load or store of two registers.
    fn access_pair(&self, effects: &mut Vec<Effect>) {
        let (first, second, rn) = (self.rd(), self.register(10), self.rn());
        let (is_vector, kind) = (self.bit(26), self.field(30, 2));
        // `stgp` stores 8 bytes of each, and counts distances in tagged granules.
        let is_tagged = !is_vector && kind == 1 && !self.bit(22);
        let scale = match (is_vector, is_tagged) {
            (true, _) => 2 + kind,
            (_, true) => 3,
            _ => 2 + (kind >> 1),
        };
        let size = 1_i32 << scale;
        let distance = self.signed(15, 7) * if is_tagged { GRANULE } else { size };
        let (before, offset, after) = match self.field(23, 2) {
            1 => (0, 0, distance),
            3 => (distance, 0, 0),
            _ => (0, distance, 0),
        };
        let other = offset + size;
        effects.extend((after == 0).then_some(Effect::Copy { to: rn, from: rn, plus: before }));
        let is_whole = !is_vector && scale == 3;
        match self.bit(22) {
            true if is_vector => {
                effects.extend(vectors::load(first, rn, offset));
                effects.extend(vectors::load(second, rn, other));
            }
            true if is_whole => {
                // The first register may be the base.
                effects.push(Effect::Load { to: SCRATCH, base: rn, offset });
                let of =
                    |register: RegisterNumber| if register == SP { NO_REGISTER } else { register };
                effects.push(Effect::Load { to: of(second), base: rn, offset: other });
                effects.push(Effect::Copy { to: of(first), from: SCRATCH, plus: 0 });
            }
            true => effects.extend([Self::clobber(first), Self::clobber(second)]),
            false => {
                let from = |register: RegisterNumber| match is_vector {
                    true => vectors::stored(register, scale),
                    false if is_whole => Self::source(register),
                    false => NO_REGISTER,
                };
                let size = 1 << scale;
                effects.push(Effect::Store { from: from(first), base: rn, offset, size });
                effects.push(Effect::Store { from: from(second), base: rn, offset: other, size });
            }
        }
        effects.extend((after != 0).then_some(Effect::Copy { to: rn, from: rn, plus: after }));
    }

    /// Any instruction: what it writes is unknown.
    fn other(&self, effects: &mut Vec<Effect>) {
        effects.push(Effect::Forget);
        self.write_vectors(effects);
        for operand in self.operands {
            match operand.kind {
                InsnOperandKind::Rd | InsnOperandKind::Rt => effects.push(Self::clobber(self.rd())),
                InsnOperandKind::Rd_SP | InsnOperandKind::Rt_SP => {
                    effects.push(Effect::Clobber(1 << self.rd()));
                }
                InsnOperandKind::MOPS_ADDR_Rd | InsnOperandKind::MOPS_ADDR_Rs => {
                    effects.push(Effect::Fill { base: self.rd() });
                    for register in [self.rd(), self.rn(), self.rm()] {
                        effects.push(Self::clobber(register));
                    }
                }
                _ => {}
            }
        }
    }
}
