//! Programs that BOLT has rewritten, before and after `synthesize --replace`. The truth about rows is the stack, as the
//! processor makes it (`trace`), and about whole stacks gdb's backtraces, which it makes from the CFI that BOLT writes.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, program, tools, tries};

use super::cores::{core_by_gdb, has_tools};
use super::{frames, gdb, rows, walk};

const BOLT: &str = "llvm-bolt-19";

/// Programs that end with `abort`: recursion and a switch, callbacks of the C library, and a large frame in a function that
/// is rarely called. The options are those of the linker's driver and of BOLT.
const PROGRAMS: [(&str, &str, &str, &[&str]); 3] = [
    (
        "recursion",
        r"
#include <stdlib.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile int zero;
NOINLINE int by_case(int n) {
    switch (n) {
    case 0: return zero + 7;
    case 1: return zero - 3;
    case 2: return zero * 5;
    case 3: return zero ^ 9;
    case 4: abort();
    default: return zero;
    }
}
NOINLINE int fib(int n) { return n < 2 ? by_case(n) : fib(n - 1) + fib(n - 2) + by_case(n % 4); }
NOINLINE int last(int n) { return by_case(n) + fib(n); }
int main(void) { return last(fib(9) * 0 + 4) + 1; }
",
        "-no-pie",
        &["-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions"],
    ),
    (
        "callbacks",
        r"
#include <stdlib.h>
static int calls;
static int compare(const void *a, const void *b) {
    if (++calls == 12) abort();
    return *(const int *) a - *(const int *) b;
}
int main(void) {
    int numbers[] = { 9, 3, 7, 1, 8, 2, 6, 4, 5, 0 };
    qsort(numbers, 10, sizeof *numbers, compare);
    return numbers[0];
}
",
        "-pie",
        &["-reorder-blocks=ext-tsp", "-split-functions", "-peepholes=all"],
    ),
    // With a profile, BOLT leaves the functions that it does not mention where they are.
    (
        "rare",
        r"
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile int zero;
NOINLINE int often(int n) { return n * 3 + zero; }
NOINLINE void rare(int n) {
    char bytes[5000];
    memset(bytes, n, sizeof bytes);
    if (bytes[n] == n) abort();
}
int main(void) {
    int sum = 0;
    for (int n = 0; n < 50; n++) sum += often(n);
    rare(sum % 100);
    return sum;
}
",
        "-no-pie",
        &["-data=profile", "-reorder-blocks=ext-tsp"],
    ),
];

/// A profile in BOLT's own format: branches with counts.
const PROFILE: &str = "1 main 0 1 often 0 0 1000\n1 often 5 1 main 20 0 1000\n";

/// Compiles a program with an SFrame section, and lets BOLT rewrite it. It finds its C library, which gets a section of its own,
/// in its own folder.
fn build(folder: &Path, toolchain: &Path, number: usize) -> PathBuf {
    let (name, source, link, options) = PROGRAMS[number];
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("writable");
    };
    write("source.c", source);
    write("profile", PROFILE);
    let mut gcc = Command::new("gcc");
    gcc.current_dir(folder).args(["-w", "-O2", "-fno-optimize-sibling-calls", "-Wa,--gsframe"]);
    gcc.arg(format!("-B{}", toolchain.display())).args(["-Wl,--emit-relocs", link]);
    gcc.arg(format!("-Wl,-rpath,{}", folder.display())).args(["-o", "linked", "source.c"]);
    let mut bolt = Command::new(BOLT);
    bolt.current_dir(folder).args(["linked", "-o", name]).args(options);
    for command in [&mut gcc, &mut bolt] {
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let library = Command::new("gcc").arg("-print-file-name=libc.so.6").output().expect("gcc runs");
    let library = String::from_utf8(library.stdout).expect("a path");
    let run = program::run(folder, &["synthesize", library.trim(), "-o", "libc.so.6"]);
    assert!(run.status <= 1, "{run:?}");
    folder.join(name)
}

/// What `trace` says about the rows of a witness in the program, where it ran.
fn traced(folder: &Path, program: &Path) -> [Value; 2] {
    let path = program.to_str().expect("text");
    let run = program::run(folder, &["trace", "--format", "json", "--", path]);
    let report: Value = serde_json::from_str(&run.text).expect("JSON");
    let files = report["files"].as_array().expect("files");
    let own = files.iter().find(|file| file["path"] == path).expect("it ran");
    let witnesses = own["witnesses"].as_array().expect("witnesses");
    let of = |name: &str| witnesses.iter().find(|witness| witness["witness"] == name);
    ["SFrame", "CFI"].map(|name| of(name).cloned().unwrap_or_default())
}

/// Compares the stack of a core dump with gdb's. Returns the number of its frames, and of those with a row of SFrame.
fn walked(folder: &Path, program: &Path, what: &str) -> (usize, usize) {
    let core = core_by_gdb(program, what);
    let (_, walks) = walk(folder, &[core.to_str().expect("text")]);
    let expected = gdb::backtraces("gdb", program, &core);
    let thread = &walks["threads"][0];
    assert_eq!(frames(thread, "cfi"), expected[0].1, "{what}: {thread}");
    let found = frames(thread, "sframe");
    assert!(expected[0].1.starts_with(&found), "{what}: {thread}");
    (expected[0].1.len(), rows(thread, "sframe"))
}

fn check(folder: &Path, number: usize) {
    let Some(toolchain) = tools::toolchain("2.47.50") else { return };
    let stale = build(folder, &toolchain, number);
    let name = PROGRAMS[number].0;
    let stale_path = stale.to_str().expect("text");
    let run = program::run(folder, &["--only", "stale-after-rewriting", stale_path]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.text.contains("BOLT has replaced it"), "{run:?}");
    let [before, _] = traced(folder, &stale);
    let (depth, described) = walked(folder, &stale, "stale");
    assert!(described < depth, "{name}: {described} of {depth} frames");

    let made = folder.join("made");
    let made_path = made.to_str().expect("text");
    let run = program::run(folder, &["synthesize", "--replace", stale_path, "-o", made_path]);
    assert_eq!(run.status, 0, "{run:?}");
    let run = program::run(folder, &["--fail-on", "warning", made_path]);
    assert_eq!(run.status, 0, "{run:?}");
    let [sframe, cfi] = traced(folder, &made);
    println!(
        "{name}: right {} before, {} after; CFI {}",
        before["right"], sframe["right"], cfi["right"]
    );
    assert_eq!((&sframe["wrong"], &sframe["undecided"]), (&0.into(), &0.into()), "{sframe}");
    assert_eq!(sframe["right"], cfi["right"], "{sframe} {cfi}");
    assert!(sframe["right"].as_u64() > before["right"].as_u64(), "{before} {sframe}");
    assert!(sframe["right"].as_u64() > Some(10), "{sframe}");
    let (depth, described) = walked(folder, &made, "made");
    assert_eq!(described, depth, "{name}");
    assert!(depth >= 5, "{name}: {depth}");
}

/// One of the programs after each change, all of them at night.
#[test]
fn programs_after_bolt_are_walked_through_a_new_section() {
    if !has_tools() || !tools::is_installed(BOLT) {
        return;
    }
    for number in 0..tries(1, PROGRAMS.len()) {
        check(&folder!(&format!("rewritten-{number}")), number);
    }
}
