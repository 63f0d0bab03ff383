//! The assemblers that emit SFrame, which `corpus/build fetch` unpacks.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sframe_corpus::tools::{are_required, skipped, toolchains};
use sframe_corpus::{program, repository};

/// Runs the program, and returns its exit status, standard output and standard error.
pub(crate) fn sframe_check<I: AsRef<OsStr>>(arguments: &[I]) -> (i32, String, String) {
    let outcome = program::run(&repository(), arguments);
    (outcome.status, outcome.text, outcome.stderr)
}

/// A new empty folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    sframe_corpus::folder!(format!("reassemble/{name}"))
}

/// A machine that assemblers support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// The machine's name in the names of GNU tools.
    pub(crate) name: &'static str,
    /// Whether the tools need the option for big-endian byte order.
    pub(crate) big_endian_aarch64: bool,
}

impl Machine {
    pub(crate) fn of(file: &object::File<'_>) -> Option<Machine> {
        use object::{Architecture, Object};
        let big = !file.is_little_endian();
        let (name, big_endian_aarch64) = match file.architecture() {
            Architecture::X86_64 => ("x86_64", false),
            Architecture::Aarch64 => ("aarch64", big),
            Architecture::S390x => ("s390x", false),
            _ => return None,
        };
        Some(Machine { name, big_endian_aarch64 })
    }

    /// The installed assemblers for the machine. Missing ones are reported, and are a failure if `SFRAME_REQUIRE_TOOLS`
    /// is set, except for binutils 2.47.50 and LLVM, which are from a suite that does not keep old versions.
    pub(crate) fn assemblers(self) -> Vec<&'static str> {
        let emitting: &[&str] = match self.name {
            "x86_64" => &["2.40", "2.44", "2.47.50", "llvm-23"],
            "aarch64" => &["2.40", "2.44", "2.47.50"],
            _ => &["2.47.50"],
        };
        let is_there = |toolchain: &str| toolchains().join(toolchain).join("bin").exists();
        // Its objects are linked by GNU ld 2.44.
        let exists =
            |toolchain: &&str| is_there(toolchain) && (*toolchain != "llvm-23" || is_there("2.44"));
        let missing: Vec<_> = emitting.iter().filter(|name| !exists(name)).collect();
        for toolchain in &missing {
            let what = format!("the assembler of {toolchain} for {}", self.name);
            skipped::note(&what, &format!("corpus/build fetch {toolchain}"));
        }
        if !missing.is_empty() {
            let released = |name: &&&str| ["2.40", "2.44"].contains(*name);
            assert!(!are_required() || !missing.iter().any(released), "{missing:?} are missing");
        }
        emitting.iter().copied().filter(|name| exists(name)).collect()
    }

    fn gnu(self, toolchain: &str, tool: &str) -> Command {
        let name = format!("{toolchain}/bin/{}-linux-gnu-{tool}", self.name);
        let mut command = Command::new(toolchains().join(name));
        if self.big_endian_aarch64 && tool != "objcopy" {
            command.arg("-EB");
        }
        command
    }

    /// Assembles with SFrame.
    pub(crate) fn assemble(self, toolchain: &str, source: &Path, object: &Path) -> Output {
        let mut command = if toolchain == "llvm-23" {
            let mut command = Command::new(toolchains().join("llvm-23/bin/llvm-mc"));
            command.args(["-triple=x86_64-linux-gnu", "-filetype=obj"]);
            command
        } else {
            self.gnu(toolchain, "as")
        };
        command.arg("--gsframe").arg(source).arg("-o").arg(object).output().expect("it runs")
    }

    /// Assembles without SFrame.
    pub(crate) fn assemble_plainly(self, toolchain: &str, source: &Path, object: &Path) -> Output {
        self.gnu(toolchain, "as").arg(source).arg("-o").arg(object).output().expect("it runs")
    }

    /// Links an object into a library, with its SFrame data.
    pub(crate) fn link_with_sframe(self, toolchain: &str, object: &Path, library: &Path) -> Output {
        let mut link = self.gnu(toolchain, "ld");
        link.args(["-shared", "-z", "noexecstack"]).arg(object).arg("-o").arg(library);
        link.output().expect("it runs")
    }

    /// Links an object into a library, without SFrame data. Only the CFI is needed, and GNU ld 2.40 and 2.44 crash on
    /// some of their own assemblers' SFrame sections (`corpus/NOTES.md`).
    pub(crate) fn link(self, toolchain: &str, object: &Path, library: &Path) {
        let toolchain = if toolchain == "llvm-23" { "2.44" } else { toolchain };
        let bare = object.with_extension("bare.o");
        let mut copy = self.gnu(toolchain, "objcopy");
        copy.args(["-R", ".sframe", "-R", ".rela.sframe"]).arg(object).arg(&bare);
        let mut link = self.gnu(toolchain, "ld");
        link.args(["-shared", "-z", "noexecstack"]).arg(&bare).arg("-o").arg(library);
        for mut command in [copy, link] {
            let output = command.output().expect("it runs");
            assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
