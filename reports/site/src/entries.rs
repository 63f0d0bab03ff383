//! The pages of `explain`, each once.

use std::collections::BTreeSet;

use sframe_record::pages::RULES;
use sframe_render::explain::{self, Kind, Page};

/// A kind of page: the folder of its pages, and its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shelf {
    pub(crate) folder: &'static str,
    pub(crate) title: &'static str,
    kind: Kind,
}

/// The kinds, in the order of the index.
pub(crate) const SHELVES: [Shelf; 6] = [
    Shelf { folder: RULES, title: "Rules", kind: Kind::Rule },
    Shelf { folder: "defects", title: "Known defects", kind: Kind::KnownDefect },
    Shelf { folder: "causes", title: "Causes of lost coverage", kind: Kind::Cause },
    Shelf { folder: "words", title: "Words of reports", kind: Kind::Word },
    Shelf { folder: "messages", title: "Messages of linkers", kind: Kind::Message },
    Shelf { folder: "consumers", title: "Consumers", kind: Kind::Consumer },
];

/// A page, and where it is.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) shelf: Shelf,
    pub(crate) page: Page,
}

impl Entry {
    pub(crate) fn address(&self) -> String {
        format!("{}/{}.html", self.shelf.folder, self.page.name)
    }

    /// All of its text but the summary.
    pub(crate) fn text(&self) -> impl Iterator<Item = &str> {
        let parts = self.page.parts.iter();
        parts
            .flat_map(|part| part.text.iter().chain(part.items.iter().flatten()))
            .map(String::as_str)
    }
}

/// All pages, by kind and in the order of `explain`. Some have several names.
pub(crate) fn all() -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    for (_, subject) in explain::subjects() {
        let page = explain::page(subject);
        let Some(shelf) = SHELVES.into_iter().find(|shelf| shelf.kind == page.kind) else {
            continue;
        };
        if seen.insert((shelf.folder, page.name)) {
            entries.push(Entry { shelf, page });
        }
    }
    let place = |entry: &Entry| SHELVES.iter().position(|shelf| *shelf == entry.shelf);
    entries.sort_by_key(place);
    entries
}
