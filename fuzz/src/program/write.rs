//! Writes programs as the bytes of `.eh_frame` and `.debug_frame` (DWARF 5 6.4.1, 6.4.2; LSB 10.6).

use sframe_oracle::cfi::Kind;
use sframe_validator::{Abi, Endian};

use super::{Expression, Op, Program};

const OP_DEREF: u8 = 0x06;
const OP_CONST1S: u8 = 0x09;
const OP_CONST8S: u8 = 0x0f;
const OP_PLUS: u8 = 0x22;
const OP_PLUS_UCONST: u8 = 0x23;
const OP_BREG0: u8 = 0x70;
const OP_BREGX: u8 = 0x92;
const OP_NOP: u8 = 0x96;

impl Program {
    /// The bytes of a section at `address`: a CIE, and an FDE for each function.
    #[must_use]
    pub fn section(&self, address: u64) -> Vec<u8> {
        let mut out = Out { bytes: Vec::new(), endian: self.abi.endian(), address };
        out.entry(|out| self.write_cie(out));
        for function in &self.functions {
            out.entry(|out| {
                match self.kind {
                    Kind::EhFrame => out.u32(out.bytes.len() as u32),
                    Kind::DebugFrame => out.u32(0),
                }
                self.write_pointer(out, function.start);
                match self.encoding {
                    // The size has the same format as the start.
                    Some(encoding) => out.formatted(encoding & 0xf, function.size.into()),
                    None => out.u64(function.size.into()),
                }
                if self.encoding.is_some() {
                    out.bytes.push(0);
                }
                let mut at = function.start;
                for op in &function.ops {
                    self.write_op(out, op, &mut at);
                }
            });
        }
        if self.kind == Kind::EhFrame {
            out.u32(0);
        }
        out.bytes
    }

    /// The bytes of an instruction other than an advance.
    pub(super) fn op_bytes(&self, op: &Op) -> Vec<u8> {
        let mut out = Out { bytes: Vec::new(), endian: self.abi.endian(), address: 0 };
        self.write_op(&mut out, op, &mut 0);
        out.bytes
    }

    fn write_cie(&self, out: &mut Out) {
        out.u32(if self.kind == Kind::EhFrame { 0 } else { u32::MAX });
        out.bytes.push(self.version);
        let letters = [(self.encoding.is_some(), "zR"), (self.signal, "S"), (self.key_b, "B")];
        for (_, letter) in letters.iter().filter(|(set, _)| *set) {
            out.bytes.extend(letter.bytes());
        }
        out.bytes.push(0);
        if self.version == 4 {
            out.bytes.extend([8, 0]);
        }
        out.unsigned(self.code_factor.into());
        out.signed(self.data_factor);
        out.unsigned(self.abi.ra().0.into());
        if let Some(encoding) = self.encoding {
            out.bytes.extend([1, encoding]);
        }
        let mut nowhere = 0;
        for op in &self.initial {
            self.write_op(out, op, &mut nowhere);
        }
    }

    /// Writes an address in the CIE's encoding.
    fn write_pointer(&self, out: &mut Out, address: u64) {
        let Some(encoding) = self.encoding else { return out.u64(address) };
        let from = if encoding & 0x70 == 0x10 { out.address + out.bytes.len() as u64 } else { 0 };
        out.formatted(encoding & 0xf, address.wrapping_sub(from));
    }

    /// An offset that is a multiple of the data alignment factor, divided by it.
    fn factored(&self, offset: i64) -> i64 {
        debug_assert_eq!(offset % self.data_factor, 0, "{self:?}");
        offset / self.data_factor
    }

    fn write_op(&self, out: &mut Out, op: &Op, at: &mut u64) {
        match *op {
            Op::Advance { bytes, form } => {
                *at += u64::from(bytes);
                self.write_advance(out, bytes, form, *at);
            }
            Op::DefCfa { register, offset, form } => {
                let is_factored = self.is_factored(offset, form);
                out.bytes.push(if is_factored { 0x12 } else { 0x0c });
                out.unsigned(register.0.into());
                self.write_cfa_offset(out, offset, form);
            }
            Op::DefCfaRegister { register } => out.op(0x0d, register.0.into()),
            Op::DefCfaOffset { offset, form } => {
                let is_factored = self.is_factored(offset, form);
                out.bytes.push(if is_factored { 0x13 } else { 0x0e });
                self.write_cfa_offset(out, offset, form);
            }
            Op::DefCfaExpression { expression } => {
                out.bytes.push(0x0f);
                out.expression(expression);
            }
            Op::Undefined { register } => out.op(0x07, register.0.into()),
            Op::SameValue { register } => out.op(0x08, register.0.into()),
            Op::Offset { register, offset, form } => {
                let factored = self.factored(offset);
                self.write_offset(out, register.0, factored, form);
            }
            Op::ValOffset { register, offset, form } => {
                let factored = self.factored(offset);
                if factored >= 0 && form % 2 == 0 {
                    out.op(0x14, register.0.into());
                    out.unsigned(factored.cast_unsigned());
                } else {
                    out.op(0x15, register.0.into());
                    out.signed(factored);
                }
            }
            Op::Register { register, source } => {
                out.op(0x09, register.0.into());
                out.unsigned(source.0.into());
            }
            Op::Expression { register, expression } => {
                out.op(0x10, register.0.into());
                out.expression(expression);
            }
            Op::ValExpression { register, expression } => {
                out.op(0x16, register.0.into());
                out.expression(expression);
            }
            Op::Restore { register, form } if form % 2 == 0 && register.0 < 64 => {
                out.bytes.push(0xc0 | register.0 as u8);
            }
            Op::Restore { register, .. } => out.op(0x06, register.0.into()),
            Op::RememberState => out.bytes.push(0x0a),
            Op::RestoreState => out.bytes.push(0x0b),
            Op::Nop => out.bytes.push(0),
            Op::ArgsSize { bytes } => out.op(0x2e, bytes.into()),
            // This form includes the PC, and gimli does not know it.
            Op::NegateRaState { form } if form & 0x81 == 1 => out.bytes.push(0x2c),
            Op::WindowSave | Op::NegateRaState { .. } => out.bytes.push(0x2d),
        }
    }

    /// Whether an offset of the CFA is written signed and factored, not unchanged.
    const fn is_factored(&self, offset: i64, form: u8) -> bool {
        (offset < 0 || !form.is_multiple_of(2)) && offset % self.data_factor == 0
    }

    fn write_cfa_offset(&self, out: &mut Out, offset: i64, form: u8) {
        match self.is_factored(offset, form) {
            true => out.signed(self.factored(offset)),
            // A negative offset wraps, as LLVM writes it.
            false => out.unsigned(offset.cast_unsigned()),
        }
    }

    fn write_offset(&self, out: &mut Out, register: u32, factored: i64, form: u8) {
        match form % 4 {
            0 | 1 if register < 64 && factored >= 0 => {
                out.op_short(0x80 | register as u8);
                out.unsigned(factored.cast_unsigned());
            }
            0..=2 if factored >= 0 => {
                out.op(0x05, register.into());
                out.unsigned(factored.cast_unsigned());
            }
            3 if factored <= 0 && form & 4 != 0 && form & 0x80 == 0 => {
                out.op(0x2f, register.into());
                out.unsigned(factored.unsigned_abs());
            }
            _ => {
                out.op(0x11, register.into());
                out.signed(factored);
            }
        }
    }

    fn write_advance(&self, out: &mut Out, bytes: u32, form: u8, to: u64) {
        let delta = bytes / self.code_factor;
        match (form % 8, delta) {
            (0..=2, 0..=63) => out.op_short(0x40 | delta as u8),
            (0..=3, 0..=0xff) => out.bytes.extend([0x02, delta as u8]),
            (0..=4, 0..=0xffff) => {
                out.bytes.push(0x03);
                out.u16(delta as u16);
            }
            (6, _) => {
                out.bytes.push(0x01);
                self.write_pointer(out, to);
            }
            (7, _) if form & 0x80 == 0 => {
                out.bytes.push(0x1d);
                out.u64(delta.into());
            }
            _ => {
                out.bytes.push(0x04);
                out.u32(delta);
            }
        }
    }
}

struct Out {
    bytes: Vec<u8>,
    endian: Endian,
    address: u64,
}

impl Out {
    /// Writes an entry with its length, padded with `DW_CFA_nop`.
    fn entry(&mut self, write: impl FnOnce(&mut Out)) {
        let start = self.bytes.len();
        self.u32(0);
        write(self);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let length = (self.bytes.len() - start - 4) as u32;
        let length = match self.endian {
            Endian::Little => length.to_le_bytes(),
            Endian::Big => length.to_be_bytes(),
        };
        self.bytes[start..start + 4].copy_from_slice(&length);
    }

    fn ordered<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.endian == Endian::Big {
            little.reverse();
        }
        self.bytes.extend_from_slice(&little);
    }

    fn u16(&mut self, value: u16) {
        self.ordered(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.ordered(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.ordered(value.to_le_bytes());
    }

    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn signed(&mut self, mut value: i64) {
        while !(-0x40..0x40).contains(&value) {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8 & 0x7f);
    }

    fn op_short(&mut self, code: u8) {
        self.bytes.push(code);
    }

    fn op(&mut self, code: u8, operand: u64) {
        self.bytes.push(code);
        self.unsigned(operand);
    }

    /// Writes a number in the format of a pointer encoding.
    fn formatted(&mut self, format: u8, value: u64) {
        match format {
            0x01 => self.unsigned(value),
            0x09 => self.signed(value.cast_signed()),
            0x03 | 0x0b => self.u32(value as u32),
            _ => self.u64(value),
        }
    }

    /// Writes the length and the operations of an expression.
    fn expression(&mut self, expression: Expression) {
        let mut inner = Out { bytes: Vec::new(), endian: self.endian, address: 0 };
        inner.operations(expression);
        self.unsigned(inner.bytes.len() as u64);
        self.bytes.extend(inner.bytes);
    }

    fn operations(&mut self, expression: Expression) {
        let Expression { register, offset, loaded, form } = expression;
        let mut rest = offset;
        if let Some(register) = register {
            // The register's operand contains the offset or a part of it.
            let own = if form & 1 == 0 { offset } else { offset / 2 };
            rest = offset - own;
            if form & 2 == 0 && register.0 < 32 {
                self.bytes.push(OP_BREG0 + register.0 as u8);
            } else {
                self.op(OP_BREGX, register.0.into());
            }
            self.signed(own);
        }
        if form & 4 != 0 {
            self.bytes.push(OP_NOP);
        }
        match rest {
            0 => {}
            1.. if form & 8 == 0 => self.op(OP_PLUS_UCONST, rest.unsigned_abs()),
            -0x80..=0x7f => self.bytes.extend([OP_CONST1S, rest as u8, OP_PLUS]),
            _ => {
                self.bytes.push(OP_CONST8S);
                self.u64(rest.cast_unsigned());
                self.bytes.push(OP_PLUS);
            }
        }
        if loaded {
            self.bytes.push(OP_DEREF);
        }
    }
}

/// Whether call frame instruction 0x2d is about return addresses.
pub(super) const fn signs(abi: Abi) -> bool {
    abi.is_aarch64()
}
