//! What the machine code proves, in the record of a file.

use sframe_oracle::compare;
use sframe_record::{ProofBytes, Proofs};

/// The sums of the witnesses that describe any code.
#[must_use]
pub fn proofs(sums: &compare::Proofs) -> Proofs {
    let (sframe, cfi) = (bytes(&sums.sframe), bytes(&sums.cfi));
    Proofs { sframe, cfi, wrong_rules: sums.wrong_rules }
}

fn bytes(sums: &compare::ProofSums) -> Option<ProofBytes> {
    let compare::ProofSums { proven, refuted, unknown, unreached } = *sums;
    (sums.total() > 0).then_some(ProofBytes { proven, refuted, unknown, unreached })
}
