//! Reassembling damaged files: functions that cannot be expressed are reported, the output can be assembled, and its
//! size is bounded by the size of the input.

use std::fs;
use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection};
use sframe_validator::Abi;
use sframe_validator::elf::{ElfKind, SHF_ALLOC, SHF_EXECINSTR, SHT_PROGBITS};
use sframe_validator::write::elf::{ElfWriter, SectionHeader, Symbol};

use sframe_corpus::{corpus, program};

use crate::tools::{Machine, folder, sframe_check, text};

const FILE: &str = "golden/2.47.50/x86_64/throw.so";

fn reassemble(file: &Path, output: &Path) -> (i32, String) {
    let (status, _, message) = sframe_check(&["reassemble".as_ref(), file, "-o".as_ref(), output]);
    (status, message)
}

/// The bytes of the file that a section occupies.
fn range(data: &[u8], name: &str) -> std::ops::Range<usize> {
    let file = object::File::parse(data).expect("ELF");
    let section = file.section_by_name(name).expect("a section");
    let (start, size) = section.file_range().expect("in the file");
    usize::try_from(start).expect("small")..usize::try_from(start + size).expect("small")
}

#[test]
fn damaged_cfi_still_yields_valid_assembly() {
    let folder = folder("damaged");
    let sound = fs::read(corpus().join(FILE)).expect("readable");
    let machine = Machine::of(&object::File::parse(&*sound).expect("ELF")).expect("known");
    let assemblers = machine.assemblers();
    let (damaged, source, object) =
        (folder.join("damaged.so"), folder.join("damaged.s"), folder.join("damaged.o"));
    let mut left_out = 0;
    for (turn, place) in range(&sound, ".eh_frame").step_by(5).enumerate() {
        let mut data = sound.clone();
        data[place] ^= [0x01, 0x80, 0xff, 0x0e, 0x40][turn % 5];
        fs::write(&damaged, &data).expect("writable");
        let (status, message) = reassemble(&damaged, &source);
        left_out += u64::from(status == 2);
        assert!(
            status == 0 || status == 2 && message.contains("left out:"),
            "{place:#x}: {message}"
        );
        let Some(toolchain) = assemblers.iter().find(|name| **name != "llvm-23") else { continue };
        let output = machine.assemble_plainly(toolchain, &source, &object);
        assert!(output.status.success(), "{place:#x}: {}", text(&output.stderr));
        let (compared, stdout, stderr) =
            sframe_check(&["reassemble".as_ref(), &*damaged, "--compare".as_ref(), &object]);
        assert_eq!(compared, status, "{place:#x}: {stdout}{stderr}");
    }
    assert!(left_out > 20, "{left_out}");
}

/// The file offset of each FDE in `.eh_frame`, and the address of its function. In this file, addresses are PC-relative
/// and have 4 bytes.
fn entries(data: &[u8]) -> Vec<(usize, u64)> {
    let section = range(data, ".eh_frame");
    let word = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"));
    let file = object::File::parse(data).expect("ELF");
    let address = file.section_by_name(".eh_frame").expect("a section").address();
    let mut found = Vec::new();
    let mut entry = section.start;
    while entry + 4 < section.end && word(entry) != 0 {
        if word(entry + 4) != 0 {
            let field = address + (entry + 8 - section.start) as u64;
            let distance = i64::from(word(entry + 8).cast_signed());
            found.push((entry, field.wrapping_add_signed(distance)));
        }
        entry += word(entry) as usize + 4;
    }
    found
}

/// Changes the sizes of functions and reassembles the file. Returns the exit status, the messages and the number of
/// functions in the output.
fn with_sizes(name: &str, size: impl Fn(u64) -> u64) -> (i32, String, usize) {
    let folder = folder(name);
    let mut data = fs::read(corpus().join(FILE)).expect("readable");
    for (entry, start) in entries(&data) {
        let size = u32::try_from(size(start)).expect("small");
        data[entry + 12..entry + 16].copy_from_slice(&size.to_le_bytes());
    }
    let (file, output) = (folder.join("sizes.so"), folder.join("sizes.s"));
    fs::write(&file, &data).expect("writable");
    let (status, message) = reassemble(&file, &output);
    let assembly = fs::read_to_string(&output).expect("written");
    assert!(assembly.len() < 10 * data.len());
    (status, message, assembly.matches(".cfi_startproc").count())
}

#[test]
fn ranges_outside_of_code_are_reported() {
    let (status, message, functions) = with_sizes("outside", |_| 0x7fff_ffff);
    assert!(status == 2 && functions == 0, "{message}");
    assert!(message.contains("the range is not in one code section"), "{message}");
    let (status, message, functions) = with_sizes("empty", |_| 0);
    assert!(status == 2 && functions == 0, "{message}");
    assert!(message.contains("the range has no bytes"), "{message}");
}

/// Assemblers always use a data alignment factor of -8, so offsets must be multiples of 8.
#[test]
fn offsets_that_assemblers_cannot_express_are_reported() {
    let folder = folder("factor");
    let mut data = fs::read(corpus().join(FILE)).expect("readable");
    let eh_frame = &mut data[range(&fs::read(corpus().join(FILE)).expect("readable"), ".eh_frame")];
    // Code alignment factor 1, data alignment factor -8, return address in column 16.
    let mut changed = 0;
    for place in 0..eh_frame.len() - 3 {
        if eh_frame[place..place + 3] == [1, 0x78, 16] {
            eh_frame[place + 1] = 0x7c;
            changed += 1;
        }
    }
    assert!(changed > 0);
    let (file, output) = (folder.join("factor.so"), folder.join("factor.s"));
    fs::write(&file, &data).expect("writable");
    let (status, message) = reassemble(&file, &output);
    assert!(status == 2 && message.contains("an offset is not a multiple"), "{message}");
    assert!(message.starts_with("0 functions"), "{message}");
}

/// All functions of `.text` extend to its end, so that the first one contains the others.
#[test]
fn nested_functions_are_reported() {
    let data = fs::read(corpus().join(FILE)).expect("readable");
    let file = object::File::parse(&*data).expect("ELF");
    let text = file.section_by_name(".text").expect("a section");
    let end = text.address() + text.size();
    let inside = |start: u64| start >= text.address() && start < end;
    let others = entries(&data).iter().filter(|(_, start)| inside(*start)).count() - 1;
    assert!(others > 1, "{others}");
    // Functions in other sections, such as PLT stubs, get no bytes.
    let size = |start| if inside(start) { end - start } else { 0 };
    let (status, message, functions) = with_sizes("overlap", size);
    assert!(status == 2 && functions == 1, "{message}");
    let line = format!("left out: {others} functions");
    let overlap = message.lines().find(|line| line.contains("overlaps another function's"));
    assert!(overlap.is_some_and(|overlap| overlap.starts_with(&line)), "{message}");
}

/// An AMD64 library with `count` functions of 16 bytes without symbols, after `count` symbols at one address. The
/// format of the CFI is in LSB 5.0, "Exception Frames".
fn piled_symbols(count: u32) -> Vec<u8> {
    let code = vec![0; 16 * (count as usize + 1)];
    // A CIE without augmentation, so that addresses are absolute: alignment factors 1 and -8, RA in column 16, CFA SP
    // + 8.
    let mut cfi = vec![12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 12, 7, 8];
    for number in 0..count {
        cfi.extend([20, 16 + number * 24 + 4].map(u32::to_le_bytes).concat());
        cfi.extend([0x1010 + u64::from(number) * 16, 16].map(u64::to_le_bytes).concat());
    }
    let loaded = |flags, address| {
        let sh_type = SHT_PROGBITS;
        SectionHeader { sh_type, flags, address, alignment: 1, ..SectionHeader::default() }
    };
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
    file.section_of(".text", &code, loaded(SHF_ALLOC | SHF_EXECINSTR, 0x1000));
    file.section_of(".eh_frame", &cfi, loaded(SHF_ALLOC, 0x1000_0000));
    // STT_FUNC.
    let symbol = Symbol { name: "f", info: 2, section: 1, value: 0x1000, size: 0 };
    file.symbols(&vec![symbol; count as usize]).expect("they can be counted");
    file.finish().expect("it is not that large")
}

/// Finding the symbol of a function does not search all symbols before it. With 100,000 of each, that took minutes.
#[test]
fn many_symbols_at_one_address_are_fast() {
    let folder = folder("piled");
    let (file, output) = (folder.join("piled.so"), folder.join("piled.s"));
    fs::write(&file, piled_symbols(100_000)).expect("writable");
    // The system ends it after 30 seconds of processor time.
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -t 30; exec \"$0\" reassemble \"$1\" -o \"$2\""]);
    let run = shell.arg(program::path()).args([&file, &output]).output().expect("sh runs");
    let message = text(&run.stderr);
    assert!(
        run.status.success() && message.starts_with("100,000 functions in 1 section"),
        "{} {message}",
        run.status
    );
}
