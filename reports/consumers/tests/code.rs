//! Each profile against the consumer's own code: the verdict on the header, lookups at boundary PCs, and decoded rows.
//!
//! `corpus/consumers/build` makes the programs. `SFRAME_CONSUMERS` is a folder with programs of consumers that are not
//! packaged. `SFRAME_MUTANTS` is the number of mutants for each consumer, `SFRAME_SEED` makes other ones, and `SFRAME_ONLY` is
//! the name of one of the consumers. `SFRAME_SUMS` is the number of mutants whose sums are asked for at every PC.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[path = "code/compare.rs"]
mod compare;
#[path = "code/inputs.rs"]
mod inputs;
#[path = "code/pcs.rs"]
mod pcs;
#[path = "code/program.rs"]
mod program;
#[path = "code/sums.rs"]
mod sums;

use std::path::PathBuf;

use compare::{Counts, Plan, compare};
use inputs::{Sample, every_info_byte, golden_sections, malformed, mutant, vectors};
use sframe_consumers::{Consumer, profiles};
use sframe_corpus::{tools, tries};
use sframe_mutate::Seeded;
use sframe_validator::{Abi, Endian};
use sums::Compared;

/// The profiles whose readers read the byte order of the machine on which they run.
const ANY_BYTE_ORDER: [&str; 5] =
    ["libsframe-2.40", "libsframe-2.44", "libsframe-2.47", "llvm-23", "mold-3"];

/// Consumers whose code is only public, not packaged.
const PUBLIC_ONLY: [&str; 5] =
    ["linux-user-v1", "linux-user-v2", "linux-user-v3", "linux-arm64-kernel", "java-profiler"];

/// Consumers from Debian's sid, which moves on: their versions may be gone.
const FROM_SID: [&str; 4] = ["glibc-2.43", "libsframe-2.47", "llvm-23", "mold-3"];

/// A consumer and its program, if it was built.
fn programs() -> Vec<(&'static dyn Consumer, PathBuf)> {
    let only = std::env::var("SFRAME_ONLY").ok();
    let folder = tools::consumers();
    let mut found = Vec::new();
    for consumer in profiles() {
        let name = consumer.page().name;
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let public =
            std::env::var_os("SFRAME_CONSUMERS").map(|folder| PathBuf::from(folder).join(name));
        let path = public.filter(|path| path.exists()).unwrap_or_else(|| folder.join(name));
        if path.exists() {
            found.push((*consumer, path));
        } else if PUBLIC_ONLY.contains(&name) {
            let remedy = "its code is not packaged, see corpus/consumers/README.md";
            tools::skipped::note(&format!("the code of {name}"), remedy);
        } else if FROM_SID.contains(&name) {
            tools::skipped::note(&format!("the code of {name}"), &remedy(name));
        } else {
            tools::missing(name, &remedy(name));
        }
    }
    found
}

fn remedy(name: &str) -> String {
    format!("corpus/consumers/build {name}")
}

/// The programs of kernels and of the profiler are built for one machine.
fn is_readable_here(consumer: &dyn Consumer, sample: &Sample) -> bool {
    let name = consumer.page().name;
    match name {
        "glibc-2.43" => sample.machine.endian() == Endian::Little,
        "linux-arm64-kernel" => sample.machine == Abi::Aarch64Little,
        _ => ANY_BYTE_ORDER.contains(&name) || sample.machine == Abi::Amd64,
    }
}

fn report(name: &str, what: &str, counts: &Counts) {
    println!(
        "{name} {what}: {} sections ({} spared), {} accepted, {} lookups, {} rows, {} crashes ({} of the host), {} undecided \
         ({} crashed), {} ambiguous, {} disagreements",
        counts.sections,
        counts.spared,
        counts.accepted,
        counts.lookups,
        counts.rows,
        counts.crashes,
        counts.host_crashes,
        counts.undecided,
        counts.undecided_crashes,
        counts.ambiguous,
        counts.disagreeing()
    );
    for (kind, (count, example)) in &counts.disagreements {
        println!("    {kind}: {count}, as {example}");
    }
}

fn assert_agreement(what: &str, samples: &[Sample], most: usize) {
    let mut failed = Vec::new();
    for (consumer, program) in programs() {
        let readable = samples.iter().filter(|sample| is_readable_here(consumer, sample));
        let samples: Vec<Sample> = readable.cloned().collect();
        let counts = compare(consumer, &program, &samples, Plan { most, one_in: 1 });
        report(consumer.page().name, what, &counts);
        if counts.disagreeing() > 0 {
            failed.push(consumer.page().name);
        }
    }
    assert!(failed.is_empty(), "the profiles of {failed:?} disagree with the code");
}

#[test]
fn profiles_agree_with_the_code_on_golden_sections() {
    assert_agreement("golden", &golden_sections(), 2000);
}

#[test]
fn profiles_agree_with_the_code_on_malformed_sections() {
    assert_agreement("malformed", &malformed(), 500);
}

#[test]
fn profiles_agree_with_the_code_on_conformance_vectors() {
    assert_agreement("vectors", &vectors(), 500);
}

#[test]
fn profiles_agree_with_the_code_on_every_info_byte() {
    assert_agreement("info bytes", &every_info_byte(), 20);
}

#[test]
fn profiles_agree_with_the_code_on_mutants() {
    const BATCH: usize = 500;
    let wanted: usize = std::env::var("SFRAME_MUTANTS")
        .map_or(tries(500, 2000), |count| count.parse().expect("a number"));
    let seed = std::env::var("SFRAME_SEED").map_or(17, |seed| seed.parse().expect("a number"));
    let mut samples = golden_sections();
    samples.extend(vectors());
    samples.retain(|sample| sample.bytes.len() < 1500);
    let mut failed = Vec::new();
    for (consumer, program) in programs() {
        let name = consumer.page().name;
        // Its program has the section at another address, where starts that are far away wrap elsewhere.
        if name == "linux-arm64-kernel" {
            continue;
        }
        let reads = consumer.page().reads;
        let is_wanted = |sample: &&Sample| {
            let version = sample.bytes.get(2).copied().unwrap_or(0);
            is_readable_here(consumer, sample) && (reads.contains(&version))
        };
        let own: Vec<&Sample> = samples.iter().filter(is_wanted).collect();
        // mold links hundreds of sections at once, but not with one that ends the link: small runs ask those. The programs of
        // consumers that are not packaged are started anew after each crash. The others survive.
        let one_in = match name {
            _ if wanted <= 2000 => 1,
            "mold-3" => 0,
            _ if PUBLIC_ONLY.contains(&name) => 32,
            _ => 1,
        };
        let plan = Plan { most: 10, one_in };
        let mut random = Seeded::new(seed);
        let mut counts = Counts::default();
        let mut made = 0;
        while made < wanted {
            let batch: Vec<Sample> = (0..BATCH.min(wanted - made))
                .map(|_| mutant(own[random.below(own.len())], &mut random))
                .collect();
            made += batch.len();
            counts.add(compare(consumer, &program, &batch, plan));
        }
        report(name, "mutants", &counts);
        if counts.disagreeing() > 0 {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "the profiles of {failed:?} disagree with the code");
}

/// The sums of whole sections, which no list of boundary PCs stands for. `SFRAME_SUMS` is the number of mutants for each
/// consumer; with it, all golden files of linkers are asked.
#[test]
fn sums_are_those_of_the_code_at_every_pc() {
    let wanted = std::env::var("SFRAME_SUMS").ok().map(|count| count.parse().expect("a number"));
    let seed = std::env::var("SFRAME_SEED").map_or(29, |seed| seed.parse().expect("a number"));
    let (mutants, most): (usize, u64) = (wanted.unwrap_or(40), 0x4000);
    let golden = golden_sections();
    for (consumer, program) in programs() {
        let page = consumer.page();
        let is_read = |sample: &&Sample| {
            let version = sample.bytes.get(2).copied().unwrap_or(0);
            is_readable_here(consumer, sample)
                && page.machines.contains(&sample.machine)
                && page.reads.contains(&version)
        };
        // Functions of objects all start at their section's relocations, and so overlap.
        let is_linked = |sample: &&Sample| !sample.name.ends_with(".o");
        let linked: Vec<Sample> =
            golden.iter().filter(is_linked).filter(is_read).cloned().collect();
        let few = linked.iter().filter(|sample| sample.name.contains("plt")).take(4);
        let few = few.chain(linked.iter().step_by(linked.len() / 4 + 1)).cloned().collect();
        let files = if wanted.is_some() { linked.clone() } else { few };
        let found = sums::compare(consumer, &program, &files, most);
        report_sums(page.name, "files", &found);
        assert!(found.sections > 0, "{}: no file", page.name);
        let mut random = Seeded::new(seed);
        let small: Vec<&Sample> =
            linked.iter().filter(|sample| sample.bytes.len() < 1500).collect();
        let damaged: Vec<Sample> =
            (0..mutants).map(|_| mutant(small[random.below(small.len())], &mut random)).collect();
        report_sums(page.name, "mutants", &sums::compare(consumer, &program, &damaged, most));
    }
}

fn report_sums(name: &str, what: &str, found: &Compared) {
    println!(
        "{name} {what}: {} sections, {} accepted, {} without anything open, {} PCs",
        found.sections, found.accepted, found.exact, found.pcs
    );
}
