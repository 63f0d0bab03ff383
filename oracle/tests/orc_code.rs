//! The machine code of kernel modules against their ORC tables: what instructions do was worked out by hand.

use sframe_corpus::tools::{run, toolchain};
use sframe_oracle::code::Program;
use sframe_oracle::compare::{ProofSums, Refutation, prove};
use sframe_oracle::orc::{Orc, OrcFunctions};
use sframe_validator::elf::Elf;

/// Two functions of a module, as Linux builds it: they return through a thunk, one continues in another section, and some of
/// its code is reached only through the kernel's tables.
const FUNCTIONS: &str = r#"
    .text
    .type get, @function
get:
    orc 8, 0, 0x205
    xorl %eax, %eax
    jmp __x86_return_thunk
    .size get, . - get
    .type f, @function
f:
    orc 8, 0, 0x205
    push %rbp
    orc 16, -16, 0x215
    call get
    testl %eax, %eax
    jne f.cold
back:
1:  .byte 0x0f, 0x1f, 0x44, 0, 0
2:  ud2
    pop %rbp
    orc 8, 0, 0x205
    jmp __x86_return_thunk
label:
    orc 16, -16, 0x215
    pop %rbp
    orc 8, 0, 0x205
    jmp __x86_return_thunk
    .size f, . - f
    orc 0, 0, 0
    .section .text.unlikely, "ax"
    .type f.cold, @function
f.cold:
    orc 16, -16, 0x215
    leaq data(%rip), %rdi
    call panic
    jmp back
    .size f.cold, . - f.cold
    .data
data: .quad 0
    .section __jump_table, "aw"
    .long 1b - ., label - .
    .quad 0
    .section __bug_table, "aw"
    .long 2b - ., 0
    .short 0, 1
"#;

/// The functions after the start of `corpus/orc/module.s`: the macro for an entry of the tables, and their header.
fn module() -> String {
    let source = std::fs::read_to_string(sframe_corpus::corpus().join("orc/module.s"));
    let source = source.expect("readable");
    let (start, _) = source.split_once("    .text\n").expect("code");
    start.to_owned() + FUNCTIONS
}

fn assemble(name: &str, source: &str) -> Option<Vec<u8>> {
    let bin = toolchain("2.44")?;
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    std::fs::write(folder.join("m.s"), source).expect("written");
    let command = format!("{} --64 -o m.o m.s", bin.join("as").display());
    run(&folder, "sh", &command).then(|| std::fs::read(folder.join("m.o")).expect("an object"))
}

/// `corpus/orc/module.o` is what its first lines say.
#[test]
fn the_module_of_the_corpus_is_assembled_from_its_source() {
    let Some(bin) = toolchain("2.44") else { return };
    let module = sframe_corpus::corpus().join("orc");
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), "orc_module");
    std::fs::copy(module.join("module.s"), folder.join("module.s")).expect("copied");
    let command = format!("{} --64 --gsframe module.s -o module.o", bin.join("as").display());
    assert!(run(&folder, "sh", &command));
    let read = |path: &std::path::Path| std::fs::read(path.join("module.o")).expect("an object");
    assert_eq!(read(&folder), read(&module));
}

fn proof(file: &[u8]) -> (ProofSums, Vec<(u64, u64)>) {
    let elf = Elf::parse(file).expect("ELF");
    let orc = Orc::load(&elf).expect("readable").expect("tables");
    assert_eq!(orc.defects(), []);
    let functions = OrcFunctions::of(&elf, &orc).expect("few");
    let tables = [functions.cfi()];
    let code = Program::of(&elf, &[], &tables).expect("AMD64");
    let mut refuted = Vec::new();
    let proofs = prove(&code, &elf, &[], &tables, |found| {
        let Refutation::Rows(range) = found else { return };
        refuted.push((range.start.address, range.end));
    });
    (proofs.cfi, refuted)
}

/// `get` has 2 + 5 bytes; `f` has 1, then 5 + 2 + 6 + 5 + 2 + 1, 5, 1 and 5. `f.cold` has 7 + 5, and 5 after a call that does
/// not return.
#[test]
fn the_code_of_a_module_proves_its_tables() {
    let Some(file) = assemble("orc_proven", &module()) else { return };
    let (sums, refuted) = proof(&file);
    assert_eq!(refuted, []);
    let proven = 7 + 1 + 21 + 5 + 1 + 5 + 7 + 5;
    let undecided = (sums.undecided.reached(), sums.undecided.unreached());
    assert_eq!((sums.proven, sums.refuted, undecided), (proven, 0, (0, 5)));
}

/// After `push`, the CFA is not SP+24, and BP is saved at CFA-16, which is then wrong too.
#[test]
fn the_code_of_a_module_refutes_a_wrong_entry() {
    let module = module();
    let wrong = module.replacen("orc 16, -16, 0x215", "orc 24, -16, 0x215", 1);
    let Some(file) = assemble("orc_wrong", &wrong) else { return };
    let (sums, refuted) = proof(&file);
    assert_eq!((sums.refuted, sums.proven), (21, 7 + 1 + 5 + 1 + 5 + 7 + 5));
    assert_eq!(refuted, [(8, 29)]);
    // Without the thunk's name, the function `get` may not return, but the jump to it may: nothing is lost.
    let other = module.replace("__x86_return_thunk", "other");
    let Some(file) = assemble("orc_other", &other) else { return };
    assert_eq!(proof(&file).0.proven, 52);
    // A warning is no end, an error is one.
    let bug = module.replace(".short 0, 1", ".short 0, 0");
    let Some(file) = assemble("orc_bug", &bug) else { return };
    assert_eq!(proof(&file).0.proven, 52 - 6);
    // Without the table, no jump leads to the label.
    let label = module.replace("__jump_table", "__other_table");
    let Some(file) = assemble("orc_label", &label) else { return };
    assert_eq!(proof(&file).0.proven, 52 - 6);
}
