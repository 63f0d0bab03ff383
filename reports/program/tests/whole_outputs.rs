//! Whatever ends a command that writes, each of its files is the old one or the new one, and nothing else in the folder changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sframe_corpus::program::command;
use sframe_corpus::tools::skipped;
use sframe_corpus::{corpus, folder, tries};

/// Commands that write `out`, from files that [`inputs`] makes.
const COMMANDS: [&str; 9] = [
    "lib.so --output json=out",
    "lib.so --output html=out",
    "object.o --write-baseline out",
    "plan --shards 2 lib.so object.o -o out",
    "show store --output json=out",
    "synthesize bare.exe -o out",
    "reassemble object.o -o out",
    "synthesize bare.exe --as raw -o out",
    "repair spoiled.so -o out",
];

fn inputs(folder: &Path) {
    for (name, file) in [
        ("lib.so", "golden/2.47.50/x86_64/shared.so"),
        ("object.o", "differences/register-in-place/2.40.o"),
        ("bare.exe", "golden/lld/x86_64/collected.exe"),
        ("spoiled.so", "golden/lld/x86_64/v3-shared.so"),
    ] {
        fs::copy(corpus().join(file), folder.join(name)).expect("it is copied");
    }
    let made = run(folder, "object.o --store store");
    assert_eq!(made.status.code(), Some(0), "{made:?}");
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

fn run(folder: &Path, text: &str) -> Output {
    command(folder, &words(text)).output().expect("the program runs")
}

/// The files below a folder with their bytes, without those that an interrupted command may leave: they begin with a dot.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(place) = folders.pop() {
        for entry in fs::read_dir(&place).expect("a folder").flatten() {
            let path = entry.path();
            match entry.file_type().expect("a type").is_dir() {
                true => folders.push(path),
                false if entry.file_name().as_encoded_bytes().starts_with(b".") => {}
                false => drop(found.insert(path.clone(), fs::read(&path).expect("readable"))),
            }
        }
    }
    found
}

/// A folder in which a command has run once, its files, and what the command has written.
fn ran_once(name: &str, text: &str) -> (PathBuf, BTreeMap<PathBuf, Vec<u8>>, Vec<u8>, Duration) {
    let folder = folder!(name);
    inputs(&folder);
    let before = files(&folder);
    let started = Instant::now();
    let first = run(&folder, text);
    let takes = started.elapsed();
    assert!(folder.join("out").is_file(), "{text}: {first:?}");
    let new = fs::read(folder.join("out")).expect("readable");
    assert!(!new.is_empty(), "{text}");
    (folder, before, new, takes)
}

/// Whether the output is old or new, and all else is as it was.
fn assert_whole(folder: &Path, before: &BTreeMap<PathBuf, Vec<u8>>, old: &[u8], new: &[u8]) {
    let mut after = files(folder);
    let out = after.remove(&folder.join("out")).expect("the old file or the new one");
    assert!(out == old || out == new, "{} bytes of {}", out.len(), new.len());
    assert!(after == *before, "another file has changed");
}

/// An output that can replace nothing but itself: ELF for ELF.
fn old(new: &[u8]) -> Vec<u8> {
    let mut old = new.to_vec();
    old.extend(b"old");
    old
}

#[test]
fn a_killed_command_leaves_the_old_file_or_the_new_one() {
    let (mut kills, mut kept) = (0, 0);
    for (number, text) in COMMANDS.iter().enumerate() {
        let (folder, before, new, takes) = ran_once(&format!("killed-output-{number}"), text);
        let old = old(&new);
        let moments = tries(6_u32, 40);
        for moment in 0..moments {
            fs::write(folder.join("out"), &old).expect("writable");
            let mut child = command(&folder, &words(text));
            let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let mut child = child.expect("it starts");
            // Spread over the time that it took, and a little more.
            thread::sleep(
                takes.mul_f64(f64::from(moment * 7919 % 97) / 80.0).min(Duration::from_secs(5)),
            );
            let _ = child.kill();
            child.wait().expect("it ends");
            assert_whole(&folder, &before, &old, &new);
            kills += 1;
            kept += u32::from(fs::read(folder.join("out")).expect("readable") == old);
        }
    }
    println!("{kills} kills, {kept} of them before the new file was there");
}

/// The size of that file system in bytes.
const DISK: &str = "2M";

/// Runs a script in a folder on which a small file system is mounted, and returns its output; `None` if the system does not permit that.
fn on_small_disk(folder: &Path, script: &str) -> Option<Output> {
    // Nothing of the script runs unless the file system is there.
    let mounted = format!(
        "mount -t tmpfs -o size={DISK} none . || exit 99; cd \"$PWD\" || exit 99; {script}"
    );
    let unshare = ["--map-root-user", "--mount", "sh", "-c", &mounted];
    let run = Command::new("unshare").args(unshare).current_dir(folder).output();
    let run = run.ok().filter(|run| run.status.code() != Some(99) && !run.stdout.is_empty());
    if run.is_none() {
        skipped::note(
            "a file system of its own",
            "unshare and mount, with user namespaces or as root",
        );
    }
    run
}

/// The file system has no room for the whole output, or becomes read-only.
#[test]
fn a_full_disk_leaves_the_old_file() {
    for (number, text) in COMMANDS.iter().enumerate() {
        let (folder, _, new, _) = ran_once(&format!("full-disk-{number}"), text);
        let inputs = folder!(format!("full-disk-inputs-{number}"));
        let mounted = folder!(format!("full-disk-mounted-{number}"));
        fs::write(inputs.join("old"), old(&new)).expect("writable");
        let program = sframe_corpus::program::path();
        let copy = format!("cp -r {0}/* . && cp {1}/old out", folder.display(), inputs.display());
        // Twice as much as there is room for.
        let fill = "head -c 4M /dev/zero > filler 2> /dev/null; :";
        let check = format!("cmp out {}/old && ls -A | tr '\\n' ' '", inputs.display());
        for (state, end) in [(fill, "full"), ("mount -o remount,ro none .", "read-only")] {
            let script = format!(
                "{copy}; {state}; {} {text} > /dev/null 2> {}/message; echo status $?; {check}",
                program.display(),
                inputs.display()
            );
            let Some(ran) = on_small_disk(&mounted, &script) else { return };
            let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
            let message = fs::read_to_string(inputs.join("message")).expect("readable");
            assert!(ran.status.success(), "{text}, {end}: {ran:?}");
            let names = printed.split_once("status 3\n");
            let (_, names) = names.unwrap_or_else(|| panic!("{text}, {end}: {printed}{message}"));
            assert!(!names.contains(".tmp"), "{text}, {end}: {names}");
            let reason = ["No space left on device", "Read-only file system"];
            assert!(
                reason.iter().any(|reason| message.contains(reason)),
                "{text}, {end}: {message}"
            );
        }
    }
}
