//! What is known about a defect of a producer.

use sframe_record::{Consequence, Owner, Weight};

use crate::signs::Signs;

/// A defect of a producer.
#[derive(Clone, Copy, Debug)]
pub struct Defect {
    /// The identifier, which is also the name of its folder in `corpus/differences/`, if it has one.
    pub id: &'static str,
    /// What goes wrong.
    pub title: &'static str,
    /// The programs that have it.
    pub affected: &'static [Affected],
    /// Who has to act.
    pub owner: Owner,
    /// The producer's own report, patch or commit about it; empty if none is known.
    pub upstream: &'static str,
    /// The pages with its input, commands and outputs, ready to be filed with the producers: paths in the repository.
    pub pages: &'static [&'static str],
    /// What shows that a finding is a case of it, or, if no file shows it, what the program prints.
    pub recognised: &'static str,
    /// What readers of the section do.
    pub effect: &'static str,
    /// How much of a section it spoils, as far as that is the same in every section.
    pub weight: Weight,
    /// The PCs that it spoils, if those are a part of the section's; otherwise empty.
    pub pcs: &'static str,
    /// Whether it hides whole functions from every reader, so that its cases count like other findings of their rule.
    pub hides_functions: bool,
    /// How to avoid it.
    pub workaround: &'static str,
    /// The smallest input, a path in the repository: a file, or a page that contains it; empty if there is none.
    pub input: &'static str,
    /// Why there is no input; empty if there is one.
    pub without_input: &'static str,
    /// Whether wrong rows are cases of it, which [`RowDefects`](crate::RowDefects) recognises.
    pub(crate) is_of_rows: bool,
    pub(crate) signs: &'static [Signs],
}

impl Defect {
    /// The programs that have it: `GNU ld 2.44 to 2.47.50`.
    #[must_use]
    pub fn affected(&self) -> String {
        let affected: Vec<String> = self.affected.iter().map(Affected::to_string).collect();
        affected.join(", ")
    }

    /// What it does to the readers of a section.
    #[must_use]
    pub fn consequence(&self) -> Consequence<'static> {
        let pcs = (!self.pcs.is_empty()).then(|| self.pcs.into());
        Consequence { weight: self.weight, pcs }
    }

    /// Whether findings can be recognised as cases of it. The others are known by the messages of the producers.
    #[must_use]
    pub const fn is_recognised(&self) -> bool {
        self.is_of_rows || !self.signs.is_empty()
    }
}

/// The versions of a program that have a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affected {
    /// The program: `GNU ld`.
    pub tool: &'static str,
    /// The first version that was found to have it; empty if it is not known which versions have it.
    pub first: &'static str,
    /// The last version that was found to have it.
    pub last: &'static str,
}

impl std::fmt::Display for Affected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Affected { tool, first, last } = self;
        match (*first, *last) {
            ("", _) => f.write_str(tool),
            (first, last) if first == last => write!(f, "{tool} {first}"),
            (first, last) => write!(f, "{tool} {first} to {last}"),
        }
    }
}
