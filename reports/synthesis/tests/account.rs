//! The account of a section against what its own header counts, and against a section whose bytes were counted by hand.

mod common;

use sframe_synthesis::{Sizes, account_of};
use sframe_validator::elf::Elf;
use sframe_validator::{Abi, Placement, Section, Version};

/// The assembler counted entries, rows and bytes of rows in the header of each golden file.
#[test]
fn accounts_agree_with_headers() {
    let mut seen = 0;
    for path in sframe_corpus::golden(&["o", "so", "exe"]) {
        let data = std::fs::read(&path).expect("readable");
        let Ok(elf) = Elf::parse(&data) else { continue };
        for sframe in elf.sframe_contents() {
            let (Ok(data), Ok(placement)) = (&sframe.data, sframe.placement()) else { continue };
            let Ok(section) = Section::parse(data, placement) else { continue };
            let account = account_of(&section).expect("an account");
            let (header, parts) = (section.header(), account.parts);
            let rows = parts.attributes + parts.row_starts + parts.row_info + parts.data_words;
            assert_eq!(account.functions, u64::from(header.num_fdes), "{}", path.display());
            assert_eq!(account.rows, u64::from(header.num_fres), "{}", path.display());
            assert_eq!(parts.row_info, account.rows, "{}", path.display());
            assert_eq!(rows, u64::from(header.fre_len), "{}", path.display());
            let known = parts.header + parts.auxiliary_header + parts.index + rows + parts.unused;
            assert_eq!(known, account.size, "{}", path.display());
            assert_eq!(account.size, sframe.header.size, "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 400, "only {seen} sections");
}

/// A section of version 3, written by hand from the format's tables (V3 2.1 to 2.4): two functions with the same rows,
/// and two bytes after them.
#[test]
fn parts_are_those_counted_by_hand() {
    let mut bytes = vec![0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0];
    let words = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    // 2 functions, 4 rows, 24 bytes of rows, the index at 0, the rows at 32.
    bytes.extend(words(&[2, 4, 24, 0, 32]));
    // The first function at 0x1000 is 16 bytes long, and so is the second one at 0x2000.
    bytes.extend((0x1000_i64 - 28).to_le_bytes());
    bytes.extend(words(&[16, 0]));
    bytes.extend((0x2000_i64 - 44).to_le_bytes());
    bytes.extend(words(&[16, 12]));
    for _ in 0..2 {
        // 2 rows of default form with start fields of one byte.
        bytes.extend([2, 0, 0, 0, 0]);
        // From 0: CFA = SP + 8. From 1: CFA = SP + 16, and FP at CFA - 16.
        bytes.extend([0, 3, 8]);
        bytes.extend([1, 5, 16, 0xf0]);
    }
    bytes.extend([0, 0]);
    let section = Section::parse(&bytes, Placement::at(0)).expect("sound");
    let account = account_of(&section).expect("an account");
    assert_eq!((account.version, account.abi), (Version::V3, Abi::Amd64));
    assert_eq!((account.functions, account.flexible, account.rows), (2, 0, 4));
    assert_eq!((account.size, account.code), (86, 32));
    let parts = account.parts;
    assert_eq!((parts.header, parts.auxiliary_header, parts.index), (28, 0, 32));
    assert_eq!((parts.attributes, parts.row_starts, parts.row_info), (10, 4, 4));
    assert_eq!((parts.data_words, parts.unused), (6, 2));
    // The second function's 12 bytes repeat those of the first.
    assert_eq!(account.shareable, 12);
}

/// What GNU readelf 2.47.50 prints for `2.47.50/x86_64/plt.so`, with `-SW` and `-lW`: the sizes of `.plt`, `.plt.got`
/// and `.text`, of `.eh_frame` and `.sframe`, and of two segments of type LOAD.
#[test]
fn sizes_are_those_that_readelf_prints() {
    let data = sframe_corpus::read("golden/2.47.50/x86_64/plt.so");
    let sizes = Sizes {
        file: 5920,
        loaded_file: 0x74c + 0x168,
        loaded_memory: 0x74c + 0x170,
        code: 0x40 + 8 + 0x101,
        eh_frame: 0x108,
        eh_frame_hdr: 0,
        debug_frame: 0,
        orc: 0,
        sframe: 0x120,
    };
    assert_eq!(Sizes::of(&Elf::parse(&data).expect("ELF")), sizes);
}

/// `readelf -SW` prints these sizes, and no flag A for `.debug_frame`: it is not loaded, and not part of `.eh_frame`.
#[test]
fn debug_frame_has_a_size_of_its_own() {
    let data = sframe_corpus::read("wrong-cfi/epilogue-above-branch/llvm-23.o");
    let sizes = Sizes::of(&Elf::parse(&data).expect("ELF"));
    assert_eq!((sizes.eh_frame, sizes.debug_frame), (0x50, 0x58));
}
