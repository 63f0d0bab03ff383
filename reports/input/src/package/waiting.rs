//! Files of a package that come before its metadata: they wait until the package has a name.

use super::{Content, Place, Visit};
use crate::Special;

/// How many files may wait. Debian's packages have at most one or two before `control`, such as `conffiles`.
const MOST: usize = 64;

/// A file without bytes to check.
#[derive(Debug)]
enum Plain {
    LinuxImage,
    Other,
    Empty,
    Special(Special),
    Unreadable(String),
}

impl Plain {
    /// A file that can wait; the content of others is in memory only for a moment.
    fn of<'c>(content: Content<'c>) -> Result<Plain, Content<'c>> {
        Ok(match content {
            Content::LinuxImage => Plain::LinuxImage,
            Content::Other => Plain::Other,
            Content::Empty => Plain::Empty,
            Content::Special(kind) => Plain::Special(kind),
            Content::Unreadable(reason) => Plain::Unreadable(reason),
            Content::Elf(_) | Content::Archive(_) => return Err(content),
        })
    }
}

impl From<Plain> for Content<'static> {
    fn from(plain: Plain) -> Content<'static> {
        match plain {
            Plain::LinuxImage => Content::LinuxImage,
            Plain::Other => Content::Other,
            Plain::Empty => Content::Empty,
            Plain::Special(kind) => Content::Special(kind),
            Plain::Unreadable(reason) => Content::Unreadable(reason),
        }
    }
}

/// The files that wait, in stored order.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    is_open: bool,
    files: Vec<(Place, Plain)>,
}

impl Visit<'_> {
    /// From now on, files wait until the package has a name.
    pub(super) fn wait(&mut self) {
        self.release();
        self.waiting.is_open = true;
    }

    /// Hands over the files that wait. Others no longer do.
    pub(super) fn release(&mut self) {
        let Waiting { files, .. } = std::mem::take(&mut self.waiting);
        for (place, plain) in files {
            if !self.enough {
                self.hand_over(&place, plain.into());
            }
        }
    }

    /// Hands over a file, now or once the package has a name.
    pub(super) fn report(&mut self, place: &Place, content: Content<'_>) {
        if !self.waiting.is_open || self.waiting.files.len() >= MOST {
            self.release();
            return self.hand_over(place, content);
        }
        match Plain::of(content) {
            Ok(plain) => self.waiting.files.push((place.clone(), plain)),
            Err(content) => {
                self.release();
                self.hand_over(place, content);
            }
        }
    }
}
