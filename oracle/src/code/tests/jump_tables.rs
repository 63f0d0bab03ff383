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

/// The lines of a listing from an address of two digits on.
fn listing_from(first: &str, code: &[u8], alone: &Alone<'_>) -> Vec<String> {
    let mut lines = listing(code, alone);
    lines.retain(|line| line.split_once(' ').is_some_and(|(at, _)| at.len() > 1 && at >= first));
    lines
}

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
        listing_from("18", &with_table(test), &alone)
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

/// What GCC makes if it does not optimise. push %rbp; cmp $2,%edi; ja 0x32; mov %edi,%edi; lea 0(,%rdi,4),%rdx;
/// lea 0x2000,%rax; mov (%rdx,%rax),%eax; cltq; lea 0x2000,%rdx; add %rdx,%rax; jmp *%rax; 28: push %rbx; pop %rcx;
/// 2a: sub $8,%rsp; add $8,%rsp; 32: pop %rbp; ret. `test` is in place of `cmp` and `ja`, and `load` of the `mov`.
fn with_distance(test: &[u8; 5], scale: &[u8; 4], load: &[u8; 3], extension: &[u8; 2]) -> Vec<u8> {
    let fragments: [&[u8]; 9] = [
        b"\x55",
        test,
        b"\x89\xff",
        scale,
        b"\x00\x00\x00\x00\x48\x8d\x05\xe9\x0f\x00\x00",
        load,
        extension,
        b"\x48\x8d\x15\xdd\x0f\x00\x00\x48\x01\xd0\xff\xe0",
        b"\x53\x59\x48\x83\xec\x08\x48\x83\xc4\x08\x5d\xc3",
    ];
    fragments.concat()
}

/// cmp $2,%edi; ja 0x32
const AT_MOST_2: &[u8; 5] = b"\x83\xff\x02\x77\x2c";
/// lea 0(,%rdi,4),%rdx
const TIMES_4: &[u8; 4] = b"\x48\x8d\x14\xbd";
/// mov (%rdx,%rax),%eax
const AT_SUM: &[u8; 3] = b"\x8b\x04\x02";
const CLTQ: &[u8; 2] = b"\x48\x98";

#[test]
fn a_distance_is_computed_before_the_load() {
    // The fourth element is not in the table: it leads past the `pop %rbp`.
    let elements = [0x102a, 0x1028, 0x1032, 0x1033].map(|target: i32| target - 0x2000);
    let data = elements.map(i32::to_le_bytes).concat();
    let cases = |code: &[u8], next_referenced| {
        let alone = Alone { data: &data, next_referenced, ..Alone::default() };
        listing_from("28", code, &alone)
    };
    let all =
        ["28 rsp+16 u", "29 rsp+24 u", "2a rsp+16 u", "2e rsp+24 u", "32 rsp+16 u", "33 rsp+8 u"];
    assert_eq!(cases(&with_distance(AT_MOST_2, TIMES_4, AT_SUM, CLTQ), u64::MAX), all);
    assert_eq!(cases(&with_distance(UNLIMITED, TIMES_4, AT_SUM, CLTQ), 0x200c), all);
    // mov (%rax,%rdx),%eax
    let exchanged = with_distance(AT_MOST_2, TIMES_4, b"\x8b\x04\x10", CLTQ);
    assert_eq!(cases(&exchanged, u64::MAX), all);
    // Everything else leads to an unknown place, and RBP may be overwritten there, but not what was pushed.
    let unknown = ["32 rsp+16 -16", "33 rsp+8 u"];
    for (scale, load, extension) in [
        // lea 0(,%rdi,8),%rdx: not the size of the elements
        (b"\x48\x8d\x14\xfd", AT_SUM, CLTQ),
        // lea 0(,%rdi,4),%edx: the upper half of the distance is lost
        (b"\x90\x8d\x14\xbd", AT_SUM, CLTQ),
        // mov (%rdx,%rax,4),%eax
        (TIMES_4, b"\x8b\x04\x82", CLTQ),
        // mov (%rdx,%rax),%ax
        (TIMES_4, b"\x66\x8b\x04", b"\x02\x90"),
        // Two `nop` in place of `cltq`: the distances to the targets are negative.
        (TIMES_4, AT_SUM, b"\x90\x90"),
    ] {
        let code = with_distance(AT_MOST_2, scale, load, extension);
        assert_eq!(cases(&code, u64::MAX), unknown, "{code:x?}");
    }
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

/// The blocks at 0, 6 and 0x22, where the `ja` leads, are executed before the table is known. Then the jump of the block
/// at 6 is, and the cases at 0x18 and 0x1a.
#[test]
fn the_block_with_the_jump_alone_is_executed_again() {
    let data = [0x101a, 0x1018, 0x1022].map(|target: i32| (target - 0x2000).to_le_bytes()).concat();
    let alone = Alone { data: &data, next_referenced: u64::MAX, ..Alone::default() };
    listing(&with_table(LIMITED), &alone);
    assert_eq!(alone.executed.get(), 6);
}

/// Where a `switch` has no default, LLVM lets the numbers that do not occur lead to the end of the function.
#[test]
fn a_case_that_cannot_occur_leads_to_the_end_of_the_function() {
    let reached = |elements: [i32; 4], test| {
        let data = elements.map(|target| (target - 0x2000).to_le_bytes()).concat();
        let alone = Alone { data: &data, next_referenced: 0x2010, ..Alone::default() };
        listing_from("18", &with_table(test), &alone)
    };
    let all =
        ["18 rsp+16 u", "19 rsp+24 u", "1a rsp+16 u", "1e rsp+24 u", "22 rsp+16 u", "23 rsp+8 u"];
    assert_eq!(reached([0x101a, 0x1024, 0x1018, 0x1022], UNLIMITED), all);
    assert_eq!(reached([0x101a, 0x1024, 0x1018, 0x1022], LIMITED), all);
    // Any other place is none of the function, and ends the table.
    assert_eq!(reached([0x101a, 0x1025, 0x1018, 0x1022], UNLIMITED), all[2..]);
}

/// The address of the table is in a slot: push %rbp; sub $16,%rsp; lea 0x2000,%rdx; mov %rdx,8(%rsp); cmp $1,%edi; ja 0x2d;
/// mov %edi,%edi; mov 8(%rsp),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; 26: push %rbx; pop %rcx; nop;
/// 2d: add $16,%rsp; pop %rbp; ret. `store` is in place of the `mov` to the slot.
fn with_spilled_address(store: &[u8; 5]) -> Vec<u8> {
    let fragments: [&[u8]; 5] = [
        b"\x55\x48\x83\xec\x10\x48\x8d\x15\xf4\x0f\x00\x00",
        store,
        b"\x83\xff\x01\x77\x17\x89\xff\x48\x8b\x54\x24\x08\x48\x63\x04\xba\x48\x01\xd0\xff\xe0",
        b"\x53\x59\x0f\x1f\x44\x00\x00",
        b"\x48\x83\xc4\x10\x5d\xc3",
    ];
    fragments.concat()
}

#[test]
fn the_address_of_a_table_may_be_in_a_slot() {
    let data = [0x1026, 0x102d].map(|target: i32| (target - 0x2000).to_le_bytes()).concat();
    let alone = Alone { data: &data, next_referenced: u64::MAX, ..Alone::default() };
    let reached = |store| listing_from("26", &with_spilled_address(store), &alone);
    let all =
        ["26 rsp+32 u", "27 rsp+40 u", "28 rsp+32 u", "2d rsp+32 u", "31 rsp+16 u", "32 rsp+8 u"];
    assert_eq!(reached(b"\x48\x89\x54\x24\x08"), all);
    // mov %edx,8(%rsp); nop: a part of the address
    assert_ne!(reached(b"\x89\x54\x24\x08\x90"), all);
}

/// movzbl %dil,%edi; nop: an index of one byte. The fourth element is not in the table.
#[test]
fn an_index_of_one_byte_limits_no_table() {
    let elements = [0x101a, 0x1018, 0x1022, 0x3000].map(|target: i32| target - 0x2000);
    let data = elements.map(i32::to_le_bytes).concat();
    let alone = Alone { data: &data, next_referenced: u64::MAX, ..Alone::default() };
    let reached = |test| listing_from("18", &with_table(test), &alone);
    assert_eq!(reached(b"\x40\x0f\xb6\xff\x90"), reached(UNLIMITED));
    assert_eq!(reached(UNLIMITED).len(), 6);
}
