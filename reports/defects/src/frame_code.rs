//! The code of prologues and epilogues, as findings about wrong CFI show it, and the compiler of such code.

use sframe_record::{Finding, OriginKind};

/// Whether all compilers that code may be of have this name and such a version, as major and minor number.
pub(crate) fn is_made_by(
    finding: &Finding<'_>,
    name: &str,
    is_wanted: impl Fn((u32, u32)) -> bool,
) -> bool {
    let Some(origin) = finding.origin.as_deref() else { return false };
    let numbers = |version: &str| {
        let mut parts = version.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next().flatten().unwrap_or(0)))
    };
    origin.kind == OriginKind::Compiled
        && !origin.compilers.is_empty()
        && origin.compilers.iter().all(|compiler| {
            let version = compiler.version.as_ref().and_then(|version| numbers(version.as_str()));
            compiler.name.as_str() == name && version.is_some_and(&is_wanted)
        })
}

/// Instructions of a machine by the start of their text. A space ends a mnemonic.
pub(crate) struct Instructions {
    sp: &'static str,
    /// They free a part of the frame.
    frees: &'static [&'static str],
    /// They may be in an epilogue as well.
    ends: &'static [&'static str],
    /// They make a part of the frame.
    makes: &'static [&'static str],
    /// They may be in a prologue as well.
    saves: &'static [&'static str],
    /// They compute values, unless they name a register in `frame`.
    computes: &'static [&'static str],
    /// Parts of the names of SP, FP and the register of the return address.
    frame: &'static [&'static str],
}

pub(crate) const AMD64: Instructions = Instructions {
    sp: "rsp",
    frees: &["pop ", "leave", "add $", "mov %rbp,%rsp", "lea "],
    ends: &["ret", "jmp ", "nop"],
    makes: &[],
    saves: &[],
    computes: &["mov", "xor ", "add ", "sub ", "and ", "or ", "lea ", "cltq", "set"],
    frame: &["sp", "bp"],
};

pub(crate) const AARCH64: Instructions = Instructions {
    sp: "sp",
    frees: &["add sp, sp, ", "ldp ", "ldr ", "mov sp, x29"],
    ends: &["ret", "b ", "br ", "autiasp", "autibsp", "retaa", "retab"],
    makes: &["sub sp, sp, ", "stp ", "str "],
    saves: &["add x29, sp, ", "mov x29, sp"],
    computes: &[
        "add ", "sub ", "mov", "and ", "orr ", "eor ", "cs", "sxtw ", "ubfm ", "sbfm ", "madd ",
        "umaddl ", "adr", "ldr", "str",
    ],
    frame: &["sp", "x29", "x30"],
};

/// Whether the code of a finding is in an epilogue, for which CFI has the frame of the function's body.
pub(crate) fn is_epilogue(finding: &Finding<'_>, machine: &Instructions) -> bool {
    let frees = |text: &str| starts(text, machine.frees) && moves_sp_or_loads(text, machine);
    let is_own = |text: &str| starts(text, machine.ends) || frees(text);
    let is_larger = |stated: Option<i64>, proven: i64| stated.is_none_or(|stated| stated > proven);
    is_part(finding, machine, frees, is_own, is_larger)
}

/// Whether the code of a finding is in a prologue, for which CFI has a smaller frame.
pub(crate) fn is_prologue(finding: &Finding<'_>, machine: &Instructions) -> bool {
    let is_own = |text: &str| {
        starts(text, machine.saves) || starts(text, machine.makes) && text.contains("sp")
    };
    let is_smaller =
        |stated: Option<i64>, proven: i64| stated.is_some_and(|stated| stated < proven);
    is_part(finding, machine, is_own, is_own, is_smaller)
}

/// `lea` and `add` are of an epilogue if they set SP; AArch64's loads, if they are from the stack.
fn moves_sp_or_loads(text: &str, machine: &Instructions) -> bool {
    let sets_sp =
        ["lea ", "add $"].iter().all(|start| !text.starts_with(start)) || text.ends_with(",%rsp");
    let is_load = text.starts_with("ldp ") || text.starts_with("ldr ");
    sets_sp && (!is_load || text.contains("[sp") || machine.sp == "rsp")
}

fn starts(text: &str, with: &[&str]) -> bool {
    with.iter().any(|start| text.starts_with(start))
}

/// Whether the last change of the frame is such one, the instructions of the range are such ones or compute values, and the
/// frames differ in this way.
fn is_part(
    finding: &Finding<'_>,
    machine: &Instructions,
    is_change: impl Fn(&str) -> bool,
    is_own: impl Fn(&str) -> bool,
    differ: impl Fn(Option<i64>, i64) -> bool,
) -> bool {
    let Some(difference) = finding.difference.as_deref() else { return false };
    let Some(proof) = difference.ruling.as_ref().and_then(|ruling| ruling.proof.as_ref()) else {
        return false;
    };
    let change = proof.change.as_ref().map(|change| change.text.as_str());
    let is_change = change.is_some_and(is_change);
    let computes = |text: &str| {
        let names_frame = machine.frame.iter().any(|name| text.contains(name));
        starts(text, machine.computes) && !names_frame
    };
    let code = &difference.instructions;
    let is_whole = code.last().zip(finding.code.as_ref()).is_some_and(|(last, code)| {
        let end = last.address.0.checked_add(last.bytes.len() as u64 / 2);
        end == Some(code.end.0)
    });
    let texts = || code.iter().map(|instruction| instruction.text.as_str());
    let is_code =
        is_whole && texts().all(|text| is_own(text) || computes(text)) && texts().any(is_own);
    let from_sp = |cfa: &str| {
        let offset = cfa.strip_prefix(machine.sp)?.strip_prefix('+')?;
        offset.parse::<i64>().ok()
    };
    let proven = proof.known.cfa.as_ref().and_then(|cfa| from_sp(cfa.as_str()));
    // The row that applies at the start of the range.
    let start = finding.code.as_ref().map_or(0, |code| code.start.0);
    let row = difference.table.iter().rev().find(|line| line.start.0 <= start);
    let is_cfa = difference.fields.iter().any(|field| field.as_str() == "cfa");
    let stated = row.map(|row| from_sp(row.frame.cfa.as_str()));
    is_change
        && is_code
        && is_cfa
        && proven.zip(stated).is_some_and(|(proven, stated)| differ(stated, proven))
}
