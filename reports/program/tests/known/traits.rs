//! Traits of compilers and linkers: recognised by the compiler and by the code of each case. LLVM's own compiler and the assembler say what is
//! true; CFI for calls alone is what `uwtable(sync)` asks for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::program::run;
use sframe_corpus::{corpus, tools};
use sframe_record::Record;

use super::records;

/// The counts of a file: rule, known defect, number.
fn counts(options: &[&str], file: &Path) -> Vec<(String, Option<String>, u64)> {
    let file = file.to_str().expect("a path");
    let options = [&["--thorough", "--no-config", "--format", "ndjson"], options, &[file]].concat();
    let text = run(&corpus(), &options).text;
    let record: Record<'_> = records(&text).next().expect("a record");
    let of_code =
        record.counts.iter().filter(|count| count.rule.as_str() != "register-contradicts-code");
    of_code
        .map(|count| {
            let known = count.known.as_ref().map(ToString::to_string);
            (count.rule.to_string(), known, count.count)
        })
        .collect()
}

fn count(rule: &str, known: Option<&str>, number: u64) -> (String, Option<String>, u64) {
    (rule.to_owned(), known.map(str::to_owned), number)
}

fn assembled(folder: &Path, tool: &Path, options: &[&str], text: &str) -> PathBuf {
    fs::write(folder.join("a.s"), text).expect("a file");
    let object = folder.join("a.o");
    let mut assembler = Command::new(tool);
    assembler.args(options).args(["a.s", "-o"]).arg(&object).current_dir(folder);
    assert!(assembler.status().expect("the assembler runs").success());
    object
}

/// Frames with and without a frame pointer, large and small.
fn functions(table: &str) -> String {
    let function = |name: &str, size: u32, pointer: &str| {
        format!(
            "define i64 @{name}(i64 %x, i64 %y) nounwind {table} \"frame-pointer\"=\"{pointer}\" {{\n  %p = alloca [{size} x i64]\n\
             %a = call i64 @g(i64 %x, ptr %p)\n  %b = add i64 %a, %y\n  ret i64 %b\n}}\n"
        )
    };
    let each = [("a", 4, "none"), ("b", 100, "all"), ("c", 4, "all"), ("d", 9000, "none")];
    let each = each.map(|(name, size, pointer)| function(name, size, pointer)).concat();
    format!(
        "target triple = \"aarch64-unknown-linux-gnu\"\nsource_filename = \"a.c\"\ndeclare i64 @g(i64, ptr)\n{each}\
         !llvm.ident = !{{!7}}\n!7 = !{{!\"clang version 17.0.6\"}}\n"
    )
}

#[test]
fn cfi_for_calls_alone_is_one_trait() {
    let Some(llvm) = tools::toolchain("llvm-23") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let compiled = |table: &str| {
        fs::write(folder.path().join("a.ll"), functions(table)).expect("a file");
        let mut llc = Command::new(llvm.join("llc"));
        llc.args(["-O2", "a.ll", "-o", "a.s"]).current_dir(&folder);
        assert!(llc.status().expect("llc runs").success());
        fs::read_to_string(folder.path().join("a.s")).expect("text")
    };
    let options = ["-filetype=obj", "-triple=aarch64-linux-gnu"];
    let of = |text: &str, all: &[&str]| {
        counts(all, &assembled(folder.path(), &llvm.join("llvm-mc"), &options, text))
    };
    // With asynchronous tables, LLVM describes all of them.
    assert_eq!(of(&compiled("uwtable"), &[]), []);
    let text = compiled("uwtable(sync)");
    let found = of(&text, &[]);
    let [(rule, Some(known), number)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&**rule, &**known), ("cfi-contradicts-code", "cfi-for-calls-only"));
    assert!(*number >= 4, "{number}");
    assert_eq!(of(&text, &["--all"]), found, "all are looked at, listed or not");
    // Another compiler has no such trait.
    let other = text.replace("clang version 17.0.6", "GCC: (GNU) 12.2.0");
    assert_eq!(of(&other, &[]), [count("cfi-contradicts-code", None, *number)]);
    // A directive with a wrong value in the body is another mistake.
    let (before, after) = text.split_once(".cfi_def_cfa_offset 48").expect("a directive");
    let wrong = format!("{before}.cfi_def_cfa_offset 64{after}");
    let found = of(&wrong, &[]);
    assert!(found.iter().any(|(_, known, _)| known.is_none()), "{found:?}");
}

/// What GCC before 4.5 wrote: nothing about epilogues. `other` is what the last function has before it returns.
fn without_epilogues(compiler: &str, other: &str) -> String {
    let function = |name: &str, body: &str| {
        format!(
            "\t.globl {name}\n\t.type {name},@function\n{name}:\n\t.cfi_startproc\n{body}\t.cfi_endproc\n\t.size {name},.-{name}\n"
        )
    };
    let with_pointer = "\tpush %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\tmov %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n\
                        \tcall h\n\tleave\n\tret\n";
    let with_stack =
        "\tsub $24, %rsp\n\t.cfi_def_cfa_offset 32\n\tcall h\n\tadd $24, %rsp\n\tret\n";
    let last = format!(
        "\tsub $24, %rsp\n\t.cfi_def_cfa_offset 32\n\tcall h\n\tadd $24, %rsp\n{other}\tret\n"
    );
    let each = [("a", with_pointer), ("b", with_stack), ("c", with_stack), ("d", &*last)];
    let each = each.map(|(name, body)| function(name, body)).concat();
    format!("\t.file \"a.c\"\n\t.text\n{each}\t.ident \"{compiler}\"\n")
}

#[test]
fn epilogues_of_old_gcc_are_one_trait_and_hide_no_other_error() {
    let Some(gnu) = tools::toolchain("2.44") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let of = |compiler: &str, other: &str, options: &[&str]| {
        let text = without_epilogues(compiler, other);
        counts(options, &assembled(folder.path(), &gnu.join("as"), &["--gsframe"], &text))
    };
    let (id, rule) = (Some("epilogues-not-described"), "inherited-error");
    for compiler in ["GCC: (GNU) 4.4.5", "GCC: (GNU) 3.4.6", "GCC: (Debian 4.3.2-1.1) 4.3.2"] {
        assert_eq!(of(compiler, "", &[]), [count(rule, id, 4)], "{compiler}");
    }
    for compiler in ["GCC: (GNU) 4.5.0", "GCC: (GNU) 12.2.0", "clang version 4.0.0", "GCC: (GNU) x"]
    {
        assert_eq!(of(compiler, "", &[]), [count(rule, None, 4)], "{compiler}");
    }
    // The same distance in code that is no epilogue: a call with the frame half gone.
    let old = "GCC: (GNU) 4.4.5";
    for other in ["\tcall h\n", "\txor %eax, %eax\n\tcall h\n", "\tpush %rax\n\tpop %rcx\n"] {
        for options in [&[][..], &["--all"]] {
            let found = of(old, other, options);
            assert_eq!(found, [count(rule, None, 1), count(rule, id, 3)], "{other} {options:?}");
        }
    }
}

/// What GNU ld wrote before 2.40, by its CFI in libssl 1.1.1k of RHEL 8: the CFA of a stub is SP+16 from byte 10 on, where 2.40 has
/// byte 9. `objdump -d` shows the jump there, after `endbr64` and `push`. One FDE describes all 150 stubs, and counts once.
#[test]
fn the_push_in_stubs_of_old_linkers_is_one_trait() {
    let Some(gnu) = tools::toolchain("2.40") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let calls: String = (0..150).map(|number| format!("\tcall f{number}@PLT\n")).collect();
    let text = format!("\t.text\n\t.globl f\nf:\n\t.cfi_startproc\n{calls}\tret\n\t.cfi_endproc\n");
    let object = assembled(folder.path(), &gnu.join("as"), &[], &text);
    let linked = folder.path().join("a.so");
    let mut linker = Command::new(gnu.join("ld"));
    linker.args(["-shared", "-z", "lazy", "-z", "ibtplt", "-o"]).arg(&linked).arg(&object);
    assert!(linker.status().expect("the linker runs").success());
    let of_code = |options: &[&str]| {
        let mut counts = counts(options, &linked);
        counts.retain(|(rule, ..)| rule == "cfi-contradicts-code");
        counts
    };
    assert_eq!(of_code(&[]), []);
    // DW_OP_lit15, DW_OP_and, DW_OP_lit9, DW_OP_ge
    let mut file = fs::read(&linked).expect("the library");
    let place = file.windows(4).position(|window| window == [0x3f, 0x1a, 0x39, 0x2a]);
    file[place.expect("the expression of .plt") + 2] = 0x3a;
    fs::write(&linked, file).expect("a file");
    for options in [&[][..], &["--all"]] {
        assert_eq!(of_code(options), [count("cfi-contradicts-code", Some("ld-plt-push"), 1)]);
    }
}

/// Go's linker (1.19: `readelf --debug-dump=frames`) describes CFA and return address alone, though functions save RBP; `objdump -d` shows the
/// prologue of `f`. No register but RBP is kept for the caller: what `g` does with RBX
/// matters to C alone.
#[test]
fn frame_pointers_that_go_does_not_describe_are_one_trait() {
    let Some(gnu) = tools::toolchain("2.44") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let of = |frame: &str, sections: &str| {
        let text = format!(
            "\t.file \"a.go\"\n\t.cfi_sections .debug_frame\n\t.text\n\
             \t.globl f\n\t.type f,@function\nf:\n\t.cfi_startproc\n\tsub $24, %rsp\n\t.cfi_def_cfa_offset {frame}\n\
             \tmov %rbp, 16(%rsp)\n\tlea 16(%rsp), %rbp\n\tcall h\n\tmov 16(%rsp), %rbp\n\tadd $24, %rsp\n\
             \t.cfi_def_cfa_offset 8\n\tret\n\t.cfi_endproc\n\t.size f,.-f\n\
             \t.globl g\n\t.type g,@function\ng:\n\t.cfi_startproc\n\tpush %rbx\n\t.cfi_def_cfa_offset 16\n\tmov %rdi, %rbx\n\tcall h\n\tpop %rbx\n\t.cfi_def_cfa_offset 8\n\tret\n\
             \t.cfi_endproc\n\t.size g,.-g\n{sections}"
        );
        let object = assembled(folder.path(), &gnu.join("as"), &[], &text);
        let text = run(
            &corpus(),
            &["--thorough", "--no-config", "--format", "ndjson", object.to_str().expect("a path")],
        );
        let record: Record<'_> = records(&text.text).next().expect("a record");
        let of = |count: &sframe_record::RuleCount<'_>| {
            (count.rule.to_string(), count.known.as_ref().map(ToString::to_string), count.count)
        };
        record.counts.iter().map(of).collect::<Vec<_>>()
    };
    let rule = "cfi-contradicts-code";
    let register = count("register-contradicts-code", None, 1);
    let go = "\t.section .gopclntab,\"a\"\n\t.byte 0\n\t.section .note.go.buildid,\"a\",@note\n\t.byte 0\n";
    assert_eq!(of("32", go), [count(rule, Some("frame-pointer-not-described"), 1)]);
    assert_eq!(of("32", ""), [count(rule, None, 1), register]);
    // Another compiler may have made it, and a CFA that is wrong is another mistake.
    let other = format!("{go}\t.ident \"GCC: (GNU) 12.2.0\"\n");
    assert_eq!(of("32", &other), [count(rule, None, 1)]);
    assert!(of("40", go).iter().any(|(_, known, _)| known.is_none()));
}

/// On AArch64, Go stores FP below SP (`llvm-objdump -d` of a program of Go 1.19), where nothing protects it. Without the instruction that
/// overwrites FP, the CFI is right.
#[test]
fn frame_pointers_that_go_stores_below_sp_are_of_the_trait() {
    let Some(gnu) = tools::toolchain("2.44") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let of = |overwrites: &str| {
        let text = format!(
            "\t.file \"a.go\"\n\t.cfi_sections .debug_frame\n\t.text\n\t.globl f\n\t.type f,%function\nf:\n\t.cfi_startproc\n\
             \tstr x30, [sp, #-32]!\n\t.cfi_def_cfa_offset 32\n\t.cfi_offset 30, -32\n\tstur x29, [sp, #-8]\n\
             {overwrites}\tbl h\n\tldr x30, [sp], #32\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore 30\n\tb h\n\t.cfi_endproc\n\t.size f,.-f\n\
             \t.section .gopclntab,\"a\"\n\t.byte 0\n\t.section .note.go.buildid,\"a\",%note\n\t.byte 0\n"
        );
        counts(&[], &assembled(folder.path(), &gnu.join("aarch64-linux-gnu-as"), &[], &text))
    };
    assert_eq!(of(""), []);
    let known = Some("frame-pointer-not-described");
    assert_eq!(of("\tsub x29, sp, #8\n"), [count("cfi-contradicts-code", known, 1)]);
}
