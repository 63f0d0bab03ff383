//! Standard output that cannot be written: no status says that all was printed, and the store is
//! complete all the same.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::Stdio;

use crate::{command, folder, golden_tree, told};

/// 128 + SIGPIPE, as shells report it.
const UNREAD: Option<i32> = Some(141);

/// The status where the reader has gone before anything was printed.
fn unread(folder: &Path, arguments: &[&str]) -> Option<i32> {
    let mut command = command(folder, arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
    drop(child.stdout.take());
    child.wait().expect("it ends").code()
}

/// The status where the device is full, and what is said of it.
fn full(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = command(folder, arguments).stdout(full).output().expect("it runs");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[test]
fn a_store_is_complete_where_its_findings_cannot_be_printed() {
    let folder = folder("output-store");
    golden_tree(&folder.join("tree"));
    let scan = |name: &'static str| ["--store", name, "--fail-on", "never", "tree"];
    assert_eq!(unread(&folder, &scan("unread")), UNREAD);
    let (status, error) = full(&folder, &scan("full"));
    assert_eq!(status, Some(3));
    assert!(error.contains("No space left on device"), "{error}");
    let expected = told(&folder, &scan("printed"));
    assert_eq!(expected.0, 0);
    for name in ["unread", "full"] {
        let manifest = format!("{name}/manifest.ndjson.zst");
        let (status, text, _) =
            told(&folder, &["status", "--manifest", &manifest, "--store", name]);
        assert_eq!((status, text.as_str()), (0, "1 of 1 whole\n"));
        let resumed = told(&folder, &["--store", name, "--resume", "--fail-on", "never", "tree"]);
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
    // They print nothing there.
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
        assert_eq!(told(&folder, &status).0, 0);
    }
}
