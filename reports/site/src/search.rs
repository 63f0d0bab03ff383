//! What the search looks through: a script with one value, because a page that is opened as a file may load scripts, and
//! nothing else.

use std::io;

use serde_json::json;

use crate::entries::Entry;
use crate::guides::Guide;

pub(crate) fn index(entries: &[Entry], guides: &[Guide]) -> io::Result<String> {
    let mut index = Vec::new();
    for entry in entries {
        let text: Vec<&str> = entry.text().collect();
        index.push(json!({
            "name": entry.page.title(),
            "about": entry.page.about,
            "address": entry.address(),
            "title": entry.page.summary,
            "text": text.join(" "),
        }));
    }
    for guide in guides {
        for section in &guide.sections {
            let name = if section.title == guide.title { "" } else { section.title.as_str() };
            index.push(json!({
                "name": if name.is_empty() { &guide.title } else { name },
                "about": if name.is_empty() { "guide" } else { &guide.title },
                "address": format!("{}#{}", guide.address(), section.anchor),
                "title": "",
                "text": section.text,
            }));
        }
    }
    let index = serde_json::to_string(&index).map_err(io::Error::other)?;
    Ok(format!("const INDEX = {index};\n"))
}
