//! Checking Debian packages, compared with decompressing them with the same libraries.
//!
//! `cargo bench -p sframe-check --bench packages -- FOLDER...` reads folders of `.deb` files and tar archives. It
//! prints user and system seconds of one thread, best of five, with the files in the page cache:
//!
//! - *decompression*: decompressing everything that is compressed in the files, and nothing else;
//! - *sframe-check*: the whole program with `--threads 1`, with and without `--coverage`.

#![allow(missing_docs, reason = "a benchmark: nothing uses it")]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::process::{Command, Stdio};

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use sframe_input::kind::{Compression, HEAD};
use sframe_input::{Input, Selection};

const RUNS: usize = 5;

fn main() {
    let folders: Vec<OsString> = std::env::args_os().skip(1).filter(|a| a != "--bench").collect();
    if folders.is_empty() || folders.iter().any(|folder| folder == "--test") {
        return println!("packages: nothing to do without folders");
    }
    let mut unpacked = 0;
    let mut least = [f64::INFINITY; 3];
    for _ in 0..RUNS {
        let runs: [&mut dyn FnMut(); 3] =
            [&mut || unpacked = decompress(&folders), &mut || program(&folders, &[]), &mut || {
                program(&folders, &["--coverage"])
            }];
        for (least, run) in least.iter_mut().zip(runs) {
            let start = spent();
            run();
            *least = least.min(spent() - start);
        }
    }
    let [floor, checked, coverage] = least;
    println!("{} MB unpacked", unpacked / 1_000_000);
    println!("decompression            {floor:>8.3} s");
    println!("sframe-check             {checked:>8.3} s, {:.2} times", checked / floor);
    println!("sframe-check --coverage  {coverage:>8.3} s, {:.2} times", coverage / floor);
}

/// The processor seconds used by this process and its finished child processes.
fn spent() -> f64 {
    let seconds = |usage: Usage| {
        [usage.user_time(), usage.system_time()]
            .into_iter()
            .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
            .sum::<f64>()
    };
    let of = |who| getrusage(who).map_or(0.0, seconds);
    of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)
}

fn program(folders: &[OsString], options: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sframe-check"));
    command.args(["--threads", "1"]).args(options).args(folders);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.code().is_some_and(|code| code < 3)));
}

/// Decompresses all files, and returns the number of decompressed bytes.
fn decompress(folders: &[OsString]) -> u64 {
    let files = Selection::new(folders, Vec::new()).filter_map(|input| match input {
        Input::File(path) => Some(path),
        Input::Image(_) | Input::Content(..) | Input::Special(..) | Input::Unreadable(..) => None,
    });
    let sizes = files.map(|path| {
        let reader = BufReader::with_capacity(1 << 17, File::open(path)?);
        package(reader)
    });
    sizes.filter_map(Result::ok).sum()
}

fn package(mut reader: BufReader<File>) -> io::Result<u64> {
    let mut head = Vec::new();
    reader.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    if !head.starts_with(b"!<arch>\n") {
        return output(&head, &mut reader);
    }
    // Go back to the end of the magic number, where the first member starts.
    reader.seek_relative(8 - i64::try_from(head.len()).unwrap_or_default())?;
    let mut sum = 0;
    let mut header = [0; 60];
    while reader.read_exact(&mut header).is_ok() {
        let size = header.get(48..58).and_then(|size| str::from_utf8(size).ok());
        let size: u64 = size.and_then(|size| size.trim_end().parse().ok()).unwrap_or_default();
        let mut member = reader.by_ref().take(size);
        let mut head = Vec::new();
        member.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        sum += output(&head, &mut member)?;
        io::copy(&mut member, &mut io::sink())?;
        reader.seek_relative((size % 2).cast_signed())?;
    }
    Ok(sum)
}

/// The number of bytes that `head` and the rest after it decompress to, or 0 if they are not compressed.
fn output(head: &[u8], rest: &mut dyn Read) -> io::Result<u64> {
    let stream = BufReader::with_capacity(1 << 17, head.chain(rest));
    let Some(compression) = Compression::of(head) else { return Ok(0) };
    let mut decoder: Box<dyn Read + '_> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(stream)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(stream)),
        Compression::Xz => Box::new(XzDecoder::new_multi_decoder(stream)),
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(stream)?),
    };
    let mut buffer = vec![0; 1 << 16];
    let mut sum = 0;
    loop {
        match decoder.read(&mut buffer)? {
            0 => return Ok(sum),
            length => sum += length as u64,
        }
    }
}
