//! Wrong rows that are cases of known defects.
//!
//! The rows of `.plt.got` were judged in `corpus/differences/ld-plt-got`.

use std::process::Command;

use sframe_corpus::{folder, program, read, tools};
use sframe_process::trace::WrongRow;
use sframe_render::trace::known_defect;
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use crate::{is_permitted, sources, trace};

/// The PCs of `.plt.got` that a call of its only stub executes, from the output of objdump.
fn stub(folder: &std::path::Path, name: &str) -> Vec<String> {
    let arguments = ["-d", "-j", ".plt.got", "--no-show-raw-insn", name];
    let output = Command::new("objdump").args(arguments).current_dir(folder).output();
    let text = String::from_utf8(output.expect("objdump runs").stdout).expect("text");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(":\t")).collect();
    let jump = lines.iter().position(|line| line.contains("jmp")).expect("a jump");
    let address = |line: &&str| line.split(':').next().expect("an address").trim().to_owned();
    lines.iter().take(jump + 1).map(address).collect()
}

#[test]
fn rows_of_known_defects_are_named_and_do_not_count() {
    let Some(tool) = tools::toolchain("2.44") else { return };
    for (name, options, pcs) in [("plain", "", 1), ("ibt", "-fcf-protection -Wl,-z,ibt", 2)] {
        let folder = folder!(format!("trace-known-{name}"));
        let (tool, source) = (tool.display(), sources().join("frames.c"));
        let command = format!(
            "gcc -O2 {options} -pthread -B{tool}/ -Wa,--gsframe -o {name} {}",
            source.display()
        );
        if !is_permitted() || !tools::run(&folder, "gcc", &command) {
            return;
        }
        let executed = stub(&folder, name);
        assert_eq!(executed.len(), pcs, "{executed:?}");
        let only = format!("**/{name}");
        let program = format!("./{name}");
        for (level, status) in [("warn", 0), ("deny", 1), ("allow", 0)] {
            let found = trace(&folder, &["--known", level, "--only", &only], &[&program]);
            assert_eq!(found.status, status, "{name} {level}: {}", found.report);
            let witness = found.witness(name, "SFrame");
            assert_eq!((&witness["wrong"], &witness["known"]), (&pcs.into(), &pcs.into()));
            let function = &witness["functions"][0];
            assert_eq!(function["known"], "ld-plt-got", "{function}");
            assert_eq!(function["example"]["pc"], format!("0x{}", executed[0]));
            assert!(witness["functions"][1].is_null(), "{witness}");
            assert_eq!(found.witness(name, "CFI")["known"], 0);
        }
    }
}

/// What people read, in place of the JSON of the other tests.
#[test]
fn the_text_says_the_same_as_the_check() {
    let Some(tool) = tools::toolchain("2.44") else { return };
    let folder = folder!("trace-known-text");
    let (tool, source) = (tool.display(), sources().join("frames.c"));
    let command =
        format!("gcc -O2 -pthread -B{tool}/ -Wa,--gsframe -o frames {}", source.display());
    if !is_permitted() || !tools::run(&folder, "gcc", &command) {
        return;
    }
    let text = |level: &str| {
        let arguments = ["trace", "--known", level, "--only", "**/frames", "--", "./frames"];
        program::run(&folder, &arguments).text
    };
    let checked = |level: &str| program::run(&folder, &["--known", level, "-q", "frames"]).text;
    let (named, denied, allowed) = (text("warn"), text("deny"), text("allow"));
    let name = "known, not caused by this file: ld-plt-got (GNU ld 2.44 to 2.47.50; partial: the stubs of .plt.got)";
    assert!(named.contains(", 1 wrong (known defect), ") && named.contains(name), "{named}");
    assert!(checked("warn").contains(name));
    assert!(!named.contains("are wrong at"), "{named}");
    let name = "known: ld-plt-got (GNU ld 2.44 to 2.47.50; not caused by this file; partial: the stubs of .plt.got)\n";
    let place = stub(&folder, "frames").remove(0);
    let wrong = format!("    CFA and RA are wrong at 1 PC of the function at 0x{place}\n");
    assert!(denied.contains(&wrong) && denied.contains(name), "{denied}");
    assert!(denied.contains(" right, 1 wrong, "), "{denied}");
    assert!(checked("deny").contains(name));
    assert!(allowed.contains(", 1 suppressed, "), "{allowed}");
    assert!(allowed.contains("    suppressed: known: ld-plt-got\n"), "{allowed}");
    // Code that no witness describes.
    assert!(named.contains(" not determined\n"), "{named}");
}

/// The row of the stub at 0x200, as the session `policy/known.md` shows it, and neighbours of which one sign differs.
#[test]
fn a_row_has_all_signs_of_the_defect() {
    let file = read("differences/ld-plt-got/2.44.so");
    let frame = |offset: i64| Frame {
        cfa: Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
    // With other code in the place of the stub's jump, which has the same address and file offset.
    let known = |address, code: &[u8], stated, truth| {
        let mut file = file.clone();
        file[0x200..][..code.len()].copy_from_slice(code);
        let (stated, truth) = (frame(stated), frame(truth));
        known_defect(&WrongRow { file: &file, address, stated, truth })
    };
    let jump = [0xff, 0x25, 0xda, 0x1d, 0, 0];
    assert_eq!(file[0x200..0x206], jump);
    assert_eq!(known(0x200, &jump, 16, 8), Some("ld-plt-got"));
    let (push, ret) = ([0xff, 0x35, 0, 0, 0, 0], [0xc3]);
    for other in [
        known(0x200, &push, 16, 8),
        known(0x200, &ret, 16, 8),
        known(0x200, &jump, 24, 8),
        known(0x200, &jump, 16, 24),
        known(0x208, &jump, 16, 8),
        known(u64::MAX, &jump, 16, 8),
    ] {
        assert_eq!(other, None);
    }
    // Without the magic number, whose file offset readelf prints, the version is unknown.
    let mut damaged = file.clone();
    assert_eq!(damaged[0x288..0x28b], [0xe2, 0xde, 2]);
    damaged[0x288] ^= 0xff;
    let (stated, truth) = (frame(16), frame(8));
    let row = |file| WrongRow { file, address: 0x200, stated, truth };
    assert_eq!(known_defect(&row(&damaged)), None);
    assert_eq!(known_defect(&row(&file[..100])), None);
}
