//! The reasons for which the machine code decides nothing about a row.

use sframe_validator::unwind::CodeAddress;

/// Why the code decides nothing about a row, or about a difference between two. Of several reasons, there is the one without which it
/// could decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unproven {
    /// Code of this machine is not examined.
    Machine,
    /// The code is in no function that is known.
    NoFunction,
    /// Padding, which nothing executes.
    Padding,
    /// No known path leads there.
    NoPath,
    /// CFI says that the kernel enters the function after a signal, with a stack of its own.
    SignalFrame,
    /// CFI says that the function is entered with the frame of another one, which jumps to it.
    EnteredWithFrame,
    /// How the function is entered is not known.
    UnknownEntry,
    /// An instruction before it is not decoded.
    NotDecoded,
    /// The function has an indirect jump whose targets are not known: it may lead anywhere.
    IndirectJump,
    /// It is executed only if a call returns that may not.
    AfterCall,
    /// The paths that lead there disagree.
    PathsDisagree,
    /// An instruction has computed or loaded a value that is not known.
    UnknownValue,
    /// The row says what code does not show: that there is no caller, a signal frame, or an expression.
    NotInCode,
    /// The row cannot be read.
    UnreadableRow,
    /// The function has more than 1 MiB of code.
    TooLarge,
    /// Too much code would have to be executed.
    LimitReached,
    /// The code proves that SFrame is right, and does not determine what CFI recovers.
    SframeRight,
    /// The code proves that CFI is right, and does not determine what SFrame recovers.
    CfiRight,
    /// None of the others.
    #[cfg_attr(feature = "serde", serde(other))]
    Open,
}

impl Unproven {
    /// Every reason.
    pub const ALL: [Unproven; 19] = [
        Unproven::Machine,
        Unproven::NoFunction,
        Unproven::Padding,
        Unproven::NoPath,
        Unproven::SignalFrame,
        Unproven::EnteredWithFrame,
        Unproven::UnknownEntry,
        Unproven::NotDecoded,
        Unproven::IndirectJump,
        Unproven::AfterCall,
        Unproven::PathsDisagree,
        Unproven::UnknownValue,
        Unproven::NotInCode,
        Unproven::UnreadableRow,
        Unproven::TooLarge,
        Unproven::LimitReached,
        Unproven::SframeRight,
        Unproven::CfiRight,
        Unproven::Open,
    ];

    /// The name used in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unproven::Machine => "machine",
            Unproven::NoFunction => "no-function",
            Unproven::Padding => "padding",
            Unproven::NoPath => "no-path",
            Unproven::SignalFrame => "signal-frame",
            Unproven::EnteredWithFrame => "entered-with-frame",
            Unproven::UnknownEntry => "unknown-entry",
            Unproven::NotDecoded => "not-decoded",
            Unproven::IndirectJump => "indirect-jump",
            Unproven::AfterCall => "after-call",
            Unproven::PathsDisagree => "paths-disagree",
            Unproven::UnknownValue => "unknown-value",
            Unproven::NotInCode => "not-in-code",
            Unproven::UnreadableRow => "unreadable-row",
            Unproven::TooLarge => "too-large",
            Unproven::LimitReached => "limit-reached",
            Unproven::SframeRight => "sframe-right",
            Unproven::CfiRight => "cfi-right",
            Unproven::Open => "open",
        }
    }

    /// What it is, as all reports print it.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Unproven::Machine => "machine code of this machine is not examined",
            Unproven::NoFunction => "the code is in no function that is known",
            Unproven::Padding => "the code is padding, which nothing executes",
            Unproven::NoPath => "no known path through the machine code leads there",
            Unproven::SignalFrame => "the kernel enters the function after a signal",
            Unproven::EnteredWithFrame => {
                "other functions jump to this one, which uses their frame"
            }
            Unproven::UnknownEntry => "how the function is entered is not known",
            Unproven::NotDecoded => "an instruction before it is not decoded",
            Unproven::IndirectJump => "a jump in the function has targets that are not known",
            Unproven::AfterCall => "a call before it may not return",
            Unproven::PathsDisagree => "the paths that lead there disagree",
            Unproven::UnknownValue => "an instruction computes or loads a value that is not known",
            Unproven::NotInCode => "machine code does not show what is stated",
            Unproven::UnreadableRow => "the row cannot be read",
            Unproven::TooLarge => "the function has more than 1 MiB of code",
            Unproven::LimitReached => "too much code would have to be executed",
            Unproven::SframeRight => {
                "the machine code proves that SFrame is right, and not that the other table is wrong"
            }
            Unproven::CfiRight => {
                "the machine code proves that the other table is right, and not that SFrame is wrong"
            }
            Unproven::Open => "the machine code proves neither wrong",
        }
    }
}

/// Why the code decides nothing at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhyUnproven {
    /// The reason.
    pub reason: Unproven,
    /// The instruction to blame: the one that is not decoded, that jumps, at which paths meet, or that computes the value. `None` if
    /// there is none, or it is not known.
    pub cause: Option<CodeAddress>,
}

impl WhyUnproven {
    /// A reason for which no instruction is to blame.
    pub(crate) const fn without_cause(reason: Unproven) -> WhyUnproven {
        WhyUnproven { reason, cause: None }
    }
}
