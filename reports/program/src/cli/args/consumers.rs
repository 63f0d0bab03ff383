//! The consumers that the command line names.

use sframe_consumers::{Consumer, Page, UnknownConsumer, other_releases, select};

/// Consumers, each once.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Consumers {
    pub(in crate::cli) all: Vec<&'static dyn Consumer>,
    /// The names that are those of other releases than the profile's own, and the pages of the profiles.
    others: Vec<(&'static str, &'static Page)>,
}

impl Consumers {
    /// Parses a list.
    pub(super) fn parse(list: &str) -> Result<Consumers, UnknownConsumer> {
        Ok(Consumers { all: select(list)?, others: other_releases(list) })
    }

    /// Which profile answers for another release.
    pub(in crate::cli) fn answered_by(&self) -> impl Iterator<Item = String> + '_ {
        self.others.iter().map(|(asked, page)| {
            format!("{asked}: the profile {} answers, which covers {}", page.name, page.versions)
        })
    }
}
