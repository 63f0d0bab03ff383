//! Code that does not follow in memory in the order in which it is executed.

use super::assert_listing;

/// jmp 3; 2: nop; 3: test %edi,%edi; je 2; push %rbx; jmp b; a: nop; b: test %edi,%edi; je a; pop %rbx; ret
///
/// Each `nop` is decoded after the code into which it continues.
#[test]
fn instructions_before_what_was_decoded_continue_there() {
    assert_listing(
        b"\xeb\x01\x90\x85\xff\x74\xfb\x53\xeb\x01\x90\x85\xff\x74\xfb\x5b\xc3",
        &[
            "0 rsp+8 u",
            "2 rsp+8 u",
            "3 rsp+8 u",
            "5 rsp+8 u",
            "7 rsp+8 u",
            "8 rsp+16 u",
            "a rsp+16 u",
            "b rsp+16 u",
            "d rsp+16 u",
            "f rsp+16 u",
            "10 rsp+8 u",
        ],
    );
}
