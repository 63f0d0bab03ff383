//! Findings that are made as they are written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::Finding;
use crate::render::json;
use crate::report::Checked;

/// Findings, each of which is made as it is written: a file may have a million of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Findings<'c>(Option<&'c Checked>);

impl<'c> Findings<'c> {
    /// The findings of a file.
    #[must_use]
    pub const fn of(checked: &'c Checked) -> Findings<'c> {
        Findings(Some(checked))
    }
}

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        if let Findings(Some(checked)) = self {
            for located in &checked.findings {
                sequence.serialize_element(&json::finding(checked, located))?;
            }
        }
        sequence.end()
    }
}

impl JsonSchema for Findings<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<Finding>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Finding>::json_schema(generator)
    }
}
