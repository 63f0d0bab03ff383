//! Headers of RPM packages: an index of tags and a store of their values (RPM's "Package Format V4", "Header
//! Structure").

use std::io::Read;
use std::ops::Range;

use super::super::stream::{Part, fill, hold};
use super::super::{Failure, damaged};
use crate::identity::text_of;
use sframe_record::{Package, Text};

/// Magic number and version.
const MAGIC: [u8; 4] = [0x8e, 0xad, 0xe8, 1];
/// The size of an index entry.
const ENTRY: usize = 16;
/// The number of bytes of a store that are read. A package with 60,000 files has about 10 MiB.
const STORE: u64 = 1 << 26;

/// The tags that are read here ("Header Tags").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Tag {
    Name = 1000,
    Version = 1001,
    Release = 1002,
    Epoch = 1003,
    Architecture = 1022,
    FileModes = 1030,
    SourcePackage = 1044,
    FileDevices = 1095,
    FileInodes = 1096,
    DirectoryIndexes = 1116,
    BaseNames = 1117,
    DirectoryNames = 1118,
    LongFileSizes = 5008,
}

impl Tag {
    const ALL: [Tag; 13] = [
        Tag::Name,
        Tag::Version,
        Tag::Release,
        Tag::Epoch,
        Tag::Architecture,
        Tag::FileModes,
        Tag::SourcePackage,
        Tag::FileDevices,
        Tag::FileInodes,
        Tag::DirectoryIndexes,
        Tag::BaseNames,
        Tag::DirectoryNames,
        Tag::LongFileSizes,
    ];
}

/// A header, with the location of each relevant tag's values.
#[derive(Debug, Default)]
pub(super) struct Header {
    places: Vec<(Tag, usize, usize)>,
    room: Vec<u8>,
    /// How many bytes of the room the store takes.
    held: usize,
    /// The size of the header in the package.
    pub(super) size: u64,
}

impl Header {
    /// Reads a header; its store is put into `room`.
    pub(super) fn read(stream: &mut dyn Read, room: Vec<u8>) -> Result<Header, Failure> {
        let mut intro = [0; 16];
        fill(stream, &mut intro)?;
        if !intro.starts_with(&MAGIC) {
            return Err(damaged("a header is missing"));
        }
        let entries = u64::from(number(&intro, 8).unwrap_or_default());
        let size = u64::from(number(&intro, 12).unwrap_or_default());
        let mut header = Header { room, ..Header::default() };
        let mut index = Part::new(stream, ENTRY as u64 * entries);
        let mut entry = [0; ENTRY];
        while !fill(&mut index, &mut entry)?.is_empty() {
            header.places.extend(header.place(&entry));
        }
        let mut values = Part::new(stream, size);
        header.held = hold(&mut (&mut values).take(STORE), STORE, &mut header.room)?.len();
        values.skip()?;
        header.size = intro.len() as u64 + ENTRY as u64 * entries + size;
        Ok(header)
    }

    /// Tag, offset and number of values of an index entry, if the tag is relevant and this is its first entry.
    fn place(&self, entry: &[u8]) -> Option<(Tag, usize, usize)> {
        let tag = number(entry, 0)?;
        let tag = Tag::ALL.into_iter().find(|known| *known as u32 == tag)?;
        let new = self.places.iter().all(|(known, ..)| *known != tag);
        let size = |place| usize::try_from(number(entry, place)?).ok();
        new.then_some((tag, size(8)?, size(12)?))
    }

    /// The package that the header describes. Its version includes the release and, if there is one, the epoch: `2:1.0-3`.
    pub(super) fn package(&self) -> Option<Package<'static>> {
        let text = |tag| text_of(self.text_at(&self.texts(tag)?.next()?)?);
        let version = text(Tag::Version).map(|version| {
            let version = version.as_str();
            let epoch = self.value::<4>(Tag::Epoch, 0).map(u32::from_be_bytes);
            let epoch = epoch.map(|epoch| format!("{epoch}:")).unwrap_or_default();
            let release =
                text(Tag::Release).map(|text| format!("-{}", text.as_str())).unwrap_or_default();
            Text::from(format!("{epoch}{version}{release}"))
        });
        Some(Package {
            name: text(Tag::Name)?,
            version,
            architecture: text(Tag::Architecture),
            source: text(Tag::SourcePackage),
        })
    }

    /// Value `index` of a tag whose values have `SIZE` bytes each, in big-endian order.
    pub(super) fn value<const SIZE: usize>(&self, tag: Tag, index: usize) -> Option<[u8; SIZE]> {
        let (_, start, count) = self.places.iter().find(|(known, ..)| *known == tag)?;
        let place = index.checked_mul(SIZE)?.checked_add(*start)?;
        (index < *count).then(|| self.store().get(place..)?.first_chunk().copied())?
    }

    /// The positions in the store of a tag's NUL-terminated strings.
    pub(super) fn texts(&self, tag: Tag) -> Option<impl Iterator<Item = Range<usize>>> {
        let (_, start, count) = self.places.iter().find(|(known, ..)| *known == tag)?;
        let mut next = *start;
        let texts = self.store().get(next..)?.split(|byte| *byte == 0).map(move |text| {
            let start = next;
            next = start + text.len() + 1;
            start..start + text.len()
        });
        Some(texts.take(*count))
    }

    /// The string at a position in the store.
    pub(super) fn text_at(&self, place: &Range<usize>) -> Option<&[u8]> {
        self.store().get(place.clone())
    }

    fn store(&self) -> &[u8] {
        self.room.get(..self.held).unwrap_or_default()
    }

    /// Returns the buffer for reuse.
    pub(super) fn into_room(self) -> Vec<u8> {
        self.room
    }
}

fn number(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(place..)?.first_chunk().copied()?))
}
