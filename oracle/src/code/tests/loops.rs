//! What is kept in loops.

use super::{Alone, listing};

/// xor %eax,%eax; 2: add $8,%rdi; inc %eax; cmp %esi,%eax; jne 2; ret
///
/// The loop changes RDI and EAX, on which no frame depends.
#[test]
fn loops_are_executed_once() {
    let code = b"\x31\xc0\x48\x83\xc7\x08\xff\xc0\x39\xf0\x75\xf6\xc3";
    let alone = Alone::default();
    let lines = ["0 rsp+8 u", "2 rsp+8 u", "6 rsp+8 u", "8 rsp+8 u", "a rsp+8 u", "c rsp+8 u"];
    assert_eq!(listing(code, &alone), lines);
    assert_eq!(alone.executed.get(), 2);
}

/// lea 0xff9(%rip),%rdx; 7: cmp $1,%edi; ja 0x17; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax;
/// 15: jmp 7; 17: jne 7; ret
///
/// The table is at 0x2000, and its address is loaded before the loop. Its cases are at 0x15 and 0x17.
#[test]
fn loops_preserve_addresses_of_jump_tables() {
    let code = b"\x48\x8d\x15\xf9\x0f\x00\x00\x83\xff\x01\x77\x0b\x48\x63\x04\xba\x48\x01\xd0\xff\xe0\xeb\xf0\x75\xee\xc3";
    let data: Vec<u8> =
        [0x1015_i32, 0x1017].iter().flat_map(|case| (case - 0x2000).to_le_bytes()).collect();
    let alone = Alone { data: &data, next_referenced: 0x2008, ..Alone::default() };
    let addresses: Vec<_> =
        listing(code, &alone).iter().map(|line| line[..2].trim().to_owned()).collect();
    assert_eq!(addresses, ["0", "7", "a", "c", "10", "13", "15", "17", "19"]);
}
