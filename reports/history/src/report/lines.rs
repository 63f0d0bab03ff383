//! Reads `--format ndjson`: a record on each line, and the summary on the last.

use std::io::{BufRead, Read as _};

use serde::Deserialize;

use super::{Ending, Error, FORMAT, Start, Tool};
use crate::Record;

/// The first bytes of a file's line, as the program writes them.
const FILE: &[u8] = br#"{"type":"file","#;

/// The maximum length of a line in bytes; the same as in a store.
const MAX_LINE: u64 = 256 << 20;

/// The type of a line, and the contents of the last line.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    format: Option<u64>,
    tool: Option<Tool>,
}

/// Reads to the end of the input.
pub(super) fn read(
    input: Start<impl BufRead>,
    each: &mut dyn FnMut(&Record<'_>),
) -> Result<Ending, Error> {
    let mut input = input.into_input();
    let mut ending = Ending::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = input.by_ref().take(MAX_LINE + 1);
        if limited.read_until(b'\n', &mut line).map_err(Error::Read)? == 0 {
            break;
        }
        if line.len() as u64 > MAX_LINE {
            let what = format!("a line of more than {MAX_LINE} bytes");
            return Err(Error::Damaged { line: number, column: 0, what });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let damaged = |error: serde_json::Error| Error::damaged(&error, number);
        let text = str::from_utf8(&line).map_err(|error| Error::not_utf8(error, number))?;
        if line.starts_with(FILE) {
            each(&Record::parse(text).map_err(damaged)?);
            continue;
        }
        let head: Head = serde_json::from_str(text).map_err(damaged)?;
        match head.kind.as_str() {
            "file" => each(&Record::parse(text).map_err(damaged)?),
            "summary" => ending = last(head)?,
            // Other kinds of lines may be added within a version.
            _ => {}
        }
    }
    Ok(ending)
}

fn last(head: Head) -> Result<Ending, Error> {
    match head.format {
        Some(format) if format == u64::from(FORMAT) => {
            Ok(Ending { tool: head.tool.map(|tool| tool.version), complete: true })
        }
        Some(format) => Err(Error::Format(format)),
        None => Err(Error::NoFormat),
    }
}
