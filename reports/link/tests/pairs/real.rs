//! Real links, and what GNU tools say about their outputs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::tools;

use crate::objects::Pair;

/// How a pair is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Shared,
    Program,
    Relocatable,
    Collected,
}

impl Mode {
    pub(crate) const ALL: [Mode; 4] =
        [Mode::Shared, Mode::Program, Mode::Relocatable, Mode::Collected];

    const fn options(self) -> &'static [&'static str] {
        match self {
            Mode::Shared => &["-shared"],
            Mode::Program => &[],
            Mode::Relocatable => &["-r"],
            Mode::Collected => &["-shared", "--gc-sections"],
        }
    }

    /// The start of a sentence.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Mode::Shared => "Shared object (`-shared`)",
            Mode::Program => "Program without shared objects",
            Mode::Relocatable => "Relocatable object (`-r`)",
            Mode::Collected => "Shared object, `--gc-sections`",
        }
    }

    /// Within a sentence.
    pub(crate) const fn title_inside(self) -> &'static str {
        match self {
            Mode::Shared => "a shared object",
            Mode::Program => "a program",
            Mode::Relocatable => "a relocatable object",
            Mode::Collected => "a shared object with `--gc-sections`",
        }
    }

    /// The linker's arguments without `-o`.
    pub(crate) fn arguments(self, pair: &Pair) -> Vec<String> {
        let options = self.options().iter().map(|option| (*option).to_owned());
        options.chain(pair.files.iter().cloned()).collect()
    }
}

/// The result of a link.
#[derive(Debug, Default)]
pub(crate) struct Real {
    /// The exit status, or 128 and the signal.
    pub(crate) status: i32,
    /// All of standard error.
    pub(crate) text: String,
    /// The lines of standard error that matter, without the linker's name in front.
    pub(crate) messages: Vec<String>,
    /// Types and sizes of the sections named `.sframe`.
    pub(crate) sections: Vec<(String, u64)>,
    /// There is a PT_GNU_SFRAME program header.
    pub(crate) segment: bool,
    /// Functions that readers find at the addresses of their symbols, sorted by name.
    pub(crate) functions: Vec<String>,
    /// The number of sections for stubs whose start is that of a function.
    pub(crate) stubs: usize,
}

impl Real {
    /// The messages that are not predicted, and the predicted ones that are not printed.
    pub(crate) fn unpredicted(&self, predicted: &[String]) -> (Vec<String>, Vec<String>) {
        // The audit was given absolute paths.
        let fits = |real: &str, predicted: &str| {
            let words: Vec<&str> = predicted.split(' ').collect();
            let short: Vec<&str> =
                words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
            real.contains(&short.join(" "))
        };
        let missing = self.messages.iter().filter(|real| !predicted.iter().any(|p| fits(real, p)));
        let others = predicted.iter().filter(|p| !self.messages.iter().any(|real| fits(real, p)));
        (missing.cloned().collect(), others.cloned().collect())
    }
}

/// The programs that read outputs.
pub(crate) struct Readers {
    readelf: PathBuf,
    /// The one that reads version 1.
    old_readelf: PathBuf,
    nm: PathBuf,
}

impl Readers {
    pub(crate) fn find() -> Option<Readers> {
        let (new, old) = (tools::toolchain("2.47.50")?, tools::toolchain("2.40")?);
        Some(Readers {
            readelf: new.join("readelf"),
            old_readelf: old.join("readelf"),
            nm: new.join("nm"),
        })
    }
}

/// Links inputs of a folder. The result of `-r` is linked again, which gives functions their addresses.
pub(crate) fn link(linker: &Path, folder: &Path, readers: &Readers, arguments: &[String]) -> Real {
    let output = folder.join("output");
    let _ = fs::remove_file(&output);
    let is_relocatable = arguments.iter().any(|argument| argument == "-r");
    let mut command = Command::new(linker);
    command.args(arguments).arg("-o").arg(&output).current_dir(folder).env("LC_ALL", "C");
    let run = command.output().expect("the linker runs");
    let status = run.status.code().unwrap_or_else(|| 128 + run.status.signal().unwrap_or_default());
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    let messages = messages(&text);
    let mut real = Real { status, messages, text, ..Real::default() };
    if output.exists() {
        read_headers(&output, readers, &mut real);
        let linked = if is_relocatable { again(linker, &output) } else { output };
        if linked.exists() {
            read_functions(&linked, readers, &mut real);
        }
    }
    real
}

/// Links the result of `-r` again, alone, which gives functions their addresses. wild would leave the section out; lld copies
/// it.
fn again(linker: &Path, object: &Path) -> PathBuf {
    let output = object.with_extension("again");
    let _ = fs::remove_file(&output);
    let is_wild = linker.file_name().is_some_and(|name| name.to_string_lossy().starts_with("wild"));
    let lld = tools::toolchain("llvm-23").filter(|_| is_wild).map(|folder| folder.join("ld.lld"));
    let mut command = Command::new(lld.as_deref().unwrap_or(linker));
    command
        .args(["--unresolved-symbols=ignore-all"])
        .arg(object)
        .arg("-o")
        .arg(&output)
        .env("LC_ALL", "C");
    command.output().expect("the linker runs");
    output
}

/// The lines about SFrame, and those that end the link.
fn messages(text: &str) -> Vec<String> {
    let matters = |line: &&str| {
        let words = [
            "sframe",
            "SFrame",
            "final link failed",
            "error",
            "corrupted",
            "Assertion",
            "discarded",
            ">>> referenced",
            ">>>   ",
        ];
        words.iter().any(|word| line.contains(word)) && !line.contains("eh_frame")
    };
    text.lines().filter(matters).map(str::to_owned).collect()
}

fn run(program: &Path, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(file).env("LC_ALL", "C").output();
    String::from_utf8_lossy(&output.expect("the reader runs").stdout).into_owned()
}

fn read_headers(output: &Path, readers: &Readers, real: &mut Real) {
    let headers = run(&readers.readelf, &["-SlW"], output);
    real.sections = sections(&headers).0;
    real.segment = headers.lines().any(|line| line.trim_start().starts_with("GNU_SFRAME"));
}

fn read_functions(output: &Path, readers: &Readers, real: &mut Real) {
    let (_, stubs) = sections(&run(&readers.readelf, &["-SW"], output));
    let mut starts = starts(&run(&readers.readelf, &["--sframe", "-W"], output));
    starts.extend(starts_of_old(&run(&readers.old_readelf, &["--sframe", "-W"], output)));
    starts.sort_unstable();
    starts.dedup();
    let names = names(&run(&readers.nm, &[], output));
    let found = starts.iter().filter_map(|start| names.get(start));
    real.functions = found.cloned().collect();
    real.functions.sort();
    // Misplaced functions may be within the stubs, but do not begin where these begin.
    let first = stubs.iter().filter(|range| starts.contains(&range.start));
    real.stubs = first.count();
}

type Sections = Vec<(String, u64)>;

/// The sections named `.sframe`, and the addresses of sections for stubs, in the output of `readelf -SW`.
fn sections(text: &str) -> (Sections, Vec<std::ops::Range<u64>>) {
    let (mut sframe, mut stubs) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let Some((_, rest)) =
            line.split_once("] ").filter(|(start, _)| start.trim_start().starts_with('['))
        else {
            continue;
        };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [name, kind, address, _, size, ..] = words.as_slice() else { continue };
        let number = |text: &str| u64::from_str_radix(text, 16);
        let (Ok(address), Ok(size)) = (number(address), number(size)) else { continue };
        if *name == ".sframe" {
            sframe.push(((*kind).to_owned(), size));
        } else if name.starts_with(".plt") {
            stubs.push(address..address + size);
        }
    }
    (sframe, stubs)
}

/// The start addresses of functions in the output of `readelf --sframe`.
fn starts(text: &str) -> Vec<u64> {
    let lines = text.lines().filter_map(|line| line.split_once("]: pc = 0x"));
    lines.filter_map(|(_, rest)| u64::from_str_radix(rest.split(',').next()?, 16).ok()).collect()
}

/// Those of version 1, which only old readers decode.
fn starts_of_old(text: &str) -> Vec<u64> {
    match text.contains("SFRAME_VERSION_1") {
        true => starts(text),
        false => Vec::new(),
    }
}

fn names(text: &str) -> BTreeMap<u64, String> {
    let functions = ["_start", "first", "two", "three", "four", "inl", "one", "uno"];
    let symbols = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, _, name] = words.as_slice() else { return None };
        (functions.contains(name) || name.starts_with("fn_"))
            .then(|| Some((u64::from_str_radix(address, 16).ok()?, (*name).to_owned())))?
    });
    symbols.collect()
}
