//! The archive of RPM packages that contain a file of 4 GiB or more, and of all packages of version 6. A member's
//! header contains only its index in the package's own list of files, because cpio's 32-bit fields cannot hold the size
//! (RPM's "Package Format V4" and "V6", "Payload").

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;

use super::super::cpio::{hexadecimal, member, pad};
use super::super::mode::Mode;
use super::super::stream::{Part, drain, fill};
use super::super::{Failure, HEADERS, Place, Visit, damaged, relative};
use super::header::{Header, Tag};

/// The magic number and one field of 8 hexadecimal digits, padded to 4 bytes.
const HEADER: usize = 16;
/// The first bytes of a member, and of the end of the archive, which is a regular cpio member.
const MEMBER: &[u8] = b"07070X";
const END: &[u8] = b"070701";

/// The files that a header lists.
#[derive(Debug)]
pub(super) struct Files {
    header: Header,
    /// Positions of the folder names in the header's store.
    folders: Vec<Range<usize>>,
    list: Vec<File>,
}

#[derive(Debug)]
struct File {
    /// Position of its name in the store.
    name: Range<usize>,
    folder: usize,
    mode: Mode,
    size: u64,
}

impl Files {
    /// The files in `header`, which may list at most `most`.
    pub(super) fn of(header: Header, most: u64) -> Result<Files, Failure> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let texts = |tag| header.texts(tag).into_iter().flatten();
        if texts(Tag::BaseNames).nth(most).is_some() {
            return Err(damaged("its list of files is too long"));
        }
        let file = |(index, name)| {
            let folder = u32::from_be_bytes(header.value(Tag::DirectoryIndexes, index)?);
            Some(File {
                name,
                folder: usize::try_from(folder).ok()?,
                mode: Mode::of(u16::from_be_bytes(header.value(Tag::FileModes, index)?).into()),
                size: u64::from_be_bytes(header.value(Tag::LongFileSizes, index)?),
            })
        };
        let list: Option<Vec<File>> = texts(Tag::BaseNames).enumerate().map(file).collect();
        let list = list.ok_or_else(|| damaged("its list of files is damaged"))?;
        let folders = texts(Tag::DirectoryNames).take(most).collect();
        let mut files = Files { header, folders, list };
        files.empty_links();
        Ok(files)
    }

    /// If a file has several names, only the last one carries its bytes.
    fn empty_links(&mut self) {
        let mut last: HashMap<([u8; 4], [u8; 4]), usize> = HashMap::new();
        for index in 0..self.list.len() {
            let device = self.header.value(Tag::FileDevices, index).unwrap_or_default();
            let Some(inode) = self.header.value(Tag::FileInodes, index) else { continue };
            if self.list.get(index).is_none_or(|file| file.mode != Mode::Regular) {
                continue;
            }
            let earlier = last.insert((device, inode), index);
            if let Some(earlier) = earlier.and_then(|earlier| self.list.get_mut(earlier)) {
                *earlier =
                    File { name: earlier.name.clone(), mode: Mode::Link, size: 0, ..*earlier };
            }
        }
    }

    fn name(&self, file: &File) -> Option<Vec<u8>> {
        let folder = self.header.text_at(self.folders.get(file.folder)?)?;
        let name = self.header.text_at(&file.name)?;
        let fits = folder.len().saturating_add(name.len()) as u64 <= HEADERS;
        fits.then(|| [folder, name].concat())
    }

    /// Visits the members of the archive.
    pub(super) fn visit(
        &self,
        visit: &mut Visit<'_>,
        place: &Place,
        stream: &mut dyn Read,
    ) -> Result<(), Failure> {
        loop {
            let mut header = [0; HEADER];
            let header = fill(stream, &mut header)?;
            if header.starts_with(END) {
                return Ok(drain(stream)?);
            }
            let index =
                header.strip_prefix(MEMBER).and_then(|rest| hexadecimal(rest.first_chunk()?));
            let file = index.and_then(|index| self.list.get(usize::try_from(index).ok()?));
            let named = file.and_then(|file| Some((file, self.name(file)?)));
            let (file, name) =
                named.ok_or_else(|| damaged("a member is not in the list of files"))?;
            let place = visit.member(place, relative(&name))?;
            let size = if matches!(file.mode, Mode::Regular | Mode::Link) { file.size } else { 0 };
            let mut part = Part::new(stream, size);
            member(visit, &place, file.mode, &mut part)?;
            part.skip()?;
            pad(stream, size)?;
        }
    }
}
