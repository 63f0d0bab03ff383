//! The pattern of a difference: what differences that have one origin have in common.

use sframe_validator::unwind::{Cfa, Expression, Frame, Recovery};

use crate::compare::Fields;

/// The common properties of two frames that differ in the same way as others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    /// The fields, and both values of each. The offset of the second is relative to the first, whose offset is zero.
    Shape(Fields, (Cfa, Cfa), [(Recovery, Recovery); 2], (bool, bool)),
    /// Any pattern.
    Rest,
}

impl Pattern {
    /// The pattern of two frames that differ in `fields`.
    pub(super) fn of(fields: Fields, stated: &Frame, other: &Frame) -> Pattern {
        let any = (Recovery::Unchanged, Recovery::Unchanged);
        let in_ra = fields.contains(Fields::RA) || fields.contains(Fields::UNDEFINED_RA);
        let in_fp = fields.contains(Fields::FP);
        let signed = (stated.ra_signed, other.ra_signed);
        Pattern::Shape(
            fields,
            if fields.contains(Fields::CFA) {
                cfa_apart(stated.cfa, other.cfa)
            } else {
                (Cfa::Undefined, Cfa::Undefined)
            },
            [
                if in_ra { apart(stated.ra, other.ra) } else { any },
                if in_fp { apart(stated.fp, other.fp) } else { any },
            ],
            if fields.contains(Fields::RA_SIGNING) { signed } else { (false, false) },
        )
    }
}

const NO_EXPRESSION: Expression = Expression { offset: 0, length: 0 };

/// A CFA with the same kind and base but another offset, and its own offset.
fn cfa_at(cfa: Cfa, offset: i64) -> (Cfa, Option<i64>) {
    match cfa {
        Cfa::RegisterOffset { register, offset: own } => {
            (Cfa::RegisterOffset { register, offset }, Some(own))
        }
        Cfa::Dereference { register, offset: own } => {
            (Cfa::Dereference { register, offset }, Some(own))
        }
        Cfa::DereferencePlus { .. } => (cfa, None),
        Cfa::Expression(_) => (Cfa::Expression(NO_EXPRESSION), None),
        Cfa::Undefined => (Cfa::Undefined, None),
    }
}

/// A rule with the same kind and base but another offset, and its own offset.
fn recovery_at(rule: Recovery, offset: i64) -> (Recovery, Option<i64>) {
    match rule {
        Recovery::AtCfa(own) => (Recovery::AtCfa(offset), Some(own)),
        Recovery::CfaOffset(own) => (Recovery::CfaOffset(offset), Some(own)),
        Recovery::AtRegister { register, offset: own } => {
            (Recovery::AtRegister { register, offset }, Some(own))
        }
        Recovery::RegisterOffset { register, offset: own } => {
            (Recovery::RegisterOffset { register, offset }, Some(own))
        }
        Recovery::AtExpression(_) => (Recovery::AtExpression(NO_EXPRESSION), None),
        Recovery::Expression(_) => (Recovery::Expression(NO_EXPRESSION), None),
        plain @ (Recovery::Unchanged | Recovery::Undefined) => (plain, None),
    }
}

/// The distance between two offsets, if both values have one.
fn distance(from: Option<i64>, to: Option<i64>) -> i64 {
    from.zip(to).map_or(0, |(from, to)| to.wrapping_sub(from))
}

fn cfa_apart(stated: Cfa, other: Cfa) -> (Cfa, Cfa) {
    let (shape, from) = cfa_at(stated, 0);
    let (_, to) = cfa_at(other, 0);
    (shape, cfa_at(other, distance(from, to)).0)
}

fn apart(stated: Recovery, other: Recovery) -> (Recovery, Recovery) {
    let (shape, from) = recovery_at(stated, 0);
    let (_, to) = recovery_at(other, 0);
    (shape, recovery_at(other, distance(from, to)).0)
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::Register;

    use super::*;

    fn frame(register: u32, cfa: i64, ra: i64) -> Frame {
        let cfa = Cfa::RegisterOffset { register: Register(register), offset: cfa };
        Frame { cfa, ra: Recovery::AtCfa(ra), fp: Recovery::Unchanged, ra_signed: false }
    }

    #[test]
    fn a_pattern_is_the_fields_the_bases_and_the_distance() {
        let of = |sframe: &Frame, cfi: &Frame| Pattern::of(Fields::CFA, sframe, cfi);
        let known = of(&frame(7, 16, -8), &frame(7, 8, -8));
        // Both are further from SP; fields that do not differ do not matter.
        assert_eq!(of(&frame(7, 240, -8), &frame(7, 232, -8)), known);
        assert_eq!(of(&frame(7, 16, -16), &frame(7, 8, -16)), known);
        // In the other direction, at another distance, from another base, or in another field as well.
        assert_ne!(of(&frame(7, 8, -8), &frame(7, 16, -8)), known);
        assert_ne!(of(&frame(7, 24, -8), &frame(7, 8, -8)), known);
        assert_ne!(of(&frame(6, 16, -8), &frame(7, 8, -8)), known);
        let both = Fields::CFA.with(Fields::RA);
        assert_ne!(Pattern::of(both, &frame(7, 16, -8), &frame(7, 8, -16)), known);
        // The distance of RA counts as well, and one side may have none.
        let plain = frame(7, 8, -8);
        let ra = |fields, sframe, cfi| Pattern::of(fields, &frame(7, 8, sframe), &frame(7, 8, cfi));
        assert_eq!(ra(Fields::RA, -8, -16), ra(Fields::RA, -16, -24));
        assert_ne!(ra(Fields::RA, -8, -16), ra(Fields::RA, -8, -24));
        let outermost = Frame { ra: Recovery::Undefined, ..plain };
        let ended = |other| Pattern::of(Fields::UNDEFINED_RA, &outermost, &other);
        let saved = Recovery::RegisterOffset { register: Register(3), offset: 0 };
        assert_ne!(ended(plain), ended(Frame { ra: saved, ..plain }));
        // The direction of a signature.
        let signed = Frame { ra_signed: true, ..plain };
        let signing = |a, b| Pattern::of(Fields::RA_SIGNING, a, b);
        assert_ne!(signing(&plain, &signed), signing(&signed, &plain));
        // A kind without an offset has no distance.
        let lost = Frame { fp: Recovery::AtCfa(-16), ..frame(7, 8, -8) };
        let elsewhere = Frame { fp: Recovery::AtCfa(-24), ..frame(7, 8, -8) };
        assert_eq!(
            Pattern::of(Fields::FP, &plain, &lost),
            Pattern::of(Fields::FP, &plain, &elsewhere)
        );
    }
}
