//! Jumps by the elements of tables.

use super::{Alone, listing};

/// push %rbp; cmp $2,%edi; ja 0x22; mov %edi,%edi; lea 0x2000,%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax;
/// 18: push %rbx; pop %rcx; 1a: sub $8,%rsp; add $8,%rsp; 22: pop %rbp; ret. Another `test` is in place of `cmp` and `ja`.
fn with_table(test: &[u8; 5]) -> Vec<u8> {
    let rest = b"\x89\xff\x48\x8d\x15\xf1\x0f\x00\x00\x48\x63\x04\xba\x48\x01\xd0\xff\xe0\
        \x53\x59\x48\x83\xec\x08\x48\x83\xc4\x08\x5d\xc3";
    [b"\x55".as_slice(), test, rest].concat()
}

/// cmp $2,%edi; ja 0x22, and five nop
const LIMITED: &[u8; 5] = b"\x83\xff\x02\x77\x1c";
const UNLIMITED: &[u8; 5] = b"\x90\x90\x90\x90\x90";

/// and $2,%edi; nop; nop, and and $2,%dil; nop: the second one leaves the upper bits as they are.
#[test]
fn a_mask_limits_an_index_if_it_clears_the_upper_bits() {
    // The fourth element is not in the table.
    let elements = [0x101a, 0x1018, 0x1022, 0x1023];
    let data = elements.map(|target: i32| (target - 0x2000).to_le_bytes()).concat();
    let alone = Alone { data: &data, next_referenced: u64::MAX, ..Alone::default() };
    let last = |test| listing(&with_table(test), &alone).pop();
    assert_eq!(last(b"\x83\xe7\x02\x90\x90"), last(LIMITED));
    assert_eq!(last(b"\x40\x80\xe7\x02\x90"), last(UNLIMITED));
    assert_ne!(last(LIMITED), last(UNLIMITED));
}

#[test]
fn jump_tables() {
    // The fourth element is not in the table: it leads past the `pop %rbp`.
    let elements = [0x101a, 0x1018, 0x1022, 0x1023].map(|target: i32| target - 0x2000);
    let data = elements.map(i32::to_le_bytes).concat();
    let reached = |test, next_referenced| {
        let alone = Alone { data: &data, next_referenced, ..Alone::default() };
        let lines = listing(&with_table(test), &alone);
        lines
            .into_iter()
            .filter(|line| line.split_once(' ').is_some_and(|(at, _)| at.len() > 1 && at > "16"))
            .collect::<Vec<_>>()
    };
    let all =
        ["18 rsp+16 u", "19 rsp+24 u", "1a rsp+16 u", "1e rsp+24 u", "22 rsp+16 u", "23 rsp+8 u"];
    assert_eq!(reached(LIMITED, u64::MAX), all);
    // A limit may be higher than what the table has.
    assert_eq!(reached(LIMITED, 0x2004), all[2..]);
    // Without a limit, the table ends where something else starts.
    assert_eq!(reached(UNLIMITED, 0x200c), all);
    assert_eq!(reached(UNLIMITED, 0x2004), all[2..]);
    // Elements of something else add wrong paths, so less is known.
    assert_eq!(reached(UNLIMITED, u64::MAX), [&all[..5], &["23 ? u"]].concat());
}

/// The second element leads to code of the function that is kept elsewhere: 3000: pop %rbp; ret. Without a limit, it may be
/// after the end of the table.
#[test]
fn a_case_may_be_kept_elsewhere() {
    let data = [0x101a, 0x3000, 0x1022].map(|target: i32| (target - 0x2000).to_le_bytes()).concat();
    let other = b"\x5d\xc3";
    let lines = |test, other| {
        let alone = Alone { data: &data, other, next_referenced: 0x200c, ..Alone::default() };
        listing(&with_table(test), &alone)
    };
    let has = |lines: &[String], line: &str| lines.iter().any(|it| it == line);
    let limited = lines(LIMITED, other);
    assert!(has(&limited, "1a rsp+16 u") && has(&limited, "22 rsp+16 u"), "{limited:?}");
    assert!(has(&limited, "2000 rsp+16 u") && has(&limited, "2001 rsp+8 u"), "{limited:?}");
    let unlimited = lines(UNLIMITED, other);
    assert!(has(&unlimited, "1a rsp+16 u") && !has(&unlimited, "2000 rsp+16 u"), "{unlimited:?}");
    let nothing_there = lines(LIMITED, b"");
    assert!(!has(&nothing_there, "1a rsp+16 u"), "{nothing_there:?}");
}

/// A jump by a table that cannot be read leads to an unknown place, and not to another function like one by a pointer. RBP may
/// be overwritten there, before a jump back to 0x22.
#[test]
fn a_table_that_cannot_be_read() {
    let lines = listing(&with_table(LIMITED), &Alone::default());
    assert!(lines.contains(&"22 rsp+16 -16".to_owned()), "{lines:?}");
}

/// The blocks at 0, 6 and 0x22, where the `ja` leads, are executed before the table is known. Then the jump of the block at 6 is,
/// and the cases at 0x18 and 0x1a.
#[test]
fn the_block_with_the_jump_alone_is_executed_again() {
    let data = [0x101a, 0x1018, 0x1022].map(|target: i32| (target - 0x2000).to_le_bytes()).concat();
    let alone = Alone { data: &data, next_referenced: u64::MAX, ..Alone::default() };
    listing(&with_table(LIMITED), &alone);
    assert_eq!(alone.executed.get(), 6);
}
