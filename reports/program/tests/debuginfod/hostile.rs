//! Servers that do not have the file, or answer with something else.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use sframe_corpus::program::Outcome;
use sframe_corpus::{folder, tools};

use super::{ID, Stripped};

/// The path of each request.
type Requests = Arc<Mutex<Vec<String>>>;

/// A server that answers each request with `answer`, and its requests.
struct Server {
    address: String,
    requests: Requests,
}

impl Server {
    fn new(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Requests::default();
        let log = requests.clone();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.expect("a connection");
                let copy = connection.try_clone().expect("a socket");
                let mut lines = BufReader::new(copy).lines().map_while(Result::ok);
                let path = lines.next().unwrap_or_default();
                log.lock().expect("not poisoned").push(path.replace(" HTTP/1.1", ""));
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                // The client closes the connection when it has seen enough.
                let _ = answer(&mut connection);
            }
        });
        Server { address, requests }
    }

    /// A server that answers with these bytes.
    fn sending(answer: Vec<u8>) -> Server {
        Server::new(move |connection| connection.write_all(&answer))
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }
}

fn with_body(status: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn missing() -> Vec<u8> {
    with_body("404 Not Found", b"")
}

impl Stripped {
    fn debug_file(&self) -> Vec<u8> {
        fs::read(self.path("program.debug")).expect("readable")
    }

    fn cached(&self) -> PathBuf {
        self.path("cache").join(ID).join("debuginfo")
    }

    /// Checks two files with the same build ID and different paths.
    fn check(&self, servers: &[&Server], more: &[(&str, &str)]) -> Outcome {
        let urls: Vec<&str> = servers.iter().map(|server| server.address.as_str()).collect();
        let (urls, cache) = (urls.join(" "), self.path("cache"));
        let variables = [
            ("DEBUGINFOD_URLS", urls.as_str()),
            ("DEBUGINFOD_CACHE_PATH", cache.to_str().expect("text")),
        ];
        let arguments = ["--format", "json", "--coverage", "--debuginfod", "stripped", "another"];
        self.run(&[&variables, more].concat(), &arguments)
    }
}

/// The functions with CFI only, and the debug file, of the first file.
fn coverage(outcome: &Outcome) -> (u64, Option<String>) {
    let document: serde_json::Value = serde_json::from_str(&outcome.text).expect("JSON");
    let coverage = &document["files"][0]["coverage"];
    let number = coverage["functions"]["only_cfi"].as_u64().expect("a number");
    (number, coverage["debug_file"].as_str().map(str::to_owned))
}

#[test]
fn a_debug_file_is_fetched_once_and_only_if_asked_for() {
    let Some(stripped) = Stripped::new(folder!("debuginfod-fetched")) else { return };
    let (absent, server) =
        (Server::sending(missing()), Server::sending(with_body("200 OK", &stripped.debug_file())));
    // The variable alone does nothing.
    let alone = stripped.run(&[("DEBUGINFOD_URLS", &server.address)], &["--coverage", "stripped"]);
    assert_eq!((alone.status, server.requests()), (0, vec![]));
    let outcome = stripped.check(&[&absent, &server], &[]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.text, outcome.stderr);
    let cached = stripped.cached();
    assert_eq!(coverage(&outcome), (1, cached.to_str().map(str::to_owned)));
    assert_eq!(fs::read(&cached).expect("readable"), stripped.debug_file());
    let wanted = [format!("GET /buildid/{ID}/debuginfo")];
    assert_eq!((absent.requests(), server.requests()), (wanted.to_vec(), wanted.to_vec()));
    assert_eq!(coverage(&stripped.check(&[&absent, &server], &[])).0, 1);
    assert_eq!((absent.requests().len(), server.requests().len()), (1, 1));
    // A folder comes first, and a file with its own debugging information needs none.
    fs::remove_dir_all(stripped.path("cache")).expect("a folder");
    fs::create_dir_all(stripped.path("debug/.build-id/ab")).expect("a folder");
    fs::copy(
        stripped.path("program.debug"),
        stripped.path("debug/.build-id/ab/cdef0123456789.debug"),
    )
    .expect("copied");
    let urls = [("DEBUGINFOD_URLS", server.address.as_str())];
    for arguments in [&["--debug-dir", "debug", "stripped"][..], &["program"]] {
        let arguments = [&["--coverage", "--debuginfod"], arguments].concat();
        assert_eq!(stripped.run(&urls, &arguments).status, 0);
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_missing_file_is_asked_for_once() {
    let Some(stripped) = Stripped::new(folder!("debuginfod-missing")) else { return };
    let server = Server::sending(missing());
    for _ in 0..2 {
        let outcome = stripped.check(&[&server], &[]);
        assert_eq!((outcome.status, coverage(&outcome)), (0, (0, None)), "{}", outcome.stderr);
    }
    assert_eq!(server.requests().len(), 1);
    assert_eq!(fs::metadata(stripped.cached()).expect("a file").len(), 0);
}

/// Each of these servers is asked once, and nothing of what it sends is kept.
#[test]
fn wrong_answers_are_refused() {
    let Some(stripped) = Stripped::new(folder!("debuginfod-wrong")) else { return };
    let debug = stripped.debug_file();
    let other = "objcopy --remove-section .note.gnu.build-id program.debug other";
    if !tools::run(&stripped.folder, "objcopy", other) {
        return;
    }
    let without_id = fs::read(stripped.path("other")).expect("readable");
    let mut wrong_id = debug.clone();
    let id = [0xab, 0xcd, 0xef, 0x01, 0x23];
    let place = wrong_id.windows(5).position(|bytes| bytes == id).expect("a build ID");
    wrong_id[place] ^= 1;
    let mut cut = with_body("200 OK", &debug);
    cut.truncate(cut.len() - 100);
    let redirect = |to: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .into_bytes()
    };
    let endless = |connection: &mut TcpStream| {
        connection.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        loop {
            connection.write_all(&[0x7f; 4096])?;
        }
    };
    // Ends when the client has closed the connection.
    let silent = |connection: &mut TcpStream| connection.read_to_end(&mut Vec::new()).map(drop);
    let stalled = |connection: &mut TcpStream| {
        connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\x7fELF")?;
        connection.read_to_end(&mut Vec::new()).map(drop)
    };
    let size = ("DEBUGINFOD_MAXSIZE", "100000");
    let second = ("DEBUGINFOD_TIMEOUT", "1");
    let long = format!("{}\r\n\r\n", "x".repeat(1 << 20));
    for (server, variables, requests, why) in [
        (
            Server::sending(with_body("200 OK", &wrong_id)),
            vec![],
            1,
            "is not the debug file: its build-id is different",
        ),
        (
            Server::sending(with_body("200 OK", &without_id)),
            vec![],
            1,
            "is not the debug file: its build-id is different",
        ),
        (
            Server::sending(with_body("200 OK", b"<html>\x1b[31m")),
            vec![],
            1,
            "is not the debug file: it is not an ELF file",
        ),
        (
            Server::sending(with_body("200 OK", b"")),
            vec![],
            1,
            "is not the debug file: it is not an ELF file",
        ),
        (Server::sending(cut), vec![], 1, "its answer ends too early"),
        (Server::sending(b"HTTP/1.1 200 \x1b[31m\r\n\r\n".to_vec()), vec![], 1, "it"),
        (Server::sending(b"SSH-2.0-OpenSSH\r\n".to_vec()), vec![], 1, "its answer is not HTTP"),
        (Server::sending(with_body("503 Busy", b"")), vec![], 1, "it answers with status 503"),
        (Server::sending(redirect("/again")), vec![], 6, "it redirects more than 5 times"),
        (Server::sending(redirect("file:///etc/passwd")), vec![], 6, "it redirects"),
        (Server::sending(redirect("gopher://127.0.0.1:1/")), vec![], 1, "it redirects"),
        (
            Server::sending([b"HTTP/1.1 200 OK\r\nX: ".as_slice(), long.as_bytes()].concat()),
            vec![],
            1,
            "it",
        ),
        (Server::new(endless), vec![size], 1, "it sends more than 100000 bytes"),
        (Server::new(silent), vec![second], 1, "it does not answer in time"),
        (Server::new(stalled), vec![second], 1, "it stops sending"),
    ] {
        let outcome = stripped.check(&[&server], &variables);
        assert_eq!(outcome.status, 2, "{why}: {}{}", outcome.text, outcome.stderr);
        let failure = format!("debuginfod server {}: ", server.address);
        let lines = outcome.text.lines().filter(|line| line.contains(&failure));
        assert!(lines.clone().count() > 0, "{}", outcome.text);
        lines.for_each(|line| assert!(line.contains(why), "{why}: {line}"));
        assert!(
            !outcome.text.contains('\u{1b}') && !outcome.text.contains("[31m"),
            "{}",
            outcome.text
        );
        assert_eq!(server.requests().len(), requests, "{why}: {:?}", server.requests());
        assert!(!stripped.cached().exists(), "{why}");
        let left = fs::read_dir(stripped.path("cache").join(ID)).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{why}");
    }
}

/// A file that is larger than allowed is not asked for in vain: the server has others.
#[test]
fn sizes_are_announced() {
    let Some(stripped) = Stripped::new(folder!("debuginfod-size")) else { return };
    let debug = stripped.debug_file();
    let server = Server::sending(with_body("200 OK", &debug));
    let size = (debug.len() - 1).to_string();
    let outcome = stripped.check(&[&server], &[("DEBUGINFOD_MAXSIZE", &size)]);
    assert_eq!(outcome.status, 2, "{}", outcome.text);
    let why = format!("the debug file of build ID {ID} has more than {size} bytes, the limit");
    assert!(outcome.text.contains(&why), "{}", outcome.text);
    assert!(!stripped.cached().exists());
    // The second file has the same build ID.
    assert!(server.requests().len() <= 2, "{:?}", server.requests());
    let size = debug.len().to_string();
    let outcome = stripped.check(&[&server], &[("DEBUGINFOD_MAXSIZE", &size)]);
    assert_eq!((outcome.status, coverage(&outcome).0), (0, 1), "{}", outcome.text);
}
