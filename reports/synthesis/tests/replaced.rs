//! Sections that replace those of programs and libraries. What is expected of the new section is what its maker has made, and of
//! the file that nothing else in it has changed.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;
use std::process::Command;

use sframe_corpus::{golden, tools};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::compare;
use sframe_synthesis::{CannotInsert, Encoding, Insertion, synthesize};
use sframe_validator::elf::{Elf, ElfKind, PT_GNU_SFRAME, PT_LOAD};
use sframe_validator::{Section, Version};

/// The file with a new section, and the section.
fn replaced(data: &[u8], version: Version) -> Result<(Vec<u8>, Vec<u8>), CannotInsert> {
    let elf = Elf::parse(data).expect("ELF");
    let insertion = Insertion::replacing(&elf)?;
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let encoding = Encoding::Smallest(version);
    let made = synthesize(&elf, &cfi, encoding, insertion.place()).expect("a section");
    Ok((insertion.file(&made.written)?, made.written.bytes))
}

fn check(name: &str, before: &[u8], after: &[u8], made: &[u8]) {
    let (old, new) = (Elf::parse(before).expect("ELF"), Elf::parse(after).expect("ELF"));
    let own: Vec<_> = new.sframe_contents().collect();
    assert_eq!(own.len(), 1, "{name}");
    assert_eq!(own[0].data.as_ref().expect("readable"), &made, "{name}");
    let section = Section::parse(made, own[0].placement().expect("linked")).expect("sound");
    let cfi = Cfi::load_all(&new).expect("CFI");
    let sums = compare(&new, &[section], &cfi, |_| ());
    assert_eq!((sums.bytes.different, sums.bytes.only_sframe), (0, 0), "{name}");
    let of_kind = |elf: &Elf<'_>, kind| {
        elf.segments().iter().filter(|segment| segment.p_type == kind).count()
    };
    assert_eq!(of_kind(&new, PT_GNU_SFRAME), 1, "{name}");
    assert_eq!(of_kind(&new, PT_LOAD), of_kind(&old, PT_LOAD) + 1, "{name}");
    // The section keeps its index and name, and everything else its place. One section is new: the note.
    assert_eq!(new.sections().len(), old.sections().len() + 1, "{name}");
    for (old, new) in old.sections().iter().zip(new.sections()) {
        assert_eq!(old.name, new.name, "{name}");
        if ![&b".sframe"[..], b".shstrtab"].contains(&old.name.bytes()) {
            assert_eq!((old.address, old.offset, old.size), (new.address, new.offset, new.size));
            assert_eq!((old.sh_type, old.flags), (new.sh_type, new.flags), "{name}");
        }
    }
    assert_eq!(after[64..before.len()], before[64..], "{name}");
}

#[test]
fn golden_files_get_a_section_in_the_stead_of_theirs() {
    let mut files = 0;
    for path in golden(&["so", "exe"]) {
        let data = std::fs::read(&path).expect("readable");
        let Ok(elf) = Elf::parse(&data) else { continue };
        let described = Cfi::load_all(&elf).is_ok_and(|cfi| cfi.iter().any(|cfi| !cfi.is_empty()));
        if elf.sframe_sections().count() != 1 || !described || elf.kind() == ElfKind::Relocatable {
            continue;
        }
        let name = path.display().to_string();
        let (file, made) = match replaced(&data, Version::V3) {
            Ok(made) => made,
            Err(error) => panic!("{name}: {error}"),
        };
        check(&name, &data, &file, &made);
        files += 1;
    }
    assert!(files > 50, "{files}");
}

#[test]
fn refusals_have_a_reason() {
    let of = |name: &str| replaced(&sframe_corpus::read(name), Version::V3).err();
    assert_eq!(of("golden/2.47.50/x86_64/cfi.o"), Some(CannotInsert::Object));
    assert_eq!(
        of("malformed/section-duplicate/section-duplicate.elf"),
        Some(CannotInsert::SeveralSections)
    );
    assert_eq!(
        of("malformed/segment-duplicate/segment-duplicate.elf"),
        Some(CannotInsert::SeveralSections)
    );
}

/// `--emit-relocs` keeps relocations of `.sframe`, which do not apply to the new section.
#[test]
fn relocations_of_the_old_section_are_dropped() {
    let Some(toolchain) = tools::toolchain("2.47.50") else { return };
    let folder = sframe_corpus::folder!("replaced");
    let source = ".globl f\n.type f,@function\nf: .cfi_startproc\nret\n.cfi_endproc\n.size f,.-f\n";
    std::fs::write(folder.join("f.s"), source).expect("writable");
    let run = |command: &mut Command| {
        let output = command.current_dir(&folder).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    run(Command::new(toolchain.join("as")).args(["--gsframe", "-o", "f.o", "f.s"]));
    run(Command::new(toolchain.join("ld")).args(["-shared", "--emit-relocs", "-o", "f.so", "f.o"]));
    let data = std::fs::read(folder.join("f.so")).expect("readable");
    let (file, made) = replaced(&data, Version::V3).expect("a file");
    std::fs::write(folder.join("new.so"), &file).expect("writable");
    let relocations = |name: &str| {
        let text = run(Command::new(toolchain.join("readelf")).args(["-rW", name]));
        text.lines().filter(|line| line.contains(".rela.sframe")).count()
    };
    assert_eq!((relocations("f.so"), relocations("new.so")), (1, 0));
    let elf = Elf::parse(&file).expect("ELF");
    let own: Vec<_> = elf.sframe_contents().collect();
    assert_eq!(own[0].data.as_ref().expect("readable"), &made);
    let name = |path: &Path| path.display().to_string();
    let printed = run(Command::new(toolchain.join("objdump")).args(["--sframe=.sframe", "new.so"]));
    assert!(printed.contains("size = 1 bytes"), "{}: {printed}", name(&folder));
}
