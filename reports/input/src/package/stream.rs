//! Parts of streams.

use std::io::{self, Read};

/// The next so many bytes of a stream, which are there or it is an error.
pub(super) struct Part<'s> {
    stream: &'s mut dyn Read,
    left: u64,
}

impl<'s> Part<'s> {
    pub(super) fn new(stream: &'s mut dyn Read, length: u64) -> Part<'s> {
        Part { stream, left: length }
    }

    /// How many of them nobody has read.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    /// Reads what nobody has read.
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
            let text = format!("it ends {missing} bytes before the end of a member");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Reads to the end: what checks a sum there does so.
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

/// Fills `buffer`, as far as the stream goes; the bytes that were read.
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

/// How much room for a file's bytes grows at once.
const STEP: usize = 1 << 18;

/// The bytes of a stream up to its end, or one more than `most`, in `room`, which grows as it has to: what
/// has been there before is written over, for to clear memory takes longer than to check most files.
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
