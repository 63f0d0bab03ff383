//! One step of a stack walk, with values computed by hand from the meaning of each rule (V3 3.1 and 3.2; DWARF 5, 6.4.1).

use sframe_validator::Abi;
use sframe_validator::unwind::{ApplyError, Caller, Cfa, Expression, Frame, Recovery, Register};

/// 64 bytes of stack from 0x1000 up: the word at address A has the value A + 0x770000.
fn read(address: u64) -> Option<u64> {
    (0x1000..=0x1038).contains(&address).then(|| address + 0x77_0000)
}

/// SP is 0x1000, FP is 0x1020, the link register is 0x4444 and register 10 is 0x1010; others are unknown.
fn apply(abi: Abi, frame: Frame) -> Result<Option<Caller>, ApplyError> {
    let registers = |register| match register {
        _ if register == abi.sp() => Some(0x1000),
        _ if register == abi.fp() => Some(0x1020),
        _ if register == abi.ra() && abi != Abi::Amd64 => Some(0x4444),
        Register(10) => Some(0x1010),
        _ => None,
    };
    frame.apply(abi, registers, read)
}

fn sp_based(abi: Abi, offset: i64, ra: Recovery, fp: Recovery) -> Frame {
    let cfa = Cfa::RegisterOffset { register: abi.sp(), offset };
    Frame { cfa, ra, fp, ra_signed: false }
}

#[test]
fn amd64_frames() {
    let caller = |ra, sp, fp| Ok(Some(Caller { ra, ra_signed: false, sp, fp }));
    let at_ra = Recovery::AtCfa(-8);
    // At the entry of a function: RA is on top of the stack.
    let entry = sp_based(Abi::Amd64, 8, at_ra, Recovery::Unchanged);
    assert_eq!(apply(Abi::Amd64, entry), caller(0x77_1000, 0x1008, Some(0x1020)));
    // With a frame pointer: CFA = FP + 16.
    let cfa = Cfa::RegisterOffset { register: Abi::Amd64.fp(), offset: 16 };
    let framed = Frame { cfa, fp: Recovery::AtCfa(-16), ..entry };
    assert_eq!(apply(Abi::Amd64, framed), caller(0x77_1028, 0x1030, Some(0x77_1020)));
    // A realigned stack: the CFA is stored at r10 - 8 = 0x1008, where the value 0x771008 is out of reach.
    let cfa = Cfa::Dereference { register: Register(10), offset: -8 };
    let far = Frame { cfa, ..entry };
    assert_eq!(apply(Abi::Amd64, far), Err(ApplyError::Memory(0x77_1000)));
    let in_register = Recovery::RegisterOffset { register: Register(10), offset: 0 };
    let realigned = Frame { cfa, ra: in_register, ..entry };
    assert_eq!(apply(Abi::Amd64, realigned), caller(0x1010, 0x77_1008, Some(0x1020)));
    // The old SP is stored at r10 + 0 = 0x1010, 16 bytes below the CFA.
    let cfa = Cfa::DereferencePlus { register: Register(10), offset: 0, plus: 16 };
    let switched = Frame { cfa, ra: in_register, ..entry };
    assert_eq!(apply(Abi::Amd64, switched), caller(0x1010, 0x77_1020, Some(0x1020)));
    // FP is saved relative to a register, or is a value relative to the CFA.
    let at_register = Recovery::AtRegister { register: Register(10), offset: 8 };
    let frame = Frame { fp: at_register, ..entry };
    assert_eq!(apply(Abi::Amd64, frame), caller(0x77_1000, 0x1008, Some(0x77_1018)));
    let frame = Frame { fp: Recovery::CfaOffset(-24), ..entry };
    assert_eq!(apply(Abi::Amd64, frame), caller(0x77_1000, 0x1008, Some(0x1008 - 24)));
}

#[test]
fn aarch64_and_s390x_frames() {
    let leaf = sp_based(Abi::Aarch64Little, 0, Recovery::Unchanged, Recovery::Unchanged);
    let signed = Frame { ra_signed: true, ..leaf };
    let caller = Caller { ra: 0x4444, ra_signed: true, sp: 0x1000, fp: Some(0x1020) };
    assert_eq!(apply(Abi::Aarch64Little, signed), Ok(Some(caller)));
    // `stp x29, x30, [sp, #-32]!`
    let saved = sp_based(Abi::Aarch64Big, 32, Recovery::AtCfa(-24), Recovery::AtCfa(-32));
    let caller = Caller { ra: 0x77_1008, ra_signed: false, sp: 0x1020, fp: Some(0x77_1000) };
    assert_eq!(apply(Abi::Aarch64Big, saved), Ok(Some(caller)));
    // The CFA is 160 bytes above SP, in the callee and in its caller.
    let entry = sp_based(Abi::S390x, 160, Recovery::Unchanged, Recovery::Unchanged);
    let caller = Caller { ra: 0x4444, ra_signed: false, sp: 0x1000, fp: Some(0x1020) };
    assert_eq!(apply(Abi::S390x, entry), Ok(Some(caller)));
}

#[test]
fn frames_without_a_caller_and_unknown_values() {
    assert_eq!(apply(Abi::Amd64, Frame::OUTERMOST), Ok(None));
    let expression = Expression { offset: 0, length: 1 };
    let entry = sp_based(Abi::Amd64, 8, Recovery::AtCfa(-8), Recovery::Unchanged);
    for (frame, error) in [
        (Frame { cfa: Cfa::Undefined, ..entry }, ApplyError::NoCfa),
        (Frame { cfa: Cfa::Expression(expression), ..entry }, ApplyError::Expression),
        (Frame { ra: Recovery::Expression(expression), ..entry }, ApplyError::Expression),
        // AMD64 has no register for RA.
        (Frame { ra: Recovery::Unchanged, ..entry }, ApplyError::Register(Register(16))),
        (Frame { ra: Recovery::AtCfa(0x100), ..entry }, ApplyError::Memory(0x1108)),
        // Addresses wrap instead of overflowing.
        (Frame { ra: Recovery::AtCfa(i64::MIN), ..entry }, ApplyError::Memory(1 << 63 | 0x1008)),
    ] {
        assert_eq!(apply(Abi::Amd64, frame), Err(error), "{frame}");
    }
    // If only FP is unknown, there is a caller nevertheless.
    for fp in [Recovery::Undefined, Recovery::AtCfa(0x100), Recovery::AtExpression(expression)] {
        let caller = Caller { ra: 0x77_1000, ra_signed: false, sp: 0x1008, fp: None };
        assert_eq!(apply(Abi::Amd64, Frame { fp, ..entry }), Ok(Some(caller)), "{fp}");
    }
}
