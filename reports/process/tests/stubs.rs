//! The frames in linkers' stubs on AArch64, in the golden files of all linkers. The truth is the code: only the first stub
//! moves SP, with its first instruction, as the psABI for AArch64 shows it ("Procedure Linkage Table").

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_corpus::golden;
use sframe_process::{Mapping, Modules, Witness};
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfSection};
use sframe_validator::unwind::{Cfa, Frame, Recovery};

/// Where a file is mapped, in addition to its own addresses.
const BIAS: u64 = 0x5500_0000_0000;

const PUSH: u32 = 0xa9bf_7bf0;
const JUMP: u32 = 0xd61f_0220;
const BREAKPOINT: u32 = 0xd420_0000;

/// The frame if SP was moved by a number of bytes.
fn frame(moved: i64) -> Frame {
    Frame {
        cfa: Cfa::RegisterOffset { register: Abi::Aarch64Little.sp(), offset: moved },
        ra: if moved == 0 { Recovery::Unchanged } else { Recovery::AtCfa(-8) },
        fp: Recovery::Unchanged,
        ra_signed: false,
    }
}

/// The addresses and instructions of a section.
fn code(elf: &Elf<'_>, section: &ElfSection<'_>) -> Vec<(u64, u32)> {
    let (words, _) = elf.section_data(section).expect("bytes").as_chunks::<4>();
    let addresses = (section.address..).step_by(4);
    addresses.zip(words.iter().map(|word| u32::from_le_bytes(*word))).collect()
}

#[test]
fn every_instruction_of_a_stub_has_a_frame() {
    let (mut stubs, mut pushed) = (0, 0);
    for path in golden(&["so", "exe"]) {
        let data = std::fs::read(&path).expect("a file");
        let elf = Elf::parse(&data).expect("ELF");
        if !elf.abi().is_some_and(Abi::is_aarch64) {
            continue;
        }
        let mut modules = Modules::new();
        let file = modules.add(path.as_os_str().as_encoded_bytes().to_vec(), Ok(&data));
        for section in elf.code_sections().filter(|section| section.is_stubs()) {
            modules.map(vec![Mapping {
                start: section.address + BIAS,
                end: section.address + section.size + BIAS,
                executable: true,
                file: Some((file, section.offset)),
            }]);
            let mut moved = 0;
            for (address, word) in code(&elf, section) {
                let mut row = |address| modules.statement(Witness::Code, address + BIAS).row;
                let found = row(address).ok();
                if word & 0xffe0_001f == BREAKPOINT {
                    continue;
                }
                let found = found.unwrap_or_else(|| panic!("{} {address:#x}", path.display()));
                assert_eq!(found.frame, frame(moved), "{} {address:#x}", path.display());
                assert_eq!(
                    (found.start, found.end),
                    (address + BIAS, address + BIAS + 4),
                    "{} {address:#x}",
                    path.display()
                );
                // No stub calls.
                assert!(row(address + 3).is_err());
                pushed += i64::from(moved == 16);
                match word {
                    PUSH => moved = 16,
                    JUMP => (moved, stubs) = (0, stubs + 1),
                    _ => {}
                }
            }
        }
    }
    println!("{stubs} stubs, {pushed} instructions after the push");
    assert!(stubs > 100 && pushed > 20);
}
