//! The proof of what the machine code says about a PC: a way from an entry of the function, instruction by instruction.

mod listing;

pub use listing::WhyLine;

use serde::{Deserialize, Serialize};
use sframe_oracle::code::{Arrival, EntryKind, ProvenRow};
use sframe_validator::Abi;

use crate::frame::KnownFrame;
use crate::instruction::Instruction;
use crate::value::{Address, Text};

/// The proof of what the machine code says about a PC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Why<'r> {
    /// The instructions on one of the shortest ways from an entry of the function to the PC, which is in the last one. Empty if no
    /// way with at most 16,384 instructions is known.
    #[serde(borrow, default)]
    pub way: Vec<WhyStep<'r>>,
    /// The instructions in the middle of a long way that are not in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// What is not known at the PC, and where it was lost.
    #[serde(borrow, default)]
    pub lost: Vec<Lost<'r>>,
    /// The clauses of specifications by which a statement is wrong, if the code proves one wrong.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<Text<'r>>,
}

/// An instruction on the way.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyStep<'r> {
    /// Its section; only in relocatable objects.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'r>>,
    /// The instruction.
    #[serde(borrow)]
    pub instruction: Instruction<'r>,
    /// How control comes to it.
    pub arrival: ArrivalKind,
    /// The number of known ways in which control comes to it. What is not the same on all of them is not known.
    #[serde(default)]
    pub ways: usize,
    /// What is known before it.
    #[serde(borrow)]
    pub code: CodeStatement<'r>,
    /// The registers that were asked about, and how each is recovered, if that is known.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<KnownRegister<'r>>,
}

/// The statement of the machine code about a PC, with the machine's names of registers. What it does not determine is
/// absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeStatement<'r> {
    /// How the frame is recovered.
    #[serde(borrow, flatten)]
    pub known: KnownFrame<'r>,
    /// Whether the return address is signed (AArch64).
    #[serde(default)]
    pub ra_signed: bool,
}

/// How a register is recovered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownRegister<'r> {
    /// The machine's name of the register.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// The rule, such as `*(CFA-16)`. Absent if it is not known.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Text<'r>>,
}

/// How control comes to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalKind {
    /// Calls from other functions lead to it, or it is the start of a function that other files may call.
    Call,
    /// Calls within the function lead to it.
    LocalCall,
    /// A signal handler returns to it.
    SignalReturn,
    /// It is taken for an entry, although nothing is known to call it.
    Presumed,
    /// After the instruction before it.
    Following,
    /// By a jump.
    Jump,
    /// By an exception that passes a call.
    Exception,
}

/// Instructions of a way that are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The number of listed instructions before them.
    pub after: usize,
    /// Their number.
    pub instructions: usize,
}

/// Something that is not known at the PC.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost<'r> {
    /// `CFA`, `RA`, `FP` or the name of a register.
    #[serde(borrow)]
    pub what: Text<'r>,
    /// The instruction on the way before which it is not known any more; absent if it is known nowhere on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Address>,
    /// Whether several ways join there, so that it was lost because they differ; else the instruction before it changed it.
    #[serde(default)]
    pub is_join: bool,
    /// What is known of it on the ways that join there, one for each rule.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<JoinedWay<'r>>,
}

/// A way that joins others, and what is known on it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JoinedWay<'r> {
    /// The section of the instruction from which it comes; only in relocatable objects.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code_section: Option<Text<'r>>,
    /// The instruction from which it comes.
    pub from: Address,
    /// The rule, such as `rsp+16`. Absent if it is not known.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Text<'r>>,
}

impl CodeStatement<'static> {
    /// What machine code proves, with the names that registers have on a machine.
    #[must_use]
    pub fn new(abi: Abi, row: &ProvenRow) -> CodeStatement<'static> {
        let known = KnownFrame::new(abi, row);
        CodeStatement { known, ra_signed: row.ra.is_some() && row.ra_signed }
    }
}

impl From<Arrival> for ArrivalKind {
    fn from(arrival: Arrival) -> ArrivalKind {
        match arrival {
            Arrival::Entry(EntryKind::Call) => ArrivalKind::Call,
            Arrival::Entry(EntryKind::LocalCall) => ArrivalKind::LocalCall,
            Arrival::Entry(EntryKind::SignalReturn) => ArrivalKind::SignalReturn,
            Arrival::Entry(EntryKind::Presumed) => ArrivalKind::Presumed,
            Arrival::Following => ArrivalKind::Following,
            Arrival::Jump => ArrivalKind::Jump,
            Arrival::Exception => ArrivalKind::Exception,
        }
    }
}

impl Why<'_> {
    /// A copy that borrows from no line.
    #[must_use]
    pub fn owned(&self) -> Why<'static> {
        let text = |of: &Text<'_>| of.clone().into_owned();
        let maybe = |of: &Option<Text<'_>>| of.as_ref().map(text);
        let step = |step: &WhyStep<'_>| WhyStep {
            code_section: maybe(&step.code_section),
            instruction: step.instruction.clone().into_owned(),
            arrival: step.arrival,
            ways: step.ways,
            code: CodeStatement { known: step.code.known.owned(), ra_signed: step.code.ra_signed },
            registers: step
                .registers
                .iter()
                .map(|of| KnownRegister { name: text(&of.name), rule: maybe(&of.rule) })
                .collect(),
        };
        let way = |way: &JoinedWay<'_>| JoinedWay {
            code_section: maybe(&way.code_section),
            from: way.from,
            rule: maybe(&way.rule),
        };
        let lost = |of: &Lost<'_>| Lost {
            what: text(&of.what),
            at: of.at,
            is_join: of.is_join,
            ways: of.ways.iter().map(way).collect(),
        };
        Why {
            way: self.way.iter().map(step).collect(),
            left_out: self.left_out,
            lost: self.lost.iter().map(lost).collect(),
            clause: maybe(&self.clause),
        }
    }
}
