//! Every command on stores reports refused accesses with their paths. Root has access to everything, so if the tests
//! run as root, the commands run as another user.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::{command, folder, golden_tree, outcome};

/// A folder with a file `f`, the manifest `m` of two shards and its complete store `s`.
fn prepared(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    golden_tree(&folder.join("tree"));
    fs::write(folder.join("f"), "").expect("a file");
    assert_eq!(outcome(&folder, &["plan", "tree", "--shards", "2", "-o", "m"]).0, 0);
    for shard in ["0", "1"] {
        let scan = ["scan", "--manifest", "m", "--shard", shard, "--store", "s"];
        assert_eq!(outcome(&folder, &scan).0, 0);
    }
    assert_eq!(outcome(&folder, &["merge", "--manifest", "m", "--store", "s"]).0, 0);
    folder
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

#[test]
fn permission_errors_name_the_path() {
    let folder = prepared("refused-mode");
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let nobody = is_root.then_some(65_534);
    let refused = |arguments: &[&str]| {
        let mut command = command(&folder, arguments);
        if let Some(nobody) = nobody {
            command.uid(nobody).gid(nobody);
        }
        let output = command.output().expect("the program runs");
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let status = ["status", "--manifest", "m", "--store", "s"];
    let merge = ["merge", "--manifest", "m", "--store", "s"];
    let commands: [&[&str]; 3] = [&status, &merge, &["compare", "s", "s"]];
    for (name, readers) in [
        ("run.json", 3),
        ("files.ndjson", 3),
        ("shards/00001.ndjson.zst", 3),
        ("manifest.ndjson.zst", 3),
        ("tables/files/shard=00001/rows.parquet", 2),
    ] {
        let path = folder.join("s").join(name);
        mode(&path, 0);
        for arguments in &commands[..readers] {
            let error = refused(arguments);
            assert!(
                error.contains(&format!("s/{name}: Permission denied")),
                "{arguments:?}: {error}"
            );
        }
        mode(&path, 0o644);
    }
    let closed = folder.join("closed");
    fs::create_dir(&closed).expect("a folder");
    mode(&closed, 0o555);
    for (arguments, path) in [
        (&["--store", "closed/s", "tree"] as &[&str], "cannot make closed/s: "),
        (&["--store", "closed", "tree"], "cannot write a file in closed: "),
        (&["plan", "tree", "--shards", "1", "-o", "closed/m"], "closed/m: "),
        (
            &["scan", "--manifest", "m", "--shard", "0", "--store", "closed/s"],
            "cannot make closed/s/shards: ",
        ),
    ] {
        let error = refused(arguments);
        assert!(error.contains(&format!("{path}Permission denied")), "{arguments:?}: {error}");
    }
}
