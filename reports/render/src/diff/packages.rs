//! Opens what is compared: files, or packages, whose files are compared by their paths.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use sframe_input::package::{self, Content, Limits, Member, Unpacker};
use sframe_input::{FileBytes, open_file};

use super::error::kind;
use super::{DiffOptions, Error, NotComparable, Report, RowsFrom, diff_files, file};

/// The result of comparing two files or packages.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The files that were compared, by path.
    pub reports: Vec<Report>,
    /// The rows that were compared.
    from: Option<RowsFrom>,
    /// The files with such rows in the first package alone.
    pub only_first: Vec<PathBuf>,
    /// The files with such rows in the second package alone.
    pub only_second: Vec<PathBuf>,
}

impl Comparison {
    /// Whether any files differ, or one package has other files than the other.
    #[must_use]
    pub fn is_different(&self) -> bool {
        let has_others = !self.only_first.is_empty() || !self.only_second.is_empty();
        has_others || self.reports.iter().any(Report::is_different)
    }

    /// What the compared files have.
    pub(super) const fn kind(&self) -> &'static str {
        kind(self.from)
    }

    /// Whether something could not be compared.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.reports.iter().any(Report::is_incomplete)
    }
}

/// The files of a package that have the rows that are compared, by path in it.
type Files = BTreeMap<Vec<u8>, Vec<u8>>;

/// What a path names.
enum Side {
    File(FileBytes),
    Package(Files),
}

/// Compares two ELF files, or the files in two packages that have the same path in them. A package with one such file can be
/// compared with a file. Packages are compared by SFrame if either has any, else by call frame information.
///
/// # Errors
/// Returns the file that cannot be compared and the reason: it cannot be read, is not an ELF file, or has nothing readable of
/// the kind that is compared.
pub fn diff_inputs(
    first: &Path,
    second: &Path,
    options: &DiffOptions,
) -> Result<Comparison, Error> {
    let open = |from| Ok((Side::open(first, from)?, Side::open(second, from)?));
    let mut from = options.from;
    let mut sides = open(from.unwrap_or(RowsFrom::Sframe))?;
    if from.is_none() && !sides.0.has_sframe() && !sides.1.has_sframe() {
        from = Some(RowsFrom::Cfi);
        sides = open(RowsFrom::Cfi)?;
    }
    let options = &DiffOptions { from, ..*options };
    let one = |report| Comparison {
        reports: vec![report],
        from,
        only_first: Vec::new(),
        only_second: Vec::new(),
    };
    let comparison = match &sides {
        (Side::File(a), Side::File(b)) => one(diff_files((first, a), (second, b), options)?),
        (Side::File(a), Side::Package(files)) => {
            let (path, data) = only(second, files, from)?;
            one(diff_files((first, a), (&path, data), options)?)
        }
        (Side::Package(files), Side::File(b)) => {
            let (path, data) = only(first, files, from)?;
            one(diff_files((&path, data), (second, b), options)?)
        }
        (Side::Package(a), Side::Package(b)) => together((first, a), (second, b), options)?,
    };
    for (path, side) in [(first, &sides.0), (second, &sides.1)] {
        if let Side::File(data) = side {
            data.intact().map_err(|error| NotComparable::Read(error).of(path))?;
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
        return Err(NotComparable::NoFile(options.from).of(first));
    }
    Ok(Comparison { reports, from: options.from, only_first, only_second })
}

impl Side {
    fn open(path: &Path, from: RowsFrom) -> Result<Side, Error> {
        let data = file::read(path).map_err(|why| why.of(path))?;
        if !package::is_package(&data) {
            return Ok(Side::File(data));
        }
        files(path, from).map(Side::Package).map_err(|why| why.of(path))
    }

    fn has_sframe(&self) -> bool {
        match self {
            Side::File(data) => file::has_rows(data, RowsFrom::Sframe),
            Side::Package(files) => !files.is_empty(),
        }
    }
}

/// Unpacks the files of a package that have rows of this kind.
fn files(path: &Path, from: RowsFrom) -> Result<Files, NotComparable> {
    let limits = Limits::default();
    let (mut files, mut held, mut problem) = (Files::new(), 0_u64, None);
    let mut found = |member: Member<'_>| match member.content {
        Content::Elf(data) if file::has_rows(data, from) => {
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
    let file = open_file(path)?;
    let unpacked = Unpacker::new(limits).visit(&file, &mut Found(&mut found));
    unpacked.map_err(|why| NotComparable::Unpack(why.to_string()))?;
    match problem {
        Some(why) => Err(NotComparable::Unpack(why.to_string())),
        None if held > limits.member_size => Err(NotComparable::TooLarge),
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
fn only<'f>(
    package: &Path,
    files: &'f Files,
    from: Option<RowsFrom>,
) -> Result<(PathBuf, &'f [u8]), Error> {
    let mut all = files.iter();
    match (all.next(), all.next()) {
        (Some((path, data)), None) => Ok((inside(package, path), data)),
        (None, _) => Err(NotComparable::NoFile(from).of(package)),
        (Some(_), Some(_)) => {
            Err(NotComparable::SeveralFiles { count: files.len(), from }.of(package))
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
