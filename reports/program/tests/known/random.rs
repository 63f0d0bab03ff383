//! Each difference that an assembler makes from random directives has its name.
//!
//! The directives are taken for right: the code is zeros. `SFRAME_FUNCTIONS` is the number of functions for each assembler, and
//! `SFRAME_SEED` the first of the numbers from which they are made.

use std::path::{Path, PathBuf};

use sframe_corpus::{folder, tools};
use sframe_defects::RowDefects;
use sframe_oracle::account::{Options, account_each};
use sframe_oracle::cfi::Cfi;
use sframe_validator::elf::Elf;
use sframe_validator::finding::Keep;
use sframe_validator::{Abi, Section};

#[path = "../../../synthesis/tests/common/random.rs"]
#[allow(unreachable_pub, reason = "public in its own test program")]
mod functions;

use functions::{Random, function};

/// The number of functions in a file.
const TOGETHER: u64 = 8;

/// Differences without a name, by toolchain and message: of `.cfi_escape` that loads FP from a place at another register, 2.47.50
/// writes no register (number 0x1fffffff); and a slot of RA at the CFA itself as none.
const NAMELESS: [(&str, &str); 2] =
    [("2.47.50", "FP is *(r536870911"), ("2.47.50", "RA is unchanged, CFI says *(CFA+0)")];

/// The assemblers: toolchain, machine and further arguments.
const ASSEMBLERS: [(&str, &str, Abi, &[&str]); 10] = [
    ("2.40", "x86_64-linux-gnu-as", Abi::Amd64, &[]),
    ("2.40", "aarch64-linux-gnu-as", Abi::Aarch64Little, &[]),
    ("2.40", "aarch64-linux-gnu-as", Abi::Aarch64Big, &["-EB"]),
    ("2.44", "x86_64-linux-gnu-as", Abi::Amd64, &[]),
    ("2.44", "aarch64-linux-gnu-as", Abi::Aarch64Little, &[]),
    ("2.47.50", "x86_64-linux-gnu-as", Abi::Amd64, &[]),
    ("2.47.50", "aarch64-linux-gnu-as", Abi::Aarch64Little, &[]),
    ("2.47.50", "aarch64-linux-gnu-as", Abi::Aarch64Big, &["-EB"]),
    ("2.47.50", "s390x-linux-gnu-as", Abi::S390x, &[]),
    ("llvm-23", "llvm-mc", Abi::Amd64, &["-filetype=obj", "-triple", "x86_64-linux-gnu"]),
];

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().expect("a number"))
}

/// The object with SFrame; `None` if the assembler refuses the text.
pub(super) fn assemble(
    program: &Path,
    arguments: &[&str],
    folder: &Path,
    text: &str,
) -> Option<Vec<u8>> {
    let arguments = [&["--gsframe"], arguments].concat();
    tools::assemble(program, &arguments, folder, text).ok().map(|(object, _)| object)
}

/// The differences of an object: how many have a name, and the others.
pub(super) fn differences(object: &[u8]) -> (usize, Vec<String>) {
    let elf = Elf::parse(object).expect("ELF");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let contents: Vec<_> = elf.sframe_contents().collect();
    let mut sections = Vec::new();
    for section in &contents {
        let Ok(data) = &section.data else { continue };
        let placement = section.placement().expect("relocations");
        sections.push(Section::parse(data, placement).expect("sound"));
    }
    let mut defects = RowDefects::new(&elf, &sections, &cfi, |_| Vec::new()).by_directives(true);
    let options = Options { keep: Keep::All, ..Options::default() };
    let (mut named, mut nameless) = (0, Vec::new());
    account_each(&elf, &sections, &cfi, &options, &mut defects, &mut |difference| {
        if difference.known.is_some() {
            named += 1;
        } else {
            let range = difference.start.address..difference.end;
            nameless.push(format!("{range:x?} {}", difference.finding.message));
        }
    });
    (named, nameless)
}

/// The programs that are there.
fn programs() -> Vec<(PathBuf, &'static str, Abi, &'static [&'static str])> {
    let found = ASSEMBLERS.into_iter().filter_map(|(toolchain, name, abi, arguments)| {
        Some((tools::toolchain(toolchain)?.join(name), toolchain, abi, arguments))
    });
    found.collect()
}

#[test]
fn every_difference_that_an_assembler_makes_has_its_name() {
    let folder = folder!("random-directives");
    let first = number("SFRAME_SEED").unwrap_or(1);
    let count = number("SFRAME_FUNCTIONS").unwrap_or(48);
    let mut all = Vec::new();
    for (program, toolchain, abi, arguments) in programs() {
        let (mut functions, mut named, mut without) = (0, 0, Vec::new());
        let text = |number| function(&mut Random::new(number), abi, number);
        // Whether the functions of a text need not be tried one by one.
        let mut check = |text: &str, number: u64| {
            let Some(object) = assemble(&program, arguments, &folder, text) else { return false };
            let (of_object, mut nameless) = differences(&object);
            let is_stated = |message: &String| {
                NAMELESS.iter().any(|(of, what)| *of == toolchain && message.contains(what))
            };
            nameless.retain(|message| !is_stated(message));
            if !nameless.is_empty() && number > 1 {
                return false;
            }
            functions += number;
            named += of_object;
            if !nameless.is_empty() {
                without.push(format!("{}\n{text}", nameless.join("\n")));
            }
            true
        };
        let mut number = first;
        while number < first + count {
            let together: Vec<String> = (number..number + TOGETHER).map(text).collect();
            if !check(&together.concat(), TOGETHER) {
                for text in &together {
                    check(text, 1);
                }
            }
            number += TOGETHER;
        }
        let (name, nameless) = (abi.name(), without.len());
        println!(
            "{toolchain} {name}: {functions} functions, {named} differences with a name, \
             {nameless} functions with others"
        );
        all.extend(without.into_iter().map(|text| format!("{toolchain} {name}: {text}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}
