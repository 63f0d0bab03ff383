//! Recognises messages in text as people quote it: whole outputs of linkers, single lines, wrapped lines, and parts of lines.

/// The longest text between two parts of a message that `~` matches, in bytes.
const NEAREST: usize = 400;

/// A text in which messages are looked for, in lower case.
pub(super) struct Quoted {
    /// One message each: a line with the lines that continue it.
    messages: Vec<String>,
    /// All lines as one, because people wrap lines.
    all: String,
}

impl Quoted {
    pub(super) fn new(text: &str) -> Quoted {
        let mut messages: Vec<String> = Vec::new();
        for line in text.lines() {
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
            match messages.last_mut() {
                Some(message) if continues(line) => {
                    message.push(' ');
                    message.push_str(&words);
                }
                _ => messages.push(words),
            }
        }
        Quoted { all: messages.join(" "), messages }
    }

    /// Whether a message has this pattern. `*` matches any text within a message, and `~` a short text that names no other
    /// section. A pattern without them may extend over lines.
    pub(super) fn has(&self, pattern: &str) -> bool {
        let pattern = pattern.to_ascii_lowercase();
        if let Some((first, second)) = pattern.split_once('~') {
            return self.messages.iter().any(|message| are_near(message, first, second));
        }
        if !pattern.contains('*') {
            return place(&self.all, &pattern).is_some();
        }
        self.messages.iter().any(|message| are_in_order(message, &pattern))
    }
}

/// Whether a text has the parts of a pattern, one after the other.
fn are_in_order(text: &str, pattern: &str) -> bool {
    let mut rest = text;
    pattern.split('*').all(|part| {
        let after = place(rest, part).and_then(|(_, end)| rest.get(end..));
        rest = after.unwrap_or_default();
        after.is_some()
    })
}

/// Whether a line belongs to the message in the line before it.
fn continues(line: &str) -> bool {
    line.starts_with([' ', '\t']) || line.starts_with(">>>") || line.starts_with("note:")
}

/// The first place of a part, as its start and its end. A part that begins or ends with a word does so in the text.
fn place(text: &str, part: &str) -> Option<(usize, usize)> {
    let starts =
        text.match_indices(part).map(|(start, found)| (start, start.saturating_add(found.len())));
    let mut places = starts.filter(|&(start, end)| {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let mut after = text.get(end..).unwrap_or_default().chars();
        let is_inside = |character: char| character.is_alphanumeric() || character == '_';
        let begins = part.starts_with(|first: char| first == '.' || is_inside(first));
        let ends = part.ends_with(is_inside);
        let next = after.next();
        // `.sframe.o` is the end of a file's name, and `.sframe.` that of a sentence.
        let goes_on = next == Some('.') && after.next().is_some_and(is_inside);
        !(begins && before.is_some_and(is_inside))
            && !(ends && (goes_on || next.is_some_and(is_inside)))
    });
    places.next()
}

/// Whether one part follows the other, and the text between them is short and names no section.
fn are_near(text: &str, first: &str, second: &str) -> bool {
    let mut start = 0;
    while let Some((_, end)) = text.get(start..).and_then(|rest| place(rest, first)) {
        start = start.saturating_add(end);
        let rest = text.get(start..).unwrap_or_default();
        let near = NEAREST.saturating_add(second.len()).min(rest.len());
        let near = (0..=near).rev().find(|&end| rest.is_char_boundary(end)).unwrap_or_default();
        let rest = rest.get(..near).unwrap_or_default();
        let between = place(rest, second).and_then(|(found, _)| rest.get(..found));
        if between.is_some_and(|between| !names_section(between)) {
            return true;
        }
    }
    false
}

/// Whether a text has the name of a section: a word that begins with a dot. Files have a dot inside or after a slash.
fn names_section(text: &str) -> bool {
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let begins = !before.is_alphanumeric() && !"/._-".contains(before);
        let is_word = characters.peek().is_some_and(|next| next.is_alphabetic() || *next == '_');
        if character == '.' && begins && is_word {
            return true;
        }
        before = character;
    }
    false
}
