//! Which code of the output will have SFrame, and the reason for the rest.

use serde::{Deserialize, Serialize};

use crate::input::{Input, InputKind};
use crate::model::{Duplicates, Fate, Outcome, Prediction};

/// The code that inputs bring into the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Bytes of code. Dropped COMDAT groups do not count.
    pub code: u64,
    /// Bytes of code whose SFrame readers find.
    pub described: u64,
    /// The functions whose SFrame readers find.
    pub functions: u64,
    /// The inputs whose code will have no SFrame, or not all of it.
    pub uncovered: Vec<Uncovered>,
    /// Whether the linker makes stubs (PLT) that nothing describes.
    pub stubs: bool,
}

/// Code without SFrame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Uncovered {
    /// The input that it comes from.
    pub input: String,
    /// The number of the input, from 0.
    pub number: usize,
    /// Bytes of code without SFrame.
    pub bytes: u64,
    /// Bytes of code of the input.
    pub code: u64,
    /// Why.
    pub reason: Reason,
}

/// Why code will have no SFrame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The input has none.
    NotInInput,
    /// The input's section does not describe this code.
    NotDescribed,
    /// The linker leaves out the input's section, with a message.
    Refused,
    /// The linker leaves out the input's section, without a message.
    Dropped,
    /// The input's section follows another one, where readers do not look.
    Unread,
    /// A linker script puts the input's section into another output section.
    Moved,
    /// Readers refuse the header.
    Unreadable,
    /// The output describes other addresses.
    Misplaced,
    /// Not predicted.
    Unknown,
}

impl Reason {
    /// The reason in a sentence about an input.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Reason::NotInInput => "it has no .sframe section",
            Reason::NotDescribed => "its .sframe does not describe this code",
            Reason::Refused => "the linker leaves its .sframe out, with a message",
            Reason::Dropped => "the linker leaves its .sframe out, without a message",
            Reason::Unread => "its .sframe follows another one, and readers do not get there",
            Reason::Moved => "a linker script puts its .sframe into another output section",
            Reason::Unreadable => {
                "readers refuse its .sframe, whose header is damaged or has unknown flags"
            }
            Reason::Misplaced => "its start addresses are wrong: this linker does not set them",
            Reason::Unknown => "not predicted",
        }
    }
}

impl Coverage {
    pub(crate) fn of(inputs: &[Input], prediction: &Prediction) -> Coverage {
        let mut coverage = Coverage::default();
        if matches!(prediction.outcome, Outcome::Fails | Outcome::Crashes) {
            return coverage;
        }
        let duplicates = Duplicates::of(inputs);
        for (number, input) in inputs.iter().enumerate().filter(|(_, input)| input.is_copied()) {
            let fate = prediction.fates.get(number).copied().unwrap_or(Fate::Unknown);
            coverage.add(number, input, fate, &duplicates);
        }
        coverage
    }

    fn add(&mut self, number: usize, input: &Input, fate: Fate, duplicates: &Duplicates) {
        let (mut code, mut described, mut functions) =
            (input.code, input.described(), input.functions());
        for group in duplicates.groups(number, input) {
            code = code.saturating_sub(group.code);
            described = described.saturating_sub(group.described);
            functions = functions.saturating_sub(group.functions);
        }
        if !fate.is_described() {
            (described, functions) = (0, 0);
        }
        self.code = self.code.saturating_add(code);
        self.described = self.described.saturating_add(described);
        self.functions = self.functions.saturating_add(functions);
        let bytes = code.saturating_sub(described);
        if bytes > 0 || (input.kind == InputKind::Bitcode && code == 0) {
            let (input, reason) = (input.name.clone(), reason(fate));
            self.uncovered.push(Uncovered { input, number, bytes, code, reason });
        }
    }

    /// Whether all SFrame of the inputs can be used.
    pub(crate) fn is_described(&self) -> bool {
        let fits = |reason| matches!(reason, Reason::NotInInput | Reason::NotDescribed);
        self.uncovered.iter().all(|uncovered| fits(uncovered.reason))
    }
}

const fn reason(fate: Fate) -> Reason {
    match fate {
        Fate::None => Reason::NotInInput,
        Fate::Merged | Fate::First | Fate::NotCopied => Reason::NotDescribed,
        Fate::Misplaced => Reason::Misplaced,
        Fate::Unreadable => Reason::Unreadable,
        Fate::Unread => Reason::Unread,
        Fate::Moved => Reason::Moved,
        Fate::Refused => Reason::Refused,
        Fate::Dropped => Reason::Dropped,
        Fate::Lost | Fate::Unknown => Reason::Unknown,
    }
}
