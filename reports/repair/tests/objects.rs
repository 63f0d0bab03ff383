//! Relocatable objects: sections that lld and gold appended, and relocations that `ld -r` of GNU ld 2.40 and 2.44 left
//! where they were. The truth is in the object's symbol table and its code, as GNU ld and objdump see them after a link.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Function, Listed, by_symbol, listed_file, listing, without_stubs};
use sframe_corpus::tools::toolchain;
use sframe_corpus::{corpus, read};
use sframe_repair::{Change, RepairError, repair};
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

/// An object, and a linker that understands its version of SFrame.
const OBJECTS: [(&str, Linker); 10] = [
    ("golden/gold/x86_64/v1-relocatable.o", Linker::Gnu("2.40")),
    ("golden/gold/x86_64/v2-relocatable.o", Linker::Gnu("2.44")),
    ("golden/gold/x86_64/v3-relocatable.o", Linker::Gnu("2.47.50")),
    ("golden/lld/x86_64/relocatable.o", Linker::Lld),
    ("golden/lld/x86_64/v2-relocatable.o", Linker::Gnu("2.44")),
    ("golden/lld/x86_64/v3-relocatable.o", Linker::Gnu("2.47.50")),
    ("golden/2.40/x86_64/relocatable.o", Linker::Gnu("2.40")),
    ("golden/2.44/x86_64/relocatable.o", Linker::Gnu("2.44")),
    ("golden/2.40/x86_64/relocatable-comdat.o", Linker::Gnu("2.40")),
    ("golden/2.44/x86_64/relocatable-comdat.o", Linker::Gnu("2.44")),
];

/// The linkers of the tests.
enum Linker {
    Gnu(&'static str),
    Lld,
}

impl Linker {
    /// The program, and the release of objdump that reads its files.
    fn program(&self) -> Option<(PathBuf, &'static str)> {
        Some(match self {
            Linker::Gnu(version) => (toolchain(version)?.join("x86_64-linux-gnu-ld"), version),
            Linker::Lld => (toolchain("llvm-23")?.join("ld.lld"), "2.47.50"),
        })
    }

    /// The functions that objdump finds in a shared object made of one object; `None` without the tools.
    fn functions(&self, folder: &Path, object: &[u8]) -> Option<Listed> {
        let (program, version) = self.program()?;
        std::fs::write(folder.join("input.o"), object).expect("writable");
        let mut ld = Command::new(program);
        ld.current_dir(folder).args(["--build-id=none", "-shared", "-o", "linked.so", "input.o"]);
        let output = ld.output().expect("ld runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !messages.contains("sframe"), "{messages}");
        let linked = std::fs::read(folder.join("linked.so")).expect("linked");
        let objdump = toolchain(version)?.join("x86_64-linux-gnu-objdump");
        let text = listed_file(folder, &objdump, &linked);
        Some(by_symbol(&linked, &without_stubs(&linked, listing(&text))))
    }
}

/// The functions of the objects from which an object was made, each linked on its own. The object of the second COMDAT
/// file is not in the corpus, but GNU ld's shared object of both is.
fn expected(folder: &Path, linker: &Linker, object: &str) -> Option<Listed> {
    let release = match linker {
        Linker::Gnu(version) => version,
        Linker::Lld => "llvm-23",
    };
    let of = |name: &str| read(&format!("golden/{release}/x86_64/{name}"));
    let mut all = Listed::new();
    let (names, shared): (&[&str], _) = match object.contains("comdat") {
        true => (&["leaf.o"], Some("comdat.so")),
        false => (&["calls.o", "cfi.o", "leaf.o"], None),
    };
    for name in names {
        all.extend(linker.functions(folder, &of(name))?);
    }
    if let Some(name) = shared {
        let text = String::from_utf8(of(&format!("{name}.objdump"))).expect("text");
        let file = of(name);
        all.extend(by_symbol(&file, &without_stubs(&file, listing(&text))));
    }
    Some(all)
}

/// A link of the repaired object describes what links of the objects from which it was made describe.
#[test]
fn repaired_objects_can_be_linked() {
    let folder = sframe_corpus::folder!("repaired_objects_can_be_linked");
    for (object, linker) in OBJECTS {
        let repaired = repair(&read(object)).expect(object);
        println!("{object}: {:?} {:?}", repaired.changes, repaired.lost);
        let Some(found) = linker.functions(&folder, &repaired.bytes) else { return };
        let Some(expected) = expected(&folder, &linker, object) else { return };
        assert!(found.len() >= 6, "{object}: {found:?}");
        assert_eq!(found, expected, "{object}");
    }
}

/// An object that was linked twice: `objdump -d` shows two functions of one byte, at 0 and at 1.
#[test]
fn relocations_of_ld_r_are_moved() {
    for version in ["2.40", "2.44"] {
        let file = read(&format!("differences/relocations-left-behind/{version}.o"));
        let repaired = repair(&file).expect(version);
        assert!(repaired.changes.contains(&Change::RelocationsMoved { relocations: 1 }));
        assert_eq!(repaired.lost, []);
        let elf = Elf::parse(&repaired.bytes).expect("ELF");
        let sframe = elf.sframe_contents().next().expect("a section");
        let section =
            Section::parse(sframe.data.expect("bytes"), sframe.placement().expect("read"));
        let section = section.expect("a header");
        let text = |address| CodeAddress { section: 1, address };
        let starts = section.functions().map(|function| function.expect("read").start());
        let starts: Vec<_> = starts.map(|start| start.expect("relocated")).collect();
        assert_eq!(starts, [text(0), text(1)]);
    }
}

/// CFI has to confirm the size of each function. `readelf -SW`: .sframe is at 0x460 of the file. The size in entry 5 of its
/// table, whose entries have 20 bytes after a header of 28 bytes, is changed.
#[test]
fn relocations_are_not_guessed() {
    let mut file = read("golden/2.44/x86_64/relocatable.o");
    file[0x460 + 28 + 5 * 20 + 4] ^= 1;
    assert_eq!(repair(&file), Err(RepairError::UndecidedRelocations));
}

/// Without relocations, nothing says where the functions of an object are: `readelf -SW` shows no .rela.sframe.
#[test]
fn stripped_objects_are_refused() {
    for version in ["2.40", "2.44", "2.47.50"] {
        let file = read(&format!("golden/{version}/x86_64/stripped.o"));
        assert_eq!(repair(&file), Err(RepairError::NothingLeft), "{version}");
    }
}

/// An object of lld or gold, the release of GNU ld, and GNU ld's object of the same inputs.
const OF_LD_R: [(&str, &str); 5] = [
    ("lld/x86_64/v2-relocatable.o", "2.44"),
    ("lld/x86_64/v3-relocatable.o", "2.47.50"),
    ("gold/x86_64/v1-relocatable.o", "2.40"),
    ("gold/x86_64/v2-relocatable.o", "2.44"),
    ("gold/x86_64/v3-relocatable.o", "2.47.50"),
];

/// The functions of an object in the order of its table, each with the symbol and addend of its relocation. GNU readelf
/// prints the relocations, and objdump the sizes and rows. Also returns the offsets of the relocations.
fn functions(folder: &Path, release: &str, object: &[u8]) -> Option<(Vec<Placed>, Vec<u64>)> {
    let tools = toolchain(release)?;
    let text = listed_file(folder, &tools.join("x86_64-linux-gnu-objdump"), object);
    let listed = listing(&text).into_iter().map(|(_, function)| function);
    let mut readelf = Command::new(tools.join("x86_64-linux-gnu-readelf"));
    let output = readelf.arg("-rW").arg(folder.join("file")).output().expect("readelf runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let table = text.split("\n\n").find(|table| table.contains("'.rela.sframe'")).expect("a table");
    let mut relocations: Vec<(u64, String)> = Vec::new();
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(offset) = words.first().and_then(|word| u64::from_str_radix(word, 16).ok()) {
            relocations.push((offset, words[4..].join(" ")));
        }
    }
    relocations.sort();
    let (offsets, targets): (Vec<_>, Vec<_>) = relocations.into_iter().unzip();
    let listed: Vec<_> = listed.collect();
    assert_eq!(listed.len(), targets.len());
    Some((targets.into_iter().zip(listed).collect(), offsets))
}

/// The target of a relocation, and the function there.
type Placed = (String, Function);

/// The repaired object has the functions and rows of the object that GNU ld makes of the same inputs, with a relocation
/// for each start field. GNU ld 2.40 and 2.44 leave relocations in wrong places (`differences/relocations-left-behind`), so
/// that their offsets say nothing, but write functions and relocations in the same order.
///
/// `lld/x86_64/relocatable.o` has no counterpart: no release of GNU ld makes one section of LLVM's (observed: 2.40 and 2.44
/// report "no .sframe will be created" and append them; 2.47.50 reports "SFrame section ignored"). The test above links it,
/// and its inputs one by one.
#[test]
fn repaired_objects_are_those_of_gnu_ld() {
    let folder = sframe_corpus::folder!("repaired_objects_are_those_of_gnu_ld");
    for (object, release) in OF_LD_R {
        let repaired = repair(&read(&format!("golden/{object}"))).expect(object);
        assert_eq!(repaired.lost, [], "{object}");
        let of_gnu = read(&format!("golden/{release}/x86_64/relocatable.o"));
        let Some((expected, gnu_offsets)) = functions(&folder, release, &of_gnu) else { return };
        let Some((found, offsets)) = functions(&folder, release, &repaired.bytes) else { return };
        assert!(found.len() >= 12, "{object}: {found:?}");
        assert_eq!(found, expected, "{object}");
        // The sizes of entries after a header of 28 bytes, in versions 1, 2 and 3.
        let size = match release {
            "2.40" => 17,
            "2.44" => 20,
            _ => 16,
        };
        let fields = (0..found.len() as u64).map(|index| 28 + index * size);
        assert_eq!(offsets, fields.collect::<Vec<_>>(), "{object}");
        assert_eq!(gnu_offsets == offsets, release == "2.47.50", "{object}: what GNU ld leaves");
    }
}

/// GNU ld of no release makes one section of LLVM's sections, of which `lld/x86_64/relocatable.o` is made.
#[test]
fn gnu_ld_merges_no_section_of_llvm() {
    let folder = sframe_corpus::folder!("gnu_ld_merges_no_section_of_llvm");
    let place = corpus().join("golden/llvm-23/x86_64");
    for (release, says) in [
        ("2.40", "no .sframe will be created"),
        ("2.44", "no .sframe will be created"),
        ("2.47.50", "SFrame section ignored"),
    ] {
        let Some(tools) = toolchain(release) else { return };
        let mut ld = Command::new(tools.join("x86_64-linux-gnu-ld"));
        let inputs = ["calls.o", "cfi.o", "leaf.o"].map(|name| place.join(name));
        let output = ld.current_dir(&folder).args(["-r", "-o", "linked.o"]).args(inputs).output();
        let output = output.expect("ld runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(messages.matches(says).count(), 3, "{release}: {messages}");
        let linked = std::fs::read(folder.join("linked.o")).expect("linked");
        let expected = match release {
            "2.47.50" => Err(RepairError::EmptySection),
            _ => Ok(Change::Merged { sections: 3 }),
        };
        assert_eq!(
            repair(&linked).map(|repaired| repaired.changes[0].clone()),
            expected,
            "{release}"
        );
    }
}
