//! What an index says about a package, and whether that package is selected.

use std::fmt;
use std::sync::Arc;

use super::base::{Base, stays_inside};
use super::problems::Problem;
use super::{Checksum, Listed, Wanted};
use crate::identity::text_of;
use crate::pattern::Pattern;

/// The longest path that Linux opens (`PATH_MAX`), in bytes.
const LONGEST: usize = 4096;

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
    pub(super) fn selected(&self, wanted: &Wanted) -> Result<Option<u64>, Problem> {
        let size = self.size.parse().map_err(|_| self.because("its size is not a number"))?;
        let is_one = |patterns: &[Pattern], text: &str| {
            patterns.iter().any(|pattern| pattern.is_match(text))
        };
        let in_section = wanted
            .sections
            .as_deref()
            .is_none_or(|patterns| self.sections.iter().any(|section| is_one(patterns, section)));
        let machine = self.architecture;
        let selected = wanted.names.as_deref().is_none_or(|patterns| is_one(patterns, self.name))
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
    ) -> Result<Listed, Problem> {
        if path.is_empty() {
            return Err(self.because(format!("its {field} is missing")));
        }
        if path.len() > LONGEST {
            return Err(
                self.because(format!("its {field} has more than {LONGEST} bytes, the limit"))
            );
        }
        if !stays_inside(&path) {
            return Err(self.because(format!("its {field} points outside the repository")));
        }
        Ok(Listed { base: base.clone(), path: plain(&path), size, checksum })
    }

    /// A problem about the package.
    pub(super) fn because(&self, why: impl fmt::Display) -> Problem {
        let name =
            text_of(self.name.as_bytes()).unwrap_or_else(|| "without a name".to_owned().into());
        Problem { about: format!("package {name}"), why: why.to_string() }
    }
}

/// A path without components that change nothing, so that each package has one path.
fn plain(path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.collect::<Vec<_>>().join("/")
}
