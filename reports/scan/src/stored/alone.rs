//! Checks an item in a separate process, so that a crash of the checker ends nothing else.

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
use crate::Checker;

/// The beginning of the last line, which counts the files without a record by kind.
const WITHOUT: &str = r#"{"without":"#;

/// The results for an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// Its records.
    pub records: Vec<Vec<u8>>,
    /// The counts of files without a record.
    pub without: Counts,
}

/// Checks an item in this process, and writes the results for the process that started it.
///
/// # Errors
/// Returns an error if writing fails.
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

/// Checks an item in a separate process: this program with the same arguments and `--item`. If that process dies, the
/// result is a record that says so.
///
/// # Errors
/// Returns an error if the process cannot be started.
pub fn run_alone(item: u32, path: &Path) -> io::Result<Alone> {
    let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
    // Before the paths, and after the name of the subcommand.
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

/// The results that [`check_alone`] wrote; `None` if they are not complete.
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
