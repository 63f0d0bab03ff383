//! Call instructions, and what a stack walker finds after them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Call instructions by what a walker finds that looks up return addresses without subtracting one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CallSites {
    /// In SFrame. Absent if it describes no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sframe: Option<SiteCounts>,
    /// In CFI. Absent if it describes no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfi: Option<SiteCounts>,
}

/// Calls that a witness describes, by what it says at the return address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct SiteCounts {
    /// The frame of the call, in the same function.
    pub same: u64,
    /// An equal frame, in another function.
    pub same_elsewhere: u64,
    /// Another frame of the same function.
    pub other_row: u64,
    /// Another frame, of another function.
    pub other_function: u64,
    /// Nothing: the walk ends.
    pub nothing: u64,
    /// A row that cannot be read.
    pub unreadable: u64,
}

/// The sums over several files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CallSiteTotal {
    /// The number of files whose code was examined.
    pub files: u64,
    /// The sums over these files.
    #[serde(flatten)]
    pub sites: CallSites,
}

impl SiteCounts {
    /// All calls that the witness describes.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.same.saturating_add(self.affected()).saturating_add(self.unreadable)
    }

    /// The calls whose return address belongs to another row, to another function or to none.
    #[must_use]
    pub const fn affected(&self) -> u64 {
        self.same_elsewhere
            .saturating_add(self.other_row)
            .saturating_add(self.other_function)
            .saturating_add(self.nothing)
    }

    fn add(&mut self, other: &SiteCounts) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.same, other.same);
        add(&mut self.same_elsewhere, other.same_elsewhere);
        add(&mut self.other_row, other.other_row);
        add(&mut self.other_function, other.other_function);
        add(&mut self.nothing, other.nothing);
        add(&mut self.unreadable, other.unreadable);
    }
}

impl CallSiteTotal {
    /// Adds the call sites of one file.
    pub fn add(&mut self, sites: &CallSites) {
        self.files = self.files.saturating_add(1);
        for (sum, more) in
            [(&mut self.sites.sframe, &sites.sframe), (&mut self.sites.cfi, &sites.cfi)]
        {
            if let Some(more) = more {
                sum.get_or_insert_default().add(more);
            }
        }
    }
}
