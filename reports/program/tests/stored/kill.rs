//! A scan that is killed at any moment can be resumed.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use crate::{command, folder, golden_tree, records, run};

/// The number of scans that are to be killed, and the number of those that have to be killed before their end.
const SCANS: u32 = 40;
const KILLED: u32 = SCANS / 4;
/// Far more scans than it takes to kill so many.
const MOST_SCANS: u32 = 1000;

#[test]
fn a_killed_scan_neither_loses_nor_duplicates_records() {
    let folder = folder("killed");
    for copy in 0..40 {
        golden_tree(&folder.join("tree").join(copy.to_string()));
    }
    let started = Instant::now();
    let whole = run(&folder, &["--store", "whole", "tree"]);
    let takes = started.elapsed();
    let expected = records(&folder.join("whole"));
    assert!(expected.len() >= 9 * 40, "{} records", expected.len());
    let (mut killed, mut number, mut round) = (0, 0, 0);
    // Different moments, spread over the time that a scan took. If the machine was busy then, many scans end earlier.
    while round < SCANS || killed < KILLED && round < MOST_SCANS {
        let store = format!("store-{number}");
        let mut child =
            command(&folder, &["--store", &store, "--resume", "tree"]).spawn().expect("it starts");
        let share = f64::from(round * 7919 % 97) / 97.0;
        thread::sleep(takes.mul_f64(share).min(Duration::from_secs(5)));
        let _ = child.kill();
        let status = child.wait().expect("it ends");
        killed += u32::from(status.signal().is_some());
        if status.code() == whole.status.code() {
            assert_eq!(records(&folder.join(&store)), expected);
            number += 1;
        }
        round += 1;
    }
    let store = format!("store-{number}");
    // The checkers of a killed process end with it. One that was just being started may hold the lock on the store a little longer.
    let resume = || run(&folder, &["--store", &store, "--resume", "tree"]);
    let is_busy = |last: &Output| String::from_utf8_lossy(&last.stderr).contains("already working");
    let mut last = resume();
    for _ in 0..MOST_SCANS {
        if !is_busy(&last) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
        last = resume();
    }
    assert_eq!(last.status.code(), whole.status.code(), "{last:?}");
    assert_eq!(last.stdout, whole.stdout);
    assert_eq!(records(&folder.join(&store)), expected);
    assert!(killed >= KILLED, "only {killed} of {round} scans were killed before their end");
    println!("{killed} kills in {round} scans");
}
