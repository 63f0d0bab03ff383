//! The command `reduce` on the inputs in `corpus/differences/`: its sources are no longer than those that a person wrote, and
//! its pages are those in `docs/upstream/`.

use std::fs;
use std::path::Path;

use sframe_corpus::{corpus, folder, program, repository, tools};

use super::page::Page;
use super::{difference, is_blessed};

/// Differences that linkers make, and those that findings of the file do not distinguish from others: their pages are
/// written by hand.
const OTHERS: [&str; 4] = [
    "relocations-left-behind",
    "base-in-passing",
    "escape-of-directive",
    "frame-pointer-in-passing",
];

/// An object in `corpus/differences/`, and the assembler that made it.
struct Case {
    id: String,
    object: String,
    assembler: &'static str,
    toolchain: &'static str,
    folder: &'static str,
}

/// The newest object of each producer.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(corpus().join("differences"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    for folder in folders {
        let id = folder.file_name().expect("a name").to_string_lossy().into_owned();
        if OTHERS.contains(&id.as_str()) {
            continue;
        }
        let input = fs::read_to_string(folder.join("input.s")).expect("text");
        let machine = input.lines().find_map(|line| line.split_once("Machine: "));
        let of_machine = match machine.and_then(|(_, name)| name.split([',', ' ', '.']).next()) {
            Some("x86_64") => "x86_64-linux-gnu-as",
            Some("aarch64") => "aarch64-linux-gnu-as",
            Some("s390x") => "s390x-linux-gnu-as",
            other => panic!("{id}: no machine {other:?}"),
        };
        let has = |toolchain: &&str| folder.join(format!("{toolchain}.o")).exists();
        let newest = ["2.47.50", "2.44", "2.40"].into_iter().find(has);
        let made = newest.map(|toolchain| (of_machine, toolchain, "gnu-as"));
        let llvm = Some("llvm-23").filter(has).map(|toolchain| ("llvm-mc", toolchain, "llvm"));
        for (assembler, toolchain, made_by) in made.into_iter().chain(llvm) {
            let object = format!("differences/{id}/{toolchain}.o");
            cases.push(Case { id: id.clone(), object, assembler, toolchain, folder: made_by });
        }
    }
    assert!(cases.len() > 25, "only {} cases", cases.len());
    cases
}

/// The number of `.cfi_` directives in a source.
fn directives(source: &str) -> usize {
    source.lines().filter(|line| line.trim_start().starts_with(".cfi_")).count()
}

#[test]
fn reduced_sources_are_short_and_pages_are_up_to_date() {
    if !program::path().exists() {
        return tools::missing("sframe-check", "cargo build -p sframe-check");
    }
    let folder = folder!("written");
    let mut wrong = Vec::new();
    for case in cases() {
        let Some(bin) = tools::toolchain(case.toolchain) else { continue };
        let Case { id, object, .. } = &case;
        let object = corpus().join(object);
        let with = bin.join(case.assembler);
        let arguments = ["reduce", "--finding", id, "-o", "small.s", "--page", "page.md", "--with"];
        let arguments = arguments.map(Path::new).into_iter().chain([with.as_path(), &object]);
        let outcome = program::run(&folder, &arguments.collect::<Vec<_>>());
        assert_eq!(outcome.status, 0, "{id} {}: {}", case.toolchain, outcome.stderr);
        let source = fs::read_to_string(folder.join("small.s")).expect("text");
        let by_hand = fs::read_to_string(object.with_file_name("input.s")).expect("text");
        assert!(directives(&source) <= directives(&by_hand), "{id}: {source}");
        let page = fs::read_to_string(folder.join("page.md")).expect("text");
        let proof = format!("| Proof | `corpus/differences/{id}/` |");
        let lines = page.lines().map(|line| match line.starts_with("| Found in |") {
            true => proof.as_str(),
            false => line,
        });
        let page = lines.collect::<Vec<_>>().join("\n") + "\n";
        let kept = repository().join(format!("docs/upstream/{}/{id}.md", case.folder));
        if is_blessed() {
            fs::create_dir_all(kept.parent().expect("a folder")).expect("it can be made");
            fs::write(&kept, &page).expect("the page can be written");
        } else {
            let before = fs::read_to_string(&kept).unwrap_or_default();
            let is_current = before.is_empty() || Page::parse(&before).is_about(&bin);
            if is_current && before != page {
                wrong.push(format!("{}:\n{}", kept.display(), difference(&before, &page)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
