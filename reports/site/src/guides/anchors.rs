//! Anchors of headings, as GitHub makes them, so that links between guides keep working.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::Section;

/// Gives every heading its anchor, and returns the headings with the text under them.
pub(super) fn set(events: &mut [Event]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut in_heading = false;
    for event in &*events {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                in_heading = true;
                sections.push(Section::default());
            }
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            _ => {}
        }
        let Some(section) = sections.last_mut() else { continue };
        match event {
            Event::Text(text) | Event::Code(text) if in_heading => section.title.push_str(text),
            Event::Text(text) | Event::Code(text) => section.text.push_str(text),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) | Event::SoftBreak => {
                section.text.push(' ');
            }
            _ => {}
        }
    }
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for section in &mut sections {
        let anchor = anchor(&section.title);
        let count = used.entry(anchor.clone()).or_default();
        section.anchor = if *count == 0 { anchor } else { format!("{anchor}-{count}") };
        *count += 1;
    }
    let mut anchors = sections.iter().map(|section| section.anchor.clone());
    for event in events {
        if let Event::Start(Tag::Heading { id, .. }) = event {
            *id = anchors.next().map(Into::into);
        }
    }
    sections
}

fn anchor(title: &str) -> String {
    let kept = title.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::anchor;

    /// Observed at GitHub.
    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(anchor("`--for`: what it does, and why"), "--for-what-it-does-and-why");
        assert_eq!(anchor("SFrame & CFI_2"), "sframe--cfi_2");
    }
}
