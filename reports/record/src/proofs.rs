//! What the machine code proves about the rows of SFrame and CFI.

use serde::{Deserialize, Serialize};

use crate::numbers::{counted, grouped, percent};
use crate::value::is_zero;

/// What is proven of a row. CFI's rules for other registers are refuted where they are wrong, and not proven.
const PROVEN: &str = "CFA, RA and FP";

/// Bytes of code by what the machine code proves about the CFA, the return address and the frame pointer of each witness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Proofs {
    /// About SFrame. Absent if it describes no code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sframe: Option<ProofBytes>,
    /// About CFI. Absent if it describes no code, or was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfi: Option<ProofBytes>,
    /// The bytes of code at which CFI has a wrong rule for another register that functions keep for their callers.
    #[serde(skip_serializing_if = "is_zero")]
    pub wrong_rules: u64,
}

/// Bytes of code that a witness describes, by what the machine code proves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProofBytes {
    /// The row's CFA, RA and FP are right.
    pub proven: u64,
    /// At least one of them is wrong.
    pub refuted: u64,
    /// The code does not determine some part of the frame, or the row cannot be read.
    pub unknown: u64,
    /// No known path leads there: padding, and targets of jumps that cannot be resolved.
    pub unreached: u64,
}

/// The sums over several files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProofTotal {
    /// The number of files whose code was examined.
    pub files: u64,
    /// The sums over these files.
    #[serde(flatten)]
    pub proofs: Proofs,
}

impl ProofBytes {
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
        let others = [
            (self.refuted, "wrong"),
            (self.unknown, "not determined by the code"),
            (self.unreached, "on no known path"),
        ];
        let some = others.into_iter().filter(|(number, _)| *number > 0);
        let others: String =
            some.map(|(number, what)| format!(", {} {what}", grouped(number))).collect();
        format!("{PROVEN} proven right for {right} of {bytes} ({share}){others}")
    }

    fn add(&mut self, other: &ProofBytes) {
        self.proven = self.proven.saturating_add(other.proven);
        self.refuted = self.refuted.saturating_add(other.refuted);
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.unreached = self.unreached.saturating_add(other.unreached);
    }
}

impl Proofs {
    /// One sentence for each witness that describes any code. `noun` is what people call the table that SFrame was compared
    /// with.
    #[must_use]
    pub fn sentences(&self, noun: &str) -> Vec<String> {
        let of = |name: &str, bytes: ProofBytes| format!("{name}: {}", bytes.sentence());
        let sframe = self.sframe.map(|bytes| of("SFrame", bytes));
        let cfi = self.cfi.map(|bytes| of(noun, bytes));
        let bytes = counted(self.wrong_rules, "byte");
        let rules =
            format!("{noun}: a rule for another callee-saved register is wrong for {bytes}");
        let rules = (self.wrong_rules > 0).then_some(rules);
        sframe.into_iter().chain(cfi).chain(rules).collect()
    }
}

impl ProofTotal {
    /// Adds the proofs of one file.
    pub fn add(&mut self, proofs: &Proofs) {
        self.files = self.files.saturating_add(1);
        for (sum, more) in
            [(&mut self.proofs.sframe, &proofs.sframe), (&mut self.proofs.cfi, &proofs.cfi)]
        {
            if let Some(more) = more {
                sum.get_or_insert_default().add(more);
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
        let sframe = ProofBytes { proven: 2, refuted: 12, unknown: 16, unreached: 1_000 };
        let cfi = ProofBytes { proven: 1, ..ProofBytes::default() };
        assert_eq!(
            Proofs { sframe: Some(sframe), cfi: Some(cfi), wrong_rules: 0 }.sentences("ORC"),
            [
                "SFrame: CFA, RA and FP proven right for 2 of 1,030 bytes (0.2 %), 12 wrong, 16 not determined by the code, 1,000 on no known path",
                "ORC: CFA, RA and FP proven right for 1 of 1 byte (100.0 %)"
            ]
        );
        assert_eq!(
            Proofs { wrong_rules: 1_700, ..Proofs::default() }.sentences("CFI"),
            ["CFI: a rule for another callee-saved register is wrong for 1,700 bytes"]
        );
    }
}
