//! The dynamic linker's list of shared libraries, in dumps without a list of mapped files. The layouts are those of
//! `<link.h>`: `r_version` and `r_map`; `l_addr`, `l_name`, `l_ld`, `l_next` and `l_prev`.

use std::fs;
use std::path::PathBuf;

use sframe_process::walk::Memory;
use sframe_process::{CoreDump, Files, Places};
use sframe_validator::Abi;

use super::{EM_AARCH64, EM_S390, Writer, core, prstatus, survives};

/// Where the executable, a library, the vDSO and the dynamic linker's memory are.
const EXE: u64 = 0x55_0000_0000;
const LIBRARY: u64 = 0x55_1000_0000;
const VDSO: u64 = 0x55_2000_0000;
const HEAP: u64 = 0x55_3000_0000;
/// The places of the dynamic section, and of a text, in both files.
const DYNAMIC: u64 = 0x1000;
const TEXT: u64 = 0x800;

/// A file with a page of code and one of data, in which its dynamic section is. It has no `PT_PHDR`.
fn file(machine: u16, big: bool) -> Vec<u8> {
    let mut elf = Writer::new(big);
    elf.bytes.extend([0x7f, b'E', b'L', b'F', 2, 1 + u8::from(big), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    elf.u16(3).u16(machine).u32(1).u64(0x100).u64(64).u64(0).u32(0);
    elf.u16(64).u16(56).u16(4).u16(64).u16(0).u16(0);
    // Type and flags; offset and address; size; alignment.
    for (kind, flags, place, size) in
        [(3, 4, TEXT, 16), (1, 5, 0, 0x1000), (1, 6, 0x1000, 0x1000), (2, 6, DYNAMIC, 48)]
    {
        elf.u32(kind).u32(flags).u64(place).u64(place).u64(place).u64(size).u64(size).u64(0x1000);
    }
    elf.bytes.resize(0x2000, 0);
    elf.bytes[0x800..0x810].copy_from_slice(b"/lib/library.so\0");
    elf.bytes
}

/// An entry of the list: `l_addr`, `l_name`, `l_ld`, and the number of the next entry.
type Entry = (u64, u64, u64, Option<u64>);

/// The addresses of the entry with a number, and of `struct r_debug`.
const fn entry(number: u64) -> u64 {
    HEAP + 0x100 + number * 0x40
}

const THE_EXE: Entry = (EXE, HEAP + 0x80, EXE + DYNAMIC, Some(1));
const THE_VDSO: Entry = (VDSO, EXE + TEXT, VDSO + 0x10, Some(2));
/// Its name is in the executable, whose code is not dumped.
const THE_LIBRARY: Entry = (LIBRARY, EXE + TEXT, LIBRARY + DYNAMIC, None);

/// A dump of a program with this list. `debug` is the value of `DT_DEBUG`; without it, the data were not dumped.
fn dump(machine: u16, big: bool, debug: Option<u64>, list: &[Entry]) -> Vec<u8> {
    let mut notes = Writer::new(big);
    notes.note("CORE", 1, &prstatus(big, 11, 1, &[0; 34]));
    let mut vector = Writer::new(big);
    // AT_PHDR, AT_SYSINFO_EHDR.
    vector.u64(3).u64(EXE + 64).u64(33).u64(VDSO).u64(0).u64(0);
    notes.note("CORE", 6, &vector.bytes);
    let mut dynamic = Writer::new(big);
    // DT_NEEDED, DT_DEBUG.
    dynamic.u64(1).u64(1).u64(21).u64(debug.unwrap_or(0)).u64(0).u64(0);
    dynamic.bytes.resize(0x1000, 0);
    let dynamic: &[u8] = if debug.is_some() { &dynamic.bytes } else { &[] };
    let mut heap = Writer::new(big);
    heap.u32(1).u32(0).u64(entry(0));
    for (number, (bias, name, ld, next)) in (0..).zip(list) {
        heap.bytes.resize(usize::try_from(entry(number) - HEAP).expect("small"), 0);
        heap.u64(*bias).u64(*name).u64(*ld).u64(next.map_or(0, entry)).u64(0);
    }
    let memory: [(u64, u32, &[u8], u64); 5] = [
        (EXE, 5, &[], 0x1000),
        (EXE + 0x1000, 6, dynamic, 0x1000),
        (LIBRARY, 5, &[], 0x1000),
        (VDSO, 5, b"\x7fELF", 0x1000),
        (HEAP, 6, &heap.bytes, 0x1000),
    ];
    core(machine, big, &notes, &memory)
}

/// Writes the files for a machine.
fn places(name: &str, machine: u16, big: bool) -> Places {
    let root: PathBuf = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    fs::create_dir_all(root.join("lib")).expect("a folder");
    for path in ["exe", "lib/library.so"] {
        fs::write(root.join(path), file(machine, big)).expect("written");
    }
    Places { exe: Some(root.join("exe")), sysroot: Some(root), ..Places::default() }
}

/// The problems of a dump, and whether the library was found.
fn found(data: &[u8], places: &Places) -> (Vec<String>, bool) {
    let files = Files::default();
    let mut dump = CoreDump::read(data, &files, places).expect("a core dump");
    let place = dump.modules.place(LIBRARY + 0x10);
    let is_found = place.is_ok_and(|place| {
        assert_eq!((place.address, place.bias), (0x10, LIBRARY));
        assert_eq!(dump.modules.name(place.file), b"/lib/library.so");
        let executable = |address| dump.modules.mapping(address).map(|mapping| mapping.executable);
        assert_eq!([LIBRARY, LIBRARY + 0x1000].map(executable), [Some(true), Some(false)]);
        true
    });
    (dump.problems, is_found)
}

#[test]
fn libraries_are_found_in_the_list_of_the_dynamic_linker() {
    for (machine, big, abi) in
        [(EM_AARCH64, false, Abi::Aarch64Little), (EM_S390, true, Abi::S390x)]
    {
        let places = places(&format!("core-linked-{machine}"), machine, big);
        let list = [THE_EXE, THE_VDSO, THE_LIBRARY];
        let data = dump(machine, big, Some(HEAP), &list);
        assert_eq!(found(&data, &places), (vec![], true));
        let files = Files::default();
        let dump = CoreDump::read(&data, &files, &places).expect("a core dump");
        let text = u64::from_le_bytes(*b"/lib/lib");
        let text = if big { text.swap_bytes() } else { text };
        assert_eq!(dump.memory.word(abi, LIBRARY + TEXT), Some(text));
        // The executable is at its program headers.
        assert_eq!(dump.memory.word(abi, EXE + TEXT), Some(text));
    }
}

#[test]
fn damaged_lists_are_reported() {
    let places = places("core-linked-damaged", EM_AARCH64, false);
    let made = |debug, list: &[Entry]| found(&dump(EM_AARCH64, false, debug, list), &places);
    let problem = |text: &str| vec![format!("the list of shared libraries {text}")];
    let unreadable = || problem("cannot be read: its memory was not dumped");
    let (bias, name, ld, _) = THE_LIBRARY;
    let then = |entry: Entry, next| (entry.0, entry.1, entry.2, next);

    // The dynamic linker has not started.
    assert_eq!(made(Some(0), &[THE_EXE]), (vec![], false));
    assert_eq!(made(None, &[THE_EXE]), (unreadable(), false));
    assert_eq!(made(Some(0x10), &[THE_EXE]), (unreadable(), false));
    // What was read before the damage is used.
    let list = [then(THE_EXE, Some(1)), then(THE_LIBRARY, Some(1000))];
    assert_eq!(made(Some(HEAP), &list), (unreadable(), true));
    let list = [then(THE_EXE, Some(1)), then(THE_LIBRARY, Some(1))];
    assert_eq!(made(Some(HEAP), &list), (problem("is damaged: it names a file twice"), true));
    let list = [then(THE_EXE, Some(0))];
    let endless = problem("is damaged: it has more than 4096 entries");
    assert_eq!(made(Some(HEAP), &list), (endless, false));
    let list = [then(THE_EXE, Some(1)), (bias, 0x10, ld, None)];
    assert_eq!(made(Some(HEAP), &list), (unreadable(), false));

    // Another file, and no name.
    let list = [then(THE_EXE, Some(1)), (bias, name, ld + 8, None)];
    let path = places.sysroot.as_ref().expect("a folder").join("lib/library.so");
    let other = "cannot be used: it is not the mapped file: its dynamic section is elsewhere";
    let other = format!("{} {other}", path.display());
    assert_eq!(made(Some(HEAP), &list), (vec![other], false));
    let list = [then(THE_EXE, Some(1)), (bias, HEAP + 0x80, ld, None)];
    assert_eq!(made(Some(HEAP), &list), (problem("is damaged: a library has no name"), false));
}

#[test]
fn damage_in_a_list_is_survived() {
    let places = places("core-linked-survived", EM_AARCH64, false);
    let sound = dump(EM_AARCH64, false, Some(HEAP), &[THE_EXE, THE_VDSO, THE_LIBRARY]);
    assert!(survives(&sound, &places));
    let mut survived = 0;
    for place in (0..sound.len() - 8).step_by(8) {
        for value in [u64::MAX, 1 << 63, 1, HEAP, EXE + DYNAMIC] {
            let mut damaged = sound.clone();
            damaged[place..place + 8].copy_from_slice(&value.to_le_bytes());
            survived += usize::from(survives(&damaged, &places));
        }
    }
    assert!(survived > sound.len() / 2);
}
