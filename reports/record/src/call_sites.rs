//! Call instructions, and what a stack walker finds after them.

pub(crate) mod packages;

use serde::{Deserialize, Serialize};

use crate::numbers::{counted, grouped, percent};

/// Call instructions by what a walker finds that looks up return addresses without subtracting one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

    /// The calls after which the walk continues with a wrong frame.
    #[must_use]
    pub const fn wrong_frame(&self) -> u64 {
        self.other_row.saturating_add(self.other_function)
    }

    /// What a walker finds that looks up return addresses without subtracting one, as all reports print it.
    #[must_use]
    pub fn sentence(&self) -> String {
        let calls = counted(self.total(), "call");
        let mut text = match self.affected() {
            0 => format!("after {} of {calls}, the row of the call is found", grouped(self.same)),
            affected => {
                let share = percent(affected, self.total());
                let affected = grouped(affected);
                let parts = self.parts().join(", ");
                format!(
                    "after {affected} of {calls} ({share}), the row of the call is not found: {parts}"
                )
            }
        };
        if self.unreadable > 0 {
            text.push_str(&format!("; after {}, it cannot be read", grouped(self.unreadable)));
        }
        text
    }

    /// What happens instead of finding the row of the call.
    fn parts(&self) -> Vec<String> {
        let wrong = self.wrong_frame();
        let from = match (self.other_row, self.other_function) {
            (0, _) => "of another function".to_owned(),
            (_, 0) => "of the same function".to_owned(),
            (same, other) => {
                let (same, other) = (grouped(same), grouped(other));
                format!("({other} of another function, {same} of the same)")
            }
        };
        let parts = [
            (self.nothing, "the walk ends".to_owned()),
            (wrong, format!("the walk takes a wrong frame {from}")),
            (self.same_elsewhere, "the walk takes an equal frame of another function".to_owned()),
        ];
        let some = parts.into_iter().filter(|(number, _)| *number > 0);
        some.map(|(number, what)| format!("{} {what}", counted(number, "time"))).collect()
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

impl CallSites {
    /// What the other kind of walker finds, which looks up an address in the call.
    pub const OTHER_WALKER: &str =
        "a walker that looks up the byte before it finds the row of each call";

    /// One sentence for each witness that describes any call. `noun` is what people call the table that SFrame was compared
    /// with.
    #[must_use]
    pub fn sentences(&self, noun: &str) -> Vec<String> {
        let of = |name: &str, sites: SiteCounts| format!("{name}: {}", sites.sentence());
        let sframe = self.sframe.map(|sites| of("SFrame", sites));
        let cfi = self.cfi.map(|sites| of(noun, sites));
        sframe.into_iter().chain(cfi).collect()
    }

    fn add(&mut self, other: &CallSites) {
        for (sum, more) in [(&mut self.sframe, &other.sframe), (&mut self.cfi, &other.cfi)] {
            if let Some(more) = more {
                sum.get_or_insert_default().add(more);
            }
        }
    }
}

impl CallSiteTotal {
    /// Adds the call sites of one file.
    pub fn add(&mut self, sites: &CallSites) {
        self.files = self.files.saturating_add(1);
        self.sites.add(sites);
    }
}

#[cfg(test)]
mod tests {
    use super::{CallSites, SiteCounts};

    /// The figures of a C library, and the smallest ones.
    #[test]
    fn sentences_say_what_a_walker_finds() {
        let cfi = SiteCounts {
            same: 12_265,
            same_elsewhere: 8,
            other_row: 5,
            other_function: 143,
            nothing: 884,
            unreadable: 0,
        };
        let sframe = SiteCounts { same: 2, unreadable: 1, ..SiteCounts::default() };
        assert_eq!(
            CallSites { sframe: Some(sframe), cfi: Some(cfi) }.sentences("CFI"),
            [
                "SFrame: after 2 of 3 calls, the row of the call is found; after 1, it cannot be read",
                "CFI: after 1,040 of 13,305 calls (7.8 %), the row of the call is not found: 884 times the walk ends, \
                 148 times the walk takes a wrong frame (143 of another function, 5 of the same), 8 times the walk takes an equal frame of \
                 another function"
            ]
        );
        let one = SiteCounts { other_row: 1, ..SiteCounts::default() };
        assert_eq!(
            one.sentence(),
            "after 1 of 1 call (100.0 %), the row of the call is not found: 1 time the walk takes a wrong frame of the same function"
        );
    }
}
