//! Tests of written ELF files: GNU readelf prints them without a complaint, and with the values that were given.
//!
//! readelf is found as `readelf` or through SFRAME_READELF. Without it, the tests print a message; with
//! SFRAME_REQUIRE_TOOLS=1, they fail.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use sframe_corpus::tools::toolchains;
use sframe_validator::elf::{
    Class, ElfKind, PF_R, PT_LOAD, SHF_ALLOC, SHT_NOBITS, SHT_PROGBITS, Segment,
};
use sframe_validator::section::StartRelocation;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery};
use sframe_validator::write::elf::{
    ElfWriter, Image, Object, Relocation, SectionHeader, Symbol, TooLarge, claims,
};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Version};

/// What readelf prints, and its complaints; `None` if there is no readelf.
fn readelf(name: &str, file: &[u8], options: &[&str]) -> Option<(String, String)> {
    let tool = std::env::var("SFRAME_READELF").unwrap_or("readelf".to_owned());
    run(&tool, name, file, options)
}

fn run(tool: &str, name: &str, file: &[u8], options: &[&str]) -> Option<(String, String)> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, file).expect("writable");
    let output = Command::new(tool).env("LC_ALL", "C").arg("-W").args(options).arg(&path).output();
    if output.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        sframe_corpus::tools::missing(tool, "install binutils");
        return None;
    }
    let output = output.expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Some((text(output.stdout), text(output.stderr)))
}

/// What readelf prints about a file that it does not complain about.
fn sound(name: &str, file: &[u8], options: &[&str]) -> Option<String> {
    let (text, complaints) = readelf(name, file, options)?;
    assert!(complaints.is_empty() && !text.contains("Warning"), "{name}: {complaints}{text}");
    Some(text)
}

/// The columns of a section's line: name, type, address, offset, size, entry size, flags, link, info, alignment. The
/// flags may be missing.
fn section<'a>(text: &'a str, index: &str) -> Vec<&'a str> {
    let start = format!("[{index:>2}] ");
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&start));
    line.unwrap_or_else(|| panic!("no section {index} in {text}")).split_whitespace().collect()
}

/// The bytes that readelf dumps: five columns, an address and four times four bytes in hexadecimal.
fn dumped(text: &str) -> Vec<u8> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("  0x"));
    let digits: String = lines
        .flat_map(|line| {
            let end = line.len().min(9 + 36);
            line[9..end].split(' ').take(4).filter(|word| word.len() % 2 == 0)
        })
        .collect();
    let byte = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16).expect("digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// A frame at the entry of a function.
fn frame(abi: Abi) -> Frame {
    let (offset, ra) = match abi {
        Abi::Amd64 => (8, Recovery::AtCfa(-8)),
        Abi::S390x => (160, Recovery::Unchanged),
        Abi::Aarch64Big | Abi::Aarch64Little => (0, Recovery::Unchanged),
    };
    let cfa = Cfa::RegisterOffset { register: abi.sp(), offset };
    Frame { cfa, ra, fp: Recovery::Unchanged, ra_signed: false }
}

fn builder(version: Version, abi: Abi) -> SectionBuilder {
    let mut builder = SectionBuilder::new(version, abi);
    builder.function(FunctionBuilder::new(0x1000, 16).row(0, frame(abi)));
    builder
}

const MACHINES: [(Abi, &str, &str); 4] = [
    (Abi::Amd64, "little endian", "Advanced Micro Devices X86-64"),
    (Abi::Aarch64Little, "little endian", "AArch64"),
    (Abi::Aarch64Big, "big endian", "AArch64"),
    (Abi::S390x, "big endian", "IBM S/390"),
];

/// 64 bytes of code follow the file header and four program headers, so their file offset is 64 + 4 * 56 = 0x120.
#[test]
fn linked_files_have_the_given_contents() {
    for (abi, order, machine) in MACHINES {
        let built = builder(Version::V3, abi).address(0x4000).build().expect("it fits").bytes;
        let image = Image {
            abi,
            code: 0x1000..0x1040,
            sframe: (&built, 0x4000),
            typed: false,
            eh_frame: Some((&[0; 4], 0x5000)),
        };
        let name = format!("linked-{}", abi.name());
        let file = image.bytes().expect("small");
        let options = ["-h", "-S", "-l"];
        let Some(text) = sound(&name, &file, &options) else { return };
        for expected in ["Class:                             ELF64", order, machine, "DYN ("] {
            assert!(text.contains(expected), "no {expected} in {text}");
        }
        let code = ["PROGBITS", "0000000000001000", "000120", "000040", "00", "AX", "0", "0", "8"];
        assert_eq!(section(&text, "1"), [&[".text"][..], &code].concat());
        let size = format!("{:06x}", built.len());
        let sframe = ["PROGBITS", "0000000000004000", "000160", &size, "00", "A", "0", "0", "8"];
        assert_eq!(section(&text, "2"), [&[".sframe"][..], &sframe].concat());
        assert_eq!(section(&text, "3")[..2], [".eh_frame", "PROGBITS"]);
        assert_eq!(section(&text, "4")[..2], [".shstrtab", "STRTAB"]);
        let code = "LOAD           0x000120 0x0000000000001000 0x0000000000001000 0x000040 0x000040 R E 0x8";
        assert!(text.contains(code), "{text}");
        assert_eq!(text.matches("  LOAD  ").count(), 3, "{text}");
        let Some(dump) = sound(&name, &file, &["-x", ".sframe"]) else { return };
        assert_eq!(dumped(&dump), built, "{dump}");
    }
}

/// Code of more than a megabyte has no bytes in the file.
#[test]
fn large_code_has_no_bytes_in_the_file() {
    for (size, sh_type) in [(0x10_0000, "PROGBITS"), (0x10_0001, "NOBITS")] {
        let image = Image {
            abi: Abi::Amd64,
            code: 0x1000..0x1000 + size,
            sframe: (&[0xe2, 0xde], 0),
            typed: true,
            eh_frame: None,
        };
        let file = image.bytes().expect("small");
        assert_eq!(file.len() as u64 > size, sh_type == "PROGBITS");
        let Some(text) = sound("much-code", &file, &["-S", "-l"]) else { return };
        assert_eq!(
            section(&text, "1")[1..5],
            [sh_type, "0000000000001000", "0000e8", &format!("{size:06x}")]
        );
        let present = if sh_type == "PROGBITS" { size } else { 0 };
        let load = format!(
            "0x0000e8 0x0000000000001000 0x0000000000001000 {present:#08x} {size:#08x} R E"
        );
        assert!(text.contains(&load), "no {load} in {text}");
        // readelf before 2.45 prints the number.
        assert!(["LOOS+0xffffff4", "GNU_SFRAME"].contains(&section(&text, "2")[1]), "{text}");
        assert_eq!(text.matches("  GNU_SFRAME     0x").count(), 1, "{text}");
    }
}

/// The types are those that the ABIs define as PC-relative, with 32 bits before version 3 and 64 bits in version 3.
#[test]
fn objects_relocate_their_start_fields() {
    let names = [
        (Abi::Amd64, "R_X86_64_PC32", "R_X86_64_PC64"),
        (Abi::Aarch64Little, "R_AARCH64_PREL32", "R_AARCH64_PREL64"),
        (Abi::Aarch64Big, "R_AARCH64_PREL32", "R_AARCH64_PREL64"),
        (Abi::S390x, "R_390_PC32", "R_390_PC64"),
    ];
    for ((abi, narrow, wide), version) in
        names.into_iter().flat_map(|n| [(n, Version::V2), (n, Version::V3)])
    {
        let built = builder(version, abi).relocatable().build().expect("it fits");
        let target = Some(CodeAddress { section: 1, address: 0x20 });
        let relocation = |field: &u64| StartRelocation { field_offset: *field, target };
        let relocations: Vec<_> = built.start_fields.iter().map(relocation).collect();
        let object = Object {
            abi,
            version,
            code: 0x40,
            sframe: &built.bytes,
            typed: true,
            relocations: &relocations,
        };
        let file = object.bytes().expect("small");
        let Some(text) = sound("object", &file, &["-h", "-S", "-r", "-s"]) else { return };
        assert!(text.contains("REL (Relocatable file)"), "{text}");
        let kind = if version == Version::V3 { wide } else { narrow };
        let line =
            text.lines().find(|line| line.contains(kind)).unwrap_or_else(|| panic!("{text}"));
        let words: Vec<_> = line.split_whitespace().collect();
        // Offset 28, symbol 1 and its value, the section's name as the symbol's, and the addend.
        assert_eq!((words[0], &words[1][..8]), ("000000000000001c", "00000001"));
        assert_eq!(words[3..], ["0000000000000000", ".text", "+", "20"]);
        assert!(text.contains("Relocation section '.rela.sframe' at offset 0x"), "{text}");
        // The code follows the file header of 64 bytes, although it has no bytes in the file.
        let code = [".text", "NOBITS", "0000000000000000", "000040", "000040", "00", "AX"];
        let last = ["0", "0", "8"];
        assert_eq!(section(&text, "1"), [&code[..], &last].concat());
        let sframe = section(&text, "2");
        let size = format!("{:06x}", built.bytes.len());
        assert!(["LOOS+0xffffff4", "GNU_SFRAME"].contains(&sframe[1]), "{text}");
        assert_eq!((sframe[0], &sframe[4..7]), (".sframe", &[&size[..], "00", "A"][..]));
        assert_eq!(sframe[7..], last);
        // The fields link and info: .symtab is section 3, and .sframe is section 2.
        assert_eq!(section(&text, "5")[5..], ["18", "I", "3", "2", "8"]);
        assert!(text.contains("0000000000000000     0 SECTION LOCAL  DEFAULT    1"), "{text}");
    }
}

/// Numbers from 0xff00 on do not fit in the file header's fields (gABI, "ELF Header").
#[test]
fn more_headers_than_the_file_header_can_count() {
    let mut file = ElfWriter::new(Abi::S390x, ElfKind::Shared);
    let offset = file.append(&[1; 8], 8);
    for _ in 0..70_000 {
        let segment = Segment {
            p_type: PT_LOAD,
            flags: PF_R,
            offset,
            address: 0x1000,
            file_size: 8,
            memory_size: 8,
        };
        file.segment(segment);
        let header =
            SectionHeader { sh_type: SHT_PROGBITS, offset, size: 8, ..SectionHeader::default() };
        file.section("eight", header);
    }
    assert_eq!(file.next_index(), 70_001);
    let file = file.finish().expect("they can be counted");
    let Some((text, complaints)) = readelf("many-headers", &file, &["-h"]) else { return };
    assert_eq!(complaints, "");
    for expected in [
        "Number of program headers:         65535 (70000)",
        "Number of section headers:         0 (70002)",
        "Section header string table index: 65535 (70001)",
    ] {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
}

#[test]
fn local_symbols_come_first() {
    let mut file = ElfWriter::of_class(Class::Elf32, Abi::Amd64, ElfKind::Executable);
    let symbol = |name, info, section| Symbol { name, info, section, value: 0x1234, size: 5 };
    let code = SectionHeader {
        sh_type: SHT_NOBITS,
        flags: SHF_ALLOC,
        address: 0x1000,
        offset: 0x34,
        size: 0x1000,
        ..SectionHeader::default()
    };
    let code = file.section("code\0not part of the name", code);
    assert_eq!(code, 1);
    // STT_OBJECT, then STT_FUNC and global.
    let symbols = [symbol("a", 1, 1), symbol("", 1, 1), symbol("b", 0x12, 0xfff1)];
    let symbols = file.symbols(&symbols).expect("few");
    let relocation = Relocation { offset: 0x1008, symbol: 3, kind: 1, addend: -2 };
    file.relocations(".rela.code", (code, symbols), &[relocation]);
    let file = file.finish().expect("small");
    let Some(text) = sound("symbols", &file, &["-h", "-S", "-s", "-r"]) else { return };
    assert!(text.contains("ELF32") && text.contains("EXEC (Executable file)"), "{text}");
    assert_eq!(section(&text, "1")[..5], ["code", "NOBITS", "00001000", "000034", "001000"]);
    // The entry size, link and the first global symbol.
    assert_eq!(section(&text, "2")[5..], ["10", "3", "3", "4"]);
    let lines: Vec<String> = text
        .lines()
        .filter(|line| line.contains("00001234     5"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let expected = [
        "1: 00001234 5 OBJECT LOCAL DEFAULT 1 a",
        "2: 00001234 5 OBJECT LOCAL DEFAULT 1",
        "3: 00001234 5 FUNC GLOBAL DEFAULT ABS b",
    ];
    assert_eq!(lines, expected);
    assert!(text.contains("00001008  00000301 R_X86_64_64            00001234   b - 2"), "{text}");
}

/// Contents are at their given places, over any existing bytes. Program headers for which no space is reserved follow
/// the contents.
#[test]
fn contents_can_be_placed_anywhere() {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
    file.reserve_segments(1);
    assert_eq!(file.append(&[1; 3], 0), 64 + 56);
    assert_eq!(file.append(&[2; 3], 16), 128);
    file.place(0x200, &[3; 4]);
    file.place(0x202, &[4]);
    assert_eq!(file.append(&[5], 1), 0x204);
    let header = SectionHeader { sh_type: SHT_PROGBITS, alignment: 1, ..SectionHeader::default() };
    file.section("placed", SectionHeader { offset: 0x200, size: 5, ..header });
    file.section_of("after", &[6; 2], SectionHeader { alignment: 64, ..header });
    let segment = Segment {
        p_type: PT_LOAD,
        flags: PF_R,
        offset: 0,
        address: 0,
        file_size: 8,
        memory_size: 8,
    };
    file.segment(segment);
    let mut two = file.clone();
    two.segment(segment);
    let file = file.finish().expect("small");
    let two = two.finish().expect("small");
    assert_eq!((file[120], file[123], file[128], file[131]), (1, 0, 2, 0));
    let Some(text) = sound("placed", &file, &["-h", "-S", "-l"]) else { return };
    assert!(text.contains("Start of program headers:          64 (bytes"), "{text}");
    assert_eq!(section(&text, "2")[3..5], ["000240", "000002"]);
    let Some(dump) = sound("placed", &file, &["-x", "placed"]) else { return };
    assert_eq!(dumped(&dump), [3, 3, 4, 3, 5]);
    let Some(text) = sound("placed-two", &two, &["-h", "-S", "-l"]) else { return };
    // The names, of 24 bytes, are at 0x248.
    assert!(text.contains("Start of program headers:          608 (bytes"), "{text}");
}

/// A size in a header does not make the file longer.
#[test]
fn sizes_in_headers_do_not_make_files_longer() {
    let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
    let header = SectionHeader { sh_type: SHT_PROGBITS, size: 1 << 40, ..SectionHeader::default() };
    file.section("huge", header);
    let file = file.finish().expect("small");
    assert!(file.len() < 512);
    assert_eq!(TooLarge.to_string(), "the file is too large for ELF's fields");
    let Some((text, _)) = readelf("huge", &file, &["-S"]) else { return };
    assert_eq!(section(&text, "1")[4], "10000000000");
}

type Claim = fn(&mut claims::Tables);

/// Headers have the values that they are set to, in both byte orders, and their other fields do not change.
#[test]
fn readelf_prints_changed_headers() {
    for abi in [Abi::Amd64, Abi::S390x] {
        let mut file = ElfWriter::new(abi, ElfKind::Shared);
        file.section_of(
            "one",
            &[1; 16],
            SectionHeader { sh_type: SHT_PROGBITS, ..SectionHeader::default() },
        );
        let sound = file.finish().expect("small");
        let claimed = |change: Claim| {
            let mut file = sound.clone();
            claims::tables(&mut file, change).expect("a file");
            readelf("claims", &file, &["-h"]).map(|(text, _)| text)
        };
        let cases: [(Claim, &str); 7] = [
            (|t| t.segments_offset = 0x1234, "Start of program headers:          4660 "),
            (|t| t.sections_offset = 0x12_3456, "Start of section headers:          1193046 "),
            (|t| t.segment_size = 77, "Size of program headers:           77 "),
            (|t| t.segment_count = 78, "Number of program headers:         78"),
            (|t| t.section_size = 79, "Size of section headers:           79 "),
            (|t| t.section_count = 1_000, "Number of section headers:         1000"),
            (|t| t.names_index = 80, "Section header string table index: 80"),
        ];
        for (change, expected) in cases {
            let Some(text) = claimed(change) else { return };
            assert!(text.contains(expected), "no {expected} in {text}");
            assert!(text.contains("DYN ("), "{text}");
        }
        let mut file = sound.clone();
        let change = |header: &mut SectionHeader| {
            *header = SectionHeader {
                sh_type: SHT_NOBITS,
                flags: SHF_ALLOC,
                address: 0x1001,
                offset: 0x1002,
                size: 0x1003,
                link: 4,
                info: 5,
                alignment: 8,
                entry_size: 9,
                ..*header
            };
        };
        claims::section(&mut file, 1, change).expect("it is there");
        let Some((text, _)) = readelf("claims", &file, &["-S"]) else { return };
        let expected =
            ["one", "NOBITS", "0000000000001001", "001002", "001003", "09", "A", "4", "5", "8"];
        assert_eq!(section(&text, "1"), expected);
        claims::section(&mut file, 2, |header| header.name = 4).expect("it is there");
        let Some((text, _)) = readelf("claims", &file, &["-S"]) else { return };
        // The names are "\0one\0.shstrtab\0", so the name at 4 is empty.
        assert_eq!(section(&text, "2")[0], "STRTAB");
        assert_eq!(claims::section(&mut file, 1_000, |_| panic!("it is not there")), None);
    }
    let mut narrow =
        ElfWriter::of_class(Class::Elf32, Abi::Amd64, ElfKind::Shared).finish().expect("small");
    assert_eq!(claims::tables(&mut narrow, |_| panic!("of 64 bits")), None);
    assert_eq!(claims::section(&mut narrow, 0, |_| panic!("of 64 bits")), None);
    assert_eq!(claims::tables(&mut [], |_| panic!("no file")), None);
}

/// readelf 2.44, which knows version 2, decodes the section. `corpus/build` unpacks it.
#[test]
fn readelf_decodes_the_section() {
    let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
    let saved = |offset| Frame {
        cfa: Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset },
        fp: Recovery::AtCfa(-16),
        ..frame(Abi::Amd64)
    };
    // readelf 2.44 assumes that starts count from the section.
    builder.address(0x4000).with(|s| s.header.flags = 1);
    builder
        .function(FunctionBuilder::new(0x1000, 16).row(0, frame(Abi::Amd64)).row(4, saved(0x1000)));
    let section = builder.build().expect("it fits").bytes;
    let image = Image {
        abi: Abi::Amd64,
        code: 0x1000..0x1010,
        sframe: (&section, 0x4000),
        typed: false,
        eh_frame: None,
    };
    let file = image.bytes().expect("small");
    let tool = toolchains().join("2.44/bin/readelf").display().to_string();
    let Some((text, complaints)) = run(&tool, "decoded", &file, &["--sframe=.sframe"]) else {
        return;
    };
    assert_eq!(complaints, "");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).filter(|line| !line.is_empty()).collect();
    for expected in [
        "Version: SFRAME_VERSION_2",
        "Num FDEs: 1",
        "Num FREs: 2",
        "func idx [0]: pc = 0x1000, size = 16 bytes",
        "0000000000001000 sp+8 u f",
        "0000000000001004 sp+4096 c-16 f",
    ] {
        assert!(lines.iter().any(|line| line == expected), "no {expected} in {lines:#?}");
    }
}
