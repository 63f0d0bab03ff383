//! A repository on a local HTTP server that sometimes fails.

#![cfg(feature = "http")]
#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;
#[path = "cases/fixtures/repositories.rs"]
mod repositories;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use packing::Folder;
use sframe_corpus::tools;

/// The path of each request, and the first byte of its range.
type Requests = Arc<Mutex<Vec<(String, Option<usize>)>>>;

/// Serves the files of a folder; returns the server's address and the requests so far. The first request for a package
/// is answered with 503, the second with half of the body. Folders are answered with a page for people.
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
    let package = [".deb", ".rpm", ".apk", ".pkg.tar.zst"].iter().any(|end| path.ends_with(end));
    let file = folder.join(decoded(&path));
    let page = || file.is_dir().then(|| b"<html>\nPackage: x\n</html>\n".to_vec());
    let Some(body) = fs::read(&file).ok().or_else(page) else {
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

/// The text without percent-encoding (RFC 3986, 2.1).
fn decoded(path: &str) -> String {
    let mut parts = path.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(u8::from_str_radix(&part[..2], 16).expect("hexadecimal digits").into());
        text.push_str(&part[2..]);
    }
    text
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
    assert!(status == 2 && text.contains("no index found in its root: name a suite"), "{text}");
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

/// A folder with packages, or `None` if the tool that lists them is missing and not required.
fn packages(name: &str, tool: &str, make: fn(&Folder)) -> Option<Folder> {
    if !tools::is_installed(tool) {
        return None;
    }
    let folder = Folder::new(name);
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    make(&folder);
    Some(folder)
}

/// The repository at `path` in the folder lists the same packages as on a server, where all can be checked.
fn is_the_same_on_a_server(
    folder: &Folder,
    address: &str,
    path: &str,
    options: &[&str],
    count: usize,
) {
    let list = |start: &str| {
        let location = format!("{start}{path}");
        let (status, text) = folder.check(&[&["repo", "--list"], options, &[&location]].concat());
        assert_eq!(status, 0, "{location}: {text}");
        let names = text.split_terminator('\0');
        names.map(|name| decoded(name.strip_prefix(start).expect("inside"))).collect::<Vec<_>>()
    };
    let listed = list(address);
    assert_eq!(listed, list("repository"));
    assert_eq!(listed.len(), count, "{listed:?}");
    let location = format!("{address}{path}");
    let (status, text) = folder.check(&[&["repo"], options, &[&location]].concat());
    assert_eq!(status, 0, "{text}");
    assert!(text.contains(&format!("{count} files checked, {count} with")), "{text}");
}

#[test]
fn rpm_md_repositories_are_read() {
    let folder = packages("repo-http-rpm-md", "createrepo_c", repositories::rpms);
    let Some(folder) = folder else { return };
    if !folder.make("rpmbuild", "createrepo_c -q repository") {
        return;
    }
    let (address, requests) = serve(folder.path("repository"));
    is_the_same_on_a_server(&folder, &address, "", &[], 4);
    is_the_same_on_a_server(&folder, &address, "", &["--architecture", "x86_64"], 3);
    let requests = requests.lock().expect("not poisoned");
    assert!(requests.iter().all(|(path, _)| path != "Packages"), "{requests:?}");
    let resumed = requests.iter().filter(|(_, start)| start.is_some()).count();
    assert_eq!(resumed, 4, "{requests:?}");
}

/// Neither the table nor a package is taken from another server.
#[test]
fn other_servers_are_not_asked() {
    let folder = packages("repo-http-elsewhere", "createrepo_c", repositories::rpms);
    let Some(folder) = folder else { return };
    let (other, requests) = serve(folder.path("repository"));
    let elsewhere = format!("s|href=|xml:base=\"{other}/\" href=|");
    let command = format!(
        "createrepo_c -q --general-compress-type gz repository; cd repository/repodata; gzip -d *-primary.xml.gz
         sed '{elsewhere}' *-primary.xml > primary
         printf '<repomd><data type=\"primary\"><checksum type=\"sha256\">%s</checksum>' \
             $(sha256sum primary | cut -c -64) > repomd.xml
         printf '<location href=\"repodata/primary\"/></data></repomd>' >> repomd.xml"
    );
    if !folder.make("rpmbuild", &command) {
        return;
    }
    let (address, _) = serve(folder.path("repository"));
    let (status, text) = folder.check(&["repo", &address]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("4 unreadable") && text.contains("it is on another server"), "{text}");
    let command = format!("sed -i '{elsewhere}' repository/repodata/repomd.xml");
    assert!(folder.make("sed", &command));
    let (status, text) = folder.check(&["repo", &address]);
    assert!(status == 2 && text.contains("its table primary is on another server"), "{text}");
    assert!(requests.lock().expect("not poisoned").is_empty());
}

#[test]
fn alpine_repositories_are_read() {
    let folder = packages("repo-http-alpine", "openssl", repositories::apks);
    let Some(folder) = folder else { return };
    let (address, _) = serve(folder.path("repository"));
    is_the_same_on_a_server(&folder, &address, "", &["--architecture", "x86_64"], 2);
    is_the_same_on_a_server(&folder, &address, "/x86_64", &[], 2);
}

/// The database has the name of a folder in the address, or is named.
#[test]
fn arch_repositories_are_read() {
    let folder = packages("repo-http-arch", "repo-add", repositories::pacman);
    let Some(folder) = folder else { return };
    let command =
        "mkdir -p core/os; mv repository core/os/x86_64; mkdir repository; mv core repository
        cd repository/core/os/x86_64; repo-add -q core.db.tar.gz *.zst";
    if !folder.make("zstd", command) {
        return;
    }
    let (address, _) = serve(folder.path("repository"));
    is_the_same_on_a_server(&folder, &address, "/core/os/x86_64", &[], 3);
    is_the_same_on_a_server(&folder, &address, "/core/os/x86_64/core.db", &[], 3);
}
