//! Paths in JSON, exact for any bytes.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::field::{Defect, Object};

/// Serializes a path as the fields `path` and, if it is not valid UTF-8, `path_hex`.
#[derive(Debug)]
pub(crate) struct PathName<'a>(pub(crate) &'a Path);

impl PathName<'_> {
    /// The readable text, and the bytes in hexadecimal if the text is not exact.
    pub(crate) fn texts(&self) -> (String, Option<String>) {
        let bytes = self.0.as_os_str().as_bytes();
        match str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), None),
            Err(_) => (readable(bytes), Some(hexadecimal(bytes))),
        }
    }
}

impl Serialize for PathName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (text, hex) = self.texts();
        let mut fields = serializer.serialize_struct("PathName", 2)?;
        fields.serialize_field("path", &text)?;
        match hex {
            Some(hex) => fields.serialize_field("path_hex", &hex)?,
            None => fields.skip_field("path_hex")?,
        }
        fields.end()
    }
}

/// The path in an object's fields `path` and `path_hex`.
pub(crate) fn read(object: &Object) -> Result<PathBuf, Defect> {
    let text = object.text("path")?;
    let bytes = match object.optional_text("path_hex")? {
        None => text.as_bytes().to_vec(),
        Some(hex) => bytes_of(hex)
            .filter(|bytes| readable(bytes) == text && str::from_utf8(bytes).is_err())
            .ok_or_else(|| {
                object.defect("path_hex", hex, "the bytes of `path`, if they are not UTF-8")
            })?,
    };
    let path = PathBuf::from(OsStr::from_bytes(&bytes));
    if is_path(&path) {
        Ok(path)
    } else {
        Err(object.defect("path", text, "a path: not empty, without NUL"))
    }
}

/// Whether a file can have this path.
pub(crate) fn is_path(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    !bytes.is_empty() && !bytes.contains(&0)
}

/// Bytes as text, with `\xNN` for those that are not valid UTF-8.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit =
        |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}
