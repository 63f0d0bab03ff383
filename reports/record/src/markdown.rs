//! Text from input in Markdown (CommonMark with GitHub's tables), where nothing of it is markup.
//!
//! All pages in Markdown use these functions. Control characters are escaped as everywhere: see [`printable`].

use crate::text::printable;

/// A code span that no text ends; empty for an empty text, because Markdown has no empty code span.
///
/// ```
/// use sframe_record::markdown::code;
///
/// assert_eq!(code("a.so"), "`a.so`");
/// assert_eq!(code("a` <b>"), "``a` <b>``");
/// ```
#[must_use]
pub fn code(text: &str) -> String {
    let text = printable(text);
    let fence = fence(&text, 1);
    // CommonMark strips one space if both ends have one.
    let space = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    if text.is_empty() { text } else { format!("{fence}{space}{text}{space}{fence}") }
}

/// Text as code in a cell of a table, which `|` would end, also in a code span.
#[must_use]
pub fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Text on one line, also in a cell of a table.
///
/// ```
/// use sframe_record::markdown::plain;
///
/// assert_eq!(plain("[a](b) | <i>"), "\\[a\\](b) \\| &lt;i&gt;");
/// ```
#[must_use]
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '*' | '_' | '|' | '[' | ']' | '`' | '\\' | '#' | '@' | '!' | '~' => {
                plain.push('\\');
                plain.push(character);
            }
            other => plain.push(other),
        }
    }
    // GitHub makes links of bare addresses.
    plain.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
}

/// A block of lines that none of them ends. Tabs become four spaces.
#[must_use]
pub fn block(text: &str, language: &str) -> String {
    let lines = text.lines().map(|line| printable(line.trim_end().replace('\t', "    ")));
    let lines = lines.collect::<Vec<String>>().join("\n");
    let fence = fence(&lines, 3);
    format!("{fence}{language}\n{lines}\n{fence}")
}

/// A fence longer than any run of backticks in the text, with at least `least` backticks.
fn fence(text: &str, least: usize) -> String {
    let runs = text.split(|character| character != '`');
    let longest = runs.map(str::len).max().unwrap_or(0);
    "`".repeat(if longest < least { least } else { longest + 1 })
}

#[cfg(test)]
mod tests {
    use super::{block, code, code_cell};

    #[test]
    fn names_stay_in_their_code_span() {
        assert_eq!(code("a.so"), "`a.so`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``` @all"), "```` ``` @all ````");
        assert_eq!(code("<b>|</b>"), "`<b>|</b>`");
        assert_eq!(code_cell("<b>|</b>"), "`<b>\\|</b>`");
        assert_eq!(code("a\n\nb"), "`a\\x0a\\x0ab`");
        assert_eq!(code(" "), "`   `");
        assert_eq!(code(""), "");
    }

    #[test]
    fn text_from_files_cannot_end_a_block() {
        let block = block("```\n# not a title\x1b", "text");
        assert_eq!(block, "````text\n```\n# not a title\\x1b\n````");
    }
}
