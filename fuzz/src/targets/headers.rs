//! Passes ELF files, as they are and without their section headers, to the view that program headers imply, and to the comparison of
//! `.eh_frame_hdr` with `.eh_frame`.
//!
//! Nothing panics, sections that are implied share no memory, and what unwinders are said to miss is what a search of the
//! table, one PC after another, misses.

use sframe_oracle::cfi::{Cfi, Fde, Kind, SearchDefect, SearchDefectKind, check_search_table};
use sframe_validator::elf::{Elf, SearchEntry, SectionHeaders};

/// The most PCs, and the most entries, of a search that is made for each PC.
const MOST: u64 = 4096;

/// Reads a file with its section headers and without them.
///
/// # Panics
/// Panics if the view or the comparison violates a guarantee.
pub fn run(data: &[u8]) {
    look(data);
    if let Some(bare) = without_section_headers(data) {
        look(&bare);
    }
}

/// The file with no section headers (`e_shoff`, `e_shnum` and `e_shstrndx` are 0).
fn without_section_headers(data: &[u8]) -> Option<Vec<u8>> {
    let mut bare = data.to_vec();
    let (offset, numbers) = match data.get(4)? {
        1 => (32..36, 48..52),
        _ => (40..48, 60..64),
    };
    bare.get_mut(offset)?.fill(0);
    bare.get_mut(numbers)?.fill(0);
    Some(bare)
}

fn look(data: &[u8]) {
    let Ok(elf) = Elf::parse(data) else { return };
    if elf.section_headers() != SectionHeaders::Listed {
        implied(&elf);
    }
    let Ok(cfi) = Cfi::load_all(&elf) else { return };
    let mut defects = Vec::new();
    check_search_table(&elf, &cfi, &mut |defect| defects.push(defect));
    let table = elf.search_table().and_then(Result::ok);
    let entries = table.and_then(|table| table.entries().ok());
    let Some(mut entries) = entries.filter(|all| all.len() as u64 <= MOST).map(Vec::from_iter)
    else {
        return;
    };
    // An unwinder that searches a table out of order finds less.
    entries.sort_by_key(|entry| entry.start);
    for SearchDefect { kind, function } in defects {
        let (SearchDefectKind::Missing { bytes } | SearchDefectKind::Hidden { bytes, .. }) = kind
        else {
            continue;
        };
        let function = function.expect("a function is missed");
        assert!(bytes > 0 && bytes <= function.size());
        if function.size() <= MOST {
            assert_eq!(bytes, missed(&elf, &cfi, &entries, &function), "{kind:?}");
        }
    }
}

/// No two implied sections share memory.
fn implied(elf: &Elf<'_>) {
    let mut ranges: Vec<(u64, u64)> = elf
        .sections()
        .iter()
        .filter(|section| section.size > 0)
        .map(|section| (section.address, section.address.saturating_add(section.size)))
        .collect();
    ranges.sort_unstable();
    let apart = |pair: &[(u64, u64)]| pair[0].1 <= pair[1].0;
    assert!(ranges.windows(2).all(apart), "{ranges:x?}");
}

/// The number of PCs of a function for which the last entry that is not after them leads to no FDE that describes them.
fn missed(elf: &Elf<'_>, cfi: &[Cfi<'_>], entries: &[SearchEntry], function: &Fde<'_>) -> u64 {
    let start = elf.section(function.cfi().section()).map_or(0, |section| section.address);
    let sizes = |entry: &SearchEntry| {
        let mut functions = cfi.iter().filter(|cfi| cfi.kind() == Some(Kind::EhFrame));
        let mut functions = functions.next().into_iter().flat_map(Cfi::functions);
        let at = |fde: &Fde<'_>| start.checked_add(fde.offset()) == Some(entry.fde);
        functions.find(at).map_or(0, |fde| fde.size())
    };
    let sizes: Vec<u64> = entries.iter().map(sizes).collect();
    let is_missed = |pc: &u64| {
        let last = entries.iter().rposition(|entry| entry.start <= *pc);
        last.is_none_or(|last| pc - entries[last].start >= sizes[last])
    };
    let first = function.start().address;
    (first..first.saturating_add(function.size())).filter(is_missed).count() as u64
}
