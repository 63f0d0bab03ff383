//! Checks that every difference between SFrame and CFI in the corpus has been examined by hand: the comparison finds
//! exactly the differences in the files of `corpus/` that `corpus/differences/JUDGED.tsv` lists. The list's judgements
//! are based on the instructions: each line names the note with the proof.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::{elf_files, golden_files, members};
use object::{Object, ObjectSection, ObjectSymbol, SectionIndex, SymbolKind};
use sframe_corpus::{repository, tools};
use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::compare::{Range, Verdict, compare};
use sframe_oracle::coverage::{Stubs, examine};
use sframe_validator::elf::{Elf, ElfKind, RelocationTable};
use sframe_validator::{Placement, Section, Version};

/// A difference in the form of the list's lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    /// The path relative to `corpus/`.
    file: String,
    /// The function, or the section if no function contains the place.
    function: String,
    /// The range, in bytes from its start.
    range: String,
    differs: String,
}

impl Difference {
    fn line(&self) -> String {
        [&*self.file, &*self.function, &*self.range, &*self.differs].join("\t")
    }
}

/// A line of the list, in which braces in `files` are not yet expanded.
struct Judgement {
    difference: Difference,
    wrong: String,
    note: String,
}

fn judgements() -> Vec<Judgement> {
    let list = repository().join("corpus/differences/JUDGED.tsv");
    let list = std::fs::read_to_string(list).expect("the list");
    let mut lines = list.lines();
    assert_eq!(lines.next(), Some("files\tfunction\trange\tdiffers\twrong\tnote"));
    let parse = |line: &str| {
        let columns: Vec<_> = line.split('\t').map(str::to_owned).collect();
        let [file, function, range, differs, wrong, note] =
            columns.try_into().unwrap_or_else(|_| panic!("six columns: {line}"));
        Judgement { difference: Difference { file, function, range, differs }, wrong, note }
    };
    lines.map(parse).collect()
}

/// Expands `a{b,c}` to `ab` and `ac`, like a shell.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (inside, behind) = rest.split_once('}').expect("a closing brace");
    let behind = expand(behind);
    let choices = inside.split(',');
    choices.flat_map(|choice| behind.iter().map(move |b| format!("{before}{choice}{b}"))).collect()
}

/// The differences in a file and in the members of an archive, with the values on both sides.
fn differences(path: &Path, name: &str) -> BTreeMap<Difference, String> {
    let data = std::fs::read(path).expect("readable");
    let members = members(&data);
    members.into_iter().flat_map(|member| differences_of(member, name)).collect()
}

fn differences_of(data: &[u8], name: &str) -> BTreeMap<Difference, String> {
    let elf = Elf::parse(data).expect("ELF");
    let headers: Vec<_> = elf.sframe_sections().copied().collect();
    let starts = headers.iter().map(|header| RelocationTable::load(&elf, header.index));
    let starts: Vec<_> = starts.map(|table| table.expect("readable").starts()).collect();
    let mut sections = Vec::new();
    for (header, starts) in headers.iter().zip(&starts) {
        let placement = match elf.kind() {
            ElfKind::Relocatable => Placement::relocated(starts),
            _ => Placement::at(header.address),
        };
        let bytes = elf.section_data(header).expect("in the file");
        sections.extend(Section::parse(bytes, placement.with_abi(elf.abi())).ok());
    }
    let version = sections.first().map_or(Version::V3, |section| section.header().version);
    let cfi = Cfi::load_all(&elf).expect("readable");
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let stubs = Stubs::of(&elf);
    let file = object::File::parse(data).expect("ELF");
    let mut found = BTreeMap::new();
    compare(&elf, &sections, &cfi, |range| {
        let differs = match range.verdict {
            Verdict::Different(fields) => fields.names().collect::<Vec<_>>().join(","),
            Verdict::OnlySframe => "only-sframe".to_owned(),
            Verdict::Undecided => "undecided".to_owned(),
            Verdict::OnlyCfi => {
                let fde = range.cfi.expect("the function that is lost").function;
                let place = cfi.iter().position(|cfi| cfi.section() == fde.cfi().section());
                let context = &mut contexts[place.expect("among those compared")];
                if examine(&stubs, &fde, version, context).cause.is_some() {
                    return;
                }
                "lost".to_owned()
            }
            Verdict::Equal | Verdict::Limited(_) | Verdict::Neither => return,
        };
        // If there is no section, every function is lost, which counts as one difference.
        let (function, within) = match sections.as_slice() {
            [] => ("*".to_owned(), "*".to_owned()),
            _ => place(&file, range),
        };
        let file = name.to_owned();
        found.insert(Difference { file, function, range: within, differs }, sides(range));
    });
    found
}

fn sides(range: &Range<'_>) -> String {
    let sframe = range.sframe.and_then(|sframe| sframe.frame);
    let sframe = sframe.map_or("nothing".to_owned(), |frame| frame.to_string());
    let cfi = range.cfi.and_then(|cfi| cfi.frame);
    let cfi = cfi.map_or("nothing".to_owned(), |frame| frame.to_string());
    format!("SFrame {sframe}; CFI {cfi}")
}

/// The function in which a range starts, or else the section, and the range relative to its start.
fn place(file: &object::File<'_>, range: &Range<'_>) -> (String, String) {
    let relocatable = file.kind() == object::ObjectKind::Relocatable;
    let number = usize::try_from(range.section).expect("in memory");
    let here = |index: Option<SectionIndex>| !relocatable || index == Some(SectionIndex(number));
    let holds = |start: u64, size: u64| start <= range.start && range.start - start < size;
    let functions = file.symbols().chain(file.dynamic_symbols());
    let function = functions
        .filter(|symbol| symbol.kind() == SymbolKind::Text && here(symbol.section_index()))
        .find(|symbol| holds(symbol.address(), symbol.size()))
        .map(|symbol| (symbol.name().expect("readable"), symbol.address()));
    let section = || {
        let mut sections = file.sections().filter(|section| here(Some(section.index())));
        let section = sections.find(|section| holds(section.address(), section.size()))?;
        Some((section.name().expect("readable"), section.address()))
    };
    let (name, start) = function.or_else(section).expect("in a section");
    (name.to_owned(), format!("{:#x}..{:#x}", range.start - start, range.end - start))
}

#[test]
fn all_differences_in_the_corpus_are_judged() {
    let corpus = repository().join("corpus");
    let mut files = golden_files();
    files.extend(elf_files(&corpus.join("differences")));
    let mut found = BTreeMap::new();
    for path in &files {
        let name = path.strip_prefix(&corpus).expect("below").to_str().expect("ASCII");
        let differences = differences(path, name);
        let shown = !name.starts_with("differences/") || !differences.is_empty();
        assert!(shown, "{name} shows no difference");
        found.extend(differences);
    }
    let mut judged = BTreeSet::new();
    for judgement in judgements() {
        for file in expand(&judgement.difference.file) {
            let difference = Difference { file, ..judgement.difference.clone() };
            if !difference.file.starts_with("real/") {
                let line = difference.line();
                assert!(judged.insert(difference), "judged twice: {line}");
            }
        }
    }
    let news = found.iter().filter(|(difference, _)| !judged.contains(difference));
    let news: Vec<_> =
        news.map(|(d, sides)| format!("not judged: {}\t{sides}", d.line())).collect();
    let gone = judged.iter().filter(|difference| !found.contains_key(difference));
    let gone: Vec<_> = gone.map(|d| format!("judged, but not there: {}", d.line())).collect();
    assert!(news.is_empty() && gone.is_empty(), "{}\n{}", news.join("\n"), gone.join("\n"));
    println!("{} files, {} differences, all judged", files.len(), found.len());
}

#[test]
fn judgements_have_notes() {
    let folder = repository().join("corpus/differences");
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("the folder's README");
    let mut notes = BTreeSet::new();
    for judgement in judgements() {
        let Judgement { wrong, note, .. } = judgement;
        let producers = ["as", "ld", "llvm-mc", "lld", "gold", "-"];
        assert!(producers.contains(&&*wrong), "{note}: {wrong} is no producer");
        assert!(readme.contains(&format!("| `{note}` |")), "{note} is not in the README");
        let proof = folder.join(&note).join("input.s").exists();
        assert!(proof || wrong == "-", "{wrong} is wrong without a proof: {note}");
        notes.insert(note);
    }
    for entry in std::fs::read_dir(&folder).expect("readable").flatten() {
        let name = entry.file_name().into_string().expect("ASCII");
        let case = entry.file_type().expect("known").is_dir();
        assert!(!case || notes.contains(&name), "{name} is not in the list");
    }
}

/// SQLite and zlib, built by each toolchain. Not all toolchains are installed everywhere, so a line without a matching
/// difference is not a failure here.
#[test]
fn all_differences_in_real_libraries_are_judged() {
    let required = sframe_corpus::tools::are_required();
    let root = tools::real_libraries();
    let mut allowed = BTreeSet::new();
    for Judgement { difference, .. } in judgements() {
        for file in expand(&difference.file) {
            allowed.insert((file, difference.function.clone(), difference.differs.clone()));
        }
    }
    for toolchain in ["2.40", "2.44", "2.47.50", "llvm-23", "mold"] {
        let mut compared = 0;
        for machine in ["x86_64", "aarch64", "s390x"] {
            for library in ["sqlite3.so", "zlib.so"] {
                let path = root.join(toolchain).join(machine).join(library);
                if !path.exists() {
                    continue;
                }
                let name = format!("real/{toolchain}/{machine}/{library}");
                for (found, sides) in differences(&path, &name) {
                    let Difference { file, function, differs, .. } = found.clone();
                    let judged = allowed.contains(&(file, function, differs));
                    assert!(judged, "not judged: {}\t{sides}", found.line());
                }
                compared += 1;
            }
        }
        println!("{toolchain}: {compared} libraries compared");
        if compared == 0 {
            let remedy = format!("corpus/build real {toolchain}");
            tools::skipped::note(&format!("libraries of {toolchain}"), &remedy);
            let released = ["2.40", "2.44"].contains(&toolchain);
            assert!(!required || !released, "libraries of {toolchain} are missing");
        }
    }
}
