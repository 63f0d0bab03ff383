//! Wrong rows survive a repair, and are reported: files of lld and gold with one changed byte in their sections. The rows that
//! changed are those that GNU objdump prints for the repaired file, with and without the change; CFI agrees with the rows
//! without it.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[allow(dead_code, reason = "this program uses a part")]
mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use common::{Function, listed_file, listing};
use sframe_corpus::read;
use sframe_corpus::tools::toolchain;
use sframe_repair::{Remaining, remaining, repair};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

const FILES: [(&str, &str); 10] = [
    ("lld/x86_64/v2-shared.so", "2.44"),
    ("lld/x86_64/v2-static.exe", "2.44"),
    ("lld/x86_64/v3-shared.so", "2.47.50"),
    ("lld/x86_64/v3-static.exe", "2.47.50"),
    ("gold/x86_64/v1-shared.so", "2.40"),
    ("gold/x86_64/v1-static.exe", "2.40"),
    ("gold/x86_64/v2-shared.so", "2.44"),
    ("gold/x86_64/v2-static.exe", "2.44"),
    ("gold/x86_64/v3-shared.so", "2.47.50"),
    ("gold/x86_64/v3-static.exe", "2.47.50"),
];
/// The places in a section at which a byte is changed, one at a time.
const PLACES: usize = 80;

/// The values at each PC; `None` if rows are in another order, so that readers disagree.
fn values(functions: &[(u64, Function)]) -> Option<BTreeMap<u64, String>> {
    let mut values = BTreeMap::new();
    for (start, function) in functions {
        let ends = function.rows.iter().skip(1).map(|(at, _)| *at).chain([function.size]);
        for ((at, text), end) in function.rows.iter().zip(ends) {
            if *at >= end || end > function.size {
                return None;
            }
            values.extend((*at..end).map(|offset| (start + offset, text.clone())));
        }
    }
    Some(values)
}

/// Whether two rows say the same at a PC in different ways: right after `mov %rsp,%rbp`, and within `and $-64,%rsp` there, the CFA is
/// as far from RBP as from RSP.
fn are_alike(elf: &Elf<'_>, pc: u64, rows: [&str; 2]) -> bool {
    const MOVE: [u8; 3] = [0x48, 0x89, 0xe5];
    const MOVE_AND_ALIGN: [u8; 7] = [0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xc0];
    let from_sp = rows.map(|row| row.replacen("fp+", "sp+", 1));
    let is_before = |distance: u64, code: &[u8]| {
        let start = CodeAddress::absolute(pc - distance);
        elf.code_bytes(start, code.len() as u64) == Some(code)
    };
    let is_in_place = is_before(3, &MOVE) || (4..7).any(|at| is_before(at, &MOVE_AND_ALIGN));
    from_sp[0] == from_sp[1] && is_in_place
}

/// The starts and sizes of the functions.
fn shapes(functions: &[(u64, Function)]) -> Vec<(u64, u64)> {
    functions.iter().map(|(start, function)| (*start, function.size)).collect()
}

/// The PCs whose values the change of a byte changes; `None` if the file cannot be compared with the one without it.
fn changed(
    folder: &Path,
    objdump: &Path,
    good: &[(u64, Function)],
    repaired: &[u8],
) -> Option<Vec<u64>> {
    let path = folder.join("changed");
    std::fs::write(&path, repaired).expect("writable");
    let output = Command::new(objdump).arg("--sframe=.sframe").arg(&path).output();
    // It crashes if a row starts after the end of its function.
    let output = output.expect("objdump runs");
    let is_read = output.status.success() && output.stderr.is_empty();
    let found = listing(&String::from_utf8(output.stdout).ok().filter(|_| is_read)?);
    if shapes(&found) != shapes(good) {
        return None;
    }
    let (before, after) = (values(good).expect("sound"), values(&found)?);
    if before.len() != after.len() {
        return None;
    }
    let elf = Elf::parse(repaired).expect("ELF");
    let differs = |(pc, text): &(&u64, &String)| {
        after[*pc] != **text && !are_alike(&elf, **pc, [text, &after[*pc]])
    };
    Some(before.iter().filter(differs).map(|(pc, _)| *pc).collect())
}

#[test]
fn wrong_rows_are_reported() {
    let folder = sframe_corpus::folder!("wrong_rows");
    let (mut wrong, mut places) = (0, 0);
    for (name, version) in FILES {
        let Some(tools) = toolchain(version) else { return };
        let objdump = tools.join("x86_64-linux-gnu-objdump");
        let file = read(&format!("golden/{name}"));
        let sound = repair(&file).expect(name);
        assert_eq!(sound.remaining, [], "{name}");
        let good = listing(&listed_file(&folder, &objdump, &sound.bytes));
        let range = {
            let elf = Elf::parse(&file).expect("ELF");
            let section = elf.sframe_sections().next().expect("a section");
            let start = usize::try_from(section.offset).expect("small");
            start..start + usize::try_from(section.size).expect("small")
        };
        for place in 1..=PLACES {
            let mut file = file.clone();
            file[range.start + range.len() * place / (PLACES + 1)] ^= 0x18;
            let Ok(repaired) = repair(&file) else { continue };
            let Some(pcs) = changed(&folder, &objdump, &good, &repaired.bytes) else { continue };
            let contradictions = repaired.remaining.iter().find_map(|wrong| match wrong {
                Remaining::Contradicts { bytes, first, .. } => Some((*bytes, *first)),
                _ => None,
            });
            let first = pcs.first().map(|first| CodeAddress::absolute(*first));
            let expected = first.map(|first| (pcs.len() as u64, first));
            assert_eq!(contradictions, expected, "{name}, place {place}");
            wrong += usize::from(expected.is_some());
            places += 1;
            assert_eq!(remaining(&repaired.bytes).expect(name), repaired.remaining, "{name}");
        }
    }
    println!("{places} repaired files, {wrong} with wrong rows");
    assert!(wrong >= 100, "{wrong} of {places}");
}

/// What GNU ld 2.44 linked is as it was before: its mistakes and those of GNU as were judged (`JUDGED.tsv`), and are not wrong rows
/// of the file.
#[test]
fn known_defects_are_named_after_a_repair() {
    let judged = String::from_utf8(read("differences/JUDGED.tsv")).expect("text");
    let (mut files, mut known) = (0, 0);
    let golden = sframe_corpus::corpus().join("golden/2.44");
    for path in sframe_corpus::files(&golden) {
        if !path.extension().is_some_and(|name| name == "so" || name == "exe") {
            continue;
        }
        let Ok(repaired) = repair(&std::fs::read(&path).expect("readable")) else { continue };
        files += 1;
        for wrong in &repaired.remaining {
            let Remaining::Contradicts { known: Some(defect), .. } = wrong else {
                panic!("{}: {wrong}", path.display())
            };
            let name = path.file_name().expect("a name").to_string_lossy();
            let is_judged = |line: &str| line.ends_with(defect) && line.contains(&*name);
            assert!(judged.lines().any(is_judged), "{}: {defect}", path.display());
            known += 1;
        }
    }
    println!("{files} files, {known} known defects");
    assert!(files > 30 && known > 5, "{files} files, {known} known defects");
}
