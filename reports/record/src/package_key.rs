//! The key by which the packages of a scan are sorted and counted.

use crate::numbers::grouped;
use crate::record::Record;
use crate::text::printable;
use crate::value::Text;

/// The maximum number of packages with sums of their own. Memory grows with them.
pub(crate) const MOST_PACKAGES: usize = 10_000;

/// Which packages a table of at most `listed` of `packages` is about: `the 20 of 300 packages with the most CFI`. There may be
/// others, which are not counted.
pub(crate) fn subject(listed: usize, packages: usize, has_others: bool, most: &str) -> String {
    let number = grouped(packages as u64);
    let first = if has_others { "the first " } else { "" };
    match listed < packages {
        true => format!("the {listed} of {first}{number} packages with the most {most}"),
        false => format!("each of {first}{number} packages"),
    }
}

/// A package, in the order of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackageKey<'p> {
    /// The name that its metadata states, otherwise its path.
    pub(crate) name: &'p Text<'p>,
    pub(crate) version: Option<&'p Text<'p>>,
    pub(crate) architecture: Option<&'p Text<'p>>,
}

impl<'p> PackageKey<'p> {
    /// The package that contains the file of a record, if it is in one.
    pub(crate) const fn of(record: &'p Record<'p>) -> Option<PackageKey<'p>> {
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

    /// `libc6 2.41-12 amd64`, safe to print.
    pub(crate) fn label(&self) -> String {
        let parts = [Some(self.name), self.version, self.architecture].into_iter().flatten();
        parts.map(|part| printable(&**part)).collect::<Vec<_>>().join(" ")
    }
}
