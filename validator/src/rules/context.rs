//! What a rule's check is given, and how it reports.

/// How a rule looks at a section.
pub(crate) enum Check {}
