//! One server, which may be slow, endless or wrong.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sframe_record::text::printable;
use ureq::{Agent, BodyReader, Error};

use super::DebuginfodError;
use super::settings::Settings;
use crate::plain_error;
use crate::repository::without_credentials;

/// What a server has to send within the time-out: as many bytes as elfutils asks for (debuginfod-client-config(7)).
pub(super) const PROGRESS: u64 = 100 << 10;
/// How often a server may send us elsewhere.
const REDIRECTS: u32 = 5;

/// A server, and why it is not asked any more.
#[derive(Debug)]
pub(super) struct Server {
    url: String,
    pub(super) failed: Option<String>,
}

/// Why a file was not received.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server is not to be asked again.
    Server(String),
    /// The file is too large. Others may not be.
    Size(u64),
    /// The bytes cannot be written.
    Output(DebuginfodError),
}

/// What asks servers.
pub(super) fn agent(settings: &Settings) -> Agent {
    Agent::config_builder()
        .timeout_resolve(Some(settings.timeout))
        .timeout_connect(Some(settings.timeout))
        .timeout_recv_response(Some(settings.timeout))
        .timeout_per_read(Some(settings.timeout))
        .timeout_global(Some(settings.longest))
        .max_redirects(REDIRECTS)
        .user_agent(concat!("sframe-check/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

impl Server {
    pub(super) const fn new(url: String) -> Server {
        Server { url, failed: None }
    }

    /// The failure of this server, for people.
    pub(super) fn failure(&self, why: &str) -> String {
        format!("debuginfod server {}: {why}", printable(without_credentials(&self.url)))
    }

    /// Asks for the debug file of a build ID. Returns the answer's body, or `None` if the server does not have it.
    pub(super) fn ask(
        &self,
        agent: &Agent,
        id: &str,
        settings: &Settings,
    ) -> Result<Option<BodyReader<'static>>, Failure> {
        let mut request = agent.get(format!("{}/buildid/{id}/debuginfo", self.url));
        if let Some(wanted) = settings.wanted {
            request = request.header("X-DEBUGINFOD-MAXSIZE", wanted.to_string());
        }
        let body = match request.call() {
            Ok(answer) if answer.status() == 200 => answer.into_body(),
            Ok(answer) => return Err(Failure::Server(status(answer.status().as_u16()))),
            Err(Error::StatusCode(404 | 410)) => return Ok(None),
            // The server's answer to X-DEBUGINFOD-MAXSIZE (debuginfod(8)).
            Err(Error::StatusCode(406)) if settings.wanted.is_some() => {
                return Err(Failure::Size(settings.largest));
            }
            Err(error) => return Err(Failure::Server(reason(error))),
        };
        match body.content_length() {
            Some(length) if length > settings.largest => Err(Failure::Size(settings.largest)),
            // The body has a limit of its own, of 10 MB, unless it is a reader.
            _ => Ok(Some(body.into_reader())),
        }
    }
}

/// Copies a body to a file, up to `room` bytes. Returns its length.
pub(super) fn receive(
    body: &mut impl Read,
    file: &mut impl Write,
    room: u64,
    settings: &Settings,
) -> Result<u64, Failure> {
    let mut buffer = vec![0; 64 << 10];
    let (started, mut length) = (Instant::now(), 0_u64);
    let (mut since, mut progress) = (started, 0_u64);
    loop {
        let count = match body.read(&mut buffer) {
            Ok(0) => return Ok(length),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::Server(broken(error))),
        };
        length = length.saturating_add(count as u64);
        progress = progress.saturating_add(count as u64);
        if length > room {
            return Err(Failure::Server(format!("it sends more than {room} bytes")));
        }
        let now = Instant::now();
        if progress >= PROGRESS {
            (since, progress) = (now, 0);
        }
        if now.duration_since(since) > settings.timeout {
            return Err(Failure::Server(too_slow(settings.timeout)));
        }
        if now.duration_since(started) > settings.longest {
            return Err(Failure::Server(too_slow(settings.longest)));
        }
        let written = file.write_all(buffer.get(..count).unwrap_or_default());
        written.map_err(|error| Failure::Output(DebuginfodError::Output(Arc::new(error))))?;
    }
}

fn too_slow(limit: Duration) -> String {
    format!("it takes too long: the limit is {} s", limit.as_secs())
}

fn status(number: u16) -> String {
    format!("it answers with status {number}")
}

/// Why there is no answer, without what the server has sent.
fn reason(error: Error) -> String {
    match error {
        Error::StatusCode(number) => status(number),
        Error::Timeout(_) => "it does not answer in time".to_owned(),
        Error::HostNotFound => "there is no such host".to_owned(),
        Error::ConnectionFailed => "no connection is possible".to_owned(),
        Error::TooManyRedirects => format!("it redirects more than {REDIRECTS} times"),
        Error::RedirectFailed | Error::BadUri(_) | Error::Http(_) => {
            "an address is not a valid URL, its own or one to which it redirects".to_owned()
        }
        Error::Protocol(_) => "its answer is not HTTP".to_owned(),
        Error::Io(error) => printable(plain_error(&error)),
        error => printable(error.to_string()),
    }
}

/// Why a body ends too early.
fn broken(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "its answer ends too early".to_owned(),
        _ => match Error::from(error) {
            Error::Timeout(_) => "it stops sending".to_owned(),
            error => reason(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(timeout: u64, longest: u64) -> Settings {
        Settings {
            servers: Vec::new(),
            cache: "cache".into(),
            timeout: Duration::from_secs(timeout),
            longest: Duration::from_secs(longest),
            largest: 1 << 40,
            wanted: None,
        }
    }

    fn failure(received: Result<u64, Failure>) -> String {
        match received {
            Err(Failure::Server(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    /// A body that never ends: one byte each time.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if let Some(byte) = buffer.first_mut() {
                *byte = b'x';
            }
            Ok(1)
        }
    }

    #[test]
    fn bodies_are_bounded() {
        let failed = receive(&mut Endless, &mut Vec::new(), 1000, &settings(90, 90));
        assert_eq!(failure(failed), "it sends more than 1000 bytes");
        let all = receive(&mut Endless.take(1000), &mut Vec::new(), 1000, &settings(90, 90));
        assert!(matches!(all, Ok(1000)));
    }

    /// Any time is more than none.
    #[test]
    fn bodies_take_a_bounded_time() {
        let failed = receive(&mut Endless, &mut io::sink(), u64::MAX, &settings(0, 90));
        assert_eq!(failure(failed), "it takes too long: the limit is 0 s");
        let failed = receive(&mut Endless, &mut io::sink(), u64::MAX, &settings(90, 0));
        assert_eq!(failure(failed), "it takes too long: the limit is 0 s");
    }
}
