//! Where `--output`, `--write-baseline` and `-o` write.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use sframe_corpus::program::command;
use sframe_corpus::{corpus, folder};

const SOUND: &str = "golden/2.47.50/x86_64/shared.so";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the program runs")
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(3), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn library(folder: &Path) {
    fs::copy(corpus().join(SOUND), folder.join("lib.so")).expect("it is copied");
}

#[test]
fn reports_do_not_replace_what_can_be_checked() {
    let folder = folder!("output-files-kept");
    library(&folder);
    fs::write(folder.join("bare.sframe"), [0xe2, 0xde, 3]).expect("it is written");
    let before = fs::read(folder.join("lib.so")).expect("it is readable");
    let commands: [&[&str]; 3] = [
        &["lib.so", "--output", "sarif=lib.so"],
        &["lib.so", "--write-baseline", "lib.so"],
        &["lib.so", "--output", "json=bare.sframe"],
    ];
    for arguments in commands {
        let message = refused(&folder, arguments);
        assert!(message.contains("package or section, which is not replaced"), "{message}");
    }
    assert_eq!(fs::read(folder.join("lib.so")).expect("it is readable"), before);
    assert_eq!(fs::read(folder.join("bare.sframe")).expect("it is readable").len(), 3);
    // An older report is replaced.
    for _ in 0..2 {
        let output = run(&folder, &["lib.so", "--output", "json=report"]);
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn two_outputs_need_two_files() {
    let folder = folder!("output-files-two");
    library(&folder);
    let outputs = ["lib.so", "--output", "json=report", "--output", "sarif=report"];
    assert!(refused(&folder, &outputs).contains("report is named for two outputs"));
    let baseline = ["lib.so", "--output", "json=report", "--write-baseline", "report"];
    assert!(refused(&folder, &baseline).contains("report is named for two outputs"));
    assert!(!folder.join("report").exists());
}

#[test]
fn a_dash_is_no_file() {
    let folder = folder!("output-files-dash");
    library(&folder);
    for arguments in
        [&["lib.so", "--output", "json=-"] as &[&str], &["repair", "lib.so", "-o", "-"]]
    {
        assert!(refused(&folder, arguments).contains("- is not the name of a file here"));
    }
    assert!(!folder.join("-").exists());
}

#[test]
fn links_are_followed() {
    let folder = folder!("output-files-links");
    library(&folder);
    fs::write(folder.join("old"), "old").expect("it is written");
    symlink("old", folder.join("latest")).expect("a link");
    symlink("new", folder.join("nowhere")).expect("a link");
    for (link, file) in [("latest", "old"), ("nowhere", "new")] {
        let output = run(&folder, &["lib.so", "--output", &format!("json={link}")]);
        assert_eq!(output.status.code(), Some(0));
        assert!(folder.join(link).is_symlink());
        assert_eq!(fs::read(folder.join(file)).expect("it is readable")[0], b'{');
    }
}

#[test]
fn devices_and_pipes_are_written_directly() {
    let folder = folder!("output-files-devices");
    library(&folder);
    let full = refused(&folder, &["lib.so", "--output", "json=/dev/full"]);
    assert!(full.contains("No space left on device"), "{full}");
    assert!(fs::metadata("/dev/full").expect("it exists").file_type().is_char_device());

    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).expect("it is readable")
    });
    let output = run(&folder, &["lib.so", "--output", "json=pipe"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(reader.join().expect("it ends")[0], b'{');
    assert!(fs::metadata(&pipe).expect("it exists").file_type().is_fifo());
}
