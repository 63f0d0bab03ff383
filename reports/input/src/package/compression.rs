//! Decompressors. Their output is unbounded: the caller has to limit how much it reads.

use std::io::{self, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use super::limits::{Meter, Metered};
use super::stream::fill;
use crate::kind::{Compression, HEAD};

/// The buffer size for compressed input. Most compressed members are short texts.
const BUFFER: usize = 1 << 14;
/// Memory limit for decoding xz, whose files state how much they need: 65 MiB at level 9.
const XZ_MEMORY: u64 = 256 << 20;

/// Hands `stream` to `read`, decompressed if it is compressed.
pub(super) fn opened<T, E: From<io::Error>>(
    stream: &mut dyn Read,
    meter: &Meter,
    read: impl FnOnce(&mut dyn Read) -> Result<T, E>,
) -> Result<T, E> {
    let mut head = [0; HEAD];
    let head = fill(stream, &mut head)?;
    let mut stream = head.chain(stream);
    match Compression::of(head) {
        Some(compression) => read(&mut decoder(compression, &mut stream, meter)?),
        None => read(&mut stream),
    }
}

/// The decompressed bytes of `stream`, counted by `meter`. Concatenated compressed streams are all decoded. zstd limits
/// its window to 128 MiB by default.
pub(super) fn decoder<'s>(
    compression: Compression,
    stream: &'s mut dyn Read,
    meter: &'s Meter,
) -> io::Result<Metered<'s, Box<dyn Read + 's>>> {
    let stream = BufReader::with_capacity(BUFFER, stream);
    let decoder: Box<dyn Read + 's> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(stream)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(stream)),
        Compression::Xz => {
            let decoder = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
            Box::new(XzDecoder::new_stream(stream, decoder))
        }
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(stream)?),
    };
    Ok(Metered::new(decoder, compression.name(), meter))
}
