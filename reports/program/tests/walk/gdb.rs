//! Backtraces of gdb.

use std::path::Path;
use std::process::{Command, Output};

use super::FrameAt;

/// The script that prints frames.
pub(crate) const SCRIPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/walk/programs/frames.py");

/// The frames of each thread in a core dump, by the thread's identifier.
pub(crate) fn backtraces(gdb: &str, program: &Path, core: &Path) -> Vec<(u64, Vec<FrameAt>)> {
    // It walks some damaged stacks for ever.
    let mut limited = Command::new("timeout");
    let gdb = limited.args(["120", gdb]);
    gdb.args(["-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    // Otherwise gdb stops at `main`.
    for setting in ["past-main on", "past-entry on", "limit unlimited"] {
        gdb.args(["-ex", &format!("set backtrace {setting}")]);
    }
    gdb.arg("-x").arg(SCRIPT).arg(program).arg(core);
    parsed(&gdb.output().expect("gdb runs"))
}

/// The frames that the script printed.
pub(crate) fn parsed(output: &Output) -> Vec<(u64, Vec<FrameAt>)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut threads: Vec<(u64, Vec<FrameAt>)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["thread", id] => threads.push((id.parse().expect("a number"), Vec::new())),
            ["frame", pc, sp, kind] => threads.last_mut().expect("a thread").1.push(FrameAt {
                pc: pc.to_owned(),
                sp: sp.to_owned(),
                signal: kind == "signal",
            }),
            _ => {}
        }
    }
    assert!(!threads.is_empty(), "gdb: {}", String::from_utf8_lossy(&output.stderr));
    threads
}
