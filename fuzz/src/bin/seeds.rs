//! `seeds FOLDER` writes the seed corpus of each target to `FOLDER/TARGET/`: the files checked in below `corpus/`, in
//! the form that the target takes, and some entropy for targets that take entropy.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sframe_fuzz::generate::{Configuration, Plan};
use sframe_fuzz::seeds;
use sframe_fuzz::targets::generated::{file, object};
use sframe_mutate::Seeded;

/// The number of entropy inputs for a target, and the size in bytes of the longest.
const COUNT: u64 = 64;
const LONGEST: usize = 1024;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("seeds FOLDER");
        return ExitCode::from(3);
    };
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let files = seeds::files(&corpus);
    let sections = seeds::sections(&files);
    let linked = files.iter().filter(|file| file.bytes.get(16) != Some(&1));
    let linked = linked.map(|file| file.bytes.clone()).collect();
    let targets = [
        ("bytes", sections.clone()),
        ("cfi", [seeds::cfi(&files), entropy(5)].concat()),
        ("files", files.into_iter().map(|file| file.bytes).chain(generated(6)).collect()),
        ("generated", entropy(1)),
        ("headers", linked),
        ("mutated", entropy(2)),
        ("names", vec![sframe_fuzz::targets::names::HOSTILE.as_bytes().to_vec()]),
        ("packages", packages(&corpus)),
        ("readers", [sections, entropy(3)].concat()),
        ("scans", seeds::scans(&corpus)),
        ("twins", entropy(4)),
    ];
    for (target, inputs) in targets {
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder).expect("can be made");
        for (number, input) in inputs.iter().enumerate() {
            std::fs::write(folder.join(format!("{number:04}")), input).expect("disk space");
        }
        println!("{target}: {} inputs", inputs.len());
    }
    ExitCode::SUCCESS
}

/// Packages that contain the smallest program of the corpus with an SFrame section.
fn packages(corpus: &Path) -> Vec<Vec<u8>> {
    let program = std::fs::read(corpus.join("golden/2.47.50/x86_64/collected.exe"));
    seeds::packages(&program.expect("checked in"))
}

/// Linked files and objects around generated sections.
fn generated(seed: u64) -> impl Iterator<Item = Vec<u8>> {
    entropy(seed).into_iter().filter_map(|entropy| {
        let plan = Plan::new(&entropy, &Configuration::ALL);
        let built = plan.build().ok()?;
        let relocations = plan.relocations(&built);
        match (plan.fits_file(), plan.fits_object()) {
            (true, _) => Some(file(&plan, &built.bytes)),
            (_, true) => Some(object(&plan, &built.bytes, &relocations)),
            _ => None,
        }
    })
}

fn entropy(seed: u64) -> Vec<Vec<u8>> {
    let mut random = Seeded::new(seed);
    (0..COUNT)
        .map(|_| {
            let length = random.below(LONGEST);
            random.bytes(length)
        })
        .collect()
}
