//! AArch64 programs without SFrame and without CFI: the machine code alone leads from frame to frame. gdb reads a copy
//! of the program that still has its CFI.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, tools};

use super::machines::{build, core};
use super::{frames, gdb, walk};

/// The functions that crash, and the functions that they have called.
const CRASHES: [(&str, &[&str]); 13] = [
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
];

/// A copy of a program without tables of rows.
fn without_tables(program: &Path) -> Option<PathBuf> {
    let bare = program.with_file_name("bare");
    let tools = tools::toolchain("2.44")?;
    let mut objcopy = Command::new(tools.join("aarch64-linux-gnu-objcopy"));
    objcopy.args(["--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr"]);
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

#[test]
fn code_alone_leads_to_the_frames_of_gdb() {
    for options in [["-O2"].as_slice(), &["-O1", "-fomit-frame-pointer"], &["-O0"]] {
        let folder = folder!(&format!("walk-no-tables{}", options[0]));
        let program = build(&folder, "aarch64", "no_tables", "2.44", options);
        let Some(program) = program else { return };
        let Some(bare) = without_tables(&program) else { return };
        for (what, called) in CRASHES {
            let core = core(&bare, "aarch64", what);
            let (status, walks) = walk(&folder, &["--exe", "bare", core.to_str().expect("a path")]);
            let thread = &walks["threads"][0];
            let chain = [called, &[what, "recurse", "recurse", "recurse", "start", "_start"]];
            assert_eq!(names(thread), chain.concat(), "{what} {options:?}");
            let expected = gdb::backtraces("gdb-multiarch", &program, &core).remove(0).1;
            assert_eq!(frames(thread, "code"), expected, "{what} {options:?}");
            // No other witness confirms these frames.
            assert_eq!((status, &thread["compared"]), (2, &0.into()), "{what}");
            for level in thread["frames"].as_array().expect("frames") {
                let witnesses = level["witnesses"].as_array().expect("witnesses");
                let silent = |witness: &Value| witness["end"] == "the file has no such section";
                assert!(witnesses[..2].iter().all(silent), "{what}: {level}");
            }
        }
    }
}
