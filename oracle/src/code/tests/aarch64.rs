//! What is known about frames in code of AArch64.

use super::*;
use crate::code::aarch64::Aarch64;

pub(super) fn analysis<'c>(code: &'c [u8], alone: &Alone<'c>) -> Analysis<'c> {
    let alone = Alone {
        data: alone.data,
        next_referenced: alone.next_referenced,
        abi: Some(Abi::Aarch64Little),
        ..Alone::default()
    };
    analysis_from(code, &[(0x1000, EntryKind::Presumed)], &mut Aarch64::default(), &alone)
}

/// What is known before each instruction that is reached: its address minus 0x1000, the CFA, and the rules for the return
/// address and X29 (`u` if it is unchanged, or its distance from the CFA), with `!` for a signed address and `?` for what is
/// not known.
fn listing(code: &[u32], alone: &Alone<'_>) -> Vec<String> {
    let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let abi = Abi::Aarch64Little;
    let mut lines = Vec::new();
    visit(&mut analysis(&code, alone), 0..u64::MAX, |address, state| {
        let known = KnownFacts { state, abi }.proven_row();
        let cfa = match known.cfa {
            Some(Cfa::RegisterOffset { register: Register(31), offset }) => format!("sp+{offset}"),
            Some(Cfa::RegisterOffset { register: Register(29), offset }) => format!("x29+{offset}"),
            _ => "?".to_owned(),
        };
        let rule = |rule| match rule {
            Some(Recovery::Unchanged) => "u".to_owned(),
            Some(Recovery::AtCfa(offset)) => offset.to_string(),
            _ => "?".to_owned(),
        };
        let mark = if known.ra.is_some() && known.ra_signed { "!" } else { "" };
        let (ra, fp) = (rule(known.ra), rule(known.fp));
        lines.push(format!("{:x} {cfa} {ra}{mark} {fp}", address - 0x1000));
    });
    lines
}

fn assert_listing(code: &[u32], expected: &[&str]) {
    assert_eq!(listing(code, &Alone::default()), expected);
}

/// A register of 8 bytes for floating-point numbers is stored below X29, which stays in its slot.
#[test]
fn vector_registers_are_stored_where_their_size_says() {
    assert_listing(
        &[
            0xd100_83ff, // sub sp, sp, #32
            0xa901_7bfd, // stp x29, x30, [sp, #16]
            0xaa00_03fd, // mov x29, x0
            0xaa00_03fe, // mov x30, x0
            0xfd00_07e8, // str d8, [sp, #8]
            0xa941_7bfd, // ldp x29, x30, [sp, #16]
            0x9100_83ff, // add sp, sp, #32
            0xd65f_03c0, // ret
        ],
        &[
            "0 sp+0 u u",
            "4 sp+32 u u",
            "8 sp+32 u u",
            "c sp+32 u -16",
            "10 sp+32 -8 -16",
            "14 sp+32 -8 -16",
            "18 sp+32 u u",
            "1c sp+0 u u",
        ],
    );
}

#[test]
fn signed_return_addresses() {
    assert_listing(
        &[
            0xd503_233f, // paciasp
            0xa9be_7bfd, // stp x29, x30, [sp, #-32]!
            0x9100_03fd, // mov x29, sp
            0xf900_0bf3, // str x19, [sp, #16]
            0x97ff_fffc, // bl 0x1000
            0xf940_0bf3, // ldr x19, [sp, #16]
            0xa8c2_7bfd, // ldp x29, x30, [sp], #32
            0xd503_23bf, // autiasp
            0xd65f_03c0, // ret
        ],
        &[
            "0 sp+0 u u",
            "4 sp+0 u! u",
            "8 sp+32 u! u",
            "c sp+32 u! -32",
            "10 sp+32 u! -32",
            "14 sp+32 -24! -32",
            "18 sp+32 -24! -32",
            "1c sp+0 u! u",
            "20 sp+0 u u",
        ],
    );
}

/// The instructions that sign any register, and others that have the same number in their class.
#[test]
fn return_addresses_are_signed_by_instructions_with_operands() {
    let after = |words: &[u32]| listing(&[words, &[0xd503_201f]].concat(), &Alone::default()).pop();
    let is = |words: &[u32], expected| assert_eq!(after(words).as_deref(), Some(expected));
    is(&[0xdac1_03fe], "4 sp+0 u! u"); // pacia x30, sp
    is(&[0xdac1_07fe], "4 sp+0 u! u"); // pacib x30, sp
    is(&[0xdac1_03fe, 0xdac1_13fe], "8 sp+0 u u"); // autia x30, sp
    is(&[0xdac1_07fe, 0xdac1_17fe], "8 sp+0 u u"); // autib x30, sp
    is(&[0xdac1_03fe, 0xdac1_43fe], "8 sp+0 u u"); // xpaci x30
    is(&[0xdac1_03fe, 0xdac1_17fe], "8 sp+0 ? u"); // with another key
    is(&[0xdac1_03fd], "4 sp+0 u ?"); // pacia x29, sp
    is(&[0xdac0_001e], "4 sp+0 ? u"); // rbit x30, x0
    is(&[0xdac0_041e], "4 sp+0 ? u"); // rev16 x30, x0
    is(&[0xdac1_03fe, 0xdac0_101e], "8 sp+0 ? u"); // clz x30, x0
    is(&[0xdac1_07fe, 0xdac0_141e], "8 sp+0 ? u"); // cls x30, x0
}

#[test]
fn a_stack_of_variable_size() {
    assert_listing(
        &[
            0xa9bf_7bfd, // stp x29, x30, [sp, #-16]!
            0x9100_03fd, // mov x29, sp
            0xcb20_63ff, // sub sp, sp, x0
            0xd63f_0020, // blr x1
            0x9100_03bf, // mov sp, x29
            0xa8c1_7bfd, // ldp x29, x30, [sp], #16
            0xd65f_03c0, // ret
        ],
        &[
            "0 sp+0 u u",
            "4 sp+16 u u",
            "8 sp+16 u -16",
            "c x29+16 u -16",
            "10 x29+16 -8 -16",
            "14 sp+16 -8 -16",
            "18 sp+0 u u",
        ],
    );
}

#[test]
fn a_realigned_stack() {
    assert_listing(
        &[
            0xa9bf_7bfd, // stp x29, x30, [sp, #-16]!
            0x9100_03fd, // mov x29, sp
            0xd101_83e9, // sub x9, sp, #0x60
            0x927a_e53f, // and sp, x9, #-64
            0xd63f_0020, // blr x1
            0x9100_03bf, // mov sp, x29
            0xa8c1_7bfd, // ldp x29, x30, [sp], #16
            0xd65f_03c0, // ret
        ],
        &[
            "0 sp+0 u u",
            "4 sp+16 u u",
            "8 sp+16 u -16",
            "c sp+16 u -16",
            "10 x29+16 u -16",
            "14 x29+16 -8 -16",
            "18 sp+16 -8 -16",
            "1c sp+0 u u",
        ],
    );
}

#[test]
fn large_frames_and_registers_that_are_overwritten() {
    assert_listing(
        &[
            0xd140_13ff, // sub sp, sp, #4, lsl #12
            0xf900_07fe, // str x30, [sp, #8]
            0xaa03_03fd, // mov x29, x3
            0x9e66_001d, // fmov x29, d0
            0xf940_001e, // ldr x30, [x0]
            0xf940_07fe, // ldr x30, [sp, #8]
            0x9140_13ff, // add sp, sp, #4, lsl #12
            0xd65f_03c0, // ret
        ],
        &[
            "0 sp+0 u u",
            "4 sp+16384 u u",
            "8 sp+16384 u u",
            "c sp+16384 u ?",
            "10 sp+16384 u ?",
            "14 sp+16384 -16376 ?",
            "18 sp+16384 u ?",
            "1c sp+0 u ?",
        ],
    );
}

/// Constants in X9 that SP is changed by: all bits of one, a shifted one, and two of which a fragment is unknown.
#[test]
fn constants_may_be_negative_or_shifted() {
    assert_listing(
        &[
            0x9280_01e9, // mov x9, #-16
            0x8b29_63ff, // add sp, sp, x9
            0xd2a0_0029, // mov x9, #0x10000
            0xcb29_63ff, // sub sp, sp, x9
            0xd503_201f, // nop
            0xd420_0000, // brk #0
        ],
        &[
            "0 sp+0 u u",
            "4 sp+0 u u",
            "8 sp+16 u u",
            "c sp+16 u u",
            "10 sp+65552 u u",
            "14 sp+65552 u u",
        ],
    );
    // movk x9, #1, and mov w9, #-16
    for change in [0xf280_0029, 0x1280_01e9] {
        let code = [0xd280_0209, change, 0xcb29_63ff, 0xd503_201f, 0xd420_0000];
        let lines = listing(&code, &Alone::default());
        assert_eq!(lines.get(3).map(String::as_str), Some("c ? u u"), "{change:x}");
    }
}

#[test]
fn jump_tables() {
    let code = [
        0x7100_081f, // cmp w0, #2
        0x5400_0168, // b.hi 0x30
        0xb000_0001, // adrp x1, 0x2000
        0x9100_2021, // add x1, x1, #8
        0x3860_4821, // ldrb w1, [x1, w0, uxtw]
        0x1000_0062, // adr x2, 0x20
        0x8b21_8841, // add x1, x2, w1, sxtb #2
        0xd61f_0020, // br x1
        0xd100_43ff, // 20: sub sp, sp, #16
        0x9100_43ff, // add sp, sp, #16
        0xd100_83ff, // 28: sub sp, sp, #32
        0x9100_83ff, // add sp, sp, #32
        0xd65f_03c0, // 30: ret
    ];
    // Distances from 0x20 in instructions.
    let data = [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 4];
    let alone = Alone { data: &data, next_referenced: u64::MAX, ..Alone::default() };
    let lines = listing(&code, &alone);
    let reached = ["20 sp+0 u u", "24 sp+16 u u", "28 sp+0 u u", "2c sp+32 u u", "30 sp+0 u u"];
    assert_eq!(lines.get(8..).unwrap_or_default(), reached);
    // Without the element for 0x20, nothing leads there.
    let data = [0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 4];
    let alone = Alone { data: &data, next_referenced: u64::MAX, ..Alone::default() };
    let lines = listing(&code, &alone);
    assert_eq!(lines.get(8..).unwrap_or_default(), reached.get(2..).unwrap_or_default());
}

/// Go keeps FP 8 bytes below SP, and computes it again after it removes its frame.
#[test]
fn the_frame_pointer_of_go_may_be_the_callers() {
    let code = [
        0xf81d_0ffe_u32, // str x30, [sp, #-48]!
        0xf81f_83fd,     // stur x29, [sp, #-8]
        0xd100_23fd,     // sub x29, sp, #8
        0x9100_c3ff,     // add sp, sp, #48
        0xd100_23fd,     // sub x29, sp, #8
        0xd65f_03c0,     // ret
    ];
    let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let abi = Abi::Aarch64Little;
    let mut found = Vec::new();
    visit(&mut analysis(&code, &Alone::default()), 0x1010..0x1018, |_, state| {
        let cfa = Cfa::RegisterOffset { register: Register(31), offset: 0 };
        let unchanged = Recovery::Unchanged;
        let frame = Frame { cfa, ra: unchanged, fp: unchanged, ra_signed: false };
        found.push(KnownFacts { state, abi }.judge(&frame).fp);
    });
    // Before it is computed again, it still is in the removed frame.
    assert_eq!(found, [Truth::Refuted, Truth::Unknown]);
}

/// Half of an address is no address: `add w29, wsp, #16` cuts it to 32 bits.
#[test]
fn additions_of_32_bits_lose_the_frame() {
    let frame = |add| {
        let code = [
            0xd100_83ff, // sub sp, sp, #32
            add,
            0x9100_03bf, // mov sp, x29
            0xd503_201f, // nop
        ];
        listing(&code, &Alone::default()).pop()
    };
    assert_eq!(frame(0x9100_43fd).as_deref(), Some("c sp+16 u ?")); // add x29, sp, #16
    assert_eq!(frame(0x1100_43fd).as_deref(), Some("c ? u ?")); // add w29, wsp, #16
}
