//! A page, and its commands.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::tools;

pub(crate) struct Page<'p> {
    text: &'p str,
}

impl<'p> Page<'p> {
    pub(crate) const fn parse(text: &'p str) -> Page<'p> {
        Page { text }
    }

    /// The value in a row of the table at the top.
    pub(crate) fn fact(&self, name: &str) -> Option<&'p str> {
        let row = format!("| {name} | ");
        let value = self.text.lines().find_map(|line| line.strip_prefix(&row))?;
        value.strip_suffix(" |")
    }

    /// The folders of the tools; `None` if one is missing, or has another version now, and that is no failure.
    pub(crate) fn tools(&self) -> Option<Vec<PathBuf>> {
        if let Some(consumer) = self.fact("Consumer") {
            return self.consumer(consumer).map(|folder| vec![folder]);
        }
        // Answers that were given once, by code that is not packaged, or that another test asks for, or no answers at all.
        let elsewhere = ["Recorded", "Replayed by", "Known by"];
        if elsewhere.into_iter().any(|name| self.fact(name).is_some()) {
            return None;
        }
        let programs = ["Program", "Assembled by"].into_iter().filter_map(|name| self.fact(name));
        let folder = |program| {
            let folder = tools::toolchain(toolchain(program))?;
            is_of(program, &folder).then_some(folder)
        };
        programs.map(folder).collect()
    }

    /// The folder with the program that contains a consumer's own code; `None` if it was not built, or contains another
    /// version now.
    fn consumer(&self, name: &str) -> Option<PathBuf> {
        // glibc is built from one version of its source, the others are those of the toolchains.
        if !name.starts_with("glibc") {
            let program = self.fact("Program")?;
            is_of(program, &tools::toolchain(toolchain(program))?).then_some(())?;
        }
        let folder = tools::consumers();
        if folder.join(name).exists() {
            // A Python program asks mold.
            let can_run = !name.starts_with("mold") || tools::is_installed("python3");
            return can_run.then_some(folder);
        }
        tools::missing(name, &format!("corpus/consumers/build {name}"));
        None
    }

    /// Whether the tools in a folder have the version that the page is about.
    pub(crate) fn is_about(&self, folder: &Path) -> bool {
        self.fact("Program").is_some_and(|program| is_of(program, folder))
    }

    /// The page with what its commands print now.
    pub(crate) fn replay(&self, folder: &Path, tools: &[PathBuf]) -> String {
        for (name, content) in self.inputs() {
            std::fs::write(folder.join(name), content).expect("the input can be written");
        }
        let mut replayed = String::new();
        let mut in_console = false;
        for line in self.text.lines() {
            match line {
                "```console" => in_console = true,
                "```" => in_console = false,
                _ => {}
            }
            let command = line.strip_prefix("$ ").filter(|_| in_console);
            if in_console && line != "```console" && command.is_none() {
                continue;
            }
            let _ = writeln!(replayed, "{line}");
            if let Some(command) = command {
                replayed.push_str(&run(folder, tools, command));
            }
        }
        replayed
    }

    /// The files in the page: blocks after a line with the name alone.
    pub(crate) fn inputs(&self) -> Vec<(String, String)> {
        let mut inputs = Vec::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            let name = line.strip_prefix('`').and_then(|line| line.strip_suffix("`:"));
            let Some(name) = name else { continue };
            let block = lines.by_ref().skip_while(|line| !line.starts_with("```")).skip(1);
            let content: Vec<&str> = block.take_while(|line| *line != "```").collect();
            inputs.push((name.to_owned(), content.join("\n") + "\n"));
        }
        inputs
    }
}

/// The folder of a program, by what it prints about its version.
fn toolchain(version: &str) -> &'static str {
    let known = ["2.47.50", "2.44", "2.40"];
    match known.into_iter().find(|known| version.contains(known)) {
        Some(known) => known,
        None if version.contains("mold") => "mold",
        None => "llvm-23",
    }
}

/// Whether the tools in a folder have the version that a program stated when its page was written. Debian's sid moves on; the
/// released suites do not.
fn is_of(program: &str, folder: &Path) -> bool {
    let tool = match toolchain(program) {
        "2.47.50" => "x86_64-linux-gnu-as",
        "llvm-23" => "llvm-mc",
        "mold" => "mold",
        _ => return true,
    };
    let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let version = program.split_whitespace().find(is_number).expect("a version");
    let output = Command::new(folder.join(tool)).arg("--version").output().expect("it runs");
    let has_it = String::from_utf8_lossy(&output.stdout).contains(version);
    if !has_it {
        tools::skipped::note(
            program,
            "its page is of this version: SFRAME_BLESS=1 writes it again",
        );
    }
    has_it
}

/// The output of a command and, if it is not 0, its exit status.
fn run(folder: &Path, tools: &[PathBuf], command: &str) -> String {
    let path = std::env::var_os("PATH").expect("a path");
    let folders = tools.iter().cloned().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("plain names");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n{command}")]).current_dir(folder);
    let output = shell.env("PATH", path).env("LC_ALL", "C").output().expect("sh runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    // Whether memory is dumped depends on the system.
    let printed = printed.replace(" (core dumped)", "");
    // Programs name themselves by their paths.
    let printed = tools
        .iter()
        .fold(printed, |printed, folder| printed.replace(&format!("{}/", folder.display()), ""));
    let mut lines = String::new();
    for line in printed.trim_matches('\n').lines() {
        let _ = writeln!(lines, "{}", line.trim_end().replace('\t', "    "));
    }
    if !output.status.success() {
        let status = output.status.code().map_or("none".to_owned(), |code| code.to_string());
        let _ = writeln!(lines, "(exit status {status})");
    }
    lines
}
