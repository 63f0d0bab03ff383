//! Linker scripts that stand for inputs, such as `libc.so`: `INPUT`, `GROUP` and `AS_NEEDED`.

mod sections;

pub(crate) use sections::{Placement, is_added, placement};

/// The largest number of commands that are read from one script.
const MOST: usize = 10_000;
/// The longest script that is read, in bytes.
pub(crate) const LONGEST: usize = 1 << 20;

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A file, or `-lname`.
    Input { name: String, as_needed: bool },
    /// `SEARCH_DIR`.
    Folder(String),
    /// The start of `GROUP`.
    StartGroup,
    /// The end of `GROUP`.
    EndGroup,
}

/// Whether `data` looks like a script: text that is short enough.
pub(crate) fn is_script(data: &[u8]) -> bool {
    data.len() <= LONGEST
        && !data.is_empty()
        && str::from_utf8(data).is_ok_and(|text| !text.contains('\0'))
}

/// Words with which a script can begin.
const COMMANDS: [&str; 31] = [
    "ASSERT",
    "AS_NEEDED",
    "ENTRY",
    "EXTERN",
    "FORCE_COMMON_ALLOCATION",
    "FORCE_GROUP_ALLOCATION",
    "GROUP",
    "HIDDEN",
    "INCLUDE",
    "INHIBIT_COMMON_ALLOCATION",
    "INPUT",
    "INSERT",
    "LD_FEATURE",
    "MAP",
    "MEMORY",
    "NOCROSSREFS",
    "NOCROSSREFS_TO",
    "OUTPUT",
    "OUTPUT_ARCH",
    "OUTPUT_FORMAT",
    "OVERWRITE_SECTIONS",
    "PHDRS",
    "PROVIDE",
    "PROVIDE_HIDDEN",
    "REGION_ALIAS",
    "SEARCH_DIR",
    "SECTIONS",
    "STARTUP",
    "SYSLIB",
    "TARGET",
    "VERSION",
];

/// Whether a text begins as a script does: with a command, or with a definition of a symbol. One without words is a script
/// too.
pub(crate) fn begins(text: &str) -> bool {
    let lines = text.lines().skip_while(|line| line.trim_start().starts_with('#'));
    let text = lines.collect::<Vec<_>>().join("\n");
    let words = words(&text);
    let mut words = words.iter().skip_while(|word| *word == ";").map(String::as_str);
    let Some(first) = words.next() else { return true };
    let is_defined = first.contains('=') || words.next().is_some_and(|word| word.contains('='));
    is_defined || COMMANDS.contains(&first)
}

/// The inputs that a script names, in order.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let mut words = words(text).into_iter().peekable();
    let mut parts = Vec::new();
    while let Some(word) = words.next() {
        if words.peek().map(String::as_str) != Some("(") {
            continue;
        }
        words.next();
        match word.as_str() {
            "INPUT" => inputs(&mut words, &mut parts),
            "GROUP" => {
                parts.push(Part::StartGroup);
                inputs(&mut words, &mut parts);
                parts.push(Part::EndGroup);
            }
            "SEARCH_DIR" => parts.extend(words.next().map(Part::Folder)),
            _ => {}
        }
    }
    parts
}

/// The command with which mold ends, because it knows no other than these four.
pub(crate) fn unknown_to_mold(text: &str) -> Option<String> {
    let words = words(text);
    let mut depth = 0_u32;
    for word in &words {
        match word.as_str() {
            "(" | "{" => depth = depth.saturating_add(1),
            ")" | "}" => depth = depth.saturating_sub(1),
            ";" | "INPUT" | "GROUP" | "OUTPUT_FORMAT" | "VERSION" => {}
            word if depth == 0 => return Some(word.to_owned()),
            _ => {}
        }
    }
    None
}

/// Reads names up to the closing parenthesis.
fn inputs(words: &mut impl Iterator<Item = String>, parts: &mut Vec<Part>) {
    let (mut as_needed, mut depth) = (false, 1_u32);
    for word in words {
        match word.as_str() {
            "AS_NEEDED" => as_needed = true,
            "(" => depth = depth.saturating_add(1),
            ")" => {
                depth = depth.saturating_sub(1);
                as_needed = false;
                if depth == 0 {
                    return;
                }
            }
            "," => {}
            _ => parts.push(Part::Input { name: word, as_needed }),
        }
    }
}

/// The words of a script. Comments are left out, and quoted names are one word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while words.len() < MOST {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { break };
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (word, after) = quoted.split_once('"').unwrap_or((quoted, ""));
            words.push(word.to_owned());
            rest = after;
        } else if "(){},;".contains(first) {
            words.push(first.to_string());
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        } else {
            let end = |character: char| character.is_whitespace() || "(){},;\"".contains(character);
            let length = rest.find(end).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            words.push(word.to_owned());
            rest = after;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(name: &str) -> Part {
        Part::Input { name: name.to_owned(), as_needed: false }
    }

    fn as_needed(name: &str) -> Part {
        Part::Input { name: name.to_owned(), as_needed: true }
    }

    /// `libc.so` and `libgcc_s.so` of Debian 12.
    #[test]
    fn scripts_of_the_c_library_are_read() {
        let libc = "/* GNU ld script\n   text */\nOUTPUT_FORMAT(elf64-x86-64)\nGROUP ( /lib/libc.so.6 \
                    /usr/lib/libc_nonshared.a  AS_NEEDED ( /lib64/ld-linux-x86-64.so.2 ) )\n";
        let expected = [
            Part::StartGroup,
            input("/lib/libc.so.6"),
            input("/usr/lib/libc_nonshared.a"),
            as_needed("/lib64/ld-linux-x86-64.so.2"),
            Part::EndGroup,
        ];
        assert_eq!(parts(libc), expected);
        let libgcc = "GROUP ( libgcc_s.so.1 -lgcc )";
        assert_eq!(parts(libgcc).get(1..3), Some(&[input("libgcc_s.so.1"), input("-lgcc")][..]));
        assert_eq!(parts("INPUT(a.o,\"b c.o\")"), [input("a.o"), input("b c.o")]);
    }

    /// GNU ld, gold, lld and mold refuse those in the second list (observed), and take the first ones for scripts.
    #[test]
    fn texts_that_are_no_scripts_are_seen() {
        for script in
            ["", "/* c */\n", "# c\nINPUT ( a.o )", "sym = 5;", "sym=5;", "OUTPUT_FORMAT(x)"]
        {
            assert!(begins(script), "{script}");
        }
        for text in
            ["hello, this is a text", "hello (world)", "#!/bin/sh\necho hi\n", "<html>", "\u{7f}EL"]
        {
            assert!(!begins(text), "{text}");
        }
    }

    #[test]
    fn broken_scripts_end() {
        for text in ["GROUP (", "GROUP", "/*", "\"", "GROUP ( AS_NEEDED ( a", "((((", "INPUT()"] {
            assert!(parts(text).len() <= 3, "{text}");
        }
    }

    /// Observed: mold 3.0.0.
    #[test]
    fn mold_knows_four_commands() {
        let unknown = |text: &str| unknown_to_mold(text);
        assert_eq!(
            unknown("OUTPUT_FORMAT(x) INPUT(a.o) GROUP(-lc) VERSION { V1 { local: *; }; };"),
            None
        );
        assert_eq!(unknown("INPUT(a.o) SECTIONS { }").as_deref(), Some("SECTIONS"));
        assert_eq!(unknown("ENTRY(x)").as_deref(), Some("ENTRY"));
    }
}
