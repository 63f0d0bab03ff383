//! Core dumps whose threads share one long stack: the frames and names of all threads together are bounded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object as _, ObjectSection as _};
use sframe_corpus::{folder, program, tools};

/// Where the library and the stack are mapped.
const BASE: u64 = 0x7f00_0000_0000;
const STACK: u64 = 0x7ffd_0000_0000;
/// The size of what precedes the call's return address in the function.
const BEFORE_RETURN: u64 = 9;
const PAGE: u64 = 4096;

/// A library with one function of this name, which keeps a frame pointer and calls itself.
fn library(folder: &Path, name: &str) -> Option<PathBuf> {
    if !["as", "ld"].into_iter().all(tools::is_installed) || cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    let source = format!(
        ".text\n.type {name}, @function\n{name}:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n\
         .cfi_offset 6, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register 6\n.byte 0xe8, 0xf7, 0xff, 0xff, 0xff\nnop\n\
         pop %rbp\n.cfi_def_cfa 7, 8\nret\n.cfi_endproc\n.size {name}, .-{name}\n\
         .section .note.GNU-stack,\"\",@progbits\n"
    );
    fs::write(folder.join("lib.s"), source).expect("disk space");
    let library = folder.join("lib.so");
    let mut assembler = Command::new("as");
    assembler.args(["-o", "lib.o", "lib.s"]);
    let mut linker = Command::new("ld");
    linker.args(["-shared", "--build-id=none", "-z", "noseparate-code", "-o", "lib.so", "lib.o"]);
    for mut command in [assembler, linker] {
        assert!(command.current_dir(folder).status().expect("it runs").success(), "{command:?}");
    }
    Some(library)
}

/// A core dump: `threads` threads, all of them in the library's function with the same stack of `frames` frames.
fn core(library: &Path, threads: u32, frames: u64) -> Vec<u8> {
    let bytes = fs::read(library).expect("built");
    let elf = object::File::parse(&*bytes).expect("an ELF file");
    let text = elf.section_by_name(".text").expect("code");
    let returns = BASE + text.address() + BEFORE_RETURN;
    let stack: Vec<u8> = (1..=frames)
        .flat_map(|frame| match frame < frames {
            true => [STACK + 16 * frame, returns],
            false => [0, 0],
        })
        .flat_map(u64::to_le_bytes)
        .collect();
    let mut notes = Vec::new();
    for thread in 0..threads {
        // The registers in the order of struct user_regs_struct: rbp, rip, cs, rsp and ss are set.
        let mut registers = [0_u64; 27];
        for (number, value) in [(4, STACK), (16, returns), (17, 0x33), (19, STACK), (20, 0x2b)] {
            registers[number] = value;
        }
        // struct elf_prstatus: the signal, 20 bytes, the thread's number, 76 bytes, the registers.
        let mut status =
            [&11_u32.to_le_bytes()[..], &[0; 28], &(1000 + thread).to_le_bytes()].concat();
        status.resize(112, 0);
        status.extend(registers.iter().flat_map(|register| register.to_le_bytes()));
        status.extend([0; 8]);
        note(&mut notes, object::elf::NT_PRSTATUS.0, &status);
    }
    let end = BASE + (bytes.len() as u64).next_multiple_of(PAGE);
    let mut files: Vec<u8> =
        [1, PAGE, BASE, end, 0].into_iter().flat_map(u64::to_le_bytes).collect();
    files.extend(library.to_str().expect("UTF-8").bytes().chain([0]));
    note(&mut notes, object::elf::NT_FILE.0, &files);
    let notes_at = 64 + 3 * 56;
    let stack_at = notes_at + notes.len() as u64;
    let mut core = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    core.resize(16, 0);
    let halves =
        |halves: &[u16]| halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>();
    let wide = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    // ET_CORE, EM_X86_64, EV_CURRENT; no entry point, the program headers, no section headers.
    core.extend(
        [halves(&[4, 62, 1, 0]), wide(&[0, 64, 0]), halves(&[0, 0, 64, 56, 3, 0, 0, 0])].concat(),
    );
    for (kind_and_flags, header) in [
        ([4, 0], [notes_at, 0, 0, notes.len() as u64, 0, 4]),
        ([1, 5], [stack_at, BASE, 0, 0, end - BASE, PAGE]),
        ([1, 6], [stack_at, STACK, 0, stack.len() as u64, stack.len() as u64, PAGE]),
    ] {
        core.extend(kind_and_flags.into_iter().flat_map(u32::to_le_bytes));
        core.extend(wide(&header));
    }
    core.extend(notes.into_iter().chain(stack));
    core
}

fn note(notes: &mut Vec<u8>, kind: u32, content: &[u8]) {
    let sizes = [5, u32::try_from(content.len()).expect("small"), kind];
    notes.extend(sizes.into_iter().flat_map(u32::to_le_bytes));
    notes.extend(b"CORE\0\0\0\0");
    notes.extend(content);
    notes.resize(notes.len().next_multiple_of(4), 0);
}

/// 70 threads of 1,000 frames.
#[test]
fn the_frames_of_all_threads_are_bounded_together() {
    let folder = folder!("walk-many-frames");
    let Some(library) = library(&folder, "recursion") else { return };
    fs::write(folder.join("core"), core(&library, 70, 1000)).expect("disk space");
    let run = program::run(&folder, &["walk", "core"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    let reason = "the walks of all threads together are limited to 65,536 frames";
    assert!(run.text.contains(reason), "{}", run.text.lines().last().unwrap_or_default());
    // The last whole thread is the 65th, and 536 frames of the next one are walked.
    assert!(run.text.lines().count() < 3 * 65_536);
}

/// Each frame has a name of 60,000 bytes.
#[test]
fn a_long_name_is_cut_in_each_frame() {
    let folder = folder!("walk-long-name");
    let name = "n".repeat(60_000);
    let Some(library) = library(&folder, &name) else { return };
    fs::write(folder.join("core"), core(&library, 1, 1000)).expect("disk space");
    let run = program::run(&folder, &["walk", "--format", "json", "core"]);
    let cut = "n".repeat(500) + "…";
    assert!(run.text.contains(&cut) && !run.text.contains(&"n".repeat(501)));
    let walk: serde_json::Value = serde_json::from_str(&run.text).expect("JSON");
    assert_eq!(walk["threads"][0]["frames"].as_array().map(Vec::len), Some(1000));
}
