//! `show`: a store or a report is printed like the scan that wrote it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::{folder, golden_tree, outcome};

/// Makes a tree with golden files, a dangling link and a named pipe.
fn tree(folder: &Path) {
    golden_tree(&folder.join("tree"));
    symlink("nowhere", folder.join("tree/link")).expect("a link");
    let status = Command::new("mkfifo").arg(folder.join("tree/pipe")).status();
    assert!(status.expect("mkfifo runs").success());
}

/// The expected output is that of a scan without a store.
#[test]
fn a_store_is_shown_as_its_scan_is_printed() {
    let folder = folder("show");
    fs::create_dir_all(folder.join("tree")).expect("a folder");
    tree(&folder);
    assert_eq!(outcome(&folder, &["tree", "-q", "--store", "store"]).0, 0);
    for options in [&["--by-file"][..], &[], &["--coverage"], &["-q"], &["--verbose"]] {
        let scan = outcome(&folder, &[&["tree"], options].concat());
        let (status, mut shown, error) = outcome(&folder, &[&["show", "store"], options].concat());
        let mut printed = scan.1;
        if options.contains(&"--verbose") {
            // A store has only the number of files that are not ELF, not their names.
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
        let report = outcome(&folder, &["tree", "--format", format]).1;
        fs::write(folder.join("report"), &report).expect("a report");
        let (status, shown, _) = outcome(&folder, &["show", "report", "--format", format]);
        assert_eq!((status, shown), (0, report));
    }
}
