//! Crashes of an AArch64 program in all kinds of places, walked with and without tables. Without SFrame and CFI, the
//! machine code alone leads from frame to frame. gdb reads the copy of the program that has its CFI.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, tools};

use super::machines::{build, core};
use super::{FrameAt, frames, gdb, rows, walk};

/// The functions that crash, and the functions that they have called.
const CRASHES: [(&str, &[&str]); 14] = [
    ("leaf", &[]),
    ("not_a_leaf", &["leaf"]),
    ("large", &["leaf", "not_a_leaf"]),
    ("dynamic", &["leaf", "not_a_leaf"]),
    ("opened", &[]),
    ("saved", &[]),
    ("restored", &[]),
    ("closed", &[]),
    ("two_steps", &[]),
    ("early_return", &[]),
    ("on_one_path", &[]),
    ("other_register", &[]),
    ("aligned", &[]),
    ("last_call", &["opened"]),
];

/// A copy of a program without tables of rows.
fn without_tables(program: &Path) -> Option<PathBuf> {
    let bare = program.with_file_name("bare");
    let tools = tools::toolchain("2.44")?;
    let mut objcopy = Command::new(tools.join("aarch64-linux-gnu-objcopy"));
    objcopy.args(
        [".eh_frame", ".eh_frame_hdr", ".sframe"].map(|name| format!("--remove-section={name}")),
    );
    let output = objcopy.arg(program).arg(&bare).output().expect("objcopy runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(bare)
}

/// The names of the functions on the stack.
fn names(thread: &Value) -> Vec<String> {
    let levels = thread["frames"].as_array().expect("frames").iter();
    let name = |level: &Value| level["witnesses"][2]["symbol"].as_str().unwrap_or("?").to_owned();
    levels.map(name).collect()
}

/// A crash: the function, the functions on the stack, the core dump, and the frames according to gdb.
struct Crash {
    what: &'static str,
    stack: Vec<&'static str>,
    core: String,
    frames: Vec<FrameAt>,
}

/// Builds the program, which is `program` with tables and `bare` without, and lets it crash everywhere. `None` if a tool
/// is missing.
fn crashes(folder: &Path, options: &[&str]) -> Option<Vec<Crash>> {
    let options = [&["-Wa,--gsframe"], options].concat();
    let program = build(folder, "aarch64", "crashes", "2.47.50", &options)?;
    let bare = without_tables(&program)?;
    let crash = |(what, called): (&'static str, &[&'static str])| {
        let core = core(&bare, "aarch64", what);
        let callers = [what, "recurse", "recurse", "recurse", "start", "_start"];
        Crash {
            what,
            stack: [called, &callers].concat(),
            frames: gdb::backtraces("gdb-multiarch", &program, &core).remove(0).1,
            core: core.to_str().expect("text").to_owned(),
        }
    };
    Some(CRASHES.into_iter().map(crash).collect())
}

/// Levels of optimisation, with and without frame pointers.
const OPTIONS: [&[&str]; 3] = [&["-O2"], &["-O1", "-fomit-frame-pointer"], &["-O0"]];

#[test]
fn code_alone_leads_to_the_frames_of_gdb() {
    for options in OPTIONS {
        let folder = folder!(&format!("walk-no-tables{}", options[0]));
        let Some(crashes) = crashes(&folder, options) else { return };
        for Crash { what, stack, core, frames: expected } in crashes {
            let (status, walks) = walk(&folder, &["--exe", "bare", &core]);
            let thread = &walks["threads"][0];
            assert_eq!(names(thread), stack, "{what} {options:?}");
            assert_eq!(frames(thread, "code"), expected, "{what} {options:?}");
            // No other witness confirms these frames.
            assert_eq!((status, &thread["compared"]), (2, &0.into()), "{what}");
            assert_eq!(thread["complete"], false);
            for level in thread["frames"].as_array().expect("frames") {
                let witnesses = level["witnesses"].as_array().expect("witnesses");
                let silent = |witness: &Value| witness["end"] == "the file has no such section";
                assert!(witnesses[..2].iter().all(silent), "{what}: {level}");
            }
            // The first function sets FP to 0, and those that GCC compiles keep it in their frames.
            if options == ["-O0"] {
                let (_, walks) = walk(&folder, &["--exe", "bare", "--end", "fp-zero", &core]);
                let thread = &walks["threads"][0];
                assert_eq!(thread["complete"], true, "{what}");
                assert_eq!(names(thread), stack[..stack.len() - 1], "{what}");
            }
        }
    }
}

#[test]
fn tables_and_code_lead_to_the_same_frames() {
    for options in OPTIONS {
        let folder = folder!(&format!("walk-crashes{}", options[0]));
        let Some(crashes) = crashes(&folder, options) else { return };
        let (mut by_sframe, mut all) = (0, 0);
        for Crash { what, core, frames: expected, .. } in crashes {
            let (status, walks) = walk(&folder, &["--exe", "program", &core]);
            let thread = &walks["threads"][0];
            assert_eq!((status, &thread["verdict"]), (0, &"equal".into()), "{what}: {thread}");
            for witness in ["sframe", "cfi", "code"] {
                assert_eq!(frames(thread, witness), expected, "{what} {options:?}");
            }
            by_sframe += rows(thread, "sframe");
            all += expected.len();
        }
        println!("{by_sframe} of {all} frames by SFrame");
        // It cannot express a return address in another register (`other_register`).
        assert_eq!(by_sframe + 1, all);
    }
}
