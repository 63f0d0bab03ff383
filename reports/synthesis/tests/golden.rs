//! Predicted sections against those that GNU as and ld wrote: the golden files of the corpus. `--nocapture` prints the
//! table.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::{Path, PathBuf};

use common::{compare, print};

/// Why the section of a file differs from the prediction: parts of its path after `golden/`, whether the size differs,
/// and the reason. The file's name comes last.
const EXPLAINED: &[(&str, bool, &str)] = &[
    // The inputs had no SFrame, or one of another version, for 3 of the 17 functions.
    ("mixed", true, "an input without a section of this version: 3 functions less"),
    ("stripped.o", true, "no relocations, so that CFI has no starts"),
    ("2.40/*/relocatable", true, "ld -r keeps the size of its inputs, with zeros at the end"),
    ("2.44/*/relocatable", true, "ld -r keeps the size of its inputs, with zeros at the end"),
    ("s390x/relocatable", true, "the assembler pads an object's section, and ld -r does not"),
    ("2.47.50/*/edges.so", true, "ld drops CFI without bytes of code, and keeps its SFrame"),
    ("edges.o", false, "a row at the end of a function: CFI has no row there"),
    ("2.40/*/cfi.o", true, "remembered-in-place"),
    ("2.44/*/cfi.o", true, "remembered-in-place"),
    ("2.40/*/handwritten.so", true, "remembered-in-place"),
    ("2.44/*/handwritten.so", true, "remembered-in-place"),
    ("s390x/cfi.o", false, "register-in-place"),
    ("s390x/handwritten.so", false, "register-in-place"),
];

/// Whether a path has the parts of a pattern, in order.
fn fits(path: &str, pattern: &str) -> bool {
    let mut rest = path;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(place) => {
            rest = rest.get(place + part.len()..).unwrap_or_default();
            true
        }
        None => false,
    })
}

fn reason(path: &Path) -> Option<&'static (&'static str, bool, &'static str)> {
    let path = path.to_string_lossy();
    EXPLAINED.iter().find(|(pattern, ..)| fits(&path, pattern))
}

/// The linked files and objects that GNU tools made from SFrame of one version.
fn golden() -> Vec<PathBuf> {
    let files = sframe_corpus::golden(&["o", "so", "exe"]);
    let by_gnu = |path: &PathBuf| {
        let path = path.to_string_lossy();
        ["/2.40/", "/2.44/", "/2.47.50/"].iter().any(|release| path.contains(release))
    };
    files.into_iter().filter(by_gnu).collect()
}

/// Each section has the predicted size to the byte, and the predicted rows, except where the table above says why not.
#[test]
fn golden_sections_are_as_predicted() {
    println!("file | release | predicted | real | functions | rows | real rows | different | why");
    let (mut equal, mut wrong, mut used) = (0, Vec::new(), vec![0_u32; EXPLAINED.len()]);
    for path in golden() {
        let data = std::fs::read(&path).expect("readable");
        let Some(compared) = compare(&data) else { continue };
        let same_size = compared.predicted.size == compared.real.size;
        if same_size && compared.different == 0 {
            equal += 1;
            print(&path, &compared, "");
            continue;
        }
        let known = reason(&path).filter(|(_, size, _)| *size || same_size);
        print(&path, &compared, known.map_or("UNEXPLAINED", |(.., why)| why));
        match known.and_then(|known| EXPLAINED.iter().position(|other| other == known)) {
            Some(index) => used[index] += 1,
            None => wrong.push((path, compared.example)),
        }
    }
    println!("{equal} equal, {} explained", used.iter().sum::<u32>());
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(equal > 300, "only {equal} sections are equal");
    let unused: Vec<_> = EXPLAINED.iter().zip(&used).filter(|(_, used)| **used == 0).collect();
    assert!(unused.is_empty(), "nothing differs any longer: {unused:?}");
}
