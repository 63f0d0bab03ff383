//! `-r --gc-sections`: GNU ld ends if no input defines the symbol of `-e` or `-u`, and 2.47.50 has read SFrame before. The real
//! linkers say so.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use sframe_corpus::{corpus, folder, tools};
use sframe_link::{Audit, Linker, ObstacleKind, Outcome};

/// Options, and whether the link fails. `leaf.o` defines `twice`.
const CASES: [(&str, bool); 8] = [
    ("", true),
    ("-e nowhere", true),
    ("-u nowhere", true),
    ("-e twice", false),
    ("-u twice", false),
    ("-e nowhere -u twice", false),
    ("-u nowhere -u twice", false),
    ("-e twice -e nowhere", true),
];

#[test]
fn a_link_with_r_needs_a_root() {
    let folder = folder!("roots");
    let object = fs::read(corpus().join("golden/2.44/x86_64/leaf.o")).expect("a golden file");
    let path = folder.join("leaf.o");
    fs::write(&path, object).expect("written");
    for (linker, release) in
        [(Linker::Ld240, "2.40"), (Linker::Ld244, "2.44"), (Linker::Ld247, "2.47.50")]
    {
        let Some(tools) = tools::toolchain(release) else { return };
        for (options, fails) in CASES {
            let options: Vec<&str> = options.split_whitespace().collect();
            let mut command = Command::new(tools.join("ld.bfd"));
            command.args(["-r", "--gc-sections"]).args(&options).arg(&path);
            let output = command.arg("-o").arg(folder.join("out")).env("LC_ALL", "C").output();
            let output = output.expect("the linker runs");
            let printed = String::from_utf8_lossy(&output.stderr);
            assert_eq!(!output.status.success(), fails, "{release} {options:?}: {printed}");
            let mut arguments: Vec<OsString> = vec!["-r".into(), "--gc-sections".into()];
            arguments.extend(options.iter().map(OsString::from));
            arguments.push(path.clone().into());
            let audit = Audit::of_inputs(linker, &arguments);
            let found: Vec<ObstacleKind> = audit.obstacles.iter().map(|of| of.kind).collect();
            let expected = if fails { vec![ObstacleKind::NoRoot] } else { Vec::new() };
            assert_eq!(found, expected, "{release} {options:?}");
            for obstacle in &audit.obstacles {
                let message = obstacle.message.as_deref().expect("observed");
                assert!(printed.contains(message), "{release} {options:?}: {printed}");
            }
        }
    }
}

/// With `--fatal-warnings`, an entry that no input defines may end the link.
#[test]
fn a_missing_entry_is_undecided_with_fatal_warnings() {
    let folder = folder!("roots-entry");
    let Some(assembler) = tools::toolchain("2.44") else { return };
    let (source, object) = (folder.join("one.s"), folder.join("one.o"));
    let text = ".globl one\none: ret\n.section .note.GNU-stack,\"\",@progbits\n";
    fs::write(&source, text).expect("written");
    let status = Command::new(assembler.join("as")).arg("-o").arg(&object).arg(&source).status();
    assert!(status.expect("the assembler runs").success());
    let mut failed = 0;
    for (linker, toolchain, program) in [
        (Linker::Ld240, "2.40", "ld.bfd"),
        (Linker::Ld244, "2.44", "ld.bfd"),
        (Linker::Ld247, "2.47.50", "ld.bfd"),
        (Linker::Gold, "2.40", "ld.gold"),
        (Linker::Lld, "llvm-23", "ld.lld"),
        (Linker::Mold, "mold", "mold"),
    ] {
        let Some(tools) = tools::toolchain(toolchain) else { return };
        for mode in ["", "-static", "-pie", "-shared", "-r"] {
            for entry in ["", "-e nowhere", "-e one", "-e 0x1000"] {
                let words = ["--fatal-warnings", mode, entry].join(" ");
                let mut arguments: Vec<OsString> =
                    words.split_whitespace().map(OsString::from).collect();
                arguments.push(object.clone().into());
                let mut command = Command::new(tools.join(program));
                command.args(&arguments).arg("-o").arg(folder.join("out")).env("LC_ALL", "C");
                let output = command.output().expect("the linker runs");
                let printed = String::from_utf8_lossy(&output.stderr);
                let audit = Audit::of_inputs(linker, &arguments);
                let doubts = audit.undecided.join("; ");
                let case = format!("{linker} {words}: {printed}{doubts}");
                assert_eq!(audit.prediction.status, Some(0), "{case}");
                if output.status.success() {
                    assert_eq!(doubts, "", "{case}");
                } else {
                    assert!(printed.contains("entry"), "{case}");
                    assert!(doubts.contains("no input defines the entry"), "{case}");
                    failed += 1;
                }
            }
        }
    }
    assert!(failed > 0, "no link failed");
}

/// A section without relocations crashes 2.47.50 before it looks for a root. A script may name the root.
#[test]
fn a_crash_comes_before_the_root() {
    let folder = folder!("roots-crash");
    let Some(tools) = tools::toolchain("2.47.50") else { return };
    let golden = corpus().join("golden/2.47.50/x86_64");
    let run = |arguments: &[OsString]| {
        let mut command = Command::new(tools.join("ld.bfd"));
        command.args(arguments).arg("-o").arg(folder.join("out")).env("LC_ALL", "C");
        let output = command.output().expect("the linker runs");
        output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or_default())
    };
    let collect = ["-r", "--gc-sections"].map(OsString::from);
    let stripped = [&collect[..], &[golden.join("stripped.o").into()]].concat();
    let audit = Audit::of_inputs(Linker::Ld247, &stripped);
    assert_eq!(audit.prediction.outcome, Outcome::Crashes);
    assert_eq!(audit.prediction.status, Some(run(&stripped)));
    for (root, status) in [("", 1), ("ENTRY(twice) ", 0)] {
        let script = folder.join("script.lds");
        let text =
            format!("{root}SECTIONS {{ .text : {{ *(.text) }} /DISCARD/ : {{ *(.sframe) }} }}\n");
        fs::write(&script, text).expect("written");
        let inputs = ["-T".into(), script.into(), golden.join("leaf.o").into()];
        let scripted = [&collect[..], &inputs].concat();
        assert_eq!(run(&scripted), status, "{root}");
        let audit = Audit::of_inputs(Linker::Ld247, &scripted);
        assert_eq!(audit.undecided.len(), 1, "{:?}", audit.undecided);
    }
}
