//! Opens what is compared: files, or packages, whose files are compared by their paths.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use sframe_input::package::{self, Content, Limits, Member};
use sframe_input::{FileBytes, open_file, plain_error};
use sframe_validator::elf::Elf;

use super::{DiffOptions, Error, Report, diff_files, file};

/// The result of comparing two files or packages.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The files that were compared, by path.
    pub reports: Vec<Report>,
    /// The files with an SFrame section in the first package alone.
    pub only_first: Vec<PathBuf>,
    /// The files with an SFrame section in the second package alone.
    pub only_second: Vec<PathBuf>,
}

impl Comparison {
    /// Whether the sections of any files differ, or one package has other files than the other.
    #[must_use]
    pub fn is_different(&self) -> bool {
        let has_others = !self.only_first.is_empty() || !self.only_second.is_empty();
        has_others || self.reports.iter().any(Report::is_different)
    }

    /// Whether something could not be compared.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.reports.iter().any(Report::is_incomplete)
    }
}

/// The files of a package with an SFrame section, by path in it.
type Files = BTreeMap<Vec<u8>, Vec<u8>>;

/// What a path names.
enum Side {
    File(FileBytes),
    Package(Files),
}

/// Compares the sections of two ELF files, or of the files in two packages that have the same path in them. A package with one
/// such file can be compared with a file.
///
/// # Errors
/// Returns the file that cannot be compared and the reason: it cannot be read, is not an ELF file, or has no readable
/// SFrame section.
pub fn diff_inputs(
    first: &Path,
    second: &Path,
    options: &DiffOptions,
) -> Result<Comparison, Error> {
    let sides = (Side::open(first)?, Side::open(second)?);
    let one = |report| Comparison {
        reports: vec![report],
        only_first: Vec::new(),
        only_second: Vec::new(),
    };
    let comparison = match &sides {
        (Side::File(a), Side::File(b)) => one(diff_files((first, a), (second, b), options)?),
        (Side::File(a), Side::Package(files)) => {
            let (path, data) = only(second, files)?;
            one(diff_files((first, a), (&path, data), options)?)
        }
        (Side::Package(files), Side::File(b)) => {
            let (path, data) = only(first, files)?;
            one(diff_files((&path, data), (second, b), options)?)
        }
        (Side::Package(a), Side::Package(b)) => together((first, a), (second, b), options)?,
    };
    for (path, side) in [(first, &sides.0), (second, &sides.1)] {
        if let Side::File(data) = side {
            data.intact().map_err(|error| failed(path, plain_error(&error)))?;
        }
    }
    Ok(comparison)
}

/// The files of two packages.
fn together(
    (first, a): (&Path, &Files),
    (second, b): (&Path, &Files),
    options: &DiffOptions,
) -> Result<Comparison, Error> {
    let missing = |of: &Files, from: &Files, package: &Path| -> Vec<PathBuf> {
        let paths = of.keys().filter(|path| !from.contains_key(*path));
        paths.map(|path| inside(package, path)).collect()
    };
    let (only_first, only_second) = (missing(a, b, first), missing(b, a, second));
    let pairs = a.iter().filter_map(|(path, data)| Some((path, data, b.get(path)?)));
    let report = |(path, one, other): (&Vec<u8>, &Vec<u8>, &Vec<u8>)| {
        let names = (inside(first, path), inside(second, path));
        diff_files((&names.0, one), (&names.1, other), options)
    };
    let reports = pairs.map(report).collect::<Result<Vec<_>, _>>()?;
    if reports.is_empty() && only_first.is_empty() && only_second.is_empty() {
        return Err(failed(first, NONE.to_owned()));
    }
    Ok(Comparison { reports, only_first, only_second })
}

const NONE: &str = "no file with an SFrame section";

impl Side {
    fn open(path: &Path) -> Result<Side, Error> {
        let data = file::read(path).map_err(|why| failed(path, why))?;
        if !package::is_package(&data) {
            return Ok(Side::File(data));
        }
        files(path).map(Side::Package).map_err(|why| failed(path, why))
    }
}

/// Unpacks the files of a package that have an SFrame section.
fn files(path: &Path) -> Result<Files, String> {
    let limits = Limits::default();
    let (mut files, mut held, mut problem) = (Files::new(), 0_u64, None);
    let mut found = |member: Member<'_>| match member.content {
        Content::Elf(data) if has_section(data) => {
            held = held.saturating_add(data.len() as u64);
            files.insert(member.name.unwrap_or_default().to_vec(), data.to_vec());
            held <= limits.member_size
        }
        Content::Unreadable(why) => {
            problem.get_or_insert(why);
            true
        }
        _ => true,
    };
    let file = open_file(path).map_err(|error| plain_error(&error))?;
    package::visit(&file, &limits, &mut Found(&mut found))?;
    match problem {
        Some(why) => Err(why),
        None if held > limits.member_size => Err("its files are larger than 1 GiB".to_owned()),
        None => Ok(files),
    }
}

/// Takes the members of a package until it returns `false`.
struct Found<'f>(&'f mut dyn FnMut(Member<'_>) -> bool);

impl package::Visitor for Found<'_> {
    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        if (self.0)(member) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// The only file of a package.
fn only<'f>(package: &Path, files: &'f Files) -> Result<(PathBuf, &'f [u8]), Error> {
    let mut all = files.iter();
    match (all.next(), all.next()) {
        (Some((path, data)), None) => Ok((inside(package, path), data)),
        (None, _) => Err(failed(package, NONE.to_owned())),
        (Some(_), Some(_)) => {
            let why =
                format!("{} files with an SFrame section: compare it with a package", files.len());
            Err(failed(package, why))
        }
    }
}

/// `package.deb!usr/lib/x.so`.
fn inside(package: &Path, path: &[u8]) -> PathBuf {
    let mut name = package.as_os_str().to_owned();
    if !path.is_empty() {
        name.push("!");
        name.push(OsString::from_vec(path.to_vec()));
    }
    name.into()
}

fn has_section(data: &[u8]) -> bool {
    Elf::parse(data).is_ok_and(|elf| elf.sframe_sections().next().is_some())
}

fn failed(path: &Path, why: String) -> Error {
    Error { path: path.to_owned(), why }
}
