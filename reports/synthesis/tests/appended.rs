//! Assembler source of a section: right at the end of the object's own source, and refused everywhere else. The truth is
//! in the CFI, which the assembler makes from the compiler's directives.

use std::path::Path;
use std::process::Command;

use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::compare;
use sframe_synthesis::{AssemblyError, Encoding, Place, Release, assembly, synthesize};
use sframe_validator::check::Checker;
use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::{Section, Version};

/// Functions of several sections, with frames of several kinds.
const SOURCE: &str = r"
#define APART __attribute__((noinline, noclone))
volatile int sink;
APART static int leaf(int n) { return n + sink; }
APART __attribute__((cold)) int rare(int n) { return leaf(n) + leaf(n + 1); }
APART int array(int n) { volatile int all[n + 1]; all[n] = leaf(n); return all[n] + n; }
int entry(int n) { return n > 3 ? array(n) + leaf(n) * leaf(n + 2) : rare(n); }
int *last(int *place) { *place = entry(*place) + leaf(*place); return place; }
";

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("readable")
}

/// The assembler source of a section made from the file's CFI.
fn added(data: &[u8], encoding: Encoding, place: Place) -> Result<String, AssemblyError> {
    let elf = Elf::parse(data).expect("ELF");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let symbols = SymbolTable::load(&elf).expect("symbols");
    let made = synthesize(&elf, &cfi, encoding, place).expect("a section");
    assert!(made.functions.len() >= 5, "{}", made.functions.len());
    assembly(&elf, &symbols, &made.written)
}

/// The linked file's section breaks no rule, and agrees with CFI at each byte of code. The program header of GNU ld 2.44 is
/// too long, whoever made the section.
fn check(name: &str, path: &Path) {
    let data = read(path);
    let elf = Elf::parse(&data).expect("ELF");
    let report = Checker::default().elf(&elf);
    let own = report.findings.iter().filter(|finding| !finding.rule.name.starts_with("segment-"));
    let broken: Vec<_> = own.map(|finding| (finding.rule.name, &finding.message)).collect();
    assert!(broken.is_empty(), "{name}: {broken:?}");
    let sframe = elf.sframe_contents().next().expect("a section");
    let placement = sframe.placement().expect("linked");
    let section = Section::parse(sframe.data.as_ref().expect("bytes"), placement).expect("sound");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let bytes = compare(&elf, &[section], &cfi, |_| ()).bytes;
    assert_eq!((bytes.different, bytes.only_cfi, bytes.only_sframe), (0, 0, 0), "{name}");
    assert!(bytes.equal + bytes.limited > 100, "{name}: {bytes:?}");
}

#[test]
fn the_source_of_an_object_gets_a_section() {
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = sframe_corpus::folder!("appended");
    std::fs::write(folder.join("unit.c"), SOURCE).expect("written");
    let run = |command: &str| assert!(tools::run(&folder, "gcc", command), "{command}");
    for (release, encoding) in [
        ("2.47.50", Encoding::Smallest(Version::V3)),
        ("2.47.50", Encoding::Gnu(Release::V2_47_50)),
        ("2.44", Encoding::Gnu(Release::V2_44)),
    ] {
        let Some(binutils) = tools::toolchain(release) else { return };
        let tool = |name: &str| binutils.join(name).display().to_string();
        for flags in ["-O0", "-O2", "-O2 -ffunction-sections -fno-omit-frame-pointer"] {
            let name = format!("{encoding:?} {flags}");
            run(&format!("gcc -S -fPIC {flags} -o unit.s unit.c"));
            run(&format!("{} -o unit.o unit.s", tool("as")));
            let text = added(&read(&folder.join("unit.o")), encoding, Place::Relocatable);
            let text = text.expect("source");
            std::fs::write(folder.join("added.s"), &text).expect("written");
            run("cat unit.s added.s > both.s");
            run(&format!("{} -o both.o both.s", tool("as")));
            run(&format!("{} -shared -o both.so both.o", tool("ld")));
            check(&name, &folder.join("both.so"));
            // In a file of its own, it would describe that file's code.
            let mut alone = Command::new(binutils.join("as"));
            let output = alone.current_dir(&folder).args(["-o", "added.o", "added.s"]).output();
            let output = output.expect("as runs");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{name}");
            assert!(errors.contains("append this to the source of its object"), "{name}: {errors}");
            let linked = read(&folder.join("both.so"));
            let refused = added(&linked, encoding, Place::Linked(0x10_0000));
            assert_eq!(refused, Err(AssemblyError::Linked), "{name}");
        }
    }
}
