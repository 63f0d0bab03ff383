//! The databases of pacman: tar archives with a file `NAME-VERSION-RELEASE/desc` for each package in the same folder
//! (repo-add(8)).

use std::io::{self, Read};
use std::sync::Arc;

use super::base::{Base, beside};
use super::checksum::Checksum;
use super::offer::Offer;
use super::problems::Problem;
use super::unpacked::Room;
use super::{Listed, Stream, Visit, Wanted};
use crate::package::tar_files;
use sframe_record::text::printable;

/// The maximum size of a package's description. Those of Arch have about 2 KiB.
const DESCRIPTION: u64 = 1 << 20;
/// How many bytes of the name of a description a message has.
const NAME: usize = 512;
/// The ends of the names of databases: repo-add writes one of the latter, and a link with the former name.
const ENDS: [&str; 6] =
    [".db", ".db.tar", ".db.tar.gz", ".db.tar.bz2", ".db.tar.xz", ".db.tar.zst"];

/// The name of a database, without the end, if a file with this name is one.
pub(super) fn stem(name: &str) -> Option<&str> {
    ENDS.into_iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty())
}

/// Hands over the selected packages of the database at `path`.
pub(super) fn read(
    base: &Arc<Base>,
    (path, stream): (&str, Stream),
    wanted: &Wanted,
    room: &Room,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    room.read(stream, |stream| {
        tar_files(stream, &mut |name, file| {
            if !name.ends_with(b"/desc") {
                return Ok(true);
            }
            let mut text = Vec::new();
            file.take(DESCRIPTION + 1).read_to_end(&mut text)?;
            if text.len() as u64 > DESCRIPTION {
                let about = format!(
                    "package {}",
                    printable(name.get(..NAME.min(name.len())).unwrap_or(name))
                );
                let why = "its description is longer than 1 MiB".to_owned();
                return Ok(visit(Err(Problem { about, why })));
            }
            Ok(visit(listed(base, path, &String::from_utf8_lossy(&text), wanted)))
        })
    })
}

/// The lines after `%FIELD%`, up to an empty line.
fn values<'t>(text: &'t str, field: &str) -> impl Iterator<Item = &'t str> {
    let mut lines = text.lines();
    let is_start =
        |line: &str| line.strip_prefix('%').and_then(|line| line.strip_suffix('%')) == Some(field);
    let _ = lines.by_ref().find(|line| is_start(line));
    lines.take_while(|line| !line.is_empty())
}

/// The package that a description describes, if it is selected.
fn listed(
    base: &Arc<Base>,
    database: &str,
    text: &str,
    wanted: &Wanted,
) -> Result<Option<Listed>, Problem> {
    let field = |name| values(text, name).next().unwrap_or_default();
    let groups: Vec<&str> = values(text, "GROUPS").collect();
    let offer = Offer {
        name: field("NAME"),
        sections: &groups,
        architecture: field("ARCH"),
        size: field("CSIZE"),
    };
    let Some(size) = offer.selected(wanted)? else { return Ok(None) };
    let checksum = Checksum::sha256("%SHA256SUM%", field("SHA256SUM"));
    let checksum = checksum.map_err(|why| offer.because(why))?;
    match field("FILENAME") {
        "" => Err(offer.because("its %FILENAME% is missing")),
        file if file.contains('/') => Err(offer.because("its %FILENAME% contains a slash")),
        file => {
            offer.listed(base, size, ("%FILENAME%", beside(database, file)), checksum).map(Some)
        }
    }
}
