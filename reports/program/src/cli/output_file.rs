//! The files that commands write: none replaces an input or somebody's program, and each is either whole or absent.

use std::collections::HashSet;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sframe_input::kind::{HEAD, Kind};
use sframe_input::{open_file, plain_error};
use sframe_record::text::printable_path;
use tempfile::{Builder, NamedTempFile};

/// The magic number of an SFrame section in both byte orders (specification, 2.1).
const SFRAME: [[u8; 2]; 2] = [[0xe2, 0xde], [0xde, 0xe2]];
/// The number of links that are followed to the place of a file, as Linux follows them.
const MOST_LINKS: usize = 40;

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// An ELF file, which may replace one, also the one that it was made from.
    Elf,
    /// The bytes of a section, which may replace another one.
    Section,
    /// Text, or anything else that cannot be checked.
    Report,
}

/// The outputs of a run.
#[derive(Debug, Default)]
pub(super) struct OutputFiles {
    /// The device and inode of each input.
    inputs: HashSet<(u64, u64)>,
    /// The places of the outputs so far: one file takes one output, because the last one would be all that is left.
    taken: HashSet<PathBuf>,
}

impl OutputFiles {
    /// The outputs of a run that reads `inputs`. What cannot be found is not an input.
    pub(super) fn of<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) -> OutputFiles {
        let known = inputs.into_iter().filter_map(|path| fs::metadata(path).ok());
        let inputs = known.filter(Metadata::is_file).map(|known| identity(&known)).collect();
        OutputFiles { inputs, taken: HashSet::new() }
    }

    /// Starts the file at `path`, or at the place to which a symbolic link there leads. Returns it with what is written to.
    ///
    /// # Errors
    /// Returns an error with the path if it is `-`, if it must not be replaced, or cannot be written to.
    pub(super) fn create(
        &mut self,
        path: &Path,
        content: Content,
    ) -> io::Result<(OutputFile, BufWriter<File>)> {
        let place = self.take(path, content)?;
        let (file, out) = start(&place).map_err(|error| named(path, &error))?;
        Ok((file, BufWriter::with_capacity(1 << 16, out)))
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// As [`OutputFiles::create`], and if writing fails.
    pub(super) fn write(&mut self, path: &Path, content: Content, bytes: &[u8]) -> io::Result<()> {
        let (file, mut out) = self.create(path, content)?;
        out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| named(path, &error))?;
        drop(out);
        file.finish()
    }

    /// Checks whether [`OutputFiles::create`] would refuse `path`, before the work that leads to it.
    ///
    /// # Errors
    /// As [`OutputFiles::create`], if that is known before anything is written.
    pub(super) fn check(&self, path: &Path, content: Content) -> io::Result<()> {
        self.place(path, content).map(drop)
    }

    fn take(&mut self, path: &Path, content: Content) -> io::Result<PathBuf> {
        let place = self.place(path, content)?;
        let is_file = fs::metadata(&place).map_or(true, |known| known.is_file());
        if is_file && !self.taken.insert(place.clone()) {
            let path = printable_path(path);
            return Err(io::Error::other(format!("{path} is named for two outputs")));
        }
        Ok(place)
    }

    /// The place of the file, if it may be written.
    fn place(&self, path: &Path, content: Content) -> io::Result<PathBuf> {
        if path.as_os_str() == "-" {
            return Err(io::Error::other(
                "- is not the name of a file here: use /dev/stdout for standard output, ./- for such a file",
            ));
        }
        let place = place(path).map_err(|error| named(path, &error))?;
        let Some(known) = fs::metadata(&place).ok().filter(Metadata::is_file) else {
            return Ok(place);
        };
        let refused = |why: &str| {
            Err(io::Error::other(format!("{}: {why}: name another file", printable_path(path))))
        };
        // Without the first bytes, nobody knows what would be lost. An empty file has nothing to lose.
        let there = contents(&place).map_err(|error| named(path, &error))?;
        let same = match content {
            Content::Elf => Some(There::Elf),
            Content::Section => Some(There::Section),
            Content::Report => None,
        };
        if there.is_some() && there != same {
            return refused(
                "it is an ELF file, archive, package or section, which is not replaced",
            );
        }
        if content != Content::Elf && self.inputs.contains(&identity(&known)) {
            return refused("it is an input of this run, which is not replaced");
        }
        Ok(place)
    }
}

/// A file that is written beside its place, and takes it once it is whole. Devices and pipes are written directly.
#[derive(Debug)]
pub(super) struct OutputFile {
    place: PathBuf,
    temporary: Option<NamedTempFile>,
}

impl OutputFile {
    /// Gives a file these permissions.
    ///
    /// # Errors
    /// Returns an error with the path if that fails.
    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        let set = temporary.as_file().set_permissions(Permissions::from_mode(mode));
        set.map_err(|error| named(&self.place, &error))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Returns an error with the path if that fails.
    pub(super) fn finish(self) -> io::Result<()> {
        let OutputFile { place, temporary } = self;
        let Some(temporary) = temporary else { return Ok(()) };
        temporary.persist(&place).map(drop).map_err(|error| named(&place, &error.error))
    }
}

/// Starts the file at a place.
fn start(place: &Path) -> io::Result<(OutputFile, File)> {
    let known = fs::metadata(place).ok();
    let is_file = known.as_ref().is_none_or(Metadata::is_file);
    // Standard output that the shell sends to a file goes on after what is there.
    if let Some(known) = &known
        && let Some(out) = standard_output(known)?
    {
        return Ok((OutputFile { place: place.to_owned(), temporary: None }, out));
    }
    if !is_file {
        let out = File::options().write(true).open(place)?;
        return Ok((OutputFile { place: place.to_owned(), temporary: None }, out));
    }
    // As other programs create files, where the umask applies. A file that is replaced keeps its permissions.
    let mut builder = Builder::new();
    builder.prefix(".sframe-check").permissions(Permissions::from_mode(0o666));
    let temporary = builder.tempfile_in(folder(place))?;
    if let Some(known) = known {
        let mode = known.permissions().mode() & 0o777;
        temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    let out = temporary.reopen()?;
    Ok((OutputFile { place: place.to_owned(), temporary: Some(temporary) }, out))
}

/// Standard output, if the file is what it leads to.
fn standard_output(known: &Metadata) -> io::Result<Option<File>> {
    let Ok(out) = io::stdout().as_fd().try_clone_to_owned().map(File::from) else {
        return Ok(None);
    };
    Ok((identity(&out.metadata()?) == identity(known)).then_some(out))
}

/// The path of a file after links: that of the folder, and the name in it. There may be no such file yet.
fn place(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(known) if known.is_file() => return fs::canonicalize(path),
        // The links of /proc to pipes have no other path.
        Ok(_) => return Ok(path.to_owned()),
        Err(_) => {}
    }
    // A link that leads nowhere makes the file where it leads.
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else {
            let folder = fs::canonicalize(folder(&path))?;
            return Ok(path.file_name().map_or(path.clone(), |name| folder.join(name)));
        };
        path = folder(&path).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn identity(known: &Metadata) -> (u64, u64) {
    (known.dev(), known.ino())
}

/// What a file contains, if it could be checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    Elf,
    Section,
    Container,
}

/// What a file contains, if it could be checked. Archives and packages are never written, so that nothing replaces them.
fn contents(path: &Path) -> io::Result<Option<There>> {
    let mut head = Vec::new();
    open_file(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(match Kind::of(&head) {
        Kind::Elf => Some(There::Elf),
        Kind::Archive | Kind::Package(_) => Some(There::Container),
        _ if SFRAME.iter().any(|magic| head.starts_with(magic)) => Some(There::Section),
        _ => None,
    })
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {}", printable_path(path), plain_error(error)))
}
