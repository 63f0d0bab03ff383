//! Breaks lines for a terminal.

/// Breaks `text` between words, so that a line with `indent` leading spaces has at most `width` characters. Does not
/// break anything if `width` is `None`. The first line is not indented. Words are never broken.
#[must_use]
pub fn wrap(text: &str, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let room = width.saturating_sub(indent).max(20);
    let mut wrapped = String::with_capacity(text.len());
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            used = 0;
        } else if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_break_only_between_words() {
        let text = "one two three four five six";
        assert_eq!(wrap(text, 2, None), text);
        assert_eq!(wrap(text, 2, Some(22)), "one two three four\n  five six");
        let long = "a-word-that-is-longer-than-the-line b";
        assert_eq!(wrap(long, 0, Some(20)), "a-word-that-is-longer-than-the-line\nb");
    }
}
