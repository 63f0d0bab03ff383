//! Alpine's indexes: `APKINDEX.tar.gz`, a tar archive whose file `APKINDEX` lists the packages in the same folder (Alpine
//! wiki, "Apk spec").

use std::io;
use std::sync::Arc;

use super::base::{Base, beside};
use super::checksum::Checksum;
use super::offer::Offer;
use super::problems::Problem;
use super::unpacked::Room;
use super::{Listed, Stream, Visit, Wanted, other, stanza};
use crate::package::tar_files;

/// The name of an index.
pub(super) const NAME: &str = "APKINDEX.tar.gz";

/// Hands over the selected packages of the index at `path`.
pub(super) fn read(
    base: &Arc<Base>,
    (path, stream): (&str, Stream),
    wanted: &Wanted,
    room: &Room,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let mut any = false;
    room.read(stream, |stream| {
        tar_files(stream, &mut |name, file| {
            if name != b"APKINDEX" {
                return Ok(true);
            }
            any = true;
            let mut goes_on = true;
            stanza::read(file, &mut |stanza| {
                goes_on = visit(listed(base, path, stanza, wanted));
                goes_on
            })?;
            Ok(goes_on)
        })
    })?;
    if any { Ok(()) } else { Err(other("it contains no APKINDEX")) }
}

/// The package in a stanza, if it is selected.
fn listed(
    base: &Arc<Base>,
    index: &str,
    stanza: &[u8],
    wanted: &Wanted,
) -> Result<Option<Listed>, Problem> {
    let text = |key: &[u8]| {
        let mut lines = stanza.split(|byte| *byte == b'\n');
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(b":"));
        str::from_utf8(value.unwrap_or_default()).unwrap_or_default().trim_ascii()
    };
    let (name, version) = (text(b"P"), text(b"V"));
    let offer = Offer { name, sections: &[], architecture: text(b"A"), size: text(b"S") };
    let Some(size) = offer.selected(wanted)? else { return Ok(None) };
    let checksum = Checksum::of_control(text(b"C")).map_err(|why| offer.because(why))?;
    let file = format!("{name}-{version}.apk");
    if name.is_empty() || version.is_empty() || file.contains('/') {
        return Err(offer.because("its name and version do not name a file"));
    }
    offer.listed(base, size, ("name", beside(index, &file)), checksum).map(Some)
}
