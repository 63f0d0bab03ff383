//! Files that are read while they change.

use sframe_corpus::folder;
use sframe_process::Files;

#[test]
fn a_file_that_has_changed_is_named() {
    let folder = folder!("changed-file");
    let (same, changed) = (folder.join("same"), folder.join("changed"));
    for path in [&same, &changed] {
        std::fs::write(path, [1; 100]).expect("written");
    }
    let files = Files::default();
    for path in [&same, &changed] {
        files.open(path).expect("a file");
    }
    assert!(files.intact().is_ok());
    std::fs::write(&changed, [1; 50]).expect("written");
    let reason = format!("{} cannot be used: it changed while it was read", changed.display());
    assert_eq!(files.intact().expect_err("it has changed").to_string(), reason);
}
