//! What consumers, programs that read SFrame, do with the sections of a file.

mod table;

use serde::{Deserialize, Serialize};

use crate::finding::Function;
use crate::value::{Address, Text, is_zero};

/// What a consumer does with the sections of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading<'r> {
    /// The consumer: an identifier such as `linux-user-v3`, which `explain` knows.
    #[serde(borrow)]
    pub consumer: Text<'r>,
    /// What it does; of several sections, the worst.
    pub outcome: Outcome,
    /// Why it does not use a section, or why that is undecided.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<'r>>,
    /// Functions.
    #[serde(default)]
    pub functions: ReadFunctions,
    /// Bytes of code.
    #[serde(default)]
    pub bytes: ReadBytes,
    /// The first function with each kind of fault.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ReadExample<'r>>,
}

/// What a consumer does with a section, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It finds the specification's row at every PC.
    Accept,
    /// It finds the specification's row at some PCs only, and no other row.
    Part,
    /// It does without the section, and says nothing.
    Ignore,
    /// It reports an error.
    Reject,
    /// It reads memory outside the section, which decides, or the specification cannot read a part of the section.
    Undecided,
    /// It finds another row at some PCs.
    Misread,
    /// It crashes.
    Crash,
}

impl Outcome {
    /// All, from the best to the worst.
    pub const ALL: [Outcome; 7] = [
        Outcome::Accept,
        Outcome::Part,
        Outcome::Ignore,
        Outcome::Reject,
        Outcome::Undecided,
        Outcome::Misread,
        Outcome::Crash,
    ];

    /// The identifier in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Accept => "accept",
            Outcome::Part => "part",
            Outcome::Ignore => "ignore",
            Outcome::Reject => "reject",
            Outcome::Undecided => "undecided",
            Outcome::Misread => "misread",
            Outcome::Crash => "crash",
        }
    }
}

/// Functions for which the specification has rows, or which it cannot read, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ReadFunctions {
    /// With the specification's row at every PC.
    pub found: u64,
    /// With another row at some PC.
    #[serde(skip_serializing_if = "is_zero")]
    pub misread: u64,
    /// Without a row at any PC, because the search does not arrive there.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreachable: u64,
    /// Without a row at some PC.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// At which the consumer stops using the section.
    #[serde(skip_serializing_if = "is_zero")]
    pub drop_section: u64,
    /// At which the consumer crashes.
    #[serde(skip_serializing_if = "is_zero")]
    pub crash: u64,
    /// Undecided.
    #[serde(skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// Functions of the section whose code was replaced after it was made, so that nothing executes it. They are also in
    /// the other counts.
    #[serde(skip_serializing_if = "is_zero")]
    pub replaced: u64,
}

/// Bytes of code for which the specification has rows, or cannot read them, by what a consumer finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ReadBytes {
    /// The specification's row.
    pub same: u64,
    /// Another row.
    #[serde(skip_serializing_if = "is_zero")]
    pub other: u64,
    /// No row: the walk ends, or goes on without SFrame.
    #[serde(skip_serializing_if = "is_zero")]
    pub none: u64,
    /// A crash.
    #[serde(skip_serializing_if = "is_zero")]
    pub crash: u64,
    /// Undecided.
    #[serde(skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// A row where the specification has none. These bytes are in no other count.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond: u64,
}

/// A function with which a consumer does not do what the specification says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadExample<'r> {
    /// `misread`, `unreachable`, `lost`, `drop-section`, `crash`, `undecided`, or `beyond`: a row where the specification has none.
    #[serde(borrow)]
    pub kind: Text<'r>,
    /// The function.
    #[serde(borrow)]
    pub function: Function<'r>,
    /// The first PC at which it happens; in a relocatable object, its offset in the function's section.
    pub pc: Address,
    /// The reason, or both rows.
    #[serde(borrow)]
    pub reason: Text<'r>,
}

impl ReadExample<'_> {
    /// The kind of a row where the specification has none.
    pub const BEYOND: &'static str = "beyond";
}

impl Reading<'_> {
    /// Adds what the consumer does with another section of the file. Reasons and examples are those of the worst section.
    pub fn add(&mut self, other: Self) {
        self.functions.add(&other.functions);
        self.bytes.add(&other.bytes);
        if other.outcome > self.outcome {
            self.outcome = other.outcome;
            self.reason = other.reason;
            self.examples = other.examples;
        }
    }
}

impl ReadFunctions {
    /// All functions.
    #[must_use]
    pub fn total(&self) -> u64 {
        let ReadFunctions {
            found,
            misread,
            unreachable,
            lost,
            drop_section,
            crash,
            undecided,
            replaced: _,
        } = *self;
        [found, misread, unreachable, lost, drop_section, crash, undecided]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    fn add(&mut self, other: &ReadFunctions) {
        add(&mut self.found, other.found);
        add(&mut self.misread, other.misread);
        add(&mut self.unreachable, other.unreachable);
        add(&mut self.lost, other.lost);
        add(&mut self.drop_section, other.drop_section);
        add(&mut self.crash, other.crash);
        add(&mut self.undecided, other.undecided);
        add(&mut self.replaced, other.replaced);
    }
}

impl ReadBytes {
    /// All bytes for which the specification has rows.
    #[must_use]
    pub fn total(&self) -> u64 {
        let ReadBytes { same, other, none, crash, undecided, beyond: _ } = *self;
        [same, other, none, crash, undecided].into_iter().fold(0, u64::saturating_add)
    }

    fn add(&mut self, other: &ReadBytes) {
        add(&mut self.same, other.same);
        add(&mut self.other, other.other);
        add(&mut self.none, other.none);
        add(&mut self.crash, other.crash);
        add(&mut self.undecided, other.undecided);
        add(&mut self.beyond, other.beyond);
    }
}

fn add(sum: &mut u64, number: u64) {
    *sum = sum.saturating_add(number);
}

/// What a consumer does with the files of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ReadingTotal<'r> {
    /// The consumer.
    #[serde(borrow)]
    pub consumer: Text<'r>,
    /// The number of files by outcome, in the order of [`Outcome::ALL`]; those without files are missing.
    pub files: Vec<OutcomeCount>,
    /// The sums of their functions.
    pub functions: ReadFunctions,
    /// The sums of their code.
    pub bytes: ReadBytes,
    /// The first file whose sections it does not accept, or the first undecided one if there is no other.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub not_accepted: Option<NotAccepted<'r>>,
}

/// A file whose sections a consumer does not accept as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotAccepted<'r> {
    /// The file.
    #[serde(borrow)]
    pub file: Text<'r>,
    /// What the consumer does.
    pub outcome: Outcome,
    /// Why, or the first function with which it does not do what the specification says.
    #[serde(borrow)]
    pub reason: Text<'r>,
}

/// The number of files with an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeCount {
    /// The outcome.
    pub outcome: Outcome,
    /// The number of files.
    pub count: u64,
}

impl ReadingTotal<'_> {
    /// A consumer that has read nothing yet.
    #[must_use]
    pub fn of(consumer: &str) -> ReadingTotal<'static> {
        ReadingTotal { consumer: consumer.to_owned().into(), ..ReadingTotal::default() }
    }

    /// Adds a file.
    pub fn add(&mut self, file: &str, reading: &Reading<'_>) {
        let outcome = reading.outcome;
        let known = self.not_accepted.as_ref().map(|of| of.outcome);
        let is_first =
            known.is_none_or(|known| known == Outcome::Undecided && outcome != Outcome::Undecided);
        if outcome != Outcome::Accept && is_first {
            let (file, reason) = (file.to_owned().into(), reading.why().into());
            self.not_accepted = Some(NotAccepted { file, outcome, reason });
        }
        match self.files.binary_search_by_key(&outcome, |of| of.outcome) {
            Ok(place) => self.files.get_mut(place).into_iter().for_each(|of| add(&mut of.count, 1)),
            Err(place) => self.files.insert(place, OutcomeCount { outcome, count: 1 }),
        }
        self.functions.add(&reading.functions);
        self.bytes.add(&reading.bytes);
    }

    /// The number of files.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.files.iter().fold(0, |sum, of| sum.saturating_add(of.count))
    }

    /// The number of files with an outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.files.iter().find(|of| of.outcome == outcome).map_or(0, |of| of.count)
    }
}
