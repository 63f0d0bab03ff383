//! Sections for objects in whose code all symbols are global. The truth is what GNU readelf prints about the relocations before and
//! after, and the linked program's exit status.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;
use std::process::Command;

use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Insertion, synthesize_code};
use sframe_validator::Version;
use sframe_validator::elf::Elf;

/// Global symbols of functions in three sections, one of them in a group; relocations in code and in data, and a local symbol of
/// data.
const AMD64: &str = r#"
	.text
	.globl _start, first, second, third, table
	.type first, @function
first:	push %rbx
	call second
	pop %rbx
	ret
	.size first, .-first
	.type _start, @function
_start:	call first
	lea own(%rip), %rcx
	add (%rcx), %eax
	call *table(%rip)
	mov %eax, %edi
	mov $60, %eax
	syscall
	.size _start, .-_start
	.section .text.second,"ax",@progbits
	.type second, @function
second:	mov $20, %eax
	ret
	.size second, .-second
	.section .text.third,"axG",@progbits,third,comdat
	.weak third
	.type third, @function
third:	add $2, %eax
	ret
	.size third, .-third
	.section .data.rel.ro,"aw"
own:	.quad 20
table:	.quad third
"#;

/// Code of that shape for AArch64.
const AARCH64: &str = r#"
	.text
	.globl _start, first, second, third, table
	.type first, %function
first:	stp x29, x30, [sp, #-16]!
	bl second
	ldp x29, x30, [sp], #16
	ret
	.size first, .-first
	.type _start, %function
_start:	bl first
	adrp x1, own
	ldr x2, [x1, :lo12:own]
	add x0, x0, x2
	adrp x1, table
	ldr x2, [x1, :lo12:table]
	blr x2
	mov x8, #93
	svc #0
	.size _start, .-_start
	.section .text.second,"ax",%progbits
	.type second, %function
second:	mov x0, #20
	ret
	.size second, .-second
	.section .text.third,"axG",%progbits,third,comdat
	.weak third
	.type third, %function
third:	add x0, x0, #2
	ret
	.size third, .-third
	.section .data.rel.ro,"aw"
own:	.quad 20
table:	.quad third
"#;

/// Runs a tool, and returns what it prints.
fn printed(tool: &Path, arguments: &[&str], folder: &Path) -> String {
    let output = Command::new(tool).args(arguments).current_dir(folder).output().expect("it runs");
    assert!(output.status.success(), "{} {arguments:?}: {output:?}", tool.display());
    String::from_utf8(output.stdout).expect("text")
}

/// The relocations, as place, type and target, and the groups.
fn described(readelf: &Path, file: &str, folder: &Path) -> Vec<String> {
    let relocations = printed(readelf, &["-rW", file], folder);
    let sections = relocations.split("Relocation section ").filter(|it| !it.contains(".sframe'"));
    let lines = sections.flat_map(str::lines).filter(|line| line.contains(" R_"));
    // The second column has the number of the symbol.
    let relocation = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        format!("{} {}", words[0], words[2..].join(" "))
    };
    let groups = printed(readelf, &["-gW", file], folder);
    let groups = groups.lines().filter(|line| line.contains("section group")).map(str::to_owned);
    lines.map(relocation).chain(groups).collect()
}

fn added(prefix: &str, source: &str, run: &[&str]) {
    let Some(bin) = tools::toolchain("2.47.50") else { return };
    let folder = sframe_corpus::folder!(format!("global-{prefix}"));
    let tool = |name: &str| bin.join(format!("{prefix}{name}"));
    tools::assemble(&tool("as"), &[], &folder, source).expect("an object");
    // GNU as writes symbols for sections, which strip removes where no relocation needs them.
    printed(&tool("strip"), &["--strip-unneeded", "f.o"], &folder);
    let file = std::fs::read(folder.join("f.o")).expect("an object");
    let elf = Elf::parse(&file).expect("ELF");
    for version in [Version::V2, Version::V3] {
        let insertion = Insertion::new(&elf).expect("a place");
        let cfi = Cfi::load_all(&elf).expect("CFI");
        let made = synthesize_code(&elf, &cfi, version, insertion.place()).expect("a section");
        assert!(made.synthesis.functions.len() >= 4, "{:?}", made.synthesis.functions);
        let with = insertion.file(&made.synthesis.written).expect("a file");
        std::fs::write(folder.join("with.o"), with).expect("written");
        let readelf = tool("readelf");
        let before = described(&readelf, "f.o", &folder);
        assert!(before.len() >= 5, "{before:?}");
        assert_eq!(described(&readelf, "with.o", &folder), before, "{version:?}");
        let own = printed(&readelf, &["-rW", "with.o"], &folder);
        let own = own.split("Relocation section ").find(|it| it.contains(".sframe'"));
        let own = own.expect("relocations").to_owned();
        for section in [".text", ".text.second", ".text.third"] {
            // On AArch64, a local symbol marks the start of instructions.
            let symbol = if prefix.is_empty() { section } else { "$x" };
            assert!(own.contains(&format!(" {symbol} + ")), "{own}");
        }
        printed(&tool("ld"), &["with.o", "-o", "program"], &folder);
        let program = folder.join("program");
        let mut command = Command::new(run.first().map_or(program.as_os_str(), |it| it.as_ref()));
        let command = if run.is_empty() { &mut command } else { command.arg(&program) };
        assert_eq!(command.status().expect("it runs").code(), Some(42), "{prefix} {version:?}");
    }
}

#[test]
fn sections_get_symbols() {
    added("", AMD64, &[]);
    if tools::is_installed("qemu-aarch64") {
        added("aarch64-linux-gnu-", AARCH64, &["qemu-aarch64"]);
    }
}
