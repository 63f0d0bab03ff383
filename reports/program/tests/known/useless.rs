//! Sections of which known defects leave nothing end with 1 and say what to do; others do not, whatever made them.
//!
//! What a section says is what GNU objdump prints, and where functions are is what GNU nm prints.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sframe_corpus::program::run;
use sframe_corpus::{corpus, folder, repository, tools};
use sframe_record::Weight;

use super::records;

const RULE: &str = "useless-section";
/// Assemblers: the toolchain, the program, and its option.
pub(super) const ASSEMBLERS: [(&str, &str, &[&str]); 4] = [
    ("2.40", "as", &["--gsframe"]),
    ("2.44", "as", &["--gsframe"]),
    ("2.47.50", "as", &["--gsframe"]),
    ("llvm-23", "llvm-mc", &["--gsframe", "-filetype=obj", "-triple=x86_64-linux-gnu"]),
];
/// Linkers: the toolchain and the program.
pub(super) const LINKERS: [(&str, &str); 6] = [
    ("2.40", "ld"),
    ("2.44", "ld"),
    ("2.47.50", "ld"),
    ("2.40", "ld.gold"),
    ("llvm-23", "ld.lld"),
    ("mold", "mold"),
];

pub(super) const HELLO: &str =
    "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

pub(super) fn call(folder: &Path, program: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    output.unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// The hello world of an assembler and a linker, linked by the driver of the compiler. `None` if a tool is missing, `Some(None)` if
/// the linker refuses. `hello.s` is in the folder.
pub(super) fn program(
    folder: &Path,
    (toolchain, assembler, options): &(&str, &str, &[&str]),
    (linked, linker): (&str, &str),
) -> Option<Option<PathBuf>> {
    let object = format!("{toolchain}.o");
    if !folder.join(&object).exists() {
        let arguments = [*options, &["-o", &object, "hello.s"]].concat();
        let assembled = call(folder, &tools::toolchain(toolchain)?.join(assembler), &arguments);
        assert!(assembled.status.success(), "{toolchain}: {assembled:?}");
    }
    let name = format!("{toolchain}+{linker}-{linked}");
    let bin = folder.join(format!("bin-{linker}-{linked}"));
    if !bin.exists() {
        fs::create_dir(&bin).expect("writable");
        let target = tools::toolchain(linked)?.join(linker);
        std::os::unix::fs::symlink(target, bin.join("ld")).expect("writable");
    }
    let driver = format!("-B{}", bin.display());
    let linked = call(folder, Path::new("gcc"), &[&driver, "-o", &name, &object]);
    Some(linked.status.success().then(|| folder.join(name)))
}

/// Hello worlds of each assembler and linker; a pair that refuses to link is left out.
fn programs(folder: &Path) -> Option<Vec<PathBuf>> {
    fs::write(folder.join("hello.c"), HELLO).expect("writable");
    if !tools::run(folder, "gcc", "gcc -O2 -S -o hello.s hello.c") {
        return None;
    }
    let mut programs = Vec::new();
    for assembler in &ASSEMBLERS {
        for linker in LINKERS {
            programs.extend(program(folder, assembler, linker)?);
        }
    }
    assert!(programs.len() >= 20, "{programs:?}");
    Some(programs)
}

/// The starts of functions of the section, as the first release of objdump prints that reads its version.
pub(super) fn starts(program: &Path) -> Option<BTreeSet<u64>> {
    for toolchain in ["2.40", "2.44", "2.47.50"] {
        let objdump = tools::toolchain(toolchain)?.join("objdump");
        let printed = call(Path::new("."), &objdump, &["--sframe", program.to_str()?]);
        let text = String::from_utf8_lossy(&printed.stdout).into_owned();
        let starts: BTreeSet<u64> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("func idx")?.split_once("pc = 0x"))
            .filter_map(|(_, rest)| u64::from_str_radix(rest.split(',').next()?, 16).ok())
            .collect();
        if !starts.is_empty() {
            return Some(starts);
        }
    }
    Some(BTreeSet::new())
}

/// The places of code: functions as nm prints them, and the sections of stubs as readelf does.
fn places(program: &Path) -> Option<BTreeSet<u64>> {
    let bin = tools::toolchain("2.44")?;
    let path = program.to_str()?;
    let printed = |tool: &str, arguments: &[&str]| {
        let output = call(Path::new("."), &bin.join(tool), arguments);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let symbols = printed("nm", &[path]);
    let symbols = symbols.lines().filter_map(|line| {
        let [address, kind, _] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        ["t", "T"].contains(&kind).then(|| u64::from_str_radix(address, 16).ok())?
    });
    let sections = printed("readelf", &["-SW", path]);
    let stubs = sections.lines().filter_map(|line| {
        let (_, line) = line.split_once("] .plt")?;
        u64::from_str_radix(line.split_whitespace().nth(2)?, 16).ok()
    });
    Some(symbols.chain(stubs).collect())
}

/// The arguments that a page recommends for CI: `args` after each line that uses the action.
fn snippets(page: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository().join(page)).expect("a page");
    let blocks = text.split("- uses: OWNER/NAME@").skip(1);
    let args = |block: &str| {
        let mut lines = block.lines().skip(1).take_while(|line| !line.trim().is_empty());
        let args = lines.find_map(|line| line.split_once("args:"));
        let args = args.map_or("", |(_, args)| args.trim_end_matches('}'));
        args.split_whitespace().map(str::to_owned).collect()
    };
    blocks.map(args).collect()
}

/// The first snippet of the README and of the page on CI, on a hello world of each toolchain: it fails if not one function
/// starts where the section says, and then it says what to do.
#[test]
fn the_first_snippet_passes_unless_the_section_is_useless() {
    let folder = folder!("hello-worlds");
    let Some(programs) = programs(&folder) else { return };
    let first: Vec<Vec<String>> =
        ["README.md", "docs/install.md"].iter().map(|page| snippets(page).swap_remove(0)).collect();
    assert!(!first[0].is_empty() && first[0] == first[1], "{first:?}");
    let (mut useless, mut sound) = (0, 0);
    for program in &programs {
        let name = program.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let Some((starts, places)) = starts(program).zip(places(program)) else { return };
        let is_useless = !starts.is_empty() && starts.is_disjoint(&places);
        let mut arguments: Vec<&str> = first[0].iter().map(String::as_str).collect();
        arguments.extend(["--no-config", name]);
        let outcome = run(&folder, &arguments);
        assert_eq!(outcome.status, i32::from(is_useless), "{name}: {starts:x?} {places:x?}");
        if is_useless {
            let mut lines = outcome.text.lines();
            let first = lines.next().unwrap_or_default();
            assert!(first.contains("no reader finds one right row"), "{name}: {first}");
            let second = lines.next().unwrap_or_default().trim();
            assert!(second.starts_with("what to do: link with GNU ld"), "{name}: {second}");
        }
        useless += usize::from(is_useless);
        sound += usize::from(!is_useless && starts.iter().any(|start| places.contains(start)));
    }
    // Version 1 and 2 of GNU as, with gold and with lld.
    assert_eq!(useless, 4);
    assert!(sound >= 14, "{sound}");
}

/// The snippet fails on a defect of the project's own: CFI that the code refutes.
#[test]
fn the_first_snippet_fails_on_a_defect_of_ones_own() {
    let arguments = snippets("README.md").swap_remove(0);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(["--no-config", "wrong-cfi/pushes-without-directives/2.47.50.o"]);
    let outcome = run(&corpus(), &arguments);
    assert_eq!(outcome.status, 1, "{}", outcome.text);
    assert!(outcome.text.contains("owner: yours"), "{}", outcome.text);
}

/// Runs the snippet on the golden programs and libraries of each toolchain. Those of gold and lld have several inputs, whose
/// sections are appended (`corpus/NOTES.md`): where the starts count from the section, no function starts where it says.
#[test]
fn the_first_snippet_on_golden_files() {
    let arguments = snippets("README.md").swap_remove(0);
    let expected = [
        ("2.40", "", 0),
        ("2.44", "", 0),
        ("2.47.50", "", 0),
        ("mold", "", 0),
        ("gold", "v1-", 1),
        ("gold", "v2-", 1),
        ("gold", "v3-", 2),
        ("lld", "", 2),
        ("lld", "v2-", 1),
        ("lld", "v3-", 2),
    ];
    for (toolchain, prefix, status) in expected {
        for file in ["static.exe", "shared.so"] {
            let path = format!("golden/{toolchain}/x86_64/{prefix}{file}");
            let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            arguments.extend(["--no-config", &path]);
            let outcome = run(&corpus(), &arguments);
            assert_eq!(outcome.status, status, "{path}: {}", outcome.text);
            assert_eq!(outcome.text.contains(RULE), status == 1, "{path}");
        }
    }
}

/// Among golden and judged files, a section is useless only if known defects spoil it, and a harmless defect never makes one so.
#[test]
fn a_useless_section_has_a_known_defect_that_spoils_it() {
    let text = super::scan();
    let mut found = BTreeSet::new();
    for record in records(&text) {
        let of_rule = |rule: &str| rule == RULE;
        let Some(finding) = record.findings.iter().find(|finding| of_rule(&finding.rule)) else {
            continue;
        };
        let weight = finding.consequence.as_ref().map(|consequence| consequence.weight);
        assert_eq!((weight, &finding.known), (Some(Weight::Useless), &None), "{}", record.path);
        assert!(finding.remedy.is_some(), "{}", record.path);
        let known = record.counts.iter().filter_map(|count| count.known.as_deref());
        let spoilers = known.filter(|id| {
            sframe_defects::find(id).is_some_and(|defect| defect.weight != Weight::Harmless)
        });
        assert!(spoilers.count() > 0, "{}: {}", record.path, finding.message);
        let bytes = record.coverage.as_ref().map(|coverage| coverage.bytes).unwrap_or_default();
        assert!(bytes.equal * 20 <= record.code_bytes, "{}: {bytes:?}", record.path);
        found.insert(record.path.to_string());
    }
    for path in [
        "differences/starts-not-adjusted/lld.so",
        "differences/starts-not-adjusted/gold.so",
        "golden/2.44/x86_64/stripped.o",
        "golden/2.40/x86_64/relocatable-header-only.o",
    ] {
        assert!(found.contains(path), "{path}: {found:?}");
    }
    // Half of its functions are found.
    assert!(!found.contains("golden/2.44/x86_64/relocatable.o"), "{found:?}");
}

/// Assembles an object with one function of so many instructions of a byte.
fn object(folder: &Path, assembler: (&str, &str, &[&str]), name: &str, size: usize) -> Option<()> {
    let (toolchain, program, options) = assembler;
    let nops = "\tnop\n".repeat(size - 1);
    let text = format!(
        "\t.globl {name}\n\t.type {name}, @function\n{name}:\n\t.cfi_startproc\n{nops}\tret\n\t.cfi_endproc\n\t.size {name}, .-{name}\n"
    );
    fs::write(folder.join("f.s"), text).expect("writable");
    let object = format!("{name}.o");
    let arguments = [options, &["-o", &object, "f.s"]].concat();
    let assembled = call(folder, &tools::toolchain(toolchain)?.join(program), &arguments);
    assert!(assembled.status.success(), "{assembled:?}");
    Some(())
}

/// Two linkers hide the functions of all inputs but the first: one does not move their relocations, the other appends their
/// sections. The sizes of the functions are known from the source.
#[test]
fn a_section_is_useless_if_all_but_a_twentieth_is_hidden() {
    let pairs: [(_, _, &[&str], &str); 2] = [
        (ASSEMBLERS[1], ("2.44", "ld"), &["-r"], "relocations-left-behind"),
        (ASSEMBLERS[3], ("llvm-23", "ld.lld"), &["-shared"], "sections-appended"),
    ];
    let folder = folder!("hidden-functions");
    for (assembler, (toolchain, linker), options, known) in pairs {
        for (first, second, is_useless) in
            [(1, 100, true), (5, 95, true), (6, 94, false), (100, 1, false)]
        {
            let made = object(&folder, assembler, "first", first)
                .and_then(|()| object(&folder, assembler, "second", second))
                .and_then(|()| tools::toolchain(toolchain));
            let Some(bin) = made else { return };
            let arguments = [options, &["-o", "both", "first.o", "second.o"]].concat();
            let linked = call(&folder, &bin.join(linker), &arguments);
            assert!(linked.status.success(), "{linked:?}");
            let outcome = run(&folder, &["--no-config", "both"]);
            let case = format!("{known}, {first} and {second} bytes: {}", outcome.text);
            assert_eq!(outcome.text.contains(RULE), is_useless, "{case}");
            assert!(outcome.text.contains(known), "{case}");
            // Whatever is hidden is undecided.
            assert_eq!(outcome.status, if is_useless { 1 } else { 2 }, "{case}");
        }
    }
}
