//! Compressed lines: zstd frames one behind the other, each of whole lines, so that `zstd -d` reads
//! the file as one text, and a reader can start at any frame.
//!
//! The level, the size of frames and the single thread are fixed: the same lines are the same bytes.

use std::io::{self, BufRead, BufReader, Read, Write};

use zstd::bulk::Compressor;
use zstd::stream::read::Decoder;

use crate::ContentHash;

/// Bytes of lines after which a frame ends: what is decompressed at most to reach one line, and
/// large enough that frames of their own cost a few percent.
const FRAME: usize = 256 << 10;
/// zstd's own default. Higher ones take several times as long for a few percent.
const LEVEL: i32 = 3;
/// The longest line, in bytes; writers refuse longer ones as readers do.
pub(crate) const MAX_LINE: usize = 256 << 20;
/// The largest window that a frame may ask a reader to hold, as a power of two; at level 3 zstd
/// uses 21.
const MAX_WINDOW: u32 = 22;
/// How much more than its own bytes a file may decompress to, beyond what is always let through.
/// Lines of a store hold hashes and differing paths, and stay below 100.
const MAX_RATIO: u64 = 4096;
const ALWAYS_READ: u64 = 64 << 20;

/// Writes lines, and knows their hash.
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

    /// Writes a line; it holds no line feed, and is no longer than [`MAX_LINE`].
    pub(crate) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.hasher.update(line);
        self.hasher.update(b"\n");
        self.frame.extend_from_slice(line);
        self.frame.push(b'\n');
        if self.frame.len() >= FRAME { self.end_frame() } else { Ok(()) }
    }

    /// The hash of the lines so far, line feeds with them.
    pub(crate) fn hash(&self) -> ContentHash {
        self.hasher.finalize().into()
    }

    /// Ends the last frame; what is written to comes back.
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
        // One long line is no reason to hold as much to the end.
        self.frame.shrink_to(2 * FRAME);
        Ok(())
    }
}

impl<W: std::fmt::Debug> std::fmt::Debug for LinesWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinesWriter").field("output", &self.output).finish_non_exhaustive()
    }
}

/// Where a frame stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramePlace {
    /// The first byte of it, compressed.
    pub(crate) offset: u64,
    /// How many bytes it has, compressed.
    pub(crate) length: u64,
    /// How many bytes of lines it holds.
    pub(crate) lines: usize,
}

/// Reads frames one after the other, within limits.
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
        // Taken: behind an error there is nothing more to read.
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
            return Err(invalid("it decompresses to more than any store's lines do"));
        }
        self.budget -= lines as u64;
        let input = decoder.finish();
        let length = input.read - offset;
        self.input = Some(input);
        Ok(Some(FramePlace { offset, length, lines }))
    }
}

/// Reads lines one after the other, within limits.
#[derive(Debug)]
pub(crate) struct LinesReader<R> {
    frames: FrameReader<R>,
    frame: Vec<u8>,
    place: LinePlace,
    /// The end of the line at `place`, without its line feed.
    end: usize,
}

/// Where a line starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePlace {
    /// The frame it is in.
    pub(crate) frame: FramePlace,
    /// Bytes of lines before it in the frame.
    pub(crate) start: usize,
}

impl<R: Read> LinesReader<R> {
    /// A reader of a file of `size` bytes, before its first line.
    pub(crate) fn new(input: R, size: u64) -> LinesReader<R> {
        let place = LinePlace { frame: FramePlace { offset: 0, length: 0, lines: 0 }, start: 0 };
        LinesReader { frames: FrameReader::new(input, size), frame: Vec::new(), place, end: 0 }
    }

    /// Goes on to the next line; `None` at the end.
    pub(crate) fn advance(&mut self) -> io::Result<Option<LinePlace>> {
        // Behind the line feed; there is none before the first line.
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

    /// The line, without its line feed.
    pub(crate) fn line(&self) -> &[u8] {
        self.frame.get(self.place.start..self.end).unwrap_or_default()
    }
}

/// The line at the start of a frame's rest, without its line feed.
pub(crate) fn first_line(rest: &[u8]) -> io::Result<&[u8]> {
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if line.len() == rest.len() {
        return Err(invalid("a frame ends within a line"));
    }
    if line.len() > MAX_LINE {
        return Err(invalid("a line is longer than any store's"));
    }
    Ok(line)
}

/// Decompresses one frame that has held `length` bytes of lines before; one more where it has more.
pub(crate) fn decompress(frame: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let mut lines = Vec::with_capacity(length + 1);
    let mut decoder = Decoder::with_buffer(frame)?.single_frame();
    decoder.window_log_max(MAX_WINDOW)?;
    decoder.take(length as u64 + 1).read_to_end(&mut lines)?;
    Ok(lines)
}

/// Whether reading failed for what is stored, and would fail another time.
pub(crate) fn is_damage(error: &io::Error) -> bool {
    // `Other` is what zstd's own errors come as.
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other
    )
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Counts the bytes that were consumed of a buffered reader.
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
