//! What an index says about a package, and whether that package is selected.

use std::sync::Arc;

use super::base::{Base, stays_inside};
use super::{Checksum, Listed, Wanted};
use crate::identity::text_of;

/// The architectures of packages for all machines: in Debian; in Fedora and Alpine; in Arch.
const ALL_MACHINES: [&str; 3] = ["all", "noarch", "any"];

/// A package in an index.
#[derive(Debug)]
pub(super) struct Offer<'o> {
    pub(super) name: &'o str,
    pub(super) sections: &'o [&'o str],
    pub(super) architecture: &'o str,
    /// A decimal number.
    pub(super) size: &'o str,
}

impl Offer<'_> {
    /// The size of the package, if it is selected.
    pub(super) fn selected(&self, wanted: &Wanted) -> Result<Option<u64>, String> {
        let size = self.size.parse().map_err(|_| self.because("its size is not a number"))?;
        let in_section = wanted
            .sections
            .as_ref()
            .is_none_or(|globs| self.sections.iter().any(|section| globs.is_match(section)));
        let machine = self.architecture;
        let selected = wanted.names.as_ref().is_none_or(|names| names.is_match(self.name))
            && in_section
            && (wanted.least..=wanted.most).contains(&size)
            && (wanted.architectures.is_empty()
                || ALL_MACHINES.contains(&machine)
                || wanted.architectures.iter().any(|wanted| wanted == machine));
        Ok(selected.then_some(size))
    }

    /// The package to check: a file of `size` bytes at `path`. `field` is what the index calls the path.
    pub(super) fn listed(
        &self,
        base: &Arc<Base>,
        size: u64,
        (field, path): (&str, String),
        checksum: Checksum,
    ) -> Result<Listed, String> {
        if path.is_empty() {
            return Err(self.because(&format!("its {field} is missing")));
        }
        if !stays_inside(&path) {
            return Err(self.because(&format!("its {field} points outside the repository")));
        }
        Ok(Listed { base: base.clone(), path, size, checksum })
    }

    /// A message about the package.
    pub(super) fn because(&self, why: &str) -> String {
        let name =
            text_of(self.name.as_bytes()).unwrap_or_else(|| "without a name".to_owned().into());
        format!("package {name}: {why}")
    }
}
