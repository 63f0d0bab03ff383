//! The command `reduce` on findings that only a link shows. The judgement of each defect is in its folder in
//! `corpus/differences/`; the linker's output and GNU tools show it again in what the command writes.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::program::{self, Outcome};
use sframe_corpus::{corpus, folder, repository, tools};

/// A linker: its toolchain and its program.
type Tool = (&'static str, &'static str);

const AS: &str = "x86_64-linux-gnu-as";

/// The paths of programs; `None` if one is missing, and that is no failure.
fn find(programs: &[Tool]) -> Option<Vec<String>> {
    if !program::path().exists() {
        tools::missing("sframe-check", "cargo build -p sframe-check");
        return None;
    }
    let path = |(toolchain, name): &Tool| {
        let program = tools::toolchain(toolchain)?.join(name);
        Some(program.into_os_string().into_string().expect("a plain name"))
    };
    programs.iter().map(path).collect()
}

fn reduce(folder: &Path, file: &Path, finding: &str, with: &[String], linker: &str) -> Outcome {
    let mut arguments = vec![Path::new("reduce"), file];
    arguments.extend(["--finding", finding, "-o", "small.s", "--linker", linker].map(Path::new));
    for assembler in with {
        arguments.extend([Path::new("--with"), Path::new(assembler)]);
    }
    program::run(folder, &arguments)
}

/// The sources in a folder, in the order of the link.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let numbered = (1..9).map(|number| folder.join(format!("small-{number}.s")));
    let all = [folder.join("small.s")].into_iter().chain(numbered);
    all.filter(|path| path.exists()).collect()
}

fn run(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(words[0]);
    let output = command.args(&words[1..]).current_dir(folder).env("LC_ALL", "C").output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Assembles and links the reduced sources by hand, and returns what a program prints about the result.
fn again(folder: &Path, assemblers: &[String], link: &[&str], show: &[&str]) -> String {
    let sources = sources(folder);
    let mut words = link.to_vec();
    words.extend(["-o", "again"]);
    let objects: Vec<String> = (0..sources.len()).map(|number| format!("{number}.o")).collect();
    for (number, source) in sources.iter().enumerate() {
        let assembler = &assemblers[number % assemblers.len()];
        let source = source.to_str().expect("a plain name");
        run(folder, &[assembler, "--gsframe", "-o", &objects[number], source]);
    }
    words.extend(objects.iter().map(String::as_str));
    run(folder, &words);
    run(folder, &[show, &["again"]].concat())
}

/// A defect in a file, the programs that show it, and what the reduced sources have to look like.
struct Case {
    id: &'static str,
    file: &'static str,
    assembler: Tool,
    linker: Tool,
    /// Options that are always passed.
    options: &'static str,
    sources: usize,
    functions: usize,
}

const fn case(id: &'static str, file: &'static str, assembler: Tool, linker: Tool) -> Case {
    Case { id, file, assembler, linker, options: "", sources: 1, functions: 1 }
}

const fn two(case: Case) -> Case {
    Case { sources: 2, functions: 2, ..case }
}

const NEW: Tool = ("2.47.50", AS);
const MIDDLE: Tool = ("2.44", AS);
const OLD: Tool = ("2.40", AS);
const NEW_LD: Tool = ("2.47.50", "x86_64-linux-gnu-ld");
const MIDDLE_LD: Tool = ("2.44", "x86_64-linux-gnu-ld");
const OLD_LD: Tool = ("2.40", "x86_64-linux-gnu-ld");
const LLD: Tool = ("llvm-23", "ld.lld");
const GOLD: Tool = ("2.40", "ld.gold");

const CASES: [Case; 14] = [
    case("ld-plt-got", "corpus/golden/2.47.50/x86_64/plt-ibt.so", NEW, NEW_LD),
    case("ld-plt-got", "corpus/golden/2.47.50/x86_64/plt-pie.exe", NEW, NEW_LD),
    case("ld-plt-got", "corpus/differences/ld-plt-got/2.44.so", MIDDLE, MIDDLE_LD),
    case("ld-plt-sec", "corpus/golden/2.40/x86_64/plt-ibt.so", OLD, OLD_LD),
    Case {
        options: " --no-ld-generated-unwind-info",
        ..case("no-unwind-info", "corpus/golden/2.47.50/x86_64/plt-only.so", NEW, NEW_LD)
    },
    two(case("sections-appended", "corpus/golden/lld/x86_64/v3-shared.so", NEW, LLD)),
    two(case("sections-appended", "corpus/golden/gold/x86_64/v2-static.exe", MIDDLE, GOLD)),
    case("starts-not-adjusted", "corpus/differences/starts-not-adjusted/lld.so", MIDDLE, LLD),
    case("starts-not-adjusted", "corpus/differences/starts-not-adjusted/gold.so", MIDDLE, GOLD),
    two(case(
        "relocations-left-behind",
        "corpus/differences/relocations-left-behind/2.44.o",
        MIDDLE,
        MIDDLE_LD,
    )),
    Case {
        options: " --gc-sections",
        ..case(
            "ld-segment-over-nothing",
            "corpus/golden/2.47.50/x86_64/all-collected.exe",
            NEW,
            NEW_LD,
        )
    },
    two(case(
        "segment-missing",
        "corpus/golden/lld/x86_64/v2-shared.so",
        ("llvm-23", "llvm-mc"),
        LLD,
    )),
    // Real libraries.
    case("ld-plt-got", "target/real/2.47.50/x86_64/sqlite3.so", NEW, NEW_LD),
    case("ld-segment-size", "target/real/2.44/x86_64/sqlite3.so", MIDDLE, MIDDLE_LD),
];

#[test]
fn findings_of_links_are_reduced() {
    for Case { id, file, assembler, linker, options, sources: count, functions } in CASES {
        let Some(programs) = find(&[assembler, linker]) else { continue };
        let file = repository().join(file);
        if !file.exists() {
            tools::missing("target/real", "corpus/build real");
            continue;
        }
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let folder = folder!(format!("linked-{id}-{}-{name}", linker.0));
        let linker = format!("{}{options}", programs[1]);
        let outcome = reduce(&folder, &file, id, &programs[..1], &linker);
        assert_eq!(outcome.status, 0, "{id} {name}: {}", outcome.stderr);
        let found = sources(&folder);
        let texts = found.iter().map(|path| fs::read_to_string(path).expect("text"));
        let text = texts.collect::<Vec<_>>().join("\n");
        assert_eq!(found.len(), count, "{id} {name}: {text}");
        assert_eq!(text.matches(".cfi_startproc").count(), functions, "{id} {name}: {text}");
        let page = fs::read_to_string(folder.join("small.md")).expect("a page");
        let command = page.lines().find(|line| line.contains(linker_name(&programs[1])));
        assert!(command.is_some_and(|line| line.starts_with("$ ")), "{page}");
    }
}

fn linker_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[test]
fn reduced_sources_show_stubs_that_are_one_slot_off() {
    let Some(programs) = find(&[NEW, NEW_LD, ("2.47.50", "objdump")]) else { return };
    let folder = folder!("shows-stubs");
    let file = corpus().join("golden/2.47.50/x86_64/plt.so");
    let outcome = reduce(&folder, &file, "ld-plt-got", &programs[..1], &programs[1]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let link = [programs[1].as_str(), "-shared"];
    let code = again(&folder, &programs[..1], &link, &[&programs[2], "-d", "-j", ".plt.got"]);
    let start = code.lines().find_map(|line| line.split_once(" <called@plt>:"));
    let start = start.unwrap_or_else(|| panic!("{code}")).0.trim_start_matches('0').to_owned();
    // One jump, entered by a call: the return address is on top of the stack.
    assert_eq!(code.matches("jmp").count(), 1, "{code}");
    let table = again(&folder, &programs[..1], &link, &[&programs[2], "--sframe"]);
    let (_, entry) = table.split_once(&format!("pc = 0x{start}")).expect(&table);
    let row = entry.lines().nth(2).expect("a row");
    assert!(row.split_whitespace().nth(1) == Some("sp+16"), "{row}");
}

#[test]
fn reduced_sources_lose_one_of_two_functions_in_lld() {
    let Some(programs) = find(&[NEW, LLD, ("2.47.50", "objdump")]) else { return };
    let folder = folder!("shows-appended");
    let file = corpus().join("golden/lld/x86_64/v3-shared.so");
    let outcome = reduce(&folder, &file, "sections-appended", &programs[..1], &programs[1]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let link = [programs[1].as_str(), "-shared"];
    let table = again(&folder, &programs[..1], &link, &[&programs[2], "--sframe"]);
    assert!(table.contains("Num FDEs: 1"), "{table}");
}

#[test]
fn mold_loses_the_input_of_another_version() {
    let mold = ("mold", "mold");
    let Some(programs) = find(&[NEW, MIDDLE, mold, ("2.47.50", "objdump")]) else { return };
    let folder = folder!("shows-mixed");
    let file = corpus().join("golden/mold/x86_64/mixed.exe");
    let outcome = reduce(&folder, &file, "unexplained-loss", &programs[..2], &programs[2]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(sources(&folder).len(), 2);
    let link = [programs[2].as_str(), "-shared"];
    let table = again(&folder, &programs[..2], &link, &[&programs[3], "--sframe"]);
    assert!(table.contains("VERSION_3") && table.contains("Num FDEs: 1"), "{table}");
    let page = fs::read_to_string(folder.join("small.md")).expect("a page");
    assert!(
        page.contains("| 2.44: `small-2.s` |") || page.contains(" 2.44: `small-2.s` |"),
        "{page}"
    );
}

#[test]
fn a_linker_that_lacks_the_defect_is_named() {
    let Some(programs) = find(&[NEW, ("mold", "mold")]) else { return };
    let folder = folder!("linked-lacks");
    let file = corpus().join("golden/2.47.50/x86_64/plt.so");
    let outcome = reduce(&folder, &file, "ld-plt-got", &programs[..1], &programs[1]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("not shown by mold"), "{}", outcome.stderr);
    assert!(sources(&folder).is_empty() && !folder.join("small.md").exists());
}

#[test]
fn a_driver_leaves_out_the_c_library_if_it_can() {
    let Some(programs) = find(&[NEW, NEW_LD]) else { return };
    let driver = ["/usr/bin/gcc", "/usr/bin/cc"].into_iter().find(|path| Path::new(path).exists());
    let Some(driver) = driver else {
        return tools::missing("gcc", "apt install gcc");
    };
    let folder = folder!("linked-driver");
    let file = corpus().join("golden/2.47.50/x86_64/plt.so");
    let bin = Path::new(&programs[1]).parent().expect("a folder").display();
    let linker = format!("{driver} -B{bin} -shared");
    let outcome = reduce(&folder, &file, "ld-plt-got", &programs[..1], &linker);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("GNU ld (GNU Binutils for Debian) 2.47.50"),
        "{}",
        outcome.stderr
    );
    let page = fs::read_to_string(folder.join("small.md")).expect("a page");
    assert!(page.contains(" -nostdlib -o small.so small.o"), "{page}");
    assert!(!page.contains("C library"), "{page}");
}
