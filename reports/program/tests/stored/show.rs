//! `show`: a scan that was kept is printed as a new one is, whichever program kept it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::{folder, golden_tree, told};

/// Files, a link to nothing and a named pipe.
fn tree(folder: &Path) {
    golden_tree(&folder.join("tree"));
    symlink("nowhere", folder.join("tree/link")).expect("a link");
    let made = Command::new("mkfifo").arg(folder.join("tree/pipe")).status();
    assert!(made.expect("mkfifo runs").success());
}

/// The truth is the scan without a store.
#[test]
fn a_store_is_shown_as_its_scan_is_printed() {
    let folder = folder("show");
    fs::create_dir_all(folder.join("tree")).expect("a folder");
    tree(&folder);
    assert_eq!(told(&folder, &["tree", "-q", "--store", "store"]).0, 1);
    for options in [&["--by-file"][..], &[], &["--coverage"], &["-q"], &["--verbose"]] {
        let scan = told(&folder, &[&["tree"], options].concat());
        let (status, mut shown, error) = told(&folder, &[&["show", "store"], options].concat());
        let mut printed = scan.1;
        if options.contains(&"--verbose") {
            // A store counts what is not ELF, and does not name it.
            let named = |line: &&str| !line.contains(": not checked, ");
            printed = printed.lines().filter(named).map(|line| format!("{line}\n")).collect();
            shown = shown.lines().map(|line| format!("{line}\n")).collect();
        }
        assert_eq!(shown, printed, "{options:?}");
        assert_eq!((status, error.as_str()), (scan.0, ""));
    }
}

#[test]
fn a_report_is_shown_as_its_scan_is_printed() {
    let folder = folder("show-report");
    fs::create_dir_all(folder.join("tree")).expect("a folder");
    tree(&folder);
    for format in ["json", "ndjson"] {
        let report = told(&folder, &["tree", "--format", format]).1;
        fs::write(folder.join("report"), &report).expect("a report");
        let (status, shown, _) = told(&folder, &["show", "report", "--format", format]);
        assert_eq!((status, shown), (1, report));
    }
}
