//! Shapes: the common properties of findings that one mistake has caused, such as registers and kinds of values,
//! without the numbers that differ between functions.

use sframe_record::{Difference, Finding, Group, Side, TableLine, Text, UnwindTable};

/// The shape of a finding. For a difference: the values of both sides in the fields that differ, with the distance
/// between their numbers. Otherwise: the field and the class of its value.
///
/// A CFA of `rsp+16` where CFI has `rsp+8` has the same shape as `rsp+240` and `rsp+232`.
///
/// It is part of [identities](crate::Identity), and does not depend on what SFrame was compared with.
pub(crate) fn of(finding: &Finding<'_>) -> String {
    beside(finding, UnwindTable::Cfi.noun())
}

/// The shape for people. `noun` is what they call the table that SFrame was compared with.
pub(crate) fn beside(finding: &Finding<'_>, noun: &str) -> String {
    if let Some(difference) = &finding.difference {
        let start = finding.code.as_ref().map(|code| code.start.0);
        return match finding.rule_group() {
            Some(Group::Code) => of_contradiction(difference),
            _ => of_difference(difference, start, noun),
        };
    }
    match &finding.field {
        Some(field) => format!("{} = {}", field.name, value_class(&field.name, &field.value)),
        None => String::new(),
    }
}

fn of_difference(difference: &Difference<'_>, start: Option<u64>, noun: &str) -> String {
    let line = |side: Side| {
        let mut lines = difference.table.iter().filter(|line| line.side == side);
        match start {
            Some(start) => lines.find(|line| line.start.0 == start),
            None => lines.next(),
        }
    };
    // If the rows are equal, the marks of the functions differ.
    let Some((ours, truth)) = line(Side::Sframe).zip(line(Side::Cfi)) else {
        let fields: Vec<&str> = difference.fields.iter().map(|field| field.as_str()).collect();
        return fields.join(", ");
    };
    let fields = difference.fields.iter();
    let shapes: Vec<String> = fields.map(|field| one_field(field, ours, truth, noun)).collect();
    shapes.join(", ")
}

/// The shape of a difference from the code: the values of the row that is wrong, and those that the code proves.
fn of_contradiction(difference: &Difference<'_>) -> String {
    let proof = difference.ruling.as_ref().and_then(|ruling| ruling.proof.as_ref());
    let row = proof.and_then(|proof| {
        let place = proof.instruction.address.0;
        difference.table.iter().rfind(|line| line.start.0 <= place)
    });
    let fields = difference.fields.iter();
    let Some((row, proof)) = row.zip(proof) else {
        return fields.map(|field| field.as_str()).collect::<Vec<_>>().join(", ");
    };
    let apart = |name: &str, stated: &str, truth: Option<&Text<'_>>| match truth {
        Some(truth) => {
            let (stated, truth) = both_values(stated, truth);
            format!("{name} {stated}, code {truth}")
        }
        None => format!("{name} {}", Cut::of(stated).with("+N")),
    };
    let shapes = fields.map(|field| match field.as_str() {
        "cfa" => apart("CFA", &row.frame.cfa, proof.known.cfa.as_ref()),
        "ra" => apart("RA", &row.frame.ra, proof.known.ra.as_ref()),
        "fp" => apart("FP", &row.frame.fp, proof.known.fp.as_ref()),
        other => other.to_owned(),
    });
    shapes.collect::<Vec<_>>().join(", ")
}

fn one_field(field: &str, ours: &TableLine<'_>, truth: &TableLine<'_>, noun: &str) -> String {
    let apart = |name: &str, ours: &str, truth: &str| {
        let (ours, truth) = both_values(ours, truth);
        format!("{name} {ours}, {noun} {truth}")
    };
    let (ours, truth) = (&ours.frame, &truth.frame);
    match field {
        "cfa" => apart("CFA", &ours.cfa, &truth.cfa),
        "ra" | "undefined-ra" => apart("RA", &ours.ra, &truth.ra),
        "fp" => apart("FP", &ours.fp, &truth.fp),
        "ra-signing" if ours.ra_signed != truth.ra_signed => match ours.ra_signed {
            true => format!("RA signed, {noun} not"),
            false => format!("RA not signed, {noun} signed"),
        },
        other => other.to_owned(),
    }
}

/// Two values, with `N` in place of the first one's number, and `N` plus the distance for the second's.
fn both_values(ours: &str, truth: &str) -> (String, String) {
    let (ours_cut, truth_cut) = (Cut::of(ours), Cut::of(truth));
    let distance =
        ours_cut.number.zip(truth_cut.number).map(|(a, b)| i128::from(b) - i128::from(a));
    let truth = match distance {
        Some(0) | None => truth_cut.with("+N"),
        Some(distance) => truth_cut.with(&format!("+N{distance:+}")),
    };
    (ours_cut.with("+N"), truth)
}

/// A value split at its number: `*(CFA`, -8, `)`.
struct Cut<'v> {
    before: &'v str,
    number: Option<i64>,
    after: &'v str,
}

impl<'v> Cut<'v> {
    /// Splits at the first sign that is followed by digits. Digits without a sign belong to a register's name.
    fn of(value: &'v str) -> Cut<'v> {
        for (place, sign) in value.match_indices(['+', '-']) {
            let (before, rest) = value.split_at(place);
            let digits = rest.get(sign.len()..).unwrap_or_default();
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let (digits, after) = digits.split_at(end);
            if let Ok(number) = format!("{sign}{digits}").parse() {
                return Cut { before, number: Some(number), after };
            }
        }
        Cut { before: value, number: None, after: "" }
    }

    fn with(&self, number: &str) -> String {
        let number = if self.number.is_some() { number } else { "" };
        format!("{}{number}{}", self.before, self.after)
    }
}

/// The class of a field's value, independent of the position of the code: addresses and offsets, which are hexadecimal,
/// are replaced by `0x#`; flags and codes are kept.
fn value_class(name: &str, value: &str) -> String {
    let codes = ["flags", "info", "info2", "type", "magic", "version", "class"];
    if codes.iter().any(|end| name.to_ascii_lowercase().ends_with(end)) {
        return value.to_owned();
    }
    without_addresses(value)
}

/// `text` with `0x#` in place of each hexadecimal number other than 0.
pub(crate) fn without_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split("0x");
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        let (digits, after) = part.split_at(end);
        let zero = digits.bytes().all(|digit| digit == b'0');
        out.push_str(if zero { "0x" } else { "0x#" });
        out.push_str(if zero { digits } else { "" });
        out.push_str(after);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_distances_of_values_are_kept() {
        let both = |ours, truth| {
            let (ours, truth) = both_values(ours, truth);
            format!("{ours} | {truth}")
        };
        assert_eq!(both("rsp+16", "rsp+8"), "rsp+N | rsp+N-8");
        assert_eq!(both("rsp+240", "rsp+232"), "rsp+N | rsp+N-8");
        assert_eq!(both("x29+16", "sp+16"), "x29+N | sp+N");
        assert_eq!(both("*(CFA-16)", "unchanged"), "*(CFA+N) | unchanged");
        assert_eq!(both("*(CFA-16)", "*(CFA-8)"), "*(CFA+N) | *(CFA+N+8)");
        // Only registers, and text without a valid number.
        assert_eq!(both("r11", "r12"), "r11 | r12");
        assert_eq!(both("a+b-", "+"), "a+b- | +");
        assert_eq!(both("r+99999999999999999999", ""), "r+99999999999999999999 | ");
    }

    #[test]
    fn addresses_are_abstracted_and_codes_are_not() {
        assert_eq!(value_class("sh_addr", "0x240..0x290"), "0x#..0x#");
        assert_eq!(value_class("sfde_func_size", "0"), "0");
        assert_eq!(value_class("sfdi_func_start_offset", "0x0"), "0x0");
        assert_eq!(value_class("sfp_flags", "0x05"), "0x05");
        assert_eq!(value_class("sfp_magic", "0xe2de"), "0xe2de");
    }
}
