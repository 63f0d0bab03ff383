//! `.eh_frame_hdr` against `.eh_frame`: sound tables have no finding, and damaged ones are found. What an unwinder misses is what
//! libgcc's own search misses in a library that is loaded.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{elf_files, golden_files, open};
use object::{Object, ObjectSection};
use sframe_corpus::{corpus, tools};
use sframe_oracle::cfi::{SearchDefectKind, check_search_table};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;

/// The defects of a file's table, with the starts of their functions.
fn defects(data: &[u8]) -> Vec<(SearchDefectKind, Option<u64>)> {
    open(data, |elf, _, cfi| {
        let mut found = Vec::new();
        check_search_table(elf, cfi, &mut |defect| {
            found.push((defect.kind, defect.function.map(|function| function.start().address)));
        });
        found
    })
}

/// A table in the encoding that all linkers write, by its bytes.
struct Table {
    /// The place of `.eh_frame_hdr` in the file.
    offset: usize,
    is_big: bool,
    count: usize,
}

/// The places in `.eh_frame_hdr` of the pointer, the number of entries, and the entries.
const POINTER: usize = 4;
const COUNT: usize = 8;
const ENTRIES: usize = 12;

impl Table {
    fn of(data: &[u8]) -> Option<Table> {
        let file = object::File::parse(data).ok()?;
        let section = file.section_by_name(".eh_frame_hdr")?;
        let (offset, _) = section.file_range()?;
        let is_usual = section.data().ok()?.starts_with(&[1, 0x1b, 0x03, 0x3b]);
        let is_big = file.endianness() == object::Endianness::Big;
        let mut table = Table { offset: usize::try_from(offset).ok()?, is_big, count: 0 };
        table.count = usize::try_from(table.word(data, COUNT)).ok()?;
        is_usual.then_some(table)
    }

    fn word(&self, data: &[u8], place: usize) -> u32 {
        let at = self.offset + place;
        let bytes = data[at..at + 4].try_into().expect("4 bytes");
        if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn put(&self, data: &mut [u8], place: usize, word: u32) {
        let bytes = if self.is_big { word.to_be_bytes() } else { word.to_le_bytes() };
        let at = self.offset + place;
        data[at..at + 4].copy_from_slice(&bytes);
    }

    /// The function's start in an entry, relative to the section.
    fn start(&self, data: &[u8], entry: usize) -> u32 {
        self.word(data, ENTRIES + 8 * entry)
    }

    /// Takes an entry out.
    fn without(&self, data: &[u8], entry: usize) -> Vec<u8> {
        let mut data = data.to_vec();
        let first = self.offset + ENTRIES;
        data.copy_within(first + 8 * (entry + 1)..first + 8 * self.count, first + 8 * entry);
        self.put(&mut data, COUNT, u32::try_from(self.count - 1).expect("fewer"));
        data
    }
}

/// Linkers: the toolchain, the program, its options, and the machine and the toolchain of the objects.
const LINKERS: [(&str, &str, &[&str], &str, &str); 9] = [
    ("2.44", "x86_64-linux-gnu-ld", &[], "x86_64", "2.44"),
    ("2.44", "aarch64-linux-gnu-ld", &[], "aarch64", "2.44"),
    ("2.47.50", "x86_64-linux-gnu-ld", &[], "x86_64", "2.47.50"),
    ("2.47.50", "aarch64-linux-gnu-ld", &[], "aarch64", "2.47.50"),
    ("2.47.50", "aarch64-linux-gnu-ld", &["-EB"], "aarch64_be", "2.47.50"),
    ("2.47.50", "s390x-linux-gnu-ld", &[], "s390x", "2.47.50"),
    ("llvm-23", "ld.lld", &[], "x86_64", "2.44"),
    ("llvm-23", "ld.lld", &[], "aarch64", "2.44"),
    ("2.40", "gold", &[], "x86_64", "2.44"),
];

/// Objects of `corpus/golden` with several functions each.
const OBJECTS: [&str; 6] = ["relocatable", "cfi", "sizes", "leaf", "alloca", "sections"];

/// Shared objects with a table of several functions: those in `corpus/golden` (mold's), and those that the linkers make of each object.
fn with_tables(name: &str) -> Vec<(String, Vec<u8>, Table)> {
    let mut files = Vec::new();
    let mut add = |name: String, data: Vec<u8>| {
        if let Some(table) = Table::of(&data).filter(|table| table.count > 2) {
            files.push((name, data, table));
        }
    };
    for path in golden_files() {
        add(path.display().to_string(), std::fs::read(&path).expect("readable"));
    }
    let folder = sframe_corpus::folder!(format!("search-table-{name}"));
    for (toolchain, program, options, machine, assembler) in LINKERS {
        let Some(tools) = tools::toolchain(toolchain) else { continue };
        for object in OBJECTS {
            let object = corpus().join(format!("golden/{assembler}/{machine}/{object}.o"));
            let options = [options, &["-shared", "--eh-frame-hdr", "-o", "linked.so"]].concat();
            let mut command = Command::new(tools.join(program));
            command.args(options).arg(&object).current_dir(&folder);
            let output = command.output().expect("the linker runs");
            // GNU ld 2.44 ends with a signal at some sections that are sound.
            if output.status.success() {
                let data = std::fs::read(folder.join("linked.so")).expect("readable");
                add(format!("{} by {program} {toolchain}", object.display()), data);
            }
        }
    }
    files
}

#[test]
fn sound_tables_have_no_defect() {
    let mut files = with_tables("sound");
    for path in elf_files(&corpus()) {
        let data = std::fs::read(&path).expect("readable");
        let is_hidden = path.ends_with("hidden-in-search-table/lld.so");
        if let Some(table) = Table::of(&data).filter(|_| !is_hidden) {
            files.push((path.display().to_string(), data, table));
        }
    }
    for (name, data, table) in &files {
        assert_eq!(defects(data), [], "{name}");
        // DW_EH_PE_omit: there is no table.
        let mut without = data.clone();
        without[table.offset + 2..table.offset + 4].fill(0xff);
        assert_eq!(defects(&without), [], "{name}");
    }
    assert!(files.len() > 40, "{} tables", files.len());
}

/// The numbers are those of readelf and llvm-readobj: the FDE at 0x18 describes no code, that at 0x2c the 11 bytes from 0x139c on,
/// and the table has entries for 0x18 and for 0x48.
#[test]
fn an_empty_function_hides_another() {
    let data = sframe_corpus::read("edges/hidden-in-search-table/lld.so");
    let hidden = SearchDefectKind::Hidden { bytes: 11, by: 0x18, size: 0 };
    assert_eq!(defects(&data), [(hidden, Some(0x139c))]);
}

/// mold moves the entry of an FDE without code to the end of the table, with a start that no code has.
#[test]
fn entries_outside_the_code_hide_nothing() {
    let Some(mold) = tools::toolchain("mold") else { return };
    let Some(assembler) = tools::toolchain("2.47.50") else { return };
    let folder = sframe_corpus::folder!("search-table-mold");
    let source = corpus().join("edges/hidden-in-search-table/input.s");
    let run = |program: PathBuf, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(&folder).status();
        assert!(status.expect("it runs").success(), "{arguments:?}");
    };
    let source = source.to_str().expect("UTF-8");
    run(assembler.join("x86_64-linux-gnu-as"), &["-o", "input.o", source]);
    run(mold.join("mold"), &["-shared", "--eh-frame-hdr", "-o", "linked.so", "input.o"]);
    let data = std::fs::read(folder.join("linked.so")).expect("readable");
    let table = Table::of(&data).expect("a table");
    assert_eq!((table.count, table.start(&data, 2)), (3, 0x7fff_ffff));
    assert_eq!(defects(&data), []);
}

/// A damage, and the defect that it makes.
struct Damage {
    kind: &'static str,
    data: Vec<u8>,
    makes: fn(&SearchDefectKind) -> bool,
}

/// The damages of a file, of which `seed` chooses entries.
fn damages(data: &[u8], table: &Table, seed: usize) -> Vec<Damage> {
    use SearchDefectKind as Kind;
    let changed = |change: &dyn Fn(&mut [u8])| {
        let mut data = data.to_vec();
        change(&mut data);
        data
    };
    let (one, other) = (seed % (table.count - 1), 1 + seed % (table.count - 1));
    let place = |entry: usize| ENTRIES + 8 * entry;
    let exchange = |data: &mut [u8], a: usize, b: usize| {
        let (first, second) = (table.word(data, a), table.word(data, b));
        table.put(data, a, second);
        table.put(data, b, first);
    };
    let add = |data: &mut [u8], at: usize, number: u32| {
        table.put(data, at, table.word(data, at).wrapping_add(number));
    };
    let segment = segment(data).expect("a program header");
    let mut damages = vec![
        Damage {
            kind: "an entry is taken out",
            data: table.without(data, one),
            makes: |kind| matches!(kind, Kind::Missing { .. }),
        },
        Damage {
            kind: "entries are exchanged",
            data: changed(&|data| {
                exchange(data, place(one), place(other));
                exchange(data, place(one) + 4, place(other) + 4);
            }),
            makes: |kind| matches!(kind, Kind::Unsorted { count: 1, .. }),
        },
        Damage {
            kind: "FDEs are exchanged",
            data: changed(&|data| exchange(data, place(one) + 4, place(other) + 4)),
            makes: |kind| matches!(kind, Kind::Start { .. }),
        },
        Damage {
            kind: "a start is one byte later",
            data: changed(&|data| add(data, place(one), 1)),
            makes: |kind| matches!(kind, Kind::Start { .. }),
        },
        Damage {
            kind: "an FDE is 4 bytes later",
            data: changed(&|data| add(data, place(one) + 4, 4)),
            makes: |kind| matches!(kind, Kind::NoFde { .. }),
        },
        Damage {
            kind: "the pointer is 4 bytes later",
            data: changed(&|data| add(data, POINTER, 4)),
            makes: |kind| matches!(kind, Kind::Pointer { .. }),
        },
        Damage {
            kind: "the number of entries is too large",
            data: changed(&|data| table.put(data, COUNT, 0x1000_0000)),
            makes: |kind| matches!(kind, Kind::Unreadable(_)),
        },
        Damage {
            kind: "the version is 2",
            data: changed(&|data| data[table.offset] = 2),
            makes: |kind| matches!(kind, Kind::Unreadable(_)),
        },
        Damage {
            kind: "the encoding is unknown",
            data: changed(&|data| data[table.offset + 3] = 0x5b),
            makes: |kind| matches!(kind, Kind::Unreadable(_)),
        },
    ];
    // A program that no dynamic linker loads may find the table in another way.
    if Elf::parse(data).expect("ELF").is_dynamic() {
        damages.push(Damage {
            kind: "the program header has another type",
            data: changed(&|data| data[segment] ^= 1),
            makes: |kind| matches!(kind, Kind::NoSegment),
        });
    }
    damages
}

/// The place of the lowest byte of `p_type` of PT_GNU_EH_FRAME in a 64-bit file.
fn segment(data: &[u8]) -> Option<usize> {
    let headers = usize::from(data[32]) | usize::from(data[39]);
    let types = [0x6474_e550_u32.to_le_bytes(), 0x6474_e550_u32.to_be_bytes()];
    let headers = (0..32).map(|number| headers + 56 * number);
    headers.filter(|at| *at + 4 <= data.len()).find_map(|at| {
        let bytes: [u8; 4] = data[at..at + 4].try_into().expect("4 bytes");
        let is_little = bytes == types[0];
        (types.contains(&bytes)).then_some(if is_little { at } else { at + 3 })
    })
}

/// 10 kinds of damages in files of all machines and linkers, each in another entry.
#[test]
fn each_damage_is_found() {
    let mut machines = BTreeSet::new();
    let mut tried = 0;
    let files = with_tables("damaged");
    for (seed, (name, data, table)) in files.iter().enumerate() {
        // Entries of one start, or without code, may be exchanged or left out.
        let starts: BTreeSet<u32> = (0..table.count).map(|it| table.start(data, it)).collect();
        if starts.len() < table.count || !all_have_code(data, table) {
            continue;
        }
        machines.insert(Elf::parse(data).expect("ELF").abi().map(|abi| abi.id()));
        for damage in damages(data, table, seed) {
            let found = defects(&damage.data);
            let kinds: Vec<_> = found.iter().map(|(kind, _)| *kind).collect();
            let is_found = !kinds.is_empty() && kinds.iter().all(damage.makes);
            assert!(is_found, "{name}: {}: {kinds:?}", damage.kind);
            tried += 1;
        }
    }
    assert!(tried >= 100, "{tried} damages");
    assert!(
        !tools::are_required() || (tried >= 400 && machines.len() == 4),
        "{tried} damages, {machines:?}"
    );
}

/// Whether each entry is for an FDE with code: there are as many of those as entries.
fn all_have_code(data: &[u8], table: &Table) -> bool {
    open(data, |_, _, cfi| {
        let functions = cfi.iter().flat_map(|cfi| cfi.functions());
        functions.filter(|function| function.size() > 0).count() == table.count
    })
}

/// Prints the number of PCs for which libgcc finds no FDE, of the ranges that stdin names: addresses and sizes.
const FIND: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
struct dwarf_eh_bases { void *tbase, *dbase, *func; };
extern const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);
int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_LAZY);
    struct link_map *map;
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map)) {
        puts("not loaded");
        return 0;
    }
    unsigned long start, size, missed = 0;
    while (scanf("%lx %lx", &start, &size) == 2)
        for (unsigned long pc = start; pc < start + size; pc++) {
            struct dwarf_eh_bases bases;
            missed += !_Unwind_Find_FDE((void *)(map->l_addr + pc), &bases);
        }
    printf("%lu\n", missed);
    return 0;
}
"#;

/// The number of PCs in a library for which libgcc finds no FDE; `None` if it cannot be loaded.
fn missed_by_libgcc(program: &Path, library: &Path, ranges: &str) -> Option<u64> {
    let command =
        Command::new(program).arg(library).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = command.expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(ranges.as_bytes()).ok();
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}: {:?}", library.display(), output.status);
    let text = String::from_utf8(output.stdout).expect("ASCII");
    text.trim().parse().ok()
}

/// The ranges of the functions that CFI describes, and the number of PCs for which unwinders find none of them.
fn missed(data: &[u8]) -> (String, u64) {
    let ranges = open(data, |_, _, cfi| {
        let mut ranges = String::new();
        for function in cfi.iter().flat_map(|cfi| cfi.functions()) {
            let _ = writeln!(ranges, "{:x} {:x}", function.start().address, function.size());
        }
        ranges
    });
    let bytes = |(kind, _): &(SearchDefectKind, Option<u64>)| match kind {
        SearchDefectKind::Missing { bytes } | SearchDefectKind::Hidden { bytes, .. } => *bytes,
        other => panic!("{other:?}"),
    };
    (ranges, defects(data).iter().map(bytes).sum())
}

#[test]
fn libgcc_misses_what_is_said() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) || !tools::is_installed("cc") {
        return;
    }
    let folder = sframe_corpus::folder!("search-table");
    std::fs::write(folder.join("find.c"), FIND).expect("writable");
    assert!(tools::run(&folder, "cc", "cc -o find find.c"), "the program is compiled");
    let hidden = sframe_corpus::read("edges/hidden-in-search-table/lld.so");
    let table = Table::of(&hidden).expect("a table");
    let libraries = with_tables("libgcc").into_iter().chain([("hidden".to_owned(), hidden, table)]);
    let (mut loaded, mut missed_in_all) = (0, 0);
    for (name, data, table) in libraries {
        if Elf::parse(&data).expect("ELF").abi() != Some(Abi::Amd64) {
            continue;
        }
        let fewer = (0..table.count).map(|entry| table.without(&data, entry));
        let all: Vec<Vec<u8>> = std::iter::once(data.clone()).chain(fewer).collect();
        for data in all.into_iter().take(8) {
            let library = folder.join("library.so");
            std::fs::write(&library, &data).expect("writable");
            let (ranges, missed) = missed(&data);
            let Some(truth) = missed_by_libgcc(&folder.join("find"), &library, &ranges) else {
                break;
            };
            assert_eq!(missed, truth, "{name}");
            loaded += 1;
            missed_in_all += missed;
        }
    }
    assert!(loaded > 20 && missed_in_all > 100, "{loaded} tables, {missed_in_all} PCs");
}
