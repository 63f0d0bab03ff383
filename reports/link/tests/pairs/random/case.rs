//! Random links: inputs in every form, options and scripts.

mod objects;
mod scripts;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::tools;
use sframe_link::Linker;

use super::entropy::Entropy;
use super::sources::Shape;
use crate::{TOOLS, Tool};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    Amd64,
    Aarch64,
    S390x,
}

impl Machine {
    const fn name(self) -> &'static str {
        match self {
            Machine::Amd64 => "x86_64",
            Machine::Aarch64 => "aarch64",
            Machine::S390x => "s390x",
        }
    }

    /// The linker's program for this machine.
    fn linker(self, tool: &Tool) -> Option<PathBuf> {
        let programs = tools::toolchain(tool.toolchain).expect("checked");
        let end = if tool.linker == Linker::Gold { "ld.gold" } else { "ld.bfd" };
        let name = match tool.linker {
            Linker::Lld => "ld.lld".to_owned(),
            Linker::Mold => "mold".to_owned(),
            _ if self == Machine::Amd64 => end.to_owned(),
            _ => format!("{}-linux-gnu-{end}", self.name()),
        };
        Some(programs.join(name)).filter(|path| path.exists())
    }
}

/// One link.
pub(super) struct Case {
    pub(super) machine: Machine,
    pub(super) tool: &'static Tool,
    pub(super) linker: PathBuf,
    pub(super) arguments: Vec<String>,
    /// The functions of each object, by its stem.
    functions: HashMap<String, Vec<String>>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tool.linker, self.arguments.join(" "))
    }
}

impl Case {
    pub(super) fn audited(&self) -> Vec<OsString> {
        self.arguments.iter().map(OsString::from).collect()
    }

    /// The functions that the SFrame of an input describes. The name is the linker's.
    pub(super) fn functions(&self, name: &str) -> Vec<String> {
        let name = name.trim_end_matches(')').trim_end_matches(".o");
        let stem = name.rsplit(['/', '(']).next().unwrap_or(name);
        self.functions.get(stem).cloned().unwrap_or_default()
    }
}

/// Makes inputs in a folder.
pub(super) struct Maker<'a> {
    folder: &'a Path,
    /// The number of files that were made.
    files: usize,
}

impl Maker<'_> {
    pub(super) fn new(folder: &Path) -> Maker<'_> {
        Maker { folder, files: 0 }
    }

    pub(super) fn case(&mut self, entropy: &mut Entropy) -> Case {
        let tool = entropy.pick(&TOOLS);
        let machines = [Machine::Amd64, Machine::Amd64, Machine::Aarch64, Machine::S390x];
        let (machine, linker) = loop {
            let machine = *entropy.pick(&machines);
            if let Some(linker) = machine.linker(tool) {
                break (machine, linker);
            }
        };
        let mut case =
            Case { machine, tool, linker, arguments: Vec::new(), functions: HashMap::new() };
        let is_shared = options(&mut case, machine, entropy);
        let is_relocatable = case.arguments.iter().any(|argument| argument == "-r");
        if !is_shared || is_relocatable {
            case.arguments.extend(["-e".to_owned(), format!("fn_x{}_0", self.files)]);
        }
        // Scripts bring warnings about segments, which then end the link.
        if !case.arguments.iter().any(|argument| argument == "--fatal-warnings") {
            scripts::add(&mut case, self.folder, entropy);
        }
        self.inputs(&mut case, machine, is_shared, entropy);
        case
    }

    /// Adds one to four inputs. Each but the last calls the next one, or itself.
    fn inputs(
        &mut self,
        case: &mut Case,
        machine: Machine,
        is_shared: bool,
        entropy: &mut Entropy,
    ) {
        let count = 1 + entropy.below(4);
        let base = self.files;
        self.files += count;
        let stem = |number: usize| format!("x{}", base + number);
        let usual = entropy.chance(3, 4);
        let shapes: Vec<Shape> = (0..count)
            .map(|number| match number {
                0 => *entropy.pick(&Shape::USUAL),
                _ if usual || entropy.chance(1, 2) => *entropy.pick(&Shape::USUAL),
                _ => *entropy.pick(&Shape::ODD),
            })
            .collect();
        // Shapes that crash linkers come first, too.
        let turn = entropy.below(count);
        let kinds = objects::kinds(case.tool.linker, machine);
        let main = *entropy.pick(kinds);
        for number in 0..count {
            let shape = shapes[(number + turn) % count];
            let next = shapes[(number + 1 + turn) % count];
            let callee = match number + 1 == count {
                _ if entropy.chance(1, 4) => None,
                true if is_shared && entropy.chance(1, 2) => Some("fn_elsewhere".to_owned()),
                false if next != Shape::Data => Some(format!("fn_{}_0", stem(number + 1))),
                _ => None,
            };
            let kind = if entropy.chance(1, 2) { main } else { *entropy.pick(kinds) };
            let object = objects::Object { stem: stem(number), shape, callee, kind, machine };
            case.functions.insert(stem(number), object.functions());
            let bytes = objects::assemble(self.folder, &object, entropy);
            self.place(case, &stem(number), &bytes, entropy);
        }
    }

    /// Adds one object as a file, as a member, or by a script.
    fn place(&self, case: &mut Case, stem: &str, bytes: &[u8], entropy: &mut Entropy) {
        let file = format!("{stem}.o");
        let write = |place: &str, bytes: &[u8]| {
            let place = self.folder.join(place);
            fs::create_dir_all(place.parent().expect("inside")).expect("a folder");
            fs::write(place, bytes).expect("written");
        };
        let mut push = |argument: String| case.arguments.push(argument);
        match entropy.below(12) {
            0 => {
                write(&format!("sub/{file}"), bytes);
                let before = entropy.pick(&["sub/", "./sub/", "sub//", "./sub/../sub/"]);
                push(format!("{before}{file}"));
            }
            kind @ 1..=4 => {
                write(&format!("sub/{file}"), bytes);
                let is_thin = kind % 2 == 0;
                let options = if is_thin { "rcT" } else { "rc" };
                let place = entropy.pick(&["", "sub/", "sub/deep/"]);
                fs::create_dir_all(self.folder.join("sub/deep")).expect("a folder");
                let archive = format!("{place}lib{stem}.a");
                self.run("ar", &[options, &archive, &format!("sub/{file}")]);
                let is_whole = entropy.chance(1, 2);
                if is_whole {
                    push("--whole-archive".to_owned());
                }
                match entropy.below(4) {
                    0 => {
                        let folder = if place.is_empty() { "." } else { place };
                        let end = entropy.pick(&["", "/"]);
                        push(format!("-L{}{end}", folder.trim_end_matches('/')));
                        push(format!("-l{stem}"));
                    }
                    1 => push(format!("./{archive}")),
                    _ => push(archive),
                }
                if is_whole {
                    push("--no-whole-archive".to_owned());
                }
            }
            5 | 6 => {
                write(&format!("sub/{file}"), bytes);
                let command = entropy.pick(&["INPUT", "GROUP"]);
                let (script, named) = match entropy.below(3) {
                    0 => (format!("sub/{stem}.ld"), file),
                    1 => {
                        push("-Lsub".to_owned());
                        (format!("{stem}.ld"), file)
                    }
                    _ => (format!("./{stem}.ld"), format!("sub/{file}")),
                };
                write(&script, format!("{command} ( {named} )\n").as_bytes());
                push(script);
            }
            _ => {
                write(&file, bytes);
                let before = entropy.pick(&["", "", "./"]);
                push(format!("{before}{file}"));
            }
        }
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let program = tools::toolchain("2.47.50").expect("checked").join(program);
        let output =
            Command::new(program).args(arguments).current_dir(self.folder).output().expect("run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Adds options. Returns whether undefined symbols may remain.
fn options(case: &mut Case, machine: Machine, entropy: &mut Entropy) -> bool {
    let mut push = |arguments: &[&str]| {
        case.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    };
    let linker = case.tool.linker;
    if matches!(linker, Linker::Lld | Linker::Mold) {
        let emulation = match machine {
            Machine::Amd64 => "elf_x86_64",
            Machine::Aarch64 => "aarch64linux",
            Machine::S390x => "elf64_s390",
        };
        push(&["-m", emulation]);
    }
    let mode = entropy.below(8);
    let is_shared = match mode {
        0 | 1 => {
            push(&[]);
            false
        }
        2 => {
            push(&["-pie"]);
            false
        }
        3 => {
            push(&["-r"]);
            true
        }
        4 => {
            push(&["-static"]);
            false
        }
        _ => {
            push(&["-shared"]);
            true
        }
    };
    // gold refuses both.
    if entropy.chance(1, 8) && !(mode == 3 && linker == Linker::Gold) {
        push(&["--gc-sections"]);
    }
    if entropy.chance(1, 10) {
        push(&["--fatal-warnings"]);
    }
    if entropy.chance(1, 10) {
        push(&["--discard-sframe"]);
    }
    if entropy.chance(1, 10) && mode > 4 {
        push(&[*entropy.pick(&["-Bsymbolic", "-Bsymbolic-functions"])]);
    }
    if entropy.chance(1, 10) {
        push(&["-z", *entropy.pick(&["now", "relro", "norelro"])]);
    }
    if entropy.chance(1, 10) && linker.is_gnu_ld() && machine == Machine::Amd64 {
        push(&["--no-ld-generated-unwind-info"]);
    }
    is_shared
}
