//! Interned strings: records share many strings, so each is stored once.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The number of a string, from 1. Numbers depend on the order in which records were added, so results must not be sorted by
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(NonZeroU32);

/// The table of strings.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    ids: HashMap<Arc<str>, Id>,
    texts: Vec<Arc<str>>,
}

impl Strings {
    /// The number of `text`, which is added if it is new.
    pub(crate) fn id(&mut self, text: &str) -> Id {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        // Four billion different strings would not fit into memory.
        let number = u32::try_from(self.texts.len()).ok().and_then(NonZeroU32::new);
        let id = Id(number.unwrap_or(NonZeroU32::MAX));
        self.ids.insert(text, id);
        id
    }

    /// The string with this number.
    pub(crate) fn text(&self, id: Id) -> &str {
        self.texts.get(id.0.get() as usize - 1).map_or("", |text| text)
    }
}
