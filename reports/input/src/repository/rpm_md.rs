//! rpm-md repositories: `repodata/repomd.xml` lists tables in XML, of which `primary` lists the packages. No document
//! specifies them; createrepo_c writes them.

mod primary;
mod repomd;
mod xml;

use std::io;
use std::sync::Arc;

use super::base::Base;
use super::checksum::Checksum;
use super::listing::Listing;
use super::unpacked::Room;
use super::{Stream, Visit, Wanted, other};
use crate::package::Hashed;
use repomd::Table;
use xml::Attributes;

/// The path of the list of tables.
pub(super) const NAME: &str = "repodata/repomd.xml";

/// The location of a file, relative to the root of the repository.
#[derive(Debug, Default)]
struct Location {
    path: String,
    /// It is on another server: `xml:base` may name one.
    elsewhere: bool,
}

impl Location {
    /// The location that the attributes of an element `location` state.
    fn of(attributes: &Attributes<'_>) -> io::Result<Location> {
        let path = attributes.get("href")?.unwrap_or_default();
        let elsewhere = attributes.get("xml:base")?.is_some() || path.contains("://");
        Ok(Location { path, elsewhere })
    }
}

/// Hands over the selected packages that the table of `repomd.xml` lists. Errors in that table are handed over as well,
/// with its path; errors in `repomd.xml` are returned.
pub(super) fn read(
    base: &Arc<Base>,
    repomd: Stream,
    wanted: &Wanted,
    room: &Room,
    listing: &mut Listing<'_>,
) -> io::Result<()> {
    let table = repomd::primary(repomd)?;
    let path = &table.path;
    let mut goes_on = true;
    let read = packages(base, &table, wanted, room, &mut |listed| {
        goes_on = listing.package(path, listed);
        goes_on
    });
    if let Err(error) = read
        && goes_on
    {
        listing.failed(path, &error);
    }
    Ok(())
}

/// Reads the table `primary`, which must have the checksum that `repomd.xml` states.
fn packages(
    base: &Arc<Base>,
    Table { path, checksum }: &Table,
    wanted: &Wanted,
    room: &Room,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let Checksum::Whole(algorithm, listed) = checksum else { return Ok(()) };
    let mut stream = Hashed::new(base.open(path)?, *algorithm);
    let mut ended = false;
    room.read(&mut stream, |stream| {
        ended = primary::read(base, stream, wanted, visit)?;
        Ok(())
    })?;
    // If the packages are no longer wanted, the rest of the table is not either.
    if ended && stream.finish()?.1 != *listed {
        let name = algorithm.name();
        return Err(other(&format!("its {name} differs from the one in repomd.xml")));
    }
    Ok(())
}
