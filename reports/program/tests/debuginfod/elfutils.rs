//! The server of elfutils, and its client, which shares our cache.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use sframe_corpus::{folder, tools};

use super::{ID, Stripped};

/// A server, which ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Serves the debug files in the folder `served`. Waits until it has looked through it, and until it answers the request
    /// for the debug file of the program with this status.
    fn new(folder: &Path, status: &str) -> Server {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|of| of.local_addr()).expect("a port").port();
        let log = fs::File::create(folder.join("log")).expect("writable");
        let child = Command::new("debuginfod")
            .args(["-v", "-d", ":memory:", "-F", "-p", &port.to_string(), "served"])
            .current_dir(folder)
            .env_remove("DEBUGINFOD_URLS")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .spawn()
            .expect("it runs");
        let mut server = Server { child, address: format!("http://127.0.0.1:{port}") };
        loop {
            let text = fs::read_to_string(folder.join("log")).unwrap_or_default();
            let is_ended = server.child.try_wait().expect("a child").is_some();
            assert!(!is_ended, "debuginfod has ended: {text}");
            if text.contains("fts traversed")
                && answer(port).is_ok_and(|line| line.contains(status))
            {
                return server;
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// The first line of the answer to a request for the debug file of the program.
fn answer(port: u16) -> io::Result<String> {
    let mut connection = TcpStream::connect(("127.0.0.1", port))?;
    write!(connection, "GET /buildid/{ID}/debuginfo HTTP/1.0\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(connection).read_line(&mut line)?;
    Ok(line)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn elfutils_serves_debug_files_and_shares_the_cache() {
    let Some(stripped) = Stripped::new(folder!("debuginfod-elfutils")) else { return };
    if !tools::is_installed("debuginfod") || !tools::is_installed("debuginfod-find") {
        return;
    }
    fs::create_dir_all(stripped.path("served")).expect("a folder");
    fs::copy(stripped.path("program.debug"), stripped.path("served/program.debug"))
        .expect("copied");
    let server = Server::new(&stripped.folder, " 200 ");
    let ours = stripped.path(".cache/debuginfod_client").join(ID).join("debuginfo");
    let address = server.address.clone();
    let urls = [("DEBUGINFOD_URLS", address.as_str())];
    let outcome =
        stripped.run(&urls, &["--format", "json", "--coverage", "--debuginfod", "stripped"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.text).expect("JSON");
    let coverage = &document["files"][0]["coverage"];
    assert_eq!(coverage["functions"]["only_cfi"], 1, "{}{}", outcome.text, outcome.stderr);
    assert_eq!(coverage["debug_file"], ours.to_str().expect("text"));
    let debug = fs::read(stripped.path("program.debug")).expect("readable");
    assert_eq!(fs::read(&ours).expect("readable"), debug);
    let answers =
        stripped.run(&urls, &["lookup", "--debuginfod", "--format", "json", "stripped", "_start"]);
    assert!(
        answers.text.contains(ours.to_str().expect("text")),
        "{}{}",
        answers.text,
        answers.stderr
    );

    // Without a server, their client finds what ours has fetched, and ours what theirs has.
    let find = |id: &str, urls: &str| {
        let mut command = Command::new("debuginfod-find");
        command.args(["debuginfo", id]).env("DEBUGINFOD_URLS", urls).env("HOME", &stripped.folder);
        command.env_remove("XDG_CACHE_HOME").env_remove("DEBUGINFOD_CACHE_PATH");
        command.output().expect("it runs")
    };
    let found = find(ID, "http://127.0.0.1:1");
    assert_eq!(String::from_utf8_lossy(&found.stdout).trim(), ours.to_str().expect("text"));
    fs::remove_dir_all(stripped.path(".cache")).expect("a folder");
    assert!(find(ID, &address).status.success());
    drop(server);
    let outcome = stripped.run(&urls, &["--coverage", "--debuginfod", "stripped"]);
    assert_eq!(outcome.status, 0, "{}", outcome.text);
    // What their client has not found is not asked for.
    fs::remove_dir_all(stripped.path(".cache")).expect("a folder");
    fs::remove_file(stripped.path("served/program.debug")).expect("a file");
    let server = Server::new(&stripped.folder, " 404 ");
    assert!(!find(ID, &server.address).status.success());
    let miss = fs::metadata(&ours).expect("a file");
    assert_eq!(miss.len(), 0);
    drop(server);
    let outcome = stripped.run(&urls, &["--coverage", "--debuginfod", "stripped"]);
    assert_eq!(outcome.status, 0, "{}", outcome.text);
}
