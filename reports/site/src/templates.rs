//! The frames of pages. Templates escape all text.

use askama::Template;
use sframe_render::explain::Part;

use crate::entries::{Entry, SHELVES, Shelf};
use crate::guides::Guide;
use crate::names::{Names, Span, words};

type Text<'s> = Vec<Span<'s>>;

/// A link to a page.
pub(crate) struct To<'s> {
    title: &'s str,
    address: String,
}

/// A page of `explain`.
#[derive(Template)]
#[template(path = "entry.html")]
pub(crate) struct EntryPage<'s> {
    up: &'static str,
    entry: &'s Entry,
    summary: Text<'s>,
    parts: Vec<(&'s Part, Text<'s>, Vec<Text<'s>>)>,
    /// The other rules of the group.
    group: Vec<To<'s>>,
    mentioned: Vec<To<'s>>,
    before: Option<To<'s>>,
    after: Option<To<'s>>,
}

impl<'s> EntryPage<'s> {
    pub(crate) fn of(
        place: usize,
        entries: &'s [Entry],
        guides: &'s [Guide],
        names: &Names,
    ) -> Option<EntryPage<'s>> {
        let entry = entries.get(place)?;
        let (page, up) = (&entry.page, "../");
        let spans = |text: &'s String| names.spans(text, page.name, up);
        let parts = page.parts.iter().map(|part| {
            let text = part.text.as_ref().map(spans).unwrap_or_default();
            (part, text, part.items.iter().flatten().map(spans).collect())
        });
        let is_other = |other: &&Entry| other.address() != entry.address();
        let others = entries.iter().filter(is_other);
        let group =
            others.clone().filter(|of| of.page.group.is_some() && of.page.group == page.group);
        // Only the page to which a name leads is mentioned by it.
        let is_led_to = names.address(page.name) == Some(&entry.address());
        let says = |of: &&Entry| {
            is_led_to
                && of.text().chain([of.page.summary.as_str()]).any(|text| has(text, page.name))
        };
        let in_guides =
            guides.iter().filter(|guide| is_led_to && guide.mentions.contains(page.name));
        let in_guides = in_guides.map(|guide| To { title: &guide.title, address: guide.address() });
        let near = |place: Option<usize>| {
            place.and_then(|place| entries.get(place)).filter(|of| of.shelf == entry.shelf).map(to)
        };
        Some(EntryPage {
            up,
            entry,
            summary: spans(&page.summary),
            parts: parts.collect(),
            group: group.map(to).collect(),
            mentioned: others.filter(says).map(to).chain(in_guides).collect(),
            before: near(place.checked_sub(1)),
            after: near(place.checked_add(1)),
        })
    }
}

fn has(text: &str, name: &str) -> bool {
    words(text).any(|(_, word)| word == name)
}

fn to(entry: &Entry) -> To<'_> {
    To { title: entry.page.title(), address: entry.address() }
}

/// A guide.
#[derive(Template)]
#[template(path = "guide.html")]
pub(crate) struct GuidePage<'s> {
    pub(crate) up: &'static str,
    pub(crate) guide: &'s Guide,
}

/// Pages with a title, which is empty for what has no groups.
type Titled<'s> = (&'static str, Vec<&'s Entry>);

/// The first page: the search, and everything by kind.
#[derive(Template)]
#[template(path = "index.html")]
pub(crate) struct Index<'s> {
    up: &'static str,
    guides: &'s [Guide],
    shelves: Vec<(Shelf, Vec<Titled<'s>>)>,
}

impl<'s> Index<'s> {
    pub(crate) fn of(entries: &'s [Entry], guides: &'s [Guide]) -> Index<'s> {
        let shelves = SHELVES.into_iter().map(|shelf| {
            let mut groups: Vec<Titled> = Vec::new();
            for entry in entries.iter().filter(|entry| entry.shelf == shelf) {
                let name = entry.page.group.map_or("", sframe_record::Group::name);
                match groups.iter_mut().find(|(group, _)| *group == name) {
                    Some((_, of)) => of.push(entry),
                    None => groups.push((name, vec![entry])),
                }
            }
            (shelf, groups)
        });
        Index { up: "", guides, shelves: shelves.collect() }
    }
}
