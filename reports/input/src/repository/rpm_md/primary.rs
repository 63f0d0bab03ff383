//! Reads the table `primary` of an rpm-md repository, package by package.

use std::io::{self, Read};
use std::sync::Arc;

use super::super::base::Base;
use super::super::checksum::Checksum;
use super::super::offer::Offer;
use super::super::problems::Problem;
use super::super::{Listed, Visit, Wanted};
use super::Location;
use super::xml::{self, Event};

/// The fields of an element `package`.
#[derive(Default)]
struct Fields {
    name: String,
    architecture: String,
    /// The type and the digits.
    checksum: (String, String),
    size: String,
    location: Location,
    group: String,
}

/// Hands over the selected packages. Returns whether the end of the table was reached.
pub(super) fn read(
    base: &Arc<Base>,
    stream: &mut dyn Read,
    wanted: &Wanted,
    visit: &mut Visit<'_>,
) -> io::Result<bool> {
    let mut package = Fields::default();
    xml::read(stream, "metadata", &mut |event| {
        match event {
            Event::Start("metadata/package", _) => package = Fields::default(),
            Event::Start("metadata/package/checksum", attributes) => {
                package.checksum.0 = attributes.get("type")?.unwrap_or_default();
            }
            Event::Start("metadata/package/size", attributes) => {
                package.size = attributes.get("package")?.unwrap_or_default();
            }
            Event::Start("metadata/package/location", attributes) => {
                package.location = Location::of(&attributes)?;
            }
            Event::End("metadata/package/name", text) => package.name = text.to_owned(),
            Event::End("metadata/package/arch", text) => package.architecture = text.to_owned(),
            Event::End("metadata/package/checksum", text) => package.checksum.1 = text.to_owned(),
            Event::End("metadata/package/format/group", text) => package.group = text.to_owned(),
            Event::End("metadata/package", _) => {
                return Ok(visit(package.listed(base, wanted)));
            }
            Event::Start(..) | Event::End(..) => {}
        }
        Ok(true)
    })
}

impl Fields {
    /// The package, if it is selected.
    fn listed(&self, base: &Arc<Base>, wanted: &Wanted) -> Result<Option<Listed>, Problem> {
        let offer = Offer {
            name: &self.name,
            sections: &[&self.group],
            architecture: &self.architecture,
            size: &self.size,
        };
        let Some(size) = offer.selected(wanted)? else { return Ok(None) };
        if self.location.elsewhere {
            return Err(offer.because("it is on another server"));
        }
        let (kind, digits) = &self.checksum;
        let checksum = Checksum::of_kind(kind, digits).map_err(|why| offer.because(why))?;
        offer.listed(base, size, ("location", self.location.path.clone()), checksum).map(Some)
    }
}
