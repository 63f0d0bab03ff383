//! Compressed lines: a sequence of zstd frames, each with complete lines, so that `zstd -d` decompresses the file to
//! one text, and a reader can start at any frame.
//!
//! The compression level, the frame size and the use of a single thread are fixed, so that the same lines give the same
//! bytes.

use std::io::{self, BufRead, BufReader, Read, Write};

use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;

use crate::ContentHash;

/// Bytes of lines after which a frame ends. At most this much is decompressed to reach one line; splitting into frames
/// of this size adds a few percent to the file.
const FRAME: usize = 256 << 10;
/// zstd's default. Higher levels take several times as long and save a few percent.
const LEVEL: i32 = 3;
/// The maximum length of a line in bytes; enforced by writers and readers.
pub(crate) const MAX_LINE: usize = 256 << 20;
/// The maximum window size of a frame, as a power of two; at level 3, zstd uses 21.
const MAX_WINDOW: u32 = 22;
/// The maximum compression ratio of a file; it applies beyond [`ALWAYS_READ`] bytes. Lines of a store contain hashes
/// and differing paths, and stay below 100.
const MAX_RATIO: u64 = 4096;
const ALWAYS_READ: u64 = 64 << 20;

/// Writes lines and computes their hash.
pub(crate) struct LinesWriter<W> {
    output: W,
    compressor: Compressor<'static>,
    frame: Vec<u8>,
    hasher: blake3::Hasher,
}

impl<W: Write> LinesWriter<W> {
    pub(crate) fn new(output: W) -> io::Result<LinesWriter<W>> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        let frame = Vec::with_capacity(FRAME);
        Ok(LinesWriter { output, compressor, frame, hasher: blake3::Hasher::new() })
    }

    /// Writes a line, which must not contain a line feed or exceed [`MAX_LINE`].
    pub(crate) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.hasher.update(line);
        self.hasher.update(b"\n");
        self.frame.extend_from_slice(line);
        self.frame.push(b'\n');
        if self.frame.len() >= FRAME { self.end_frame() } else { Ok(()) }
    }

    /// The hash of the lines so far, including line feeds.
    pub(crate) fn hash(&self) -> ContentHash {
        self.hasher.finalize().into()
    }

    /// Ends the last frame and returns the underlying writer.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.end_frame()?;
        Ok(self.output)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        self.output.write_all(&self.compressor.compress(&self.frame)?)?;
        self.frame.clear();
        // Free the memory of an exceptionally long line.
        self.frame.shrink_to(2 * FRAME);
        Ok(())
    }
}

impl<W: std::fmt::Debug> std::fmt::Debug for LinesWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinesWriter").field("output", &self.output).finish_non_exhaustive()
    }
}

/// The position of a frame in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramePlace {
    /// The offset of its first compressed byte.
    pub(crate) offset: u64,
    /// Its compressed size in bytes.
    pub(crate) length: u64,
    /// Its decompressed size in bytes.
    pub(crate) lines: usize,
}

/// Reads frames in order, within limits.
#[derive(Debug)]
pub(crate) struct FrameReader<R> {
    input: Option<Counted<BufReader<R>>>,
    /// How many more bytes may be decompressed.
    budget: u64,
}

impl<R: Read> FrameReader<R> {
    /// A reader of a file of `size` bytes.
    pub(crate) fn new(input: R, size: u64) -> FrameReader<R> {
        let budget = size.saturating_mul(MAX_RATIO).max(ALWAYS_READ);
        FrameReader { input: Some(Counted { inner: BufReader::new(input), read: 0 }), budget }
    }

    /// Reads the next frame's lines into `frame`; `None` at the end of the file.
    pub(crate) fn next(&mut self, frame: &mut Vec<u8>) -> io::Result<Option<FramePlace>> {
        frame.clear();
        // The reader is put back only on success: nothing can be read after an error.
        let Some(mut input) = self.input.take() else { return Ok(None) };
        if input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let offset = input.read;
        let mut decoder = Decoder::with_buffer(input)?.single_frame();
        decoder.window_log_max(MAX_WINDOW)?;
        let limit = self.budget.min((FRAME + MAX_LINE) as u64);
        let lines = (&mut decoder).take(limit + 1).read_to_end(frame)?;
        if lines as u64 > limit {
            return Err(invalid("it decompresses to more data than a store contains"));
        }
        self.budget -= lines as u64;
        let input = decoder.finish();
        let length = input.read - offset;
        self.input = Some(input);
        Ok(Some(FramePlace { offset, length, lines }))
    }
}

/// Reads lines in order, within limits.
#[derive(Debug)]
pub(crate) struct LinesReader<R> {
    frames: FrameReader<R>,
    frame: Vec<u8>,
    place: LinePlace,
    /// The end of the current line, without its line feed.
    end: usize,
}

/// The position of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePlace {
    /// The frame that contains it.
    pub(crate) frame: FramePlace,
    /// The decompressed offset in the frame.
    pub(crate) start: usize,
}

impl<R: Read> LinesReader<R> {
    /// A reader of a file of `size` bytes, positioned before its first line.
    pub(crate) fn new(input: R, size: u64) -> LinesReader<R> {
        let place = LinePlace { frame: FramePlace { offset: 0, length: 0, lines: 0 }, start: 0 };
        LinesReader { frames: FrameReader::new(input, size), frame: Vec::new(), place, end: 0 }
    }

    /// Advances to the next line; `None` at the end.
    pub(crate) fn advance(&mut self) -> io::Result<Option<LinePlace>> {
        // After the line feed of the current line, if there is one.
        self.place.start = if self.frame.is_empty() { 0 } else { self.end + 1 };
        if self.place.start >= self.frame.len() {
            match self.frames.next(&mut self.frame)? {
                Some(frame) => self.place = LinePlace { frame, start: 0 },
                None => return Ok(None),
            }
        }
        let rest = self.frame.get(self.place.start..).unwrap_or_default();
        self.end = self.place.start + first_line(rest)?.len();
        Ok(Some(self.place))
    }

    /// The current line, without its line feed.
    pub(crate) fn line(&self) -> &[u8] {
        self.frame.get(self.place.start..self.end).unwrap_or_default()
    }
}

/// The first line in the rest of a frame, without its line feed.
pub(crate) fn first_line(rest: &[u8]) -> io::Result<&[u8]> {
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if line.len() == rest.len() {
        return Err(invalid("a frame ends within a line"));
    }
    if line.len() > MAX_LINE {
        return Err(invalid("a line is longer than any line of a store"));
    }
    Ok(line)
}

/// Decompresses a frame that is expected to contain `length` bytes. Returns one byte more if it contains more.
pub(crate) fn decompress(frame: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let mut lines = Vec::with_capacity(length + 1);
    let mut decoder = Decoder::with_buffer(frame)?.single_frame();
    decoder.window_log_max(MAX_WINDOW)?;
    decoder.take(length as u64 + 1).read_to_end(&mut lines)?;
    Ok(lines)
}

/// Whether reading failed because of the stored data, so that retrying cannot help.
pub(crate) fn is_damage(error: &io::Error) -> bool {
    // zstd's own errors have the kind `Other`.
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other
    )
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Counts the bytes consumed from a buffered reader.
#[derive(Debug)]
struct Counted<R> {
    inner: R,
    read: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.read += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount as u64;
        self.inner.consume(amount);
    }
}
