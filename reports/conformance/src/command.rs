//! A reader in another process: requests and answers are lines of JSON.

use std::io;
use std::time::{Duration, Instant};

use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Map, Value};

use crate::address::Address;
use crate::reader::{Answer, Found, Lost, Opened, Reader, Request, Start, Walked};
use crate::section::Section;

mod process;

use process::{Process, Waited};

/// A program that answers requests. It is started again after it has crashed, or has not answered in time.
///
/// The n-th line that it prints answers the n-th request. When it is stopped, its pipes are closed; if it has not ended half a second
/// later, its process group is killed. Processes of another group that it started are not.
#[derive(Debug)]
pub struct Command {
    words: Vec<String>,
    patience: Duration,
    process: Option<Process>,
}

impl Command {
    /// A program and its arguments. An answer may take as long as `patience`, and taking the request is part of it.
    #[must_use]
    pub fn new(words: Vec<String>, patience: Duration) -> Command {
        Command { words, patience, process: None }
    }

    /// Starts the program.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
    pub fn start(&mut self) -> io::Result<()> {
        self.process = Some(Process::start(&self.words)?);
        Ok(())
    }

    /// The answer as text, or why there is none.
    fn line(&mut self, request: &Request) -> Result<String, Lost> {
        let failed = |error: io::Error| Lost::NotStarted(error.to_string());
        if self.process.is_none() {
            self.start().map_err(failed)?;
        }
        let Some(process) = &mut self.process else { return Err(Lost::NoAnswer) };
        let mut text =
            serde_json::to_string(request).map_err(|error| Lost::NotAnAnswer(error.to_string()))?;
        text.push('\n');
        let deadline = Instant::now() + self.patience;
        let why = match process.ask(text.as_bytes(), deadline) {
            Ok(Waited::Line(line)) => return Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(Waited::Late) => Lost::NoAnswer,
            Ok(Waited::Closed) => match process.ended(deadline) {
                Ok(Some(status)) => Lost::Crashed(status.to_string()),
                Ok(None) => Lost::Closed,
                Err(error) => failed(error),
            },
            Err(error) => failed(error),
        };
        self.process = None;
        Err(why)
    }

    /// The answer to a request, which has the content under a key.
    fn ask<T: DeserializeOwned>(&mut self, request: &Request, key: &str) -> Answer<T> {
        let answer = self.line(request).map(|line| parse(&line, key));
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                // The next line may belong to this request.
                self.process = None;
                Answer::Lost(Lost::NotAnAnswer(error.to_string()))
            }
            Err(reason) => Answer::Lost(reason),
        }
    }
}

fn parse<T: DeserializeOwned>(line: &str, key: &str) -> serde_json::Result<Answer<T>> {
    let mut answer: Map<String, Value> = serde_json::from_str(line)?;
    if let Some(reason) = answer.remove("refused") {
        return Ok(Answer::Refused(serde_json::from_value(reason)?));
    }
    if let Some(reason) = answer.remove("unsupported") {
        return Ok(Answer::Unsupported(serde_json::from_value(reason)?));
    }
    let missing = || serde_json::Error::custom(format!("neither {key}, refused nor unsupported"));
    let content = answer.remove(key).ok_or_else(missing)?;
    Ok(Answer::Given(serde_json::from_value(content)?))
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
