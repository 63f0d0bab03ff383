//! Interned strings: records share many strings, so each is stored once.

use std::collections::HashMap;
use std::sync::Arc;

/// The number of a string. Numbers depend on the order in which records were added, so results must not be sorted by
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(u32);

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
        // Four billion different strings would not fit into memory.
        let id = Id(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    /// The string with this number.
    pub(crate) fn text(&self, id: Id) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }
}
