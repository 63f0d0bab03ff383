//! What a known defect does to the readers of a section.

use serde::{Deserialize, Serialize};

use crate::value::Text;

/// How much of a section a known defect spoils.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Nothing: readers find the right row at every PC that the section describes.
    Harmless,
    /// Some PCs: readers find a wrong row there, or none.
    Partial,
    /// Everything: readers find no right row, or almost none.
    Useless,
}

impl Weight {
    /// Its name in reports and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Weight::Harmless => "harmless",
            Weight::Partial => "partial",
            Weight::Useless => "useless",
        }
    }
}

/// What a known defect does to the readers of a section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Consequence<'r> {
    /// How much of the section it spoils.
    pub weight: Weight,
    /// The PCs that it spoils, in words, if those are a part of the section's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub pcs: Option<Text<'r>>,
}

impl Consequence<'_> {
    /// A copy that borrows nothing.
    #[must_use]
    pub fn owned(&self) -> Consequence<'static> {
        let Consequence { weight, pcs } = self;
        Consequence { weight: *weight, pcs: pcs.clone().map(Text::into_owned) }
    }
}

impl std::fmt::Display for Consequence<'_> {
    /// `partial: the stubs of .plt.got`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.weight.name())?;
        match &self.pcs {
            Some(pcs) => write!(f, ": {pcs}"),
            None => Ok(()),
        }
    }
}
