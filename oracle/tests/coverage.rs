//! Tests of the causes of lost coverage, with instructions as bytes. Comments quote the messages of assemblers for the
//! same directives: GNU as 2.40 (version 1), 2.44 (2), 2.47.50 (3), and LLVM 23 (2).

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

/// The CFI of a function for s390x: code alignment 1, data alignment -8.
fn big_endian(column: u8, initial: &[u8], size: u64, program: &[u8]) -> Vec<u8> {
    let entry = |id: u32, body: &[u8]| {
        let length = body.len() as u32 + 4;
        [&length.to_be_bytes(), &id.to_be_bytes(), body].concat()
    };
    let mut bytes = entry(0, &[&[1, 0, 1, 0x78, column], initial].concat());
    let range = [0x1000_u64.to_be_bytes(), size.to_be_bytes()].concat();
    bytes.extend(entry(bytes.len() as u32 + 4, &[&range, program].concat()));
    bytes
}

fn cause_of(bytes: &[u8], abi: Abi, version: Version) -> Cause {
    let cfi = Cfi::from_bytes(bytes, Kind::EhFrame, 0x8000, abi);
    let function = cfi.functions().next().expect("one function");
    let mut context = RowContext::new(&cfi);
    let cause = examine(&Stubs::default(), &function, version, &mut context).cause;
    cause.unwrap_or(Cause::Unexplained)
}

const AMD64: &[u8] = &[0x0c, 7, 8, 0x90, 1];
const AARCH64: &[u8] = &[0x0c, 31, 0];
const ADVANCE: u8 = 0x41;
const REMEMBER: u8 = 0x0a;
const RESTORE: u8 = 0x0b;

/// Checks the causes in versions 1, 2 and 3.
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
fn ordinary_functions_have_no_cause() {
    amd64(&[ADVANCE, 0x0e, 16, 0x86, 2, ADVANCE, 0x0d, 6], [Cause::Unexplained; 3]);
    aarch64(&[ADVANCE, 0x0e, 16, 0x9d, 2, 0x9e, 1], [Cause::Unexplained; 3]);
}

/// "skipping SFrame FDE; .cfi_remember_state without prior SFrame FRE state": 2.40 and 2.44 print this for the first
/// and the third, LLVM for the first four, and 2.47.50 for none.
#[test]
fn remember_state_before_another_row() {
    let first = Cause::RememberFirst;
    let none = Cause::Unexplained;
    let end = [ADVANCE, 0x0e, 24, ADVANCE, RESTORE];
    let cases: [(&[u8], [Cause; 3]); 8] = [
        (&[REMEMBER], [first, first, none]),
        (&[ADVANCE, REMEMBER], [none, first, none]),
        (&[0x0e, 16, REMEMBER], [first, first, none]),
        (&[ADVANCE, 0x83, 2, ADVANCE, REMEMBER], [none, first, none]),
        // The same value again: LLVM prints it for this, too, and 2.40 and 2.47.50 do not.
        (&[ADVANCE, 0x0e, 8, REMEMBER], [none, first, none]),
        (&[ADVANCE, 0x0e, 16, REMEMBER], [none; 3]),
        (&[ADVANCE, 0x0e, 16, ADVANCE, REMEMBER], [none; 3]),
        (&[ADVANCE, 0x0e, 16, ADVANCE, 0x0e, 8, ADVANCE, REMEMBER], [none; 3]),
    ];
    for (start, causes) in cases {
        amd64(&[start, &end].concat(), causes);
    }
}

/// "no SFrame FDE emitted; SP register 7 in .cfi_register": GNU as 2.47.50 prints this for a function that starts with
/// `.cfi_register 7, 10`, which it writes into the CIE.
#[test]
fn instructions_that_assemblers_move_into_the_cie() {
    let initial = [AMD64, &[0x09, 7, 10]].concat();
    let bytes = section(Abi::Amd64, 16, &initial, 0x10, &[]);
    let causes = [Cause::OtherRegisterSave, Cause::Unexplained, Cause::SpSave];
    check(&bytes, Abi::Amd64, causes);
    // The same applies to an instruction of the function.
    amd64(&[0x09, 7, 10], causes);
}

/// "FP without RA on stack": 2.44 and 2.47.50 print this for both, and 2.40 for neither.
#[test]
fn fp_on_the_stack_without_ra() {
    let causes = [Cause::Unexplained, Cause::FpWithoutRa, Cause::FpWithoutRa];
    aarch64(&[ADVANCE, 0x0e, 16, 0x9d, 2], causes);
    aarch64(&[ADVANCE, 0x0e, 16, 0x9d, 2, 0x07, 30], causes);
    // Other machines store RA elsewhere.
    amd64(&[ADVANCE, 0x0e, 16, 0x86, 2], [Cause::Unexplained; 3]);
}

/// "skipping SFrame FDE; CFI insn CFI_escape (0x103)": 2.40 and 2.44 print this for all. 2.47.50 prints "no SFrame FDE
/// emitted; .cfi_escape DW_CFA_expression with SP reg 7" and ".cfi_escape with op (0x16)".
#[test]
fn expressions_of_registers_that_sframe_does_not_have() {
    let escape = Cause::UnsupportedEscape;
    // expression and val_expression of RBX and RSP: rsp+8.
    amd64(&[ADVANCE, 0x10, 3, 2, 0x77, 8], [escape, escape, Cause::Unexplained]);
    amd64(&[ADVANCE, 0x10, 7, 2, 0x77, 8], [escape; 3]);
    amd64(&[ADVANCE, 0x16, 3, 2, 0x77, 8], [escape; 3]);
    amd64(&[ADVANCE, 0x16, 7, 2, 0x77, 8], [escape; 3]);
}

/// GNU as 2.47.50 interprets `.cfi_escape`. For forms that it does not support, it prints "no SFrame FDE emitted;
/// .cfi_escape with op (0xf)" and "(0x10)". 2.40 and 2.44 drop every function with an escape: "skipping SFrame FDE; CFI
/// insn CFI_escape (0x103)".
#[test]
fn forms_of_expressions() {
    let escape = Cause::UnsupportedEscape;
    let taken = [escape, escape, Cause::Unexplained];
    let cfa = [escape, escape, Cause::CfaExpressionForm];
    let form = [escape, escape, Cause::ExpressionForm];
    // `.cfi_escape 0x0f, 2, 0x77, 0x10`: def_cfa_expression rsp+16, rbp+16, r10+0.
    amd64(&[ADVANCE, 0x0f, 2, 0x77, 0x10], cfa);
    amd64(&[ADVANCE, 0x0f, 2, 0x76, 0x10], cfa);
    // In older versions, a CFA based on R10 takes precedence, as it does for a rule.
    let cfa_register = Cause::CfaRegister;
    amd64(&[ADVANCE, 0x0f, 2, 0x7a, 0], [cfa_register, cfa_register, Cause::CfaExpressionForm]);
    // *(rbp-8) is supported: "(fp-8)". *(rbp-256), which has an operand of two bytes, rbp+0+16 and bregx are not.
    let loaded = Cause::CfaExpression;
    amd64(&[ADVANCE, 0x0f, 3, 0x76, 0x78, 0x06], [loaded, loaded, Cause::Unexplained]);
    let far = [loaded, loaded, Cause::CfaExpressionForm];
    amd64(&[ADVANCE, 0x0f, 4, 0x76, 0x80, 0x7e, 0x06], far);
    amd64(&[ADVANCE, 0x0f, 4, 0x76, 0, 0x23, 0x10], cfa);
    amd64(&[ADVANCE, 0x0f, 3, 0x92, 7, 8], cfa);
    // `.cfi_escape 0x10, 3, 2, 0x77, 0x08`, the expression rsp+8 for RBX, is supported. rsp+8+8, reg7, and rbp-128,
    // which has an operand of two bytes, are not.
    amd64(&[ADVANCE, 0x10, 3, 2, 0x77, 8], taken);
    amd64(&[ADVANCE, 0x10, 3, 4, 0x77, 8, 0x23, 8], form);
    amd64(&[ADVANCE, 0x10, 3, 1, 0x57], form);
    let fp = [Cause::FpExpression, Cause::FpExpression, Cause::ExpressionForm];
    amd64(&[ADVANCE, 0x10, 6, 3, 0x76, 0x80, 0x7f], fp);
    let ra = [Cause::RaExpression, Cause::RaExpression, Cause::ExpressionForm];
    amd64(&[ADVANCE, 0x10, 16, 3, 0x76, 0x80, 0x7f], ra);
    // The same on AArch64: sp+16 for the CFA and sp+128 for x19 are not supported; sp+8 for x19 is.
    aarch64(&[ADVANCE, 0x0f, 2, 0x8f, 0x10], cfa);
    aarch64(&[ADVANCE, 0x10, 19, 3, 0x8f, 0x80, 1], form);
    aarch64(&[ADVANCE, 0x10, 19, 2, 0x8f, 8], taken);
    // A rule counts even if another one replaces it at the same place.
    amd64(&[0x0f, 2, 0x77, 0x10, 0x0c, 7, 8], cfa);
}

/// GNU as 2.47.50 for s390x prints "no SFrame FDE emitted; .cfi_escape with op (0xf)", even if the CFA is loaded
/// from a place relative to R11, and ".cfi_escape DW_CFA_expression with RA reg 14". It supports R11 and R10 at r15+8.
#[test]
fn forms_of_expressions_on_s390x() {
    // def_cfa r15+160.
    let cause = |program: &[u8]| {
        let bytes = big_endian(14, &[0x0c, 15, 0xa0, 1], 0x10, program);
        cause_of(&bytes, Abi::S390x, Version::V3)
    };
    let cfa = Cause::CfaExpressionForm;
    assert_eq!(cause(&[0x42, 0x0f, 3, 0x7b, 0x78, 0x06]), cfa);
    assert_eq!(cause(&[0x42, 0x0f, 3, 0x7f, 0xa0, 1]), cfa);
    assert_eq!(cause(&[0x42, 0x10, 14, 2, 0x7f, 8]), Cause::RaExpression);
    assert_eq!(cause(&[0x42, 0x10, 14, 2, 0x7b, 8]), Cause::RaExpression);
    assert_eq!(cause(&[0x42, 0x10, 11, 3, 0x7b, 0x80, 1]), Cause::ExpressionForm);
    assert_eq!(cause(&[0x42, 0x10, 10, 3, 0x7b, 0x80, 1]), Cause::ExpressionForm);
    assert_eq!(cause(&[0x42, 0x10, 11, 2, 0x7f, 8]), Cause::Unexplained);
    assert_eq!(cause(&[0x42, 0x10, 10, 2, 0x7f, 8]), Cause::Unexplained);
}

/// "no SFrame FDE emitted; .cfi_def_cfa_offset with unsupported offset value": 2.47.50 prints this from 2^31 on and
/// below -2^31, on AMD64 and AArch64. 2.40 and 2.44 reject the file: "Fatal error: SFrame unsupported offset value". So
/// does 2.47.50 for slots. No version has data words with more than 32 bits.
#[test]
fn offsets_beyond_32_bits() {
    let range = [Cause::OffsetRange; 3];
    // `.cfi_def_cfa_offset 2147483647`, 2147483648 (2^31 in five groups of 7 bits), 4294967296.
    amd64(&[ADVANCE, 0x0e, 0xff, 0xff, 0xff, 0xff, 7], [Cause::Unexplained; 3]);
    amd64(&[ADVANCE, 0x0e, 0x80, 0x80, 0x80, 0x80, 8], range);
    amd64(&[ADVANCE, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x10], range);
    aarch64(&[ADVANCE, 0x0e, 0x80, 0x80, 0x80, 0x80, 8], [Cause::OffsetRange; 3]);
    // def_cfa_offset_sf of -8 times 2^28, which is -2^31, and of one more.
    amd64(&[ADVANCE, 0x13, 0x80, 0x80, 0x80, 0x80, 1], [Cause::Unexplained; 3]);
    amd64(&[ADVANCE, 0x13, 0x81, 0x80, 0x80, 0x80, 1], range);
    // `.cfi_offset 6, -2147483656`: the same for the slot of FP. For RBX, it does not matter.
    amd64(&[ADVANCE, 0x86, 0x81, 0x80, 0x80, 0x80, 1], range);
    amd64(&[ADVANCE, 0x83, 0x81, 0x80, 0x80, 0x80, 1], [Cause::Unexplained; 3]);
    // On s390x, words count in units of 8 bytes from 160 on: 2^31 fits, but 2^34 + 160 does not.
    let s390x = |offset: &[u8]| {
        let program = [&[0x42, 0x0e], offset].concat();
        let bytes = big_endian(14, &[0x0c, 15, 0xa0, 1], 0x10, &program);
        cause_of(&bytes, Abi::S390x, Version::V3)
    };
    assert_eq!(s390x(&[0x80, 0x80, 0x80, 0x80, 8]), Cause::Unexplained);
    assert_eq!(s390x(&[0xa0, 0x81, 0x80, 0x80, 0x40]), Cause::OffsetRange);
}

/// GNU as 2.40 writes no entry for `.cfi_register 3, 10` and similar directives, without a message. 2.44 and 2.47.50
/// write one for registers that SFrame does not track.
#[test]
fn another_register_in_a_register() {
    let other = [Cause::OtherRegisterSave, Cause::Unexplained, Cause::Unexplained];
    amd64(&[ADVANCE, 0x09, 3, 10], other);
    aarch64(&[ADVANCE, 0x09, 19, 20], other);
    amd64(&[ADVANCE, 0x09, 12, 12], other);
    // Beside an escape that 2.47.50 interprets.
    let escape = Cause::UnsupportedEscape;
    let beside = [escape, escape, Cause::Unexplained];
    amd64(&[ADVANCE, 0x10, 3, 2, 0x77, 8, 0x09, 12, 10], beside);
    // At the function's start, the instruction is written into the CIE.
    let initial = [AMD64, &[0x09, 3, 10]].concat();
    check(&section(Abi::Amd64, 16, &initial, 0x10, &[]), Abi::Amd64, other);
}

/// ".cfi_label foo" between two instructions: "no SFrame FDE emitted; CFI insn CFI_label (0x106)", but the CFI is that
/// of a function without the label. ".cfi_escape 0x0e, 16": ".cfi_escape with op (0xe)", but the CFI is that of
/// `.cfi_def_cfa_offset 16`. The CFI does not show the reason in either case.
#[test]
fn losses_without_a_cause_in_cfi() {
    amd64(&[ADVANCE], [Cause::Unexplained; 3]);
    amd64(&[ADVANCE, 0x0e, 16], [Cause::Unexplained; 3]);
}

/// A CIE of a megabyte does not make its functions slower to read.
#[test]
fn long_cies_are_not_read_for_each_function() {
    let mut initial = AMD64.to_vec();
    initial.resize(1 << 20, 0);
    initial.extend([0x09, 3, 10]);
    let bytes = section(Abi::Amd64, 16, &initial, 0x10, &[]);
    check(&bytes, Abi::Amd64, [Cause::Unexplained; 3]);
}

/// One case for each of the other causes (the table in `cfi-mapping`). If several apply, the first is reported.
#[test]
fn each_cause() {
    use Cause::{
        ArgsSize, CfaExpression, CfaRegister, FpExpression, NoInitialRules, RaExpression,
        RaSignWithPc, RegisterSave, ReturnColumn, UndefinedFp, Unexplained, UnsupportedEscape,
        ValueOffset, ZeroSize,
    };
    // def_cfa r10+0: version 3 can express it in flexible rows.
    amd64(&[0x0c, 10, 0], [CfaRegister, CfaRegister, Unexplained]);
    aarch64(&[0x0c, 9, 0], [CfaRegister; 3]);
    // def_cfa_expression *(rbp-8), *(rsp-8), and one without a simpler form (rax * 2).
    amd64(&[0x0f, 3, 0x76, 0x78, 0x06], [CfaExpression, CfaExpression, Unexplained]);
    amd64(&[0x0f, 3, 0x77, 0x78, 0x06], [CfaExpression; 3]);
    amd64(&[0x0f, 4, 0x70, 0, 0x32, 0x1e], [CfaExpression; 3]);
    // expression of RA and FP: rax * 2.
    amd64(&[0x10, 16, 4, 0x70, 0, 0x32, 0x1e], [RaExpression; 3]);
    amd64(&[0x10, 6, 4, 0x70, 0, 0x32, 0x1e], [FpExpression; 3]);
    // register: FP in r10.
    amd64(&[0x09, 6, 10], [RegisterSave, RegisterSave, Unexplained]);
    aarch64(&[0x09, 30, 9], [RegisterSave; 3]);
    // val_offset of FP and SP.
    amd64(&[0x14, 6, 2], [ValueOffset; 3]);
    amd64(&[0x14, 7, 0], [ValueOffset; 3]);
    // All three assemblers write `.cfi_val_offset 3, -16`, which is about RBX.
    amd64(&[0x14, 3, 2], [Unexplained; 3]);
    amd64(&[0x07, 6], [UndefinedFp; 3]);
    amd64(&[0x07, 7], [UndefinedFp; 3]);
    amd64(&[0x2e, 16], [ArgsSize; 3]);
    amd64(&[0x2d], [UnsupportedEscape; 3]);
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

/// 65,536 rows are one more than version 3 can count.
#[test]
fn more_rows_than_can_be_counted() {
    let mut program = vec![];
    for row in 0..0xffff_u32 {
        program.extend([ADVANCE, 0x0e, if row % 2 == 0 { 16 } else { 8 }]);
    }
    let full = section(Abi::Amd64, 16, AMD64, 0x10000, &program[..program.len() - 3]);
    check(&full, Abi::Amd64, [Cause::Unexplained; 3]);
    let over = section(Abi::Amd64, 16, AMD64, 0x10000, &program);
    check(&over, Abi::Amd64, [Cause::Unexplained, Cause::Unexplained, Cause::RowLimit]);
    // The same with a CFA based on R10, which only version 3 can express.
    let register = Cause::CfaRegister;
    for (rows, cause) in [(0xffff, Cause::Unexplained), (0x10000, Cause::RowLimit)] {
        let initial = [0x0c, 10, 8, 0x90, 1];
        let bytes = section(Abi::Amd64, 16, &initial, 0x10000, &program[..3 * (rows - 1)]);
        check(&bytes, Abi::Amd64, [register, register, cause]);
    }
}

#[test]
fn causes_have_names_of_their_own() {
    let names: std::collections::BTreeSet<_> =
        Cause::ALL.iter().map(|cause| cause.name()).collect();
    assert_eq!(names.len(), Cause::ALL.len());
    assert!(Cause::ALL.is_sorted());
}
