//! Code elsewhere: fragments of the function, and other functions.

use super::*;

/// push %rbx; test %edi,%edi; jne 0x3000; pop %rbx; ret, and 0x3000: call *%rax; hlt
#[test]
fn a_fragment_of_the_function_elsewhere() {
    let alone = Alone { other: b"\xff\xd0\xf4", ..Alone::default() };
    assert_eq!(
        listing(b"\x53\x85\xff\x0f\x85\xf7\x1f\x00\x00\x5b\xc3", &alone),
        [
            "0 rsp+8 u",
            "1 rsp+16 u",
            "3 rsp+16 u",
            "9 rsp+16 u",
            "a rsp+8 u",
            "2000 rsp+16 u",
            "2002 rsp+16 u",
        ],
    );
}

/// push %rbx; cmp $2,%edi; ja 0x3000; je 0xe; pop %rbx; ret; pop %rbx; ret. The branch to 0x3000 may be one that is never
/// taken.
#[test]
fn the_default_of_a_switch_elsewhere_is_no_fragment() {
    let alone = Alone { other: b"\xff\xd0\xf4", ..Alone::default() };
    let code = b"\x53\x83\xff\x02\x0f\x87\xf6\x1f\x00\x00\x74\x02\x5b\xc3\x5b\xc3";
    assert_eq!(
        listing(code, &alone),
        [
            "0 rsp+8 u",
            "1 rsp+16 u",
            "4 rsp+16 u",
            "a rsp+16 u",
            "c rsp+16 u",
            "d rsp+8 u",
            "e rsp+16 u",
            "f rsp+8 u",
        ]
    );
    let analysis = analysis(code, &alone);
    assert!(!analysis.contains(0x3000) && !analysis.has_tail_call(0x3000));
}

/// Everything is popped before a jump to another function: push %rbx; pop %rbx; jmp 0x3000
#[test]
fn tail_calls_are_no_fragments() {
    let alone = Alone { other: b"\xff\xd0\xf4", ..Alone::default() };
    let code = b"\x53\x5b\xe9\xf9\x1f\x00\x00";
    assert_eq!(listing(code, &alone), ["0 rsp+8 u", "1 rsp+16 u", "2 rsp+8 u"]);
    assert!(analysis(code, &alone).has_tail_call(0x3000));
}

/// nop, after which the next function is executed, and call *%rax, which cannot return.
#[test]
fn a_function_without_an_end_continues_in_the_next() {
    assert!(analysis(b"\x90", &Alone::default()).has_tail_call(0x1001));
    assert!(!analysis(b"\xff\xd0", &Alone::default()).has_tail_call(0x1002));
}
