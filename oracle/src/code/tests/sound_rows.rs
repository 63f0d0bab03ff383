//! Rows that are right although the code seems to contradict them, in functions assembled by GNU as.

use super::*;
use crate::code::judgement::Judgement;
use crate::code::view::WatchedRegisters;

/// The truth of a frame before the instruction at an offset in the code.
fn check(analysis: &mut Analysis<'_>, abi: Abi, offset: u64, frame: &Frame) -> Judgement {
    let mut found = None;
    visit(analysis, 0..u64::MAX, |start, state| {
        if start == 0x1000 + offset {
            found = Some(KnownFacts { state, abi }.judge(frame));
        }
    });
    found.expect("reached")
}

/// The frame of AMD64 with the CFA at a distance from RSP.
fn frame(cfa: i64, fp: Recovery) -> Frame {
    let cfa = Cfa::RegisterOffset { register: Register(7), offset: cfa };
    Frame { cfa, ra: Recovery::AtCfa(-8), fp, ra_signed: false }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A function of AArch64.
fn aarch64(code: &[u8]) -> Analysis<'_> {
    super::aarch64::analysis(code, &Alone::default())
}

/// enter $32,LEVEL; leave; ret: the return address, RBP, an address for each level, and 32 bytes (AMD64 Architecture
/// Programmer's Manual, volume 3, ENTER).
#[test]
fn enter_saves_the_frame_pointer() {
    let with = |level| [0xc8, 32, 0, level, 0xc9, 0xc3];
    assert_listing(&with(0), &["0 rsp+8 u", "4 rsp+48 -16", "5 rsp+8 u"]);
    assert_listing(&with(1), &["0 rsp+8 u", "4 rsp+56 -16", "5 rsp+8 u"]);
    assert_listing(&with(31), &["0 rsp+8 u", "4 rsp+296 -16", "5 rsp+8 u"]);
    // Only the lowest 5 bits of the level count.
    assert_listing(&with(34), &["0 rsp+8 u", "4 rsp+64 -16", "5 rsp+8 u"]);
}

/// sub $16,%rsp; mov %rbp,(%rsp); mov %rsp,%rsi; lea 8(%rsp),%rdi; movsq, or rep movsq; mov $1,%ebp; nop
#[test]
fn string_instructions_may_copy_what_was_saved() {
    let copied = frame(24, Recovery::AtCfa(-16));
    let start = b"\x48\x83\xec\x10\x48\x89\x2c\x24\x48\x89\xe6\x48\x8d\x7c\x24\x08";
    let end = b"\xbd\x01\x00\x00\x00\x90";
    for copy in [b"\x48\xa5".as_slice(), b"\xf3\x48\xa5"] {
        let code = [start.as_slice(), copy, end].concat();
        let mut analysis = analysis(&code, &Alone::default());
        let before = check(&mut analysis, Abi::Amd64, 16, &copied);
        assert_eq!((before.cfa, before.fp), (Truth::Proven, Truth::Refuted));
        let after = check(&mut analysis, Abi::Amd64, code.len() as u64 - 1, &copied);
        assert_eq!((after.cfa, after.fp), (Truth::Proven, Truth::Unknown));
    }
}

/// mov %rdi,(%rsp); nop; ret, which returns to its argument, as `__builtin_eh_return` does
#[test]
fn a_function_may_return_elsewhere() {
    let code = b"\x48\x89\x3c\x24\x90\xc3";
    let mut analysis = analysis(code, &Alone::default());
    let entered = frame(8, Recovery::Unchanged);
    assert_eq!(check(&mut analysis, Abi::Amd64, 0, &entered).whole(), Truth::Proven);
    assert_eq!(check(&mut analysis, Abi::Amd64, 4, &entered).ra, Truth::Unknown);
    // Another place was not overwritten: it never held the return address.
    let elsewhere = Frame { ra: Recovery::AtCfa(-16), ..entered };
    assert_eq!(check(&mut analysis, Abi::Amd64, 0, &elsewhere).ra, Truth::Refuted);
}

/// test %edi,%edi; je a; mov (%rsi),%rax; mov %rax,-8(%rsp), which here is 16 bytes below the CFA; a: xor %ebp,%ebp; nop; ret.
/// What was read may be RBP's value.
#[test]
fn one_of_two_paths_may_have_stored_what_was_saved() {
    let code = b"\x85\xff\x74\x08\x48\x8b\x06\x48\x89\x44\x24\xf8\x31\xed\x90\xc3";
    let mut analysis = analysis(code, &Alone::default());
    let stored = frame(8, Recovery::AtCfa(-16));
    assert_eq!(check(&mut analysis, Abi::Amd64, 4, &stored).fp, Truth::Refuted);
    assert_eq!(check(&mut analysis, Abi::Amd64, 14, &stored).fp, Truth::Unknown);
}

/// A row is judged again where a register changes that it names.
#[test]
fn registers_that_rows_name_are_watched() {
    let named = Register(3);
    let watches =
        |frame: Frame| WatchedRegisters::viewed(Abi::Amd64).with(&frame).0.meet(RegisterSet::of(3));
    let plain = frame(8, Recovery::Unchanged);
    assert!(!watches(plain));
    for rule in [
        Recovery::RegisterOffset { register: named, offset: 0 },
        Recovery::AtRegister { register: named, offset: 8 },
    ] {
        assert!(watches(Frame { fp: rule, ..plain }), "{rule:?}");
        assert!(watches(Frame { ra: rule, ..plain }), "{rule:?}");
    }
    for cfa in [
        Cfa::RegisterOffset { register: named, offset: 16 },
        Cfa::Dereference { register: named, offset: -8 },
    ] {
        assert!(watches(Frame { cfa, ..plain }), "{cfa:?}");
    }
}

/// movabs $0x100000010,%rax; mov %eax,%eax; sub %rax,%rsp; nop; hlt
#[test]
fn numbers_are_cut_to_their_lower_half() {
    let code = b"\x48\xb8\x10\0\0\0\x01\0\0\0\x89\xc0\x48\x29\xc4\x90\xf4";
    let mut analysis = analysis(code, &Alone::default());
    let subtracted = frame(8 + 16, Recovery::Unchanged);
    assert_eq!(check(&mut analysis, Abi::Amd64, 15, &subtracted).cfa, Truth::Proven);
}

/// xor %ecx,%eax, or add %eax,%eax, or sub %eax,%eax; sub %rax,%rsp; nop; hlt, in place of xor %eax,%eax
#[test]
fn only_a_register_xor_itself_is_zero() {
    let cfa = |operation: &[u8; 2]| {
        let code = [operation.as_slice(), b"\x48\x29\xc4\x90\xf4"].concat();
        let entered = frame(8, Recovery::Unchanged);
        check(&mut analysis(&code, &Alone::default()), Abi::Amd64, 5, &entered).cfa
    };
    assert_eq!(cfa(b"\x31\xc0"), Truth::Proven);
    for operation in [b"\x31\xc8", b"\x01\xc0", b"\x21\xc0", b"\x33\x01"] {
        assert_eq!(cfa(operation), Truth::Unknown, "{operation:x?}");
    }
    // A fragment of the register: xor %al,%al
    assert_eq!(cfa(b"\x30\xc0"), Truth::Unknown);
}

/// mov $CALL,%eax; syscall; nop; ret. A new thread continues after `clone` (56) and `clone3` (435) with another stack; a new
/// process, after `fork` (57), has the same.
#[test]
fn a_new_thread_may_have_another_stack() {
    let cfa = |call: u16| {
        let [low, high] = call.to_le_bytes();
        let code = [0xb8, low, high, 0, 0, 0x0f, 0x05, 0x90, 0xc3];
        check(
            &mut analysis(&code, &Alone::default()),
            Abi::Amd64,
            7,
            &frame(8, Recovery::Unchanged),
        )
    };
    assert_eq!((cfa(57).cfa, cfa(57).fp), (Truth::Proven, Truth::Proven));
    // Nothing is proven of a frame whose CFA is not known.
    assert_eq!((cfa(56).cfa, cfa(56).fp), (Truth::Unknown, Truth::Unknown));
    assert_eq!(cfa(435).cfa, Truth::Unknown);
    let cfa = |call: u32| {
        let code = bytes(&[
            0xd280_0008 | call << 5, // mov x8, #call
            0xd400_0001,             // svc #0
            0xd503_201f,             // nop
            0xd65f_03c0,             // ret
        ]);
        let cfa = Cfa::RegisterOffset { register: Register(31), offset: 0 };
        let entered = Recovery::Unchanged;
        let frame = Frame { cfa, ra: entered, fp: entered, ra_signed: false };
        check(&mut aarch64(&code), Abi::Aarch64Little, 8, &frame).cfa
    };
    assert_eq!(cfa(172), Truth::Proven);
    assert_eq!([cfa(220), cfa(435)], [Truth::Unknown; 2]);
}

/// AArch64's instructions that copy memory.
#[test]
fn memory_may_be_copied_over_what_was_saved() {
    let words: [u32; 10] = [
        0xd100_83ff, // sub sp, sp, #0x20
        0xf900_03fd, // str x29, [sp]
        0x9100_03e1, // mov x1, sp
        0x9100_23e0, // add x0, sp, #0x8
        0xd280_0102, // mov x2, #0x8
        0x1901_0440, // cpyfp [x0]!, [x1]!, x2!
        0x1941_0440, // cpyfm [x0]!, [x1]!, x2!
        0x1981_0440, // cpyfe [x0]!, [x1]!, x2!
        0xd280_003d, // mov x29, #0x1
        0xd503_201f, // nop
    ];
    let code = bytes(&words);
    let mut analysis = aarch64(&code);
    let cfa = Cfa::RegisterOffset { register: Register(31), offset: 32 };
    let (ra, fp) = (Recovery::Unchanged, Recovery::AtCfa(-24));
    let copied = Frame { cfa, ra, fp, ra_signed: false };
    let abi = Abi::Aarch64Little;
    assert_eq!(check(&mut analysis, abi, 20, &copied).fp, Truth::Refuted);
    assert_eq!(check(&mut analysis, abi, 36, &copied).fp, Truth::Unknown);
}

/// A return address that is signed in X17, with SP in X16. What signed it is not followed.
#[test]
fn return_addresses_may_be_signed_in_x17() {
    let words: [u32; 5] = [
        0xaa1e_03f1, // mov x17, x30
        0x9100_03f0, // mov x16, sp
        0xd503_211f, // pacia1716
        0xaa11_03fe, // mov x30, x17
        0xd65f_03c0, // ret
    ];
    let code = bytes(&words);
    let mut analysis = aarch64(&code);
    let abi = Abi::Aarch64Little;
    let cfa = Cfa::RegisterOffset { register: Register(31), offset: 0 };
    let (ra, fp) = (Recovery::Unchanged, Recovery::Unchanged);
    let signed = Frame { cfa, ra, fp, ra_signed: true };
    assert_eq!(check(&mut analysis, abi, 12, &signed).ra, Truth::Refuted);
    assert_eq!(check(&mut analysis, abi, 16, &signed).ra, Truth::Unknown);
}

/// A retpoline: call 2f; 1: pause; jmp 1b; 2: mov %rax,(%rsp); ret. CFI of GCC describes the frame of the function at 2,
/// above that of the call; a row for the frame of the call would be right as well.
#[test]
fn calls_within_a_function_have_two_frames() {
    let code = b"\xe8\x04\x00\x00\x00\xf3\x90\xeb\xfc\x48\x89\x04\x24\xc3";
    let entries = [(0x1000, EntryKind::Presumed), (0x1009, EntryKind::LocalCall)];
    let mut analysis = analysis_from(code, &entries, &mut Amd64::new(), &Alone::default());
    let of_function = check(&mut analysis, Abi::Amd64, 9, &frame(16, Recovery::Unchanged));
    assert_eq!((of_function.cfa, of_function.fp), (Truth::Unknown, Truth::Proven));
    let of_call = check(&mut analysis, Abi::Amd64, 9, &frame(8, Recovery::Unchanged));
    assert_eq!(of_call.whole(), Truth::Proven);
    // Outside of what is called, rows are judged.
    let before = check(&mut analysis, Abi::Amd64, 0, &frame(16, Recovery::Unchanged));
    assert_eq!(before.cfa, Truth::Refuted);
}
