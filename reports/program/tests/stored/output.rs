//! Standard output that cannot be written: the exit status reports it, and the store is complete nevertheless.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::Stdio;

use crate::{command, folder, golden_tree, outcome};

/// 128 + SIGPIPE, the status that shells report.
const UNREAD: Option<i32> = Some(141);

/// The exit status if the pipe is closed before anything is printed.
fn unread(folder: &Path, arguments: &[&str]) -> Option<i32> {
    let mut command = command(folder, arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    drop(child.stdout.take());
    child.wait().expect("it ends").code()
}

/// The exit status and standard error if the device is full.
fn full(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = command(folder, arguments).stdout(full).output().expect("it runs");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[test]
fn a_store_is_complete_even_if_its_findings_cannot_be_printed() {
    let folder = folder("output-store");
    golden_tree(&folder.join("tree"));
    let scan = |name: &'static str| ["--store", name, "--fail-on", "never", "tree"];
    assert_eq!(unread(&folder, &scan("unread")), UNREAD);
    let (status, error) = full(&folder, &scan("full"));
    assert_eq!(status, Some(3));
    assert!(error.contains("No space left on device"), "{error}");
    let expected = outcome(&folder, &scan("printed"));
    assert_eq!(expected.0, 0);
    for name in ["unread", "full"] {
        let manifest = format!("{name}/manifest.ndjson.zst");
        let (status, text, _) =
            outcome(&folder, &["status", "--manifest", &manifest, "--store", name]);
        assert_eq!((status, text.as_str()), (0, "1 of 1 whole\n"));
        let resumed =
            outcome(&folder, &["--store", name, "--resume", "--fail-on", "never", "tree"]);
        assert_eq!(resumed, expected);
        assert_eq!(unread(&folder, &["compare", name, "printed"]), UNREAD);
        assert_eq!(full(&folder, &["compare", name, "printed"]).0, Some(3));
    }
}

#[test]
fn shards_and_their_merging_do_not_depend_on_output() {
    let folder = folder("output-shards");
    golden_tree(&folder.join("tree"));
    let shard = |shard: &'static str| ["scan", "--manifest", "m", "--store", "s", "--shard", shard];
    // These commands print nothing to standard output.
    assert_eq!(unread(&folder, &["plan", "tree", "--shards", "2", "-o", "m"]), Some(0));
    assert_eq!(unread(&folder, &shard("0")), Some(0));
    assert_eq!(full(&folder, &shard("1")).0, Some(0));
    assert_eq!(full(&folder, &["merge", "--manifest", "m", "--store", "s"]).0, Some(0));
    for format in ["text", "json"] {
        let status = ["status", "--manifest", "m", "--store", "s", "--format", format];
        assert_eq!(unread(&folder, &status), UNREAD);
        let (code, error) = full(&folder, &status);
        assert_eq!(code, Some(75));
        assert!(error.contains("No space left on device"), "{error}");
        assert_eq!(outcome(&folder, &status).0, 0);
    }
}
