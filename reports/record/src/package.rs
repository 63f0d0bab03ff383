//! Packages of distributions, which contain files.

use serde::{Deserialize, Serialize};

use crate::value::Text;

/// The package that contains a file, as stated in its metadata.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Package<'r> {
    /// Its name, without a version.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// Its version.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text<'r>>,
    /// Its architecture, in the distribution's own term.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Text<'r>>,
    /// The source package it was built from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Text<'r>>,
}
