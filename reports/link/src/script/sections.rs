//! What the command `SECTIONS` of a linker script does with `.sframe`: the first description of inputs that matches a section
//! decides in which output section it is.

use super::words;

/// The section's name, in objects and by default in outputs.
const SFRAME: &str = ".sframe";
/// Words that stand before patterns in parentheses and leave them as they are.
const AROUND: [&str; 7] = [
    "KEEP",
    "SORT",
    "SORT_BY_NAME",
    "SORT_BY_ALIGNMENT",
    "SORT_BY_INIT_PRIORITY",
    "SORT_NONE",
    "REVERSE",
];

/// Where a script puts `.sframe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// No description matches it, so that it gets an output section of its name.
    Orphan,
    /// Into an output section of its name.
    Named,
    /// Nowhere.
    Discarded,
    /// Into another output section.
    Moved {
        output: String,
        /// Nothing else is described there.
        alone: bool,
    },
    /// It depends on what is not known here, for this reason.
    Undecided(String),
}

/// What a script does with `.sframe`; `None` if it has no `SECTIONS`.
pub(crate) fn placement(text: &str) -> Option<Placement> {
    let words = words(text);
    let mut found = None;
    for (number, pair) in words.windows(2).enumerate() {
        if let [command, brace] = pair
            && command == "SECTIONS"
            && brace == "{"
            && !found.as_ref().is_some_and(decides)
        {
            let rest = words.get(number.saturating_add(2)..).unwrap_or_default();
            found = Some(of_sections(rest));
        }
    }
    let is_added = has_insert(&words);
    let open = ["INCLUDE", "OVERWRITE_SECTIONS"].into_iter().find(|command| {
        let is_command = |word: &String| word == command;
        words.iter().any(is_command)
    });
    match (found, open) {
        // What it does not match, the default script places.
        (Some(Placement::Orphan), None) if is_added => None,
        (found, None) => found,
        (_, Some(command)) => Some(Placement::Undecided(format!("it has {command}"))),
    }
}

/// Whether a script adds to the default one.
pub(crate) fn is_added(text: &str) -> bool {
    has_insert(&words(text))
}

fn has_insert(words: &[String]) -> bool {
    words.iter().any(|word| word == "INSERT")
}

const fn decides(placement: &Placement) -> bool {
    !matches!(placement, Placement::Orphan)
}

/// The words after `SECTIONS {`.
fn of_sections(words: &[String]) -> Placement {
    let mut rest = words.iter().map(String::as_str);
    // The words since the last statement.
    let mut statement: Vec<&str> = Vec::new();
    while let Some(word) = rest.next() {
        match word {
            "}" => return Placement::Orphan,
            ";" => statement.clear(),
            "{" => {
                let output = output(&statement);
                statement.clear();
                match of_output(&mut rest, output) {
                    Placement::Orphan => {}
                    placement => return placement,
                }
            }
            word => statement.push(word),
        }
    }
    Placement::Orphan
}

/// The name of an output section, from the words before its brace: those at the end of the one before (`>region`, `:phdr`,
/// `=fill`) come first.
fn output<'a>(statement: &[&'a str]) -> &'a str {
    let mut words = statement.iter().copied();
    while let Some(word) = words.next() {
        match word {
            ">" | ":" | "=" | "AT>" => {
                words.next();
            }
            "," => {}
            _ if word.starts_with(['>', ':', '=']) || word.starts_with("AT>") => {}
            _ => return word.trim_end_matches(':'),
        }
    }
    ""
}

/// The words in the braces of an output section.
fn of_output<'a>(words: &mut impl Iterator<Item = &'a str>, output: &str) -> Placement {
    let (mut placement, mut others) = (Placement::Orphan, false);
    // The words before each open parenthesis.
    let mut open: Vec<&str> = Vec::new();
    let (mut before, mut nested) = ("", 0_u32);
    let (mut last_file, mut excludes) = ("*", false);
    for word in words.by_ref() {
        match word {
            "{" => nested = nested.saturating_add(1),
            "}" if nested == 0 => break,
            "}" => nested = nested.saturating_sub(1),
            "(" => {
                if !AROUND.contains(&before) && before != "EXCLUDE_FILE" {
                    last_file = before;
                }
                open.push(before);
            }
            ")" => {
                excludes |= open.pop() == Some("EXCLUDE_FILE");
                excludes &= !open.is_empty();
            }
            _ if open.last() == Some(&"EXCLUDE_FILE") => {}
            // A pattern of sections, within the parentheses after a pattern of files.
            _ if open.iter().any(|before| !AROUND.contains(before)) => {
                let is_file_list = last_file.is_empty() || last_file.starts_with('=');
                match matches(word, SFRAME) {
                    _ if is_file_list => {}
                    true if placement == Placement::Orphan => {
                        placement = match last_file {
                            "*" if !excludes => placed(output),
                            files => Placement::Undecided(format!(
                                "it names .sframe of some files ({files}) alone"
                            )),
                        };
                    }
                    true => {}
                    false => others = true,
                }
            }
            _ => {}
        }
        before = word;
    }
    match placement {
        Placement::Moved { output, .. } => Placement::Moved { output, alone: !others },
        placement => placement,
    }
}

/// Where a description of the section of all files puts it.
fn placed(output: &str) -> Placement {
    match output {
        "/DISCARD/" => Placement::Discarded,
        SFRAME => Placement::Named,
        output => Placement::Moved { output: output.to_owned(), alone: true },
    }
}

/// Whether a pattern with `*`, `?` and `[...]` matches a name.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // The places in the name up to which the pattern so far matches.
    let mut places = vec![false; name.len().saturating_add(1)];
    places.iter_mut().take(1).for_each(|place| *place = true);
    let mut rest = pattern.as_slice();
    while let Some((&first, after)) = rest.split_first() {
        let (set, after) = match first {
            '[' => match after.iter().position(|character| *character == ']') {
                Some(end) => {
                    (after.get(..end), after.get(end.saturating_add(1)..).unwrap_or_default())
                }
                None => (None, after),
            },
            _ => (None, after),
        };
        let fits = |character: char| match (first, set) {
            ('?', _) => true,
            (_, Some(set)) => is_in(set, character),
            _ => first == character,
        };
        let mut next = vec![false; places.len()];
        let mut any = false;
        for (place, is_next) in next.iter_mut().enumerate() {
            let before = place.checked_sub(1);
            any |= places.get(place).copied().unwrap_or_default();
            *is_next = match first {
                '*' => any,
                _ => before.is_some_and(|before| {
                    let is_there = places.get(before).copied().unwrap_or_default();
                    is_there && name.get(before).copied().is_some_and(fits)
                }),
            };
        }
        (places, rest) = (next, after);
    }
    places.last().copied().unwrap_or_default()
}

/// Whether a character is in a set such as `a-z` or `!0-9`.
fn is_in(set: &[char], character: char) -> bool {
    let (set, negated) = match set {
        ['!' | '^', rest @ ..] => (rest, true),
        set => (set, false),
    };
    let in_range = set
        .windows(3)
        .any(|range| matches!(range, [first, '-', last] if (*first..=*last).contains(&character)));
    (in_range || set.contains(&character)) != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved_alone(output: &str) -> Option<Placement> {
        Some(Placement::Moved { output: output.to_owned(), alone: true })
    }

    fn moved_with_others(output: &str) -> Option<Placement> {
        Some(Placement::Moved { output: output.to_owned(), alone: false })
    }

    #[test]
    fn the_first_description_that_matches_decides() {
        let of = |inside: &str| placement(&format!("ENTRY(x) SECTIONS {{ {inside} }}"));
        assert_eq!(of(".text : { *(.text*) }"), Some(Placement::Orphan));
        assert_eq!(of(".sframe : { *(.sframe) }"), Some(Placement::Named));
        assert_eq!(
            of(".sframe 0x1000 : AT(5) { KEEP(*(.sframe .sframe.*)) } >r :p"),
            Some(Placement::Named)
        );
        assert_eq!(
            of(".a : { *(.a) } >ram AT> rom :text =0x90 .sframe : { *(.sframe) }"),
            Some(Placement::Named)
        );
        assert_eq!(of(".rodata : { *(.rodata* .eh_frame .sframe) }"), moved_with_others(".rodata"));
        assert_eq!(of(".trace : { *(.sframe) }"), moved_alone(".trace"));
        assert_eq!(of(".rest : { *(.[p-t]fram?) }"), moved_alone(".rest"));
        assert_eq!(of(".rest : { *(.s*) } .sframe : { *(.sframe) }"), moved_alone(".rest"));
        assert_eq!(of("/DISCARD/ : { *(.eh_frame) *(.sframe) }"), Some(Placement::Discarded));
        assert_eq!(
            of("/DISCARD/ : { *(.eh_frame) } .sframe : { *(.sframe) }"),
            Some(Placement::Named)
        );
        assert_eq!(
            of("x = .; .a : { . = ALIGN(8); *(.data) *(SORT(.sframe)) }"),
            moved_with_others(".a")
        );
        assert!(matches!(of(".a : { a.o(.sframe) }"), Some(Placement::Undecided(_))));
        assert!(matches!(
            of(".a : { *(EXCLUDE_FILE(a.o) .sframe) }"),
            Some(Placement::Undecided(_))
        ));
        assert!(matches!(of("INCLUDE more.ld"), Some(Placement::Undecided(_))));
        assert_eq!(placement("INPUT(a.o)"), None);
        assert_eq!(placement("SECTIONS { .a : { *(.a) } } INSERT AFTER .text;"), None);
        for broken in
            ["SECTIONS {", "SECTIONS { .a : {", "SECTIONS { .a : { *(", "SECTIONS { } } }"]
        {
            assert_eq!(placement(broken), Some(Placement::Orphan), "{broken}");
        }
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        for pattern in
            ["*", ".sframe", ".sframe*", "*e", ".s?rame", ".[a-z]frame", ".[!x]frame", "*fr*m*"]
        {
            assert!(matches(pattern, SFRAME), "{pattern}");
        }
        for pattern in ["", ".sframe.*", "sframe", ".s", ".[!s]frame", ".sframe?", ".[s", "COMMON"]
        {
            assert!(!matches(pattern, SFRAME), "{pattern}");
        }
    }
}
