//! Interrupting a scan with a store.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::{command, folder, golden_tree, outcome};

#[test]
fn an_interrupted_scan_reports_its_finished_shards() {
    let folder = folder("interrupt");
    golden_tree(&folder.join("golden"));
    // Each of these files fills a shard, and takes a while to hash.
    fs::create_dir(folder.join("tree")).expect("a folder");
    for name in ["a", "b"] {
        let path = folder.join("tree").join(name);
        fs::copy(folder.join("golden/2.44/static.exe"), &path).expect("a copy");
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_len(260 << 20).expect("a hole");
    }
    // A terminal sends the signal to the process group, which has the program and its checker.
    let mut scan = command(&folder, &["--store", "store", "tree", "-j", "1"]);
    let scan = scan.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let scan = scan.spawn().expect("it runs");
    let group = Pid::from_raw(scan.id().try_into().expect("a process"));
    let first = folder.join("store/shards/00000.ndjson.zst");
    let begun = Instant::now();
    while !first.exists() && begun.elapsed() < Duration::from_secs(120) {
        thread::sleep(Duration::from_millis(2));
    }
    killpg(group, Signal::SIGINT).expect("it runs");
    let output = scan.wait_with_output().expect("it ends");
    let error = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{error}");
    let kept = error.split_once("interrupted: ").and_then(|(_, kept)| kept.split_once(" of 2"));
    let kept =
        kept.and_then(|(kept, _)| kept.parse::<u32>().ok()).expect("the number of kept shards");
    assert_eq!(kept, 1, "{error}");
    assert!(text.contains(&format!("{kept} input")), "{kept} {text}");

    let (status, text, error) = outcome(&folder, &["--store", "store", "--resume", "tree"]);
    assert_eq!(status, 0, "{error}");
    assert!(text.contains("2 inputs: 2 files checked"), "{text}");
}
