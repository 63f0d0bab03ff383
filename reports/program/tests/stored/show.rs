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

#[test]
fn a_scan_that_did_not_end_is_said_to_be_incomplete() {
    let folder = folder("show-part");
    fs::create_dir_all(folder.join("tree")).expect("a folder");
    fs::write(folder.join("tree/notes"), "no ELF file").expect("a file");
    let report = told(&folder, &["tree", "--format", "ndjson"]).1;
    let first = report.lines().next().expect("a line");
    fs::write(folder.join("part"), format!("{first}\n")).expect("a report");
    assert_eq!(told(&folder, &["show", "part"]).0, 2);
    let (status, _, error) = told(&folder, &["show", "nowhere"]);
    assert_eq!(status, 3);
    assert!(error.contains("nowhere: "), "{error}");
}

/// `store-of-0.1.0` was kept by the program before records had one model, of `handwritten.so` (2.40), `plt.so`
/// (2.44), a text, a link to nothing and a named pipe. What it said then: 8 errors and a warning of version 1.
#[test]
fn a_store_of_an_earlier_program_is_read() {
    let folder = folder("show-old");
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored/store-of-0.1.0");
    let old = old.to_str().expect("UTF-8");
    let (status, shown, error) = told(&folder, &["show", old]);
    assert_eq!((status, error.as_str()), (1, ""));
    assert!(shown.contains("5 inputs: 2 files checked, 2 with an SFrame section"), "{shown}");
    let left_out = "1 not ELF, 1 symbolic link to nothing, 1 named pipe";
    assert!(shown.contains(left_out), "{shown}");
    let (status, changes, _) = told(&folder, &["compare", old, old]);
    assert!(status == 0 && changes.contains("nothing changed"), "{changes}");
}
