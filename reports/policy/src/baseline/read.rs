//! Reads a baseline as a stream: what it holds is bounded while it is read.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use sframe_history::Identity;
use sframe_record::numbers::grouped;

use super::names::Names;
use super::{BaselineError, Entry};

/// The maximum size of a baseline in bytes.
const LARGEST: u64 = 1 << 30;
/// The maximum length in bytes of a text in a baseline, and of what is between two texts.
const LONGEST: usize = 1 << 20;

/// The file.
#[derive(Default)]
pub(super) struct Document {
    pub(super) format: u32,
    /// The folder that paths are relative to: the way to it from the folder of the file.
    pub(super) root: String,
    pub(super) entries: BTreeMap<Identity, Entry>,
}

/// Reads a file of up to `most` findings.
pub(super) fn document(stream: impl Read, most: usize) -> Result<Document, BaselineError> {
    let bounded = Bounded { stream, bytes: 0, since_quote: 0 };
    let mut reader = serde_json::Deserializer::from_reader(BufReader::new(bounded));
    let document = serde::Deserializer::deserialize_map(&mut reader, OfDocument { most });
    let document = document.and_then(|document| reader.end().map(|()| document));
    document.map_err(|error| match error.is_io() {
        true => BaselineError::Io(error.into()),
        false => BaselineError::Json(error),
    })
}

/// A stream of limited length with quotation marks that are not too far apart. The parser holds a text as a whole.
struct Bounded<R> {
    stream: R,
    bytes: u64,
    since_quote: usize,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        let read = buffer.get(..count).unwrap_or_default();
        self.bytes = self.bytes.saturating_add(count as u64);
        if self.bytes > LARGEST {
            let limit = grouped(LARGEST);
            return Err(io::Error::other(format!("it has more than {limit} bytes, the limit")));
        }
        self.since_quote = match read.iter().rposition(|byte| *byte == b'"') {
            Some(last) => count.saturating_sub(last),
            None => self.since_quote.saturating_add(count),
        };
        if self.since_quote > LONGEST {
            let limit = grouped(LONGEST as u64);
            let why =
                format!("it is no baseline: a text of it has more than {limit} bytes, the limit");
            return Err(io::Error::other(why));
        }
        Ok(count)
    }
}

struct OfDocument {
    most: usize,
}

impl<'de> Visitor<'de> for OfDocument {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a baseline")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let (mut format, mut root, mut entries) = (None, None, None);
        while let Some(key) = map.next_key::<Key>()? {
            let is_second = match key {
                Key::SframeCheckBaseline => format.replace(map.next_value()?).is_some(),
                Key::Root => root.replace(map.next_value()?).is_some(),
                Key::Findings => {
                    entries.replace(map.next_value_seed(Findings { most: self.most })?).is_some()
                }
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                    false
                }
            };
            if is_second {
                return Err(A::Error::custom("it has a field twice"));
            }
        }
        Ok(Document {
            format: format.ok_or_else(|| A::Error::missing_field("sframe_check_baseline"))?,
            root: root.unwrap_or_default(),
            entries: entries.ok_or_else(|| A::Error::missing_field("findings"))?,
        })
    }
}

/// The fields of the file.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Key {
    SframeCheckBaseline,
    Root,
    Findings,
    #[serde(other)]
    Other,
}

struct Findings {
    most: usize,
}

impl<'de> DeserializeSeed<'de> for Findings {
    type Value = BTreeMap<Identity, Entry>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_seq(self)
    }
}

/// A finding in the file. Its message is for people who review changes of the file.
#[derive(Deserialize)]
struct Stored {
    identity: String,
    count: u64,
    rule: String,
    file: String,
    #[serde(default)]
    function: Option<String>,
    #[serde(rename = "message")]
    _message: IgnoredAny,
}

impl<'de> Visitor<'de> for Findings {
    type Value = BTreeMap<Identity, Entry>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of findings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut entries, mut names) = (BTreeMap::new(), Names::default());
        while let Some(stored) = list.next_element::<Stored>()? {
            let identity = Identity::parse(&stored.identity).ok_or_else(|| {
                let text: String = stored.identity.chars().take(40).collect();
                A::Error::custom(format!("\"{text}\" is no identity of 32 hexadecimal digits"))
            })?;
            let texts = (&*stored.rule, &*stored.file, stored.function.as_deref());
            let entry = Entry::new(&mut names, texts, "");
            let entry = entry
                .ok_or_else(|| A::Error::custom("its names are longer than 256 MiB, the limit"))?;
            entries.insert(identity, Entry { count: stored.count, ..entry });
            if entries.len() > self.most {
                let most = grouped(self.most as u64);
                return Err(A::Error::custom(format!(
                    "it has more than {most} findings, the limit"
                )));
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"sframe_check_baseline":2,"root":".","findings":["#;

    fn finding(number: usize) -> String {
        format!(
            r#"{{"identity":"{number:032x}","count":1,"rule":"r","file":"f","message":"m","new":[1]}}"#
        )
    }

    fn findings(count: usize) -> String {
        let findings: Vec<String> = (0..count).map(finding).collect();
        format!("{HEAD}{}]}}", findings.join(","))
    }

    #[test]
    fn findings_are_bounded_while_they_are_read() {
        assert_eq!(document(findings(3).as_bytes(), 3).expect("a baseline").entries.len(), 3);
        // What follows is not read.
        let endless = findings(4) + "no JSON";
        let why = document(endless.as_bytes(), 3).err().expect("too many").to_string();
        assert!(why.contains("more than 3 findings, the limit"), "{why}");
    }

    #[test]
    fn texts_are_bounded_while_they_are_read() {
        let with = |name: usize| {
            let text = findings(1).replace("\"f\"", &format!("\"{}\"", "f".repeat(name)));
            document(text.as_bytes(), 3).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(with(LONGEST / 2), "");
        assert!(with(2 * LONGEST).contains("a text of it has more than 1,048,576 bytes"));
        let space = std::io::Read::take(std::io::repeat(b' '), u64::MAX);
        let why = document(HEAD.as_bytes().chain(space), 3).err().expect("no end").to_string();
        assert!(why.contains("more than 1,048,576 bytes"), "{why}");
    }

    #[test]
    fn equal_names_are_one() {
        let read = document(findings(2).as_bytes(), 3).expect("a baseline");
        let mut files = read.entries.values().map(|entry| &entry.file);
        let pair = files.next().zip(files.next()).expect("two findings");
        assert!(std::sync::Arc::ptr_eq(pair.0, pair.1));
    }
}
