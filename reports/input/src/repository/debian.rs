//! Debian's indexes: `Packages` in the root, or one for each suite, component and architecture below `dists` (Debian wiki,
//! "Debian Repository Format").

use std::io::{self, Read};
use std::sync::Arc;

use super::base::{Base, stays_inside};
use super::checksum::Checksum;
use super::error::LayoutError;
use super::offer::Offer;
use super::problems::Problem;
use super::unpacked::Room;
use super::{Listed, MOST, Stream, Visit, Wanted, stanza};
use crate::identity::control_field;

/// The supported forms of an index, the smallest first.
const FORMS: [&str; 5] = [".xz", ".zst", ".gz", ".bz2", ""];
/// How many bytes of a `Release` file are read: its fields precede its long lists.
const RELEASE: u64 = 1 << 16;

/// The path and the bytes of the first form of an index that exists, if any does.
pub(super) fn open(base: &Base, path: &str) -> io::Result<Option<(String, Stream)>> {
    for form in FORMS {
        let path = format!("{path}{form}");
        // The packages of other kinds of repositories are often in a folder with the name of an index.
        if base.is_folder(&path) {
            continue;
        }
        if let Some(stream) = base.open_any(&path)? {
            return Ok(Some((path, stream)));
        }
    }
    Ok(None)
}

/// Hands over the selected packages of an index.
pub(super) fn read(
    base: &Arc<Base>,
    stream: Stream,
    wanted: &Wanted,
    room: &Room,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    room.read(stream, |stream| {
        stanza::read(stream, &mut |stanza| visit(listed(base, stanza, wanted)))
    })
}

/// The package in a stanza, if it is selected.
fn listed(base: &Arc<Base>, stanza: &[u8], wanted: &Wanted) -> Result<Option<Listed>, Problem> {
    let field = |name: &str| control_field(stanza, name.as_bytes()).unwrap_or_default();
    let text = |name| str::from_utf8(field(name)).unwrap_or_default();
    let offer = Offer {
        name: text("Package"),
        sections: &[text("Section")],
        architecture: text("Architecture"),
        size: text("Size"),
    };
    let Some(size) = offer.selected(wanted)? else { return Ok(None) };
    let sha256 = text("SHA256");
    let checksum = Checksum::sha256("SHA256", sha256).map_err(|why| offer.because(why))?;
    let path = ("Filename", text("Filename").to_owned());
    offer.listed(base, size, path, checksum).map(Some)
}

/// The paths of the indexes of the selected suites, without the extensions of their forms.
pub(super) fn below_dists(base: &Base, wanted: &Wanted) -> Result<Vec<String>, LayoutError> {
    let suites = match wanted.suites.as_slice() {
        [] => base.folders("dists").unwrap_or_default(),
        named => named.to_vec(),
    };
    let mut paths = Vec::new();
    for suite in suites {
        let suite = format!("dists/{suite}");
        let release = release(base, &suite);
        let selected = |field: &str, wanted: &[String]| match wanted {
            [] => release.as_deref().and_then(|text| words(text, field)),
            named => Some(named.to_vec()),
        };
        let components =
            selected("Components", &wanted.components).or_else(|| base.folders(&suite));
        for component in components.unwrap_or_default() {
            let folder = format!("{suite}/{component}");
            let machines = selected("Architectures", &wanted.architectures)
                .or_else(|| machines(base, &folder));
            for machine in machines.unwrap_or_default() {
                let path = format!("{folder}/binary-{machine}/Packages");
                if paths.len() == MOST {
                    return Err(LayoutError::ManyIndexes);
                }
                if stays_inside(&path) {
                    paths.push(path);
                }
            }
        }
    }
    Ok(paths)
}

/// The architectures for which a component has folders.
fn machines(base: &Base, component: &str) -> Option<Vec<String>> {
    let folders = base.folders(component)?;
    Some(folders.iter().filter_map(|name| Some(name.strip_prefix("binary-")?.to_owned())).collect())
}

/// The beginning of a suite's `Release` file.
fn release(base: &Base, suite: &str) -> Option<Vec<u8>> {
    let read = |name: &str| {
        let mut text = Vec::new();
        base.open(&format!("{suite}/{name}")).ok()?.take(RELEASE).read_to_end(&mut text).ok()?;
        Some(text)
    };
    read("Release").or_else(|| {
        let signed = read("InRelease")?;
        // The message follows the armor header and an empty line (RFC 9580, 7).
        let start = signed.windows(2).position(|pair| pair == b"\n\n")?;
        Some(signed.get(start + 2..)?.to_vec())
    })
}

fn words(text: &[u8], field: &str) -> Option<Vec<String>> {
    let value = str::from_utf8(control_field(text, field.as_bytes())?).ok()?;
    Some(value.split_ascii_whitespace().map(str::to_owned).collect())
}
