//! The consumers that the command line names.

use sframe_consumers::{Consumer, select};

/// Consumers, each once.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Consumers(pub(in crate::cli) Vec<&'static dyn Consumer>);

impl Consumers {
    /// Parses a list.
    pub(super) fn parse(list: &str) -> Result<Consumers, sframe_consumers::UnknownConsumer> {
        select(list).map(Consumers)
    }
}
