//! Functions that nothing names are found where a direct call or a pointer leads to them.
//!
//! The truth is CFI, which the machine code is not shown: where its FDEs start. What leads to a start is read from the output of
//! `llvm-objdump` and `llvm-readelf`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Program;
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind, SHT_PROGBITS};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::elf::claims;

/// Programs of this system and of others: neither tiny nor huge.
fn programs() -> Vec<PathBuf> {
    let is_program = |path: &Path| {
        let size = path.metadata().map_or(0, |it| it.len());
        (60_000..3_000_000).contains(&size)
    };
    let mut paths = sframe_corpus::files(Path::new("/usr/bin"));
    paths.retain(|path| is_program(path));
    paths.truncate(sframe_corpus::tries(20, 200));
    let more = sframe_corpus::files_of_roots().into_iter().filter(|path| {
        let folder = path.parent().and_then(Path::file_name);
        folder.is_some_and(|it| it == "bin" || it == "sbin") && is_program(path)
    });
    paths.extend(more);
    paths
}

/// The output of a tool.
fn printed(tools: &Path, tool: &str, options: &[&str], path: &Path) -> String {
    let output = Command::new(tools.join(tool)).args(options).arg(path).output().expect("it runs");
    assert!(output.status.success(), "{tool} {}", path.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// Where direct calls lead, and the addresses in relocated data.
fn led_to(tools: &Path, path: &Path) -> BTreeSet<u64> {
    let code = printed(tools, "llvm-objdump", &["-d", "--no-show-raw-insn"], path);
    let calls = code.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_call = words.next().is_some_and(|word| matches!(word, "callq" | "call" | "bl"));
        words.next().filter(|_| is_call).and_then(hexadecimal)
    });
    let relocations = printed(tools, "llvm-readelf", &["-rW"], path);
    let pointers = relocations.lines().filter(|line| line.contains("_RELATIVE"));
    let pointers = pointers.filter_map(|line| hexadecimal(line.split_whitespace().last()?));
    calls.chain(pointers).collect()
}

/// The starts of functions that the machine code alone shows.
fn found(mut file: Vec<u8>) -> BTreeSet<u64> {
    let symbols: Vec<u32> = {
        let elf = Elf::parse(&file).expect("ELF");
        let symbols = elf.sections().iter().filter(|section| section.sh_type == 2);
        symbols.map(|section| section.index).collect()
    };
    for index in symbols {
        claims::section(&mut file, index, |header| header.sh_type = SHT_PROGBITS).expect("one");
    }
    let elf = Elf::parse(&file).expect("ELF");
    let program = Program::for_few(&elf, &[], &[]).expect("a machine");
    program.functions().iter().map(|function| function.start.address).collect()
}

/// What is found in a program, compared with its CFI.
struct Compared {
    /// The number of starts of FDEs to which something leads, and how many of them are found.
    wanted: usize,
    found: usize,
    /// What else is found in code that CFI describes.
    others: Vec<u64>,
}

/// Compares what is found in a program, if there is CFI and a machine of which code is examined.
fn compare(tools: &Path, path: &Path) -> Option<(Abi, Compared)> {
    let file = std::fs::read(path).ok()?;
    let elf = Elf::parse(&file).ok()?;
    let abi = elf.abi().filter(|abi| *abi != Abi::S390x)?;
    if !matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared) {
        return None;
    }
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let is_own = |address: &u64| {
        let section = elf.code_section_at(CodeAddress::absolute(*address));
        section.is_some_and(|section| section.name.bytes() == b".text")
    };
    let functions = cfi.iter().flat_map(Cfi::functions).filter(|it| it.size() > 0);
    let starts: BTreeSet<u64> = functions.map(|it| it.start().address).filter(is_own).collect();
    let wanted: BTreeSet<u64> = led_to(tools, path).intersection(&starts).copied().collect();
    let found = found(file.clone());
    // Assembly without CFI, such as that of the C library and of Zstandard, has functions that CFI does not know. In glibc's
    // `_dl_tlsdesc_undefweak`, CFI starts before the filling that aligns the function.
    let is_described = |address: &u64| {
        let function = cfi.iter().find_map(|cfi| cfi.find(CodeAddress::absolute(*address)));
        let start = function.map(|function| function.start().address);
        start.is_some_and(|start| start.next_multiple_of(16) != *address)
    };
    let others = found.difference(&starts).filter(|it| is_own(it) && is_described(it)).copied();
    let others = others.collect();
    Some((
        abi,
        Compared { wanted: wanted.len(), found: wanted.intersection(&found).count(), others },
    ))
}

#[test]
fn functions_of_programs_are_found() {
    let Some(tools) = sframe_corpus::tools::toolchain("llvm-23") else { return };
    let mut sums: HashMap<Abi, [usize; 3]> = HashMap::new();
    for path in programs() {
        let Some((abi, compared)) = compare(&tools, &path) else { continue };
        let others = compared.others;
        assert!(others.is_empty(), "{}: no functions at {others:x?}", path.display());
        let sums = sums.entry(abi).or_default();
        for (sum, count) in sums.iter_mut().zip([1, compared.wanted, compared.found]) {
            *sum += count;
        }
    }
    for (abi, [programs, wanted, found]) in sums {
        println!("{abi:?}: {found} of {wanted} functions in {programs} programs");
        assert!(programs >= 10 && found * 100 >= wanted * 95);
    }
}

/// Assembles and links a program, and compares the functions that are found in it, without its symbols, with those symbols
/// whose names start with `f_`.
fn assembled(machine: &str, source: &str, links: &[&[&str]]) {
    let Some(tools) = sframe_corpus::tools::toolchain("2.47.50") else { return };
    let folder = sframe_corpus::folder!(format!("unnamed-{machine}"));
    let tool = |name: &str| tools.join(format!("{machine}{name}"));
    sframe_corpus::tools::assemble(&tool("as"), &[], &folder, source).expect("an object");
    for options in links {
        let mut linker = Command::new(tool("ld"));
        linker.args(*options).args(["-o", "program", "f.o"]).current_dir(&folder);
        assert!(linker.status().expect("ld runs").success());
        let names = printed(&tools, &format!("{machine}nm"), &[], &folder.join("program"));
        let functions = names.lines().filter_map(|line| {
            let (address, rest) = line.split_once(' ')?;
            rest.contains(" f_").then(|| hexadecimal(address))?
        });
        let expected: BTreeSet<u64> = functions.collect();
        let stripped = Command::new(tool("strip")).arg(folder.join("program")).status();
        assert!(stripped.expect("strip runs").success());
        let file = std::fs::read(folder.join("program")).expect("a program");
        assert_eq!(found(file), expected, "{machine} {options:?}");
    }
}

/// A function to which a call leads, one whose address is in code, one whose address is in data, one that follows a call that
/// does not return; and labels whose addresses are in a table in data, in code, and beside an instruction that reads the table.
#[test]
fn labels_are_no_functions() {
    let links = [&["-pie", "--no-dynamic-linker"][..], &["-no-pie"]];
    assembled("", AMD64, &links);
    assembled("aarch64-linux-gnu-", AARCH64, &links);
}

/// Labels whose addresses are beside other data, as GCC's labels as values often are; and those in a table at a fixed address, all
/// of which are aligned as functions are.
#[test]
fn labels_as_values_are_no_functions() {
    let links = [&["-pie", "--no-dynamic-linker"][..], &["-no-pie"]];
    assembled("", AMD64_VALUES, &links);
    assembled("aarch64-linux-gnu-", AARCH64_VALUES, &links);
    assembled("", AMD64_TABLE, &links[1..]);
}

const AMD64: &str = "
	.text
	.globl _start
_start:
f_start: call f_called
	lea f_addressed(%rip), %rax
	call *%rax
	lea table(%rip), %rdx
	mov (%rdx,%rdi,8), %rax
	jmp *%rax
l_first: inc %eax
	jmp l_third
	.p2align 4
l_second: dec %eax
l_third: ret
	.p2align 4
f_called: ret
	.p2align 4
f_addressed: call *pointer(%rip)
	ret
	.p2align 4
f_pointed: call f_never
	.p2align 4
f_after: mov $60, %eax
	ret
f_never: ud2
	.data
	.balign 8
pointer: .quad f_pointed
	.quad 0
	.quad f_after
	.quad 0
table: .quad l_first, l_second, l_third
";

const AARCH64: &str = "
	.text
	.globl _start
_start:
f_start: bl f_called
	adrp x0, f_addressed
	add x0, x0, :lo12:f_addressed
	blr x0
	adr x1, l_first
	add x0, x1, w3, sxtb #2
	br x0
l_first: add x0, x0, #1
	b l_third
	.p2align 4
l_second: sub x0, x0, #1
l_third: ret
	.p2align 4
f_called: ret
	.p2align 4
f_addressed: adrp x2, pointer
	ldr x2, [x2, :lo12:pointer]
	stp x29, x30, [sp, #-16]!
	blr x2
	ldp x29, x30, [sp], #16
	ret
	.p2align 4
f_pointed: bl f_never
	.p2align 4
f_after: mov x8, #93
	ret
f_never: brk #1
	.data
	.balign 8
pointer: .quad f_pointed
	.quad 0
	.quad f_after
	.quad 0
table: .quad l_first, l_second, l_third
";

const AMD64_VALUES: &str = "
	.text
	.globl _start
_start:
f_start: call f_values
	lea f_last(%rip), %rax
	call *%rax
	ret
	.p2align 4
f_values: push %rbx
	lea values(%rip), %rbx
	jmp *8(%rbx,%rdi)
l_joined: pop %rbx
	ret
	.p2align 4
l_back: inc %eax
	jmp l_joined
	.p2align 4
l_to_label: jmp l_back
	.p2align 4
l_forward: jmp l_more
	.p2align 4
l_unknown: dec %eax
l_more: dec %eax
	jmp l_joined
	.p2align 4
f_last: ret
	.data
	.balign 8
values: .quad 1, l_back, 2, l_to_label, 3, l_forward, 4, l_unknown
";

const AARCH64_VALUES: &str = "
	.text
	.globl _start
_start:
f_start: bl f_values
	adrp x0, f_last
	add x0, x0, :lo12:f_last
	blr x0
	ret
	.p2align 4
f_values: str x19, [sp, #-16]!
	adrp x19, values
	add x19, x19, :lo12:values
	ldr x19, [x19, x0]
	br x19
l_joined: ldr x19, [sp], #16
	ret
	.p2align 4
l_back: add x0, x0, #1
	b l_joined
	.p2align 4
l_to_label: b l_back
	.p2align 4
l_forward: b l_more
	.p2align 4
l_unknown: sub x0, x0, #1
l_more: sub x0, x0, #1
	b l_joined
	.p2align 4
f_last: ret
	.data
	.balign 8
values: .quad 1, l_back, 2, l_to_label, 3, l_forward, 4, l_unknown
";

const AMD64_TABLE: &str = "
	.text
	.globl _start
_start:
f_start: call f_switch
	ret
	.p2align 4
f_switch: sub $8, %rsp
	jmp *table(,%rdi,8)
	.p2align 4
l_first: add $8, %rsp
	ret
	.p2align 4
l_second: dec %eax
	add $8, %rsp
	ret
	.data
	.balign 8
table: .quad l_first, l_second
";
