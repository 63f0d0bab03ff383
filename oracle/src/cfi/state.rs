//! The state that call frame instructions change.

use sframe_validator::unwind::{Cfa, Frame, Recovery};

/// The maximum number of states that `DW_CFA_remember_state` can push. Compilers nest a handful.
pub const MAX_STATES: usize = 1024;

/// The rules that are valid at a location, for the registers that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) frame: Frame,
    /// The CFA's rule was given as an expression, so half of it cannot be changed.
    pub(super) by_expression: bool,
}

impl State {
    /// The state before a CIE's first instruction. A register without a rule is unchanged; DWARF calls that unspecified
    /// and leaves it to the machine's ABI.
    pub(super) const INITIAL: State = State {
        frame: Frame {
            cfa: Cfa::Undefined,
            ra: Recovery::Unchanged,
            fp: Recovery::Unchanged,
            ra_signed: false,
        },
        by_expression: false,
    };
}

/// Whether two frames are equal, like `==`, but with the common rules compared inline.
#[inline(always)]
pub(crate) fn same(a: &Frame, b: &Frame) -> bool {
    let cfa = match (&a.cfa, &b.cfa) {
        (
            Cfa::RegisterOffset { register, offset },
            Cfa::RegisterOffset { register: other, offset: far },
        ) => register == other && offset == far,
        (a, b) => a == b,
    };
    let rule = |a: &Recovery, b: &Recovery| match (a, b) {
        (Recovery::AtCfa(offset), Recovery::AtCfa(other)) => offset == other,
        (Recovery::Unchanged, Recovery::Unchanged) => true,
        (a, b) => a == b,
    };
    cfa && rule(&a.ra, &b.ra) && rule(&a.fp, &b.fp) && a.ra_signed == b.ra_signed
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::{Expression, Register};

    use super::*;

    /// The derived comparison is the reference.
    #[test]
    fn frames_are_the_same_if_they_are_equal() {
        let (register, expression) = (Register(7), Expression { offset: 1, length: 2 });
        let cfas = [
            Cfa::RegisterOffset { register, offset: 8 },
            Cfa::RegisterOffset { register, offset: 16 },
            Cfa::RegisterOffset { register: Register(6), offset: 8 },
            Cfa::Dereference { register, offset: 8 },
            Cfa::Dereference { register, offset: 16 },
            Cfa::Expression(expression),
            Cfa::Undefined,
        ];
        let rules = [
            Recovery::Unchanged,
            Recovery::AtCfa(-8),
            Recovery::AtCfa(-16),
            Recovery::CfaOffset(-8),
            Recovery::RegisterOffset { register, offset: -8 },
            Recovery::Expression(expression),
            Recovery::Undefined,
        ];
        let mut frames = Vec::new();
        for cfa in cfas {
            for ra in rules {
                for fp in rules {
                    let signed = [false, true];
                    frames.extend(signed.map(|ra_signed| Frame { cfa, ra, fp, ra_signed }));
                }
            }
        }
        for a in &frames {
            for b in &frames {
                assert_eq!(same(a, b), a == b, "{a}; {b}");
            }
        }
    }
}
