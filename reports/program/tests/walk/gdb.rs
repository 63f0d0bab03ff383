//! Backtraces of gdb.

use std::path::Path;
use std::process::{Command, Output};

use super::FrameAt;

/// The script that prints frames.
pub(crate) const SCRIPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/walk/programs/frames.py");

/// The frames of each thread in a core dump, by the thread's identifier.
pub(crate) fn backtraces(gdb: &str, program: &Path, core: &Path) -> Vec<(u64, Vec<FrameAt>)> {
    parsed(&run(gdb, &[], program, core))
}

/// The frames of each thread in a core dump of another machine, whose libraries are below `sysroot`.
pub(crate) fn backtraces_below(
    sysroot: &Path,
    program: &Path,
    core: &Path,
) -> Vec<(u64, Vec<FrameAt>)> {
    let setting = format!("set sysroot {}", sysroot.display());
    // The library with which gdb looks for threads is this machine's.
    let settings = ["-iex", &setting, "-iex", "set auto-load libthread-db off"];
    parsed(&run("gdb-multiarch", &settings, program, core))
}

/// The names of the functions on the first thread's stack. gdb finds debug files below `folder`.
pub(crate) fn names(gdb: &str, folder: &Path, program: &Path, core: &Path) -> Vec<String> {
    let setting = format!("set debug-file-directory {}", folder.display());
    let output = run(gdb, &["-iex", &setting], program, core);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().skip_while(|line| !line.starts_with("thread ")).skip(1);
    let frames = lines.take_while(|line| line.starts_with("frame "));
    let names: Vec<String> =
        frames.filter_map(|line| line.split(' ').nth(4)).map(str::to_owned).collect();
    assert!(!names.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    names
}

fn run(gdb: &str, arguments: &[&str], program: &Path, core: &Path) -> Output {
    // It walks some damaged stacks for ever.
    let mut limited = Command::new("timeout");
    let gdb = limited.args(["120", gdb]);
    gdb.args(["-nx", "-batch", "-iex", "set debuginfod enabled off"]).args(arguments);
    // Otherwise gdb stops at `main`.
    for setting in ["past-main on", "past-entry on", "limit unlimited"] {
        gdb.args(["-ex", &format!("set backtrace {setting}")]);
    }
    gdb.arg("-x").arg(SCRIPT).arg(program).arg(core);
    gdb.output().expect("gdb runs")
}

/// The frames that the script printed.
pub(crate) fn parsed(output: &Output) -> Vec<(u64, Vec<FrameAt>)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut threads: Vec<(u64, Vec<FrameAt>)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["thread", id] => threads.push((id.parse().expect("a number"), Vec::new())),
            ["frame", pc, sp, kind, _] => threads.last_mut().expect("a thread").1.push(FrameAt {
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
