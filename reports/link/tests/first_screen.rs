//! The first lines of the text have what a person needs whose link has failed: the result, the input that causes it, and a
//! command that helps.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use sframe_corpus::{corpus, folder, tools};
use sframe_link::{Audit, Ends, Linker, Outcome, Status};

/// The lines that a small terminal shows.
const SCREEN: usize = 24;

fn text(audit: &Audit) -> String {
    let mut text = Vec::new();
    audit.write_text(&mut text).expect("a vector");
    String::from_utf8(text).expect("text")
}

fn screen(audit: &Audit) -> String {
    text(audit).lines().take(SCREEN).collect::<Vec<_>>().join("\n")
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("changed");
}

/// `crt1.o` has version 3, and the driver's linker is not one of those that were observed.
#[test]
fn an_unknown_linker_and_a_startup_object() {
    let folder = folder!("first-screen");
    fs::create_dir(folder.join("system")).expect("a folder");
    let golden = corpus().join("golden/2.47.50/x86_64/leaf.o");
    let crt1 = folder.join("system/crt1.o");
    fs::copy(golden, &crt1).expect("copied");
    let linker = folder.join("ld.own");
    program(&linker, "#!/bin/sh\necho 'own linker 1.0'\n");
    let driver = folder.join("cc");
    let line = format!(" \"{}\" \"-o\" \"prog\" \"{}\"", linker.display(), crt1.display());
    program(&driver, &format!("#!/bin/sh\necho '{line}' >&2\n"));
    let command: Vec<OsString> = [driver.into_os_string(), "main.o".into()].to_vec();
    let audit =
        Audit::of_command(&command, Ends::groups(&AtomicBool::new(false))).expect("an audit");
    assert_eq!((audit.prediction.outcome, audit.status()), (Outcome::Unknown, Status::Undecided));
    let screen = screen(&audit);
    let name = crt1.display().to_string();
    for words in [
        "own linker 1.0".to_owned(),
        format!(
            "does not know R_X86_64_PC64, the relocation of SFrame version 3, which the .sframe of {name}"
        ),
        "sframe-check explain pc64-in-sframe".to_owned(),
        "link with GNU ld 2.46 or later or mold 3 (-fuse-ld=mold), which merge these sections"
            .to_owned(),
        format!("remove the section from copies of {name}, and link with the copies"),
    ] {
        assert!(screen.contains(&words), "{words:?} is missing:\n{screen}");
    }
    let line = screen.lines().find(|line| line.contains("objcopy")).expect("a command");
    let (command, how) = line.split_once(" (and link with ").expect("both");
    assert_eq!(how, "cc -B.)");
    let Some(toolchain) = tools::toolchain("2.47.50") else { return };
    let path = format!("{}:{}", toolchain.display(), std::env::var("PATH").unwrap_or_default());
    let check = format!("{command} && ! readelf -SW crt1.o | grep sframe >&2");
    let mut shell = Command::new("sh");
    let output = shell.args(["-e", "-c", &check]).current_dir(&folder).env("PATH", path).output();
    let output = output.expect("sh runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A link of a hundred objects with SFrame, of which one is of another version.
#[test]
fn one_of_many_inputs_is_named_first() {
    let folder = folder!("first-screen-many");
    let golden = corpus().join("golden");
    let mut arguments: Vec<OsString> = vec!["-shared".into()];
    for number in 0..100 {
        let version = if number == 70 { "2.40" } else { "2.44" };
        let path = folder.join(format!("input-{number}.o"));
        fs::copy(golden.join(version).join("x86_64/leaf.o"), &path).expect("copied");
        arguments.push(path.into_os_string());
    }
    let audit = Audit::of_inputs(Linker::Ld244, &arguments);
    let screen = screen(&audit);
    let name = folder.join("input-70.o").display().to_string();
    for words in [
        "prediction: the link fails".to_owned(),
        "sframe-check explain ld-versions-differ".to_owned(),
        format!("    {name}: V1, PROGBITS, written by GNU as 2.40; the link fails because of it"),
        format!("      objcopy --remove-section .sframe {name}"),
    ] {
        assert!(screen.contains(&words), "{words:?} is missing:\n{screen}");
    }
    let (helps, inputs) = (screen.find("what helps"), screen.find("100 inputs with SFrame"));
    assert!(helps < inputs, "{screen}");
    if let Some(programs) = tools::toolchain("2.44") {
        let mut command = Command::new(programs.join("ld.bfd"));
        let output = command.args(&arguments).args(["-o", "out"]).current_dir(&folder).output();
        let output = output.expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("different format versions"), "{message}");
    }
}

/// What could not be decided is said with the prediction, not after the inputs.
#[test]
fn doubt_is_near_the_prediction() {
    let golden = corpus().join("golden/2.44/x86_64/leaf.o").into_os_string();
    let audit = Audit::of_inputs(Linker::Ld244, &[golden, "-lgone".into()]);
    assert_eq!(audit.status(), Status::Undecided);
    let text = text(&audit);
    let places =
        ["this may be wrong", "-lgone is not found", "code with SFrame", "with SFrame\n  "]
            .map(|words| text.find(words).unwrap_or_else(|| panic!("{words:?}: {text}")));
    assert!(places.is_sorted(), "{text}");
}
