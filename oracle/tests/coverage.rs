//! The causes of lost coverage, from instructions as bytes. What an assembler says about the same
//! directives stands beside each case: GNU as 2.40 (version 1), 2.44 (2), 2.47.50 (3), LLVM 23 (2).

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use sframe_oracle::cfi::{Cfi, Kind, RowContext};
use sframe_oracle::coverage::{Cause, Stubs, examine};
use sframe_validator::{Abi, Version};

/// `.eh_frame` with one CIE and one FDE of `size` bytes at 0x1000, code alignment 1, data alignment -8.
fn section(abi: Abi, column: u8, initial: &[u8], size: u64, program: &[u8]) -> Vec<u8> {
    assert_eq!(abi.endian(), sframe_validator::Endian::Little);
    let entry = |id: u32, body: &[u8]| {
        let length = body.len() as u32 + 4;
        [&length.to_le_bytes(), &id.to_le_bytes(), body].concat()
    };
    let mut bytes = entry(0, &[&[1, 0, 1, 0x78, column], initial].concat());
    let range = [0x1000_u64.to_le_bytes(), size.to_le_bytes()].concat();
    bytes.extend(entry(bytes.len() as u32 + 4, &[&range, program].concat()));
    bytes
}

fn cause_of(bytes: &[u8], abi: Abi, version: Version) -> Cause {
    let cfi = Cfi::from_bytes(bytes, Kind::EhFrame, 0x8000, abi);
    let function = cfi.functions().next().expect("one function");
    let mut context = RowContext::new(&cfi);
    examine(&Stubs::default(), &function, version, &mut context).cause
}

const AMD64: &[u8] = &[0x0c, 7, 8, 0x90, 1];
const AARCH64: &[u8] = &[0x0c, 31, 0];
const ADVANCE: u8 = 0x41;
const REMEMBER: u8 = 0x0a;
const RESTORE: u8 = 0x0b;

/// The causes in versions 1, 2 and 3.
#[track_caller]
fn amd64(program: &[u8], causes: [Cause; 3]) {
    check(&section(Abi::Amd64, 16, AMD64, 0x10, program), Abi::Amd64, causes);
}

#[track_caller]
fn aarch64(program: &[u8], causes: [Cause; 3]) {
    let bytes = section(Abi::Aarch64Little, 30, AARCH64, 0x10, program);
    check(&bytes, Abi::Aarch64Little, causes);
}

#[track_caller]
fn check(bytes: &[u8], abi: Abi, causes: [Cause; 3]) {
    let found = [Version::V1, Version::V2, Version::V3].map(|v| cause_of(bytes, abi, v));
    assert_eq!(found, causes);
}

#[test]
fn nothing_unusual_has_no_cause() {
    amd64(&[ADVANCE, 0x0e, 16, 0x86, 2, ADVANCE, 0x0d, 6], [Cause::None; 3]);
    aarch64(&[ADVANCE, 0x0e, 16, 0x9d, 2, 0x9e, 1], [Cause::None; 3]);
}

/// "skipping SFrame FDE; .cfi_remember_state without prior SFrame FRE state": 2.40 and 2.44 say so
/// of the first and third, LLVM of the first four; 2.47.50 of none.
#[test]
fn remember_state_before_another_row() {
    let first = Cause::RememberFirst;
    let none = Cause::None;
    let end = [ADVANCE, 0x0e, 24, ADVANCE, RESTORE];
    let cases: [(&[u8], [Cause; 3]); 7] = [
        (&[REMEMBER], [first, first, none]),
        (&[ADVANCE, REMEMBER], [none, first, none]),
        (&[0x0e, 16, REMEMBER], [first, first, none]),
        (&[ADVANCE, 0x83, 2, ADVANCE, REMEMBER], [none, first, none]),
        (&[ADVANCE, 0x0e, 16, REMEMBER], [none; 3]),
        (&[ADVANCE, 0x0e, 16, ADVANCE, REMEMBER], [none; 3]),
        (&[ADVANCE, 0x0e, 16, ADVANCE, 0x0e, 8, ADVANCE, REMEMBER], [none; 3]),
    ];
    for (start, causes) in cases {
        amd64(&[start, &end].concat(), causes);
    }
}

/// "no SFrame FDE emitted; SP register 7 in .cfi_register": GNU as 2.47.50 of a function that
/// starts with `.cfi_register 7, 10`, which it writes into the CIE.
#[test]
fn what_an_assembler_moves_into_the_cie() {
    let initial = [AMD64, &[0x09, 7, 10]].concat();
    let bytes = section(Abi::Amd64, 16, &initial, 0x10, &[]);
    check(&bytes, Abi::Amd64, [Cause::RegisterSave; 3]);
    // As an instruction of the function it is the same.
    amd64(&[0x09, 7, 10], [Cause::RegisterSave; 3]);
}

/// "FP without RA on stack": 2.44 and 2.47.50 of both, 2.40 of none.
#[test]
fn fp_on_the_stack_without_ra() {
    let causes = [Cause::None, Cause::FpWithoutRa, Cause::FpWithoutRa];
    aarch64(&[ADVANCE, 0x0e, 16, 0x9d, 2], causes);
    aarch64(&[ADVANCE, 0x0e, 16, 0x9d, 2, 0x07, 30], causes);
    // Other machines keep RA elsewhere.
    amd64(&[ADVANCE, 0x0e, 16, 0x86, 2], [Cause::None; 3]);
}

/// "skipping SFrame FDE; CFI insn CFI_escape (0x103)": 2.40 and 2.44 of all. 2.47.50 says "no
/// SFrame FDE emitted; .cfi_escape DW_CFA_expression with SP reg 7" and ".cfi_escape with op (0x16)".
#[test]
fn expressions_of_registers_that_sframe_does_not_have() {
    let escape = Cause::UnsupportedEscape;
    // expression and val_expression of RBX and RSP: rsp+8.
    amd64(&[ADVANCE, 0x10, 3, 2, 0x77, 8], [escape, escape, Cause::None]);
    amd64(&[ADVANCE, 0x10, 7, 2, 0x77, 8], [escape; 3]);
    amd64(&[ADVANCE, 0x16, 3, 2, 0x77, 8], [escape; 3]);
    amd64(&[ADVANCE, 0x16, 7, 2, 0x77, 8], [escape; 3]);
}

/// One for each of the rest (`cfi-mapping`'s table); of several the first is told.
#[test]
fn each_cause() {
    use Cause::{
        CfaExpression, CfaRegister, FpExpression, NoInitialRules, None, RaExpression, RaSignWithPc,
        RegisterSave, ReturnColumn, UndefinedFp, UnsupportedEscape, ValueOffset, ZeroSize,
    };
    // def_cfa r10+0: version 3 has flexible rows for it.
    amd64(&[0x0c, 10, 0], [CfaRegister, CfaRegister, None]);
    aarch64(&[0x0c, 9, 0], [CfaRegister; 3]);
    // def_cfa_expression *(rbp-8), *(rsp-8), and one without a simple meaning (rax * 2).
    amd64(&[0x0f, 3, 0x76, 0x78, 0x06], [CfaExpression, CfaExpression, None]);
    amd64(&[0x0f, 3, 0x77, 0x78, 0x06], [CfaExpression; 3]);
    amd64(&[0x0f, 4, 0x70, 0, 0x32, 0x1e], [CfaExpression; 3]);
    // expression of RA and FP: rax * 2.
    amd64(&[0x10, 16, 4, 0x70, 0, 0x32, 0x1e], [RaExpression; 3]);
    amd64(&[0x10, 6, 4, 0x70, 0, 0x32, 0x1e], [FpExpression; 3]);
    // register: FP in r10.
    amd64(&[0x09, 6, 10], [RegisterSave, RegisterSave, None]);
    aarch64(&[0x09, 30, 9], [RegisterSave; 3]);
    // val_offset of FP and SP.
    amd64(&[0x14, 6, 2], [ValueOffset; 3]);
    amd64(&[0x14, 7, 0], [ValueOffset; 3]);
    amd64(&[0x07, 6], [UndefinedFp; 3]);
    amd64(&[0x07, 7], [UndefinedFp; 3]);
    amd64(&[0x2e, 16], [UnsupportedEscape; 3]);
    aarch64(&[0x2c], [RaSignWithPc; 3]);
    let column = section(Abi::Amd64, 5, AMD64, 0x10, &[]);
    check(&column, Abi::Amd64, [ReturnColumn; 3]);
    let none = section(Abi::Amd64, 16, &[], 0x10, &[]);
    check(&none, Abi::Amd64, [NoInitialRules; 3]);
    let empty = section(Abi::Amd64, 16, AMD64, 0, &[]);
    check(&empty, Abi::Amd64, [ZeroSize; 3]);
    amd64(&[0x3f], [Cause::Unreadable; 3]);
    // A CFA based on r10 comes before an undefined FP.
    amd64(&[0x0c, 10, 0, 0x07, 6], [CfaRegister, CfaRegister, UndefinedFp]);
}

/// 65,536 rows: more than version 3 counts.
#[test]
fn more_rows_than_can_be_counted() {
    let mut program = vec![];
    for row in 0..0xffff_u32 {
        program.extend([ADVANCE, 0x0e, if row % 2 == 0 { 16 } else { 8 }]);
    }
    let full = section(Abi::Amd64, 16, AMD64, 0x10000, &program[..program.len() - 3]);
    check(&full, Abi::Amd64, [Cause::None; 3]);
    let over = section(Abi::Amd64, 16, AMD64, 0x10000, &program);
    check(&over, Abi::Amd64, [Cause::None, Cause::None, Cause::RowLimit]);
}

#[test]
fn causes_have_names_of_their_own() {
    let names: std::collections::BTreeSet<_> =
        Cause::ALL.iter().map(|cause| cause.name()).collect();
    assert_eq!(names.len(), Cause::ALL.len());
    assert!(Cause::ALL.is_sorted());
}
