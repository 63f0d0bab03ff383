//! Inputs and options that are not pairs of kinds: COMDAT groups, sections that are empty, damaged or stripped, rows that
//! crash linkers, `--discard-sframe`, `--fatal-warnings`, and scripts.

use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::{corpus, folder, tools};
use sframe_link::{Linker, Outcome};

use crate::objects::{self, Kind, Machine};
use crate::real::{self, Readers};
use crate::{TOOLS, Tool, compare, in_folder};

/// Links some inputs, compares the prediction, and returns what differs.
///
/// `functions` has those of each input.
pub(crate) fn differences(
    tool: &Tool,
    folder: &Path,
    readers: &Readers,
    options: &[&str],
    inputs: &[Input],
) -> Vec<String> {
    let mut arguments: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    arguments.extend(inputs.iter().map(|input| input.file.clone()));
    let linker = tool.path(Machine::Amd64).expect("checked");
    let real = real::link(&linker, folder, readers, &arguments);
    let audit = in_folder(folder, tool.linker, &arguments);
    let fates = inputs.iter().zip(&audit.prediction.fates);
    let described =
        fates.filter(|(_, fate)| fate.is_described()).flat_map(|(input, _)| input.functions);
    let mut described: Vec<String> = described.map(|name| (*name).to_owned()).collect();
    described.sort();
    let faults = compare(&real, &audit, &described);
    faults.into_iter().map(|fault| format!("{} {arguments:?}: {fault}", tool.linker)).collect()
}

#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) file: String,
    pub(crate) functions: &'static [&'static str],
}

pub(crate) fn input(file: impl Into<String>, functions: &'static [&'static str]) -> Input {
    Input { file: file.into(), functions }
}

pub(crate) const FIRST: &[&str] = &["_start", "first"];
pub(crate) const SECOND: &[&str] = &["two", "three", "four"];

/// The tools and a folder with the inputs; `None` if a tool is missing.
pub(crate) fn prepare(name: &str) -> Option<(std::path::PathBuf, Readers)> {
    let folder = folder!(name);
    objects::make(&folder, Machine::Amd64)?;
    for tool in &TOOLS {
        tool.path(Machine::Amd64)?;
    }
    Some((folder, Readers::find()?))
}

pub(crate) fn run(folder: &Path, toolchain: &str, program: &str, arguments: &[&str]) {
    let program = tools::toolchain(toolchain).expect("checked").join(program);
    let output =
        Command::new(program).args(arguments).current_dir(folder).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
}

/// The version of an object that the linker merges, or appends.
const fn own(linker: Linker) -> Kind {
    match linker {
        Linker::Ld240 => Kind::V1,
        Linker::Ld244 => Kind::V2,
        _ => Kind::V3,
    }
}

#[test]
fn groups_that_two_inputs_have() {
    let Some((folder, readers)) = prepare("groups") else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs/sources/group-x86_64.s");
    let text = fs::read_to_string(&source).expect("text");
    let second = folder.join("second-group.s");
    let words =
        [("one:", "uno:"), ("one,", "uno,"), (".-one", ".-uno"), (".globl one", ".globl uno")];
    let other = words.iter().fold(text, |text, (from, to)| text.replace(from, to));
    fs::write(&second, other).expect("written");
    let mut faults = Vec::new();
    for kind in Kind::ALL {
        for (file, source) in [("a", source.as_path()), ("b", second.as_path())] {
            let object = folder.join(format!("{file}-{}.o", kind.name()));
            objects::assemble(source, &object, Machine::Amd64, kind).expect("checked");
        }
    }
    for tool in &TOOLS {
        for first in Kind::ALL {
            for second in Kind::ALL {
                let first = input(format!("a-{}.o", first.name()), &["inl", "one"]);
                // Its group is dropped.
                let second = input(format!("b-{}.o", second.name()), &["uno"]);
                faults.extend(differences(tool, &folder, &readers, &["-shared"], &[first, second]));
            }
        }
    }
    none(&faults);
}

#[test]
fn sections_that_are_empty_or_damaged() {
    let Some((folder, readers)) = prepare("damaged") else { return };
    let head = ".section .sframe,\"a\",@0x6ffffff4\n";
    let tail = ".section .note.GNU-stack,\"\",@progbits\n";
    fs::write(folder.join("empty.s"), format!("{head}{tail}")).expect("written");
    fs::write(folder.join("damaged.s"), format!("{head}.fill 28, 1, 0x11\n{tail}"))
        .expect("written");
    for name in ["empty", "damaged"] {
        run(&folder, "2.44", "as", &["-o", &format!("{name}.o"), &format!("{name}.s")]);
    }
    let mut faults = Vec::new();
    for tool in &TOOLS {
        let kind = own(tool.linker).name();
        for odd in ["empty.o", "damaged.o"] {
            // lld puts only sections of one type together.
            let good = [
                input(format!("first-{kind}.o"), FIRST),
                input(format!("second-{kind}.o"), SECOND),
            ];
            let last = [good[0].clone(), good[1].clone(), input(odd, &[])];
            faults.extend(differences(tool, &folder, &readers, &[], &last));
            let only =
                [input("first-none.o", FIRST), input("second-none.o", SECOND), input(odd, &[])];
            faults.extend(differences(tool, &folder, &readers, &[], &only));
        }
    }
    none(&faults);
}

/// Headers that no producer writes: another machine, starts that are not PC-relative, an unknown flag.
#[test]
fn headers_that_do_not_fit() {
    let Some((folder, readers)) = prepare("headers") else { return };
    let mut faults = Vec::new();
    for tool in &TOOLS {
        let kind = own(tool.linker).name();
        // Fields of the header: `sfp_flags` and `sfh_abi_arch`.
        for (name, field, value) in [("abi", 4, 2), ("flags", 3, 0x84), ("encoding", 3, 0)] {
            if name == "encoding" && tool.linker != Linker::Ld247 {
                continue;
            }
            let odd = ["first", "second"].map(|place| format!("{place}-{name}.o"));
            for (place, odd) in ["first", "second"].iter().zip(&odd) {
                objects::set_header(
                    &folder.join(format!("{place}-{kind}.o")),
                    &folder.join(odd),
                    field,
                    value,
                );
            }
            let first = [
                input(format!("first-{kind}.o"), FIRST),
                input(&odd[0], FIRST),
                input("first-none.o", FIRST),
            ];
            let second = [input(&odd[1], SECOND), input(format!("second-{kind}.o"), SECOND)];
            for first in &first {
                for second in &second {
                    for options in [["-shared"].as_slice(), &[]] {
                        let pair = [first.clone(), second.clone()];
                        faults.extend(differences(tool, &folder, &readers, options, &pair));
                    }
                }
            }
        }
    }
    none(&faults);
}

/// `strip` removes relocations. GNU as writes rows that start where their function ends.
#[test]
fn inputs_that_crash_linkers() {
    let Some((folder, readers)) = prepare("crashes") else { return };
    let mut faults = Vec::new();
    for tool in &TOOLS[..3] {
        let golden = corpus().join("golden").join(tool.toolchain).join("x86_64");
        for name in ["stripped.o", "edges.o"] {
            fs::copy(golden.join(name), folder.join(name)).expect("copied");
            if name == "stripped.o" || tool.linker != Linker::Ld247 {
                faults.extend(differences(
                    tool,
                    &folder,
                    &readers,
                    &["-shared"],
                    &[input(name, &[])],
                ));
            }
        }
        // It reads all sections before it merges any, and the crash ends the reading: what it refused before is printed, and
        // 2.44 does not get to its error about version 1.
        for kind in ["V2-pc", "V1"] {
            let inputs = [input(format!("first-{kind}.o"), FIRST), input("stripped.o", &[])];
            faults.extend(differences(tool, &folder, &readers, &["-shared"], &inputs));
        }
    }
    none(&faults);
}

/// GNU ld 2.44 does not get to the rows of version 1, and so not to one at the end of its function, which crashes it in version 2.
#[test]
fn rows_at_the_end_in_version_1() {
    let Some((folder, readers)) = prepare("edges-v1") else { return };
    let golden = corpus().join("golden");
    for version in ["2.40", "2.44"] {
        let name = format!("edges-{version}.o");
        fs::copy(golden.join(version).join("x86_64/edges.o"), folder.join(name)).expect("copied");
    }
    let [old, new] = ["edges-2.40.o", "edges-2.44.o"].map(|name| input(name, &[]));
    let [v1, v2] = ["first-V1.o", "first-V2.o"].map(|name| input(name, FIRST));
    let links: [&[&Input]; 5] = [&[&old], &[&old, &v2], &[&v2, &old], &[&old, &new], &[&new, &v1]];
    let mut faults = Vec::new();
    for options in [["-shared"].as_slice(), &["-r"]] {
        for inputs in links {
            let inputs: Vec<Input> = inputs.iter().copied().cloned().collect();
            faults.extend(differences(&TOOLS[1], &folder, &readers, options, &inputs));
        }
    }
    none(&faults);
}

/// Objects of big-endian AArch64 by GNU as 2.40 without functions, with one and with more, and by 2.44.
#[test]
fn big_endian_sections_of_version_1() {
    let Some((folder, readers)) = prepare("big-endian") else { return };
    let programs = tools::toolchain("2.44").expect("checked");
    let linker = programs.join("aarch64-linux-gnu-ld");
    let golden = corpus().join("golden");
    let kinds =
        [("2.40", "nothing-left"), ("2.40", "cleanup"), ("2.40", "calls"), ("2.44", "leaf")];
    let names = kinds.map(|(version, name)| {
        let copy = format!("{name}-{version}.o");
        let object = golden.join(version).join(format!("aarch64_be/{name}.o"));
        fs::copy(object, folder.join(&copy)).expect("copied");
        copy
    });
    let mut faults = Vec::new();
    for first in &names {
        for second in names.iter().map(Some).chain([None]) {
            let files = [first].into_iter().chain(second.filter(|second| *second != first));
            let options = ["-shared", "-m", "aarch64linuxb"].map(str::to_owned);
            let arguments: Vec<String> = options.into_iter().chain(files.cloned()).collect();
            let real = real::link(&linker, &folder, &readers, &arguments);
            let audit = in_folder(&folder, Linker::Ld244, &arguments);
            let found = (Some(real.status), real.unpredicted(&audit.prediction.messages));
            let expected = (audit.prediction.status, (Vec::new(), Vec::new()));
            if found != expected {
                faults.push(format!("{arguments:?}: {found:?}, and not {expected:?}"));
            }
        }
    }
    none(&faults);
    // The number of rows of the second function: without them, what is read instead is not predicted.
    objects::set_header(&folder.join("calls-2.40.o"), &folder.join("no-rows.o"), 60, 0);
    let audit = in_folder(&folder, Linker::Ld244, &["no-rows.o".to_owned()]);
    assert_eq!(audit.prediction.outcome, Outcome::Unknown);
}

#[test]
fn options_that_drop_or_refuse() {
    let Some((folder, readers)) = prepare("options") else { return };
    let script =
        "SECTIONS { .text : { *(.text) } /DISCARD/ : { *(.sframe) *(.eh_frame) *(.note*) } }\n";
    fs::write(folder.join("script.ld"), script).expect("written");
    let script = folder.join("script.ld").display().to_string();
    let with_script = ["-T", script.as_str()];
    let mut faults = Vec::new();
    for tool in &TOOLS {
        let kind = own(tool.linker).name();
        let same =
            [input(format!("first-{kind}.o"), FIRST), input(format!("second-{kind}.o"), SECOND)];
        let other = if kind == "V3" { "V2" } else { "V3" };
        let mixed = [same[0].clone(), input(format!("second-{other}.o"), SECOND)];
        for inputs in [&same, &mixed] {
            let mut all: Vec<&[&str]> = vec![&["--fatal-warnings"], &["-shared", "-Bsymbolic"]];
            if tool.linker.is_gnu_ld() {
                all.extend([
                    ["-shared", "--no-ld-generated-unwind-info"].as_slice(),
                    &["-shared", "-z", "now"],
                ]);
            }
            if tool.linker != Linker::Mold {
                all.push(&with_script);
            }
            if tool.linker == Linker::Ld247 {
                all.extend([["--discard-sframe"].as_slice(), &["-shared", "--discard-sframe"]]);
            }
            for options in all {
                faults.extend(differences(tool, &folder, &readers, options, inputs));
            }
        }
    }
    none(&faults);
}

/// A program with a shared object has stubs for the functions that it calls there.
#[test]
fn programs_with_shared_objects() {
    let Some((folder, readers)) = prepare("dynamic") else { return };
    run(&folder, "2.44", "ld.bfd", &["-shared", "-o", "libsecond.so", "second-none.o"]);
    let mut faults = Vec::new();
    for tool in &TOOLS {
        for kind in Kind::ALL {
            let inputs =
                [input(format!("first-{}.o", kind.name()), FIRST), input("libsecond.so", &[])];
            faults.extend(differences(tool, &folder, &readers, &[], &inputs));
            faults.extend(differences(tool, &folder, &readers, &["-pie"], &inputs));
        }
    }
    none(&faults);
}

/// Which machines' stubs GNU ld describes: AMD64's are in the tests above.
#[test]
fn stubs_of_other_machines() {
    let Some((folder, readers)) = prepare("stubs") else { return };
    let (mut faults, mut described) = (Vec::new(), 0);
    for (tool, machine) in [(0, "aarch64"), (1, "aarch64"), (2, "aarch64"), (2, "s390x")] {
        let tool = &TOOLS[tool];
        let programs = tools::toolchain(tool.toolchain).expect("checked");
        let linker = programs.join(format!("{machine}-linux-gnu-ld"));
        let golden = corpus().join("golden").join(tool.toolchain).join(machine);
        for name in ["calls.o", "cold.o", "leaf.o"] {
            fs::copy(golden.join(name), folder.join(name)).expect("copied");
        }
        let arguments = ["-shared", "calls.o", "cold.o", "leaf.o"].map(str::to_owned);
        let real = real::link(&linker, &folder, &readers, &arguments);
        let audit = in_folder(&folder, tool.linker, &arguments);
        assert!(audit.options.calls_stubs, "{machine}");
        described += real.stubs;
        faults.extend(
            compare(&real, &audit, &[])
                .into_iter()
                .map(|fault| format!("{} {machine}: {fault}", tool.linker)),
        );
    }
    none(&faults);
    assert!(described > 0, "s390x");
}
