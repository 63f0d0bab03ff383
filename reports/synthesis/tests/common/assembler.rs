//! What GNU as makes of a source, with and without `--gsframe`: the forecast from the object without a section is
//! compared with the section of the other one.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Forecaster, Place, Release, forecast, synthesize};
use sframe_validator::elf::Elf;
use sframe_validator::{Abi, Section};

use super::{table_of, with_section};

/// The machines of the assemblers, and the prefixes of their names.
pub const MACHINES: [(Abi, &str); 3] =
    [(Abi::Amd64, "x86_64"), (Abi::Aarch64Little, "aarch64"), (Abi::S390x, "s390x")];

/// An assembler of a release for a machine.
pub struct Assembler {
    pub release: Release,
    pub abi: Abi,
    path: PathBuf,
    folder: PathBuf,
}

/// The assemblers of all releases and machines, which work in `folder`. Fewer if toolchains are missing.
pub fn assemblers(folder: &Path) -> Vec<Assembler> {
    let mut found = Vec::new();
    for release in Release::ALL {
        let Some(tools) = tools::toolchain(release.name()) else { continue };
        let machines = MACHINES.into_iter().filter(|(abi, _)| release.supports(*abi));
        found.extend(machines.map(|(abi, machine)| Assembler {
            release,
            abi,
            path: tools.join(format!("{machine}-linux-gnu-as")),
            folder: folder.to_owned(),
        }));
    }
    found
}

impl Assembler {
    /// The name of the assembler.
    pub fn name(&self) -> String {
        format!("{} {}", self.release.name(), self.abi.name())
    }

    /// The linker of the same release and machine.
    pub fn linker(&self) -> PathBuf {
        let name = self.path.to_string_lossy();
        format!("{}ld", name.strip_suffix("as").expect("an assembler")).into()
    }

    /// Assembles a file. `None` if the assembler refuses it, or crashes.
    pub fn assemble(&self, source: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
        let object = self.folder.join("object.o");
        let mut command = Command::new(&self.path);
        command.args(arguments).arg("-o").arg(&object).arg(source);
        command.arg("-I").arg(source.parent().expect("a folder"));
        let output = command.output().expect("the assembler runs");
        output.status.success().then(|| std::fs::read(&object).expect("written"))
    }

    /// Assembles a text twice. `None` if it is refused, or the assembler crashes. Otherwise the difference between the
    /// forecast and the section.
    pub fn difference(&self, text: &str) -> Option<Result<usize, String>> {
        let source = self.folder.join("source.s");
        std::fs::write(&source, text).expect("written");
        let plain = self.assemble(&source, &[])?;
        let real = self.assemble(&source, &["--gsframe"])?;
        Some(difference(&plain, &real, self.release))
    }
}

/// The number of functions that the real section describes, or what is different in the forecast from the plain object.
pub fn difference(plain: &[u8], real: &[u8], release: Release) -> Result<usize, String> {
    let (plain, real) = (Elf::parse(plain).expect("ELF"), Elf::parse(real).expect("ELF"));
    let cfi = Cfi::load_all(&plain).expect("CFI");
    let encoding = Encoding::Gnu(release);
    let alone = forecast(&plain, &cfi, encoding).expect("a forecast");
    let [of_many] = &Forecaster::new(&[encoding]).forecast(&plain, &cfi)[..] else { panic!("one") };
    assert_eq!(of_many.as_ref().expect("a forecast"), &alone, "a forecast of several files");
    let made = synthesize(&plain, &cfi, encoding, Place::Relocatable).expect("a section");
    let ours = with_section(&made, Place::Relocatable, table_of);
    let mut sections = real.sections().iter().filter(|section| section.name.bytes() == b".sframe");
    let size = sections.next().map(|section| section.size);
    let contents = real.sframe_contents().next();
    let theirs = contents.map(|contents| {
        let placement = contents.placement().expect("relocations");
        table_of(&Section::parse(contents.data.expect("bytes"), placement).expect("sound"))
    });
    let theirs = theirs.unwrap_or_default();
    // The indices of code sections are the same in both objects: what is added comes after them.
    let different = ours.keys().chain(theirs.keys()).find(|key| ours.get(key) != theirs.get(key));
    if let Some(start) = different {
        let (ours, theirs) = (ours.get(start), theirs.get(start));
        return Err(format!(
            "{start:x?}: forecast {ours:x?}, real {theirs:x?}, {:?}",
            alone.losses
        ));
    }
    let predicted = alone.section.map(|section| section.size);
    if predicted != size {
        return Err(format!("forecast {predicted:?} bytes, real {size:?}"));
    }
    Ok(theirs.len())
}
