//! Links of random inputs, scripts and options, each compared with its prediction: exit status, messages with the names of
//! inputs, sections, program headers, and the functions that readers find.
//!
//! `SFRAME_LINKS` sets how many links there are, and `SFRAME_SEED` the seed. Each difference is printed with the arguments,
//! and the inputs stay in the test's folder.

mod case;
mod compare;
mod entropy;
mod sources;

use sframe_corpus::{folder, tools};
use sframe_link::{Audit, Outcome};

use crate::TOOLS;
use crate::real::{self, Readers};
use case::Maker;
use entropy::Entropy;

const SEED: u64 = 36;
/// The number of links of a run that is not told otherwise: a second or two for each linker.
const LINKS: u64 = 60;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn random_links() {
    let folder = folder!("random");
    let Some(readers) = Readers::find() else { return };
    for tool in &TOOLS {
        let Some(_) = tools::toolchain(tool.toolchain) else { return };
    }
    let Some(_) = tools::toolchain("llvm-23") else { return };
    // Linkers print the names of inputs as they are given, so that both see relative ones. The other tests use absolute paths.
    std::env::set_current_dir(&folder).expect("a folder");
    let (links, seed) = (number("SFRAME_LINKS", LINKS), number("SFRAME_SEED", SEED));
    let mut maker = Maker::new(&folder);
    let (mut undecided, mut faults) = (Vec::new(), Vec::new());
    for link in 0..links {
        let mut entropy = Entropy::new(seed.wrapping_mul(1 << 32).wrapping_add(link));
        let case = maker.case(&mut entropy);
        let audit = Audit::of_inputs(case.tool.linker, &case.audited());
        if audit.prediction.outcome == Outcome::Unknown || !audit.undecided.is_empty() {
            undecided.push(format!("{case}: {}", audit.undecided.join("; ")));
            continue;
        }
        let real = real::link(&case.linker, &folder, &readers, &case.arguments);
        let differences = compare::differences(&case, &real, &audit);
        faults.extend(differences.into_iter().map(|fault| format!("link {link}: {case}: {fault}")));
    }
    println!("{links} links, {} undecided, {} differences", undecided.len(), faults.len());
    for reason in &undecided {
        println!("undecided: {reason}");
    }
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
    assert!((undecided.len() as u64) < links / 5, "{} undecided", undecided.len());
}
