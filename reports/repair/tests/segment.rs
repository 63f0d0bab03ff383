//! Programs and libraries that lld and gold link get the program header that leads to their section, and still run. The
//! truth is the processor's, GNU readelf's and the kernel's: a program finds its own headers through AT_PHDR.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;
use std::process::Command;

use sframe_corpus::tools;
use sframe_repair::{Change, Loss, repair};
use sframe_synthesis::CannotInsert;

const LIBRARY: &str = "int twice(int (*f)(int), int n) { return f(f(n)); }";

/// It finds the section of the program itself: by the program headers whose address the kernel passes, and then by those
/// that the dynamic loader lists. The section begins with the magic number, and its header has the number of functions.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
int twice(int (*f)(int), int n);
static char zeros[300000];
static int add(int n) { return n + 1 + zeros[n]; }
static const unsigned char *found(const ElfW(Phdr) *headers, int count, ElfW(Addr) base) {
    for (int i = 0; i < count; i++)
        if (headers[i].p_type == 0x6474e554) return (const unsigned char *) base + headers[i].p_vaddr;
    return 0;
}
static int functions(const unsigned char *section) {
    unsigned short magic;
    int count;
    if (!section) return -1;
    memcpy(&magic, section, 2);
    memcpy(&count, section + 8, 4);
    return magic == 0xdee2 ? count : -2;
}
static int listed(struct dl_phdr_info *info, size_t size, void *data) {
    const unsigned char **sections = data;
    if (!info->dlpi_name[0]) sections[0] = found(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr);
    if (strstr(info->dlpi_name, "lib.so"))
        sections[1] = found(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr);
    return 0;
}
int main(void) {
    const unsigned char *sections[2] = { 0, 0 };
    const ElfW(Phdr) *own = (const ElfW(Phdr) *) getauxval(AT_PHDR);
    ElfW(Addr) base = 0;
    int count = getauxval(AT_PHNUM);
    for (int i = 0; i < count; i++) if (own[i].p_type == PT_PHDR) base = (ElfW(Addr)) own - own[i].p_vaddr;
    dl_iterate_phdr(listed, sections);
    memset(zeros + 1000, 1, sizeof zeros - 1000);
    printf("%d %d %d %d\n", twice(add, 40), functions(found(own, count, base)), functions(sections[0]),
           functions(sections[1]));
    return 0;
}
"#;

/// The number of functions that readelf finds in the section to which PT_GNU_SFRAME leads, and in no other.
fn functions(folder: &Path, readelf: &Path, file: &str) -> i32 {
    let run = |option: &str| {
        let output = Command::new(readelf).current_dir(folder).args([option, file]).output();
        String::from_utf8(output.expect("readelf runs").stdout).expect("text")
    };
    let headers = run("-lSW");
    let word = |line: &str, index: usize| {
        let word = line.split_whitespace().nth(index).expect("a word");
        u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("hex")
    };
    let segment = headers.lines().find(|line| line.trim_start().starts_with("GNU_SFRAME"));
    let segment = segment.unwrap_or_else(|| panic!("{file}: no segment"));
    let section = headers.lines().find_map(|line| line.split_once(".sframe "));
    let section = section.expect("a section").1;
    let place = [word(segment, 2), word(segment, 1), word(segment, 4), word(segment, 5)];
    let size = word(section, 3);
    assert_eq!(place, [word(section, 1), word(section, 2), size, size], "{file}");
    let text = run("--sframe");
    let count = text.lines().find_map(|line| line.trim().strip_prefix("Num FDEs: "));
    count.expect("a header").parse().expect("a number")
}

/// Compiles with `--gsframe`, links by a linker, repairs the program and its library, and runs them.
#[test]
fn linked_programs_find_their_sections() {
    let (Some(binutils), Some(llvm)) = (tools::toolchain("2.44"), tools::toolchain("llvm-23"))
    else {
        return;
    };
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = sframe_corpus::folder!("linked_programs_find_their_sections");
    std::fs::write(folder.join("library.c"), LIBRARY).expect("written");
    std::fs::write(folder.join("program.c"), PROGRAM).expect("written");
    let programs = [
        ("as", binutils.join("as")),
        ("ld.gold", binutils.join("ld.gold")),
        ("ld.lld", llvm.join("ld.lld")),
    ];
    for (name, path) in programs {
        let _ = std::fs::remove_file(folder.join(name));
        std::os::unix::fs::symlink(path, folder.join(name)).expect("linked");
    }
    for linker in ["lld", "gold"] {
        for flags in ["-pie -fPIE", "-no-pie", "-static"] {
            let gcc = format!("gcc -O2 -B. -Wa,--gsframe -fuse-ld={linker}");
            let library = if flags == "-static" { "library.c" } else { "./lib.so" };
            let command = format!(
                "{gcc} -fPIC -shared -o lib.so library.c && {gcc} {flags} -o program program.c {library}"
            );
            assert!(tools::run(&folder, "gcc", &command), "{command}");
            for file in ["program", "lib.so"] {
                let before = std::fs::read(folder.join(file)).expect("readable");
                let repaired = repair(&before).unwrap_or_else(|error| panic!("{command}: {error}"));
                println!("{linker} {flags} {file}: {:?}", repaired.changes);
                assert!(repaired.changes.contains(&Change::SegmentAdded), "{command}");
                assert_eq!(repaired.lost, [], "{command}");
                std::fs::write(folder.join(file), repaired.bytes).expect("written");
            }
            let readelf = binutils.join("readelf");
            runs(&folder, &readelf, flags == "-static", &command);
            for release in ["2.40", "2.44", "2.47.50"] {
                let name = format!("{command}, strip {release}");
                let Some(strip) = tools::toolchain(release) else { return };
                let strip = format!("{0} program && {0} lib.so", strip.join("strip").display());
                assert!(tools::run(&folder, "gcc", &strip), "{name}");
                runs(&folder, &readelf, flags == "-static", &name);
            }
        }
    }
}

/// The program finds its section, and that of its library, with as many functions as readelf.
fn runs(folder: &Path, readelf: &Path, is_static: bool, name: &str) {
    let own = functions(folder, readelf, "program");
    let of_library = if is_static { -1 } else { functions(folder, readelf, "lib.so") };
    let expected = format!("42 {own} {own} {of_library}");
    let test = format!("./program > out; cat out; grep -qx '{expected}' out");
    assert!(tools::run(folder, "gcc", &test), "{name}: not {expected}");
}

/// A file whose memory is much larger than its file leaves no place: the program headers would need as many zeros.
#[test]
fn files_without_room_lack_the_header() {
    let mut file = sframe_corpus::read("golden/lld/x86_64/v3-static.exe");
    // readelf -lW: the program header of the data is the fourth, at 64 + 3 * 56. Its size in memory is 40 bytes later.
    let at = 64 + 3 * 56 + 40;
    assert_eq!(file[at..at + 8], 0xc_u64.to_le_bytes());
    file[at..at + 8].copy_from_slice(&0x1000_0000_u64.to_le_bytes());
    let repaired = repair(&file).expect("repaired");
    assert!(
        matches!(repaired.lost[..], [Loss::NoSegment(CannotInsert::TooSparse(_))]),
        "{:?}",
        repaired.lost
    );
    let text = repaired.lost[0].to_string();
    assert!(text.contains("larger than the file") && text.contains("link with GNU ld"), "{text}");
}
