//! Which members of archives are pulled in, compared with real links of generated objects: archives that need each other,
//! groups, whole archives, weak references, and symbols that several members define.
//!
//! Every object has a local symbol of its own, so that the symbols of the output say which objects are in it.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::{folder, tools};
use sframe_link::{Audit, InputKind, Linker};

const LINKERS: [(Linker, &str, &str); 6] = [
    (Linker::Ld240, "2.40", "ld.bfd"),
    (Linker::Ld244, "2.44", "ld.bfd"),
    (Linker::Ld247, "2.47.50", "ld.bfd"),
    (Linker::Gold, "2.40", "ld.gold"),
    (Linker::Lld, "llvm-23", "ld.lld"),
    (Linker::Mold, "mold", "mold"),
];
const CASES: u64 = 24;
const OBJECTS: u64 = 16;
const SYMBOLS: u64 = 12;

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    const fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// An object that defines a few symbols and needs others.
fn source(number: u64, numbers: &mut Numbers) -> String {
    let mut text = format!(
        ".text\n.type mark_{number},@function\nmark_{number}:\nret\n.size mark_{number},1\n"
    );
    let defined = if number == 0 { 0 } else { 1 + numbers.below(2) };
    let names: BTreeSet<u64> = (0..defined).map(|_| numbers.below(SYMBOLS)).collect();
    for name in &names {
        let binding = if numbers.below(5) == 0 { "weak" } else { "globl" };
        writeln!(text, ".{binding} s{name}\n.type s{name},@function\ns{name}:\nret")
            .expect("a string");
    }
    for _ in 0..1 + numbers.below(2) {
        let name = numbers.below(SYMBOLS);
        if numbers.below(5) == 0 && !names.contains(&name) {
            writeln!(text, ".weak s{name}").expect("a string");
        }
        writeln!(text, "call s{name}@PLT").expect("a string");
    }
    text + ".section .note.GNU-stack,\"\",@progbits\n"
}

/// Makes the objects and archives of a case, and returns the arguments of its link.
fn make(folder: &Path, toolchain: &Path, numbers: &mut Numbers) -> Vec<String> {
    let mut objects = Vec::new();
    for number in 0..OBJECTS {
        let object = format!("{number}.o");
        fs::write(folder.join("source.s"), source(number, numbers)).expect("written");
        run(folder, &toolchain.join("as"), &["-o", &object, "source.s"]);
        objects.push(object);
    }
    let (first, members) = objects.split_at(2);
    // A shared object has symbols of two more objects.
    let (shared, members) = members.split_at(2);
    let linker = toolchain.join("ld.bfd");
    run(folder, &linker, &["-shared", "-z", "muldefs", "-o", "libs.so", &shared[0], &shared[1]]);
    let archives: Vec<String> = members
        .chunks(3)
        .enumerate()
        .map(|(number, members)| {
            let archive = format!("lib{number}.a");
            let mut arguments = vec!["rc", archive.as_str()];
            arguments.extend(members.iter().map(String::as_str));
            run(folder, &toolchain.join("ar"), &arguments);
            archive
        })
        .collect();
    let mut arguments =
        vec!["-shared".to_owned(), "-z".to_owned(), "muldefs".to_owned(), first[0].clone()];
    let in_group = numbers.below(3);
    let whole = numbers.below(8);
    for (number, archive) in (0_u64..).zip(&archives) {
        if number == 1 && in_group > 0 {
            arguments.push("--start-group".to_owned());
        }
        if number == whole {
            arguments.push("--whole-archive".to_owned());
        }
        arguments.push(archive.clone());
        if number == whole {
            arguments.push("--no-whole-archive".to_owned());
        }
        if number == 2 && in_group > 0 {
            arguments.push("--end-group".to_owned());
        }
    }
    let place = arguments.len() - usize::try_from(numbers.below(2)).expect("small");
    if arguments[place - 1] != "--whole-archive" {
        arguments.insert(place, first[1].clone());
    } else {
        arguments.push(first[1].clone());
    }
    let places = arguments.iter().enumerate().filter(|(_, argument)| argument.ends_with(".a"));
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    let place = places[usize::try_from(numbers.below(4)).expect("small")];
    if place > 0 && !arguments[place - 1].starts_with("--") {
        arguments.insert(place, "libs.so".to_owned());
    }
    arguments
}

fn run(folder: &Path, program: &Path, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).current_dir(folder).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{} {arguments:?}: {message}", program.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn members_are_pulled_in_as_by_real_linkers() {
    let Some(toolchain) = tools::toolchain("2.44") else { return };
    let linkers = LINKERS
        .map(|(linker, name, program)| Some((linker, tools::toolchain(name)?.join(program))));
    let (mut compared, mut pulled) = (0, 0);
    for case in 0..CASES {
        let folder = folder!(format!("archives-{case}"));
        let arguments = make(&folder, &toolchain, &mut Numbers(case + 1));
        for (linker, program) in linkers.iter().flatten() {
            let mut line: Vec<&str> = arguments.iter().map(String::as_str).collect();
            line.extend(["-o", "output"]);
            run(&folder, program, &line);
            let real = marks(&run(&folder, &toolchain.join("nm"), &["output"]));
            let predicted = predicted(&folder, *linker, &arguments);
            assert_eq!(predicted, real, "{linker}, case {case}: {arguments:?}");
            compared += 1;
            pulled += real.len() - 2;
        }
    }
    println!("{compared} links, {pulled} members pulled in");
    assert!(linkers.iter().any(Option::is_none) || (compared == 144 && pulled > 300), "{pulled}");
}

fn marks(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.split_once("mark_").map(|(_, number)| number.to_owned()))
        .collect()
}

fn predicted(folder: &Path, linker: Linker, arguments: &[String]) -> BTreeSet<String> {
    let absolute =
        |argument: &String| match [".o", ".a", ".so"].iter().any(|end| argument.ends_with(end)) {
            true => folder.join(argument).into_os_string(),
            false => OsString::from(argument),
        };
    let arguments: Vec<OsString> = arguments.iter().map(absolute).collect();
    let audit = Audit::of_inputs(linker, &arguments);
    assert_eq!(audit.undecided, Vec::<String>::new());
    let number = |name: &str| {
        let file = name.trim_end_matches(')').rsplit(['/', '(']).next().expect("a name");
        file.strip_suffix(".o").expect("an object").to_owned()
    };
    let copied = audit.inputs.iter().filter(|input| input.kind != InputKind::Shared);
    copied.map(|input| number(&input.name)).collect()
}
