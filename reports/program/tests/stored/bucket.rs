//! Stores in buckets, on a server with the S3 protocol (moto), read with Amazon's own client (boto3).
//! `store/tools/bucket` installs both. Without them, these tests are skipped, or fail if `SFRAME_REQUIRE_TOOLS` is
//! set.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::{folder, golden_tree};

/// A server with a bucket `nights`. It is stopped when this is dropped.
struct Server {
    process: Child,
    port: u16,
}

/// Prints all objects of a store, or writes one. Bytes are in hexadecimal.
const CLIENT: &str = "
import boto3, json, sys, time
client = boto3.client('s3')
for attempt in range(100):
    try:
        client.create_bucket(Bucket='nights')
        break
    except Exception:
        time.sleep(0.1)
command, *rest = sys.argv[1:]
if command == 'all':
    found = {}
    for page in client.get_paginator('list_objects_v2').paginate(Bucket='nights', Prefix=rest[0]):
        for entry in page.get('Contents', []):
            body = client.get_object(Bucket='nights', Key=entry['Key'])['Body'].read()
            found[entry['Key'].removeprefix(rest[0] + '/')] = body.hex()
    json.dump(found, sys.stdout)
elif command == 'put':
    client.put_object(Bucket='nights', Key=rest[0], Body=bytes.fromhex(rest[1]))
";

impl Server {
    /// Starts the server, or returns `None` if it is not installed.
    fn start() -> Option<Server> {
        let python = python()?;
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
        let port = free.expect("a port").port();
        let process = Command::new(python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let server = Server { process, port };
        server.client(&["none"]);
        Some(server)
    }

    /// Sets the environment variables with which the program and boto3 find the server.
    fn variables(&self, command: &mut Command) {
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)).envs([
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ]);
    }

    fn client(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = Command::new(python().expect("installed"));
        command.args(["-c", CLIENT]).args(arguments).stderr(Stdio::inherit());
        self.variables(&mut command);
        let output = command.output().expect("it runs");
        assert!(output.status.success());
        output.stdout
    }

    /// All objects of a store, by name.
    fn objects(&self, store: &str) -> BTreeMap<String, Vec<u8>> {
        let all: BTreeMap<String, String> =
            serde_json::from_slice(&self.client(&["all", store])).expect("JSON");
        all.into_iter().map(|(name, hex)| (name, bytes(&hex))).collect()
    }

    fn put(&self, object: &str, bytes: &[u8]) {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.client(&["put", object, &hex]);
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = crate::command(folder, arguments);
        self.variables(&mut command);
        command
    }

    /// Runs the program, and returns its exit status, standard output and standard error.
    fn run(&self, folder: &Path, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(folder, arguments).output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("not killed"), text(&output.stdout), text(&output.stderr))
    }

    fn scan(&self, folder: &Path, shard: &str, store: &str) -> i32 {
        let scan = ["scan", "--manifest", "m", "--shard", shard, "--store", store];
        let (status, _, error) = self.run(folder, &scan);
        eprint!("{error}");
        status
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bucket/bin/python");
    if python.exists() {
        return Some(python);
    }
    sframe_corpus::tools::missing("a bucket", "reports/store/tools/bucket installs it");
    None
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |place| u8::from_str_radix(&hex[place..place + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// A plan of three shards.
fn planned(name: &str) -> PathBuf {
    let folder = folder(name);
    golden_tree(&folder.join("tree"));
    let (status, _, error) = crate::outcome(&folder, &["plan", "tree", "--shards", "3", "-o", "m"]);
    assert_eq!(status, 0, "{error}");
    folder
}

/// The files of a store in a folder.
fn files(store: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![store.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(store).expect("in it").display().to_string();
                files.insert(name, fs::read(path).expect("readable"));
            }
        }
    }
    files
}

#[test]
fn a_bucket_has_the_same_files_as_a_folder() {
    let Some(server) = Server::start() else { return };
    let folder = planned("bucket");
    let store = "s3://nights/monday";
    let shards = ["--manifest", "m", "--store", store];
    let on = |name: &'static str| [&[name], shards.as_slice()].concat();
    for shard in ["2", "0", "0"] {
        assert_eq!(server.scan(&folder, shard, store), 0);
    }
    let (status, text, _) = server.run(&folder, &on("status"));
    assert_eq!((status, text.as_str()), (1, "2 of 3 whole; shard 1 is missing\n"));
    assert_eq!(server.run(&folder, &on("merge")).0, 1);
    assert_eq!(server.scan(&folder, "1", store), 0);
    assert_eq!(server.run(&folder, &on("merge")).0, 0);

    for shard in ["0", "1", "2"] {
        assert_eq!(server.scan(&folder, shard, "folder"), 0);
    }
    let merge = ["merge", "--manifest", "m", "--store", "folder"];
    assert_eq!(server.run(&folder, &merge).0, 0);
    let (objects, files) = (server.objects("monday"), files(&folder.join("folder")));
    assert!(objects.keys().eq(files.keys()), "{:?} {:?}", objects.keys(), files.keys());
    assert!(objects == files);

    // The next scan takes over unchanged files from the bucket, and is compared with it.
    let night = ["--store", "tuesday", "--previous", store, "tree", "--fail-on", "never"];
    let (status, _, error) = server.run(&folder, &night);
    assert_eq!(status, 0, "{error}");
    let (status, text, error) =
        server.run(&folder, &["compare", store, "folder", "--format", "json"]);
    assert_eq!(status, 0, "{error}");
    let changes: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(changes["files"], Value::Array(Vec::new()));
    assert!(changes["summary"]["matched"].as_u64() > Some(8), "{text}");
}

#[test]
fn concurrent_writers_of_one_shard_do_not_damage_it() {
    let Some(server) = Server::start() else { return };
    let folder = planned("bucket-writers");
    let store = "s3://nights/writers";
    let scan = ["scan", "--manifest", "m", "--shard", "0", "--store", store];
    let mut writers: Vec<Child> =
        (0..4).map(|_| server.command(&folder, &scan).spawn().expect("it runs")).collect();
    for writer in &mut writers {
        assert_eq!(writer.wait().expect("it ends").code(), Some(0));
    }
    let object = "shards/00000.ndjson.zst";
    let whole = server.objects("writers").remove(object).expect("a shard");

    // A damaged shard is replaced, but not that of another scan.
    server.put(&format!("writers/{object}"), &whole[..whole.len() / 2]);
    assert_eq!(server.scan(&folder, "0", store), 0);
    assert!(server.objects("writers")[object] == whole);
    let other = planned("bucket-writers-of-others");
    fs::remove_file(other.join("tree/2.40/static.exe")).expect("it exists");
    let plan = ["plan", "tree", "--shards", "3", "-o", "m"];
    assert_eq!(crate::outcome(&other, &plan).0, 0);
    let (status, _, error) = server.run(&other, &scan);
    assert_eq!(status, 64, "{error}");
    assert!(error.contains("another scan"), "{error}");
    assert!(server.objects("writers")[object] == whole);
}

#[test]
fn unusable_buckets_are_reported() {
    let Some(server) = Server::start() else { return };
    let folder = planned("bucket-refused");
    assert_eq!(server.scan(&folder, "0", "s3://nights"), 64);
    // The bucket does not exist yet: status 75 says that a retry may succeed.
    let (status, _, error) =
        server.run(&folder, &["merge", "--manifest", "m", "--store", "s3://nowhere/x"]);
    assert_eq!(status, 75, "{error}");
    assert!(error.contains("s3://nowhere/x") && error.contains("NoSuchBucket"), "{error}");
    assert_eq!(server.scan(&folder, "0", "s3://nights/half"), 0);
    let (status, _, error) = server.run(&folder, &["compare", "s3://nights/half", "m"]);
    assert_eq!(status, 3, "{error}");
    assert!(error.contains("s3://nights/half: there is no merged store"), "{error}");
    let (status, _, error) = server.run(&folder, &["--store", "s3://nights/x", "tree"]);
    assert_eq!(status, 3, "{error}");
    assert!(error.contains("keeps its results in a folder"), "{error}");
}

/// The checker that is restarted after a crash skips the file that caused it, although the crashed one has not written
/// anything to the bucket.
#[test]
fn a_file_that_crashes_the_checker_is_recorded_in_the_bucket() {
    let Some(server) = Server::start() else { return };
    let folder = folder("bucket-crashed");
    golden_tree(&folder.join("tree"));
    crate::crash::package(&folder.join("tree/2.44/large.tar.gz"));
    let what = ["--max-member-size", "1000", "--max-ratio", "100000"];
    let plan = [&["plan", "tree", "--shards", "1", "-o", "m"], what.as_slice()].concat();
    assert_eq!(crate::outcome(&folder, &plan).0, 0);
    let program = env!("CARGO_BIN_EXE_sframe-check");
    let line = format!(
        "ulimit -v 450000; exec {program} scan --manifest m --shard 0 --store s3://nights/crashed {}",
        what.join(" ")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(&folder);
    server.variables(&mut command);
    let output = command.output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    let shard = server.objects("crashed").remove("shards/00000.ndjson.zst").expect("a shard");
    let lines = zstd::decode_all(shard.as_slice()).expect("zstd");
    let lines = String::from_utf8(lines).expect("UTF-8");
    assert_eq!(lines.lines().filter(|line| line.contains("\"status\":\"crashed\"")).count(), 1);
    assert!(lines.lines().count() > 8, "{lines}");
}
