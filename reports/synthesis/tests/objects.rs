//! Sections for objects, as assembler source and added to the object. GNU as and llvm-mc make the same section from the
//! source, and what is linked from either has a sound section that agrees with its CFI.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;

use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::compare;
use sframe_synthesis::{Encoding, Insertion, Place, Release, Synthesis, assembly, synthesize};
use sframe_validator::check::Checker;
use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Section, Version};

/// One function has a row for its frame, one is in another section, and one has no symbol. A name needs quotes.
const SOURCE: &str = r#"
	.text
	.globl first
	.type first,@function
first:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
	pop %rbp
	.cfi_def_cfa 7, 8
	.cfi_restore 6
	ret
	.cfi_endproc
	.size first, . - first
	.cfi_startproc
	sub $0x2000, %rsp
	.cfi_def_cfa_offset 0x2008
	add $0x2000, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.section .text.other,"ax",@progbits
	.type "an odd+name",@function
"an odd+name":
	nop
	.size "an odd+name", . - "an odd+name"
	.type second,@function
second:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size second, . - second
"#;

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("readable")
}

/// Makes a section from the CFI of an object, and the object's source with that section.
fn source(folder: &Path, encoding: Encoding) -> Synthesis {
    let data = read(&folder.join("plain.o"));
    let elf = Elf::parse(&data).expect("ELF");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let symbols = SymbolTable::load(&elf).expect("symbols");
    let made = synthesize(&elf, &cfi, encoding, Place::Relocatable).expect("a section");
    let text = assembly(&elf, &symbols, &made.written).expect("source");
    std::fs::write(folder.join("both.s"), format!("{SOURCE}{text}")).expect("written");
    made
}

/// Checks that the file has the section that was made.
fn check(name: &str, path: &Path, made: &Synthesis) {
    let data = read(path);
    let elf = Elf::parse(&data).expect("ELF");
    let contents: Vec<_> = elf.sframe_contents().collect();
    let bytes = contents[0].data.as_ref().expect("readable");
    assert_eq!(*bytes, &made.written.bytes, "{name}");
    let section = Section::parse(bytes, contents[0].placement().expect("relocations"));
    let starts = section.as_ref().expect("sound").functions();
    let starts = starts.map(|function| function.expect("readable").start().expect("a start"));
    let name_of = |place: CodeAddress| {
        let section = elf.code_section_at(place).expect("code");
        (section.name.to_string(), place.address)
    };
    // Where the source above has them.
    let expected = [(".text", 0), (".text", 6), (".text.other", 1)];
    let expected = expected.map(|(section, offset)| (section.to_owned(), offset));
    assert_eq!(starts.map(name_of).collect::<Vec<_>>(), expected, "{name}");
}

/// Checks a program that was linked from the object: no rule is broken, and the section agrees with CFI.
fn check_linked(name: &str, path: &Path, functions: usize) {
    let data = read(path);
    let elf = Elf::parse(&data).expect("ELF");
    let report = Checker::default().elf(&elf);
    let broken: Vec<_> = report.counts.iter().filter(|(_, count)| *count > 0).collect();
    assert!(broken.is_empty(), "{name}: {:?}", broken.iter().map(|b| b.0.name).collect::<Vec<_>>());
    let contents: Vec<_> = elf.sframe_contents().collect();
    let placement = contents[0].placement().expect("linked");
    let section = Section::parse(contents[0].data.as_ref().expect("readable"), placement);
    let section = section.expect("sound");
    assert_eq!(section.functions().count(), functions, "{name}");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let sums = compare(&elf, std::slice::from_ref(&section), &cfi, |_| ());
    assert_eq!(
        (sums.bytes.different, sums.bytes.only_cfi, sums.bytes.only_sframe),
        (0, 0, 0),
        "{name}"
    );
    assert!(sums.bytes.equal > 0, "{name}");
}

#[test]
fn assemblers_make_the_same_section() {
    let folder = sframe_corpus::folder!("assembly");
    let [Some(gnu), Some(llvm), Some(early)] = ["2.47.50", "llvm-23", "2.44"].map(tools::toolchain)
    else {
        return;
    };
    std::fs::write(folder.join("plain.s"), SOURCE).expect("written");
    let assemble = format!("{}/as -o plain.o plain.s", gnu.display());
    assert!(tools::run(&folder, "sh", &assemble));
    let object = folder.join("both.o");
    let encodings = [
        (Encoding::Smallest(Version::V3), &gnu, true),
        (Encoding::Gnu(Release::V2_47_50), &gnu, true),
        // No ld of the toolchains accepts version 2 with starts that count from their fields.
        (Encoding::Smallest(Version::V2), &early, false),
        (Encoding::Gnu(Release::V2_44), &early, true),
    ];
    for (encoding, binutils, is_linked) in encodings {
        let made = source(&folder, encoding);
        assert_eq!(made.functions.len(), 3, "{encoding:?}");
        let gnu = format!("{}/as -o both.o both.s", binutils.display());
        let llvm = format!("{}/llvm-mc -filetype=obj -o both.o both.s", llvm.display());
        for assembler in [gnu, llvm] {
            let name = format!("{encoding:?} {assembler}");
            assert!(tools::run(&folder, "sh", &assembler), "{name}");
            check(&name, &object, &made);
            if !is_linked {
                continue;
            }
            let link = format!("{}/ld -shared -o both.so both.o", binutils.display());
            assert!(tools::run(&folder, "sh", &link), "{name}");
            check_linked(&name, &folder.join("both.so"), 3);
        }
    }
}

#[test]
fn objects_get_the_same_section() {
    let folder = sframe_corpus::folder!("objects");
    let (Some(gnu), Some(early)) = (tools::toolchain("2.47.50"), tools::toolchain("2.44")) else {
        return;
    };
    std::fs::write(folder.join("plain.s"), SOURCE).expect("written");
    for (encoding, binutils, is_linked) in [
        (Encoding::Smallest(Version::V3), &gnu, true),
        (Encoding::Gnu(Release::V2_47_50), &gnu, true),
        (Encoding::Smallest(Version::V2), &gnu, false),
        (Encoding::Gnu(Release::V2_44), &early, true),
    ] {
        let assemble = format!("{}/as -o plain.o plain.s", binutils.display());
        assert!(tools::run(&folder, "sh", &assemble));
        let data = read(&folder.join("plain.o"));
        let elf = Elf::parse(&data).expect("ELF");
        let insertion = Insertion::new(&elf).expect("a place");
        let cfi = Cfi::load_all(&elf).expect("CFI");
        let made = synthesize(&elf, &cfi, encoding, insertion.place()).expect("a section");
        let file = insertion.file(&made.written).expect("a file");
        std::fs::write(folder.join("both.o"), &file).expect("written");
        let name = format!("{encoding:?}");
        check(&name, &folder.join("both.o"), &made);
        let report = Checker::default().elf(&Elf::parse(&file).expect("ELF"));
        let broken = report.counts.iter().filter(|(_, count)| *count > 0);
        let broken: Vec<_> = broken.map(|(rule, _)| rule.name).collect();
        assert!(broken.is_empty(), "{name}: {broken:?}");
        if is_linked {
            let link = format!("{}/ld -shared -o both.so both.o", binutils.display());
            assert!(tools::run(&folder, "sh", &link), "{name}");
            check_linked(&name, &folder.join("both.so"), 3);
        }
    }
}
