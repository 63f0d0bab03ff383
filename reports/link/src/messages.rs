//! Messages of linkers about SFrame: what they mean, and what to do.

/// A message that people meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// A name for the message.
    pub id: &'static str,
    /// The words of the message. `*` stands for any text.
    pub pattern: &'static str,
    /// The linkers that print it.
    pub linkers: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// Whether it comes from a report of others, and was not observed with the linkers of the tests.
    pub reported: bool,
}
