//! The messages between a runner and its watcher: one request, then one reply.
//!
//! A request is a line of JSON. A reply is a line of JSON, followed by the program's output as raw bytes: encoding
//! megabytes as JSON would use up the watcher's own processor time.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use super::command::Command;
use super::end::{Cost, End, Ran};
use super::limits::Limits;

/// The command to run, and its limits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) command: Command,
    pub(super) limits: Limits,
}

/// The result of running the program, or why it could not be started.
pub(super) type Reply = Result<Ran, String>;

/// The first line of a reply, if the program ran.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    end: End,
    printed: u64,
    cost: Option<Cost>,
    /// Bytes of standard output and standard error that follow.
    kept: [usize; 2],
}

impl Request {
    /// Reads a request, but nothing after it.
    pub(super) fn read(mut from: impl BufRead) -> io::Result<Request> {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }

    pub(super) fn write(&self, mut to: impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        to.write_all(&line)
    }
}

/// Writes a complete reply.
pub(super) fn write_reply(reply: Reply, to: &mut dyn Write) -> io::Result<()> {
    let (head, kept) = match reply {
        Ok(Ran { end, output, errors, printed, cost }) => {
            (Ok(Head { end, printed, cost, kept: [output.len(), errors.len()] }), [output, errors])
        }
        Err(why) => (Err(why), [Vec::new(), Vec::new()]),
    };
    serde_json::to_writer(&mut *to, &head)?;
    to.write_all(b"\n")?;
    kept.iter().try_for_each(|bytes| to.write_all(bytes))?;
    to.flush()
}

/// Parses a reply; `None` if `bytes` are incomplete.
pub(super) fn parse_reply(bytes: &[u8]) -> Option<Reply> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (line, rest) = bytes.split_at_checked(end)?;
    let Head { end, printed, cost, kept: [output, errors] } =
        match serde_json::from_slice::<Result<Head, String>>(line).ok()? {
            Ok(head) => head,
            Err(why) => return Some(Err(why)),
        };
    let (output, rest) = rest.get(1..)?.split_at_checked(output)?;
    let (output, errors) = (output.to_vec(), rest.get(..errors)?.to_vec());
    Some(Ok(Ran { end, output, errors, printed, cost }))
}

#[cfg(test)]
mod tests {
    use super::{Cost, End, Ran, parse_reply, write_reply};

    /// A reply arrives in parts, and its output may contain any bytes.
    #[test]
    fn incomplete_replies_are_recognised() {
        let cost = Some(Cost { processor_ms: 3, peak_kib: 4 });
        let (output, errors) = (b"\n{}\n\xff".to_vec(), b"\n".to_vec());
        let ran = Ran { end: End::Signal(11), output, errors, printed: 70_000, cost };
        for reply in [Ok(ran), Err("no such file\n".to_owned())] {
            let mut bytes = Vec::new();
            write_reply(reply.clone(), &mut bytes).expect("room");
            for length in 0..bytes.len() {
                assert_eq!(bytes.get(..length).and_then(parse_reply), None, "{length}");
            }
            assert_eq!(parse_reply(&bytes), Some(reply));
        }
    }
}
