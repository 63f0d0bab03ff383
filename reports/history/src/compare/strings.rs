//! Strings that many records share, held once.

use std::collections::HashMap;
use std::sync::Arc;

/// The number of a string. Numbers depend on the order in which records came: nothing that is told
/// may be sorted by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(u32);

/// The strings.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    ids: HashMap<Arc<str>, Id>,
    texts: Vec<Arc<str>>,
}

impl Strings {
    /// The number of `text`.
    pub(crate) fn id(&mut self, text: &str) -> Id {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        // Four billion different strings do not fit into memory.
        let id = Id(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    /// The string of a number.
    pub(crate) fn text(&self, id: Id) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }
}
