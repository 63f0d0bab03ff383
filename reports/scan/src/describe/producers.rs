//! The programs that made a file, according to the file: the strings that compilers, assemblers and linkers write to
//! `.comment` (System V ABI, "Special Sections"), and two notes.

use std::str;

use sframe_record::Producer;
use sframe_validator::elf::Elf;

/// The maximum number of producers that are reported: each object of a link may have its own.
const MOST: usize = 32;
/// The maximum number of bytes of a string that are reported.
const LONGEST: usize = 200;

/// The role of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProducerKind {
    /// It compiled a part of the file.
    Compiler,
    /// It assembled a part of the file.
    Assembler,
    /// It linked the file.
    Linker,
    /// Unknown.
    Other,
}

impl ProducerKind {
    /// Its name in reports.
    const fn name(self) -> &'static str {
        match self {
            ProducerKind::Compiler => Producer::COMPILER,
            ProducerKind::Assembler => Producer::ASSEMBLER,
            ProducerKind::Linker => Producer::LINKER,
            ProducerKind::Other => "other",
        }
    }
}

/// Programs, with the text before the version in their string.
const KNOWN: [(&str, &str, ProducerKind); 9] = [
    ("clang version ", "clang", ProducerKind::Compiler),
    ("flang version ", "flang", ProducerKind::Compiler),
    ("rustc version ", "rustc", ProducerKind::Compiler),
    ("ldc version ", "LDC", ProducerKind::Compiler),
    ("GHC ", "GHC", ProducerKind::Compiler),
    ("FPC ", "Free Pascal", ProducerKind::Compiler),
    ("The Netwide Assembler ", "NASM", ProducerKind::Assembler),
    ("LLD ", "LLD", ProducerKind::Linker),
    ("mold ", "mold", ProducerKind::Linker),
];

/// All producers that a file names, each once, in the order of the file.
#[must_use]
pub fn producers(elf: &Elf<'_>) -> Vec<Producer<'static>> {
    let mut found: Vec<Producer<'static>> = Vec::new();
    for section in elf.sections() {
        let strings: fn(&[u8]) -> Vec<Producer<'static>> = match section.name.bytes() {
            b".comment" => comments,
            b".note.gnu.gold-version" => gold,
            b".note.go.buildid" => |_| vec![go()],
            _ => continue,
        };
        for producer in strings(elf.section_data(section).unwrap_or_default()) {
            if found.len() < MOST && !found.contains(&producer) {
                found.push(producer);
            }
        }
    }
    found
}

/// The producer that a string in `.comment` names.
///
/// ```
/// use sframe_scan::describe::producer;
///
/// let gcc = producer("GCC: (Debian 12.2.0-14+deb12u1) 12.2.0");
/// assert_eq!((gcc.kind.as_str(), gcc.name.as_str()), ("compiler", "GCC"));
/// assert_eq!(gcc.version.as_deref(), Some("12.2.0"));
/// ```
#[must_use]
pub fn producer(text: &str) -> Producer<'static> {
    let (name, version, kind) = recognized(text).unwrap_or((text, None, ProducerKind::Other));
    made(kind, name, version, text)
}

fn made(kind: ProducerKind, name: &str, version: Option<&str>, text: &str) -> Producer<'static> {
    Producer {
        kind: kind.name().into(),
        name: name.to_owned().into(),
        version: version.map(|version| version.to_owned().into()),
        text: Some(text.to_owned().into()),
    }
}

fn recognized(text: &str) -> Option<(&str, Option<&str>, ProducerKind)> {
    if let Some(rest) = text.strip_prefix("GCC: (") {
        // The builder is in parentheses, which may be nested.
        let version = rest.split(") ").nth(1).and_then(first_word);
        return Some(("GCC", version, ProducerKind::Compiler));
    }
    KNOWN.iter().find_map(|(before, name, kind)| {
        let (front, rest) = text.split_once(before)?;
        // Distributions put their names before the version.
        let apart = front.is_empty() || front.ends_with(' ');
        apart.then(|| (*name, first_word(rest), *kind))
    })
}

fn first_word(text: &str) -> Option<&str> {
    text.split_whitespace().next()
}

fn comments(data: &[u8]) -> Vec<Producer<'static>> {
    let strings = data.split(|byte| *byte == 0).filter(|string| !string.is_empty());
    // A linker merges equal strings, so repeated ones do not need to be reported again.
    strings.take(MOST * 4).map(|string| producer(&start_of(string))).collect()
}

/// The text of `NT_GNU_GOLD_VERSION`, which follows three words of sizes and type and the name `GNU`.
fn gold(data: &[u8]) -> Vec<Producer<'static>> {
    let text = data.get(16..).and_then(|text| text.split(|byte| *byte == 0).next());
    let Some(text) = text.map(start_of) else { return Vec::new() };
    vec![made(ProducerKind::Linker, "gold", text.strip_prefix("gold "), &text)]
}

/// Go's linker writes a build ID, but no version.
fn go() -> Producer<'static> {
    made(ProducerKind::Compiler, "Go", None, ".note.go.buildid")
}

/// The start of a string, as text.
fn start_of(string: &[u8]) -> String {
    let start = string.get(..LONGEST).unwrap_or(string);
    String::from_utf8_lossy(start).trim_end_matches('\u{fffd}').to_owned()
}

#[cfg(test)]
mod tests {
    use super::producer;

    /// The strings are those that these programs write.
    #[test]
    fn producers_are_parsed_from_comment_strings() {
        let cases = [
            ("GCC: (GNU) 13.2.1 20230801 (Red Hat 13.2.1-7)", "GCC", Some("13.2.1")),
            ("GCC: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "GCC", Some("11.4.0")),
            ("Debian clang version 14.0.6", "clang", Some("14.0.6")),
            ("clang version 17.0.6 (Fedora 17.0.6-2.fc39)", "clang", Some("17.0.6")),
            ("rustc version 1.75.0 (82e1608df 2023-12-21)", "rustc", Some("1.75.0")),
            ("Linker: Ubuntu LLD 14.0.0", "LLD", Some("14.0.0")),
            ("mold 2.4.0 (compatible with GNU ld)", "mold", Some("2.4.0")),
            ("The Netwide Assembler 2.16.01", "NASM", Some("2.16.01")),
            ("hand-made", "hand-made", None),
        ];
        for (text, name, version) in cases {
            let producer = producer(text);
            assert_eq!((producer.name.as_str(), producer.version.as_deref()), (name, version));
            assert_eq!(producer.text.as_deref(), Some(text));
        }
        assert_eq!(producer("hand-made").kind.as_str(), "other");
        assert_eq!(producer("Linker: LLD 16.0.6").kind.as_str(), "linker");
    }

    #[test]
    fn the_version_of_gold_is_read_from_its_note() {
        let note = [b"\x04\0\0\0\x09\0\0\0\x04\0\0\0GNU\0".as_slice(), b"gold 1.16\0\0\0"].concat();
        let [gold] = super::gold(&note).try_into().expect("one");
        assert_eq!((gold.kind.as_str(), gold.version.as_deref()), ("linker", Some("1.16")));
        assert!(super::gold(b"short").is_empty());
    }
}
