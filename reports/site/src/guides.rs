//! The guides: the pages in `docs/`, with links that lead to the pages here or to the repository.

mod anchors;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use crate::names::Names;

/// The guide that has the pages of all rules, which have pages of their own here.
const RULES: &str = "RULES";

/// The table of tests, which quotes the guides with their links: it is for contributors, and stays in the repository.
const PROMISES: &str = "PROMISES";

/// A guide.
#[derive(Debug)]
pub(crate) struct Guide {
    /// The file's name without `.md`.
    pub(crate) name: String,
    /// The first heading.
    pub(crate) title: String,
    /// The text, as HTML.
    pub(crate) html: String,
    /// The text between headings.
    pub(crate) sections: Vec<Section>,
    /// The images, as address and file.
    pub(crate) images: Vec<(String, PathBuf)>,
    /// The names of pages that it mentions.
    pub(crate) mentions: BTreeSet<String>,
}

/// A heading and the text under it.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) anchor: String,
    pub(crate) text: String,
}

impl Guide {
    pub(crate) fn address(&self) -> String {
        format!("guides/{}.html", self.name)
    }
}

/// All guides, by name.
pub(crate) fn all(root: &Path, names: &Names) -> io::Result<Vec<Guide>> {
    let mut found = BTreeSet::new();
    for file in fs::read_dir(root.join("docs"))? {
        let file = file?.file_name();
        if let Some(name) = file.to_str().and_then(|name| name.strip_suffix(".md")) {
            found.insert(name.to_owned());
        }
    }
    found.remove(RULES);
    found.remove(PROMISES);
    let read = |name: &String| {
        let text = fs::read_to_string(root.join("docs").join(format!("{name}.md")))?;
        let error = |message| io::Error::other(format!("docs/{name}.md: {message}"));
        Reader { root, names, guides: &found, images: Vec::new() }.guide(name, &text).map_err(error)
    };
    let mut guides = found.iter().map(read).collect::<io::Result<Vec<Guide>>>()?;
    guides.sort_by_key(|guide| guide.title.to_lowercase());
    Ok(guides)
}

/// An address in a guide that the site cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BadAddress {
    /// It leads out of the repository.
    Outside(String),
    /// The repository has nothing there.
    Missing(String),
    /// It is an image's, which must be in `docs/`.
    NotInDocs(String),
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadAddress::Outside(to) => write!(f, "{to} is outside of the repository"),
            BadAddress::Missing(to) => write!(f, "{to} does not exist"),
            BadAddress::NotInDocs(to) => write!(f, "{to} is not a file in docs/"),
        }
    }
}

impl std::error::Error for BadAddress {}

struct Reader<'r> {
    root: &'r Path,
    names: &'r Names,
    guides: &'r BTreeSet<String>,
    images: Vec<(String, PathBuf)>,
}

impl Reader<'_> {
    fn guide(mut self, name: &str, text: &str) -> Result<Guide, BadAddress> {
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let mut events: Vec<Event> = Parser::new_ext(text, options).collect();
        let sections = anchors::set(&mut events);
        let mut mentions = BTreeSet::new();
        let mut written = Vec::new();
        // Names inside links and headings are left as they are.
        let mut depth = 0_usize;
        for event in events {
            match &event {
                Event::Start(Tag::Link { .. } | Tag::Heading { .. }) => depth += 1,
                Event::End(TagEnd::Link | TagEnd::Heading(_)) => depth = depth.saturating_sub(1),
                _ => {}
            }
            match event {
                Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                    let dest_url = self.link(&dest_url)?.into();
                    written.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
                Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                    let dest_url = self.image(&dest_url)?.into();
                    written.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
                }
                Event::Code(code) => match self.names.address(&code) {
                    Some(address) => {
                        mentions.insert(code.to_string());
                        // The address has only characters of names.
                        let start = CowStr::from(format!("<a href=\"../{address}\">"));
                        let is_linked = depth == 0;
                        written.extend(is_linked.then_some(Event::InlineHtml(start)));
                        written.push(Event::Code(code));
                        written.extend(is_linked.then_some(Event::InlineHtml("</a>".into())));
                    }
                    None => written.push(Event::Code(code)),
                },
                // Wide tables scroll by themselves.
                Event::Start(Tag::Table(columns)) => {
                    written.push(Event::Html("<div class=\"scroll\" tabindex=\"0\">".into()));
                    written.push(Event::Start(Tag::Table(columns)));
                }
                Event::End(TagEnd::Table) => {
                    written.push(Event::End(TagEnd::Table));
                    written.push(Event::Html("</div>\n".into()));
                }
                // The guides have only comments.
                Event::Html(text) | Event::InlineHtml(text) => {
                    if !text.trim_start().starts_with("<!--") {
                        written.push(Event::Text(text));
                    }
                }
                event => written.push(event),
            }
        }
        let mut page = String::new();
        html::push_html(&mut page, written.into_iter());
        // Code scrolls by itself, also with a keyboard, and an empty heading is none. Both are markup: text has no `<`.
        let page = page.replace("<pre>", "<pre tabindex=\"0\">").replace("<th></th>", "<td></td>");
        // The pages' policy allows no styles in elements.
        let page = page
            .replace(" style=\"text-align: ", " class=\"")
            .replace("<th class=\"right\"></th>", "<td></td>");
        let title = sections.first().map_or(name, |section| section.title.as_str()).to_owned();
        let (name, images) = (name.to_owned(), self.images);
        Ok(Guide { name, title, html: page, sections, images, mentions })
    }

    /// The address that replaces one in a guide.
    fn link(&self, to: &str) -> Result<String, BadAddress> {
        if to.starts_with('#') || to.contains("://") || to.starts_with("mailto:") {
            return Ok(to.to_owned());
        }
        let (path, fragment) = to.split_once('#').unwrap_or((to, ""));
        let fragment = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
        let path = resolve(path).ok_or_else(|| BadAddress::Outside(to.to_owned()))?;
        let name = path.strip_prefix("docs/").and_then(|name| name.strip_suffix(".md"));
        match name {
            Some(RULES) => Ok(match self.names.address(fragment.trim_start_matches('#')) {
                Some(address) => format!("../{address}"),
                None => "../index.html#rules".to_owned(),
            }),
            Some(name) if self.guides.contains(name) => Ok(format!("{name}.html{fragment}")),
            _ => {
                let address = self.names.in_repository(&path);
                address.map(|to| to + &fragment).ok_or_else(|| BadAddress::Missing(to.to_owned()))
            }
        }
    }

    fn image(&mut self, to: &str) -> Result<String, BadAddress> {
        let path = resolve(to).ok_or_else(|| BadAddress::Outside(to.to_owned()))?;
        let place = path.strip_prefix("docs/").filter(|_| self.root.join(&path).is_file());
        let place = place.ok_or_else(|| BadAddress::NotInDocs(to.to_owned()))?.to_owned();
        self.images.push((format!("guides/{place}"), self.root.join(&path)));
        Ok(place)
    }
}

/// The path in the repository of one in `docs/`.
fn resolve(path: &str) -> Option<String> {
    let mut parts = vec!["docs"];
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
