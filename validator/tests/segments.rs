//! Files without section headers: the sections that their program headers imply are the ones that the linker wrote.
//!
//! The truth is each file's own section header table, which the test takes away: linkers' files of the corpus, and the
//! programs and libraries of the system.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sframe_validator::Abi;
use sframe_validator::check::Checker;
use sframe_validator::elf::{
    Elf, ElfError, ElfKind, ElfSection, PF_R, PF_X, PT_LOAD, SHF_ALLOC, SectionHeaders, Segment,
    SymbolTable,
};
use sframe_validator::finding::UndecidedCause;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::elf::{ElfWriter, claims};

/// The sections that are found exactly, where the file has what leads to them.
const EXACT: [&str; 16] = [
    ".eh_frame_hdr",
    ".eh_frame",
    ".sframe",
    ".dynsym",
    ".dynstr",
    ".dynamic",
    ".hash",
    ".gnu.hash",
    ".gnu.version",
    ".rela.dyn",
    ".rela.plt",
    ".relr.dyn",
    ".init_array",
    ".fini_array",
    ".note.ABI-tag",
    ".note.gnu.build-id",
];

/// The sections of stubs.
const STUBS: [&str; 3] = [".plt", ".plt.sec", ".plt.got"];

/// The file with other places and sizes of tables in its header.
fn with_tables(mut file: Vec<u8>, change: impl FnOnce(&mut claims::Tables)) -> Vec<u8> {
    claims::tables(&mut file, change).expect("a 64-bit file");
    file
}

/// The file without section headers.
fn bare(mut file: Vec<u8>) -> Vec<u8> {
    claims::no_sections(&mut file).expect("a 64-bit file");
    file
}

type Place = (u64, u64, u64);

/// The places of the sections in memory that have bytes, by name.
fn places(elf: &Elf<'_>) -> BTreeMap<String, Place> {
    let loaded = elf.sections().iter().filter(|section| section.is_loaded() && section.size > 0);
    let place = |it: &ElfSection<'_>| (it.name.to_string(), (it.address, it.offset, it.size));
    loaded.map(place).collect()
}

/// Whether both are the same, or the implied one leaves out zeros at the end.
fn is_same_but_for_zeros(file: &[u8], listed: Option<&Place>, implied: Option<&Place>) -> bool {
    let (Some(listed), Some(implied)) = (listed, implied) else { return listed == implied };
    let (start, end) = (implied.1 + implied.2, listed.1 + listed.2);
    let rest = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let rest = rest.and_then(|(start, end)| file.get(start..end));
    (listed.0, listed.1) == (implied.0, implied.1)
        && rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
}

/// What a file implies that is not so, or does not imply although it should.
fn differences(path: &Path, file: &[u8]) -> Vec<String> {
    let whole = Elf::parse(file).expect("headers");
    let bytes = bare(file.to_vec());
    let elf = Elf::parse(&bytes).expect("program headers");
    assert_eq!(elf.section_headers(), SectionHeaders::Absent);
    let (listed, implied) = (places(&whole), places(&elf));
    let has = |p_type: u32| whole.segments().iter().any(|segment| segment.p_type == p_type);
    let mut found = Vec::new();
    for name in EXACT.into_iter().chain(STUBS) {
        let is_led_to = match name {
            ".eh_frame_hdr" | ".eh_frame" => has(0x6474_e550),
            ".sframe" => has(0x6474_e554),
            ".note.ABI-tag" | ".note.gnu.build-id" => has(4),
            ".plt.got" => has(2) && whole.abi() == Some(Abi::Amd64),
            _ => has(2),
        };
        // GNU ld keeps PT_GNU_SFRAME for a section without functions.
        let is_led_to = is_led_to && (name != ".sframe" || listed.contains_key(name));
        let (listed, implied) = (listed.get(name), implied.get(name));
        // Go's linker calls all of it `.rela`; and zeros after the terminator of `.eh_frame` are no entries.
        let is_same = match name {
            ".rela.dyn" if listed.is_none() => continue,
            ".eh_frame" => is_same_but_for_zeros(file, listed, implied),
            _ => listed == implied,
        };
        if is_led_to && !is_same {
            found.push(format!("{}: {name}: {listed:x?} and {implied:x?}", path.display()));
        }
    }
    // All code is code.
    for section in whole.code_sections() {
        let end = section.address + section.size.saturating_sub(1);
        for address in [section.address, end] {
            if elf.code_section_at(CodeAddress::absolute(address)).is_none() {
                found.push(format!("{}: {address:#x} in {}", path.display(), section.name));
            }
        }
    }
    // Exported functions have the same names.
    let names = |elf: &Elf<'_>| {
        let symbols = SymbolTable::load(elf).expect("symbols");
        let names = symbols.symbols().iter().filter(|it| it.global && it.size > 0);
        names.map(|it| (it.start.address, it.name.to_string())).collect::<Vec<_>>()
    };
    let has_all = whole.sections().iter().any(|section| section.sh_type == 2);
    if !has_all && names(&whole) != names(&elf) {
        found.push(format!("{}: symbols", path.display()));
    }
    if has(2)
        && whole.dynamic_relocations(0, u64::MAX).ok() != elf.dynamic_relocations(0, u64::MAX).ok()
    {
        found.push(format!("{}: dynamic relocations", path.display()));
    }
    found
}

fn is_linked(file: &[u8]) -> bool {
    Elf::parse(file).is_ok_and(|elf| {
        let is_wanted = matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared);
        is_wanted && elf.abi().is_some() && elf.code_sections().next().is_some()
    })
}

#[test]
fn linkers_files_imply_their_sections() {
    let files = sframe_corpus::golden(&["exe", "so"]);
    let read = |path: &PathBuf| std::fs::read(path).expect("readable");
    let linked: Vec<_> = files.iter().map(|path| (path, read(path))).collect();
    let linked: Vec<_> = linked.into_iter().filter(|(_, file)| is_linked(file)).collect();
    assert!(linked.len() > 100, "{}", linked.len());
    let found: Vec<_> = linked.iter().flat_map(|(path, file)| differences(path, file)).collect();
    assert!(found.is_empty(), "{}: {:#?}", found.len(), found);
}

/// GNU ld puts the stub for thread-local variables after the others, and fills the pointer of such a variable with 0, where this library has
/// code.
#[test]
fn stubs_for_thread_local_variables_are_implied() {
    let Some(tools) = sframe_corpus::tools::toolchain("2.47.50") else { return };
    let folder = sframe_corpus::folder!("thread-local");
    let source = "\t.globl f\nf:\tadrp x0,:tlsdesc:v\n\tldr x1,[x0,#:tlsdesc_lo12:v]\n\
                  \tadd x0,x0,#:tlsdesc_lo12:v\n\t.tlsdesccall v\n\tblr x1\n\tbl g\n\tret\n\
                  \t.section .tbss,\"awT\",@nobits\n\t.globl v\nv:\t.zero 8\n";
    let assembler = tools.join("aarch64-linux-gnu-as");
    let assembled = sframe_corpus::tools::assemble(&assembler, &[], &folder, source);
    assembled.expect("an object");
    for options in [&[][..], &["-z", "force-bti"]] {
        let mut linker = std::process::Command::new(tools.join("aarch64-linux-gnu-ld"));
        linker.args(["-shared", "-z", "noseparate-code", "-o", "f.so", "f.o"]).args(options);
        assert!(linker.current_dir(&folder).output().expect("ld runs").status.success());
        let file = std::fs::read(folder.join("f.so")).expect("a library");
        let listed = Elf::parse(&file).expect("headers");
        let is_plt = |it: &&ElfSection<'_>| it.name.bytes() == b".plt";
        let plt = listed.sections().iter().find(is_plt).expect("stubs");
        // A head, a stub for `g`, and the one for the variable.
        assert!(plt.size >= 32 + 16 + 32, "{}", plt.size);
        assert_eq!(differences(&folder.join("f.so"), &file), Vec::<String>::new());
    }
}

/// Debian's programs and libraries, as far as they are there, and those of other machines.
#[test]
fn files_of_the_system_imply_their_sections() {
    let count = sframe_corpus::tries(200, usize::MAX);
    let more = std::iter::once((sframe_corpus::files_of_roots(), usize::MAX));
    let folders = ["/usr/bin", "/usr/lib/x86_64-linux-gnu"].into_iter().filter_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        Some((paths, count))
    });
    let mut found = Vec::new();
    for (paths, count) in folders.chain(more) {
        let files = paths.into_iter().filter(|path| path.is_file() && !path.is_symlink());
        let files = files.filter_map(|path| Some((std::fs::read(&path).ok()?, path)));
        let files =
            files.filter(|(file, _)| file.get(4) == Some(&2) && is_linked(file)).take(count);
        found.extend(files.flat_map(|(file, path)| differences(&path, &file)));
    }
    assert!(found.is_empty(), "{}: {:#?}", found.len(), found);
}

/// Headers that cannot be right are not used: the sections are those of the file without headers.
#[test]
fn unusable_headers_are_not_used() {
    let file = sframe_corpus::read("golden/mold/x86_64/shared.so");
    let size = file.len() as u64;
    let state = |file: &[u8]| Elf::parse(file).expect("program headers").section_headers();
    let count = Elf::parse(&file).expect("headers").sections().len();
    assert_eq!(state(&file), SectionHeaders::Listed);
    assert_eq!(state(&bare(file.clone())), SectionHeaders::Absent);
    let outside = with_tables(file.clone(), |tables| tables.sections_offset = size);
    assert_eq!(state(&outside), SectionHeaders::Unreadable);
    let wraps = with_tables(file.clone(), |tables| tables.sections_offset = u64::MAX - 63);
    assert_eq!(state(&wraps), SectionHeaders::Unreadable);
    let unnamed = with_tables(file.clone(), |tables| tables.names_index = 0);
    assert_eq!(state(&unnamed), SectionHeaders::Unnamed);
    let mut moved = file.clone();
    for index in 1..u32::try_from(count).expect("few") {
        claims::section(&mut moved, index, |section| section.offset ^= 0x40).expect("a section");
    }
    assert_eq!(state(&moved), SectionHeaders::Contradicted);
    let mut moved = file.clone();
    for index in 1..u32::try_from(count).expect("few") {
        let code = |section: &mut sframe_validator::write::elf::SectionHeader| {
            if section.flags & 4 != 0 {
                section.address += 0x1000;
            }
        };
        claims::section(&mut moved, index, code).expect("a section");
    }
    assert_eq!(state(&moved), SectionHeaders::Contradicted);
    // One header that lies about code or CFI, by its offset or by its address.
    let elf = Elf::parse(&file).expect("headers");
    let named = elf.sections().iter().filter(|section| {
        [b".text".as_slice(), b".plt", b".eh_frame"].contains(&section.name.bytes())
    });
    let mut lying = 0;
    for section in named {
        for (offset, address) in [(0x10, 0), (0, 0x10), (0, 0_u64.wrapping_sub(0x10))] {
            let mut moved = file.clone();
            let moves = |section: &mut sframe_validator::write::elf::SectionHeader| {
                section.offset += offset;
                section.address = section.address.wrapping_add(address);
            };
            claims::section(&mut moved, section.index, moves).expect("a section");
            assert_eq!(state(&moved), SectionHeaders::Contradicted, "{:?}", section.name);
            lying += 1;
        }
    }
    assert_eq!(lying, 9);
    // The file was cut after its last segment, before the section headers.
    let elf = Elf::parse(&file).expect("headers");
    let ends = elf.segments().iter().map(|segment| segment.offset + segment.file_size);
    let end = usize::try_from(ends.max().expect("segments")).expect("small");
    assert!(end < file.len());
    assert_eq!(state(&file[..end]), SectionHeaders::Unreadable);
    let implied = |file: &[u8]| places(&Elf::parse(file).expect("headers"));
    let expected = implied(&bare(file.clone()));
    for other in [outside, wraps, unnamed, moved, file[..end].to_vec()] {
        assert_eq!(implied(&other), expected);
    }
    // One byte less, and bytes of a segment are missing.
    assert!(Elf::parse(&file[..end - 1]).is_err());
}

/// The memory of a loaded file, from its first page on, without the bytes that the loader would change.
fn image(file: &[u8]) -> Vec<u8> {
    let elf = Elf::parse(file).expect("headers");
    let loads = elf.segments().iter().filter(|segment| segment.p_type == PT_LOAD);
    let base = loads.clone().map(|segment| segment.address).min().expect("a segment") & !0xfff;
    let mut image = Vec::new();
    for segment in loads {
        let [at, from, size, end] = [
            segment.address - base,
            segment.offset,
            segment.file_size,
            segment.address - base + segment.memory_size,
        ]
        .map(|number| usize::try_from(number).expect("small"));
        image.resize(image.len().max(end.next_multiple_of(0x1000)), 0);
        image[at..at + size].copy_from_slice(&file[from..from + size]);
    }
    image
}

/// In an image of memory, segments are at the distance of their addresses, whatever their headers say.
#[test]
fn images_of_memory() {
    for name in ["mold/x86_64/shared.so", "mold/aarch64/shared.so", "mold/s390x/throw.so"] {
        let file = sframe_corpus::read(&format!("golden/{name}"));
        let addresses = |file: &[u8]| {
            let elf = Elf::parse(file).expect("headers");
            assert_ne!(elf.section_headers(), SectionHeaders::Listed, "{name}");
            let content = |it: &ElfSection<'_>| elf.section_data(it).expect("in the file").to_vec();
            // The first one is the file header, in which the test has changed the places of tables.
            let loaded = elf.sections().iter().filter(|it| it.is_loaded()).skip(1);
            loaded.map(|it| (it.address, it.size, content(it))).collect::<Vec<_>>()
        };
        let image = image(&file);
        assert_ne!(image, file);
        assert_eq!(addresses(&image), addresses(&bare(file)), "{name}");
    }
}

fn load(address: u64, offset: u64, size: u64) -> Segment {
    let flags = PF_R | PF_X;
    let (file_size, memory_size) = (size, size);
    Segment { p_type: PT_LOAD, flags, offset, address, file_size, memory_size }
}

/// A file of nothing but program headers and 64 bytes, at its end.
fn of_segments(segments: impl IntoIterator<Item = Segment>) -> Vec<u8> {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
    segments.into_iter().for_each(|segment| file.segment(segment));
    let mut file = bare(file.finish().expect("a file"));
    file.resize(file.len().max(0x200) + 64, 0x90);
    file
}

/// Segments overlap, wrap, are outside the file and have sizes that contradict each other: each address is in at most one
/// section, and nothing is added up beyond its end.
#[test]
fn segments_that_cannot_be() {
    let code = |file: &[u8]| {
        let elf = Elf::parse(file).expect("program headers");
        let code = elf.code_sections().map(|it| (it.address, it.size));
        code.collect::<Vec<_>>()
    };
    assert_eq!(code(&of_segments([])), []);
    let overlapping = of_segments([load(0x1000, 0x200, 32), load(0x1010, 0x210, 32)]);
    assert_eq!(code(&overlapping), [(0x1000, 32), (0x1020, 16)]);
    assert_eq!(code(&of_segments([load(u64::MAX - 7, 0x200, 16)])), [(u64::MAX - 7, 7)]);
    assert_eq!(code(&of_segments([load(0x1000, u64::MAX, 16)])), []);
    assert_eq!(code(&of_segments([load(0x1000, 1 << 40, 16)])), []);
    assert_eq!(code(&of_segments([load(0x1000, 0x200, u64::MAX)])), []);
    let larger = Segment { file_size: 32, ..load(0x1000, 0x200, 16) };
    assert_eq!(code(&of_segments([larger])), [(0x1000, 16)]);
    // The missing bytes are named.
    let file = of_segments([load(0x1000, 1 << 40, 16)]);
    let elf = Elf::parse(&file).expect("program headers");
    assert_eq!(
        elf.missing_code().map(|it| (it.address, it.size)).collect::<Vec<_>>(),
        [(0x1000, 16)]
    );
}

/// As many program headers as a file can have without section headers. Each with bytes of its own is a section; if all have
/// the same bytes, the file is refused.
#[test]
fn many_segments() {
    let count = 0xfffe_u64;
    let apart = of_segments((0..count).map(|number| load(number * 0x100, number, 1)));
    let elf = Elf::parse(&apart).expect("program headers");
    assert_eq!(elf.code_sections().map(|section| section.size).sum::<u64>(), count);
    let same = of_segments((0..count).map(|number| load(number * 0x1000, 0x200, 0x1000)));
    assert_eq!(Elf::parse(&same).map(|_| ()), Err(ElfError::SharedBytes));
}

/// Each of many segments leads to the same bytes, which have a million entries. The work is done once: if it were
/// done for each segment, the test would not end.
#[test]
fn many_segments_of_one_table() {
    // PT_NOTE, PT_GNU_EH_FRAME, PT_GNU_SFRAME, PT_DYNAMIC.
    for p_type in [4, 0x6474_e550, 0x6474_e554, 2] {
        let place = load(0x10_0000, 0x30_0000, 0x10_0000);
        let table = Segment { p_type, ..place };
        let mut large = of_segments([place].into_iter().chain((0..0x8000).map(|_| table)));
        large.resize(0x40_0000, 0);
        // A version and the encodings of `.eh_frame_hdr`; notes without a name or content are zeros.
        large[0x30_0000..0x30_0004].copy_from_slice(&[1, 0x1b, 0x03, 0x3b]);
        let parsed = Elf::parse(&large).expect("program headers");
        // The null section, and the bytes that are loaded.
        assert_eq!(parsed.sections().len(), 2, "{p_type:#x}");
    }
}

/// No field of the tables to which segments lead is believed: each word of them is set to each of some values.
#[test]
fn damaged_tables() {
    for name in ["x86_64", "aarch64", "s390x"] {
        let file = bare(sframe_corpus::read(&format!("golden/mold/{name}/shared.so")));
        let elf = Elf::parse(&file).expect("program headers");
        let wanted = [".eh_frame_hdr", ".dynamic", ".gnu.hash", ".hash", ".note.gnu.property"];
        let tables = elf
            .sections()
            .iter()
            .filter(|it| wanted.iter().any(|name| it.name.bytes() == name.as_bytes()));
        let words = tables.flat_map(|it| (it.offset..it.offset + it.size.min(0x400)).step_by(4));
        for offset in words {
            let at = usize::try_from(offset).expect("small");
            for value in [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0xffff_fff0] {
                let mut file = file.clone();
                file[at..at + 4].copy_from_slice(&value.to_le_bytes());
                let Ok(elf) = Elf::parse(&file) else { continue };
                let in_memory = elf.sections().iter().filter(|it| it.flags & SHF_ALLOC != 0);
                let sum: u64 = in_memory.filter(|it| it.is_loaded()).map(|it| it.size).sum();
                assert!(sum <= file.len() as u64, "{name}: {offset:#x}: {value:#x}");
                let _ = SymbolTable::load(&elf);
                let _ = elf.dynamic_relocations(0, u64::MAX);
            }
        }
    }
}

/// Only section headers say where anything is in an object.
#[test]
fn an_object_without_section_headers_is_undecided() {
    let object = sframe_corpus::read("golden/2.47.50/x86_64/calls.o");
    let undecided = |file: &[u8]| {
        let report = Checker::default().elf(&Elf::parse(file).expect("an ELF header"));
        report.undecided.iter().map(|one| one.cause).collect::<Vec<_>>()
    };
    assert_eq!(undecided(&object), []);
    assert_eq!(undecided(&bare(object)), [UndecidedCause::NoSectionHeaders]);
}
