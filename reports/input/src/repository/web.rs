//! Reads files from a server.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ureq::{Agent, BodyReader, Error};

use super::url::without_credentials;
use super::{Stream, other};

/// Retries and timeouts for a server.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// How many times a request is made before giving up.
    tries: u32,
    /// The pause before the second try; it doubles before each further one.
    pause: Duration,
    /// The timeout for connecting, and for the start of an answer.
    answer: Duration,
    /// The timeout for each read of a body.
    read: Duration,
    /// The timeout for a complete body, over all tries.
    body: Duration,
}

/// The limits used for repositories. The largest packages have several gigabytes.
const PATIENCE: Patience = Patience {
    tries: 4,
    pause: Duration::from_secs(1),
    answer: Duration::from_secs(30),
    read: Duration::from_secs(30),
    body: Duration::from_secs(3600),
};

/// How many folders around a repository may have its name: three for `core/os/x86_64`.
const AROUND: usize = 3;

/// A folder on a server.
#[derive(Debug)]
pub(super) struct Web {
    agent: Agent,
    base: String,
    patience: Patience,
}

impl Web {
    pub(super) fn new(base: &str) -> Web {
        Web::with(base, PATIENCE)
    }

    fn with(base: &str, patience: Patience) -> Web {
        let agent = Agent::config_builder()
            .timeout_connect(Some(patience.answer))
            .timeout_recv_response(Some(patience.answer))
            .timeout_per_read(Some(patience.read))
            .timeout_recv_body(Some(patience.body))
            .user_agent(concat!("sframe-check/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Web { agent, base: base.trim_end_matches('/').to_owned(), patience }
    }

    /// The URL of a file as shown in messages: without user and password.
    pub(super) fn shown(&self, path: &str) -> String {
        without_credentials(&self.url(path))
    }

    /// The URL of a file. Characters not allowed in paths are percent-encoded (RFC 3986, 3.3), and `+` too, which some
    /// servers decode as a space.
    fn url(&self, path: &str) -> String {
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

    /// The names of the innermost folders of the address, from the inside outwards.
    pub(super) fn folders_around(&self) -> Vec<String> {
        let path = self.base.split_once("//").map_or("", |(_, path)| path);
        let end = path.find(['?', '#']).unwrap_or(path.len());
        let mut folders =
            path.get(..end).unwrap_or_default().split('/').skip(1).collect::<Vec<_>>();
        folders.reverse();
        folders
            .into_iter()
            .filter(|name| !name.is_empty())
            .take(AROUND)
            .map(str::to_owned)
            .collect()
    }

    /// Opens a file for reading.
    pub(super) fn open(&self, path: &str) -> io::Result<Stream> {
        let (agent, url, patience) = (self.agent.clone(), self.url(path), self.patience);
        let body = ask(&agent, &url, 0, patience)?;
        let started = Instant::now();
        Ok(Box::new(Download {
            agent,
            url,
            body,
            position: 0,
            patience,
            tries: patience.tries,
            started,
        }))
    }
}

/// Requests a file and returns the body of the answer, starting at `position`.
fn ask(
    agent: &Agent,
    url: &str,
    position: u64,
    Patience { mut tries, mut pause, .. }: Patience,
) -> io::Result<BodyReader<'static>> {
    loop {
        let mut request = agent.get(url);
        if position > 0 {
            request = request.header("Range", format!("bytes={position}-"));
        }
        let error = match request.call() {
            Ok(answer) if position > 0 && answer.status() != 206 => {
                return Err(other("the server cannot resume the download"));
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
        tries = tries.saturating_sub(1);
        if tries == 0 || !may_pass {
            // Some errors contain the URL, which may contain a password.
            return Err(match error {
                Error::BadUri(_) | Error::Http(_) | Error::RequireHttpsOnly(_) => {
                    other("its address is not a valid URL")
                }
                error => io::Error::other(error),
            });
        }
        sleep(pause);
        pause *= 2;
    }
}

/// A body that is requested again, from the position reached, when the connection fails.
struct Download {
    agent: Agent,
    url: String,
    body: BodyReader<'static>,
    position: u64,
    patience: Patience,
    tries: u32,
    started: Instant,
}

impl Read for Download {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.started.elapsed() > self.patience.body {
                return Err(other("the server takes too long"));
            }
            match self.body.read(buffer) {
                Ok(length) => {
                    self.position = self.position.saturating_add(length as u64);
                    return Ok(length);
                }
                Err(error) if self.tries == 0 || self.position == 0 => return Err(error),
                Err(_) => {
                    self.tries -= 1;
                    self.body = ask(&self.agent, &self.url, self.position, self.patience)?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::base::Base;
    use std::ffi::OsStr;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;

    const IMPATIENT: Patience = Patience {
        tries: 2,
        pause: Duration::from_millis(1),
        answer: Duration::from_secs(5),
        read: Duration::from_millis(200),
        body: Duration::from_secs(2),
    };

    /// Starts a server that answers any request with an endless body: one byte, then a pause, and so on. Returns its
    /// address.
    fn dribbling(pause: Duration) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.expect("a connection");
                thread::spawn(move || {
                    let request = BufReader::new(connection.try_clone().expect("a socket"));
                    let lines =
                        request.lines().map_while(Result::ok).take_while(|line| !line.is_empty());
                    let goes_on =
                        lines.filter(|line| line.to_lowercase().starts_with("range:")).count() > 0;
                    let status = if goes_on { "206 Partial Content" } else { "200 OK" };
                    let head = format!("HTTP/1.1 {status}\r\nContent-Length: 1000000000\r\n\r\n");
                    let mut sent = connection.write_all(head.as_bytes());
                    while sent.is_ok() {
                        sent = connection.write_all(b"x");
                        thread::sleep(pause);
                    }
                });
            }
        });
        address
    }

    /// The time until the download of a body fails.
    fn time_to_failure(pause: Duration, patience: Patience) -> Duration {
        let mut body = Web::with(&dribbling(pause), patience).open("x").expect("it answers");
        let started = Instant::now();
        assert!(io::copy(&mut body, &mut io::sink()).is_err());
        started.elapsed()
    }

    /// No read times out, but there are 10^9 of them. The limit for the body is two seconds, and the test allows
    /// three more.
    #[test]
    fn a_slow_download_fails() {
        assert!(time_to_failure(Duration::from_millis(20), IMPATIENT) < Duration::from_secs(5));
    }

    /// Nothing follows the first byte, so that the read times out after 200 ms in each of three attempts, long before
    /// the limit of an hour for the body.
    #[test]
    fn a_stalled_download_fails() {
        let patience = Patience { body: Duration::from_secs(3600), ..IMPATIENT };
        assert!(time_to_failure(Duration::from_secs(60), patience) < Duration::from_secs(10));
    }

    #[test]
    fn credentials_are_not_shown() {
        let web = Web::new("https://user:se@cret@example.org/debian/");
        assert_eq!(web.url("a b"), "https://user:se@cret@example.org/debian/a%20b");
        assert_eq!(web.shown("a b"), "https://example.org/debian/a%20b");
        let why = Web::new("http://user:secret@exa mple/").open("x").err().expect("no URL");
        assert!(!why.to_string().contains("secret"), "{why}");
        let why = Base::new(OsStr::new("ftp://user:secret@example.org/x")).expect_err("no folder");
        assert_eq!(why.to_string(), "ftp://example.org/x is not a folder");
    }
}
