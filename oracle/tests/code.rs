//! The machine code against what compilers say about it: GCC and Clang know where they put things.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::Path;

use common::elf_files;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Program;
use sframe_oracle::compare::{ProofSums, Refutation, prove};
use sframe_validator::elf::Elf;

/// The CFI of a file against its code: the sums, and a line for each range that the code refutes.
fn proof(file: &[u8]) -> Option<(ProofSums, Vec<String>)> {
    let elf = Elf::parse(file).ok()?;
    let cfi = Cfi::load_all(&elf).ok()?;
    let code = Program::of(&elf, &[], &cfi)?;
    let mut refuted = Vec::new();
    let proofs = prove(&code, &elf, &[], &cfi, |found| {
        let Refutation::Rows(range) = found else { return };
        let (start, end) = (range.start.address, range.end);
        if let Some(cfi) = range.cfi {
            refuted.push(format!("{start:#x}..{end:#x} {} {:?}", cfi.frame, range.truth));
        }
    });
    Some((proofs.cfi, refuted))
}

fn golden(tools: &str, file: &str) -> Vec<u8> {
    let path = Path::new("../corpus/golden").join(tools).join("x86_64").join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file of the corpus whose CFI a compiler or a linker wrote. The others are assembly made to be wrong: their directives
/// say what the instructions do not do.
#[test]
fn the_code_refutes_no_compiler() {
    let mut sums = ProofSums::default();
    let mut files = 0;
    for path in elf_files(Path::new("../corpus/golden")) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let by_hand = ["cfi.o", "handwritten.so", "signal.o", "words.o"];
        if by_hand.contains(&name) || name.ends_with("relocatable.o") {
            continue;
        }
        let data = std::fs::read(&path).expect("readable");
        let Some((of_file, refuted)) = proof(&data) else { continue };
        assert!(refuted.is_empty(), "{}: {refuted:#?}", path.display());
        sums += of_file;
        files += 1;
    }
    let share = sums.proven as f64 / sums.total() as f64;
    assert!(files > 100 && share > 0.9, "{files} files, {sums:?}");
}

/// Functions of the corpus whose directives lie, as `corpus/sources` says.
#[test]
fn the_code_refutes_directives_that_lie() {
    // `return_elsewhere`: nop, `.cfi_def_cfa_offset 16`, nop, ret. Nothing is pushed.
    let (_, refuted) = proof(&golden("2.44", "cfi.o")).expect("AMD64");
    let lie = refuted.iter().find(|line| line.starts_with("0x42..0x44 CFA=r7+16"));
    assert!(lie.is_some(), "{refuted:#?}");
}

/// A stripped library. `exported` is the only function with a name. Nothing leads to `unused`. Only the pointer in
/// `.data.rel.ro` leads to `listed`, after the pointer in `.init_array` to code without CFI; its CFI says
/// that RBP is saved, which it is not.
#[cfg(target_arch = "x86_64")]
const LIBRARY: &str = r#"
    .text
    .globl exported
    .type exported, @function
exported:
    .cfi_startproc
    ret
    .cfi_endproc
    .size exported, . - exported
initialize:
    ret
unused:
    .cfi_startproc
    subq $24, %rsp
    .cfi_adjust_cfa_offset 24
    addq $24, %rsp
    .cfi_adjust_cfa_offset -24
    ret
    .cfi_endproc
listed:
    .cfi_startproc
    .cfi_offset %rbp, -16
    xorl %eax, %eax
    ret
    .cfi_endproc
    .section .init_array, "aw"
    .quad initialize
    .section .data.rel.ro, "aw"
    .quad listed
"#;

/// A stripped library. Only a jump of `unused`, to which nothing leads, leads to `continued`, whose CFI has a CFA 8 bytes too
/// high after the `sub`.
#[cfg(target_arch = "x86_64")]
const CONTINUED: &str = r#"
    .text
unused:
    .cfi_startproc
    xorl %ecx, %ecx
    jmp continued
    .cfi_endproc
    .skip 256
continued:
    .cfi_startproc
    subq $24, %rsp
    .cfi_adjust_cfa_offset 32
    addq $24, %rsp
    .cfi_adjust_cfa_offset -32
    ret
    .cfi_endproc
"#;

/// A stripped library, as GCC divides functions: `part` belongs to `exported`, and `abort` does not return to `inner`, where
/// only the `jns` of `exported` leads, with the stack of its entry.
#[cfg(target_arch = "x86_64")]
const AFTER_FINAL_CALL: &str = r#"
    .text
    .globl exported
    .type exported, @function
exported:
    .cfi_startproc
    testq %rdi, %rdi
    je part
    testq %rsi, %rsi
    jns inner
    xorl %eax, %eax
    ret
    .cfi_endproc
    .size exported, . - exported
    .section .text.unlikely, "ax", @progbits
part:
    .cfi_startproc
    pushq %rax
    .cfi_adjust_cfa_offset 8
    call abort@PLT
    .cfi_adjust_cfa_offset -8
inner:
    jmp other@PLT
    .cfi_endproc
"#;

/// The CFI of an assembled library against its code: the sums, and the ranges that the code refutes.
#[cfg(target_arch = "x86_64")]
fn proof_of_library(name: &str, source: &str) -> Option<(ProofSums, Vec<String>)> {
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    std::fs::write(folder.join("library.s"), source).expect("writable");
    let link = "cc -shared -nostdlib -s -o library.so library.s";
    if !sframe_corpus::tools::run(&folder, "cc", link) {
        return None;
    }
    let library = std::fs::read(folder.join("library.so")).expect("linked");
    proof(&library)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn functions_that_nothing_calls_are_examined() {
    let Some((sums, refuted)) = proof_of_library("unused", LIBRARY) else { return };
    let unused_and_exported = 1 + 4 + 4 + 1;
    let wanted = ProofSums { proven: unused_and_exported, refuted: 3, ..ProofSums::default() };
    assert_eq!((sums, refuted.len()), (wanted, 1), "{refuted:#?}");
    let Some((sums, refuted)) = proof_of_library("continued", CONTINUED) else { return };
    let wanted = ProofSums { proven: 2 + 5 + 4 + 1, refuted: 4, ..ProofSums::default() };
    assert_eq!((sums, refuted.len()), (wanted, 1), "{refuted:#?}");
}

/// gdb shows that CFI is right at `inner`: stopped there, the stack has the return address of the call of `exported` on top.
#[cfg(target_arch = "x86_64")]
#[test]
fn code_after_a_final_call_is_reached_from_elsewhere() {
    let Some((_, refuted)) = proof_of_library("after_final_call", AFTER_FINAL_CALL) else { return };
    assert_eq!(refuted, [""; 0]);
}

/// A stripped library with a switch of two cases, whose CFI is wrong in the second case: 8 bytes were pushed, not 16.
#[cfg(target_arch = "x86_64")]
const SWITCH: &str = r#"
    .text
    .globl exported
    .type exported, @function
exported:
    .cfi_startproc
    cmpl $1, %edi
    ja last
    movl %edi, %edi
    leaq table(%rip), %rdx
    movslq (%rdx,%rdi,4), %rax
    addq %rdx, %rax
    jmp *%rax
first:
    xorl %eax, %eax
    ret
second:
    pushq %rbx
    .cfi_adjust_cfa_offset 16
    popq %rbx
    .cfi_adjust_cfa_offset -16
last:
    ret
    .cfi_endproc
    .size exported, . - exported
    .section .rodata
    .p2align 2
table:
    .long first - table, second - table
"#;

/// The table is read from the file.
#[cfg(target_arch = "x86_64")]
#[test]
fn cases_of_a_switch_are_judged() {
    let Some((sums, refuted)) = proof_of_library("switch", SWITCH) else { return };
    let right = 3 + 2 + 2 + 7 + 4 + 3 + 2 + 2 + 1 + 1 + 1;
    let wanted = ProofSums { proven: right, refuted: 1, ..ProofSums::default() };
    assert_eq!((sums, refuted.len()), (wanted, 1), "{refuted:#?}");
}

/// A stripped library with a retpoline as GCC makes it for `-mindirect-branch=thunk`: its CFI does not describe the frame of
/// the call within. `wrong` has the same CFI, and is called by another function: there it is wrong.
#[cfg(target_arch = "x86_64")]
const RETPOLINE: &str = r#"
    .text
    .globl thunk
    .type thunk, @function
thunk:
    .cfi_startproc
    call target
stay:
    pause
    jmp stay
    .cfi_def_cfa_offset 16
target:
    movq %rax, (%rsp)
    ret
    .cfi_endproc
    .size thunk, . - thunk
wrong:
    .cfi_startproc
    nop
    .cfi_def_cfa_offset 16
    nop
    ret
    .cfi_endproc
    .globl caller
    .type caller, @function
caller:
    .cfi_startproc
    subq $8, %rsp
    .cfi_def_cfa_offset 16
    call wrong
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size caller, . - caller
"#;

/// gdb shows that CFI of the retpoline is right: stopped at `target`, the word at RSP+8 is the return address of `thunk`.
#[cfg(target_arch = "x86_64")]
#[test]
fn calls_within_a_function_are_not_judged() {
    let Some((sums, refuted)) = proof_of_library("retpoline", RETPOLINE) else { return };
    assert_eq!(refuted.len(), 1, "{refuted:#?}");
    assert_eq!((sums.refuted, sums.undecided.reached()), (2, 5), "{sums:?}");
}

/// Some functions of SQLite for both machines, each examined with the cross references that are found for it alone, and with those
/// of all code: the same is proven at each of some addresses.
#[test]
fn a_function_examined_alone_is_proven_as_among_all() {
    let real = sframe_corpus::tools::real_libraries().join("2.44");
    for machine in ["x86_64", "aarch64"] {
        let Ok(file) = std::fs::read(real.join(machine).join("sqlite3.so")) else {
            sframe_corpus::tools::missing("SQLite of both machines", "corpus/build real 2.44");
            return;
        };
        let elf = Elf::parse(&file).expect("an ELF file");
        let cfi = Cfi::load_all(&elf).expect("readable");
        let all = Program::of(&elf, &[], &cfi).expect("code of a known machine");
        let mut proven = 0;
        for range in all.functions().iter().step_by(23) {
            let few = Program::for_few(&elf, &[], &cfi).expect("code of a known machine");
            let rows = [&few, &all].map(|code| {
                let mut function = code.function(range.start);
                let addresses = (range.start.address..range.end).step_by(13);
                let row = |at| function.as_mut()?.at(at, |facts| facts.proven_row());
                addresses.map(row).collect::<Vec<_>>()
            });
            assert_eq!(rows[0], rows[1], "{machine}, {range:?}");
            proven += rows[0].iter().flatten().count();
        }
        assert!(proven > 1_000, "{machine}: {proven}");
    }
}
