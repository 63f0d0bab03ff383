//! Packages and other containers of files, read as a stream, member by member, without unpacking to disk.
//!
//! Only one member at a time is in memory, and only if it is an ELF file, a static library or a nested zip file.
//! Everything else is skipped. [`Limits`] bound the cost.

mod apk;
mod compression;
mod cpio;
mod deb;
mod digest;
mod error;
mod image;
mod limits;
mod mode;
mod rpm;
mod stream;
mod tar;
mod unpacker;
mod waiting;
mod zip;

pub use apk::ApkMismatch;
pub(super) use apk::is_checksum;
pub(super) use digest::{Algorithm, Hashed};
pub use error::{DocumentError, Error};
pub use limits::{FREE, Limits, Remedies};
pub(super) use tar::files as tar_files;
pub use unpacker::Unpacker;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::archive::Members;
use super::found::plain_error;
use super::kind::{Compression, HEAD, Kind, Package};
use super::members::{ExceededLimit, MemberCount, NAME};
use super::{FileBytes, Special, Stamp, has_large_holes};
use apk::Apk;
use error::ReadBefore;
use limits::{Meter, Metered};
use stream::{fill, hold};
use waiting::Waiting;

/// The buffer size in bytes for reading a file.
const BUFFER: usize = 1 << 17;
/// The maximum size of a header in bytes, so that a size stated in a package cannot exhaust memory.
const HEADERS: u64 = 1 << 20;

/// A file in a package.
#[derive(Debug)]
pub struct Member<'a> {
    /// Its path, without a leading `./`. In a nested package, the path of that package and a `!` precede it. `None` if
    /// the input is a single compressed file and this is its content.
    pub name: Option<&'a [u8]>,
    /// What it is.
    pub content: Content<'a>,
    /// The innermost package that contains it, if known: all formats store this before their files.
    pub package: Option<&'a Arc<sframe_record::Package<'static>>>,
}

/// The content of a member.
#[derive(Debug)]
pub enum Content<'a> {
    /// An ELF file, complete.
    Elf(&'a [u8]),
    /// A static library, complete: an iterator over its members, which count as members of the package.
    Archive(Members<'a>),
    /// A Linux kernel as boot loaders start it.
    LinuxImage,
    /// Nothing to check.
    Other,
    /// A file without bytes.
    Empty,
    /// Not a regular file.
    Special(Special),
    /// It could not be read completely; contains the reason.
    Unreadable(String),
}

/// Receives the contents of a package.
pub trait Visitor {
    /// Whether the file with this name is of interest if it is an ELF file or a static library. Other files are
    /// reported as [`Content::Other`].
    fn wants(&mut self, _name: Option<&[u8]>) -> bool {
        true
    }

    /// Receives the next file in stored order. Returns whether to continue.
    fn found(&mut self, member: Member<'_>) -> ControlFlow<()>;
}

impl<F: FnMut(Member<'_>)> Visitor for F {
    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        self(member);
        ControlFlow::Continue(())
    }
}

/// Whether bytes are those of a package or another container, which [`Unpacker::visit`] reads.
#[must_use]
pub fn is_package(data: &[u8]) -> bool {
    matches!(Kind::of(data.get(..HEAD).unwrap_or(data)), Kind::Package(_))
}

impl Unpacker {
    /// Hands every file in `file` to `visitor`, in stored order, without folders. Damaged members are reported as
    /// [`Content::Unreadable`]; the members after them still follow if they can be read.
    ///
    /// # Errors
    /// Returns an error if reading ended early: because of a limit, or an error of the system.
    pub fn visit(&self, file: &File, visitor: &mut dyn Visitor) -> Result<(), Error> {
        let metadata = file.metadata()?;
        if has_large_holes(&metadata) {
            return Err(Error::Holes);
        }
        let read = Visit::run(self, metadata.len(), visitor, |visit| visit.input(file));
        // If the file changed, that explains any other error.
        Stamp::of(&metadata).holds(file).map_err(Error::Io).and(read)
    }

    /// Hands every file in a stream of about `size` bytes to `visitor`, in stored order, and reads the stream to its end.
    /// Returns its length in bytes and its hash in hexadecimal digits.
    ///
    /// # Errors
    /// Returns an error if reading ended early.
    pub(super) fn visit_stream(
        &self,
        stream: impl Read,
        size: u64,
        algorithm: Algorithm,
        visitor: &mut dyn Visitor,
    ) -> Result<(u64, String), Error> {
        let mut stream = Hashed::new(stream, algorithm);
        let place = Place::default();
        Visit::run(self, size, visitor, |visit| visit.content(&place, &mut stream))?;
        Ok(stream.finish()?)
    }

    /// Hands every file in an apk package of version 2 to `visitor`, like [`visit_stream`](Unpacker::visit_stream).
    /// Returns its length in bytes, and how it differs from the checksum in the form of Alpine's index.
    ///
    /// # Errors
    /// Returns an error if reading ended early.
    pub(super) fn visit_apk(
        &self,
        mut stream: impl BufRead,
        size: u64,
        checksum: &str,
        visitor: &mut dyn Visitor,
    ) -> Result<(u64, Result<(), ApkMismatch>), Error> {
        let place = Place::default();
        let head = stream.fill_buf()?;
        if Compression::of(head) != Some(Compression::Gzip) {
            Visit::run(self, size, visitor, |visit| visit.content(&place, &mut stream))?;
            return Err(Error::NotApk2);
        }
        let mut apk = Apk::new(stream);
        Visit::run(self, size, visitor, |visit| {
            let mut tar = Metered::new(&mut apk, Compression::Gzip.name(), visit.meter);
            visit.container(&place, |visit, inside| Ok(visit.content(inside, &mut tar)?))
        })?;
        Ok(apk.finish(checksum)?)
    }
}

/// Hands `stream` to `read`, decompressed if it is compressed. `read` must limit how much it takes.
pub(super) fn unpacked(
    mut stream: impl Read,
    read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let limits = Limits { unpacked_size: u64::MAX, ratio: u64::MAX, ..Limits::default() };
    compression::opened(&mut stream, &Meter::new(&limits, u64::MAX), read)
}

/// The reason why the rest of the input is not read.
enum Stop {
    /// The visitor asked for it.
    Enough,
    /// An error, for instance because a limit for the whole input was exceeded.
    Error(Error),
}

impl From<ExceededLimit> for Stop {
    fn from(limit: ExceededLimit) -> Stop {
        Stop::Error(Error::Limit(limit))
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Error(Error::Io(error))
    }
}

/// The reason why a container is not read to its end.
enum Failure {
    /// The container is damaged; the one around it may not be.
    Damaged(String),
    /// The rest of the input is not read either.
    Stop(Stop),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure::Stop(stop)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Damaged(plain_error(&error))
    }
}

/// The position of a file in the input: its name, and how many containers it is in.
#[derive(Clone, Debug, Default)]
struct Place {
    name: Option<Vec<u8>>,
    depth: u32,
}

impl Place {
    /// The place of a member called `name`.
    fn member(&self, name: &[u8]) -> Place {
        let name = match &self.name {
            None => name.to_vec(),
            Some(outer) => [outer, b"!".as_slice(), name].concat(),
        };
        Place { name: Some(name), depth: self.depth }
    }

    /// The place of the content of the container or compressed file at this place.
    fn inside(&self) -> Place {
        Place { name: self.name.clone(), depth: self.depth + 1 }
    }
}

/// The walk through one input.
struct Visit<'v> {
    limits: &'v Limits,
    meter: &'v Meter,
    count: MemberCount,
    /// A buffer, reused for each member that is held in memory.
    room: Vec<u8>,
    /// The innermost enclosing package whose identity is known.
    package: Option<Arc<sframe_record::Package<'static>>>,
    /// Files that come before the metadata of their package.
    waiting: Waiting,
    visitor: &'v mut dyn Visitor,
    /// The visitor asked to stop.
    enough: bool,
    /// Bytes in memory that belong to the containers around the next member.
    held: u64,
}

impl<'v> Visit<'v> {
    /// Creates a visit for an input of `size` bytes and runs `walk` on it.
    fn run(
        unpacker: &'v Unpacker,
        size: u64,
        visitor: &'v mut dyn Visitor,
        walk: impl FnOnce(&mut Visit<'_>) -> Result<(), Stop>,
    ) -> Result<(), Error> {
        let limits = unpacker.limits();
        let meter = Meter::new(limits, size);
        let mut visit = Visit {
            limits,
            meter: &meter,
            count: limits.member_count(),
            room: unpacker.buffer(),
            package: None,
            waiting: Waiting::default(),
            visitor,
            enough: false,
            held: 0,
        };
        let result = walk(&mut visit);
        visit.release();
        let Visit { count, enough, room, .. } = visit;
        unpacker.keep(room);
        match result {
            Err(Stop::Error(error)) if !enough => Err(error.after(count.members())),
            _ => Ok(()),
        }
    }
}

impl Visit<'_> {
    /// Visits the input itself.
    fn input(&mut self, file: &File) -> Result<(), Stop> {
        let place = Place::default();
        let mut reader = BufReader::with_capacity(BUFFER, file);
        let head = reader.fill_buf()?;
        if Kind::of(head.get(..HEAD).unwrap_or(head)) != Kind::Package(Package::Zip) {
            return self.content(&place, &mut reader);
        }
        // A zip file has its table at the end and may have its members anywhere, so the file is mapped instead of
        // streamed.
        let bytes = file.try_clone().and_then(FileBytes::of)?;
        self.container(&place, |visit, inside| zip::visit(visit, inside, Cursor::new(&*bytes)))?;
        Ok(bytes.intact()?)
    }

    /// Visits the file at `place`, whose content is all of `stream`.
    fn content(&mut self, place: &Place, stream: &mut dyn Read) -> Result<(), Stop> {
        let mut head = [0; HEAD];
        let head = match fill(stream, &mut head) {
            Ok(head) => head,
            Err(error) => return self.damaged(place, plain_error(&error)),
        };
        let kind = Kind::of(head);
        let mut stream = head.chain(stream);
        let name = place.name.as_deref();
        match kind {
            Kind::Empty => self.report(place, Content::Empty),
            Kind::LinuxImage => self.report(place, Content::LinuxImage),
            Kind::Other => self.report(place, Content::Other),
            Kind::Elf | Kind::Archive if !self.visitor.wants(name) => {
                self.report(place, Content::Other);
            }
            Kind::Elf | Kind::Archive | Kind::Package(Package::Zip) => {
                let mut room = std::mem::take(&mut self.room);
                let result = self.whole(place, kind, &mut stream, &mut room);
                self.room = room;
                return result;
            }
            Kind::Package(package) => {
                return self
                    .container(place, |visit, inside| visit.package(inside, package, &mut stream));
            }
        }
        Ok(())
    }

    /// Visits a file that has to be in memory as a whole.
    fn whole(
        &mut self,
        place: &Place,
        kind: Kind,
        stream: &mut dyn Read,
        room: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let free = self.limits.held.saturating_sub(self.held.saturating_add(self.count.names()));
        let most = self.limits.member_size.min(free);
        let bytes = match hold(stream, most, room) {
            Ok(bytes) => bytes,
            Err(error) => return self.damaged(place, plain_error(&error)),
        };
        if bytes.len() as u64 > most {
            let remedies = self.limits.remedies;
            let remedy = if most == free { remedies.held } else { remedies.member_size };
            return self.damaged(place, ExceededLimit::MemberSize(most, remedy).to_string());
        }
        match kind {
            Kind::Elf => self.report(place, Content::Elf(bytes)),
            Kind::Archive => return self.archive(place, bytes),
            _ => {
                let size = bytes.len() as u64;
                let reader = Cursor::new(bytes);
                self.held += size;
                let result =
                    self.container(place, |visit, inside| zip::visit(visit, inside, reader));
                self.held -= size;
                return result;
            }
        }
        Ok(())
    }

    /// Visits a container that can be read as a stream.
    fn package(
        &mut self,
        inside: &Place,
        package: Package,
        stream: &mut dyn Read,
    ) -> Result<(), Failure> {
        match package {
            Package::Compressed(compression) => {
                let mut stream = compression::decoder(compression, stream, self.meter)?;
                Ok(self.content(inside, &mut stream)?)
            }
            Package::Tar => tar::visit(self, inside, b"", stream),
            Package::Deb => deb::visit(self, inside, stream),
            Package::Rpm => rpm::visit(self, inside, stream),
            Package::Cpio => cpio::visit(self, inside, stream),
            Package::Apk3 => Err(damaged("it is an apk package of version 3")),
            // Zip files are read as a whole, see `whole`.
            Package::Zip => Ok(()),
        }
    }

    /// Visits the container at `place`. Damage is reported for that place.
    fn container(
        &mut self,
        place: &Place,
        visit: impl FnOnce(&mut Self, &Place) -> Result<(), Failure>,
    ) -> Result<(), Stop> {
        let depth = self.limits.depth;
        if place.depth >= depth {
            let limit = ExceededLimit::Depth(depth, self.limits.remedies.depth);
            return self.damaged(place, limit.to_string());
        }
        let before = self.count.members();
        let outer = self.package.clone();
        let result = visit(self, &place.inside());
        self.package = outer;
        match result {
            Ok(()) => Ok(()),
            Err(Failure::Stop(stop)) => Err(stop),
            Err(Failure::Damaged(reason)) => {
                let read_before = ReadBefore(self.count.members() - before);
                self.damaged(place, format!("{reason}{read_before}"))
            }
        }
    }

    /// Reports that the file at `place` could not be read. Returns an error if that was because of a limit.
    fn damaged(&mut self, place: &Place, reason: String) -> Result<(), Stop> {
        if let Some(limit) = self.meter.reached() {
            return Err(limit.into());
        }
        self.report(place, Content::Unreadable(reason));
        Ok(())
    }

    /// The place of the next member of a container, which is added to the count.
    fn member(&mut self, place: &Place, name: &[u8]) -> Result<Place, Stop> {
        if self.enough {
            return Err(Stop::Enough);
        }
        let place = place.member(name.get(..NAME).unwrap_or(name));
        self.count.add(place.name.as_ref().map_or(0, Vec::len));
        self.count.reached().map_or(Ok(place), |limit| Err(limit.into()))
    }

    /// Reports a static library, whose members are counted too.
    fn archive(&mut self, place: &Place, bytes: &[u8]) -> Result<(), Stop> {
        self.release();
        let (name, package) = (place.name.as_deref(), self.package.as_ref());
        let members = Members::of(bytes, &mut self.count, name.map_or(0, <[u8]>::len));
        let content = Content::Archive(members);
        self.enough |= self.visitor.found(Member { name, content, package }).is_break();
        self.count.reached().map_or(Ok(()), |limit| Err(limit.into()))
    }

    fn hand_over(&mut self, place: &Place, content: Content<'_>) {
        let (name, package) = (place.name.as_deref(), self.package.as_ref());
        self.enough |= self.visitor.found(Member { name, content, package }).is_break();
    }

    /// Sets the package that is being read, if its metadata is valid.
    fn enter(&mut self, package: Option<sframe_record::Package<'static>>) {
        if let Some(package) = package {
            self.package = Some(Arc::new(package));
        }
        self.release();
    }
}

fn damaged(what: &str) -> Failure {
    Failure::Damaged(what.to_owned())
}

/// A stored path relative to the root of the package.
fn relative(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./").or(name.strip_prefix(b"/")) {
        name = rest;
    }
    name
}
