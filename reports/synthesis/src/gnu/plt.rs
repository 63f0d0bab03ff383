//! The entries that GNU ld writes for its own stubs.

use sframe_validator::Abi;

use super::Release;
use crate::model::Function;
use crate::source::Source;

/// Whether the linker describes its stubs.
pub(super) const fn describes(abi: Abi) -> bool {
    matches!(abi, Abi::Amd64 | Abi::S390x)
}

/// The entries for a linked file's stubs.
pub(super) fn functions(_: &Source<'_, '_>, _: Release) -> Vec<Function> {
    Vec::new()
}
