//! apk packages of version 2, checked against the checksum in Alpine's index.
//!
//! A package is a sequence of gzip members: optionally a signature, then the control data, then the files. Each is a part
//! of one tar archive (Alpine wiki, "Apk spec"). The index states the SHA-1 of the compressed control data, whose
//! `.PKGINFO` states the SHA-256 of the compressed files as `datahash`.

use std::fmt;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::digest::hexadecimal;
use super::stream::drain;
use crate::identity;

/// How many bytes of the control data are searched for `.PKGINFO`, usually its first file.
const CONTROL: usize = 1 << 20;
/// The start of the name of a file with a signature.
const SIGNATURE: &[u8] = b".SIGN.";

/// The tar archive in a package.
#[derive(Debug)]
pub(super) struct Apk<R: BufRead> {
    /// `None` once all members have been read.
    decoder: Option<GzDecoder<Tap<R>>>,
    part: Part,
    /// The start of the decompressed member, unless it has the files.
    text: Vec<u8>,
    control: Option<Control>,
    /// The hash and the size of a package whose end was reached.
    end: Option<(String, u64)>,
}

/// How a package differs from the checksum in its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApkMismatch {
    /// It has no control data, of which the checksum is.
    NoControl,
    /// Its control data has another checksum.
    Control,
    /// Its control data states no checksum of the files.
    NoDatahash,
    /// Its files have another checksum than its control data states.
    Files,
}

impl fmt::Display for ApkMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ApkMismatch::NoControl => {
                "it has no control data to compare with the checksum in its index"
            }
            ApkMismatch::Control => {
                "the SHA-1 of its control data differs from the one in its index"
            }
            ApkMismatch::NoDatahash => "its .PKGINFO has no datahash",
            ApkMismatch::Files => {
                "the SHA-256 of its files differs from the datahash in its .PKGINFO"
            }
        })
    }
}

impl std::error::Error for ApkMismatch {}

/// What the members contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The signature or the control data.
    Start,
    /// The files.
    Files,
}

/// What is known of the control data.
#[derive(Debug)]
struct Control {
    sha1: [u8; 20],
    datahash: Option<String>,
}

impl<R: BufRead> Apk<R> {
    pub(super) fn new(stream: R) -> Apk<R> {
        Apk {
            decoder: Some(GzDecoder::new(Tap::new(stream))),
            part: Part::Start,
            text: Vec::new(),
            control: None,
            end: None,
        }
    }

    /// Starts with the next member, if there is one.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(decoder) = self.decoder.take() else { return Ok(()) };
        let mut stream = decoder.into_inner();
        if self.part == Part::Start {
            let text = std::mem::take(&mut self.text);
            let sha1 = stream.restart();
            if !text.starts_with(SIGNATURE) {
                self.control = Some(Control { sha1, datahash: datahash(&text) });
                self.part = Part::Files;
            }
        }
        if stream.fill_buf()?.is_empty() {
            self.end = Some(stream.finish());
        } else {
            self.decoder = Some(GzDecoder::new(stream));
        }
        Ok(())
    }

    /// Reads the rest of the package, and compares its control data and its files with the checksum that the index
    /// states. Returns the size of the package.
    pub(super) fn finish(mut self, checksum: &str) -> io::Result<(u64, Result<(), ApkMismatch>)> {
        if let Some(decoder) = self.decoder.take() {
            let mut stream = decoder.into_inner();
            drain(&mut stream)?;
            self.end = Some(stream.finish());
        }
        let (hash, size) =
            self.end.ok_or_else(|| io::Error::other("its end could not be reached"))?;
        let verdict = match self.control {
            None => Err(ApkMismatch::NoControl),
            Some(control) if text_of(&control.sha1) != checksum => Err(ApkMismatch::Control),
            Some(Control { datahash: None, .. }) => Err(ApkMismatch::NoDatahash),
            Some(Control { datahash: Some(datahash), .. }) if datahash != hash => {
                Err(ApkMismatch::Files)
            }
            Some(_) => Ok(()),
        };
        Ok((size, verdict))
    }
}

impl<R: BufRead> Read for Apk<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(decoder) = &mut self.decoder {
            let length = decoder.read(buffer)?;
            if length == 0 {
                self.next_member()?;
                continue;
            }
            if self.part == Part::Start {
                let room = CONTROL.saturating_sub(self.text.len()).min(length);
                self.text.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
            return Ok(length);
        }
        Ok(0)
    }
}

/// The `datahash` that the `.PKGINFO` of control data states.
fn datahash(control: &[u8]) -> Option<String> {
    let mut archive = ::tar::Archive::new(control);
    let mut entries = archive.entries().ok()?.map_while(Result::ok);
    let mut file = entries.find(|entry| &*entry.path_bytes() == b".PKGINFO")?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    Some(str::from_utf8(identity::pkginfo_field(&text, b"datahash")?).ok()?.to_owned())
}

/// A SHA-1 as indexes and package databases write it: `Q1` and Base64 (RFC 4648, 4).
fn text_of(sha1: &[u8; 20]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = "Q1".to_owned();
    for group in sha1.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (index, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = DIGITS.get((bits >> shift & 63) as usize).copied().unwrap_or_default();
            text.push(if index > group.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

/// Whether `text` is a checksum in that form.
pub(crate) fn is_checksum(text: &str) -> bool {
    let digits = text.strip_prefix("Q1").and_then(|text| text.strip_suffix('='));
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits.is_some_and(|digits| digits.len() == 27 && digits.bytes().all(is_digit))
}

/// A stream that is hashed as it is consumed, byte by byte: decoders consume no byte after the end of a member.
#[derive(Debug)]
struct Tap<R> {
    inner: R,
    sha1: Sha1,
    sha256: Sha256,
    size: u64,
}

impl<R: BufRead> Tap<R> {
    fn new(inner: R) -> Tap<R> {
        Tap { inner, sha1: Sha1::new(), sha256: Sha256::new(), size: 0 }
    }

    /// The SHA-1 of what was consumed since the last call. Hashing starts again.
    fn restart(&mut self) -> [u8; 20] {
        self.sha256 = Sha256::new();
        std::mem::take(&mut self.sha1).finalize().into()
    }

    /// The SHA-256 of what was consumed since hashing started again, and the size of the stream.
    fn finish(self) -> (String, u64) {
        (hexadecimal(&self.sha256.finalize()), self.size)
    }
}

impl<R: BufRead> Read for Tap<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Tap<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        // Bytes that are consumed are in the buffer, so that nothing is read here.
        if let Ok(bytes) = self.inner.fill_buf() {
            let bytes = bytes.get(..length).unwrap_or_default();
            self.sha1.update(bytes);
            self.sha256.update(bytes);
            self.size = self.size.saturating_add(bytes.len() as u64);
        }
        self.inner.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf abc | openssl dgst -sha1 -binary | base64` prints the digits after `Q1`.
    #[test]
    fn checksums_are_written_like_in_an_index() {
        let text = text_of(&Sha1::digest(b"abc").into());
        assert_eq!(text, "Q1qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
        assert!(is_checksum(&text));
        for wrong in ["", "Q1", "Q2qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "Q1qZk-NkcGgWq6PiVxeFDCbJzQ2J0="]
        {
            assert!(!is_checksum(wrong), "{wrong}");
        }
    }
}
