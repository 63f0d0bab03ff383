//! Files on a server.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::thread::sleep;
use std::time::Duration;

use ureq::{Agent, BodyReader, Error};

use super::{Stream, other};

/// How often something is asked for before it is given up.
const TRIES: u32 = 4;
/// How long to wait before the second time; twice as long before each one behind.
const PAUSE: Duration = Duration::from_secs(1);
/// For a connection, and for an answer to start.
const ANSWER: Duration = Duration::from_secs(30);
/// For a body to end.
const BODY: Duration = Duration::from_secs(3600);

/// A folder on a server.
#[derive(Debug)]
pub(super) struct Web {
    agent: Agent,
    base: String,
}

impl Web {
    pub(super) fn new(base: &str) -> Web {
        let agent = Agent::config_builder()
            .timeout_connect(Some(ANSWER))
            .timeout_recv_response(Some(ANSWER))
            .timeout_recv_body(Some(BODY))
            .user_agent(concat!("sframe-check/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Web { agent, base: base.trim_end_matches('/').to_owned() }
    }

    /// The URL of a file: what a path cannot have as it is, is written `%xx` (RFC 3986, 3.3); `+` as well, which some
    /// servers take for a space.
    pub(super) fn url(&self, path: &str) -> String {
        let mut url = format!("{}/", self.base);
        for byte in path.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*,;=:@".contains(&byte) {
                url.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(url, "%{byte:02X}");
            }
        }
        url
    }

    /// The bytes of a file.
    pub(super) fn open(&self, path: &str) -> io::Result<Stream> {
        let (agent, url) = (self.agent.clone(), self.url(path));
        let body = ask(&agent, &url, 0)?;
        Ok(Box::new(Download { agent, url, body, position: 0, tries: TRIES }))
    }
}

/// The body of an answer, from a place on.
fn ask(agent: &Agent, url: &str, position: u64) -> io::Result<BodyReader<'static>> {
    let (mut pause, mut tries) = (PAUSE, TRIES);
    loop {
        let mut request = agent.get(url);
        if position > 0 {
            request = request.header("Range", format!("bytes={position}-"));
        }
        let error = match request.call() {
            Ok(answer) if position > 0 && answer.status() != 206 => {
                return Err(other("the server does not go on where it has stopped"));
            }
            Ok(answer) => return Ok(answer.into_body().into_reader()),
            Err(Error::StatusCode(404 | 410)) => {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the server has no such file"));
            }
            Err(error) => error,
        };
        let may_pass = match &error {
            Error::StatusCode(status) => *status == 429 || *status >= 500,
            Error::Io(_) | Error::Timeout(_) | Error::ConnectionFailed | Error::HostNotFound => {
                true
            }
            _ => false,
        };
        tries -= 1;
        if tries == 0 || !may_pass {
            return Err(io::Error::other(error));
        }
        sleep(pause);
        pause *= 2;
    }
}

/// A body that is asked for again, from where it has ended, when the connection fails.
struct Download {
    agent: Agent,
    url: String,
    body: BodyReader<'static>,
    position: u64,
    tries: u32,
}

impl Read for Download {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.body.read(buffer) {
                Ok(length) => {
                    self.position = self.position.saturating_add(length as u64);
                    return Ok(length);
                }
                Err(error) if self.tries == 0 || self.position == 0 => return Err(error),
                Err(_) => {
                    self.tries -= 1;
                    self.body = ask(&self.agent, &self.url, self.position)?;
                }
            }
        }
    }
}
