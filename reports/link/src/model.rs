//! What each linker does with the SFrame sections of its inputs.
//!
//! The behaviour was observed, by links of every pair of inputs: `docs/LINK.md` is their table, and the tests link them
//! again.

mod append;
mod gnu;
mod mold;
mod other;
mod wild;

pub(crate) use gnu::clashes;
pub(crate) use other::with_long_starts;
use serde::{Deserialize, Serialize};

use crate::input::{Input, SectionType, Sframe};
use crate::linker::Linker;
use crate::obstacle::{self, Obstacle, ObstacleKind};
use crate::options::{Options, Output};

const COLLECTED: &str = "a linker script places .sframe, and --gc-sections removes it unless the script keeps it: what remains \
                         is not predicted";

/// A link, as far as it matters for SFrame.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The linker.
    pub linker: Linker,
    /// Its options.
    pub options: &'a Options,
    /// The inputs that take part, in the order in which the linker reads them.
    pub inputs: &'a [Input],
}

/// What will become of the SFrame sections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// The result in one word.
    pub outcome: Outcome,
    /// The linker's exit status, as far as SFrame and the inputs decide it. `None` if it is not predicted.
    pub status: Option<i32>,
    /// The linker's messages about SFrame, without the linker's name in front.
    pub messages: Vec<String>,
    /// The SFrame sections of the output.
    pub sections: Vec<OutputSection>,
    /// Whether the output has a PT_GNU_SFRAME program header.
    pub segment: bool,
    /// What becomes of each input, in the order of the inputs.
    pub fates: Vec<Fate>,
    /// Whether stubs (PLT) are described, which the linker itself generates.
    pub stubs_described: bool,
    /// Defects of the output that its outcome does not show.
    pub notes: Vec<String>,
    /// Whether unused sections are removed, so that the output has at most what is predicted.
    pub at_most: bool,
}

/// The result of a link for SFrame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// No input has SFrame, and the output has none.
    NoSframe,
    /// One section describes the functions of all inputs that had SFrame.
    Merged,
    /// One section describes some inputs, and the SFrame of others was left out.
    Part,
    /// The section describes stubs of the linker alone.
    StubsOnly,
    /// The section has no bytes.
    Empty,
    /// Sections follow each other in one section, and readers see the first one.
    Appended,
    /// One input's section was copied without merging.
    Copied,
    /// A linker script puts the sections into an output section of another name.
    Moved,
    /// The output has no SFrame, although inputs had some.
    Dropped,
    /// The link fails with a message.
    Fails,
    /// The linker crashes.
    Crashes,
    /// Nothing is known about this linker, or about this case.
    #[default]
    Unknown,
}

impl Outcome {
    /// The outcome in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Outcome::NoSframe => "no input has SFrame",
            Outcome::Merged => "the sections are merged into one",
            Outcome::Part => "one section describes a part of the program",
            Outcome::StubsOnly => "the section describes the linker's stubs alone",
            Outcome::Empty => "the section is empty",
            Outcome::Appended => {
                "the sections are appended to each other, and readers see the first one"
            }
            Outcome::Copied => "the only section is copied as it is",
            Outcome::Moved => {
                "a linker script puts .sframe into another output section, where no reader looks for it"
            }
            Outcome::Dropped => "the output has no SFrame",
            Outcome::Fails => "the link fails",
            Outcome::Crashes => "the linker crashes",
            Outcome::Unknown => "not predicted",
        }
    }
}

/// An SFrame section of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputSection {
    /// Its type.
    pub section_type: SectionType,
    /// The version in its first header.
    pub version: Option<u8>,
    /// Its size, if the linker copies the inputs' bytes.
    pub size: Option<u64>,
    /// The functions of inputs that its first header describes.
    pub functions: u64,
}

/// What becomes of the SFrame of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It has no SFrame.
    None,
    /// Nothing of this input gets into the output: it is a shared object.
    NotCopied,
    /// Its functions are in the output's section.
    Merged,
    /// Its section is the first one in the output's section, which readers see.
    First,
    /// Like `First`, but the start addresses are wrong: the linker does not set them.
    Misplaced,
    /// Like `First`, but readers refuse it, because its header is damaged or has unknown flags.
    Unreadable,
    /// It follows the first section, and readers do not get there.
    Unread,
    /// It is in an output section of another name.
    Moved,
    /// The linker leaves it out with a message.
    Refused,
    /// The linker leaves it out without a message.
    Dropped,
    /// The link fails.
    Lost,
    /// Not predicted.
    Unknown,
}

impl Fate {
    /// Whether readers find the functions of the input at the right addresses.
    #[must_use]
    pub const fn is_described(self) -> bool {
        matches!(self, Fate::Merged | Fate::First)
    }
}

impl Link<'_> {
    /// Predicts the outcome.
    #[must_use]
    pub fn predict(&self) -> Prediction {
        let duplicates = Duplicates::of(self.inputs);
        let mut prediction = if self.inputs.iter().any(Input::has_odd_sections) {
            Prediction::default()
        } else if self.keeps_by_script() {
            Prediction { notes: vec![COLLECTED.to_owned()], ..Prediction::default() }
        } else {
            match self.linker {
                Linker::Ld240 | Linker::Ld244 | Linker::Ld247 => gnu::predict(self, &duplicates),
                Linker::Gold | Linker::Lld => append::predict(self, &duplicates),
                Linker::Mold => mold::predict(self, &duplicates),
                Linker::Wild => wild::predict(self),
                Linker::Other => other::predict(self),
            }
        };
        if prediction.fates.is_empty() {
            let fate =
                if prediction.outcome == Outcome::Unknown { Fate::Unknown } else { Fate::Lost };
            prediction.fates = self.fates(|_, _| fate);
        }
        prediction.at_most = self.options.gc_sections;
        prediction
    }

    /// The outcome if there are inputs with which the link fails, whatever SFrame they have.
    pub(crate) fn stopped(&self, obstacles: &[Obstacle]) -> Prediction {
        let is_observed = !matches!(self.linker, Linker::Wild | Linker::Other);
        let is_read = obstacles.iter().all(|obstacle| obstacle.kind == ObstacleKind::NoRoot);
        // 2.47.50 has read the sections when it looks for a root.
        let (mut messages, crash) = match self.linker {
            Linker::Ld247 if is_read => gnu::read_before_collecting(self),
            _ => (Vec::new(), None),
        };
        if let Some(crash) = crash {
            return Prediction { fates: self.fates(|_, _| Fate::Lost), ..crash };
        }
        messages.extend(obstacle::printed(self.linker, obstacles));
        Prediction {
            outcome: Outcome::Fails,
            status: is_observed.then_some(1),
            messages,
            fates: self.fates(|_, _| Fate::Lost),
            ..Prediction::default()
        }
    }

    /// Whether a script may keep sections from `--gc-sections`: `KEEP` does, and other commands do in some linkers.
    fn keeps_by_script(&self) -> bool {
        let options = self.options;
        let is_placed = options.script_names
            || options.script_moves.is_some()
            || (options.script_orphans && self.linker == Linker::Ld247);
        options.gc_sections && is_placed && self.all_sections().next().is_some()
    }

    /// The inputs with an SFrame section that has bytes, by number.
    fn sections(&self) -> impl Iterator<Item = (usize, &Input, &Sframe)> {
        let copied = self.inputs.iter().enumerate().filter(|(_, input)| input.is_copied());
        copied.filter_map(|(number, input)| Some((number, input, input.section()?)))
    }

    /// Those without bytes as well.
    fn all_sections(&self) -> impl Iterator<Item = (usize, &Input, &Sframe)> {
        let copied = self.inputs.iter().enumerate().filter(|(_, input)| input.is_copied());
        copied.filter_map(|(number, input)| Some((number, input, input.sframe.first()?)))
    }

    /// The fate of each input: `fate` says that of an input with SFrame.
    fn fates(&self, mut fate: impl FnMut(usize, &Sframe) -> Fate) -> Vec<Fate> {
        let fates = self.inputs.iter().enumerate().map(|(number, input)| match input.section() {
            _ if !input.is_copied() => Fate::NotCopied,
            None => Fate::None,
            Some(section) => fate(number, section),
        });
        fates.collect()
    }

    /// The outcome if all SFrame is left out on request, or if there is none.
    fn without(&self) -> Prediction {
        let any = self.sections().next().is_some();
        Prediction {
            outcome: if any { Outcome::Dropped } else { Outcome::NoSframe },
            status: Some(0),
            fates: self.fates(|_, _| Fate::Dropped),
            ..Prediction::default()
        }
    }

    /// The outcome if a script puts the sections into another output section: they are copied there one after the other.
    fn moved(&self) -> Prediction {
        let any = self.sections().next().is_some();
        let outcome = if any { Outcome::Moved } else { Outcome::NoSframe };
        Prediction { outcome, fates: self.fates(|_, _| Fate::Moved), ..self.without() }
    }

    const fn is_relocatable(&self) -> bool {
        matches!(self.options.output, Output::Relocatable)
    }
}

impl Input {
    /// The SFrame section, if it has bytes: linkers take an empty one for none.
    pub(crate) fn section(&self) -> Option<&Sframe> {
        self.sframe.iter().find(|section| section.size > 0)
    }

    /// `sfh_abi_arch` for its machine.
    pub(crate) fn abi(&self) -> Option<u8> {
        match (self.machine.as_str(), self.big_endian) {
            ("AArch64", true) => Some(1),
            ("AArch64", false) => Some(2),
            ("AMD64", _) => Some(3),
            ("s390x", _) => Some(4),
            _ => None,
        }
    }

    /// Whether there is more than one section, or one of another type: how linkers treat them was not observed.
    fn has_odd_sections(&self) -> bool {
        let other = |section: &Sframe| matches!(section.section_type, SectionType::Other(_));
        self.is_copied() && (self.sframe.len() > 1 || self.sframe.iter().any(other))
    }
}

/// The COMDAT groups that the linker drops, because an earlier input has a group of the same name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Duplicates {
    /// By number of the input, the numbers of groups.
    groups: Vec<Vec<usize>>,
}

impl Duplicates {
    pub(crate) fn of(inputs: &[Input]) -> Duplicates {
        let mut seen = std::collections::HashSet::new();
        let groups = inputs.iter().map(|input| {
            let numbered = input.groups.iter().enumerate();
            let again = numbered.filter(|(_, group)| !seen.insert(group.signature.as_str()));
            again.map(|(number, _)| number).collect()
        });
        Duplicates { groups: groups.collect() }
    }

    /// The dropped groups of an input.
    pub(crate) fn groups<'a>(
        &self,
        number: usize,
        input: &'a Input,
    ) -> impl Iterator<Item = &'a crate::input::Group> {
        let dropped = self.groups.get(number).map(Vec::as_slice).unwrap_or_default();
        dropped.iter().filter_map(|&group| input.groups.get(group))
    }

    /// The functions of an input that remain.
    fn functions(&self, number: usize, input: &Input) -> u64 {
        let dropped: u64 = self.groups(number, input).map(|group| group.functions).sum();
        input.section().map_or(0, |section| section.functions).saturating_sub(dropped)
    }
}
