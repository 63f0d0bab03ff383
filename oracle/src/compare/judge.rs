//! Compares two frames at the same PC.

use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

use super::verdict::{Fields, Verdict};
use crate::witness::Marks;

/// The statement of a witness about a PC: a frame, and the marks of the function around it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'f> {
    /// The frame.
    pub frame: &'f Frame,
    /// The marks.
    pub marks: Marks,
    /// The SFrame version, if it limits what the witness can express.
    pub version: Option<Version>,
}

impl Side<'_> {
    /// Whether the witness can mark signal frames and outermost frames.
    #[inline]
    fn has_marks(&self) -> bool {
        self.version.is_none_or(|version| version == Version::V3)
    }
}

/// The result of comparing two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict on the range.
    pub verdict: Verdict,
    /// The fields that could not be compared. The verdict is [`Verdict::Undecided`] if no other field differs, and
    /// [`Verdict::Different`] if one does.
    pub undecided: Fields,
}

impl From<Verdict> for Judgement {
    /// The same verdict for all fields.
    #[inline]
    fn from(verdict: Verdict) -> Judgement {
        Judgement { verdict, undecided: Fields::default() }
    }
}

/// Compares the statements of two witnesses about a PC.
///
/// Each field is compared separately: an expression without a simpler meaning leaves only its own field undecided, and
/// does not hide a difference in another.
///
/// An outermost frame has no caller, so nothing else matters if both witnesses have one. If one witness cannot express
/// a mark or an undefined RA, and nothing else differs, the verdict is [`Verdict::Limited`].
#[inline]
#[must_use]
pub fn judge(first: Side<'_>, second: Side<'_>, abi: Abi) -> Judgement {
    let (a, b) = (first.frame, second.frame);
    let mut fields = Fields::default();
    let mut limits = Fields::default();
    let mut undecided = Fields::default();
    if first.marks.signal != second.marks.signal {
        let without = if first.marks.signal { &second } else { &first };
        fields.add_if(without.has_marks(), Fields::SIGNAL);
        limits.add_if(!without.has_marks(), Fields::SIGNAL);
    }
    match (a.ra == Recovery::Undefined, b.ra == Recovery::Undefined) {
        (true, true) => return judgement(fields, limits, undecided),
        (a_is_outermost, b_is_outermost) if a_is_outermost != b_is_outermost => {
            let (outermost, other) = if a_is_outermost { (a, &second) } else { (b, &first) };
            if other.has_marks() {
                return Verdict::Different(fields.with(Fields::UNDEFINED_RA)).into();
            }
            limits = limits.with(Fields::UNDEFINED_RA);
            if outermost.cfa == Cfa::Undefined {
                return judgement(fields, limits, undecided);
            }
            // The outermost frame has other rules too, which are compared.
        }
        _ if a.ra == b.ra || are_in_place(a.ra, b.ra, abi.ra()) => {}
        _ if is_open(a, a.ra, b, b.ra) => undecided = undecided.with(Fields::RA),
        _ => fields = fields.with(Fields::RA),
    }
    if a.cfa != b.cfa {
        let open = [a.cfa, b.cfa].iter().any(|cfa| matches!(cfa, Cfa::Expression(_)));
        fields.add_if(!open, Fields::CFA);
        undecided.add_if(open, Fields::CFA);
    }
    if a.fp != b.fp && !are_in_place(a.fp, b.fp, abi.fp()) {
        let open = is_open(a, a.fp, b, b.fp);
        fields.add_if(!open, Fields::FP);
        undecided.add_if(open, Fields::FP);
    }
    if abi.is_aarch64() {
        let key = a.ra_signed && first.marks.key_b != second.marks.key_b;
        fields.add_if(a.ra_signed != b.ra_signed || key, Fields::RA_SIGNING);
    }
    judgement(fields, limits, undecided)
}

#[inline]
const fn judgement(fields: Fields, limits: Fields, undecided: Fields) -> Judgement {
    let verdict = match (fields.is_empty(), undecided.is_empty(), limits.is_empty()) {
        (false, _, _) => Verdict::Different(fields),
        (true, false, _) => Verdict::Undecided,
        (true, true, false) => Verdict::Limited(limits),
        (true, true, true) => Verdict::Equal,
    };
    Judgement { verdict, undecided }
}

/// Whether both rules leave the value in its own register, which CFI calls unchanged, and SFrame may name.
#[cold]
fn are_in_place(a: Recovery, b: Recovery, own: Register) -> bool {
    let named = Recovery::RegisterOffset { register: own, offset: 0 };
    [a, b].iter().all(|rule| *rule == Recovery::Unchanged || *rule == named)
}

/// Whether two different rules may still recover the same value: one of them is an expression; or one is relative to
/// the CFA, which is an expression there, and the other to a register. If both are relative to the CFA, at different
/// distances, they agree only if the CFAs differ, which is a difference anyway.
#[cold]
fn is_open(a: &Frame, a_rule: Recovery, b: &Frame, b_rule: Recovery) -> bool {
    let expression = |rule| matches!(rule, Recovery::AtExpression(_) | Recovery::Expression(_));
    let from_cfa = |rule| matches!(rule, Recovery::AtCfa(_) | Recovery::CfaOffset(_));
    let from_register =
        |rule| matches!(rule, Recovery::AtRegister { .. } | Recovery::RegisterOffset { .. });
    let apart =
        from_cfa(a_rule) && from_register(b_rule) || from_register(a_rule) && from_cfa(b_rule);
    let open_cfa = [a.cfa, b.cfa].iter().any(|cfa| matches!(cfa, Cfa::Expression(_)));
    expression(a_rule) || expression(b_rule) || apart && open_cfa
}
