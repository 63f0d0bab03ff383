//! The code of relocatable objects, whose addresses and jump tables the linker has yet to fill in: an object is judged as the
//! file that GNU ld links from it.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fmt::Write as _;

use sframe_corpus::tools::{run, toolchain};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::{Program, Unproven};
use sframe_oracle::compare::{ProofSums, Refutation, prove};
use sframe_validator::elf::{Elf, ElfKind};

/// Switches with a table of distances, a table of addresses, and a table without a limit, pushes of an address, and a landing
/// pad. A case of the first is kept apart, as GCC does with code that is rarely executed. The `nop` of the second case has a
/// CFA 8 bytes too high. `simple` is a switch as GCC makes it without optimisation. In `displaced`, the displacement of the
/// `lea` makes the jump lead to an unknown place.
const AMD64: &str = r#"
    .text
    .globl _start
    .type _start, @function
_start:
    .cfi_startproc
    cmpl $2, %edi
    ja last
    movl %edi, %edi
    leaq distances(%rip), %rdx
    movslq (%rdx,%rdi,4), %rax
    addq %rdx, %rax
    jmp *%rax
first:
    xorl %eax, %eax
    ret
second:
    pushq %rbx
    .cfi_adjust_cfa_offset 16
    nop
    .cfi_adjust_cfa_offset -8
    popq %rbx
    .cfi_adjust_cfa_offset -8
last:
    ret
    .cfi_adjust_cfa_offset 8
    nop
    .cfi_endproc
    .size _start, . - _start
    .type absolute, @function
absolute:
    .cfi_startproc
    cmpl $1, %edi
    ja 2f
    movl %edi, %eax
    jmp *addresses(,%rax,8)
1:  pushq $addresses
    .cfi_adjust_cfa_offset 8
    popq %rcx
    .cfi_adjust_cfa_offset -8
2:  movl $3, counter(%rip)
    pushq counter(%rip)
    .cfi_adjust_cfa_offset 8
    popq counter(%rip)
    .cfi_adjust_cfa_offset -8
    leaq counter(%rdi), %rax
    ret
    .cfi_adjust_cfa_offset 8
    nop
    .cfi_endproc
    .size absolute, . - absolute
    .type pads, @function
pads:
    .cfi_startproc
    .cfi_lsda 0x1b, sites
    pushq %rbx
    .cfi_adjust_cfa_offset 8
call:
    call *%rax
after:
    popq %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_adjust_cfa_offset 8
pad:
    movq %rax, %rdi
    ud2
    .cfi_endproc
    .size pads, . - pads
    .type unlimited, @function
unlimited:
    .cfi_startproc
    movl $3, boundary(%rip)
    leaq unbounded(%rip), %rdx
    movslq (%rdx,%rdi,4), %rax
    addq %rdx, %rax
    jmp *%rax
one:
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    popq %rbx
    .cfi_adjust_cfa_offset -8
    ret
two:
    xorl %eax, %eax
    ret
    .cfi_endproc
    .size unlimited, . - unlimited
    .macro unoptimised name, displacement
    .type \name, @function
\name:
    .cfi_startproc
    cmpl $1, %edi
    ja \name\()_last
    movl %edi, %edi
    leaq \displacement(,%rdi,4), %rdx
    leaq \name\()_table(%rip), %rax
    movl (%rdx,%rax), %eax
    cltq
    leaq \name\()_table(%rip), %rdx
    addq %rdx, %rax
    jmp *%rax
\name\()_first:
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    popq %rbx
    .cfi_adjust_cfa_offset -8
\name\()_last:
    ret
    .cfi_endproc
    .size \name, . - \name
    .pushsection .rodata
\name\()_table:
    .long \name\()_first - \name\()_table, \name\()_last - \name\()_table
    .popsection
    .endm
    unoptimised simple, 0
    unoptimised displaced, counter
    .section .text.unlikely, "ax"
    .type _start.cold, @function
_start.cold:
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    call *%rax
    .cfi_endproc
    .size _start.cold, . - _start.cold
    .section .rodata
    .p2align 3
    .quad first
distances:
    .long first - distances, second - distances, _start.cold - distances
addresses:
    .quad 1b, 2b
unbounded:
    .long one - unbounded, two - unbounded
boundary:
    .long 0
    .section .gcc_except_table, "a"
    .byte 0
sites:
    .byte 0xff, 0xff, 0x01
    .uleb128 end - start
start:
    .uleb128 call - pads, after - call, pad - pads, 0
end:
    .data
counter: .quad 0
"#;

/// A switch with a table of numbers of instructions, as GCC makes it, and one with a table of distances, as Clang does.
const AARCH64: &str = r#"
    .text
    .globl _start
    .type _start, %function
_start:
    .cfi_startproc
    cmp w0, #1
    b.hi last
    adrp x1, numbers
    add x1, x1, :lo12:numbers
    ldrb w1, [x1, w0, uxtw]
    adr x2, first
    add x1, x2, w1, sxtb #2
    br x1
first:
    sub sp, sp, #16
    .cfi_adjust_cfa_offset 16
    add sp, sp, #16
    .cfi_adjust_cfa_offset -16
second:
    sub sp, sp, #32
    .cfi_adjust_cfa_offset 40
    add sp, sp, #32
    .cfi_adjust_cfa_offset -40
last:
    ret
    .cfi_endproc
    .size _start, . - _start
    .type other, %function
other:
    .cfi_startproc
    cmp w0, #1
    b.hi 2f
    mov w8, w0
    adrp x9, distances
    add x9, x9, :lo12:distances
    ldrsw x10, [x9, x8, lsl #2]
    add x9, x9, x10
    br x9
1:  sub sp, sp, #16
    .cfi_adjust_cfa_offset 16
    add sp, sp, #16
    .cfi_adjust_cfa_offset -16
2:  ret
    .cfi_endproc
    .size other, . - other
    .section .rodata
    .byte 9, 9, 9
numbers:
    .byte 0, (second - first) / 4
    .p2align 2
distances:
    .word 1b - distances, 2b - distances
"#;

/// What the code proves about CFI, and the ranges that it refutes.
fn proof(file: &[u8], kind: ElfKind) -> (ProofSums, Vec<(u64, u64)>) {
    let elf = Elf::parse(file).expect("ELF");
    assert_eq!(elf.kind(), kind);
    let cfi = Cfi::load_all(&elf).expect("readable");
    let code = Program::of(&elf, &[], &cfi).expect("a machine whose code is examined");
    let mut refuted = Vec::new();
    let proofs = prove(&code, &elf, &[], &cfi, |found| {
        let Refutation::Rows(range) = found else { return };
        refuted.push((range.start.address, range.end));
    });
    (proofs.cfi, refuted)
}

/// What the code of an object proves, after a check that the linked file has the same.
fn proof_of(name: &str, machine: &str, source: &str) -> Option<(ProofSums, Vec<u64>)> {
    let bin = toolchain("2.44")?;
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    std::fs::write(folder.join("code.s"), source).expect("writable");
    let tool = |tool: &str| format!("{}/{machine}-linux-gnu-{tool}", bin.display());
    let command = format!("{} -o code.o code.s && {} -o code.exe code.o", tool("as"), tool("ld"));
    if !run(&folder, "sh", &command) {
        return None;
    }
    let read = |file: &str| std::fs::read(folder.join(file)).expect("made");
    let (sums, refuted) = proof(&read("code.o"), ElfKind::Relocatable);
    let (linked, linked_refuted) = proof(&read("code.exe"), ElfKind::Executable);
    let sizes = |ranges: &[(u64, u64)]| ranges.iter().map(|(a, b)| b - a).collect::<Vec<_>>();
    let numbers = |sums: &ProofSums| (sums.proven, sums.refuted, undecided(sums));
    assert_eq!(
        (numbers(&sums), sizes(&refuted)),
        (numbers(&linked), sizes(&linked_refuted)),
        "{sums:?} {linked:?}"
    );
    Some((sums, sizes(&refuted)))
}

/// What the code of an object for AMD64 proves.
fn proof_of_object(name: &str, source: &str) -> Option<ProofSums> {
    let bin = toolchain("2.44")?;
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    std::fs::write(folder.join("code.s"), source).expect("writable");
    let command = format!("{}/x86_64-linux-gnu-as -o code.o code.s", bin.display());
    if !run(&folder, "sh", &command) {
        return None;
    }
    let file = std::fs::read(folder.join("code.o")).expect("made");
    Some(proof(&file, ElfKind::Relocatable).0)
}

/// The bytes about which nothing is decided: those that are reached, and the others.
fn undecided(sums: &ProofSums) -> (u64, u64) {
    (sums.undecided.reached(), sums.undecided.unreached())
}

/// The sizes of instructions are those in the listing of GNU objdump.
#[test]
fn tables_and_landing_pads_of_amd64_are_followed() {
    let Some((sums, refuted)) = proof_of("relocatable_amd64", "x86_64", AMD64) else { return };
    let start = (3 + 2 + 2 + 7 + 4 + 3 + 2) + 3 + 1 + 1 + 1;
    let absolute = 3 + 2 + 2 + 7 + 5 + 1 + 10 + 6 + 6 + 7 + 1;
    let pads = 1 + 2 + 1 + 1 + 3 + 2;
    let unlimited = 10 + 7 + 4 + 3 + 2 + 3 + 3;
    let cold = 1 + 2;
    let to_jump = 3 + 2 + 2 + 8 + 7 + 3 + 2 + 7 + 3 + 2;
    let (simple, displaced) = (to_jump + 1 + 1 + 1, to_jump + 1);
    let proven = start + absolute + pads + unlimited + cold + simple + displaced;
    // The table without a limit ends where `boundary` starts, which is in an instruction with another number at its end. Nothing
    // leads to what follows the last `ret` of two functions, nor to the push and pop of `displaced`.
    assert_eq!((sums.proven, sums.refuted, undecided(&sums)), (proven, 1, (0, 4)));
    assert_eq!(refuted, [1]);
}

#[test]
fn tables_of_aarch64_are_followed() {
    let Some((sums, refuted)) = proof_of("relocatable_aarch64", "aarch64", AARCH64) else { return };
    assert_eq!((sums.proven, sums.refuted, undecided(&sums)), (4 * (12 + 11), 4, (0, 0)));
    assert_eq!(refuted, [4]);
}

/// The stack comes from memory, so that nothing is known about any of many rows. Each has the first instruction to blame; if the search
/// for it went through the code before each row, this would not end.
#[test]
fn many_rows_have_one_reason() {
    const ROWS: u64 = 100_000;
    let mut source = String::from(".type f, @function\nf: .cfi_startproc\nmov (%rdi), %rsp\n");
    for row in 0..ROWS {
        let _ = writeln!(source, "nop\n.cfi_def_cfa_offset {}", 16 + row % 2 * 8);
    }
    source.push_str("1: jmp 1b\n.cfi_endproc\n.size f, .-f\n");
    let Some(sums) = proof_of_object("many_rows", &source) else { return };
    let reasons: Vec<_> = sums.undecided.reasons().collect();
    let [(Unproven::UnknownValue, sum)] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert_eq!((sums.proven, sum.reached, sum.unreached), (3, ROWS + 2, 0));
    let (first, cause) = sum.first.expect("a place");
    assert_eq!((first.start.address, cause.map(|it| it.address)), (3, Some(0)));
}

/// The last of a chain of functions that are one jump each and have no names is entered as by a call. So it is found out for chains of
/// up to 32.
#[test]
fn chains_of_tail_calls_are_followed_to_a_limit() {
    let chain = |length: u32| {
        let mut source = String::from(".L0: .cfi_startproc\nret\n.cfi_endproc\n");
        for number in 1..length {
            let before = number - 1;
            let _ = writeln!(source, ".L{number}: .cfi_startproc\njmp .L{before}\n.cfi_endproc");
        }
        let last = length - 1;
        let _ = writeln!(source, ".globl f\n.type f, @function\nf: .cfi_startproc\njmp .L{last}");
        source.push_str(".cfi_endproc\n.size f, .-f\n");
        source
    };
    let Some(short) = proof_of_object("short_chain", &chain(30)) else { return };
    assert_eq!((short.refuted, undecided(&short)), (0, (0, 0)), "{short:?}");
    let Some(long) = proof_of_object("long_chain", &chain(40)) else { return };
    let reasons: Vec<_> = long.undecided.reasons().map(|(reason, _)| reason).collect();
    assert_eq!((long.refuted, reasons), (0, vec![Unproven::UnknownEntry]), "{long:?}");
    assert!(long.proven >= 30, "{long:?}");
}
