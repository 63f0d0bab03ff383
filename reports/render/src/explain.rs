//! The pages about rules, known defects, causes of lost coverage, other words of reports, messages of linkers, and consumers.

mod causes;
mod consumers;
mod defects;
mod error;
mod messages;
mod page;
mod rules;
mod words;

use std::io::{self, Write};

use anstyle::Style;
use sframe_consumers::Consumer;
use sframe_defects::{Defect, Producer};
use sframe_link::messages::{self as linkers, Message};
use sframe_oracle::coverage::Cause;
use sframe_record::catalogue;
use sframe_validator::rules::Rule;

use crate::near;

pub use error::NoSuchName;
#[cfg(feature = "schema")]
pub use page::schema;
pub use page::{Kind, Page, Part};
pub use rules::{find, list, markdown};
pub use words::Word;

const BOLD: Style = Style::new().bold();

/// What a page is about.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// A rule.
    Rule(&'static Rule),
    /// A known defect of a producer.
    Defect(&'static Defect),
    /// A cause of lost coverage.
    Cause(Cause),
    /// Another word by which reports name a cause.
    Word(&'static Word),
    /// A message of a linker.
    Message(&'static Message),
    /// A program that reads SFrame.
    Consumer(&'static dyn Consumer),
}

/// Everything that has a name.
pub fn subjects() -> impl Iterator<Item = (&'static str, Subject)> {
    let rules = catalogue::all().map(|rule| (rule.name, Subject::Rule(rule)));
    let defects = sframe_defects::all().map(|defect| (defect.id, Subject::Defect(defect)));
    let causes = Cause::ALL.into_iter().map(|cause| (cause.name(), Subject::Cause(cause)));
    // What records call `none`, reports for people call unexplained.
    let unexplained = [("unexplained", Subject::Cause(Cause::Unexplained))];
    let words = words::ALL.iter().map(|word| (word.name, Subject::Word(word)));
    let causes = causes.chain(unexplained).chain(words);
    let messages = linkers::ALL.iter().map(|message| (message.id, Subject::Message(message)));
    let consumers = sframe_consumers::profiles()
        .iter()
        .map(|consumer| (consumer.page().name, Subject::Consumer(*consumer)));
    let others = sframe_consumers::profiles().iter().flat_map(|consumer| {
        consumer.page().also.iter().map(|name| (*name, Subject::Consumer(*consumer)))
    });
    rules.chain(defects).chain(causes).chain(messages).chain(consumers).chain(others)
}

/// Everything with this name: a cause and a known defect may have the same one. A text with spaces is a message of a
/// linker.
///
/// # Errors
/// Similar names, if there is nothing.
pub fn subjects_named(name: &str) -> Result<Vec<Subject>, NoSuchName> {
    let named = subjects().filter(|(known, _)| *known == name);
    let named: Vec<Subject> = named.map(|(_, subject)| subject).collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let messages = linkers::find(name);
    if !messages.is_empty() {
        return Ok(messages.into_iter().map(Subject::Message).collect());
    }
    if name.contains(' ') {
        return Err(NoSuchName::Message);
    }
    let hint = near::hint(name, subjects().map(|(name, _)| name));
    Err(NoSuchName::Subject { name: name.to_owned(), hint })
}

/// Prints pages, with an empty line between them.
///
/// # Errors
/// Returns an error if writing fails.
pub fn pages(
    out: &mut dyn Write,
    subjects: impl Iterator<Item = Subject>,
    width: Option<usize>,
) -> io::Result<()> {
    for (place, subject) in subjects.enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        page(subject).print(out, width)?;
    }
    Ok(())
}

/// Writes pages as one JSON document.
///
/// # Errors
/// Returns an error if writing fails.
pub fn json(out: &mut dyn Write, subjects: impl Iterator<Item = Subject>) -> io::Result<()> {
    page::json(out, subjects.map(page).collect())
}

/// The page about a subject.
#[must_use]
pub fn page(subject: Subject) -> Page {
    match subject {
        Subject::Rule(rule) => rules::page(rule),
        Subject::Defect(defect) => defects::page(defect),
        Subject::Cause(cause) => causes::page(cause),
        Subject::Word(word) => words::page(word),
        Subject::Message(message) => messages::page(message),
        Subject::Consumer(consumer) => consumers::page(consumer.page()),
    }
}

/// The known defects of a producer, or of all.
pub fn known(producer: Option<&Producer>) -> impl Iterator<Item = Subject> {
    defects::of(producer).map(Subject::Defect)
}

/// Lists the known defects of a producer, or of all.
///
/// # Errors
/// Returns an error if writing fails.
pub fn list_known(
    out: &mut dyn Write,
    producer: Option<&Producer>,
    width: Option<usize>,
) -> io::Result<()> {
    defects::list(out, producer, width)
}
