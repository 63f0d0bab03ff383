//! Inputs that are missing, or that are no objects: the prediction is the real link's exit status and message.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use sframe_corpus::{corpus, folder, tools};
use sframe_link::{Audit, Ends, Linker, ObstacleKind, Outcome, Status};

const LINKERS: [(Linker, &str, &str); 6] = [
    (Linker::Ld240, "2.40", "ld.bfd"),
    (Linker::Ld244, "2.44", "ld.bfd"),
    (Linker::Ld247, "2.47.50", "ld.bfd"),
    (Linker::Gold, "2.40", "ld.gold"),
    (Linker::Lld, "llvm-23", "ld.lld"),
    (Linker::Mold, "mold", "mold"),
];

/// Runs a linker, and returns its exit status and its messages.
fn link(folder: &Path, program: &Path, arguments: &[String]) -> (i32, String) {
    let mut command = Command::new(program);
    command.args(["-shared", "-o", "output"]).args(arguments);
    let output = command.current_dir(folder).env("LC_ALL", "C").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("no signal"), text)
}

/// Audits with paths below a folder.
fn audit(folder: &Path, linker: Linker, arguments: &[String]) -> Audit {
    let absolute = |argument: &String| -> OsString {
        let path = folder.join(argument);
        match argument.split_once("./").or_else(|| argument.split_once('@')) {
            Some(("-T", rest)) => format!("-T{}", folder.join(rest).display()).into(),
            Some(("", rest)) if argument.starts_with('@') => {
                format!("@{}", folder.join(rest).display()).into()
            }
            _ if argument == "-L." => format!("-L{}", folder.display()).into(),
            _ if argument.starts_with('-') => argument.into(),
            _ => path.into_os_string(),
        }
    };
    let mut all: Vec<OsString> = vec!["-shared".into()];
    all.extend(arguments.iter().map(absolute));
    Audit::of_inputs(linker, &all)
}

/// Objects, texts, truncated files, and archives.
fn inputs(folder: &Path, toolchain: &Path) {
    let good = corpus().join("golden/2.44/x86_64/leaf.o");
    let object = fs::read(good).expect("a golden file");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("written");
    write("good.o", &object);
    write("empty.o", b"");
    write("text.o", b"hello, this is a text\n");
    write("call.o", b"hello (world)\n");
    write("shell.o", b"#!/bin/sh\necho hi\n");
    write("page.o", b"<html><body></body></html>\n");
    write("utf8.o", "caf\u{e9} text here\n".as_bytes());
    write("start.o", &object[..3]);
    write("header.o", &object[..40]);
    write("part.o", &object[..300]);
    write("almost.o", &object[..object.len() - 1]);
    write("noise.o", &[0xfe, 0x80, 0x91, 3, 0, 7, 0xff].repeat(200));
    let mut core = object.clone();
    core[16] = 4;
    write("core.o", &core);
    write("script.o", b"GROUP ( gone.o )\n");
    write("libscript.so", b"INPUT ( -lgone )\n");
    write("libtext.so", b"garbage\n");
    write("comment.o", b"/* a script without commands */\n");
    fs::create_dir(folder.join("folder.o")).expect("a folder");
    symlink("loop.o", folder.join("loop.o")).expect("a link");
    write("member.o", b"hello\n");
    write("thin.o", &object);
    write("start.s", b".globl _start\n_start: ret\n");
    let run = |program: &str, arguments: &[&str]| {
        let program = toolchain.join(program);
        let status = Command::new(program).args(arguments).current_dir(folder).status();
        assert!(status.expect("it runs").success(), "{arguments:?}");
    };
    run("ar", &["rcT", "libthin.a", "thin.o"]);
    run("ar", &["rc", "libempty.a"]);
    fs::remove_file(folder.join("thin.o")).expect("removed");
    run("as", &["-o", "start-object.o", "start.s"]);
    run("ar", &["rcS", "libplain.a", "start-object.o"]);
    run("ar", &["rcST", "libplainthin.a", "start-object.o"]);
    run("ar", &["rc", "libmixed.a", "start-object.o", "member.o"]);
    run("ld.bfd", &["-o", "program.o", "start-object.o"]);
    run("ld.bfd", &["-pie", "-o", "pie.o", "start-object.o"]);
    let shared = ["-shared", "-o", "shared.so", "good.o"];
    run("ld.bfd", &shared);
    let shared = fs::read(folder.join("shared.so")).expect("a shared object");
    write("cut.so", &shared[..shared.len() / 2]);
}

/// The inputs after `good.o`. Each has at most one thing with which a link fails.
const CASES: [&str; 38] = [
    "gone.o",
    "gone/a.o",
    "good.o/a.o",
    "loop.o",
    "-L. -lgone",
    "-L. --as-needed -lgone",
    "-L. -l:gone.a",
    "-L. -Bstatic -lgone",
    "empty.o",
    "text.o",
    "call.o",
    "shell.o",
    "page.o",
    "utf8.o",
    "start.o",
    "header.o",
    "part.o",
    "almost.o",
    "noise.o",
    "core.o",
    "script.o",
    "-L. -lscript",
    "-L. -ltext",
    "comment.o",
    "folder.o",
    "--whole-archive libmixed.a",
    "libmixed.a",
    "--whole-archive libthin.a",
    "libplain.a",
    "--whole-archive libplain.a",
    "libplainthin.a",
    "-L. -lplain",
    "libempty.a",
    "program.o",
    "pie.o",
    "cut.so",
    "-T./gone.ld",
    "@gone",
];

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn linkers() -> Vec<(Linker, PathBuf)> {
    let found = LINKERS.iter().filter_map(|(linker, toolchain, program)| {
        Some((*linker, tools::toolchain(toolchain)?.join(program)))
    });
    let found: Vec<_> = found.collect();
    assert!(!tools::are_required() || found.len() == LINKERS.len());
    found
}

/// What the prediction and the real link have not in common.
fn differences(folder: &Path, linker: Linker, program: &Path, case: &str) -> Vec<String> {
    let mut arguments = vec!["good.o".to_owned()];
    arguments.extend(words(case));
    let (status, text) = link(folder, program, &arguments);
    let audit = audit(folder, linker, &arguments);
    let mut faults = Vec::new();
    let needs_driver =
        arguments.iter().any(|word| word.starts_with("-l")) && audit.obstacles.is_empty();
    if needs_driver && status == 1 {
        // GNU ld and gold have folders of their own.
        assert!(audit.undecided[0].contains("link -- cc"), "{:?}", audit.undecided);
        assert_ne!(audit.status(), Status::Clean);
        return faults;
    }
    if audit.prediction.status != Some(status) {
        faults.push(format!("status {:?}, and it is {status}: {text}", audit.prediction.status));
    }
    let is_stopped = status == 1;
    if (audit.prediction.outcome == Outcome::Fails) != is_stopped
        || audit.obstacles.is_empty() == is_stopped
    {
        faults.push(format!("{:?}, {:?}: {text}", audit.prediction, audit.obstacles));
    }
    let prefix = format!("{}/", folder.display());
    let mut missing = Vec::new();
    for message in &audit.prediction.messages {
        let message = message.replace(&prefix, "");
        if is_stopped && !text.replace("./", "").contains(&message) {
            missing.push(format!("{message:?} is not in {text:?}"));
        }
    }
    // mold prints one of them.
    if linker != Linker::Mold || missing.len() == audit.prediction.messages.len() {
        faults.extend(missing);
    }
    if is_stopped && (audit.prediction.messages.is_empty() || audit.status() != Status::Problem) {
        faults.push(format!("no message: {:?}", audit.prediction));
    }
    faults.into_iter().map(|fault| format!("{linker} {case}: {fault}")).collect()
}

#[test]
fn each_obstacle_ends_the_link_as_predicted() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("obstacles");
    inputs(&folder, &toolchain);
    let mut faults = Vec::new();
    for (linker, program) in linkers() {
        for case in CASES {
            faults.extend(differences(&folder, linker, &program, case));
        }
    }
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
}

/// Objects and archives for AMD64 and AArch64. `two.a` has a member for each; the last member of `cut.a` is truncated.
fn machines(folder: &Path, toolchain: &Path) {
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("written");
    write("call.s", b".globl g\ng: call f@plt\nret\n");
    write("none.s", b".globl h\nh: ret\n");
    write("f.s", b".globl f\nf: ret\n");
    let run = |program: &str, arguments: &[&str]| {
        let program = toolchain.join(program);
        let status = Command::new(program).args(arguments).current_dir(folder).status();
        assert!(status.expect("it runs").success(), "{arguments:?}");
    };
    for (assembler, source, object) in [
        ("as", "call.s", "call.o"),
        ("as", "none.s", "good.o"),
        ("as", "f.s", "f.o"),
        ("aarch64-linux-gnu-as", "f.s", "other.o"),
    ] {
        run(assembler, &["-o", object, source]);
    }
    run("as", &["--32", "-o", "narrow.o", "f.s"]);
    run("aarch64-linux-gnu-as", &["-EB", "-o", "big.o", "f.s"]);
    run("aarch64-linux-gnu-ld.bfd", &["-shared", "-o", "other.so", "other.o"]);
    for (archive, members) in [
        ("other.a", &["other.o"][..]),
        ("two.a", &["f.o", "other.o"]),
        ("cut.a", &["f.o", "good.o"]),
    ] {
        run("ar", &[&["rcs", archive], members].concat());
    }
    let whole = fs::read(folder.join("cut.a")).expect("an archive");
    write("cut.a", &whole[..whole.len() - 100]);
    for (place, archive) in [("other", "other.a"), ("same", "two.a")] {
        fs::create_dir(folder.join(place)).expect("a folder");
        fs::copy(folder.join(archive), folder.join(place).join("libf.a")).expect("copied");
    }
}

/// Inputs of several machines, and truncated archives. An input that nothing needs may be of any machine in an archive of GNU
/// ld and gold; GNU ld and mold skip libraries (`-l`) of another machine.
#[test]
fn inputs_of_another_machine_end_the_link() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("obstacles-machines");
    machines(&folder, &toolchain);
    let cases = [
        "other.o",
        "narrow.o",
        "other.so",
        "--as-needed other.so",
        "other.a",
        "call.o other.a",
        "call.o two.a",
        "--whole-archive other.a",
        "call.o -Lother -lf",
        "call.o -Lother -Lsame -lf",
        "--whole-archive cut.a",
        "-R other.o",
    ];
    let mut faults = Vec::new();
    for (linker, program) in linkers() {
        for case in cases {
            // In other linkers, it is -rpath.
            if case.starts_with("-R") && !linker.is_gnu_ld() {
                continue;
            }
            let mut arguments = vec!["good.o".to_owned()];
            arguments.extend(words(case));
            let (status, text) = link(&folder, &program, &arguments);
            let folders = |word: &String| match word.strip_prefix("-L") {
                Some(place) => format!("-L{}", folder.join(place).display()),
                None => word.clone(),
            };
            let arguments: Vec<String> = arguments.iter().map(folders).collect();
            let audit = audit(&folder, linker, &arguments);
            // GNU ld has folders of its own, in which libf may be.
            if !audit.undecided.is_empty() && audit.undecided[0].contains("link -- cc") {
                assert!(audit.undecided[0].contains("libf.a is for AArch64"), "{audit:?}");
                continue;
            }
            let prefix = format!("{}/", folder.display());
            let mut messages = audit.prediction.messages.iter();
            let is_printed = messages.any(|message| text.contains(&message.replace(&prefix, "")))
                || audit.prediction.messages.is_empty();
            if audit.prediction.status != Some(status) || !is_printed {
                faults.push(format!("{linker} {case}: {:?}: {status} {text}", audit.prediction));
            }
        }
    }
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
}

/// The reason names both machines.
#[test]
fn byte_orders_are_machines() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("obstacles-orders");
    machines(&folder, &toolchain);
    let audit = audit(&folder, Linker::Mold, &words("other.o big.o"));
    let prefix = format!("{}/", folder.display());
    let reason = audit.obstacles[0].reason.replace(&prefix, "");
    assert_eq!(reason, "it is for AArch64 (big-endian), and other.o is for AArch64");
}

/// Some linkers report all inputs, others end at the first one.
#[test]
fn several_obstacles_have_the_messages_that_are_printed() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("obstacles-several");
    inputs(&folder, &toolchain);
    let cases = [
        "gone.o lost.o",
        "gone.o text.o lost.o part.o",
        "text.o gone.o",
        "part.o gone.o",
        "gone.o @gone",
        "gone.o program.o lost.o",
        "folder.o gone.o",
        "libplain.a gone.o",
        "gone.o libplain.a",
        "gone.o --whole-archive libmixed.a",
        "program.o libplain.a",
    ];
    let mut faults = Vec::new();
    for (linker, program) in linkers() {
        for case in cases {
            faults.extend(differences(&folder, linker, &program, case));
            let mut arguments = vec!["good.o".to_owned()];
            arguments.extend(words(case));
            let (_, text) = link(&folder, &program, &arguments);
            let audit = audit(&folder, linker, &arguments);
            let named = |word: &&String| text.contains(word.trim_start_matches('@'));
            let printed = arguments.iter().skip(1).filter(named).count();
            // gold's internal error names no input.
            let printed = printed + usize::from(text.contains("internal error"));
            // mold ends at the first one that one of its threads finds.
            if linker != Linker::Mold && printed != audit.prediction.messages.len() {
                faults.push(format!("{linker} {case}: {:?}: {text}", audit.prediction.messages));
            }
        }
    }
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
}

/// SFrame messages do not appear if an input is missing.
#[test]
fn sframe_has_no_messages_before_all_inputs_are_there() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("obstacles-sframe");
    inputs(&folder, &toolchain);
    let golden = corpus().join("golden");
    fs::copy(golden.join("2.40/x86_64/calls.o"), folder.join("old.o")).expect("copied");
    fs::copy(golden.join("2.47.50/x86_64/realign.o"), folder.join("new.o")).expect("copied");
    let arguments = words("old.o new.o gone.o");
    for (linker, program) in linkers() {
        let (status, text) = link(&folder, &program, &arguments);
        assert_eq!(
            (status, text.contains("sframe") || text.contains("SFrame")),
            (1, false),
            "{text}"
        );
        let audit = audit(&folder, linker, &arguments);
        assert_eq!(audit.prediction.messages.len(), 1, "{linker}");
        assert_eq!(audit.obstacles[0].kind, ObstacleKind::Unopened);
    }
}

/// Data that `-b binary` or `--format=binary` puts into an object need not be objects.
#[test]
fn binary_inputs_are_no_obstacles() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let folder = folder!("obstacles-binary");
    inputs(&folder, &toolchain);
    for (linker, program) in linkers() {
        if linker == Linker::Mold {
            continue;
        }
        for options in ["-b binary", "--format=binary", "--format binary"] {
            let case = format!("good.o {options} text.o");
            let arguments = words(&case);
            let (status, text) = link(&folder, &program, &arguments);
            assert_eq!(status, 0, "{linker} {case}: {text}");
            let audit = Audit::of_inputs(
                linker,
                &arguments
                    .iter()
                    .map(|word| match word.as_str() {
                        "good.o" | "text.o" => folder.join(word).into_os_string(),
                        other => other.into(),
                    })
                    .collect::<Vec<_>>(),
            );
            assert_eq!((audit.obstacles.len(), audit.prediction.status), (0, Some(0)), "{case}");
        }
    }
}

/// The driver's linker knows its own folders: a library that is in none of them ends the link.
#[test]
fn a_missing_library_of_a_driver_is_named_with_its_folders() {
    if !tools::is_installed("cc") {
        return;
    }
    let folder = folder!("obstacles-driver");
    let source = folder.join("main.c");
    fs::write(&source, "int main(void) { return 0; }\n").expect("written");
    let source = source.display().to_string();
    let command = ["cc", &source, "-L/no/such", "-lgone", "-o", "prog"];
    let real = Command::new(command[0])
        .args(&command[1..])
        .current_dir(&folder)
        .env("LC_ALL", "C")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&real.stderr).into_owned();
    assert!(!real.status.success() && text.contains("-lgone"), "{text}");
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let audit =
        Audit::of_command(&command, Ends::groups(&AtomicBool::new(false))).expect("an audit");
    assert_eq!((audit.prediction.outcome, audit.status()), (Outcome::Fails, Status::Problem));
    let obstacle = &audit.obstacles[0];
    assert_eq!((obstacle.kind, obstacle.input.as_str()), (ObstacleKind::NoLibrary, "-lgone"));
    assert!(
        obstacle.looked_in.iter().any(|place| place == "/no/such (no such folder)"),
        "{obstacle:?}"
    );
    for message in &audit.prediction.messages {
        assert!(text.contains(message), "{message} is not in {text}");
    }
    let mut printed = Vec::new();
    audit.write_text(&mut printed).expect("a vector");
    let printed = String::from_utf8(printed).expect("text");
    let first: Vec<&str> = printed.lines().skip(1).take(4).collect();
    assert_eq!(first[1], "prediction: the link fails", "{printed}");
    assert!(first[2].contains("-lgone: there is no libgone.so and no libgone.a"), "{printed}");
    assert!(first[3].contains("looked for in ") && first[3].contains("/no/such"), "{printed}");
}

/// A script of a cross toolchain names files below the sysroot that its linker was built with.
#[test]
fn scripts_in_a_sysroot_are_no_obstacles() {
    let folder = folder!("obstacles-sysroot");
    let libraries = folder.join("sysroot/usr/lib");
    fs::create_dir_all(&libraries).expect("a folder");
    let library = libraries.join("libpart.so.1");
    fs::copy(corpus().join("golden/2.44/x86_64/shared.so"), library).expect("copied");
    fs::write(libraries.join("libpart.so"), "INPUT ( /usr/lib/libpart.so.1 )").expect("written");
    let script: OsString = libraries.join("libpart.so").into_os_string();
    let audit = Audit::of_inputs(Linker::Ld244, std::slice::from_ref(&script));
    assert_eq!((audit.obstacles.len(), audit.status()), (0, Status::Undecided));
    assert!(audit.undecided[0].contains("--sysroot"), "{:?}", audit.undecided);
    let sysroot = format!("--sysroot={}", folder.join("sysroot").display());
    let audit = Audit::of_inputs(Linker::Ld244, &[sysroot.into(), script]);
    assert_eq!((audit.undecided.len(), audit.inputs.len()), (0, 1), "{audit:?}");
}
