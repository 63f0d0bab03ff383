//! The effects of AArch64 instructions, by the Arm Architecture Reference Manual (C6). GNU as has assembled them.

use super::effects::{copy, goes_on, store};
use crate::code::aarch64::Aarch64;
use crate::code::effect::{
    Decoder, Effect, Extension, FIRST_VECTOR as D8, Key, NO_REGISTER, RegisterNumber, SCRATCH,
};

const fn element(
    to: RegisterNumber,
    base: RegisterNumber,
    index: RegisterNumber,
    size: u8,
    extension: Extension,
) -> Effect {
    Effect::Element { to, base, offset: 0, index, scale: size, size, extension }
}

/// D8 gets what may be its entry value.
const ANYTHING: Effect = Effect::Load { to: D8, base: 31, offset: 1 };

/// D8 gets another value.
const OVERWRITTEN: Effect = Effect::Copy { to: D8, from: NO_REGISTER, plus: 0 };

/// Instructions at 0x1000, and what they do: which registers and bytes they read and write is from the manual, and how
/// much of it is followed is our choice. What is not followed becomes unknown.
///
/// The number 31 is SP.
const INSTRUCTIONS: &[(u32, &[Effect])] = &[
    // add x0, x1, #0x5
    (0x9100_1420, &[copy(0, 1, 5)]),
    // sub sp, sp, #0x1, lsl #12
    (0xd140_07ff, &[copy(31, 31, -4096)]),
    // add w0, w1, #0x5
    (0x1100_1420, &[Effect::Clobber(1 << 0)]),
    // cmp x1, #0x7
    (0xf100_1c3f, &[Effect::CompareNumber { a: 1, number: 7 }]),
    // subs x0, x1, #0x7
    (0xf100_1c20, &[Effect::Forget, Effect::Clobber(1 << 0)]),
    // adds x0, x1, #0x7
    (0xb100_1c20, &[Effect::Forget, Effect::Clobber(1 << 0)]),
    // cmn x1, #0x7
    (0xb100_1c3f, &[Effect::Forget]),
    // add x0, x1, x2, lsl #3
    (0x8b02_0c20, &[Effect::Add { to: 0, a: 1, b: 2, shift: 3, extension: Extension::Zero }]),
    // add x0, x1, x2, lsr #3
    (0x8b42_0c20, &[Effect::Clobber(1 << 0)]),
    // add w0, w1, w2
    (0x0b02_0020, &[Effect::Clobber(1 << 0)]),
    // sub x0, x1, x2
    (0xcb02_0020, &[Effect::Subtract { to: 0, a: 1, b: 2 }]),
    // sub x0, x1, x2, lsl #1
    (0xcb02_0420, &[Effect::Clobber(1 << 0)]),
    // add x0, sp, w2, sxtw #2
    (0x8b22_cbe0, &[Effect::Add { to: 0, a: 31, b: 2, shift: 2, extension: Extension::Sign }]),
    // add x0, sp, w2, uxtw #2
    (0x8b22_4be0, &[Effect::Add { to: 0, a: 31, b: 2, shift: 2, extension: Extension::Zero }]),
    // sub sp, sp, x2
    (0xcb22_63ff, &[Effect::Subtract { to: 31, a: 31, b: 2 }]),
    // add x0, x1, xzr
    (
        0x8b1f_0020,
        &[Effect::Add { to: 0, a: 1, b: NO_REGISTER, shift: 0, extension: Extension::Zero }],
    ),
    // neg x0, x1
    (0xcb01_03e0, &[Effect::Subtract { to: 0, a: NO_REGISTER, b: 1 }]),
    // cmp x1, x2
    (0xeb02_003f, &[Effect::Compare { a: 1, b: 2 }]),
    // cmp w1, w2
    (0x6b02_003f, &[Effect::Forget]),
    // cmp x1, x2, lsl #1
    (0xeb02_043f, &[Effect::Forget]),
    // cmn x1, x2
    (0xab02_003f, &[Effect::Forget]),
    // subs x0, x1, x2
    (0xeb02_0020, &[Effect::Forget, Effect::Clobber(1 << 0)]),
    // and sp, x9, #0xfffffffffffffff0
    (0x927c_ed3f, &[Effect::Align { register: 31, place: 0x1000 }]),
    // and w1, w2, #0x3
    (0x1200_0441, &[Effect::Narrow { to: 1, from: 2, most: 3 }]),
    // and x1, x2, #0xff
    (0x9240_1c41, &[Effect::Narrow { to: 1, from: 2, most: 255 }]),
    // and x1, x2, #0xff00000000
    (0x9260_1c41, &[Effect::Clobber(1 << 1)]),
    // and x1, x2, #0xf0f0f0f0f0f0f0f
    (0x9200_cc41, &[Effect::Clobber(1 << 1)]),
    // and w1, w2, #0x7fffffff
    (0x1200_7841, &[Effect::Narrow { to: 1, from: 2, most: 0x7fff_ffff }]),
    // ands w1, w2, #0x3
    (0x7200_0441, &[Effect::Forget, Effect::Clobber(1 << 1)]),
    // orr w1, w2, #0x3
    (0x3200_0441, &[Effect::Clobber(1 << 1)]),
    // mov x1, x2
    (0xaa02_03e1, &[copy(1, 2, 0)]),
    // mov w1, w2
    (0x2a02_03e1, &[Effect::Narrow { to: 1, from: 2, most: u32::MAX }]),
    // mov x1, xzr
    (0xaa1f_03e1, &[Effect::Constant { to: 1, value: 0 }]),
    // orr x1, x3, x2
    (0xaa02_0061, &[Effect::Clobber(1 << 1)]),
    // orr x1, xzr, x2, lsl #2
    (0xaa02_0be1, &[Effect::Clobber(1 << 1)]),
    // mvn x1, x2
    (0xaa22_03e1, &[Effect::Clobber(1 << 1)]),
    // and x1, x3, x2
    (0x8a02_0061, &[Effect::Clobber(1 << 1)]),
    // and x1, xzr, x2
    (0x8a02_03e1, &[Effect::Clobber(1 << 1)]),
    // ands x1, x3, x2
    (0xea02_0061, &[Effect::Forget, Effect::Clobber(1 << 1)]),
    // tst x1, x2
    (0xea02_003f, &[Effect::Forget]),
    // mov x1, #0x20000
    (0xd2a0_0041, &[Effect::Constant { to: 1, value: 0x2_0000 }]),
    // mov x1, #0xfffffffffffffffd
    (0x9280_0041, &[Effect::Constant { to: 1, value: -3 }]),
    // mov w1, #0xfffffffd
    (0x1280_0041, &[Effect::Clobber(1 << 1)]),
    // movk x1, #0x2
    (0xf280_0041, &[Effect::Clobber(1 << 1)]),
    // uxtb w1, w2
    (0x5300_1c41, &[Effect::Narrow { to: 1, from: 2, most: 255 }]),
    // ubfx x1, x2, #4, #8
    (0xd344_2c41, &[Effect::Clobber(1 << 1)]),
    // lsl w1, w2, #4
    (0x531c_6c41, &[Effect::Clobber(1 << 1)]),
    // sxtb x1, w2
    (0x9340_1c41, &[Effect::Clobber(1 << 1)]),
    // bfxil x1, x2, #0, #8
    (0xb340_1c41, &[Effect::Clobber(1 << 1)]),
    // ubfx x1, x2, #0, #33
    (0xd340_8041, &[Effect::Clobber(1 << 1)]),
    // ubfx x1, x2, #0, #31
    (0xd340_7841, &[Effect::Narrow { to: 1, from: 2, most: 0x7fff_ffff }]),
    // ubfx x1, xzr, #0, #8
    (0xd340_1fe1, &[Effect::Narrow { to: 1, from: NO_REGISTER, most: 255 }]),
    // pacia x30, sp
    (0xdac1_03fe, &[Effect::Sign(Key::A)]),
    // pacib x30, sp
    (0xdac1_07fe, &[Effect::Sign(Key::B)]),
    // autia x30, sp
    (0xdac1_13fe, &[Effect::Authenticate(Key::A)]),
    // autib x30, sp
    (0xdac1_17fe, &[Effect::Authenticate(Key::B)]),
    // xpaci x30
    (0xdac1_43fe, &[Effect::Strip]),
    // pacia x1, sp
    (0xdac1_03e1, &[Effect::Clobber(1 << 1)]),
    // pacia x30, x1
    (0xdac1_003e, &[Effect::Sign(Key::A)]),
    // rbit x1, x2
    (0xdac0_0041, &[Effect::Clobber(1 << 1)]),
    // xpaclri
    (0xd503_20ff, &[Effect::Strip]),
    // paciaz
    (0xd503_231f, &[Effect::Sign(Key::A)]),
    // paciasp
    (0xd503_233f, &[Effect::Sign(Key::A)]),
    // pacibz
    (0xd503_235f, &[Effect::Sign(Key::B)]),
    // pacibsp
    (0xd503_237f, &[Effect::Sign(Key::B)]),
    // autiaz
    (0xd503_239f, &[Effect::Authenticate(Key::A)]),
    // autiasp
    (0xd503_23bf, &[Effect::Authenticate(Key::A)]),
    // autibz
    (0xd503_23df, &[Effect::Authenticate(Key::B)]),
    // autibsp
    (0xd503_23ff, &[Effect::Authenticate(Key::B)]),
    // pacia1716
    (0xd503_211f, &[Effect::Clobber(1 << 17)]),
    // pacib1716
    (0xd503_215f, &[Effect::Clobber(1 << 17)]),
    // autia1716
    (0xd503_219f, &[Effect::Clobber(1 << 17)]),
    // autib1716
    (0xd503_21df, &[Effect::Clobber(1 << 17)]),
    // nop
    (0xd503_201f, &[]),
    // bti c
    (0xd503_245f, &[]),
    // mrs x1, nzcv
    (0xd53b_4201, &[Effect::Clobber(1 << 1)]),
    // svc #0x0
    (
        0xd400_0001,
        &[Effect::SystemCall { number: 8, clone: 220, stack: 1, ends: [93, 94, 139], clobbers: 1 }],
    ),
    // ccmp w1, #0x1, #0x0, ne
    (0x7a41_1820, &[Effect::Forget]),
    // fcmp d0, d1
    (0x1e61_2000, &[Effect::Forget]),
    // ldr x1, [x2, #16]
    (0xf940_0841, &[Effect::Load { to: 1, base: 2, offset: 16 }]),
    // ldr x1, [x2, #-8]!
    (0xf85f_8c41, &[copy(2, 2, -8), Effect::Load { to: 1, base: 2, offset: 0 }]),
    // ldr x1, [x2], #8
    (0xf840_8441, &[Effect::Load { to: 1, base: 2, offset: 0 }, copy(2, 2, 8)]),
    // ldr w1, [x2, #16]
    (0xb940_1041, &[Effect::Clobber(1 << 1)]),
    // ldr xzr, [x2]
    (0xf940_005f, &[]),
    // ldur x1, [x2, #-8]
    (0xf85f_8041, &[Effect::Load { to: 1, base: 2, offset: -8 }]),
    // ldrb w1, [x2, #1]
    (0x3940_0441, &[Effect::Limit { to: 1, most: 255 }]),
    // ldrh w1, [x2]
    (0x7940_0041, &[Effect::Limit { to: 1, most: 65535 }]),
    // ldrsb w1, [x2]
    (0x39c0_0041, &[Effect::Clobber(1 << 1)]),
    // ldrsw x1, [x2]
    (0xb980_0041, &[Effect::Clobber(1 << 1)]),
    // prfm pldl1keep, [x2, #8]
    (0xf980_0440, &[]),
    // str x1, [x2, #8]
    (0xf900_0441, &[store(1, 2, 8, 8)]),
    // str x30, [sp, #-16]!
    (0xf81f_0ffe, &[copy(31, 31, -16), store(30, 31, 0, 8)]),
    // str x1, [x2], #16
    (0xf801_0441, &[store(1, 2, 0, 8), copy(2, 2, 16)]),
    // str w1, [x2, #4]
    (0xb900_0441, &[store(NO_REGISTER, 2, 4, 4)]),
    // str xzr, [sp, #8]
    (0xf900_07ff, &[store(NO_REGISTER, 31, 8, 8)]),
    // strb w1, [x2, #1]
    (0x3900_0441, &[store(NO_REGISTER, 2, 1, 1)]),
    // strh w1, [x2, #2]
    (0x7900_0441, &[store(NO_REGISTER, 2, 2, 2)]),
    // str d8, [sp, #8]
    (0xfd00_07e8, &[store(D8, 31, 8, 8)]),
    // str q8, [sp, #16]
    (0x3d80_07e8, &[store(NO_REGISTER, 31, 16, 16)]),
    // str s8, [sp, #4]
    (0xbd00_07e8, &[store(NO_REGISTER, 31, 4, 4)]),
    // ldr d8, [sp, #8]
    (0xfd40_07e8, &[Effect::Load { to: D8, base: 31, offset: 8 }]),
    // ldr d8, [sp], #16
    (0xfc41_07e8, &[Effect::Load { to: D8, base: 31, offset: 0 }, copy(31, 31, 16)]),
    // ldr x1, [x2, x3, lsl #3]
    (0xf863_7841, &[element(1, 2, 3, 8, Extension::Zero)]),
    // ldr x1, [x2, x3]
    (0xf863_6841, &[Effect::Clobber(1 << 1)]),
    // ldr w1, [x2, w3, uxtw #2]
    (0xb863_5841, &[element(1, 2, 3, 4, Extension::Zero)]),
    // ldrsw x1, [x2, x3, lsl #2]
    (0xb8a3_7841, &[element(1, 2, 3, 4, Extension::Sign)]),
    // ldrb w1, [x2, w3, uxtw]
    (0x3863_4841, &[element(1, 2, 3, 1, Extension::Zero)]),
    // ldrh w1, [x2, x3, lsl #1]
    (0x7863_7841, &[element(1, 2, 3, 2, Extension::Zero)]),
    // ldrsh w1, [x2, x3, lsl #1]
    (0x78e3_7841, &[element(1, 2, 3, 2, Extension::Sign)]),
    // ldr xzr, [x2, x3, lsl #3]
    (0xf863_785f, &[]),
    // str x1, [x2, x3]
    (0xf823_6841, &[store(1, NO_REGISTER, 0, 8)]),
    // str w1, [x2, x3]
    (0xb823_6841, &[store(NO_REGISTER, NO_REGISTER, 0, 4)]),
    // str d1, [x2, x3]
    (0xfc23_6841, &[]),
    // prfm pldl1keep, [x2, x3]
    (0xf8a3_6840, &[]),
    // stp x29, x30, [sp, #-32]!
    (0xa9be_7bfd, &[copy(31, 31, -32), store(29, 31, 0, 8), store(30, 31, 8, 8)]),
    // stp x19, xzr, [sp, #16]
    (0xa901_7ff3, &[store(19, 31, 16, 8), store(NO_REGISTER, 31, 24, 8)]),
    // stp w1, w2, [x3, #8]
    (0x2901_0861, &[store(NO_REGISTER, 3, 8, 4), store(NO_REGISTER, 3, 12, 4)]),
    // stp d8, d9, [sp, #16]
    (0x6d01_27e8, &[store(D8, 31, 16, 8), store(D8 + 1, 31, 24, 8)]),
    // stp q8, q9, [sp, #32]
    (0xad01_27e8, &[store(NO_REGISTER, 31, 32, 16), store(NO_REGISTER, 31, 48, 16)]),
    // ldp x29, x30, [sp], #32
    (
        0xa8c2_7bfd,
        &[
            Effect::Load { to: SCRATCH, base: 31, offset: 0 },
            Effect::Load { to: 30, base: 31, offset: 8 },
            copy(29, SCRATCH, 0),
            copy(31, 31, 32),
        ],
    ),
    // ldp x19, x20, [sp, #16]
    (
        0xa941_53f3,
        &[
            Effect::Load { to: SCRATCH, base: 31, offset: 16 },
            Effect::Load { to: 20, base: 31, offset: 24 },
            copy(19, SCRATCH, 0),
        ],
    ),
    // ldp x1, x2, [x1]
    (
        0xa940_0821,
        &[
            Effect::Load { to: SCRATCH, base: 1, offset: 0 },
            Effect::Load { to: 2, base: 1, offset: 8 },
            copy(1, SCRATCH, 0),
        ],
    ),
    // ldp w1, w2, [x3]
    (0x2940_0861, &[Effect::Clobber(1 << 1), Effect::Clobber(1 << 2)]),
    // ldp d8, d9, [sp], #16
    (
        0x6cc1_27e8,
        &[
            Effect::Load { to: D8, base: 31, offset: 0 },
            Effect::Load { to: D8 + 1, base: 31, offset: 8 },
            copy(31, 31, 16),
        ],
    ),
    // ldpsw x1, x2, [x3]
    (0x6940_0861, &[Effect::Clobber(1 << 1), Effect::Clobber(1 << 2)]),
    // ldr q8, [sp, #16]: its lower half comes first in memory
    (0x3dc0_07e8, &[Effect::Load { to: D8, base: 31, offset: 16 }]),
    // ldr d0, [sp, #8]: functions need not keep D0
    (0xfd40_07e0, &[]),
    // ldr d8, [x1, x2]
    (0xfc62_6828, &[ANYTHING]),
    // ldr d9, 0x1020
    (0x5c00_0109, &[Effect::Forget, Effect::Copy { to: D8 + 1, from: NO_REGISTER, plus: 0 }]),
    // ld1 {v14.1d-v17.1d}, [sp], #32: of four registers, the first two are kept
    (
        0x0cdf_2fee,
        &[
            Effect::Load { to: D8 + 6, base: 31, offset: 0 },
            Effect::Load { to: D8 + 7, base: 31, offset: 8 },
            copy(31, 31, 32),
        ],
    ),
    // fadd d8, d0, d1
    (0x1e61_2808, &[Effect::Forget, OVERWRITTEN]),
    // fadd v8.2d, v0.2d, v1.2d
    (0x4e61_d408, &[Effect::Forget, OVERWRITTEN]),
    // movi v15.2d, #0
    (0x6f00_e40f, &[Effect::Forget, Effect::Copy { to: D8 + 7, from: NO_REGISTER, plus: 0 }]),
    // fmov d8, x1: it may have been saved there
    (0x9e67_0028, &[Effect::Forget, ANYTHING]),
    // fmov d8, d16
    (0x1e60_4208, &[Effect::Forget, ANYTHING]),
    // mov v8.16b, v16.16b
    (0x4eb0_1e08, &[Effect::Forget, ANYTHING]),
    // fmov x8, d0
    (0x9e66_0008, &[Effect::Forget, Effect::Clobber(1 << 8)]),
    // fcmp d8, d9
    (0x1e69_2100, &[Effect::Forget]),
    // st1 {v0.16b}, [x1]
    (0x4c00_7020, &[store(NO_REGISTER, 1, 0, 8), store(NO_REGISTER, 1, 8, 8)]),
    // ld1 {v0.16b}, [x1]
    (0x4c40_7020, &[]),
    // st1 {v0.16b}, [x1], #16
    (0x4c9f_7020, &[store(NO_REGISTER, 1, 0, 8), store(NO_REGISTER, 1, 8, 8), copy(1, 1, 16)]),
    // ld1 {v0.16b}, [x1], #16
    (0x4cdf_7020, &[copy(1, 1, 16)]),
    // ld1 {v0.16b}, [x1], x2
    (0x4cc2_7020, &[Effect::Clobber(1 << 1)]),
    // st1 {v8.1d-v9.1d}, [sp]
    (0x0c00_afe8, &[store(D8, 31, 0, 8), store(D8 + 1, 31, 8, 8)]),
    // ld1 {v7.2d-v8.2d}, [sp], #32
    (0x4cdf_afe7, &[Effect::Load { to: D8, base: 31, offset: 16 }, copy(31, 31, 32)]),
    // st1 {v0.b}[1], [x1]
    (0x0d00_0420, &[store(NO_REGISTER, 1, 0, 1)]),
    // ld1 {v0.b}[1], [x1], #1
    (0x0ddf_0420, &[copy(1, 1, 1)]),
    // ld3 {v0.h-v2.h}[1], [x1], #6
    (0x0ddf_6820, &[copy(1, 1, 6)]),
    // ld2r {v0.4s-v1.4s}, [x1], #8
    (0x4dff_c820, &[copy(1, 1, 8)]),
    // st4 {v0.d-v3.d}[1], [x1], #32
    (0x4dbf_a420, &[store(NO_REGISTER, 1, 0, 32), copy(1, 1, 32)]),
    // addg sp, sp, #0x20, #0x0
    (0x9182_03ff, &[copy(31, 31, 32)]),
    // subg x0, x1, #0x3f0, #0x0
    (0xd1bf_0020, &[copy(0, 1, -1008)]),
    // addg x0, sp, #0x0, #0xf
    (0x9180_3fe0, &[Effect::Clobber(1 << 0)]),
    // stg x0, [x1], #16
    (0xd920_1420, &[copy(1, 1, 16)]),
    // st2g sp, [sp], #32
    (0xd9a0_27ff, &[copy(31, 31, 32)]),
    // stg x0, [x1, #-32]
    (0xd93f_e820, &[]),
    // stz2g x3, [x4]
    (0xd9e0_0883, &[store(NO_REGISTER, 4, 0, 32)]),
    // stzg x0, [x1, #16]
    (0xd960_1820, &[store(NO_REGISTER, 1, 16, 16)]),
    // ldg x0, [x1, #16]
    (0xd960_1020, &[Effect::Clobber(1 << 0)]),
    // stgp x29, x30, [sp, #-32]!
    (0x69bf_7bfd, &[copy(31, 31, -32), store(29, 31, 0, 8), store(30, 31, 8, 8)]),
    // ldraa x0, [sp, #8]!
    (0xf820_1fe0, &[copy(31, 31, 8), Effect::Clobber(1 << 0)]),
    // ldrab x0, [x1, #-8]!
    (0xf8ff_fc20, &[copy(1, 1, -8), Effect::Clobber(1 << 0)]),
    // addvl sp, sp, #-2
    (0x043f_57df, &[Effect::AddPredicates { to: 31, from: 31, predicates: -16 }]),
    // addpl x29, sp, #31
    (0x047f_53fd, &[Effect::AddPredicates { to: 29, from: 31, predicates: 31 }]),
    // rdvl x9, #1
    (0x04bf_5029, &[Effect::Forget, Effect::Clobber(1 << 9)]),
    // stilp x29, x30, [sp, #-16]!
    (0xd91e_0bfd, &[copy(31, 31, -16), store(29, 31, 0, 8), store(30, 31, 8, 8)]),
    // ldiapp w0, w1, [sp], #8
    (0x9941_0be0, &[Effect::Clobber(1 << 0), Effect::Clobber(1 << 1), copy(31, 31, 8)]),
    // stilp x29, x30, [sp]
    (0xd91e_1bfd, &[store(29, 31, 0, 8), store(30, 31, 8, 8)]),
    // stlr w0, [sp, #-4]!
    (0x9980_0be0, &[copy(31, 31, -4), store(NO_REGISTER, 31, 0, 4)]),
    // ldumax x0, x1, [sp]
    (0xf820_63e1, &[Effect::Clobber(1 << 1), store(NO_REGISTER, 31, 0, 8)]),
    // cas w2, w3, [x1]
    (0x88a2_7c23, &[Effect::Clobber(1 << 2), store(NO_REGISTER, 1, 0, 4)]),
    // casp x0, x1, x2, x3, [sp]
    (0x4820_7fe2, &[Effect::Clobber(0b11), store(NO_REGISTER, 31, 0, 16)]),
    // stxr w0, x1, [sp]
    (0xc800_7fe1, &[Effect::Clobber(1 << 0), store(NO_REGISTER, 31, 0, 8)]),
    // stlr x30, [sp]
    (0xc89f_fffe, &[store(NO_REGISTER, 31, 0, 8)]),
    // ldaxp x0, x1, [sp]
    (0xc87f_87e0, &[Effect::Clobber(0b11), store(NO_REGISTER, 31, 0, 16)]),
    // mul x1, x2, x3
    (0x9b03_7c41, &[Effect::Forget, Effect::Clobber(1 << 1)]),
    // fmov x1, d0
    (0x9e66_0001, &[Effect::Forget, Effect::Clobber(1 << 1)]),
    // adr x1, 0x1010
    (0x1000_0081, &[Effect::Constant { to: 1, value: 0x1010 }]),
    // adrp x1, 0x3000
    (0xd000_0001, &[Effect::Constant { to: 1, value: 0x3000 }]),
];

/// Whether an effect does something.
fn is_effective(effect: &Effect) -> bool {
    match effect {
        Effect::Clobber(0) => false,
        Effect::Copy { to, from, plus: 0 } => to != from,
        _ => true,
    }
}

#[test]
fn instructions_have_the_effects_that_the_manual_describes() {
    let mut wrong = Vec::new();
    for (word, expected) in INSTRUCTIONS {
        let mut effects = Vec::new();
        let code = word.to_le_bytes();
        let decoded = Aarch64::default().decode(&code, 0, 0x1000, &mut effects);
        effects.retain(is_effective);
        if !goes_on(decoded, 4) || effects != *expected {
            wrong.push(format!("{word:x}: {effects:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
