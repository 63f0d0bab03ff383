//! An item in a process of its own, so that what ends the checker ends nothing else.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use nix::sys::signal::Signal;
use sframe_record::FileName;
use sframe_store::{Counts, Item};

use super::file::check;
use super::record::crashed;
use crate::scan::Checker;

/// How the last line starts: how many files of which kind have no record.
const WITHOUT: &str = r#"{"without":"#;

/// What is said of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// Its records.
    pub records: Vec<Vec<u8>>,
    /// What has none.
    pub without: Counts,
}

/// Checks an item in this process, and writes what there is to say for the one that has started it.
///
/// # Errors
/// Those of writing.
pub fn check_alone(item: &Item, checker: &Checker<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut written = Ok(());
    let without = check(&item.path, checker, &mut |mut record| {
        record.push(b'\n');
        if written.is_ok() {
            written = out.write_all(&record);
        }
    })?;
    written?;
    write!(out, "{WITHOUT}")?;
    serde_json::to_writer(&mut *out, &without)?;
    writeln!(out, "}}")?;
    out.flush()
}

/// Checks an item in a process of its own, which is this program with the same arguments and
/// `--item`. Where that process dies, a record says so.
///
/// # Errors
/// The process cannot be started.
pub fn run_alone(item: u32, path: &Path) -> io::Result<Alone> {
    let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
    // Before paths, and behind the name of the subcommand.
    let place = usize::from(arguments.first().is_some_and(|first| first == "scan"));
    arguments.insert(place, format!("--item={item}").into());
    let output = Command::new(env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if let Some(alone) = parse(&output.stdout).filter(|_| output.status.success()) {
        return Ok(alone);
    }
    let record = crashed(&FileName::file(path.to_owned()), ending(output.status))?;
    Ok(Alone { records: vec![record], without: Counts::default() })
}

fn ending(status: ExitStatus) -> String {
    let signal = status.signal().and_then(|number| Signal::try_from(number).ok());
    match (signal, status.code()) {
        (Some(signal), _) => format!("its checker was ended by {signal}"),
        (None, Some(code)) => format!("its checker ended with status {code}"),
        (None, None) => "its checker ended early".to_owned(),
    }
}

/// What [`check_alone`] has written, all of it.
fn parse(output: &[u8]) -> Option<Alone> {
    let lines = output.strip_suffix(b"\n")?;
    let mut records: Vec<Vec<u8>> =
        lines.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let last = records.pop()?;
    let counts = last.strip_prefix(WITHOUT.as_bytes())?.strip_suffix(b"}")?;
    let counts: BTreeMap<String, u64> = serde_json::from_slice(counts).ok()?;
    let mut without = Counts::default();
    counts.iter().for_each(|(kind, number)| without.add(kind, *number));
    Some(Alone { records, without })
}
