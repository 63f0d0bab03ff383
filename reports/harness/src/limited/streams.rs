//! The output of a program, and whether anybody still waits for it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The number of bytes read at a time.
const BUFFER: usize = 64 << 10;
/// The maximum number of bytes in two pipes: a pipe holds at most 1 MiB (pipe(7)).
const PIPES: u64 = 2 << 20;

/// The standard output and standard error of a program. Both are read continuously, because a program whose output is
/// not read would block and seem to hang.
#[derive(Debug)]
pub(super) struct Streams {
    streams: [Stream; 2],
    buffer: Vec<u8>,
    /// The number of bytes kept of each stream; the rest is counted and dropped.
    keep: usize,
}

#[derive(Debug)]
struct Stream {
    /// `None` after the end of the stream.
    source: Option<File>,
    kept: Vec<u8>,
    total: u64,
}

impl Streams {
    pub(super) fn new(sources: [Option<OwnedFd>; 2], keep: usize) -> Streams {
        let streams = sources.map(|source| Stream {
            source: source.map(File::from),
            kept: Vec::new(),
            total: 0,
        });
        Streams { streams, buffer: vec![0; BUFFER], keep }
    }

    /// Waits up to `pause` for output and reads it. Returns `false` once standard input is closed; nothing is ever sent
    /// there.
    pub(super) fn read(&mut self, pause: Duration) -> io::Result<bool> {
        let lifeline = io::stdin();
        let open = self.streams.iter_mut().filter(|stream| stream.source.is_some());
        let mut open: Vec<&mut Stream> = open.collect();
        let sources = open.iter().filter_map(|stream| stream.source.as_ref());
        let ends = [lifeline.as_fd()].into_iter().chain(sources.map(AsFd::as_fd));
        let mut ends: Vec<PollFd<'_>> =
            ends.map(|end| PollFd::new(end, PollFlags::POLLIN)).collect();
        match poll(&mut ends, PollTimeout::try_from(pause).unwrap_or(PollTimeout::ZERO)) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        let mut ready =
            ends.iter().map(|end| end.any() != Some(false)).collect::<Vec<_>>().into_iter();
        let abandoned = ready.next() == Some(true);
        for (stream, ready) in open.iter_mut().zip(ready) {
            if ready {
                stream.read(&mut self.buffer, self.keep);
            }
        }
        Ok(!abandoned)
    }

    /// Reads the rest of the pipes after the last process that could write to them has ended.
    pub(super) fn read_rest(&mut self) -> io::Result<()> {
        let start = self.total();
        let mut before = None;
        while before != Some(self.total()) && self.total() - start < PIPES {
            before = Some(self.total());
            self.read(Duration::ZERO)?;
        }
        Ok(())
    }

    /// Whether a process can still write to one of them.
    pub(super) fn are_open(&self) -> bool {
        self.streams.iter().any(|stream| stream.source.is_some())
    }

    /// The number of bytes read from both streams.
    pub(super) fn total(&self) -> u64 {
        self.streams.iter().map(|stream| stream.total).sum()
    }

    /// The kept bytes of both streams.
    pub(super) fn into_kept(self) -> [Vec<u8>; 2] {
        self.streams.map(|stream| stream.kept)
    }
}

impl Stream {
    /// Reads once from a stream that has data or has ended.
    fn read(&mut self, buffer: &mut [u8], keep: usize) {
        let Some(source) = &mut self.source else { return };
        match source.read(buffer) {
            Ok(length) if length > 0 => {
                let bytes = buffer.get(..length).unwrap_or_default();
                let room = keep.saturating_sub(self.kept.len()).min(length);
                self.kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
                self.total = self.total.saturating_add(length as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => self.source = None,
        }
    }
}
