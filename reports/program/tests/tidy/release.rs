//! What a release depends on: the packages can be published, and one place names the repository's address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::repository;

use super::none;

/// What `cargo metadata` says of the workspace's packages.
fn packages() -> Vec<Value> {
    let mut metadata = Command::new(env!("CARGO"));
    metadata.current_dir(repository()).args([
        "metadata",
        "--offline",
        "--locked",
        "--no-deps",
        "--format-version=1",
    ]);
    let output = metadata.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    match metadata["packages"].take() {
        Value::Array(packages) => packages,
        other => panic!("no packages: {other}"),
    }
}

/// Whether crates.io receives a package: `publish = false` is an empty list of registries.
fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

/// What crates.io would refuse, or publish without: fields of the manifest, and dependencies without a version.
fn faults(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().expect("a name");
    let fields = ["description", "license", "repository", "readme", "rust_version"];
    let missing = fields.iter().filter(|field| package[**field].as_str().is_none_or(str::is_empty));
    let mut faults: Vec<String> = missing.map(|field| format!("{name}: no {field}")).collect();
    let folder = Path::new(package["manifest_path"].as_str().expect("a path"));
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !folder.with_file_name(licence).exists() {
            faults.push(format!("{name}: no {licence}"));
        }
    }
    let version = format!("^{}", package["version"].as_str().expect("a version"));
    for dependency in package["dependencies"].as_array().expect("dependencies") {
        // cargo leaves out dependencies of tests that have a path alone.
        let of_tests = dependency["kind"] == "dev" && dependency["req"] == "*";
        if !dependency["path"].is_null() && !of_tests && dependency["req"] != *version {
            let (other, req) = (&dependency["name"], &dependency["req"]);
            faults.push(format!("{name}: {other} has the version {req}, and not {version}"));
        }
    }
    faults
}

#[test]
fn published_packages_are_complete() {
    let packages = packages();
    let published: Vec<&Value> = packages.iter().filter(|package| is_published(package)).collect();
    assert!(published.len() >= 20, "{} packages", published.len());
    let faults: Vec<String> = published.iter().flat_map(|package| faults(package)).collect();
    none(&faults, "cargo publish needs this");
    let names: Vec<&Value> = published.iter().map(|package| &package["name"]).collect();
    for package in &published {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        for dependency in
            dependencies.iter().filter(|it| !it["path"].is_null() && it["kind"] != "dev")
        {
            let other = &dependency["name"];
            assert!(names.contains(&other), "{}: {other} is not published", package["name"]);
        }
    }
}

#[test]
fn incomplete_packages_are_found() {
    let packages = packages();
    let package = packages.iter().find(|package| package["name"] == "sframe-oracle");
    let mut package = package.expect("the oracle").clone();
    assert_eq!(faults(&package), [""; 0]);
    package["description"] = Value::Null;
    let dependencies = package["dependencies"].as_array_mut().expect("dependencies");
    let own = dependencies.iter_mut().find(|it| it["name"] == "sframe-validator");
    own.expect("the validator")["req"] = "*".into();
    assert_eq!(faults(&package).len(), 2, "{:?}", faults(&package));
}

/// The files that people read or run, without the corpus: also those in hidden folders, and without an extension.
fn texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let skipped = ["target", ".git", "corpus", "__pycache__"].contains(&&*name);
        if skipped || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            texts(&path, found);
        } else if let Ok(text) = fs::read_to_string(&path) {
            found.push((path, text));
        }
    }
}

/// The value of a field of the workspace's packages.
fn field<'m>(manifest: &'m str, name: &str) -> &'m str {
    let (_, fields) = manifest.split_once("\n[workspace.package]\n").expect("fields");
    let line = fields.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")));
    line.and_then(|value| value.strip_suffix('"')).expect("a value")
}

/// `Cargo.toml` names the repository. GitLab reads `reports/release/gitlab.yml` alone, so it has to name it too.
#[test]
fn one_place_names_the_repository() {
    const OTHER: &str = "reports/release/gitlab.yml";
    let read = |name: &str| fs::read_to_string(repository().join(name)).expect("text");
    let manifest = read("Cargo.toml");
    let address = field(&manifest, "repository");
    let (_, short) = address.split_once("://").expect("an address");
    let (_, owner_and_name) = short.split_once('/').expect("an owner");
    let mut found = Vec::new();
    texts(&repository(), &mut found);
    assert!(found.len() > 1000, "{} files", found.len());
    let names = |text: &str| text.contains(short) || text.contains(&format!("{owner_and_name}@"));
    let mut places: Vec<String> = found
        .iter()
        .filter(|(_, text)| names(text))
        .map(|(path, _)| path.strip_prefix(repository()).expect("below").display().to_string())
        .collect();
    places.sort();
    assert_eq!(places, ["Cargo.toml", OTHER], "read the address with reports/release/repository");
    let job = read(OTHER);
    let version = field(&manifest, "version");
    for line in [
        format!("    SFRAME_CHECK_URL: {address}/releases/download"),
        format!("    SFRAME_CHECK_VERSION: '{version}'"),
    ] {
        assert!(job.lines().any(|found| found == line), "{OTHER} lacks the line {line}");
    }
}

/// The pages say that no release exists until the changelog has one, and no longer.
#[test]
fn pages_say_whether_there_is_a_release() {
    const NONE: &str = "No release is published yet";
    let read = |name: &str| fs::read_to_string(repository().join(name)).expect("text");
    let is_released = read("CHANGELOG.md").lines().any(|line| {
        line.strip_prefix("## [").is_some_and(|version| !version.starts_with("Unreleased]"))
    });
    for page in ["README.md", "docs/install.md", "docs/stability.md"] {
        let says = read(page).to_lowercase().contains(&NONE.to_lowercase());
        assert_ne!(
            says, is_released,
            "{page}: \"{NONE}\" is for the time before the first release"
        );
    }
}

/// Links between pages, and to files, lead somewhere.
#[test]
fn links_lead_to_files() {
    let mut pages = Vec::new();
    super::files(&repository(), "md", &mut pages);
    let (mut faults, mut count) = (Vec::new(), 0);
    // What tests read is not for people: parts of pages, and links that hostile names try to make.
    for page in
        pages.into_iter().filter(|page| !page.components().any(|it| it.as_os_str() == "tests"))
    {
        let text = fs::read_to_string(&page).expect("text");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()) {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            count += 1;
            if !page.with_file_name("").join(file).exists() {
                faults.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(count > 100, "{count} links");
    none(&faults, "these links lead nowhere");
}
