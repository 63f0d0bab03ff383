//! The remedies of the audit, carried out: the link then does what they promise.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::{corpus, folder, tools};
use sframe_link::{Audit, Linker, Outcome, Status};

/// Runs a shell command with the programs of a toolchain first in the path.
fn shell(folder: &Path, toolchain: &Path, command: &str) -> (bool, String) {
    let path = format!("{}:{}", toolchain.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", command]).current_dir(folder).env("PATH", path).env("LC_ALL", "C");
    let output = shell.output().expect("sh runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn audit(linker: Linker, inputs: &[PathBuf]) -> Audit {
    let arguments: Vec<OsString> =
        inputs.iter().map(|input| input.clone().into_os_string()).collect();
    Audit::of_inputs(linker, &arguments)
}

fn text(audit: &Audit) -> String {
    let mut text = Vec::new();
    audit.write_text(&mut text).expect("a vector");
    String::from_utf8(text).expect("text")
}

/// `leaf.o` of one version, and an archive whose member `calls.o` has another.
fn inputs(folder: &Path, toolchain: &Path) -> Vec<PathBuf> {
    let golden = corpus().join("golden");
    fs::copy(golden.join("2.47.50/x86_64/calls.o"), folder.join("calls.o")).expect("copied");
    fs::copy(golden.join("2.44/x86_64/leaf.o"), folder.join("leaf.o")).expect("copied");
    assert!(shell(folder, toolchain, "ar rcD libcalls.a calls.o && rm calls.o").0);
    ["leaf.o", "libcalls.a"].map(|name| folder.join(name)).to_vec()
}

#[test]
fn removing_the_section_of_a_member_ends_the_messages() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("remedies-remove");
    let mut inputs = inputs(&folder, &toolchain);
    inputs.insert(0, "--whole-archive".into());
    let link = "ld.bfd -shared -o out leaf.o --whole-archive libcalls.a";
    let before = audit(Linker::Ld244, &inputs);
    assert_eq!(before.prediction.outcome, Outcome::Part);
    assert!(shell(&folder, &toolchain, link).1.contains("no .sframe will be created"));
    let mut commands = before.remedies.iter().flat_map(|remedy| &remedy.commands);
    let command = commands.find(|command| command.contains("objcopy")).expect("a command");
    assert!(command.contains("ar x"), "{command}");
    let (success, message) = shell(&folder, &toolchain, command);
    assert!(success, "{command}: {message}");
    let after = audit(Linker::Ld244, &inputs);
    assert_eq!((after.prediction.outcome, after.status()), (Outcome::Merged, Status::Clean));
    let (success, message) = shell(&folder, &toolchain, link);
    assert!(success && !message.contains("sframe"), "{message}");
}

#[test]
fn another_linker_merges_what_it_promises() {
    let Some(toolchain) = tools::toolchain("mold") else { return };
    let folder = folder!("remedies-linker");
    let golden = corpus().join("golden/2.47.50/x86_64");
    let inputs = ["leaf.o", "calls.o"].map(|name| golden.join(name));
    let appended = audit(Linker::Lld, &inputs);
    assert_eq!(
        (appended.prediction.outcome, appended.status()),
        (Outcome::Appended, Status::Problem)
    );
    assert!(
        appended.remedies[0].text.contains("GNU ld 2.46 or later or mold 3"),
        "{:?}",
        appended.remedies
    );
    let link = format!("mold -shared -o out {} {}", inputs[0].display(), inputs[1].display());
    assert!(shell(&folder, &toolchain, &link).0);
    let Some(readers) = tools::toolchain("2.47.50") else { return };
    let command = "test $(readelf --sframe -W out | grep -c 'func idx') -eq 5";
    assert!(shell(&folder, &readers, command).0, "three functions of leaf.o, two of calls.o");
}

/// The linkers that a remedy can name, with their programs.
const NAMED: [(&str, &str, &str); 4] = [
    ("GNU ld 2.40", "2.40", "ld.bfd"),
    ("GNU ld 2.41 to 2.44", "2.44", "ld.bfd"),
    ("GNU ld 2.46 or later", "2.47.50", "ld.bfd"),
    ("mold 3", "mold", "mold"),
];

/// A copy of `leaf.o` of 2.47.50 whose section has no magic number.
fn without_magic(folder: &Path) -> PathBuf {
    let golden = fs::read(corpus().join("golden/2.47.50/x86_64/leaf.o")).expect("an object");
    let magic = [0xe2, 0xde, 3];
    let start = golden.windows(3).position(|bytes| bytes == magic).expect("a header");
    let mut bytes = golden;
    bytes[start] = 0;
    let path = folder.join("damaged.o");
    fs::write(&path, bytes).expect("written");
    path
}

/// Every linker that a remedy names merges the sections, without a message. No linker merges a section without the magic
/// number.
#[test]
fn every_linker_that_is_named_merges() {
    let folder = folder!("remedies-named");
    let golden = corpus().join("golden");
    let damaged = without_magic(&folder);
    let of = |version: &str, name: &str| golden.join(version).join("x86_64").join(name);
    let versions = ["2.40", "2.44", "2.47.50"];
    let mut cases: Vec<(Vec<PathBuf>, bool)> = vec![(vec![damaged.clone()], false)];
    for first in versions {
        cases.push((vec![of(first, "leaf.o"), damaged.clone()], false));
        for second in versions {
            cases.push((vec![of(first, "leaf.o"), of(second, "calls.o")], first == second));
        }
    }
    let (mut named, mut merged) = (0, 0);
    for (inputs, can_be_merged) in cases {
        let files: Vec<String> = inputs.iter().map(|input| input.display().to_string()).collect();
        for linker in Linker::MODELLED {
            let mut arguments = vec![PathBuf::from("-shared")];
            arguments.extend(inputs.iter().cloned());
            let texts = audit(linker, &arguments).remedies.into_iter().map(|remedy| remedy.text);
            let promises: Vec<String> =
                texts.filter(|text| text.contains("these sections")).collect();
            assert!(can_be_merged || promises.is_empty(), "{linker} {files:?}: {promises:?}");
            for (name, toolchain, program) in NAMED {
                if !promises.iter().any(|promise| promise.contains(name)) {
                    continue;
                }
                named += 1;
                let Some(programs) = tools::toolchain(toolchain) else { continue };
                let link = format!("{program} -shared -o out {}", files.join(" "));
                assert_eq!(shell(&folder, &programs, &link), (true, String::new()), "{name}");
                let reader = if toolchain == "2.40" { "2.40" } else { "2.47.50" };
                let Some(readers) = tools::toolchain(reader) else { continue };
                let count = "test $(readelf --sframe -W out | grep -c 'func idx') -ge 5";
                assert!(shell(&folder, &readers, count).0, "{name}: {files:?}");
                merged += 1;
            }
        }
    }
    assert!(named >= 18, "{named}");
    assert!(!tools::are_required() || merged == named, "{merged} of {named}");
}

/// `-Wa,--gsframe=no` of GNU as 2.47.50.
#[test]
fn the_assembler_has_the_option_that_is_named() {
    let Some(toolchain) = tools::toolchain("2.47.50") else { return };
    let folder = folder!("remedies-assembler");
    fs::write(folder.join("a.s"), "f:\n.cfi_startproc\nret\n.cfi_endproc\n").expect("written");
    let command = "as --gsframe=no -o a.o a.s && ! readelf -SW a.o | grep sframe >&2";
    assert_eq!(shell(&folder, &toolchain, command), (true, String::new()));
}

/// A startup object is copied, and the driver finds the copy.
#[test]
fn startup_objects_are_copied() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    if !tools::is_installed("cc") {
        return;
    }
    let folder = folder!("remedies-startup");
    fs::create_dir(folder.join("system")).expect("a folder");
    let golden = corpus().join("golden/2.47.50/x86_64/leaf.o");
    fs::copy(golden, folder.join("system/crt1.o")).expect("copied");
    let other = corpus().join("golden/2.44/x86_64/calls.o");
    let report = audit(Linker::Ld244, &[folder.join("system/crt1.o"), other]);
    let mut commands = report.remedies.iter().flat_map(|remedy| &remedy.commands);
    let command = commands.find(|command| command.contains("objcopy")).expect("a command");
    let (command, link) = command.split_once(" (and link with ").expect("both");
    assert_eq!(link, "cc -B.)");
    assert_eq!(shell(&folder, &toolchain, command), (true, String::new()));
    let found = "test $(cc -B. -print-file-name=crt1.o) -ef crt1.o && ! readelf -SW crt1.o | grep sframe >&2";
    assert_eq!(shell(&folder, &toolchain, found), (true, String::new()));
    assert_eq!(
        audit(Linker::Ld244, &[folder.join("crt1.o")]).prediction.outcome,
        Outcome::NoSframe
    );
}

/// The text names what a person has to know: the inputs, the result, the message, the code without SFrame, the remedy.
#[test]
fn the_text_says_who_is_to_blame() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("remedies-text");
    let mut inputs = inputs(&folder, &toolchain);
    inputs.insert(0, "--whole-archive".into());
    let report =
        text(&audit(Linker::Ld247, &inputs)).replace(&format!("{}/", folder.display()), "");
    println!("{report}");
    for words in [
        "leaf.o\n    V2, PROGBITS: 3 functions, AMD64, written by GNU as 2.41 to 2.44",
        "libcalls.a(calls.o)\n    V3, PC-relative, GNU_SFRAME: 2 functions",
        "prediction: one section describes a part of the program",
        "message: error in leaf.o(.sframe); unexpected SFrame section type; section ignored",
        "without: leaf.o, ",
        "the linker leaves its .sframe out, with a message",
        "objcopy --remove-section .sframe ",
        "-Wl,--discard-sframe",
    ] {
        assert!(report.contains(words), "{words:?} is missing:\n{report}");
    }
    let json = serde_json::to_string(&audit(Linker::Ld247, &inputs)).expect("JSON");
    let back: Audit = serde_json::from_str(&json).expect("an audit");
    assert_eq!(back.prediction, audit(Linker::Ld247, &inputs).prediction);
}
