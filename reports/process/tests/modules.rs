//! The rows at runtime addresses, for the linked files of the golden corpus, mapped as the kernel maps them. The truth is
//! the comparison of the whole file, which finds rows by sweeping over it, and is itself compared with other tools.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use sframe_corpus::golden;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::look_up;
use sframe_process::{FileId, Mapping, Modules, Silence, UnusableFile, Witness};
use sframe_validator::elf::{Elf, ElfKind, PF_X, PT_LOAD};
use sframe_validator::unwind::{CodeAddress, Frame};
use sframe_validator::{Section, Version};

/// Where the kernel could map a file that chooses no address.
const BIAS: u64 = 0x5555_5555_4000;
const PAGE: u64 = 0x1000;

/// The mappings of a file: whole pages, and of pages that segments share, those of the later one.
fn mappings(elf: &Elf<'_>, file: FileId, bias: u64) -> Vec<Mapping> {
    let loads = elf.segments().iter().filter(|s| s.p_type == PT_LOAD && s.file_size > 0);
    let mut mappings: Vec<Mapping> = loads
        .map(|segment| Mapping {
            start: bias + (segment.address & !(PAGE - 1)),
            end: bias + (segment.address + segment.file_size).next_multiple_of(PAGE),
            executable: segment.flags & PF_X != 0,
            file: Some((file, segment.offset & !(PAGE - 1))),
        })
        .collect();
    for number in 1..mappings.len() {
        let start = mappings[number].start;
        mappings[number - 1].end = mappings[number - 1].end.min(start);
    }
    mappings
}

#[test]
fn rows_are_found_at_runtime_addresses() {
    let (mut files, mut rows, mut moved, mut repeated) = (0, [0_u64; 2], 0, 0);
    for path in golden(&["so", "exe"]) {
        let data = std::fs::read(&path).expect("a file");
        let elf = Elf::parse(&data).expect("ELF");
        let contents: Vec<_> = elf.sframe_contents().collect();
        // Several sections that describe one place are a defect, about which there are other tests.
        if contents.len() > 1 || elf.abi().is_none() {
            continue;
        }
        let sections: Vec<Section<'_>> = contents
            .iter()
            .filter_map(|c| {
                Section::parse(c.data.ok()?, c.placement().ok()?.with_abi(elf.abi())).ok()
            })
            .collect();
        let cfi = Cfi::load_all(&elf).expect("CFI");
        let places: Vec<CodeAddress> = elf
            .code()
            .flat_map(|(start, size)| {
                (0..size).map(move |o| CodeAddress::absolute(start.address + o))
            })
            .collect();
        let expected = look_up(&elf, &sections, &cfi, &places);
        let bias = if elf.kind() == ElfKind::Executable { 0 } else { BIAS };
        moved += u32::from(bias > 0);
        let mut modules = Modules::new();
        let file = modules.add(b"file".to_vec(), Ok(&data));
        modules.map(mappings(&elf, file, bias));
        for (place, range) in places.iter().zip(&expected) {
            let range = range.as_ref().expect("a range");
            let at = format!("{} {:#x}", path.display(), place.address);
            // The machine code has its own tests.
            for (number, witness) in [Witness::Sframe, Witness::Cfi].into_iter().enumerate() {
                let found = modules.statement(witness, bias + place.address);
                // Version 1 does not record after how many bytes the rows of a PLT repeat. The comparison finds that out
                // from CFI, a walker must not.
                let is_repeated = |section: &Section<'_>| section.header().version == Version::V1;
                if let Err(Silence::Unreadable(reason)) = &found.row {
                    assert!(sections.iter().any(is_repeated), "{witness} {at}: {reason}");
                    repeated += 1;
                    continue;
                }
                let frame: Option<Frame> = found.row.as_ref().ok().map(|row| row.frame);
                let expected = match witness {
                    Witness::Sframe => {
                        range.sframe.as_ref().map(|s| (s.frame, s.function.start.address))
                    }
                    // The comparison reads no rows of CFI where SFrame has none.
                    _ => {
                        range.cfi.as_ref().map(|s| (s.frame.or(frame), s.function.start().address))
                    }
                };
                assert_eq!(frame, expected.and_then(|(frame, _)| frame), "{witness} {at}");
                let Some(frame) = frame else {
                    assert!(!matches!(found.row, Err(Silence::Unmapped)), "{at}");
                    continue;
                };
                let row = found.row.expect("a row");
                assert!(row.contains(bias + place.address), "{witness} {at}: {row:x?}");
                assert_eq!(row.frame, frame);
                let start = found.function.expect("a function").0;
                assert_eq!(
                    Some(start.wrapping_sub(bias)),
                    expected.map(|(_, start)| start),
                    "{at}"
                );
                rows[number] += 1;
            }
        }
        files += 1;
    }
    println!("{files} files, {moved} of them moved, {rows:?} rows, {repeated} repeated");
    assert!(files > 100 && moved > 50 && rows[0] > 10_000 && rows[1] > 20_000);
    assert!(repeated < rows[0] / 20);
}

/// Addresses outside of the code have a reason and no row.
#[test]
fn every_silence_has_a_reason() {
    let data = sframe_corpus::read("golden/2.47.50/x86_64/edges.so");
    let elf = Elf::parse(&data).expect("ELF");
    let mut modules = Modules::new();
    let file = modules.add(b"edges.so".to_vec(), Ok(&data));
    let missing = UnusableFile::new(b"gone", std::io::Error::other("no such file"));
    let broken = modules.add(b"gone".to_vec(), Err(missing));
    let text = modules.add(b"notes.txt".to_vec(), Ok(b"text"));
    let mapping = |start, executable, file| Mapping { start, end: start + PAGE, executable, file };
    let mut all = mappings(&elf, file, BIAS);
    all.push(mapping(0x1000, true, None));
    all.push(mapping(0x2000, true, Some((broken, 0))));
    all.push(mapping(0x3000, true, Some((text, 0))));
    all.push(mapping(0x4000, true, Some((file, 0x10_0000))));
    modules.map(all);
    let mut silence =
        |address| modules.statement(Witness::Sframe, address).row.expect_err("no row");
    assert_eq!(silence(0x500), Silence::Unmapped);
    assert_eq!(silence(u64::MAX), Silence::Unmapped);
    assert_eq!(silence(0x1010), Silence::NoFile);
    assert_eq!(silence(0x2010), Silence::File("gone cannot be used: no such file".to_owned()));
    assert_eq!(
        silence(0x3010),
        Silence::File("notes.txt cannot be used: not an ELF file".to_owned())
    );
    let nothing =
        "edges.so cannot be used: its program headers load nothing from file offset 0x100000";
    assert_eq!(silence(0x4010), Silence::File(nothing.to_owned()));
    assert_eq!(silence(BIAS), Silence::NoFunction);
    assert_eq!(silence(BIAS + 0x1f38), Silence::NotExecutable);
}

/// The truth is `readelf -sW`.
#[test]
fn symbols_are_found() {
    let data = sframe_corpus::read("golden/2.47.50/x86_64/edges.so");
    let elf = Elf::parse(&data).expect("ELF");
    let mut modules = Modules::new();
    let file = modules.add(b"edges.so".to_vec(), Ok(&data));
    modules.map(mappings(&elf, file, BIAS));
    let mut symbol =
        |address| modules.symbol(BIAS + address).map(|s| (s.name.to_string(), s.offset));
    assert_eq!(symbol(0x2e0), Some(("sum".to_owned(), 0)));
    assert_eq!(symbol(0x2e0 + 68), Some(("sum".to_owned(), 68)));
    assert_eq!(symbol(0x2e0 + 69), None);
    assert_eq!(symbol(0x2d2), Some(("twice".to_owned(), 2)));
    assert_eq!(symbol(0x10_0000), None);
}

/// The truth is `info symbol` of gdb, and `readelf -sW`: the second symbol has no size, and reaches up to the end of `.text`.
#[test]
fn code_without_a_size_has_the_name_before_it() {
    let data = sframe_corpus::read("golden/2.47.50/x86_64/plt-only.so");
    let elf = Elf::parse(&data).expect("ELF");
    let mut modules = Modules::new();
    let file = modules.add(b"plt-only.so".to_vec(), Ok(&data));
    modules.map(mappings(&elf, file, BIAS));
    let mut symbol =
        |address| modules.symbol(BIAS + address).map(|s| (s.name.to_string(), s.offset));
    assert_eq!(symbol(0x39a), Some(("uses".to_owned(), 0x2a)));
    assert_eq!(symbol(0x39b), Some(("bare".to_owned(), 0)));
    assert_eq!(symbol(0x3a2), Some(("bare".to_owned(), 7)));
    assert_eq!(symbol(0x3a3), None);
    // A symbol without a type is a name, but it need not start a function.
    let starts: Vec<bool> =
        [0x370, 0x371, 0x39b].iter().map(|at| modules.starts_function(BIAS + at)).collect();
    assert_eq!(starts, [true, false, false]);
}
