//! The findings of a file while it is checked: in memory or, if there are too many, in a temporary file.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use serde_json::Deserializer;
use sframe_input::plain_error;
use sframe_record::Finding;

/// The maximum number of findings of a file in memory. They are sorted by place; if there are more, they stay in the order of
/// the check.
const MOST_HELD: usize = 10_000;
/// The number of findings that are read at a time.
const AT_A_TIME: usize = 256;

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Held {
    findings: Vec<Finding<'static>>,
    spilled: Option<Spill>,
}

/// The findings that were collected.
pub(super) enum Collected {
    /// All of them.
    InMemory(Vec<Finding<'static>>),
    /// Too many for memory.
    Spilled(Spilled),
}

/// A temporary file to which findings are written.
#[derive(Debug)]
struct Spill {
    out: Option<BufWriter<File>>,
    error: Option<io::Error>,
}

/// Findings in a temporary file, which has no name and is gone once it is closed.
#[derive(Clone, Debug)]
pub(super) struct Spilled {
    file: Option<Arc<File>>,
    /// Why the file lacks some of them.
    error: Option<Arc<io::Error>>,
}

/// Why some findings are missing from a temporary file.
#[derive(Debug)]
pub(super) enum Missing {
    /// They could not be written.
    Unwritten(Arc<io::Error>),
    /// They cannot be read again.
    Unreadable(serde_json::Error),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Missing::Unwritten(error) => plain_error(error),
            Missing::Unreadable(error) => error.to_string(),
        };
        write!(f, "not all findings are listed: the folder for temporary files: {why}")
    }
}

impl Error for Missing {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Missing::Unwritten(error) => Some(error),
            Missing::Unreadable(error) => Some(error),
        }
    }
}

impl Held {
    pub(super) fn push(&mut self, finding: Finding<'static>) {
        if let Some(spill) = &mut self.spilled {
            return spill.write(&finding);
        }
        self.findings.push(finding);
        if self.findings.len() > MOST_HELD {
            self.spill();
        }
    }

    fn spill(&mut self) -> &mut Spill {
        let findings = std::mem::take(&mut self.findings);
        self.spilled.get_or_insert_with(|| {
            let mut spill = Spill::new();
            findings.iter().for_each(|finding| spill.write(finding));
            spill
        })
    }

    /// Sorts the findings by their places in sections, unless there are too many.
    pub(super) fn sort(&mut self) {
        self.findings.sort_by_key(|finding| (finding.section, finding.offset));
    }

    /// Adds the findings of `other` after the others.
    pub(super) fn append(&mut self, other: Held) {
        match other.finish() {
            Collected::InMemory(findings) => {
                findings.into_iter().for_each(|finding| self.push(finding));
            }
            Collected::Spilled(spilled) => {
                let spill = self.spill();
                let copied = spilled.each(&mut |findings| {
                    findings.iter().for_each(|finding| spill.write(finding));
                });
                if let Err(why) = copied {
                    spill.error.get_or_insert_with(|| io::Error::other(why));
                }
            }
        }
    }

    pub(super) fn finish(self) -> Collected {
        match self.spilled {
            Some(spill) => Collected::Spilled(spill.finish()),
            None => Collected::InMemory(self.findings),
        }
    }
}

impl Spill {
    fn new() -> Spill {
        match tempfile::tempfile() {
            Ok(file) => Spill { out: Some(BufWriter::with_capacity(1 << 16, file)), error: None },
            Err(error) => Spill { out: None, error: Some(error) },
        }
    }

    /// Writes a finding, unless an earlier one could not be written.
    fn write(&mut self, finding: &Finding<'_>) {
        if let Some(out) = self.out.as_mut().filter(|_| self.error.is_none()) {
            self.error = serde_json::to_writer(out, finding).err().map(Into::into);
        }
    }

    fn finish(self) -> Spilled {
        let Spill { mut out, mut error } = self;
        if let Err(unwritten) = out.iter_mut().try_for_each(Write::flush) {
            error.get_or_insert(unwritten);
        }
        let file = out.and_then(|out| out.into_inner().ok()).map(Arc::new);
        Spilled { file, error: error.map(Arc::new) }
    }
}

impl Spilled {
    /// Hands over all findings, some at a time.
    ///
    /// # Errors
    /// Returns the reason why some of them are missing.
    pub(super) fn each(&self, take: &mut dyn FnMut(Vec<Finding<'static>>)) -> Result<(), Missing> {
        let mut error = self.error.clone().map(Missing::Unwritten);
        let mut some = Vec::with_capacity(AT_A_TIME);
        if let Some(file) = &self.file {
            let input = BufReader::with_capacity(1 << 16, At { file, offset: 0 });
            for finding in Deserializer::from_reader(input).into_iter() {
                match finding {
                    Ok(finding) => some.push(finding),
                    Err(damage) => {
                        // What could not be written was cut off.
                        error.get_or_insert(Missing::Unreadable(damage));
                        break;
                    }
                }
                if some.len() == AT_A_TIME {
                    take(std::mem::replace(&mut some, Vec::with_capacity(AT_A_TIME)));
                }
            }
        }
        take(some);
        error.map_or(Ok(()), Err)
    }
}

/// Reads a file from a place of its own.
struct At<'f> {
    file: &'f File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::{Collected, Held, MOST_HELD};
    use sframe_record::{Finding, Severity};

    fn finding(offset: usize) -> Finding<'static> {
        let rule = "fre-type".into();
        let about = Finding::about_file(rule, Severity::Error, "rows", format!("\"\n{offset}"));
        Finding { offset: Some(offset as u64), ..about }
    }

    fn collected(held: Held) -> (bool, Vec<Finding<'static>>) {
        match held.finish() {
            Collected::InMemory(findings) => (true, findings),
            Collected::Spilled(spilled) => {
                let mut all = Vec::new();
                spilled.each(&mut |some| all.extend(some)).expect("room");
                (false, all)
            }
        }
    }

    #[test]
    fn findings_beyond_the_maximum_are_read_back_in_order() {
        for number in [0, MOST_HELD, MOST_HELD + 1, 2 * MOST_HELD + 7] {
            let mut held = Held::default();
            (0..number).for_each(|offset| held.push(finding(offset)));
            let (in_memory, found) = collected(held);
            assert_eq!(in_memory, number <= MOST_HELD);
            assert!(found == (0..number).map(finding).collect::<Vec<_>>(), "{number}");
        }
    }

    #[test]
    fn findings_are_appended_from_memory_and_from_files() {
        for (first, second) in [(1, 2), (MOST_HELD, 1), (1, MOST_HELD + 1), (MOST_HELD + 1, 1)] {
            let (mut held, mut other) = (Held::default(), Held::default());
            (0..first).for_each(|offset| held.push(finding(offset)));
            (first..first + second).for_each(|offset| other.push(finding(offset)));
            held.append(other);
            let (_, found) = collected(held);
            assert!(found == (0..first + second).map(finding).collect::<Vec<_>>(), "{first}");
        }
    }
}
