//! The language and the producer of a unit in DWARF.

use addr2line::gimli;
use sframe_record::{Compiler, Origin, OriginKind, ShownBy};

use super::super::producers::producer;
use super::{made, of_suffix};

/// The most bytes of a producer's text that are read.
const LONGEST: usize = 400;
/// Text before the name of the compiler: `clang LLVM (rustc version 1.75.0)`.
const RUSTC: &str = "clang LLVM (";
const GO: &str = "Go cmd/compile go";

/// The origin of code in a unit, in a source file of this name. The file decides where it is assembly, because units of Go
/// contain assembly as well.
pub(in super::super) fn of_unit<R: gimli::Reader>(
    unit: &gimli::UnitRef<'_, R>,
    file: Option<&str>,
) -> Option<Origin<'static>> {
    let of_file = file.and_then(|file| of_suffix(file.as_bytes()));
    if of_file == Some(OriginKind::Assembly) {
        return Some(made(OriginKind::Assembly, ShownBy::SourceFile, Vec::new()));
    }
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    let language = match root.attr_value(gimli::DW_AT_language) {
        Some(gimli::AttributeValue::Language(language)) => Some(language),
        _ => None,
    };
    let text = root.attr_value(gimli::DW_AT_producer).and_then(|value| {
        let text = unit.attr_string(value).ok()?;
        let text = text.to_slice().ok()?;
        let text = text.get(..LONGEST).unwrap_or(&text);
        Some(String::from_utf8_lossy(text).into_owned())
    });
    let text = text.unwrap_or_default();
    let is_assembly =
        language == Some(gimli::DW_LANG_Mips_Assembler) || text.starts_with("GNU AS ");
    if is_assembly {
        return Some(made(OriginKind::Assembly, ShownBy::Unit, Vec::new()));
    }
    if language.is_some() {
        let compilers = compiler(&text).into_iter().collect();
        return Some(made(OriginKind::Compiled, ShownBy::Unit, compilers));
    }
    let compilers = compiler(&text).into_iter().collect();
    of_file.map(|kind| made(kind, ShownBy::SourceFile, compilers))
}

/// The compiler that a unit names: `GNU C17 12.2.0 -mtune=generic`, `Debian clang version 14.0.6`.
fn compiler(text: &str) -> Option<Compiler<'static>> {
    let made = |name: &str, version: Option<&str>| Compiler {
        name: name.to_owned().into(),
        version: version.map(|version| version.to_owned().into()),
    };
    if let Some(rest) = text.strip_prefix("GNU ") {
        // The language may have several words, and a number of its own (`C++14`, `Fortran2008`).
        let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
        return Some(made("GCC", rest.split_whitespace().find(is_version)));
    }
    if let Some(rest) = text.strip_prefix(GO) {
        let end = rest.find([';', ' ']).unwrap_or(rest.len());
        return Some(made("Go", rest.get(..end)));
    }
    let text = text.strip_prefix(RUSTC).unwrap_or(text);
    let found = producer(text);
    found.is_compiler().then_some(Compiler { name: found.name, version: found.version })
}

#[cfg(test)]
mod tests {
    use super::compiler;

    /// The texts are those that these compilers write.
    #[test]
    fn compilers_are_named_by_their_units() {
        let cases = [
            ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2", "GCC 12.2.0"),
            ("GNU C 4.4.5", "GCC 4.4.5"),
            ("GNU C++14 9.4.0 -O3", "GCC 9.4.0"),
            ("GNU Fortran2008 12.2.0 -g", "GCC 12.2.0"),
            ("GNU GIMPLE 12.2.0 -g -flto", "GCC 12.2.0"),
            ("Debian clang version 14.0.6", "clang 14.0.6"),
            ("clang version 17.0.6 (Fedora 17.0.6-2.fc39)", "clang 17.0.6"),
            ("clang LLVM (rustc version 1.75.0 (82e1608df 2023-12-21))", "rustc 1.75.0"),
            ("Go cmd/compile go1.21.4; regabi", "Go 1.21.4"),
        ];
        for (text, name) in cases {
            assert_eq!(compiler(text).expect("a compiler").to_string(), name);
        }
        assert_eq!(compiler("hand-made"), None);
    }
}
