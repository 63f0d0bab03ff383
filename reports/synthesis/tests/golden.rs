//! Predicted sections against those that GNU as and ld wrote: the golden files of the corpus. `--nocapture` prints each
//! of them. docs/FORECAST.md has their number by release and machine, which `SFRAME_BLESS=1` writes.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Compared, compare, print};
use sframe_synthesis::Account;

/// The lines around the table in docs/FORECAST.md.
const BEGIN: &str = "<!-- The golden files, by reports/synthesis/tests/golden.rs -->\n";
const END: &str = "<!-- End of the golden files -->\n";

/// Why sections differ from the prediction.
struct Explained {
    /// The parts of the path of such a file, with a star between them.
    path: &'static str,
    why: &'static str,
    /// What has to be equal nevertheless.
    holds: fn(&Compared) -> bool,
}

const EXPLAINED: &[Explained] = &[
    Explained {
        path: "/mixed",
        why: "one input has no section of this version: its 3 functions are missing, and the rest is as predicted",
        holds: |compared| {
            let (missing, bytes) = &compared.missing;
            let rest = compared.different.is_empty() && compared.further.is_empty();
            rest && missing.len() == 3 && compared.predicted.size - bytes == compared.real.size
        },
    },
    Explained {
        path: "/stripped.o",
        why: "without relocations, CFI does not say where functions are",
        holds: |compared| compared.predicted.functions == 0,
    },
    Explained {
        path: "/2.40/*/relocatable",
        why: "ld -r keeps the size of its inputs, with zeros at the end, and the wrong relocations",
        holds: without_padding,
    },
    Explained {
        path: "/2.44/*/relocatable",
        why: "ld -r keeps the size of its inputs, with zeros at the end, and the wrong relocations",
        holds: without_padding,
    },
    Explained {
        path: "/2.47.50/s390x/relocatable",
        why: "the assembler pads an object's section, and ld -r does not",
        holds: |compared| without_padding(compared) && compared.has_equal_rows(),
    },
    Explained {
        path: "/2.47.50/*/edges.so",
        why: "ld drops the CFI of two functions without bytes, and keeps their SFrame: 24 bytes each",
        holds: |compared| {
            compared.has_equal_rows() && compared.predicted.size + 48 == compared.real.size
        },
    },
];

/// Whether the sizes are equal without bytes at the end.
fn without_padding(compared: &Compared) -> bool {
    let used = |account: &Account| account.size - account.parts.unused;
    used(&compared.predicted) == used(&compared.real)
}

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

/// The linked files and objects that GNU tools made from SFrame of one version.
fn golden() -> Vec<PathBuf> {
    let files = sframe_corpus::golden(&["o", "so", "exe"]);
    let by_gnu = |path: &PathBuf| {
        let path = path.to_string_lossy();
        ["/2.40/", "/2.44/", "/2.47.50/"].iter().any(|release| path.contains(release))
    };
    files.into_iter().filter(by_gnu).collect()
}

/// The sections of a release and machine: linked files and objects that are as predicted; sections that differ, and where in
/// the table above the reason is.
#[derive(Default)]
struct Counts {
    linked: u64,
    objects: u64,
    explained: BTreeMap<usize, u64>,
}

/// The release and machine of a golden file, which are folders.
fn kind_of(path: &Path) -> (String, String) {
    let folders: Vec<_> = path.iter().rev().map(|part| part.to_string_lossy()).collect();
    let place = folders.iter().position(|of| of.starts_with("2.4")).expect("a release");
    (folders[place].to_string(), folders[place - 1].to_string())
}

fn table(counts: &BTreeMap<(String, String), Counts>) -> String {
    let mut text =
        "| release | machine | linked files as predicted | objects as predicted | explained |\n\
        |---|---|--:|--:|--:|\n"
            .to_owned();
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for ((release, machine), of) in counts {
        let explained: u64 = of.explained.values().sum();
        let (linked, objects) = (of.linked, of.objects);
        writeln!(text, "| {release} | {machine} | {linked} | {objects} | {explained} |")
            .expect("text");
        for (index, number) in &of.explained {
            *reasons.entry(EXPLAINED[*index].why).or_default() += number;
        }
    }
    text.push_str("\n| explained | reason |\n|--:|---|\n");
    for (why, number) in reasons {
        writeln!(text, "| {number} | {why} |").expect("text");
    }
    text
}

fn assert_documented(table: &str) {
    let path = sframe_corpus::repository().join("docs/FORECAST.md");
    let text = fs::read_to_string(&path).expect("docs/FORECAST.md");
    let (before, rest) = text.split_once(BEGIN).expect("the table's beginning");
    let (old, after) = rest.split_once(END).expect("the table's end");
    if std::env::var_os("SFRAME_BLESS").is_some() {
        return fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).expect("writable");
    }
    assert_eq!(old, table, "SFRAME_BLESS=1 writes the table");
}

/// Each section has the predicted size to the byte, and the predicted rows, except where the table above says why not.
#[test]
fn golden_sections_are_as_predicted() {
    println!("file | release | predicted | real | functions | rows | real rows | different | why");
    let (mut equal, mut wrong, mut used) = (0, Vec::new(), vec![0_u32; EXPLAINED.len()]);
    let mut counts: BTreeMap<_, Counts> = BTreeMap::new();
    for path in golden() {
        let data = std::fs::read(&path).expect("readable");
        let Some(compared) = compare(&data) else { continue };
        let name = path.to_string_lossy();
        let known = EXPLAINED.iter().position(|known| fits(&name, known.path));
        let of_kind = counts.entry(kind_of(&path)).or_default();
        if compared.is_equal() {
            equal += 1;
            let is_object = path.extension().is_some_and(|end| end == "o");
            *(if is_object { &mut of_kind.objects } else { &mut of_kind.linked }) += 1;
            print(&path, &compared, "");
        } else if let Some(index) = known.filter(|index| (EXPLAINED[*index].holds)(&compared)) {
            used[index] += 1;
            *of_kind.explained.entry(index).or_default() += 1;
            print(&path, &compared, EXPLAINED[index].why);
        } else {
            print(&path, &compared, "UNEXPLAINED");
            wrong.push((path, compared.different));
        }
    }
    println!("{equal} equal, {} explained", used.iter().sum::<u32>());
    assert!(wrong.is_empty(), "{wrong:x?}");
    assert!(equal > 320, "only {equal} sections are equal");
    assert!(used.iter().all(|used| *used > 0), "nothing differs any longer: {used:?}");
    assert_documented(&table(&counts));
}

/// Mistakes that cannot be predicted. `.cfi_escape` of an instruction that has a directive leaves no trace in CFI, and
/// rows with padding in the place of FP cannot be read. `ld -r` made the third.
const UNPREDICTABLE: [&str; 3] =
    ["escape-of-directive", "frame-pointer-restored", "relocations-left-behind"];

/// The objects of `corpus/differences`, in which assemblers make mistakes: the predictions have the same ones.
#[test]
fn mistakes_are_as_predicted() {
    let files = sframe_corpus::files(&sframe_corpus::corpus().join("differences"));
    let (mut equal, mut wrong) = (0, Vec::new());
    for path in files {
        let name = path.to_string_lossy();
        let by_gnu = ["/2.40.o", "/2.44.o", "/2.47.50.o"].iter().any(|file| name.ends_with(file));
        let by_gnu = by_gnu && !UNPREDICTABLE.iter().any(|known| name.contains(known));
        let data = if by_gnu { std::fs::read(&path).expect("readable") } else { continue };
        let Some(compared) = compare(&data) else { continue };
        if compared.is_equal() {
            equal += 1;
        } else {
            print(&path, &compared, "UNEXPLAINED");
            wrong.push((path, compared.different));
        }
    }
    println!("{equal} equal");
    assert!(equal > 30, "only {equal} sections are equal");
    assert!(wrong.is_empty(), "{wrong:x?}");
}
