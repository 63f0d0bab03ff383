//! Tests of every call frame instruction, as bytes, against a table computed by hand (DWARF 5 6.4.2; for vendors'
//! instructions, their ABI or manual). gimli reads the same bytes if it knows the instructions.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use sframe_oracle::cfi::{Cfi, CfiErrorKind, Kind, MAX_STATES, RowContext};
use sframe_validator::Abi;

/// `.eh_frame` with one CIE and one FDE of 0x100 bytes at 0x1000. Code alignment 1 (AMD64) or 4,
/// data alignment -8, CFA = SP + 8 and RA at CFA - 8 on AMD64, CFA = SP + 0 elsewhere.
fn section(abi: Abi, augmentation: &[u8], initial: &[u8], program: &[u8]) -> Vec<u8> {
    let big = abi.endian() == sframe_validator::Endian::Big;
    let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let long = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut cie = word(0).to_vec();
    cie.push(1);
    cie.extend(augmentation);
    cie.push(0);
    cie.extend([if abi == Abi::Amd64 { 1 } else { 4 }, 0x78, abi.ra().0 as u8]);
    let sized = augmentation.first() == Some(&b'z');
    if sized {
        cie.push(0);
    }
    cie.extend(initial);
    let mut bytes = word(cie.len() as u32).to_vec();
    bytes.extend(&cie);
    let mut fde = word(bytes.len() as u32 + 4).to_vec();
    fde.extend(long(0x1000));
    fde.extend(long(0x100));
    if sized {
        fde.push(0);
    }
    fde.extend(program);
    bytes.extend(word(fde.len() as u32));
    bytes.extend(&fde);
    bytes
}

fn rows_of(bytes: &[u8], abi: Abi) -> Vec<String> {
    let cfi = Cfi::from_bytes(bytes, Kind::EhFrame, 0x8000, abi);
    assert_eq!(cfi.len(), 1, "{:?}", cfi.defects());
    let mut context = RowContext::new(&cfi);
    let fde = cfi.functions().next().expect("one function");
    let rows = fde.rows(&mut context);
    rows.map(|row| match row {
        Ok(row) => format!("{:x}..{:x} {}", row.start - 0x1000, row.end - 0x1000, row.frame),
        Err(error) => format!("error {}", error.kind.name()),
    })
    .collect()
}

const DEFAULT: &[u8] = &[0x0c, 7, 8, 0x90, 1];

#[track_caller]
fn check(program: &[u8], expected: &[&str]) {
    assert_eq!(rows_of(&section(Abi::Amd64, b"", DEFAULT, program), Abi::Amd64), expected);
}

#[track_caller]
fn check_arm(augmentation: &[u8], program: &[u8], expected: &[&str]) {
    for abi in [Abi::Aarch64Little, Abi::Aarch64Big] {
        let bytes = section(abi, augmentation, &[0x0c, 31, 0], program);
        assert_eq!(rows_of(&bytes, abi), expected, "{abi}");
    }
}

#[test]
fn nop_and_no_instruction() {
    check(&[], &["0..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged"]);
    check(&[0, 0, 0], &["0..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged"]);
}

#[test]
fn advance_loc_of_each_width() {
    let at = |first: &str| {
        vec![
            format!("0..{first} CFA=r7+8 RA=*(CFA-8) FP=unchanged"),
            format!("{first}..100 CFA=r7+16 RA=*(CFA-8) FP=unchanged"),
        ]
    };
    let forms: [(&[u8], &str); 6] = [
        (&[0x41], "1"),
        (&[0x7f], "3f"),
        (&[0x02, 0x80], "80"),
        (&[0x03, 0xfe, 0x00], "fe"),
        (&[0x04, 0x90, 0, 0, 0], "90"),
        (&[0x1d, 0x91, 0, 0, 0, 0, 0, 0, 0], "91"), // DW_CFA_MIPS_advance_loc8
    ];
    for (advance, first) in forms {
        let program = [advance, &[0x0e, 16]].concat();
        let bytes = section(Abi::Amd64, b"", DEFAULT, &program);
        assert_eq!(rows_of(&bytes, Abi::Amd64), at(first), "{advance:x?}");
    }
}

#[test]
fn advances_are_multiplied_by_the_code_alignment() {
    check_arm(
        b"",
        &[0x41, 0x0e, 16, 0x02, 2, 0x0e, 32],
        &[
            "0..4 CFA=r31+0 RA=unchanged FP=unchanged",
            "4..c CFA=r31+16 RA=unchanged FP=unchanged",
            "c..100 CFA=r31+32 RA=unchanged FP=unchanged",
        ],
    );
}

#[test]
fn multi_byte_operands_follow_the_byte_order() {
    let bytes = section(Abi::S390x, b"", &[0x0c, 15, 0xa0, 1], &[0x03, 0, 9, 0x0e, 0xc0, 2]);
    let expected = [
        "0..24 CFA=r15+160 RA=unchanged FP=unchanged",
        "24..100 CFA=r15+320 RA=unchanged FP=unchanged",
    ];
    assert_eq!(rows_of(&bytes, Abi::S390x), expected);
}

#[test]
fn set_loc() {
    check(
        &[0x01, 0x20, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 16],
        &["0..20 CFA=r7+8 RA=*(CFA-8) FP=unchanged", "20..100 CFA=r7+16 RA=*(CFA-8) FP=unchanged"],
    );
    check(
        &[0x42, 0x01, 0x01, 0x10, 0, 0, 0, 0, 0, 0],
        &["0..2 CFA=r7+8 RA=*(CFA-8) FP=unchanged", "error cfi-set-loc-backwards"],
    );
}

#[test]
fn cfa_definitions() {
    let before = "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged";
    let cases: [(&[u8], &str); 8] = [
        (&[0x0c, 6, 16], "r6+16"),
        (&[0x0c, 0x85, 1, 0x80, 2], "r133+256"),
        (&[0x12, 7, 0x7d], "r7+24"), // def_cfa_sf: -3 * -8
        (&[0x12, 7, 3], "r7-24"),
        (&[0x0d, 6], "r6+8"),
        (&[0x0e, 0x80, 1], "r7+128"),
        (&[0x13, 0x7c], "r7+32"), // def_cfa_offset_sf: -4 * -8
        // LLVM writes an offset of -8 like this: unsigned and wrapped.
        (&[0x0e, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "r7-8"),
    ];
    for (program, cfa) in cases {
        let after = format!("1..100 CFA={cfa} RA=*(CFA-8) FP=unchanged");
        check(&[&[0x41], program].concat(), &[before, &after]);
    }
}

#[test]
fn cfa_expressions() {
    let before = "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged";
    let cases: [(&[u8], &str); 7] = [
        (&[0x76, 0x70], "r6-16"),                       // breg6 -16
        (&[0x76, 0x70, 0x06], "*(r6-16)"),              // breg6 -16; deref
        (&[0x92, 7, 24], "r7+24"),                      // bregx 7 8
        (&[0x77, 8, 0x23, 0x80, 1], "r7+136"),          // breg7 8; plus_uconst 128
        (&[0x77, 8, 0x08, 200, 0x1c], "r7-192"),        // breg7 8; const1u 200; minus
        (&[0x77, 8, 0x06, 0x23, 8], "*(r7+8)+8"),       // breg7 8; deref; plus_uconst 8
        (&[0x77, 0, 0x76, 0, 0x22], "expression@0x29"), // two registers
    ];
    for (expression, cfa) in cases {
        let program = [&[0x41, 0x0f, expression.len() as u8], expression].concat();
        let after =
            format!("1..100 CFA={cfa} RA=*(CFA-8) FP=unchanged").replace("expression@0x29", "E");
        let bytes = section(Abi::Amd64, b"", DEFAULT, &program);
        let found: Vec<_> = rows_of(&bytes, Abi::Amd64)
            .iter()
            .map(|row| match row.find("expression@") {
                Some(at) => format!(
                    "{}E{}",
                    &row[..at],
                    &row[row[at..].find(' ').map_or(row.len(), |n| at + n)..]
                ),
                None => row.clone(),
            })
            .collect();
        assert_eq!(found, [before, after.as_str()]);
    }
}

#[test]
fn register_rules() {
    let before = "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged";
    let cases: [(&[u8], &str); 14] = [
        (&[0x86, 2], "RA=*(CFA-8) FP=*(CFA-16)"),       // offset(6)
        (&[0x05, 6, 3], "RA=*(CFA-8) FP=*(CFA-24)"),    // offset_extended
        (&[0x11, 6, 0x7e], "RA=*(CFA-8) FP=*(CFA+16)"), // offset_extended_sf
        (&[0x2f, 6, 2], "RA=*(CFA-8) FP=*(CFA+16)"),    // GNU_negative_offset_extended
        (&[0x14, 6, 2], "RA=*(CFA-8) FP=CFA-16"),       // val_offset
        (&[0x15, 6, 0x7e], "RA=*(CFA-8) FP=CFA+16"),    // val_offset_sf
        (&[0x09, 6, 3], "RA=*(CFA-8) FP=r3"),           // register
        (&[0x09, 16, 2], "RA=r2 FP=unchanged"),
        (&[0x07, 6], "RA=*(CFA-8) FP=undefined"), // undefined
        (&[0x07, 16], "RA=undefined FP=unchanged"),
        (&[0x08, 16], "RA=unchanged FP=unchanged"), // same_value
        (&[0x10, 6, 2, 0x76, 0x68], "RA=*(CFA-8) FP=*(r6-24)"), // expression: breg6 -24
        (&[0x16, 6, 2, 0x76, 0x68], "RA=*(CFA-8) FP=r6-24"), // val_expression
        (&[0x16, 6, 3, 0x76, 0x68, 0x06], "RA=*(CFA-8) FP=*(r6-24)"),
    ];
    for (program, rules) in cases {
        check(&[&[0x41], program].concat(), &[before, &format!("1..100 CFA=r7+8 {rules}")]);
    }
}

#[test]
fn a_register_saved_in_itself_is_unchanged() {
    check(
        &[0x41, 0x86, 2, 0x41, 0x09, 6, 6],
        &[
            "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "1..2 CFA=r7+8 RA=*(CFA-8) FP=*(CFA-16)",
            "2..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged",
        ],
    );
}

/// 6.4.2.2: half of the CFA's rule can be changed only if the rule is a register and an offset, and not an expression,
/// even one for the same value (r7+8).
#[test]
fn half_of_an_expression_cannot_be_changed() {
    let before = "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged";
    for change in [&[0x0e, 16][..], &[0x0e, 0x80, 1], &[0x0d, 6], &[0x13, 0x7c]] {
        let program = [&[0x41, 0x0f, 2, 0x77, 8], change].concat();
        check(&program, &[before, "error cfi-cfa-not-register"]);
    }
    // Another rule and a remembered one are a register and an offset again.
    let program = [0x0a, 0x41, 0x0f, 2, 0x76, 8, 0x0c, 6, 16, 0x0e, 24];
    check(&program, &[before, "1..100 CFA=r6+24 RA=*(CFA-8) FP=unchanged"]);
    let program = [0x0a, 0x41, 0x0f, 2, 0x76, 8, 0x0b, 0x0e, 24];
    check(&program, &[before, "1..100 CFA=r7+24 RA=*(CFA-8) FP=unchanged"]);
}

/// An offset that does not fit in 64 bits when multiplied matters only for registers that are compared: -2^62 times -8.
#[test]
fn offsets_of_other_registers_may_overflow() {
    let before = "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged";
    let offset = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40];
    let of = |register| [&[0x41, 0x11, register], offset.as_slice()].concat();
    check(&of(3), &["0..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged"]);
    check(&of(6), &[before, "error cfi-offset-overflow"]);
    check(&of(16), &[before, "error cfi-offset-overflow"]);
}

#[test]
fn expressions_start_with_the_cfa() {
    let before = "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged";
    // expression: plus_uconst 32; val_expression: const1s -8, plus.
    check(&[0x41, 0x10, 6, 2, 0x23, 32], &[before, "1..100 CFA=r7+8 RA=*(CFA-8) FP=*(CFA+32)"]);
    check(&[0x41, 0x16, 6, 3, 0x09, 0xf8, 0x22], &[before, "1..100 CFA=r7+8 RA=*(CFA-8) FP=CFA-8"]);
}

#[test]
fn rules_of_other_registers_make_no_row() {
    check(
        &[0x41, 0x83, 2, 0x41, 0x05, 12, 3, 0x41, 0x07, 2, 0x41, 0xc3],
        &["0..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged"],
    );
}

#[test]
fn restore_goes_back_to_the_initial_rule() {
    let expected = |_| {
        [
            "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "1..2 CFA=r7+8 RA=r1 FP=*(CFA-16)",
            "2..3 CFA=r7+8 RA=r1 FP=unchanged",
            "3..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged",
        ]
    };
    // restore and restore_extended.
    check(&[0x41, 0x86, 2, 0x09, 16, 1, 0x41, 0xc6, 0x41, 0xd0], &expected(()));
    check(&[0x41, 0x86, 2, 0x09, 16, 1, 0x41, 0x06, 6, 0x41, 0x06, 16], &expected(()));
}

#[test]
fn restore_of_a_frame_pointer_that_the_cie_saves() {
    let initial = [DEFAULT, &[0x86, 2]].concat();
    let bytes = section(Abi::Amd64, b"", &initial, &[0x41, 0x07, 6, 0x41, 0xc6]);
    let expected = [
        "0..1 CFA=r7+8 RA=*(CFA-8) FP=*(CFA-16)",
        "1..2 CFA=r7+8 RA=*(CFA-8) FP=undefined",
        "2..100 CFA=r7+8 RA=*(CFA-8) FP=*(CFA-16)",
    ];
    assert_eq!(rows_of(&bytes, Abi::Amd64), expected);
}

#[test]
fn remembered_states_are_a_stack_with_the_cfa() {
    check(
        &[
            0x41, 0x0e, 16, 0x86, 2, 0x0a, // row 1, remembered
            0x41, 0x0d, 6, 0x0a, // row 2, remembered
            0x41, 0x0c, 7, 8, 0xc6, // row 3
            0x41, 0x0b, // back to row 2
            0x41, 0x0b, // back to row 1
        ],
        &[
            "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "1..2 CFA=r7+16 RA=*(CFA-8) FP=*(CFA-16)",
            "2..3 CFA=r6+16 RA=*(CFA-8) FP=*(CFA-16)",
            "3..4 CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "4..5 CFA=r6+16 RA=*(CFA-8) FP=*(CFA-16)",
            "5..100 CFA=r7+16 RA=*(CFA-8) FP=*(CFA-16)",
        ],
    );
}

#[test]
fn args_size_and_window_save_change_nothing() {
    check(
        &[0x41, 0x2e, 16, 0x41, 0x2d, 0x41, 0x0e, 16],
        &["0..3 CFA=r7+8 RA=*(CFA-8) FP=unchanged", "3..100 CFA=r7+16 RA=*(CFA-8) FP=unchanged"],
    );
}

#[test]
fn negate_ra_state() {
    let signed = [
        "0..4 CFA=r31+0 RA=unchanged FP=unchanged",
        "4..8 CFA=r31+0 RA=unchanged FP=unchanged RA-signed",
        "8..100 CFA=r31+0 RA=unchanged FP=unchanged",
    ];
    check_arm(b"zB", &[0x41, 0x2d, 0x41, 0x2d], &signed);
    check_arm(b"z", &[0x41, 0x2c, 0x41, 0x2c], &signed); // with_pc
    // set_ra_state: with SP; with SP and the address 4 bytes before; not signed.
    check_arm(b"z", &[0x41, 0x2b, 1, 0, 0x41, 0x2b, 0, 0], &signed);
    check_arm(b"z", &[0x41, 0x2b, 2, 0x7c, 0x41, 0x2b, 0, 0], &signed);
    // val_expression of RA_SIGN_STATE: lit1, and restored.
    check_arm(b"z", &[0x41, 0x16, 34, 1, 0x31, 0x41, 0x06, 34], &signed);
    // Register 34 is that state only on AArch64, and other registers do not change it: restore x19 and x29, and
    // val_expression of x29, sp+0.
    check(&[0x41, 0x16, 34, 1, 0x31], &["0..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged"]);
    let stays = [
        "0..4 CFA=r31+0 RA=unchanged FP=unchanged",
        "4..100 CFA=r31+0 RA=unchanged FP=unchanged RA-signed",
    ];
    check_arm(b"z", &[0x41, 0x2d, 0x41, 0xd3, 0x41, 0xdd], &stays);
    let expression = [stays[0], "4..100 CFA=r31+0 RA=unchanged FP=r31 RA-signed"];
    check_arm(b"z", &[0x41, 0x2d, 0x16, 29, 2, 0x8f, 0], &expression);
    // The signing state is remembered together with the rules.
    check_arm(b"z", &[0x0a, 0x41, 0x2d, 0x41, 0x0b], &signed);
}

#[test]
fn rows_at_one_place_and_equal_neighbours_are_merged() {
    check(
        &[0x41, 0x0e, 16, 0x40, 0x0e, 24, 0x41, 0x0e, 24, 0x41, 0x0e, 32],
        &[
            "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "1..3 CFA=r7+24 RA=*(CFA-8) FP=unchanged",
            "3..100 CFA=r7+32 RA=*(CFA-8) FP=unchanged",
        ],
    );
    // An advance by nothing, in each width, and set_loc to the same place: 16 is valid nowhere, 8 goes on.
    let nothing: [&[u8]; 6] = [
        &[0x40],
        &[0x02, 0],
        &[0x03, 0, 0],
        &[0x04, 0, 0, 0, 0],
        &[0x1d, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x01, 0x01, 0x10, 0, 0, 0, 0, 0, 0],
    ];
    for advance in nothing {
        let program = [&[0x41, 0x0e, 16], advance, &[0x0e, 8, 0x41, 0x0e, 32]].concat();
        let rows =
            ["0..2 CFA=r7+8 RA=*(CFA-8) FP=unchanged", "2..100 CFA=r7+32 RA=*(CFA-8) FP=unchanged"];
        check(&program, &rows);
    }
    // The last advance leads to the end of the function, to an empty row.
    check(&[0x03, 0, 1, 0x0e, 16], &["0..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged"]);
}

#[test]
fn the_plt_idiom_is_evaluated_for_each_place() {
    // breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
    let idiom = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
    let program = [&[0x0e, 16, 0x02, 0xd8, 0x0f, 11][..], &idiom].concat();
    check(
        &program,
        &[
            "0..d8 CFA=r7+16 RA=*(CFA-8) FP=unchanged",
            "d8..db CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "db..e0 CFA=r7+16 RA=*(CFA-8) FP=unchanged",
            "e0..eb CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "eb..f0 CFA=r7+16 RA=*(CFA-8) FP=unchanged",
            "f0..fb CFA=r7+8 RA=*(CFA-8) FP=unchanged",
            "fb..100 CFA=r7+16 RA=*(CFA-8) FP=unchanged",
        ],
    );
}

#[test]
fn rows_before_an_error_are_kept() {
    let before = "0..1 CFA=r7+8 RA=*(CFA-8) FP=unchanged";
    let cases: [(&[u8], &str); 9] = [
        (&[0x0b], "cfi-unbalanced-restore-state"),
        (&[0x3e], "cfi-unknown-instruction"),
        (&[0x2c], "cfi-unknown-instruction"), // with_pc is AArch64's
        (&[0x0e], "cfi-truncated"),
        (&[0x0f, 5, 0x77], "cfi-truncated"),
        (&[0x0f, 3, 0x77, 8, 0x1f, 0x0e, 8], "cfi-cfa-not-register"),
        (&[0x0d, 0xff, 0xff, 0xff, 0xff, 0x7f], "cfi-register-number"),
        (
            &[0x11, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xc0, 0],
            "cfi-offset-overflow",
        ),
        (&[0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2], "cfi-number-too-large"),
    ];
    for (program, error) in cases {
        check(&[&[0x41], program].concat(), &[before, &format!("error {error}")]);
    }
    check(
        &[0x41, 0x0e, 16, 0x03, 0, 2, 0x0e, 24],
        &[before, "1..100 CFA=r7+16 RA=*(CFA-8) FP=unchanged", "error cfi-advance-past-end"],
    );
    let many = vec![0x0a; MAX_STATES + 1];
    check(&many, &["error cfi-too-many-states"]);
}

#[test]
fn a_cie_may_not_advance_or_restore() {
    let error = ["error cfi-not-initial"].as_slice();
    let restored = ["0..100 CFA=r7+8 RA=*(CFA-8) FP=unchanged"].as_slice();
    // `advance_loc`, `restore`, `restore_extended`. A register without a rule is as it was; one with a rule is disputed.
    let cases: [(&[u8], &[u8], &[&str]); 8] = [
        (&[], &[0x41], error),
        (&[], &[0xc6], restored),
        (&[], &[0x06, 6], restored),
        (&[], &[0xcc], restored),
        (&[0x8c, 2], &[0xcc], restored), // R12
        (&[0x86, 2], &[0xc6], error),    // RBP
        (&[0x86, 2], &[0x06, 6], error),
        (&[], &[0xd0], error), // RA
    ];
    for (before, program, rows) in cases {
        let bytes = section(Abi::Amd64, b"", &[DEFAULT, before, program].concat(), &[]);
        assert_eq!(rows_of(&bytes, Abi::Amd64), rows, "{before:x?} {program:x?}");
        let cfi = Cfi::from_bytes(&bytes, Kind::EhFrame, 0, Abi::Amd64);
        let code = CfiErrorKind::NotInitial(program[0]);
        let at = 0x12 + before.len() as u64;
        assert_eq!(cfi.defects().first().map(|d| (d.offset, d.kind)), Some((at, code)));
    }
}
