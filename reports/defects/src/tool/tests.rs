//! The lines are those that the programs print with `--version`, or leave in `.comment`.

use super::*;
use crate::defect::Affected;

fn read(text: &str) -> Producer {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn versions_are_compared_by_number() {
    let affected = Affected { tool: "GNU ld", first: "2.40", last: "2.47.50" };
    for (version, is_affected) in [
        ("2.39", false),
        ("2.40", true),
        ("2.44", true),
        ("2.44.1", true),
        ("2.47", true),
        ("2.47.50", true),
        ("2.47.50.20261021", true),
        ("2.47.51", false),
        ("2.48", false),
        ("2.5", false),
        ("3", false),
    ] {
        let version = Version::read(version).expect("a version");
        assert_eq!(is_between(&version, &affected), is_affected, "{version:?}");
    }
}

#[test]
fn versions_of_known_defects_can_be_read() {
    for affected in crate::all().flat_map(|defect| defect.affected) {
        let is_version = |text: &str| text.is_empty() || Version::read(text).is_some();
        assert!(is_version(affected.first) && is_version(affected.last), "{affected}");
        assert_eq!(affected.first.is_empty(), affected.last.is_empty(), "{affected}");
    }
}

#[test]
fn what_programs_print_is_read() {
    for (line, short) in [
        ("GNU ld (GNU Binutils for Debian) 2.40", "GNU ld 2.40"),
        ("GNU ld (GNU Binutils for Debian) 2.44", "ld 2.44"),
        ("GNU ld (GNU Binutils; openSUSE Tumbleweed) 2.43.1", "ld.bfd 2.43.1"),
        ("GNU ld version 2.41-37.fc39", "GNU ld 2.41"),
        ("GNU assembler (GNU Binutils for Debian) 2.40", "GNU as 2.40"),
        ("GNU assembler version 2.41-37.fc39", "as 2.41"),
        ("GNU gold (GNU Binutils for Debian 2.40) 1.16", "gold 2.40"),
        ("GNU gold (version 2.41-37.fc39) 1.16", "ld.gold 2.41"),
        ("gold 1.16", "gold"),
        ("GNU readelf (GNU Binutils for Debian) 2.44", "readelf 2.44"),
        ("GNU strip (GNU Binutils for Debian) 2.44", "strip 2.44"),
        ("Debian LLD 23.1.4 (compatible with GNU linkers)", "LLD 23.1.4"),
        ("Linker: Debian LLD 23.1.4", "lld 23.1.4"),
        ("Linker: LLD 16.0.6", "ld.lld 16.0.6"),
        ("LLD 21.0.0 (https://github.com/llvm/llvm-project 1a2b3c)", "lld 21.0.0"),
        ("Debian LLVM version 23.1.4", "LLVM 23.1.4"),
        ("LLVM version 22.0.0git", "llvm-mc 22.0.0"),
        ("Debian clang version 14.0.6", "clang 14.0.6"),
        ("clang version 17.0.6 (Fedora 17.0.6-2.fc39)", "LLVM 17.0.6"),
        ("mold 3.0.0 (compatible with GNU ld)", "mold 3.0.0"),
        ("mold 2.4.0 (a1b2c3; compatible with GNU ld)", "mold 2.4.0"),
    ] {
        assert_eq!(read(line), read(short), "{line}");
    }
}

/// The defects of `ld` 2.40 alone, of 2.47.50 alone, and of all of them.
#[test]
fn programs_have_the_defects_of_their_version() {
    let has = |text: &str, id: &str| read(text).has(crate::find(id).expect("a defect"));
    for old in ["GNU ld (GNU Binutils for Debian) 2.40", "ld 2.40", "binutils 2.40"] {
        assert!(has(old, "ld-plt-sec") && !has(old, "ld-plt-got"), "{old}");
        assert!(!has(old, "ld-header-lost") && has(old, "ld-segment-size"), "{old}");
    }
    for new in ["GNU ld (GNU Binutils for Debian) 2.47.50.20261021", "GNU Binutils 2.47.50"] {
        assert!(!has(new, "ld-plt-sec") && has(new, "ld-plt-got"), "{new}");
        assert!(has(new, "ld-header-lost") && has(new, "ld-segment-size"), "{new}");
    }
    let has_any = |text: &str| crate::all().any(|defect| read(text).has(defect));
    assert!(has("ld", "ld-plt-sec") && has("gnu LD", "ld-header-lost"));
    assert!(has("binutils 2.44", "remembers-one-state") && has("binutils 2.44", "ld-plt-got"));
    assert!(!has("as 2.44", "ld-plt-got") && !has("ld 2.44", "remembers-one-state"));
    assert!(has("glibc 2.36", "start-without-sframe"));
    assert!(has_any("Linker: Debian LLD 23.1.4") && !has_any("Linker: LLD 16.0.6"));
}

#[test]
fn other_texts_are_refused() {
    for text in ["", "GNU", "GNU ldd", "ldd 2.36", "Borland C", "2.44", "GCC: (GNU) 13.2.1"] {
        assert!(matches!(text.parse::<Producer>(), Err(NoProducer::UnknownTool(_))), "{text}");
    }
    for text in [
        "GNU ld abc",
        "GNU ld 2.x",
        "GNU ld 2..4",
        "GNU ld .",
        "GNU ld 2.44 2.40",
        "GNU ld (GNU Binutils for Debian 2.44",
        "GNU ld version one",
        "gold abc",
        "LLD v23",
        "ld 99999999999999999999",
    ] {
        assert!(matches!(text.parse::<Producer>(), Err(NoProducer::NoVersion(_))), "{text}");
    }
}
