//! Who is wrong where SFrame and CFI differ, and the instruction that proves it.

use serde::{Deserialize, Serialize};
use sframe_oracle::code::Unproven;
use sframe_oracle::compare::Wrong;

use crate::frame::KnownFrame;
use crate::instruction::Instruction;
use crate::value::Text;

/// Which of SFrame and CFI is wrong at each PC of the finding's range, as far as the machine code proves it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ruling<'r> {
    /// Who is wrong.
    pub wrong: Wrong,
    /// Why the code does not decide. Absent if it decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Unproven>,
    /// What the code says, if it decides.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof<'r>>,
}

/// What the machine code says at the place that decides.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proof<'r> {
    /// The instruction that changed the frame last. Absent if it is not in the code right before.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Instruction<'r>>,
    /// The instruction before which it is true.
    #[serde(borrow)]
    pub instruction: Instruction<'r>,
    /// How the frame is recovered, as far as the code determines it.
    #[serde(borrow, flatten)]
    pub known: KnownFrame<'r>,
    /// Whether the return address is signed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ra_signed: bool,
}

impl Ruling<'_> {
    /// Who is wrong, and why, as all reports print it: `SFrame is wrong: before 0x4 pop %rbp, the code has CFA
    /// rsp+16, RA *(CFA-8), FP *(CFA-16)`. `noun` is what people call the table that SFrame was compared with.
    #[must_use]
    pub fn sentence(&self, noun: &str) -> String {
        let wrong = match self.wrong {
            Wrong::Sframe => "SFrame is wrong",
            Wrong::Cfi => &format!("{noun} is wrong"),
            Wrong::Both => &format!("SFrame and {noun} are both wrong"),
            Wrong::Inherited => &format!("{noun} is wrong, and SFrame has inherited it"),
            Wrong::Neither => "neither is wrong, they say the same in different ways",
            Wrong::Undecided => "who is wrong is undecided",
        };
        let why = match (&self.proof, self.undecided.unwrap_or(Unproven::Open)) {
            (Some(proof), _) => &proof.sentence(),
            (None, Unproven::SframeRight) => &one_right("SFrame", noun),
            (None, Unproven::CfiRight) => &one_right(noun, "SFrame"),
            (None, undecided) => undecided.description(),
        };
        format!("{wrong}: {why}")
    }
}

/// Why it is undecided who is wrong where one table is right: the other one may say the same in another way.
fn one_right(right: &str, other: &str) -> String {
    format!("the machine code proves that {right} is right, and not that {other} is wrong")
}

/// A message with who is wrong after it: `CFA is rsp+8, CFI says rsp+16; SFrame is wrong: before ...`.
#[must_use]
pub fn with_ruling(message: &str, ruling: Option<&str>) -> String {
    match ruling {
        Some(ruling) => format!("{message}; {ruling}"),
        None => message.to_owned(),
    }
}

impl Proof<'_> {
    /// `after 0x0 push %rbp and before 0x4 pop %rbp, the code has CFA rsp+16, RA *(CFA-8), FP *(CFA-16)`.
    fn sentence(&self) -> String {
        let part = |name: &str, rule: &Option<Text<'_>>| match rule {
            Some(rule) => format!("{name} {rule}"),
            None => format!("{name} unknown"),
        };
        let KnownFrame { cfa, ra, fp } = &self.known;
        let parts = [part("CFA", cfa), part("RA", ra), part("FP", fp)].join(", ");
        let signed = if self.ra_signed { ", signed" } else { "" };
        let after = self
            .change
            .as_ref()
            .map_or_else(String::new, |change| format!("after {} and ", change.named()));
        let before = self.instruction.named();
        format!("{after}before {before}, the code has {parts}{signed}")
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownFrame, Proof, Ruling, Wrong, with_ruling};
    use crate::{Address, Record, UnwindTable};

    fn message(difference: &str, table: Option<UnwindTable>) -> String {
        let line = format!(
            r#"{{"path":"a","status":"checked","findings":[{{"rule":"r","severity":"error",
                "message":"CFA is rsp+8","difference":{{{difference}}}}}]}}"#
        );
        let record = Record::parse(&line).expect("a record");
        let finding = record.findings.first().expect("a finding");
        with_ruling(&finding.message, finding.ruling(table).as_deref())
    }

    #[test]
    fn a_message_ends_with_who_is_wrong_and_why() {
        assert_eq!(message("", None), "CFA is rsp+8");
        let undecided = r#""ruling":{"wrong":"undecided","undecided":"no-path"}"#;
        assert_eq!(
            message(undecided, None),
            "CFA is rsp+8; who is wrong is undecided: no known path through the machine code leads there"
        );
        let right = r#""ruling":{"wrong":"undecided","undecided":"cfi-right"}"#;
        assert_eq!(
            message(right, Some(UnwindTable::Orc)),
            "CFA is rsp+8; who is wrong is undecided: the machine code proves that ORC is right, and not that SFrame is wrong"
        );
        let inherited = r#""ruling":{"wrong":"inherited","proof":{"cfa":"sp+16","ra":"x30","ra_signed":true,
            "change":{"address":"0x0","text":"paciasp"},"instruction":{"address":"0x4","text":"ret"}}}"#;
        assert_eq!(
            message(inherited, Some(UnwindTable::Orc)),
            "CFA is rsp+8; ORC is wrong, and SFrame has inherited it: after 0x0 paciasp and before 0x4 ret, the code has CFA sp+16, RA x30, FP unknown, signed"
        );
    }

    /// A report from elsewhere may contain anything.
    #[test]
    fn text_of_the_input_cannot_steer_a_terminal() {
        let mut proof = Proof {
            change: None,
            instruction: crate::Instruction {
                address: Address(4),
                bytes: "90".into(),
                text: String::new().into(),
            },
            known: KnownFrame {
                cfa: Some(String::from("\u{1b}[2J").into()),
                ..KnownFrame::default()
            },
            ra_signed: false,
        };
        let text = proof.sentence();
        assert_eq!(
            text,
            "before 0x4 with the bytes 90, the code has CFA \\x1b[2J, RA unknown, FP unknown"
        );
        proof.instruction.text = String::from("no\np").into();
        let ruling = Ruling { wrong: Wrong::Sframe, undecided: None, proof: Some(proof) };
        assert!(ruling.sentence("CFI").starts_with("SFrame is wrong: before 0x4 no\\x0ap, the"));
    }
}
