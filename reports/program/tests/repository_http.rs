//! A repository on a local HTTP server that sometimes fails.

#![cfg(feature = "http")]
#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use packing::Folder;

/// The path of each request, and the first byte of its range.
type Requests = Arc<Mutex<Vec<(String, Option<usize>)>>>;

/// Serves the files of a folder; returns the server's address and the requests so far. The first request for a package
/// is answered with 503, the second with half of the body.
fn serve(folder: PathBuf) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let requests = Requests::default();
    let log = requests.clone();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let _ = answer(&folder, connection.expect("a connection"), &log);
        }
    });
    (address, requests)
}

fn answer(folder: &Path, mut connection: TcpStream, requests: &Requests) -> std::io::Result<()> {
    let lines: Vec<String> = BufReader::new(connection.try_clone()?)
        .lines()
        .map_while(|line| line.ok().filter(|line| !line.is_empty()))
        .collect();
    let path = lines[0].split(' ').nth(1).expect("a path").trim_start_matches('/').to_owned();
    let range = lines
        .iter()
        .find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let start = range.map(|range| range.trim_end_matches('-').parse().expect("a number"));
    let before = {
        let mut requests = requests.lock().expect("not poisoned");
        requests.push((path.clone(), start));
        requests.iter().filter(|(requested, _)| *requested == path).count() - 1
    };
    let package = path.ends_with(".deb");
    let Ok(body) = fs::read(folder.join(path.replace("%2B", "+").replace("%25", "%"))) else {
        return write!(
            connection,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    };
    if package && before == 0 {
        return write!(
            connection,
            "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    let (status, rest) = match start {
        Some(start) => ("206 Partial Content", &body[start..]),
        None => ("200 OK", &body[..]),
    };
    let length = rest.len();
    write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    let most = if package && before == 1 { length / 2 } else { length };
    connection.write_all(&rest[..most])
}

/// A repository with one package, in whose name some characters must be escaped in a URL.
fn folder(name: &str) -> Option<Folder> {
    let folder = Folder::new(name);
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    let commands = "mkdir -p d/DEBIAN d/usr/bin repository/pool repository/dists/sid/main/binary-amd64; cp program d/usr/bin
        head -c 300000 /dev/urandom > d/usr/bin/text
        printf 'Package: x\\nVersion: 1+b1\\nArchitecture: amd64\\nMaintainer: x <x@example.org>\\nDescription: x\\n' > d/DEBIAN/control
        dpkg-deb --root-owner-group -b d 'repository/pool/x_1%3a1+b1.deb'; cd repository
        dpkg-scanpackages pool 2> /dev/null | gzip > dists/sid/main/binary-amd64/Packages.gz
        printf 'Components: main\\nArchitectures: amd64\\n' > dists/sid/Release";
    folder.make("dpkg-scanpackages", commands).then_some(folder)
}

#[test]
fn interrupted_downloads_are_resumed() {
    let Some(folder) = folder("repo-http") else { return };
    let (address, requests) = serve(folder.path("repository"));
    let (status, text) = folder.check(&["repo", "-v", "--suite", "sid", &address]);
    assert!(
        text.contains(&format!("{address}/pool/x_1%253a1%2Bb1.deb!usr/bin/program: .sframe V3")),
        "{text}"
    );
    assert_eq!(status, 0, "{text}");
    let requests = requests.lock().expect("not poisoned");
    let requests: Vec<_> = requests.iter().filter(|(path, _)| path.ends_with(".deb")).collect();
    assert_eq!(requests.len(), 3, "{requests:?}");
    assert_eq!((requests[0].1, requests[1].1), (None, None));
    let size =
        fs::metadata(folder.path("repository/pool/x_1%3a1+b1.deb")).expect("it exists").len();
    assert_eq!(requests[2].1.map(|start| start as u64), Some(size / 2));
}

#[test]
fn missing_indexes_and_packages_are_reported() {
    let Some(folder) = folder("repo-http-none") else { return };
    let (address, _) = serve(folder.path("repository"));
    let (status, text) = folder.check(&["repo", &address]);
    assert!(status == 2 && text.contains("it has no Packages in its root: name a suite"), "{text}");
    let missing_suite = ["--suite", "none", "--component", "main", "--architecture", "amd64"];
    let arguments = [&["repo", "-v"], missing_suite.as_slice(), &[address.as_str()]].concat();
    let outcome = sframe_corpus::program::run(&folder.path("."), &arguments);
    assert_eq!(outcome.status, 2, "{}", outcome.text);
    assert!(outcome.stderr.contains("nothing to check: no index of"), "{}", outcome.stderr);
    fs::remove_file(folder.path("repository/pool/x_1%3a1+b1.deb")).expect("it exists");
    let (status, text) = folder.check(&["repo", "-v", "--suite", "sid", &address]);
    assert!(status == 2 && text.contains("cannot be read: the server has no such file"), "{text}");
}

/// The URL of the repository has a user name and a password; neither is on standard output or standard error.
#[test]
fn credentials_are_not_printed() {
    let Some(folder) = folder("repo-http-credentials") else { return };
    let (address, requests) = serve(folder.path("repository"));
    let address = address.replace("http://", "http://user:secret@");
    for arguments in [
        ["-v", "--suite", "sid"].as_slice(),
        &["--format", "json", "--suite", "sid"],
        &["--list", "--suite", "sid"],
        &["-v"],
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sframe-check"))
            .arg("repo")
            .args(arguments)
            .arg(&address)
            .output()
            .expect("the program runs");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains("secret") && !text.contains("user:"), "{arguments:?}: {text}");
        assert!(text.contains("127.0.0.1"), "{arguments:?}: {text}");
    }
    assert!(!requests.lock().expect("not poisoned").is_empty());
}
