//! Programs and libraries with a section that was added: they break no rule, agree with their CFI, are read by GNU
//! objdump, and still run.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::compare;
use sframe_synthesis::{
    CannotInsert, Encoding, Insertion, Release, Synthesis, add_segment, synthesize,
};
use sframe_validator::check::Checker;
use sframe_validator::elf::{Elf, ElfKind, PF_R, PT_LOAD, Segment};
use sframe_validator::write::elf::ElfWriter;
use sframe_validator::{Abi, Section, Version};

const ENCODINGS: [Encoding; 4] = [
    Encoding::Smallest(Version::V2),
    Encoding::Smallest(Version::V3),
    Encoding::Gnu(Release::V2_44),
    Encoding::Gnu(Release::V2_47_50),
];

/// Rules about values that the CFI of C libraries breaks. A lossless section has the same values.
const VALUES: [&str; 3] = ["cfa-offset-low", "slot-outside-frame", "flex-sp-loaded"];

/// Adds a section made from the file's CFI.
fn add(data: &[u8], encoding: Encoding) -> (Vec<u8>, Synthesis) {
    let elf = Elf::parse(data).expect("ELF");
    let insertion = Insertion::new(&elf).expect("a place");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let made = synthesize(&elf, &cfi, encoding, insertion.place()).expect("a section");
    (insertion.file(&made.written).expect("a file"), made)
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("readable")
}

/// Checks a file with an added section.
fn check(name: &str, before: &[u8], after: &[u8], made: &Synthesis, is_lossless: bool) {
    let (old, new) = (Elf::parse(before).expect("ELF"), Elf::parse(after).expect("ELF"));
    let report = Checker::default().elf(&new);
    if is_lossless {
        let broken = report.counts.iter().filter(|(_, count)| *count > 0);
        let broken = broken.filter(|(rule, _)| !VALUES.contains(&rule.name));
        let broken: Vec<_> = broken.map(|(rule, _)| rule.name).collect();
        assert_eq!(broken, Vec::<&str>::new(), "{name}");
    }
    let own: Vec<_> = new.sframe_contents().collect();
    assert_eq!(own.len(), 1, "{name}");
    assert_eq!(own[0].data.as_ref().expect("readable"), &made.written.bytes, "{name}");
    let placement = own[0].placement().expect("linked");
    let section = Section::parse(own[0].data.as_ref().expect("readable"), placement);
    let section = section.expect("sound");
    let cfi = Cfi::load_all(&new).expect("CFI");
    let sums = compare(&new, std::slice::from_ref(&section), &cfi, |_| ());
    if is_lossless {
        assert_eq!((sums.bytes.different, sums.bytes.only_sframe), (0, 0), "{name}");
    }
    assert!(sums.bytes.equal > 0, "{name}");
    // What the file had is where it was.
    for (old, new) in old.sections().iter().zip(new.sections()) {
        let is_moved = old.name.bytes() == b".shstrtab";
        assert_eq!((old.name, old.address), (new.name, new.address), "{name}");
        assert!(is_moved || (old.offset, old.size) == (new.offset, new.size), "{name}");
    }
    for segment in old.segments().iter().filter(|segment| segment.p_type == PT_LOAD) {
        assert!(new.segments().contains(segment), "{name}");
    }
    assert_eq!(after[64..before.len()], before[64..], "{name}");
}

/// GNU objdump of the release finds as many functions, and says nothing else.
fn read_by_objdump(name: &str, path: &Path, encoding: Encoding, abi: Abi, functions: usize) {
    let release = if encoding == Encoding::Gnu(Release::V2_44) { "2.44" } else { "2.47.50" };
    let Some(binutils) = tools::toolchain(release) else { return };
    let prefix = match abi {
        Abi::Amd64 => "",
        Abi::S390x => "s390x-linux-gnu-",
        Abi::Aarch64Big | Abi::Aarch64Little => "aarch64-linux-gnu-",
    };
    let mut objdump = Command::new(binutils.join(format!("{prefix}objdump")));
    let output = objdump.arg("--sframe").arg(path).output().expect("objdump runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("func idx [").count(), functions, "{name}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
}

/// Libraries of three machines, and static and dynamic programs.
#[test]
fn libraries_keep_the_rules() {
    let libraries = [
        "2.44/usr/lib/x86_64-linux-gnu/libc.so.6",
        "gcc-12/usr/aarch64-linux-gnu/lib/libc.so.6",
        "gcc-12/usr/s390x-linux-gnu/lib/libc.so.6",
    ];
    let folder = sframe_corpus::folder!("inserted-libraries");
    let mut seen = 0;
    for library in libraries {
        let (toolchain, _) = library.split_once('/').expect("a folder");
        if tools::toolchain(toolchain).is_none() {
            continue;
        }
        let path = tools::toolchains().join(library);
        let data = read(&path);
        for encoding in ENCODINGS {
            let abi = Elf::parse(&data).expect("ELF").abi().expect("known");
            if !encoding.supports(abi) {
                continue;
            }
            let (file, made) = add(&data, encoding);
            let name = format!("{library} {encoding:?}");
            let is_lossless = matches!(encoding, Encoding::Smallest(_));
            println!(
                "{name}: {} bytes, the file grows by {}",
                made.written.bytes.len(),
                file.len() - data.len()
            );
            check(&name, &data, &file, &made, is_lossless);
            std::fs::write(folder.join("library.so"), &file).expect("written");
            read_by_objdump(&name, &folder.join("library.so"), encoding, abi, made.functions.len());
            seen += 1;
        }
    }
    assert!(seen > 0 || !tools::are_required());
}

const LIBRARY: &str = r#"
int twice(int (*f)(int), int n) { return f(f(n)); }
"#;
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <dlfcn.h>
int twice(int (*f)(int), int n);
static char zeros[300000];
static int add(int n) { return n + 1 + zeros[n]; }
int main(void) {
    char *heap = malloc(100000);
    for (int i = 0; i < 100000; i++) heap[i] = 1;
    printf("%d %d\n", twice(add, 40), heap[99999] + zeros[299999]);
    free(heap);
    return 0;
}
"#;

/// Compiles a program in several ways, adds sections to it and to its library, and runs it.
#[test]
fn programs_still_run() {
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = sframe_corpus::folder!("inserted");
    std::fs::write(folder.join("library.c"), LIBRARY).expect("written");
    std::fs::write(folder.join("program.c"), PROGRAM).expect("written");
    let compile = "gcc -O2 -fPIC -shared -o plain.so library.c";
    assert!(tools::run(&folder, "gcc", compile));
    let library = read(&folder.join("plain.so"));
    let flags = [
        "-pie -fPIE ./lib.so",
        "-no-pie ./lib.so",
        "-static -no-pie library.c",
        "-static-pie -fPIE library.c",
        "-pie -fPIE -Wl,-z,noseparate-code -Wl,-z,norelro -g ./lib.so",
    ];
    for flags in flags {
        std::fs::write(folder.join("lib.so"), &library).expect("written");
        assert!(tools::run(&folder, "gcc", &format!("gcc -O2 program.c {flags} -o plain")));
        let program = read(&folder.join("plain"));
        for encoding in ENCODINGS {
            let (lib, made) = add(&library, encoding);
            check("library", &library, &lib, &made, matches!(encoding, Encoding::Smallest(_)));
            std::fs::write(folder.join("lib.so"), &lib).expect("written");
            let (file, made) = add(&program, encoding);
            check(flags, &program, &file, &made, matches!(encoding, Encoding::Smallest(_)));
            write_program(&folder.join("added"), &file);
            let command = "./added > out; grep -qx '42 1' out";
            assert!(tools::run(&folder, "gcc", command), "{flags}");
        }
    }
}

fn write_program(path: &Path, file: &[u8]) {
    std::fs::write(path, file).expect("written");
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).expect("changed");
}

/// Static programs of other machines, which qemu runs.
#[test]
fn programs_of_other_machines_still_run() {
    let Some(compilers) = tools::toolchain("gcc-12") else { return };
    let folder = sframe_corpus::folder!("inserted-machines");
    std::fs::write(folder.join("library.c"), LIBRARY).expect("written");
    std::fs::write(folder.join("program.c"), PROGRAM).expect("written");
    for machine in ["aarch64", "s390x"] {
        let compiler = compilers.join(format!("{machine}-linux-gnu-gcc-12"));
        let compile = format!("{} -O2 -static -o plain program.c library.c", compiler.display());
        if !tools::run(&folder, &format!("qemu-{machine}"), &compile) {
            return;
        }
        let program = read(&folder.join("plain"));
        let (file, made) = add(&program, Encoding::Smallest(Version::V3));
        check(machine, &program, &file, &made, true);
        write_program(&folder.join("added"), &file);
        let command = format!("qemu-{machine} ./added > out; grep -qx '42 1' out");
        assert!(tools::run(&folder, "sh", &command), "{machine}");
    }
}

/// Files for which there is no place.
#[test]
fn refusals_have_a_reason() {
    let refusal = |file: &[u8]| Insertion::new(&Elf::parse(file).expect("ELF")).err();
    let golden = sframe_corpus::read("golden/2.47.50/x86_64/plt.so");
    assert_eq!(refusal(&golden), Some(CannotInsert::HasSframe));
    let other = ElfWriter::new(Abi::Amd64, ElfKind::Core).finish().expect("small");
    assert_eq!(refusal(&other), Some(CannotInsert::Kind));
    let empty = ElfWriter::new(Abi::Amd64, ElfKind::Shared).finish().expect("small");
    assert_eq!(refusal(&empty), Some(CannotInsert::NoSegment));
    // `readelf -lW` of the program: the second program header is PT_LOAD. Its physical address is 24 bytes later,
    // and in pages from the second byte on.
    let mut kernel = sframe_corpus::read("golden/lld/x86_64/v3-static.exe");
    kernel[64 + 56 + 24 + 1] = 0x80;
    assert_eq!(add_segment(&Elf::parse(&kernel).expect("ELF")), Err(CannotInsert::Physical));
    let with = |address, memory_size| {
        let mut file = ElfWriter::new(Abi::S390x, ElfKind::Shared);
        let segment = Segment {
            p_type: PT_LOAD,
            flags: PF_R,
            offset: 0,
            address,
            file_size: 64,
            memory_size,
        };
        file.segment(segment);
        file.finish().expect("small")
    };
    assert_eq!(refusal(&with(u64::MAX - 0x2000, 0x1000)), Some(CannotInsert::NoAddress));
    assert_eq!(refusal(&with(0x1000, u64::MAX)), Some(CannotInsert::NoAddress));
    assert!(matches!(refusal(&with(0, 0x1000_0000)), Some(CannotInsert::TooSparse(_))));
    assert_eq!(refusal(&with(0, 0x1_0000)), None);
}
