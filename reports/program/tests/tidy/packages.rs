//! What the packages cost a newcomer, and which may depend on which.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use sframe_corpus::repository;

use super::none;

/// The maximum number of crates of the README's first command, ours included. Each costs every first build: one that is
/// added pays by another that goes, or becomes a feature that is off by default.
const MOST_CRATES: usize = 150;

/// The folders of the packages. Each depends only on those before it, in its tests as well. `corpus` is for tests alone.
const ORDER: [&str; 23] = [
    "validator",
    "fuzz/mutate",
    "oracle",
    "reports/record",
    "reports/harness",
    "reports/synthesis",
    "reports/input",
    "reports/store",
    "reports/history",
    "reports/defects",
    "reports/policy",
    "reports/repair",
    "reports/link",
    "reports/conformance",
    "reports/consumers",
    "reports/html",
    "reports/reduce",
    "reports/process",
    "reports/scan",
    "reports/render",
    "reports/site",
    "reports/program",
    "fuzz",
];

#[test]
fn packages_depend_on_earlier_ones() {
    let name = |folder: &'static str| folder.rsplit('/').next().unwrap_or(folder);
    let mut faults = Vec::new();
    for (place, folder) in ORDER.into_iter().enumerate() {
        let manifest = fs::read_to_string(repository().join(folder).join("Cargo.toml"));
        let manifest = manifest.expect("a package");
        let dependencies = manifest.split("\n[").filter(|part| part.contains("dependencies]\n"));
        for (section, line) in
            dependencies.flat_map(|part| part.lines().skip(1).map(move |line| (part, line)))
        {
            let Some(package) = line.strip_prefix("sframe-") else { continue };
            let package = package.split([' ', '.', '=']).next().unwrap_or_default();
            let for_tests = section.starts_with("dev-dependencies]");
            let is_own = for_tests && (package == "corpus" || package == name(folder));
            let earlier = ORDER.into_iter().take(place).any(|earlier| name(earlier) == package);
            if !earlier && !is_own {
                faults.push(format!("{folder}/Cargo.toml: sframe-{package}"));
            }
        }
    }
    none(&faults, "these dependencies lead up: move what is needed to an earlier package");
}

/// `cargo run`, as in the README's first command, refuses to choose among several programs.
#[test]
fn cargo_run_finds_one_program() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).expect("a workspace");
    let members = manifest.lines().find(|line| line.starts_with("default-members"));
    assert_eq!(members, Some(r#"default-members = ["reports/program"]"#));
    let programs = fs::read_dir(repository().join("reports/program/src/bin"));
    assert!(programs.is_err(), "src/main.rs is the only one");
}

#[test]
fn the_first_build_has_few_crates() {
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(repository())
        .args(["tree", "--offline", "--locked", "--package", "sframe-check"])
        .args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    let output = tree.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let name_and_version = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let crates: BTreeSet<String> =
        printed.lines().filter(|line| !line.is_empty()).map(name_and_version).collect();
    assert!(crates.contains(concat!("sframe-check v", env!("CARGO_PKG_VERSION"))), "{printed}");
    assert!(crates.len() <= MOST_CRATES, "{} crates, allowed: {MOST_CRATES}", crates.len());
}
