//! Reads XML as a stream, with bounds for everything that a reader has to hold in memory.

use std::io::{self, BufRead, BufReader, Read};

use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event as Token};
use quick_xml::{Error, Reader};

use super::super::{BUFFER, other};

/// The maximum size of a tag, or of a text without markup.
const TOKEN: u64 = 1 << 20;
/// The maximum depth of nested elements. Tables have five.
const DEPTH: usize = 16;
/// The maximum length of the path of an element.
const PATH: usize = 512;
/// How many bytes of a text are kept. The texts that are needed here are much shorter.
const TEXT: usize = 1 << 12;

/// The start or the end of an element, with its path from the root: `repomd/data/location`.
pub(super) enum Event<'x> {
    Start(&'x str, Attributes<'x>),
    /// Contains the text after the last tag inside the element.
    End(&'x str, &'x str),
}

/// The attributes of an element.
pub(super) struct Attributes<'x>(&'x BytesStart<'x>);

impl Attributes<'_> {
    /// The value of an attribute, if the element has it.
    pub(super) fn get(&self, name: &str) -> io::Result<Option<String>> {
        let attribute = self.0.try_get_attribute(name).map_err(|error| plain(error.into()))?;
        let Some(attribute) = attribute else { return Ok(None) };
        let value = str::from_utf8(&attribute.value).map_err(|_| not_utf8())?;
        let value = unescape(value).map_err(|error| plain(error.into()))?;
        Ok(Some(value.into_owned()))
    }
}

/// Hands over the elements of a document whose root element has the name `root`, until `found` returns `false`. Returns
/// whether the end of the document was reached.
pub(super) fn read(
    stream: &mut dyn Read,
    root: &str,
    found: &mut dyn FnMut(Event<'_>) -> io::Result<bool>,
) -> io::Result<bool> {
    let stream = BufReader::with_capacity(BUFFER, stream);
    let mut reader = Reader::from_reader(Fenced { stream, left: TOKEN });
    reader.config_mut().expand_empty_elements = true;
    let (mut path, mut text, mut token) = (Path::default(), Vec::new(), Vec::new());
    let mut any = false;
    loop {
        token.clear();
        reader.get_mut().left = TOKEN;
        let goes_on = match reader.read_event_into(&mut token).map_err(plain)? {
            Token::Start(tag) => {
                path.enter(tag.local_name().as_ref())?;
                if path.text != root && path.outside.len() == 1 {
                    return Err(other(&format!("its root element is not {root}")));
                }
                any = true;
                text.clear();
                found(Event::Start(&path.text, Attributes(&tag)))?
            }
            Token::End(_) => {
                let content = str::from_utf8(&text).map_err(|_| not_utf8())?;
                let goes_on = found(Event::End(&path.text, content.trim_ascii()))?;
                path.leave();
                text.clear();
                goes_on
            }
            Token::Text(part) => keep(&mut text, &part),
            Token::CData(part) => keep(&mut text, &part),
            Token::GeneralRef(reference) => keep(&mut text, resolved(&reference)?.as_bytes()),
            Token::Eof if any && path.outside.is_empty() => return Ok(true),
            Token::Eof => return Err(other("it ends before its root element does")),
            Token::DocType(_) => {
                return Err(other("it has a document type declaration, which no index has"));
            }
            Token::Empty(_) | Token::Comment(_) | Token::Decl(_) | Token::PI(_) => true,
        };
        if !goes_on {
            return Ok(false);
        }
    }
}

/// The path of the innermost open element.
#[derive(Default)]
struct Path {
    /// The names of the open elements without namespaces, separated by slashes.
    text: String,
    /// The length of the path outside of each open element.
    outside: Vec<usize>,
}

impl Path {
    fn enter(&mut self, name: &[u8]) -> io::Result<()> {
        if self.outside.len() == DEPTH {
            return Err(other(&format!("it has more than {DEPTH} elements inside each other")));
        }
        if self.text.len().saturating_add(name.len()) > PATH {
            return Err(other("the names of its elements are too long"));
        }
        self.outside.push(self.text.len());
        if !self.text.is_empty() {
            self.text.push('/');
        }
        self.text.push_str(str::from_utf8(name).map_err(|_| not_utf8())?);
        Ok(())
    }

    fn leave(&mut self) {
        self.text.truncate(self.outside.pop().unwrap_or_default());
    }
}

/// Adds a part to a text, up to the limit. Always returns `true`.
fn keep(text: &mut Vec<u8>, part: &[u8]) -> bool {
    let room = TEXT.saturating_sub(text.len());
    let mut part = part;
    if part.len() > room {
        // Half a character is not UTF-8.
        let end =
            (0..=room).rev().find(|end| part.get(*end).is_none_or(|byte| byte & 0xc0 != 0x80));
        part = part.get(..end.unwrap_or_default()).unwrap_or_default();
    }
    text.extend_from_slice(part);
    true
}

/// The character that a reference stands for. XML defines five by name; others need a document type declaration.
fn resolved(reference: &BytesRef<'_>) -> io::Result<String> {
    if let Some(character) = reference.resolve_char_ref().map_err(plain)? {
        return Ok(character.to_string());
    }
    let name = str::from_utf8(reference).map_err(|_| not_utf8())?;
    let text = resolve_predefined_entity(name).map(str::to_owned);
    text.ok_or_else(|| other("it refers to an entity that XML does not define"))
}

fn plain(error: Error) -> io::Error {
    match error {
        Error::Io(error) => io::Error::new(error.kind(), error.to_string()),
        error => other(&format!("its XML is damaged: {error}")),
    }
}

fn not_utf8() -> io::Error {
    other("it is not UTF-8")
}

/// A stream that fails after a number of bytes, which bounds what a reader holds in memory.
struct Fenced<R> {
    stream: R,
    left: u64,
}

impl<R: BufRead> Read for Fenced<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Fenced<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Err(other("a tag or a text is longer than 1 MiB"));
        }
        let bytes = self.stream.fill_buf()?;
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        Ok(bytes.get(..most).unwrap_or_default())
    }

    fn consume(&mut self, length: usize) {
        self.left = self.left.saturating_sub(length as u64);
        self.stream.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a document as text, or the error.
    fn events(document: &str) -> Result<Vec<String>, String> {
        let mut events = Vec::new();
        let result = read(&mut document.as_bytes(), "r", &mut |event| {
            events.push(match event {
                Event::Start(path, attributes) => format!("{path} {:?}", attributes.get("a")?),
                Event::End(path, text) => format!("/{path} {text}"),
            });
            Ok(true)
        });
        result.map(|_| events).map_err(|error| error.to_string())
    }

    fn why(document: &str) -> String {
        events(document).expect_err("it is damaged")
    }

    #[test]
    fn elements_have_paths_attributes_and_texts() {
        let document = "<?xml version=\"1.0\"?><!-- c --><r><n:x a='&lt;&#65;' b=''/>\n<y>1 &amp; <![CDATA[<2>]]></y></r>\n";
        let expected = ["r None", "r/x Some(\"<A\")", "/r/x ", "r/y None", "/r/y 1 & <2>", "/r "];
        assert_eq!(events(document).expect("it is well formed"), expected);
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = "<!DOCTYPE r [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;\">]><r>&b;</r>";
        assert_eq!(why(bomb), "it has a document type declaration, which no index has");
        assert_eq!(why("<r>&b;</r>"), "it refers to an entity that XML does not define");
        assert!(why("<r a='&b;'/>").contains("its XML is damaged"));
    }

    #[test]
    fn depth_and_sizes_are_limited() {
        let nested =
            |depth: usize| format!("<r>{}{}</r>", "<x>".repeat(depth), "</x>".repeat(depth));
        assert!(events(&nested(DEPTH - 1)).is_ok());
        assert_eq!(why(&nested(DEPTH)), "it has more than 16 elements inside each other");
        assert_eq!(why(&nested(1_000_000)), "it has more than 16 elements inside each other");
        let large = |size: usize| format!("<r><x a=\"{}\"/></r>", "y".repeat(size));
        assert!(events(&large(1_000_000)).is_ok());
        assert_eq!(why(&large(2_000_000)), "a tag or a text is longer than 1 MiB");
        let text = |size: usize| format!("<r>{}</r>", "é".repeat(size));
        let cut = ["r None".to_owned(), format!("/r {}", "é".repeat(2048))];
        assert_eq!(events(&text(5000)).expect("allowed"), cut);
        assert_eq!(why(&text(1_000_000)), "a tag or a text is longer than 1 MiB");
        assert_eq!(
            why(&format!("<r><{}/></r>", "y".repeat(600))),
            "the names of its elements are too long"
        );
    }

    #[test]
    fn incomplete_documents_are_errors() {
        for incomplete in ["", " ", "<r>", "<r><x></x>", "<r><!--"] {
            assert!(events(incomplete).is_err(), "{incomplete}");
        }
        assert!(why("<r><x></r>").contains("its XML is damaged"));
        assert_eq!(why("<html></html>"), "its root element is not r");
        let error = read(&mut &b"<r>\xff</r>"[..], "r", &mut |_| Ok(true)).expect_err("no text");
        assert_eq!(error.to_string(), "it is not UTF-8");
    }
}
