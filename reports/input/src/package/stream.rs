//! Parts of streams.

use std::io::{self, Read};

use sframe_record::numbers::counted;

/// The next `length` bytes of a stream. It is an error if the stream ends before them.
pub(super) struct Part<'s> {
    stream: &'s mut dyn Read,
    left: u64,
}

impl<'s> Part<'s> {
    pub(super) fn new(stream: &'s mut dyn Read, length: u64) -> Part<'s> {
        Part { stream, left: length }
    }

    /// How many of them have not been read.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// Skips the bytes that have not been read.
    pub(super) fn skip(mut self) -> io::Result<()> {
        drain(&mut self)
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let buffer = buffer.get_mut(..length).unwrap_or_default();
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = self.stream.read(buffer)?;
        if read == 0 {
            let missing = self.left;
            let missing = counted(missing, "byte");
            let text = format!("it ends {missing} before the end of a member");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Reads to the end, so that decoders verify the checksum there.
pub(super) fn drain(stream: &mut dyn Read) -> io::Result<()> {
    let mut buffer = [0; 1 << 15];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Fills `buffer` as far as the stream allows. Returns the bytes that were read.
pub(super) fn fill<'b>(stream: &mut dyn Read, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match stream.read(rest) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer.get(..filled).unwrap_or_default())
}

/// By how many bytes the buffer for a file grows at a time.
const STEP: usize = 1 << 18;

/// Reads a stream to its end, but at most one byte more than `most`, into `room`, which grows as needed. Old contents
/// are overwritten and not cleared first, because clearing takes longer than checking most files.
pub(super) fn hold<'r>(
    stream: &mut dyn Read,
    most: u64,
    room: &'r mut Vec<u8>,
) -> io::Result<&'r [u8]> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1);
    let mut filled = 0;
    loop {
        if filled == room.len() {
            room.resize(filled.saturating_add(STEP), 0);
        }
        let end = room.len().min(most);
        let free = room.get_mut(filled..end).unwrap_or_default();
        let read = fill(stream, free)?.len();
        filled += read;
        if filled < end || end == most {
            return Ok(room.get(..filled).unwrap_or_default());
        }
    }
}
