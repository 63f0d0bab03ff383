//! The files that `torture` gives to readers.

use std::fs;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};

use crate::{cases, folder, report, torture};

/// The program contains the whole corpus. Bare sections are wrapped in ELF files with the same bytes.
#[test]
fn readers_get_the_whole_corpus() {
    let kept = folder("cases-of-the-corpus");
    torture(&["--reader", "/no/such/reader", "--keep", kept.to_str().expect("UTF-8")]);
    let corpus = sframe_corpus::corpus().join("malformed");
    let mut files = 0;
    let folders =
        fs::read_dir(corpus).expect("readable").map(|entry| entry.expect("readable").path());
    let entries =
        folders.filter(|path| path.is_dir()).flat_map(|path| fs::read_dir(path).expect("readable"));
    for entry in entries {
        let path = entry.expect("readable").path();
        let bytes = fs::read(&path).expect("readable");
        let name = Path::new("malformed").join(path.file_name().expect("a name"));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("txt") => continue,
            Some("sframe") => {
                let file = fs::read(kept.join(name.with_extension("elf"))).expect("kept");
                let file = ElfFile64::<Endianness>::parse(&*file).expect("an ELF file");
                let section = file.section_by_name(".sframe").expect("a section");
                assert_eq!(section.data().expect("in the file"), bytes, "{}", path.display());
            }
            _ => assert!(fs::read(kept.join(&name)).expect("kept") == bytes, "{name:?}"),
        }
        files += 1;
    }
    assert_eq!(fs::read_dir(kept.join("malformed")).expect("readable").count(), files);
}

/// A little-endian field of an ELF file at `place` (gABI, "ELF Header", "Section Header", "Program Header").
fn field(file: &[u8], place: u64, size: usize) -> u64 {
    let start = usize::try_from(place).expect("small");
    file[start..start + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The file offsets of the section headers of type `sh_type`.
fn headers(file: &[u8], sh_type: u64) -> Vec<u64> {
    let (start, count) = (field(file, 0x28, 8), field(file, 0x3c, 2));
    (0..count)
        .map(|n| start + 64 * n)
        .filter(|place| field(file, place + 4, 4) == sh_type)
        .collect()
}

/// Each of these ELF files has the defect in its name: a size beyond the file's, or one part described many times. The
/// program's own verdict would not show a missing defect, since it also survives valid files.
#[test]
fn elf_bombs_have_the_defect_in_their_name() {
    let kept = folder("cases-of-headers");
    torture(&["--reader", "/no/such/reader", "--keep", kept.to_str().expect("UTF-8")]);
    let read = |name: &str| fs::read(kept.join(format!("bombs/elf-{name}.elf"))).expect("a case");
    let (symtab, rela, progbits) = (2, 4, 1);
    let size = |file: &[u8], place: u64| field(file, place + 32, 8);
    let entry_size = |file: &[u8], place: u64| field(file, place + 56, 8);

    let file = read("section-count");
    assert!(field(&file, 0x3c, 2) == 0 && size(&file, field(&file, 0x28, 8)) > file.len() as u64);
    let file = read("segment-count");
    let first = field(&file, 0x28, 8);
    assert_eq!((field(&file, 0x38, 2), field(&file, first + 44, 4)), (0xffff, 0xffff_ffff));
    let file = read("headers-of-no-size");
    assert!(field(&file, 0x3a, 2) == 0 && field(&file, 0x3c, 2) > 60_000);
    let file = read("table-over-itself");
    assert!(field(&file, 0x3a, 2) == 1 && field(&file, 0x3c, 2) > 60_000);
    let file = read("table-at-end-of-addresses");
    assert!(field(&file, 0x28, 8).checked_add(64).is_none());
    for (name, sh_type) in [("symbol-count", symtab), ("relocation-count", rela)] {
        let file = read(name);
        let tables = headers(&file, sh_type);
        assert!(tables.len() == 1 && size(&file, tables[0]) > file.len() as u64, "{name}");
    }
    let file = read("symbols-of-no-size");
    assert_eq!(entry_size(&file, headers(&file, symtab)[0]), 0);
    let file = read("section-end-wraps");
    let wraps =
        |place: &u64| field(&file, place + 24, 8).checked_add(size(&file, *place)).is_none();
    assert_eq!(headers(&file, progbits).iter().filter(|place| wraps(place)).count(), 1);
    for (name, sh_type) in
        [("shared-sections", progbits), ("shared-relocations", rela), ("shared-cfi", progbits)]
    {
        let file = read(name);
        let mut places: Vec<u64> =
            headers(&file, sh_type).iter().map(|place| field(&file, place + 24, 8)).collect();
        let count = places.len();
        places.dedup();
        assert!(count > 3_900 && places.len() <= 2, "{name}: {count}");
    }
    let file = read("shared-segments");
    assert!(field(&file, 0x38, 2) > 3_900);
}

/// The reason is a sentence, in the JSON report and after the failure in the text report.
#[test]
fn each_bomb_has_a_reason() {
    let (_, all) = report(&["--reader", "true"]);
    let cases = cases(&all);
    let reasons = |kind: &str| {
        let of_kind = cases.values().filter(|case| case["kind"] == kind);
        of_kind.map(|case| case["reason"].as_str()).collect::<Vec<_>>()
    };
    let bombs = reasons("bomb");
    assert_eq!(bombs.len(), cases.keys().filter(|file| file.starts_with("bombs/")).count());
    assert!(bombs.len() > 50);
    let is_sentence = |text: &str| text.ends_with('.') && text.starts_with(char::is_alphanumeric);
    assert!(bombs.iter().all(|reason| reason.is_some_and(is_sentence)), "{bombs:?}");
    for kind in ["sound", "malformed", "defect"] {
        assert!(reasons(kind).iter().all(Option::is_none), "{kind}");
    }
    let output = torture(&["--reader", "true"]).stdout;
    let text = String::from_utf8(output).expect("UTF-8");
    let mut lines = text.lines();
    assert!(lines.any(|line| line.contains("bombs/v2-function-count.elf: exit status 0, but it")));
    // num_fdes is a field of 32 bits (V2, "SFrame Header").
    let reason = "num_fdes is 2^32 - 1: the function table ends outside the section.";
    assert_eq!(lines.next().map(str::trim), Some(reason));
}
