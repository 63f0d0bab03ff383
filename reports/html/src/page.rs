//! The page around the data: styles, scripts, and the policy that allows nothing else.

use std::fmt;
use std::io::{self, Write};

use askama::Template;
use serde::Serialize;
use sframe_record::json::TOOL;
use sha2::{Digest, Sha256};

use crate::embed;
use crate::strings::shown;

/// The libraries, in the order in which they are needed.
const LIBRARIES: [&str; 3] = [
    include_str!("../vendor/table.min.js"),
    include_str!("../vendor/virtual.min.js"),
    include_str!("../vendor/uplot.min.js"),
];

/// The scripts of the page. They share one scope.
const SCRIPTS: [&str; 17] = [
    include_str!("../assets/js/data.js"),
    include_str!("../assets/js/dom.js"),
    include_str!("../assets/js/words.js"),
    include_str!("../assets/js/route.js"),
    include_str!("../assets/js/rows.js"),
    include_str!("../assets/js/table.js"),
    include_str!("../assets/js/filters.js"),
    include_str!("../assets/js/proof.js"),
    include_str!("../assets/js/evidence.js"),
    include_str!("../assets/js/file.js"),
    include_str!("../assets/js/causes.js"),
    include_str!("../assets/js/rules.js"),
    include_str!("../assets/js/lists.js"),
    include_str!("../assets/js/history.js"),
    include_str!("../assets/js/changes.js"),
    include_str!("../assets/js/theme.js"),
    include_str!("../assets/js/main.js"),
];

const STYLES: [&str; 6] = [
    include_str!("../vendor/uplot.min.css"),
    include_str!("../assets/css/base.css"),
    include_str!("../assets/css/overview.css"),
    include_str!("../assets/css/tables.css"),
    include_str!("../assets/css/file.css"),
    include_str!("../assets/css/print.css"),
];

const LICENSES: &str = include_str!("../vendor/LICENSES");

/// Text from the input that is safe to display. Templates escape it again as HTML.
pub(crate) fn safe(text: &str) -> String {
    shown(text).0
}

/// The data that is embedded in a page.
pub(crate) struct Data<'d, T> {
    /// What the page reads when it is opened.
    pub(crate) data: &'d T,
    /// What it reads on demand, as JSON that may be the text of a script element.
    pub(crate) details: Vec<String>,
}

/// A page.
pub(crate) struct Page<'p, O> {
    /// What the title names, such as a store; may be empty.
    pub(crate) name: &'p str,
    /// The heading.
    pub(crate) title: &'p str,
    /// The views, as the fragment of their address and their name.
    pub(crate) views: &'p [(&'static str, &'static str)],
    /// The first view.
    pub(crate) overview: &'p O,
}

#[derive(Template)]
#[template(path = "head.html")]
struct Head<'p> {
    policy: String,
    style: &'p str,
    name: String,
    title: &'p str,
    views: &'p [(&'static str, &'static str)],
    overview: String,
    version: &'static str,
}

#[derive(Template)]
#[template(path = "tail.html")]
struct Tail<'p> {
    version: &'static str,
    licenses: &'static str,
    libraries: &'p str,
    script: &'p str,
}

impl<O: Template> Page<'_, O> {
    /// Writes the page with its data.
    pub(crate) fn write<T: Serialize>(
        &self,
        out: &mut dyn Write,
        data: &Data<'_, T>,
    ) -> io::Result<()> {
        let style = STYLES.concat();
        let libraries = LIBRARIES.concat();
        let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPTS.concat());
        let policy = format!(
            "default-src 'none'; script-src {} {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
            Source(&libraries),
            Source(&script),
            Source(&style),
        );
        let head = Head {
            policy,
            style: &style,
            name: safe(self.name),
            title: self.title,
            views: self.views,
            overview: self.overview.render().map_err(io::Error::other)?,
            version: TOOL.version,
        };
        head.write_into(out)?;
        let json = "<script type=\"application/json\"";
        write!(out, "{json} id=\"data\">")?;
        embed::write(out, data.data)?;
        writeln!(out, "</script>")?;
        for (place, details) in data.details.iter().enumerate() {
            writeln!(out, "{json} id=\"details-{place}\">{details}</script>")?;
        }
        let (licenses, version) = (LICENSES, TOOL.version);
        let tail = Tail { version, licenses, libraries: &libraries, script: &script };
        tail.write_into(out)?;
        out.flush()
    }
}

/// The hash of an inline script or style, as a policy names it.
struct Source<'s>(&'s str);

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = Sha256::digest(self.0.as_bytes());
        write!(f, "'sha256-{}'", base64(&digest))
    }
}

/// RFC 4648, 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            let digit = DIGITS.get(digit as usize).copied().map_or('=', char::from);
            text.push(if place <= three.len() { digit } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{LIBRARIES, SCRIPTS, STYLES, base64};

    /// The examples of RFC 4648, 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    /// HTML 4.12.1.3 and 13.1.2.6: these would end the element, or change how its end is found.
    #[test]
    fn scripts_and_styles_do_not_end_early() {
        for text in LIBRARIES.into_iter().chain(SCRIPTS).chain(STYLES) {
            let lower = text.to_ascii_lowercase();
            for end in ["</script", "<script", "<!--", "</style"] {
                assert!(!lower.contains(end), "{end}");
            }
        }
    }

    /// Text from the input never becomes markup, because nothing in the page parses markup.
    #[test]
    fn no_script_of_ours_parses_markup() {
        for text in SCRIPTS {
            for parser in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("] {
                assert!(!text.contains(parser), "{parser}");
            }
        }
    }
}
