//! The pages of `explain` and the guides in `docs/` as a web site of files, which needs no server.
//!
//! Addresses are stable: `rules/NAME.html`, `defects/NAME.html`, `causes/NAME.html`, `words/NAME.html`,
//! `messages/NAME.html`, `consumers/NAME.html` and `guides/NAME.html`. No text is written here: pages are those of
//! [`sframe_render::explain`], and guides those of the repository.

#![forbid(unsafe_code)]

mod entries;
mod folder;
mod guides;
mod names;
mod search;
mod templates;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use askama::Template;

use names::Names;
use templates::{EntryPage, GuidePage, Index};

/// The address of the repository, to which links to its other files lead.
pub const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The web site: the text or bytes of each file, by its path in the folder.
#[derive(Debug)]
pub struct Site {
    /// The files. Paths have `/` between their parts.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Site {
    /// Makes the web site of a checkout of the repository.
    ///
    /// # Errors
    /// Returns an error if a guide cannot be read, or has a link to a file that is missing.
    pub fn of(root: &Path) -> io::Result<Site> {
        let entries = entries::all();
        let names = Names::of(root, &entries);
        let guides = guides::all(root, &names)?;
        let mut files = BTreeMap::new();
        for (place, entry) in entries.iter().enumerate() {
            let Some(page) = EntryPage::of(place, &entries, &guides, &names) else { continue };
            files.insert(entry.address(), text(&page)?);
        }
        for guide in &guides {
            files.insert(guide.address(), text(&GuidePage { up: "../", guide })?);
            for (address, path) in &guide.images {
                files.insert(address.clone(), std::fs::read(path)?);
            }
        }
        files.insert("index.html".to_owned(), text(&Index::of(&entries, &guides))?);
        files.insert("index.js".to_owned(), search::index(&entries, &guides)?.into_bytes());
        files.insert("search.js".to_owned(), include_bytes!("../assets/search.js").to_vec());
        // The colours and type of HTML reports.
        let style =
            [include_str!("../../html/assets/css/base.css"), include_str!("../assets/site.css")];
        files.insert("style.css".to_owned(), style.join("\n").into_bytes());
        Ok(Site { files })
    }

    /// Writes the files to a folder, which is new, empty, or has an earlier web site, whose files are removed.
    ///
    /// # Errors
    /// Returns an error if the folder contains something else, or cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        folder::write(&self.files, folder)
    }
}

fn text(page: &impl Template) -> io::Result<Vec<u8>> {
    page.render().map(String::into_bytes).map_err(io::Error::other)
}
