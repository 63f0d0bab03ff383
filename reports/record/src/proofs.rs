//! What the machine code proves about the rows of SFrame and CFI.

use serde::{Deserialize, Serialize};
use sframe_oracle::code::Unproven;

use crate::bounded::entry;
use crate::coverage::FunctionPlace;
use crate::instruction::Instruction;
use crate::numbers::{counted, grouped, percent};
use crate::value::is_zero;

/// What is proven of a row. CFI's rules for other registers are refuted where they are wrong, and not proven.
const PROVEN: &str = "CFA, RA and FP";

/// Bytes of code by what the machine code proves about the CFA, the return address and the frame pointer of each witness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Proofs<'r> {
    /// About SFrame. Absent if it describes no code.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub sframe: Option<ProofBytes<'r>>,
    /// About CFI. Absent if it describes no code, or was not compared.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub cfi: Option<ProofBytes<'r>>,
    /// The bytes of code at which CFI has a wrong rule for another register that functions keep for their callers.
    #[serde(skip_serializing_if = "is_zero")]
    pub wrong_rules: u64,
}

/// Bytes of code that a witness describes, by what the machine code proves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProofBytes<'r> {
    /// The row's CFA, RA and FP are right.
    pub proven: u64,
    /// At least one of them is wrong.
    pub refuted: u64,
    /// The code does not determine some part of the frame, or the row cannot be read.
    pub unknown: u64,
    /// No known path leads there: padding, and targets of jumps that cannot be resolved.
    pub unreached: u64,
    /// Why nothing is decided about the bytes that are `unknown` or `unreached`, in its order.
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<UnprovenBytes<'r>>,
}

/// Bytes about which nothing is decided for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnprovenBytes<'r> {
    /// The reason, which `sframe-check explain` explains.
    pub reason: Unproven,
    /// The number of bytes.
    #[serde(default)]
    pub bytes: u64,
    /// The first range; in sums that of the first file.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FunctionPlace<'r>>,
    /// The instruction to blame for the first range: it is not decoded, jumps to an unknown place, computes a value that is not known, or
    /// paths meet there.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Instruction<'r>>,
}

/// The sums over several files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProofTotal<'r> {
    /// The number of files whose code was examined.
    pub files: u64,
    /// The sums over these files.
    #[serde(borrow, flatten)]
    pub proofs: Proofs<'r>,
}

impl ProofBytes<'_> {
    /// All bytes that the witness describes.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.proven
            .saturating_add(self.refuted)
            .saturating_add(self.unknown)
            .saturating_add(self.unreached)
    }

    /// How much is proven, as all reports print it.
    fn sentence(&self) -> String {
        let (right, share) = (grouped(self.proven), percent(self.proven, self.total()));
        let bytes = counted(self.total(), "byte");
        let others =
            [(self.refuted, "wrong"), (self.unknown.saturating_add(self.unreached), "undecided")];
        let some = others.into_iter().filter(|(number, _)| *number > 0);
        let others: String =
            some.map(|(number, what)| format!(", {} {what}", grouped(number))).collect();
        format!("{PROVEN} proven right for {right} of {bytes} ({share}){others}")
    }

    /// Adds the bytes of the file with this name.
    fn add(&mut self, other: &ProofBytes<'_>, name: &dyn Fn() -> String) {
        self.proven = self.proven.saturating_add(other.proven);
        self.refuted = self.refuted.saturating_add(other.refuted);
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.unreached = self.unreached.saturating_add(other.unreached);
        for more in &other.undecided {
            let place = self.undecided.binary_search_by_key(&more.reason, |it| it.reason);
            let new = || UnprovenBytes {
                reason: more.reason,
                bytes: 0,
                first: more.first.clone().map(|first| first.of_file(name())),
                cause: more.cause.clone().map(Instruction::into_owned),
            };
            if let Some(sum) = entry(&mut self.undecided, place, new) {
                sum.bytes = sum.bytes.saturating_add(more.bytes);
            }
        }
    }
}

impl UnprovenBytes<'_> {
    /// `57,009 bytes: the code is padding, which nothing executes`.
    fn sentence(&self) -> String {
        format!("{}: {}", counted(self.bytes, "byte"), self.reason.description())
    }
}

impl<'r> Proofs<'r> {
    /// One sentence for each witness that describes any code. `noun` is what people call the table that SFrame was compared
    /// with.
    #[must_use]
    pub fn sentences(&self, noun: &str) -> Vec<String> {
        let of = |name: &str, bytes: &ProofBytes<'_>| format!("{name}: {}", bytes.sentence());
        let sframe = self.sframe.as_ref().map(|bytes| of("SFrame", bytes));
        let cfi = self.cfi.as_ref().map(|bytes| of(noun, bytes));
        let bytes = counted(self.wrong_rules, "byte");
        let rules =
            format!("{noun}: a rule for another callee-saved register is wrong for {bytes}");
        let rules = (self.wrong_rules > 0).then_some(rules);
        sframe.into_iter().chain(cfi).chain(rules).collect()
    }

    /// Why nothing is decided about some bytes: for each witness its name and the reasons, or for both at once if these are the same.
    #[must_use]
    pub fn undecided(&self, noun: &str) -> Vec<(String, &[UnprovenBytes<'r>])> {
        let sframe = self.sframe.as_ref().map(|it| it.undecided.as_slice());
        let cfi = self.cfi.as_ref().map(|it| it.undecided.as_slice());
        let all = match sframe == cfi {
            true => vec![(format!("SFrame and {noun}"), sframe)],
            false => vec![("SFrame".to_owned(), sframe), (noun.to_owned(), cfi)],
        };
        let some = all.into_iter().map(|(name, reasons)| (name, reasons.unwrap_or_default()));
        some.filter(|(_, reasons)| !reasons.is_empty()).collect()
    }
}

impl Proofs<'_> {
    /// The reasons, one sentence for each entry of [`Proofs::undecided`].
    #[must_use]
    pub fn undecided_sentences(&self, noun: &str) -> Vec<String> {
        let sentence = |(name, reasons): (String, &[UnprovenBytes<'_>])| {
            let parts = reasons.iter().map(UnprovenBytes::sentence);
            format!("{name}: {}", parts.collect::<Vec<_>>().join("; "))
        };
        self.undecided(noun).into_iter().map(sentence).collect()
    }
}

impl ProofTotal<'_> {
    /// Adds the proofs of the file with this name.
    pub fn add(&mut self, proofs: &Proofs<'_>, name: &dyn Fn() -> String) {
        self.files = self.files.saturating_add(1);
        for (sum, more) in
            [(&mut self.proofs.sframe, &proofs.sframe), (&mut self.proofs.cfi, &proofs.cfi)]
        {
            if let Some(more) = more {
                sum.get_or_insert_default().add(more, name);
            }
        }
        let rules = &mut self.proofs.wrong_rules;
        *rules = rules.saturating_add(proofs.wrong_rules);
    }
}

#[cfg(test)]
mod tests {
    use super::{ProofBytes, Proofs};

    #[test]
    fn sentences_count_bytes_only() {
        let sframe = ProofBytes {
            proven: 2,
            refuted: 12,
            unknown: 16,
            unreached: 1_000,
            ..ProofBytes::default()
        };
        let cfi = ProofBytes { proven: 1, ..ProofBytes::default() };
        assert_eq!(
            Proofs { sframe: Some(sframe), cfi: Some(cfi), wrong_rules: 0 }.sentences("ORC"),
            [
                "SFrame: CFA, RA and FP proven right for 2 of 1,030 bytes (0.2 %), 12 wrong, 1,016 undecided",
                "ORC: CFA, RA and FP proven right for 1 of 1 byte (100.0 %)"
            ]
        );
        assert_eq!(
            Proofs { wrong_rules: 1_700, ..Proofs::default() }.sentences("CFI"),
            ["CFI: a rule for another callee-saved register is wrong for 1,700 bytes"]
        );
    }
}
