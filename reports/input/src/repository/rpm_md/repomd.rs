//! Finds the table of packages in `repomd.xml`.

use std::io::{self, Read};

use super::super::base::stays_inside;
use super::super::checksum::Checksum;
use super::super::{Stream, other, unpacked};
use super::Location;
use super::xml::{self, Event};

/// The maximum size of `repomd.xml`. Fedora's has about 10 KiB.
const MOST: u64 = 1 << 20;

/// A table of a repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// Its path in the repository.
    pub(super) path: String,
    pub(super) checksum: Checksum,
}

/// The fields of an element `data`.
#[derive(Default)]
struct Data {
    kind: String,
    /// The type and the digits.
    checksum: (String, String),
    location: Location,
}

/// The table `primary`, which lists the packages.
pub(super) fn primary(stream: Stream) -> io::Result<Table> {
    let mut table = None;
    unpacked::read(stream, MOST, |stream| {
        table = find(stream)?;
        Ok(())
    })?;
    let data = table.ok_or_else(|| other("it lists no table primary"))?;
    if data.location.elsewhere {
        return Err(other("its table primary is on another server"));
    }
    if !stays_inside(&data.location.path) {
        return Err(other("the location of its table primary is outside the repository"));
    }
    let (kind, digits) = &data.checksum;
    let checksum =
        Checksum::of_kind(kind, digits).map_err(|why| other(&format!("table primary: {why}")))?;
    Ok(Table { path: data.location.path, checksum })
}

/// The fields of the first table `primary`.
fn find(stream: &mut dyn Read) -> io::Result<Option<Data>> {
    let (mut data, mut first) = (Data::default(), None);
    xml::read(stream, "repomd", &mut |event| {
        match event {
            Event::Start("repomd/data", attributes) => {
                let kind = attributes.get("type")?.unwrap_or_default();
                data = Data { kind, ..Data::default() };
            }
            Event::Start("repomd/data/checksum", attributes) => {
                data.checksum.0 = attributes.get("type")?.unwrap_or_default();
            }
            Event::Start("repomd/data/location", attributes) => {
                data.location = Location::of(&attributes)?;
            }
            Event::End("repomd/data/checksum", text) => data.checksum.1 = text.to_owned(),
            Event::End("repomd/data", _) if data.kind == "primary" && first.is_none() => {
                first = Some(std::mem::take(&mut data));
            }
            Event::Start(..) | Event::End(..) => {}
        }
        Ok(true)
    })?;
    Ok(first)
}
