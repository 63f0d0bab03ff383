//! The inputs: two sources, assembled in every way.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::tools;
use sframe_validator::elf::{Elf, SHT_GNU_SFRAME};
use sframe_validator::write::elf::claims;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    Amd64,
    Aarch64,
}

impl Machine {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Machine::Amd64 => "x86_64",
            Machine::Aarch64 => "aarch64",
        }
    }
}

/// How an input was assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    None,
    V1,
    V2,
    /// Version 2 with PC-relative starts, as GNU as 2.45 writes it. No toolchain here has it.
    V2PcRelative,
    Llvm,
    V3,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] =
        [Kind::None, Kind::V1, Kind::V2, Kind::V2PcRelative, Kind::Llvm, Kind::V3];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::None => "none",
            Kind::V1 => "V1",
            Kind::V2 => "V2",
            Kind::V2PcRelative => "V2-pc",
            Kind::Llvm => "V2-llvm",
            Kind::V3 => "V3",
        }
    }
}

/// Two inputs in the order of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) first: Kind,
    pub(crate) second: Kind,
    pub(crate) files: [String; 2],
    /// Whether the file describes any function. LLVM describes none for AArch64.
    describes: [bool; 2],
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {}", self.first.name(), self.second.name())
    }
}

impl Pair {
    /// The functions of those inputs that are chosen by number, sorted by name.
    pub(crate) fn functions(&self, chosen: impl Fn(usize) -> bool) -> Vec<String> {
        let names = [["_start", "first"].as_slice(), ["two", "three", "four"].as_slice()];
        let inputs = names
            .iter()
            .enumerate()
            .filter(|(number, _)| chosen(*number) && self.describes[*number]);
        let mut functions: Vec<String> =
            inputs.flat_map(|(_, names)| names.iter().map(|name| (*name).to_owned())).collect();
        functions.sort();
        functions
    }
}

pub(crate) fn pairs(machine: Machine) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for first in Kind::ALL {
        for second in Kind::ALL {
            let file = |place: &str, kind: Kind| format!("{place}-{}.o", kind.name());
            let files = [file("first", first), file("second", second)];
            let describes = |kind| !(machine == Machine::Aarch64 && kind == Kind::Llvm);
            pairs.push(Pair {
                first,
                second,
                files,
                describes: [describes(first), describes(second)],
            });
        }
    }
    pairs
}

/// Makes `first-KIND.o` and `second-KIND.o` in a folder. Returns `None` if a tool is missing.
pub(crate) fn make(folder: &Path, machine: Machine) -> Option<()> {
    for place in ["first", "second"] {
        let name = format!("{place}-{}.s", machine.name());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs/sources").join(name);
        for kind in Kind::ALL {
            let object = folder.join(format!("{place}-{}.o", kind.name()));
            assemble(&source, &object, machine, kind)?;
        }
    }
    Some(())
}

pub(crate) fn assemble(source: &Path, object: &Path, machine: Machine, kind: Kind) -> Option<()> {
    assemble_for(source, object, machine.name(), kind)
}

/// Assembles a source for a machine, which GNU calls so.
pub(crate) fn assemble_for(source: &Path, object: &Path, machine: &str, kind: Kind) -> Option<()> {
    let (toolchain, gsframe) = match kind {
        Kind::None if machine == "s390x" => ("2.47.50", false),
        Kind::None => ("2.44", false),
        Kind::V1 => ("2.40", true),
        Kind::V2 | Kind::V2PcRelative => ("2.44", true),
        Kind::Llvm => ("llvm-23", true),
        Kind::V3 => ("2.47.50", true),
    };
    let programs = tools::toolchain(toolchain)?;
    let mut command = match kind {
        Kind::Llvm => {
            let mut command = Command::new(programs.join("llvm-mc"));
            command.arg(format!("-triple={machine}-linux-gnu")).arg("-filetype=obj");
            command
        }
        _ => Command::new(programs.join(format!("{machine}-linux-gnu-as"))),
    };
    if gsframe {
        command.arg("--gsframe");
    }
    let output = command.arg("-o").arg(object).arg(source).output().expect("the assembler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    if kind == Kind::V2PcRelative {
        set_pc_relative(object);
    }
    Some(())
}

/// Turns an object of GNU as 2.44 into one of 2.45. Their relocations are the same: the older version leaves it to the
/// linker to add the place of the field.
fn set_pc_relative(object: &Path) {
    let mut bytes = fs::read(object).expect("an object");
    let (index, flags) = {
        let elf = Elf::parse(&bytes).expect("ELF");
        let section = elf.sframe_sections().next().expect("a section");
        (section.index, usize::try_from(section.offset).expect("small") + 3)
    };
    bytes[flags] |= 4;
    claims::section(&mut bytes, index, |header| header.sh_type = SHT_GNU_SFRAME)
        .expect("a section");
    fs::write(object, bytes).expect("written");
}

/// Writes a copy of an object of which one byte of the SFrame header differs.
pub(crate) fn set_header(object: &Path, copy: &Path, field: usize, value: u8) {
    let mut bytes = fs::read(object).expect("an object");
    let offset = {
        let elf = Elf::parse(&bytes).expect("ELF");
        usize::try_from(elf.sframe_sections().next().expect("a section").offset).expect("small")
    };
    bytes[offset + field] = value;
    fs::write(copy, bytes).expect("written");
}
