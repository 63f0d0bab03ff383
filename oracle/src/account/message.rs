//! The messages of findings.

use sframe_validator::unwind::{Frame, Named, Recovery};
use sframe_validator::{Abi, Section};

use crate::cfi::Fde;
use crate::code::ProvenRow;
use crate::compare::{Fields, Wrong, WrongRule};
use crate::witness::Marks;

/// A frame, and the marks of its function.
#[derive(Clone, Copy)]
pub(super) struct Marked {
    pub(super) frame: Frame,
    pub(super) marks: Marks,
    /// It is the outermost frame because the function has no rows.
    pub(super) no_rows: bool,
}

impl Marked {
    /// SFrame's frame in a row of function `index`.
    pub(super) fn sframe(frame: Frame, section: Option<&Section<'_>>, index: u32) -> Marked {
        let entry = section.and_then(|section| section.entry(index));
        let function = entry.and_then(|entry| entry.function().ok());
        Marked {
            frame,
            marks: function.as_ref().map(Marks::of_function).unwrap_or_default(),
            no_rows: function.as_ref().is_some_and(|f| f.num_rows() == 0),
        }
    }

    /// The phrase for one field.
    fn says(&self, field: Fields, abi: Abi) -> String {
        let frame = &self.frame;
        match field {
            Fields::CFA => Named(abi, frame.cfa).to_string(),
            Fields::FP => Named(abi, frame.fp).to_string(),
            Fields::RA_SIGNING => match (frame.ra_signed, self.marks.key_b) {
                (false, _) => "not signed".to_owned(),
                (true, false) => "signed with key A".to_owned(),
                (true, true) => "signed with key B".to_owned(),
            },
            Fields::SIGNAL => if self.marks.signal { "a signal frame" } else { "none" }.to_owned(),
            _ => match frame.ra {
                Recovery::Undefined if self.no_rows => {
                    "undefined (the function has no rows, which marks an outermost frame)"
                        .to_owned()
                }
                Recovery::Undefined => "undefined (an outermost frame)".to_owned(),
                ra => Named(abi, ra).to_string(),
            },
        }
    }
}

/// A message with the values of one table and of the other, `noun`, in the fields that differ.
pub(super) fn difference(
    fields: Fields,
    one: Marked,
    (noun, other): (&str, Marked),
    abi: Abi,
) -> String {
    let mut text = String::new();
    for field in fields.members() {
        let what = subject(field);
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(&format!(
            "{what}{}, {noun} says {}",
            one.says(field, abi),
            other.says(field, abi)
        ));
    }
    text
}

fn subject(field: Fields) -> &'static str {
    match field {
        Fields::CFA => "CFA is ",
        Fields::FP => "FP is ",
        Fields::SIGNAL => "the signal frame mark is ",
        _ => "RA is ",
    }
}

/// A message with the values of a row that the code proves wrong, and the true ones as far as they are known. `noun` is
/// the table that SFrame was compared with.
pub(super) fn contradiction(
    fields: Fields,
    (wrong, noun): (Wrong, &str),
    stated: Marked,
    truth: &ProvenRow,
    abi: Abi,
) -> String {
    let who = match wrong {
        Wrong::Cfi => &format!("{noun} says"),
        Wrong::Inherited => &format!("SFrame and {noun} say"),
        _ => "SFrame says",
    };
    let mut text = String::new();
    for field in fields.members() {
        if !text.is_empty() {
            text.push_str("; ");
        }
        let (what, says) = (subject(field), stated.says(field, abi));
        let is = match field {
            Fields::CFA => truth.cfa.map(|cfa| Named(abi, cfa).to_string()),
            Fields::FP => truth.fp.map(|fp| Named(abi, fp).to_string()),
            Fields::RA_SIGNING if truth.ra_signed => Some("signed".to_owned()),
            Fields::RA_SIGNING => Some("not signed".to_owned()),
            _ => truth.ra.map(|ra| Named(abi, ra).to_string()),
        };
        text.push_str(&match is {
            Some(is) => format!("{what}{is} by the code, {who} {says}"),
            None => format!("{who} that {what}{says}, the code proves that it is not"),
        });
    }
    text
}

/// The maximum number of registers in a message.
const MOST_REGISTERS: usize = 4;

/// A message with the first wrong rule of each register, and what the code says instead. Offsets are counted in bytes from the start
/// of the function.
pub(super) fn wrong_rules(function: &Fde<'_>, rules: &[WrongRule]) -> String {
    let abi = function.cfi().abi();
    let mut first: Vec<&WrongRule> = Vec::new();
    for rule in rules {
        if !first.iter().any(|known| known.register == rule.register) {
            first.push(rule);
        }
    }
    let mut text = String::new();
    for WrongRule { start, register, rule, truth, .. } in first.iter().take(MOST_REGISTERS) {
        let (register, says) = (Named(abi, *register), Named(abi, *rule));
        let offset = start.saturating_sub(function.start().address);
        text.push_str(if text.is_empty() { "" } else { "; " });
        text.push_str(&match truth {
            Some(is) => {
                let is = Named(abi, *is);
                format!("{register} is {is} by the code from +{offset:#x} on, CFI says {says}")
            }
            None => format!(
                "CFI says that {register} is {says}, the code proves that it is not from +{offset:#x} on"
            ),
        });
    }
    match first.len().saturating_sub(MOST_REGISTERS) {
        0 => {}
        1 => text.push_str("; and 1 more register"),
        more => text.push_str(&format!("; and {more} more registers")),
    }
    text
}

/// The end of a message about a row that starts too late, at `start`, while the other table has the same values from
/// `from` on. Both are offsets in bytes from the start of the function.
pub(super) fn late(noun: &str, row: u32, start: u32, from: u64) -> String {
    format!("; row {row} starts at +{start:#x}, {noun} says the same from +{from:#x} on")
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::{Cfa, Register};

    use super::*;

    fn marked(frame: Frame) -> Marked {
        Marked { frame, marks: Marks::default(), no_rows: false }
    }

    #[test]
    fn messages_state_both_values_of_each_field() {
        let base = Frame {
            cfa: Cfa::RegisterOffset { register: Register(31), offset: 16 },
            ra: Recovery::AtCfa(-8),
            fp: Recovery::AtCfa(-16),
            ra_signed: false,
        };
        let plain = marked(base);
        let further = Cfa::RegisterOffset { register: Register(29), offset: 32 };
        let cfa = marked(Frame { cfa: further, ..base });
        let fp = marked(Frame { fp: Recovery::Unchanged, ..base });
        let ra = Recovery::RegisterOffset { register: Register(30), offset: 0 };
        let ra = marked(Frame { ra, ..base });
        let outermost = marked(Frame { ra: Recovery::Undefined, ..base });
        let without_rows = Marked { no_rows: true, ..marked(Frame::OUTERMOST) };
        let signed = marked(Frame { ra_signed: true, ..base });
        let key_b = Marked { marks: Marks { key_b: true, ..Marks::default() }, ..signed };
        let unsigned = Marked { frame: base, ..key_b };
        let signal = Marked { marks: Marks { signal: true, ..Marks::default() }, ..plain };
        for (field, sframe, cfi, says) in [
            (Fields::CFA, plain, cfa, "CFA is sp+16, CFI says x29+32"),
            (Fields::FP, fp, plain, "FP is unchanged, CFI says *(CFA-16)"),
            (Fields::RA, plain, ra, "RA is *(CFA-8), CFI says x30"),
            (
                Fields::UNDEFINED_RA,
                outermost,
                plain,
                "RA is undefined (an outermost frame), CFI says *(CFA-8)",
            ),
            (
                Fields::UNDEFINED_RA,
                without_rows,
                plain,
                "RA is undefined (the function has no rows, which marks an outermost frame), CFI says \
                 *(CFA-8)",
            ),
            (Fields::RA_SIGNING, signed, plain, "RA is signed with key A, CFI says not signed"),
            (Fields::RA_SIGNING, unsigned, key_b, "RA is not signed, CFI says signed with key B"),
            (
                Fields::SIGNAL,
                plain,
                signal,
                "the signal frame mark is none, CFI says a signal frame",
            ),
        ] {
            assert_eq!(difference(field, sframe, ("CFI", cfi), Abi::Aarch64Little), says);
        }
        let both = difference(Fields::CFA.with(Fields::FP), plain, ("ORC", fp), Abi::Aarch64Little);
        assert_eq!(both, "CFA is sp+16, ORC says sp+16; FP is *(CFA-16), ORC says unchanged");
    }

    #[test]
    fn contradictions_state_what_the_code_does() {
        let frame = |ra_signed| Frame { ra_signed, ..Frame::OUTERMOST };
        let truth = |ra_signed| ProvenRow { cfa: None, ra: None, fp: None, ra_signed };
        for (stated, says) in [
            (true, "RA is not signed by the code, CFI says signed with key A"),
            (false, "RA is signed by the code, CFI says not signed"),
        ] {
            let (stated, truth) = (marked(frame(stated)), truth(!stated));
            let wrong = (Wrong::Cfi, "CFI");
            let message =
                contradiction(Fields::RA_SIGNING, wrong, stated, &truth, Abi::Aarch64Little);
            assert_eq!(message, says);
        }
        // The frame pointer's rule is not mistaken for that of the return address.
        let truth = ProvenRow {
            ra: Some(Recovery::AtCfa(-8)),
            fp: Some(Recovery::AtCfa(-16)),
            ..truth(false)
        };
        let stated = marked(Frame { fp: Recovery::Unchanged, ..Frame::OUTERMOST });
        let message = contradiction(Fields::FP, (Wrong::Cfi, "CFI"), stated, &truth, Abi::Amd64);
        assert_eq!(message, "FP is *(CFA-16) by the code, CFI says unchanged");
    }
}
