//! The names of programs.

/// Programs whose defects are known, by the names that people and the programs themselves use. Of names that begin alike,
/// the longer one is first.
const NAMES: [(&str, &[&str]); 26] = [
    ("gnu assembler", &["GNU as"]),
    ("gnu as", &["GNU as"]),
    ("as", &["GNU as"]),
    ("gas", &["GNU as"]),
    ("gnu ld", &["GNU ld"]),
    ("ld.bfd", &["GNU ld"]),
    ("ld.gold", &["gold"]),
    ("ld.lld", &["lld"]),
    ("ld", &["GNU ld"]),
    ("gnu gold", &["gold"]),
    ("gold", &["gold"]),
    ("lld", &["lld"]),
    ("llvm version", &["LLVM"]),
    ("llvm-readobj", &["llvm-readobj"]),
    ("llvm-mc", &["LLVM"]),
    ("llvm", &["LLVM"]),
    ("clang version", &["LLVM"]),
    ("clang", &["LLVM"]),
    ("mold", &["mold"]),
    ("gcc", &["GCC"]),
    ("glibc", &["glibc"]),
    ("gnu readelf", &["readelf"]),
    ("readelf", &["readelf"]),
    ("gnu strip", &["strip"]),
    ("strip", &["strip"]),
    // The names of the programs of a release.
    ("binutils", &["GNU as", "GNU ld", "gold", "readelf", "strip"]),
];

/// Names before which distributions write their own.
const WITH_VENDOR: [&str; 5] = ["LLD ", "LLVM version ", "clang version ", "mold ", "Binutils "];

/// Splits a text into the programs that it names and the text after their name.
pub(super) fn split(text: &str) -> Option<(&'static [&'static str], &str)> {
    let text = text.strip_prefix("Linker: ").unwrap_or(text);
    let text = without_vendor(text);
    NAMES.iter().find_map(|(name, tools)| {
        let (start, rest) = text.split_at_checked(name.len())?;
        let is_apart = rest.is_empty() || rest.starts_with(' ');
        (start.eq_ignore_ascii_case(name) && is_apart).then_some((*tools, rest))
    })
}

/// The text from the program's name on: `LLD 23.1.4` of `Debian LLD 23.1.4`.
fn without_vendor(text: &str) -> &str {
    let place = WITH_VENDOR.iter().find_map(|name| {
        let place = text.find(name)?;
        let vendor = text.get(..place)?;
        let is_name = |c: char| c.is_alphabetic() || c == ' ' || c == '-';
        (vendor.ends_with(' ') && vendor.chars().all(is_name)).then_some(place)
    });
    place.and_then(|place| text.get(place..)).unwrap_or(text)
}
