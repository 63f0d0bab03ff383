//! A reader in another process: requests and answers are lines of JSON.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{self, Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::address::Address;
use crate::reader::{Answer, Found, Opened, Reader, Request, Start, Walked};
use crate::section::Section;

/// The longest answer that is read. That of the longest vector has some 40,000 bytes.
const LONGEST_LINE: u64 = 1 << 22;

/// A program that answers requests. It is started again after it has crashed, or has not answered in time.
#[derive(Debug)]
pub struct Command {
    words: Vec<String>,
    patience: Duration,
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Command {
    /// A program and its arguments. An answer may take as long as `patience`.
    #[must_use]
    pub fn new(words: Vec<String>, patience: Duration) -> Command {
        Command { words, patience, process: None }
    }

    /// Starts the program.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
    pub fn start(&mut self) -> io::Result<()> {
        let (program, arguments) =
            self.words.split_first().ok_or(io::Error::other("no program is named"))?;
        let mut child = process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        // Bounded, so that an endless answer does not fill the memory. The thread ends with the process.
        let (sender, lines) = sync_channel(16);
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while let Ok(1..) = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        });
        self.process = Some(Process { child, input, lines });
        Ok(())
    }

    fn stop(&mut self) -> String {
        let Some(mut process) = self.process.take() else { return "not running".to_owned() };
        let ended = process.child.try_wait();
        // It may have ended already.
        let _ = process.child.kill();
        match (ended, process.child.wait()) {
            (Ok(Some(status)), _) | (Ok(None), Ok(status)) => status.to_string(),
            (Err(error), _) | (_, Err(error)) => error.to_string(),
        }
    }

    /// The answer as text, or why there is none.
    fn line(&mut self, request: &Request) -> Result<String, String> {
        if self.process.is_none() {
            self.start().map_err(|error| format!("cannot be started: {error}"))?;
        }
        let Some(process) = &mut self.process else { return Err("not running".to_owned()) };
        let mut text = serde_json::to_string(request).map_err(|error| error.to_string())?;
        text.push('\n');
        // If this fails, so does reading the answer.
        let _ = process.input.write_all(text.as_bytes()).and_then(|()| process.input.flush());
        match process.lines.recv_timeout(self.patience) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                self.stop();
                Err("no answer in time".to_owned())
            }
            Err(RecvTimeoutError::Disconnected) => {
                // The output is closed; the process is about to end.
                if let Some(process) = &mut self.process {
                    let _ = process.child.wait();
                }
                Err(format!("crashed: {}", self.stop()))
            }
        }
    }

    /// The answer to a request, which has the content under a key.
    fn ask<T: DeserializeOwned>(&mut self, request: &Request, key: &str) -> Answer<T> {
        let answer = self.line(request).map(|line| parse(&line, key));
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(reason)) => {
                // The next line may belong to this request.
                self.stop();
                Answer::Lost(format!("not an answer: {reason}"))
            }
            Err(reason) => Answer::Lost(reason),
        }
    }
}

fn parse<T: DeserializeOwned>(line: &str, key: &str) -> Result<Answer<T>, String> {
    let text = |error: serde_json::Error| error.to_string();
    let mut answer: Map<String, Value> = serde_json::from_str(line).map_err(text)?;
    if let Some(reason) = answer.remove("refused") {
        return Ok(Answer::Refused(serde_json::from_value(reason).map_err(text)?));
    }
    if let Some(reason) = answer.remove("unsupported") {
        return Ok(Answer::Unsupported(serde_json::from_value(reason).map_err(text)?));
    }
    let content =
        answer.remove(key).ok_or_else(|| format!("neither {key}, refused nor unsupported"))?;
    Ok(Answer::Given(serde_json::from_value(content).map_err(text)?))
}

impl Reader for Command {
    fn open(&mut self, section: &Section) -> Answer<Opened> {
        self.ask(&Request::Open { section: section.clone() }, "opened")
    }

    fn lookup(&mut self, pc: u64) -> Answer<Option<Found>> {
        self.ask(&Request::Lookup { pc: Address(pc) }, "found")
    }

    fn walk(&mut self, start: &Start) -> Answer<Walked> {
        self.ask(&Request::Walk(start.clone()), "walked")
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        self.stop();
    }
}
