//! What machine code proves about all callee-saved registers, against the rules of CFI as gimli reads them.

use std::collections::BTreeMap;

use gimli::{
    BaseAddresses, CieOrFde, EhFrame, LittleEndian, RegisterRule, UnwindContext, UnwindSection,
};
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Program;
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Recovery, Register};

/// RBX, RBP, R12 to R15 (AMD64 psABI 3.2.1), and X19 to X29 (AAPCS64 6.1.1).
fn callee_saved(abi: Abi) -> Vec<u32> {
    match abi {
        Abi::Amd64 => vec![3, 6, 12, 13, 14, 15],
        _ => (19..=29).collect(),
    }
}

/// Instructions before which CFI says that a register is saved, by what the code proves.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    /// That it is saved there.
    saved: u64,
    /// That the register still holds it.
    unchanged: u64,
    /// Nothing.
    unknown: u64,
}

/// For the first address of each row with saved registers, its end, and their offsets from the CFA.
type Rows = BTreeMap<u64, (u64, Vec<(Register, i64)>)>;

/// The rows of a linked file's `.eh_frame`, and the starts of its functions.
fn rows(data: &[u8], address: u64, abi: Abi) -> (Rows, Vec<u64>) {
    let (mut rows, mut starts) = (Rows::new(), Vec::new());
    let mut frames = EhFrame::new(data, LittleEndian);
    frames.set_address_size(8);
    let bases = BaseAddresses::default().set_eh_frame(address);
    let mut entries = frames.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(|_, bases, offset| frames.cie_from_offset(bases, offset))
        else {
            continue;
        };
        starts.push(fde.initial_address());
        let mut context = UnwindContext::new();
        let Ok(mut table) = fde.rows(&frames, &bases, &mut context) else { continue };
        while let Ok(Some(row)) = table.next_row() {
            let saved = callee_saved(abi).into_iter().filter_map(|register| {
                match row.register(gimli::Register(u16::try_from(register).ok()?)) {
                    Some(RegisterRule::Offset(offset)) => Some((Register(register), offset)),
                    _ => None,
                }
            });
            rows.insert(row.start_address(), (row.end_address(), saved.collect()));
        }
    }
    (rows, starts)
}

/// Compares a linked file. Panics if the code proves that a register is saved elsewhere than CFI says.
fn compare(file: &[u8], name: &str) -> Option<Counts> {
    let elf = Elf::parse(file).ok()?;
    let abi = elf.abi().filter(|abi| matches!(abi, Abi::Amd64 | Abi::Aarch64Little))?;
    let section = elf.sections().iter().find(|section| section.name.bytes() == b".eh_frame")?;
    let (rows, starts) = rows(elf.section_data(section).ok()?, section.address, abi);
    let cfi = Cfi::load_all(&elf).ok()?;
    let program = Program::of(&elf, &[], &cfi)?;
    let mut counts = Counts::default();
    for start in starts {
        let Some(mut function) = program.function(CodeAddress::absolute(start)) else { continue };
        let range = function.range();
        function.visit(range.start.address..range.end, |address, _, facts| {
            let row = rows.range(..=address).next_back();
            let Some((_, (_, saved))) = row.filter(|(_, (end, _))| address < *end) else { return };
            for (register, offset) in saved {
                match facts.recovery(*register) {
                    Some(Recovery::AtCfa(found)) => {
                        assert_eq!(found, *offset, "{name}: {register:?} at {address:#x}");
                        counts.saved += 1;
                    }
                    Some(Recovery::Unchanged) => counts.unchanged += 1,
                    _ => counts.unknown += 1,
                }
            }
        });
    }
    Some(counts)
}

#[test]
fn the_code_finds_what_cfi_says_about_all_registers() {
    let mut all = Counts::default();
    for path in sframe_corpus::golden(&["so", "exe"]) {
        let file = std::fs::read(&path).expect("readable");
        let Some(counts) = compare(&file, &path.display().to_string()) else { continue };
        all.saved += counts.saved;
        all.unchanged += counts.unchanged;
        all.unknown += counts.unknown;
    }
    println!("{all:?}");
    assert!(all.saved > 1000 && all.unknown < all.saved / 20, "{all:?}");
}
