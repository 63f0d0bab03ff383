//! Describes the build for `--version`: the features, and the commit of a release build.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let features = [("HTTP", "http"), ("S3", "s3"), ("TABLES", "tables")];
    let is_on = |name: &str| std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    let on: Vec<&str> =
        features.iter().filter(|(name, _)| is_on(name)).map(|(_, it)| *it).collect();
    let features = if on.is_empty() { "no features".to_owned() } else { on.join(", ") };
    // Other builds need not start anew after each commit.
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = is_release.then(commit).flatten();
    let commit = commit.map_or_else(String::new, |commit| format!("commit {commit}, "));
    println!("cargo::rustc-env=SFRAME_CHECK_BUILD={commit}{features}");
}

/// The commit of a checkout; `None` in a package without its history.
fn commit() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    // Another repository may contain an unpacked package.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_owned())
}
