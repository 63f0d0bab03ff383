//! Whole links by a compiler driver: predicted inputs, messages and functions are those of the real link.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use sframe_corpus::{folder, tools};
use sframe_link::{Audit, DriverError, Ends, InputKind, Linker, messages};

const MAIN: &str = "#include <stdio.h>\nint helper(int);\nint member(int);\n\
                    int main(void) { printf(\"%d\\n\", helper(member(1))); return 0; }\n";
const HELPER: &str = "int helper(int n) { return n + 2; }\n";
const MEMBER: &str = "int member(int n) { return n * 3; }\n";
const OTHER: &str = "int other(int n) { return n * 5; }\n";

/// An assembler, a linker, and the name by which the driver finds the linker.
struct Tools {
    assembler: &'static str,
    linker: Linker,
    toolchain: &'static str,
    program: &'static str,
    chosen: Option<&'static str>,
}

const fn with(
    assembler: &'static str,
    linker: Linker,
    toolchain: &'static str,
    program: &'static str,
) -> Tools {
    Tools { assembler, linker, toolchain, program, chosen: None }
}

const ALL: [Tools; 11] = [
    with("2.40", Linker::Ld240, "2.40", "ld.bfd"),
    with("2.44", Linker::Ld240, "2.40", "ld.bfd"),
    with("2.40", Linker::Ld244, "2.44", "ld.bfd"),
    with("2.44", Linker::Ld244, "2.44", "ld.bfd"),
    with("2.47.50", Linker::Ld244, "2.44", "ld.bfd"),
    with("2.44", Linker::Ld247, "2.47.50", "ld.bfd"),
    with("2.47.50", Linker::Ld247, "2.47.50", "ld.bfd"),
    Tools { chosen: Some("gold"), ..with("2.44", Linker::Gold, "2.40", "ld.gold") },
    Tools { chosen: Some("lld"), ..with("2.47.50", Linker::Lld, "llvm-23", "ld.lld") },
    Tools { chosen: Some("mold"), ..with("2.47.50", Linker::Mold, "mold", "mold") },
    Tools { chosen: Some("mold"), ..with("2.44", Linker::Mold, "mold", "mold") },
];

impl Tools {
    /// A folder in which the driver finds the assembler and the linker.
    fn folder(&self, root: &Path) -> Option<PathBuf> {
        let folder = root.join(format!("{}-{}", self.assembler, self.linker));
        fs::create_dir_all(&folder).expect("a folder");
        let assembler = tools::toolchain(self.assembler)?.join("x86_64-linux-gnu-as");
        let linker = tools::toolchain(self.toolchain)?.join(self.program);
        symlink(fs::canonicalize(assembler).ok()?, folder.join("as")).expect("a link");
        let name = self.chosen.map_or_else(|| "ld".to_owned(), |chosen| format!("ld.{chosen}"));
        symlink(fs::canonicalize(linker).ok()?, folder.join(name)).expect("a link");
        Some(folder)
    }

    fn command(&self, folder: &Path) -> Vec<String> {
        let mut command = vec!["cc".to_owned(), format!("-B{}", folder.display())];
        command.extend(self.chosen.map(|chosen| format!("-fuse-ld={chosen}")));
        command.push("-Wa,--gsframe".to_owned());
        command
    }
}

fn run(folder: &Path, command: &[String]) -> Output {
    Command::new(&command[0])
        .args(&command[1..])
        .current_dir(folder)
        .env("LC_ALL", "C")
        .output()
        .expect("it runs")
}

fn sources(folder: &Path) {
    for (name, text) in
        [("main.c", MAIN), ("helper.c", HELPER), ("member.c", MEMBER), ("other.c", OTHER)]
    {
        fs::write(folder.join(name), text).expect("written");
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Makes `libparts.a`, whose members are assembled by 2.47.50.
fn archive(root: &Path) -> Option<()> {
    let toolchain = tools::toolchain("2.47.50")?;
    let folder =
        with("2.47.50", Linker::Ld247, "2.47.50", "ld.bfd").folder(&root.join("archive"))?;
    let prefix = format!("-B{}", folder.display());
    assert!(
        run(root, &words(&format!("cc {prefix} -Wa,--gsframe -c member.c other.c")))
            .status
            .success()
    );
    let ar = toolchain.join("ar").display().to_string();
    assert!(run(root, &words(&format!("{ar} rc libparts.a member.o other.o"))).status.success());
    Some(())
}

/// Whether the programs are there that read what was linked.
fn are_readers_at_hand() -> bool {
    ["2.40", "2.47.50"].into_iter().all(|version| tools::toolchain(version).is_some())
}

/// The functions of the program that readers find, by name.
fn described(root: &Path, output: &str) -> Option<BTreeSet<String>> {
    let mut starts = BTreeSet::new();
    for version in ["2.40", "2.47.50"] {
        let readelf = tools::toolchain(version)?.join("readelf").display().to_string();
        let text = run(root, &words(&format!("{readelf} --sframe -W {output}")));
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        if version == "2.40" && !text.contains("SFRAME_VERSION_1") {
            continue;
        }
        let found = text.lines().filter_map(|line| {
            line.split_once("]: pc = 0x")?.1.split(',').next().map(str::to_owned)
        });
        starts.extend(found.filter_map(|start| u64::from_str_radix(&start, 16).ok()));
    }
    let nm = tools::toolchain("2.47.50")?.join("nm").display().to_string();
    let symbols = run(root, &words(&format!("{nm} {output}")));
    let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
    let named = symbols.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let start = u64::from_str_radix(words[0], 16).ok()?;
        let own = ["main", "helper", "member", "other"].contains(&words[2]);
        (own && starts.contains(&start)).then(|| words[2].to_owned())
    });
    Some(named.collect())
}

#[test]
fn a_program_is_linked_as_predicted() {
    let root = folder!("driver");
    sources(&root);
    if !tools::is_installed("cc") {
        return;
    }
    if archive(&root).is_none() || !are_readers_at_hand() {
        return;
    }
    let mut links = 0;
    for tools in ALL {
        let Some(folder) = tools.folder(&root) else { continue };
        let mut command = tools.command(&folder);
        command.extend(words("main.c helper.c libparts.a -o program"));
        let _ = fs::remove_file(root.join("program"));
        let real = run(&root, &command);
        let audit = audit(&root, &command);
        assert_eq!(audit.linker.linker, tools.linker);
        assert_eq!(
            (audit.linker.doubt.as_ref(), audit.undecided.len()),
            (None, 0),
            "{:?}",
            audit.undecided
        );
        let text = String::from_utf8_lossy(&real.stderr).into_owned();
        let predicted = audit.prediction.status == Some(0);
        assert_eq!(
            real.status.success(),
            predicted,
            "{} {}: {text}",
            tools.assembler,
            tools.linker
        );
        let printed = text.lines().filter(|line| line.contains("sframe")).count();
        let expected =
            audit.prediction.messages.iter().filter(|message| message.contains("sframe")).count();
        assert_eq!(printed, expected, "{} {}: {text}", tools.assembler, tools.linker);
        let names = functions(&audit);
        let found =
            if predicted { described(&root, "program").expect("readers") } else { BTreeSet::new() };
        assert_eq!(names, found, "{} {}: {:?}", tools.assembler, tools.linker, audit.prediction);
        links += 1;
    }
    assert!(!tools::are_required() || links == ALL.len());
}

/// Audits in a folder of its own: the paths in the command are relative.
fn audit(root: &Path, command: &[String]) -> Audit {
    let absolute = |word: &String| match [".c", ".cc", ".a"].iter().any(|end| word.ends_with(end)) {
        true => root.join(word).into_os_string(),
        false => OsString::from(word),
    };
    let command: Vec<OsString> = command.iter().map(absolute).collect();
    Audit::of_command(&command, Ends::groups(&AtomicBool::new(false)))
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The functions of the sources whose inputs are described.
fn functions(audit: &Audit) -> BTreeSet<String> {
    let inputs = audit.inputs.iter().zip(&audit.prediction.fates);
    let described = inputs.filter(|(_, fate)| fate.is_described());
    let mut objects = audit.inputs.iter().filter(|input| input.kind == InputKind::Compiled);
    let (main, helper) = (objects.next().expect("main.o"), objects.next().expect("helper.o"));
    let name = |name: &str| match name {
        _ if name == main.name => "main",
        _ if name == helper.name => "helper",
        _ if name.ends_with("libparts.a(member.o)") => "member",
        _ => panic!("{name} has SFrame"),
    };
    described.map(|(input, _)| name(&input.name).to_owned()).collect()
}

const TEMPLATES: [(&str, &str); 2] = [
    (
        "use.cc",
        "#include <map>\n#include <string>\n#include <vector>\nint sum(std::map<std::string, int> &);\n\
                int main() { std::map<std::string, int> m; std::vector<std::string> v{\"x\", \"y\"};\n\
                for (auto &s : v) m[s]++; return sum(m); }\n",
    ),
    (
        "sum.cc",
        "#include <map>\n#include <string>\n#include <vector>\nint sum(std::map<std::string, int> &m) {\n\
                std::vector<std::string> v{\"z\"}; m[v[0]] = 2; int n = 0; for (auto &p : m) n += p.second; return n; }\n",
    ),
];

/// The number of functions in an output that readers find, except in stubs.
fn count(root: &Path, version: &str) -> usize {
    let readelf = tools::toolchain(version).expect("checked").join("readelf").display().to_string();
    let print = |option: &str| {
        let output = run(root, &words(&format!("{readelf} {option} -W program")));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let headers = print("-S");
    let stubs = headers.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_once("] .plt")?.1.split_whitespace().collect();
        let numbers = words.iter().position(|word| *word == "PROGBITS")? + 1;
        let start = number(words[numbers]);
        Some(start..start + number(words[numbers + 2]))
    });
    let stubs: Vec<_> = stubs.collect();
    let sframe = print("--sframe");
    let starts =
        sframe.lines().filter_map(|line| line.split_once("]: pc = 0x")?.1.split(',').next());
    starts.filter(|start| !stubs.iter().any(|range| range.contains(&number(start)))).count()
}

/// Two C++ sources share dozens of COMDAT groups. GNU ld and mold keep one of each, gold and lld fail.
#[test]
fn templates_are_counted_once() {
    let root = folder!("driver-templates");
    if !tools::is_installed("g++") || !are_readers_at_hand() {
        return;
    }
    for (name, text) in TEMPLATES {
        fs::write(root.join(name), text).expect("written");
    }
    for tools in ALL {
        let Some(folder) = tools.folder(&root) else { return };
        let mut command = tools.command(&folder);
        command[0] = "g++".to_owned();
        command.extend(words("use.cc sum.cc -o program"));
        let _ = fs::remove_file(root.join("program"));
        let real = run(&root, &command);
        let audit = audit(&root, &command);
        let name = format!("{} {}", tools.assembler, tools.linker);
        assert_eq!(real.status.success(), audit.prediction.status == Some(0), "{name}");
        if matches!(tools.linker, Linker::Gold | Linker::Lld) {
            assert!(!real.status.success(), "{name}");
            let text = String::from_utf8_lossy(&real.stderr).into_owned();
            assert!(messages::find(&text)[0].id.ends_with("-discarded-section"), "{name}: {text}");
        } else if real.status.success() {
            let version = if tools.linker == Linker::Ld240 { "2.40" } else { "2.47.50" };
            let found = count(&root, version);
            println!("{name}: {found} functions");
            assert_eq!(u64::try_from(found).expect("small"), audit.coverage.functions, "{name}");
        }
    }
}

#[test]
fn commands_that_do_not_link_are_errors() {
    let folder = folder!("driver-errors");
    sources(&folder);
    if !tools::is_installed("cc") {
        return;
    }
    fs::write(folder.join("broken.c"), "int f(").expect("written");
    let error = |words_after: &str| {
        let command: Vec<OsString> = words(&format!("cc {words_after}"))
            .iter()
            .map(|word| {
                let path = folder.join(word);
                if path.exists() { path.into_os_string() } else { word.into() }
            })
            .collect();
        Audit::of_command(&command, Ends::groups(&AtomicBool::new(false)))
            .map(|audit| audit.undecided)
            .expect_err("an error")
    };
    assert!(matches!(error("-c helper.c"), DriverError::NoLink));
    assert!(matches!(error("missing.c"), DriverError::NotCompiled(_)));
    assert!(matches!(error("--no-such-option helper.c"), DriverError::Refused(_)));
    assert!(matches!(error("broken.c"), DriverError::NotCompiled(_)));
}

/// The driver gives them names such as /tmp/cc123.o, which are others each time.
#[test]
fn compiled_objects_have_the_names_of_their_sources() {
    let root = folder!("driver-names");
    sources(&root);
    let Some(folder) = ALL[4].folder(&root) else { return };
    if !tools::is_installed("cc") {
        return;
    }
    for option in ["-O0", "-pipe"] {
        let mut command = ALL[4].command(&folder);
        command.extend(words(&format!("{option} main.c helper.c -shared -fPIC -o program")));
        let audit = audit(&root, &command);
        let objects = audit.inputs.iter().filter(|input| input.kind == InputKind::Compiled);
        let names: Vec<&str> = objects.map(|input| input.name.as_str()).collect();
        let of = |source: &str| root.join(source).display().to_string();
        assert_eq!(names, [of("main.c"), of("helper.c")], "{option}");
        let remedy = audit.remedies.iter().flat_map(|remedy| &remedy.commands);
        let all = remedy.cloned().collect::<Vec<_>>().join("\n");
        assert!(!all.contains("/tmp/cc"), "{all}");
    }
}

/// A static program pulls in hundreds of members of the C library. GNU ld's map lists them.
#[test]
fn members_of_the_c_library_are_those_of_the_map() {
    let root = folder!("driver-static");
    sources(&root);
    if !tools::is_installed("cc") {
        return;
    }
    if archive(&root).is_none() {
        return;
    }
    for tools in [&ALL[3], &ALL[6], &ALL[8]] {
        let Some(folder) = tools.folder(&root) else { return };
        let mut command = tools.command(&folder);
        command.extend(words("-static main.c helper.c libparts.a -o program"));
        let audit = audit(&root, &command);
        command.push("-Wl,-Map,map".to_owned());
        let real = run(&root, &command);
        let map = fs::read_to_string(root.join("map"));
        let Ok(map) = map else {
            println!("skipped: {}", String::from_utf8_lossy(&real.stderr));
            continue;
        };
        let members = audit.inputs.iter().filter(|input| input.kind == InputKind::Member);
        let predicted: BTreeSet<String> = members.map(|input| file(&input.name)).collect();
        let found = in_map(&map);
        assert!(found.len() > 100, "{} members", found.len());
        println!("{}: {} members", tools.linker, found.len());
        let missing: Vec<_> = found.difference(&predicted).collect();
        let others: Vec<_> = predicted.difference(&found).collect();
        assert!(
            missing.is_empty() && others.is_empty(),
            "{}: missing {missing:?}, others {others:?}",
            tools.linker
        );
    }
}

/// `libc.a(exit.o)` of a path.
fn file(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

/// The members whose sections of code, data or notes a map lists.
fn in_map(map: &str) -> BTreeSet<String> {
    let words = map.split_whitespace().filter(|word| word.contains(".a("));
    words.map(|word| file(word.split_inclusive(')').next().unwrap_or(word))).collect()
}
