//! Asks libsframe on behalf of another process: reads sections from standard input, and prints what libsframe reads in
//! them as lines of text. This is a process of its own because libsframe may crash or loop forever on a section.
//!
//! The requests and the answers are described in `sframe_fuzz::peer`.

mod library;

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use library::{Decoder, Entry, Library};

/// The maximum number of functions and rows to report for a section. libsframe walks over all rows of a function to
/// find one of them.
const MOST_FUNCTIONS: u32 = 1 << 10;
const MOST_ROWS: u32 = 1 << 11;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("ask-libsframe LIBRARY");
        return ExitCode::from(3);
    };
    let library = match Library::open(&path) {
        Ok(library) => library,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::from(3);
        }
    };
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    while let Ok(Some((section, pcs))) = request(&mut input) {
        let answer = answer(&library, &section, &pcs);
        if output.write_all(answer.as_bytes()).and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// The next section and the PCs to look up in it; `None` at the end.
fn request(input: &mut impl Read) -> io::Result<Option<(Vec<u8>, Vec<i64>)>> {
    let mut head = [0; 8];
    if input.read_exact(&mut head).is_err() {
        return Ok(None);
    }
    let [length, count] = [&head[..4], &head[4..]]
        .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize);
    let mut section = vec![0; length];
    input.read_exact(&mut section)?;
    let mut pcs = vec![0; count * 8];
    input.read_exact(&mut pcs)?;
    let pcs = pcs.chunks_exact(8).map(|pc| i64::from_le_bytes(pc.try_into().expect("eight bytes")));
    Ok(Some((section, pcs.collect())))
}

fn answer(library: &Library, section: &[u8], pcs: &[i64]) -> String {
    let mut text = format!("api {}\n", library.api() as u8);
    match library.decode(section) {
        Err(code) => line(&mut text, format_args!("refused {code}")),
        Ok(decoder) => {
            let header = decoder.header();
            line(
                &mut text,
                format_args!("decoded {} {} {}", header.abi, header.fixed_fp, header.fixed_ra),
            );
            functions(&mut text, &decoder, header.functions);
            for pc in pcs {
                match decoder.find(*pc) {
                    Ok(entry) => line(&mut text, format_args!("at {}", stored(&entry))),
                    Err(code) => line(&mut text, format_args!("at refused {code}")),
                }
            }
        }
    }
    text.push_str("done\n");
    text
}

fn functions(text: &mut String, decoder: &Decoder<'_>, count: u32) {
    let mut rows = MOST_ROWS;
    for index in 0..count.min(MOST_FUNCTIONS) {
        let function = match decoder.function(index) {
            Ok(function) => function,
            Err(code) => {
                line(text, format_args!("function refused {code}"));
                continue;
            }
        };
        line(
            text,
            format_args!(
                "function {} {} {} {} {} {}",
                function.start,
                function.size,
                function.rows,
                function.info,
                function.info2,
                function.rep_size
            ),
        );
        for row in 0..function.rows.min(rows) {
            let entry = match decoder.row(index, row) {
                Ok(entry) => entry,
                Err(code) => {
                    line(text, format_args!("row refused {code}"));
                    break;
                }
            };
            let meaning = decoder.meaning(&entry, u32::from(function.info2 & 0x1f));
            let numbers = [meaning.base, meaning.cfa, meaning.fp, meaning.ra];
            let numbers = numbers.map(|n| n.map_or_else(|| "-".to_owned(), |n| n.to_string()));
            line(
                text,
                format_args!(
                    "row {} {} {} {}",
                    stored(&entry),
                    numbers.join(" "),
                    u8::from(meaning.mangled),
                    u8::from(meaning.undefined)
                ),
            );
        }
        rows = rows.saturating_sub(function.rows);
    }
}

/// The start, the info byte, and the words' bytes.
fn stored(entry: &Entry) -> String {
    let mut text = format!("{} {} ", entry.start(), entry.info());
    match entry.words().as_slice() {
        [] => text.push('-'),
        words => words.iter().for_each(|byte| write!(text, "{byte:02x}").expect("to memory")),
    }
    if entry.overrun() {
        text.push_str(" overrun");
    }
    text
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("to memory");
}
