//! Tests of DWARF expressions with a simple meaning, and of those without, as bytes. The operations and what they do to
//! the stack are those of DWARF 5 2.5.1 and 7.7.1; 6.4.2 says which values are on the stack at first.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::by_hand::{eh_frame, entry};
use sframe_oracle::cfi::{Cfi, Kind, RowContext};
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Row};

/// The rows of the only function.
fn rows(section: &[u8], abi: Abi) -> Vec<Row> {
    let cfi = Cfi::from_bytes(section, Kind::EhFrame, 0x8000, abi);
    let function = cfi.functions().next().expect("one function");
    let mut context = RowContext::new(&cfi);
    function.rows(&mut context).map(|row| row.expect("readable")).collect()
}

/// The frame of a function of 16 bytes that has `code`, the registers before the expression, and the expression.
fn frame(code: &[u8], expression: &[u8]) -> Frame {
    let length = u8::try_from(expression.len()).expect("short");
    let program = [code, &[length], expression].concat();
    let rows = rows(&eh_frame(&[(0x1000, 16, &program)]), Abi::Amd64);
    let [row] = rows.as_slice() else { panic!("{expression:x?}: {rows:?}") };
    row.frame
}

/// `def_cfa_expression`, where the stack is empty at first. `None` means that there is no simple form.
fn cfa(expression: &[u8]) -> Option<String> {
    let cfa = frame(&[0x0f], expression).cfa;
    (!matches!(cfa, Cfa::Expression(_))).then(|| cfa.to_string())
}

/// `expression` and `val_expression` for FP, where the CFA is on the stack at first.
fn fp(code: u8, expression: &[u8]) -> Option<String> {
    let fp = frame(&[code, 6], expression).fp;
    let complex = matches!(fp, Recovery::AtExpression(_) | Recovery::Expression(_));
    (!complex).then(|| fp.to_string())
}

#[test]
fn registers_and_constants_are_added() {
    for (expression, value) in [
        (&[0x77, 8][..], "r7+8"),               // breg7 8
        (&[0x77, 8, 0x96], "r7+8"),             // nop
        (&[0x92, 0x87, 0, 0x78], "r7-8"),       // bregx 7 -8, with a number in two bytes
        (&[0x77, 8, 0x48, 0x22], "r7+32"),      // lit24, plus
        (&[0x48, 0x77, 8, 0x22], "r7+32"),      // lit24 first
        (&[0x77, 8, 0x48, 0x1c], "r7-16"),      // minus
        (&[0x77, 8, 0x09, 0xf0, 0x22], "r7-8"), // const1s -16, plus
        (&[0x77, 8, 0x09, 0xf0, 0x1c], "r7+24"),
        (&[0x77, 8, 0x23, 0x10], "r7+24"), // plus_uconst 16
        (&[0x38, 0x23, 8, 0x77, 0, 0x22], "r7+16"), // lit8, plus_uconst 8, breg7 0, plus
        (&[0x77, 8, 0x31, 0x32, 0x33, 0x22, 0x22, 0x22], "r7+14"), // lit1 to lit3
        (&[0x77, 8, 0x38, 0x34, 0x1c, 0x22], "r7+12"), // 8 - 4
        // The value is the last one on the stack.
        (&[0x76, 0, 0x77, 8], "r7+8"),
        (&[0x77, 8, 0x06], "*(r7+8)"),    // deref
        (&[0x77, 8, 0x94, 8], "*(r7+8)"), // deref_size 8
        (&[0x77, 8, 0x23, 8, 0x06], "*(r7+16)"),
        // More after the load.
        (&[0x77, 8, 0x06, 0x23, 8], "*(r7+8)+8"),
        (&[0x77, 8, 0x06, 0x38, 0x22], "*(r7+8)+8"),
        (&[0x77, 8, 0x06, 0x38, 0x1c], "*(r7+8)-8"),
        (&[0x38, 0x77, 8, 0x06, 0x22], "*(r7+8)+8"),
        (&[0x77, 8, 0x06, 0x23, 0xff, 0xff, 0xff, 0xff, 7], "*(r7+8)+2147483647"),
    ] {
        assert_eq!(cfa(expression).as_deref(), Some(value), "{expression:x?}");
    }
}

#[test]
fn other_values_stay_expressions() {
    for expression in [
        &[][..],
        &[0x38],                   // lit8: no register
        &[0x38, 0x06],             // the memory at 8
        &[0x77, 8, 0x38, 0x1b],    // div
        &[0x77, 8, 0x1f],          // neg
        &[0x77, 8, 0x22],          // plus without a second value
        &[0x77, 8, 0x1c],          // minus without a second value
        &[0x06],                   // deref of nothing
        &[0x23, 8],                // plus_uconst to nothing
        &[0x77, 8, 0x76, 0, 0x22], // two registers
        &[0x77, 8, 0x76, 0, 0x1c],
        &[0x48, 0x77, 8, 0x1c], // 24 - (r7+8)
        &[0x77, 8, 0x06, 0x06], // loaded twice
        &[0x77, 8, 0x06, 0x23, 8, 0x06],
        // 2^31 after the load, and 2^31 - 1 twice; a distance of 2^31 before it.
        &[0x77, 8, 0x06, 0x23, 0x80, 0x80, 0x80, 0x80, 8],
        &[0x77, 8, 0x06, 0x23, 0xff, 0xff, 0xff, 0xff, 7, 0x23, 0xff, 0xff, 0xff, 0xff, 7],
        &[0x77, 0x80, 0x80, 0x80, 0x80, 8, 0x06, 0x23, 8],
        &[0x77, 8, 0x38, 0x06, 0x22], // the other value is loaded
        &[0x77, 8, 0x38, 0x06, 0x1c],
        &[0x38, 0x06, 0x77, 8, 0x22],
        &[0x77, 8, 0x94, 4],       // deref_size 4
        &[0x77, 8, 0xa6, 8, 0x10], // deref_type of a type at 0x10
        &[0x77, 8, 0x38, 0x18],    // xderef: from another address space
        &[0xa5, 7, 0x10],          // regval_type of a type at 0x10
        &[0x9c],                   // call_frame_cfa: 6.4.2 does not allow it here
        // The sum of 8 and 2^63 - 1; plus_uconst and constu of 2^63; 8 minus -2^63.
        &[0x77, 8, 0x23, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        &[0x77, 8, 0x23, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
        &[0x77, 8, 0x10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0x22],
        &[0x77, 8, 0x11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 0x1c],
        // Five values: a simple expression needs fewer.
        &[0x77, 8, 0x31, 0x31, 0x31, 0x31, 0x22, 0x22, 0x22, 0x22],
    ] {
        assert_eq!(cfa(expression), None, "{expression:x?}");
    }
}

#[test]
fn the_cfa_is_on_the_stack_of_a_register() {
    for (expression, saved_at, value) in [
        (&[][..], Some("*(CFA+0)"), Some("CFA+0")),
        (&[0x23, 8], Some("*(CFA+8)"), Some("CFA+8")),
        (&[0x38, 0x1c], Some("*(CFA-8)"), Some("CFA-8")),
        (&[0x9c, 0x23, 8], Some("*(CFA+8)"), Some("CFA+8")), // call_frame_cfa
        (&[0x77, 8], Some("*(r7+8)"), Some("r7+8")),
        (&[0x77, 0], Some("*(r7+0)"), Some("r7")),
        // What is loaded is an address itself.
        (&[0x06], None, Some("*(CFA+0)")),
        (&[0x77, 8, 0x06], None, Some("*(r7+8)")),
        (&[0x38], None, None),
        (&[0x38, 0x06], None, None),
        (&[0x22], None, None),
        (&[0x77, 8, 0x22], None, None),
        (&[0x1f], None, None),
    ] {
        assert_eq!(fp(0x10, expression).as_deref(), saved_at, "{expression:x?}");
        assert_eq!(fp(0x16, expression).as_deref(), value, "{expression:x?}");
    }
}

/// The DWARF ABI of AArch64: the value of `RA_SIGN_STATE`, register 34, is a constant, whose bit 0 says that the return
/// address is signed. The state before is signed (0x2d) or not.
#[test]
fn the_signing_state_is_bit_0_of_a_constant() {
    // Code 4, data -8, column 30, CFA = r31 + 0.
    let cie = entry(0, &[1, 0, 4, 0x78, 30, 0x0c, 31, 0]);
    let signed = |before: &[u8], expression: &[u8]| {
        let range = [0x1000_u64.to_le_bytes(), 16_u64.to_le_bytes()].concat();
        let length = u8::try_from(expression.len()).expect("short");
        let program = [before, &[0x16, 34, length], expression].concat();
        let id = u32::try_from(cie.len() + 4).expect("short");
        let section = [cie.clone(), entry(id, &[range, program].concat())].concat();
        let rows = rows(&section, Abi::Aarch64Little);
        let [row] = rows.as_slice() else { panic!("{expression:x?}: {rows:?}") };
        row.frame.ra_signed
    };
    for (expression, value) in [
        (&[0x30][..], false),         // lit0
        (&[0x31], true),              // lit1
        (&[0x32], false),             // lit2
        (&[0x33], true),              // lit3
        (&[0x09, 0xff], true),        // const1s -1
        (&[0x31, 0x31, 0x22], false), // 1 + 1
    ] {
        assert_eq!(signed(&[], expression), value, "{expression:x?}");
        assert_eq!(signed(&[0x2d], expression), value, "{expression:x?}");
    }
    // The CFA, a register, and memory are unknown.
    for expression in [&[][..], &[0x23, 1], &[0x8f, 1], &[0x31, 0x06], &[0x30, 0x06]] {
        assert!(!signed(&[], expression), "{expression:x?}");
        assert!(signed(&[0x2d], expression), "{expression:x?}");
    }
}

/// The operations that linkers write for the PLT: breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus.
const PLT: [&[u8]; 9] =
    [&[0x77, 8], &[0x80, 0], &[0x3f], &[0x1a], &[0x3b], &[0x2a], &[0x33], &[0x24], &[0x22]];

/// The CFA of `PLT` with some operations replaced: in the first block of 16 bytes, the offset up to a place and the
/// offset from there on; `None` if it stays an expression.
fn plt(changes: &[(usize, &[u8])]) -> Option<(i64, u64, i64)> {
    let mut operations = PLT.to_vec();
    for (number, operation) in changes {
        operations[*number] = operation;
    }
    let expression = operations.concat();
    let length = u8::try_from(expression.len()).expect("short");
    let program = [&[0x0f, length], expression.as_slice()].concat();
    let rows = rows(&eh_frame(&[(0x1000, 16, &program)]), Abi::Amd64);
    let offset = |row: &Row| match row.frame.cfa {
        Cfa::RegisterOffset { offset, .. } => Some(offset),
        _ => None,
    };
    match rows.as_slice() {
        [low, high] => Some((offset(low)?, low.end - 0x1000, offset(high)?)),
        [one] => Some((offset(one)?, one.end - 0x1000, offset(one)?)),
        _ => panic!("{rows:?}"),
    }
}

#[test]
fn the_expression_of_a_linkage_table_has_two_values() {
    assert_eq!(plt(&[]), Some((8, 11, 16)));
    assert_eq!(plt(&[(0, &[0x77, 16])]), Some((16, 11, 24)));
    // The numbers in other forms: const1u 15, const1s 11, constu 3.
    assert_eq!(plt(&[(2, &[0x08, 15]), (4, &[0x09, 11]), (6, &[0x10, 3])]), Some((8, 11, 16)));
    assert_eq!(plt(&[(4, &[0x36])]), Some((8, 6, 16)));
    assert_eq!(plt(&[(6, &[0x34])]), Some((8, 11, 24)));
    // The largest place, the largest number, and a place that every PC has reached.
    assert_eq!(plt(&[(4, &[0x3f])]), Some((8, 15, 16)));
    assert_eq!(plt(&[(6, &[0x3f])]), Some((8, 11, 8 + 0x8000)));
    assert_eq!(plt(&[(4, &[0x30])]), Some((16, 16, 16)));
}

#[test]
fn other_expressions_about_the_pc_stay_expressions() {
    let changes: [(usize, &[u8]); 15] = [
        (0, &[0x38]),       // lit8 for the register
        (1, &[0x80, 1]),    // the PC plus 1
        (1, &[0x76, 0]),    // another register than the PC
        (2, &[0x3e]),       // lit14: another mask
        (2, &[0x40]),       // lit16
        (2, &[0x77, 0]),    // no constant
        (3, &[0x21]),       // or
        (4, &[0x08, 16]),   // const1u 16: no PC in a block is that far
        (4, &[0x09, 0xff]), // const1s -1
        (5, &[0x2b]),       // gt
        (6, &[0x08, 16]),   // a shift of 16
        (7, &[0x25]),       // shr
        (8, &[0x1c]),       // minus
        (8, &[0x22, 0x96]), // more after the sum
        (8, &[0x22, 0x23, 8]),
    ];
    for change in changes {
        assert_eq!(plt(&[change]), None, "{change:x?}");
    }
}

/// The reader examines expressions of at most 32 bytes. The numbers are padded here: LEB128 allows it.
#[test]
fn long_expressions_are_not_examined() {
    let eight = |value| [0x10, value, 0x80, 0x80, 0x80, 0x80, 0x80, 0];
    let [mask, place, shift] = [eight(0x8f), eight(0x8b), eight(0x83)];
    let changes = |last| [(2, mask.as_slice()), (4, place.as_slice()), (6, last)];
    assert_eq!(plt(&changes(&shift)), Some((8, 11, 16)));
    let nine = [0x10, 0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0];
    assert_eq!(plt(&changes(&nine)), None);
}
