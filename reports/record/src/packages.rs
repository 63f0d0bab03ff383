//! Sums for each package of a scan, and the key by which packages are sorted.

use serde::{Deserialize, Serialize};

use crate::bounded::entry_within;
use crate::numbers::grouped;
use crate::record::Record;
use crate::text::printable;
use crate::value::{Text, is_zero};

/// The maximum number of packages with sums of their own. Memory grows with them.
pub(crate) const MOST_PACKAGES: usize = 10_000;

/// Sums for each package of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PackagesWith{T}"))]
pub struct PackageSums<'r, T> {
    /// The first 10,000 packages, sorted by name, version and architecture.
    #[serde(borrow)]
    pub packages: Vec<PackageSum<'r, T>>,
    /// The number of files in further packages. They count in the total only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_files: u64,
}

/// The sums for a package.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PackageWith{T}"))]
pub struct PackageSum<'r, T> {
    /// The name that its metadata states, otherwise its path.
    #[serde(borrow)]
    pub package: Text<'r>,
    /// Its version.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'r>>,
    /// Its architecture, in the distribution's own term.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Text<'r>>,
    /// The sums over its files.
    #[serde(flatten)]
    pub total: T,
}

impl<T> Default for PackageSums<'_, T> {
    fn default() -> Self {
        PackageSums { packages: Vec::new(), other_files: 0 }
    }
}

impl<T: Default> PackageSums<'_, T> {
    /// Adds the file of this record to the sums of its package; nothing if the file is not in a package.
    pub(crate) fn add(&mut self, record: &Record<'_>, add: impl FnOnce(&mut T)) {
        let Some(key) = PackageKey::of(record) else { return };
        let place = self.packages.binary_search_by(|known| known.key().cmp(&key));
        let owned = |text: &Text<'_>| text.clone().into_owned();
        let new = || PackageSum {
            package: owned(key.name),
            version: key.version.map(owned),
            architecture: key.architecture.map(owned),
            total: T::default(),
        };
        match entry_within(MOST_PACKAGES, &mut self.packages, place, new) {
            Some(known) => add(&mut known.total),
            None => self.other_files = self.other_files.saturating_add(1),
        }
    }
}

impl<T> PackageSums<'_, T> {
    /// Which packages a table of at most `listed` is about: `the 20 of 300 packages with the most CFI`. There may be others,
    /// which are not counted.
    pub(crate) fn with_the_most(&self, what: &str, listed: usize) -> String {
        let number = grouped(self.packages.len() as u64);
        let first = if self.other_files > 0 { "the first " } else { "" };
        match listed < self.packages.len() {
            true => format!("the {listed} of {first}{number} packages with the most {what}"),
            false => format!("each of {first}{number} packages"),
        }
    }
}

impl<T> PackageSum<'_, T> {
    const fn key(&self) -> PackageKey<'_> {
        PackageKey {
            name: &self.package,
            version: self.version.as_ref(),
            architecture: self.architecture.as_ref(),
        }
    }

    /// `libc6 2.41-12 amd64`, safe to print.
    #[must_use]
    pub fn label(&self) -> String {
        let PackageKey { name, version, architecture } = self.key();
        let parts = [Some(name), version, architecture].into_iter().flatten();
        parts.map(|part| printable(&**part)).collect::<Vec<_>>().join(" ")
    }
}

/// A package, in the order of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PackageKey<'p> {
    /// The name that its metadata states, otherwise its path.
    name: &'p Text<'p>,
    version: Option<&'p Text<'p>>,
    architecture: Option<&'p Text<'p>>,
}

impl<'p> PackageKey<'p> {
    /// The package that contains the file of a record, if it is in one.
    const fn of(record: &'p Record<'p>) -> Option<PackageKey<'p>> {
        match (&record.package, &record.inside) {
            (Some(of), _) => Some(PackageKey {
                name: &of.name,
                version: of.version.as_ref(),
                architecture: of.architecture.as_ref(),
            }),
            (None, Some(_)) => {
                Some(PackageKey { name: &record.path, version: None, architecture: None })
            }
            (None, None) => None,
        }
    }
}
