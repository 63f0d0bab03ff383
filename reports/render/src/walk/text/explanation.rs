//! Why witnesses part, and why a walk goes astray.

use std::io::{self, Write};

use sframe_process::Witness;
use sframe_record::Address;

use super::DIFFERENT;
use crate::function_name::at_offset;
use crate::walk::{ByCall, FrameValues, SharedText, StackLevel, ThreadWalk, WalkRow, WitnessFrame};

/// Explains why the witnesses part at `level`.
pub(super) fn write_parting(
    out: &mut dyn Write,
    thread: &ThreadWalk,
    level: &StackLevel,
) -> io::Result<()> {
    writeln!(out, "  {DIFFERENT}they part at #{}{DIFFERENT:#}, about its caller:", level.depth)?;
    if let Some(first) = level.witnesses.first() {
        write!(out, "    looked up {}", first.looked_up)?;
        if let (Some(file), Some(address)) = (&first.file, first.file_address) {
            write!(out, ", which is {address} in {file}")?;
        }
        match &thread.instruction {
            Some(instruction) => writeln!(out, ": {}", instruction.text)?,
            None => writeln!(out)?,
        }
    }
    for frame in &level.witnesses {
        write_found(out, frame.witness, &Found::of(frame))?;
    }
    match thread.alone {
        Some(witness) => writeln!(out, "    {}", ruling(witness)),
        None => Ok(()),
    }
}

/// Who is wrong, if one witness contradicts two that agree.
fn ruling(alone: Witness) -> String {
    let [sframe, cfi, code] = Witness::ALL.map(|witness| match witness {
        Witness::Code => "the machine code",
        other => other.name(),
    });
    match alone {
        Witness::Sframe => format!("{sframe} is wrong: {cfi} and {code} find the same caller"),
        Witness::Cfi => format!("{cfi} is wrong: {sframe} and {code} find the same caller"),
        Witness::Code => format!("only {code} differs: {sframe} and {cfi} find the same caller"),
    }
}

/// A remark about a frame of which the return address leads elsewhere than its call.
pub(super) fn astray(level: &StackLevel) -> Option<&'static str> {
    let (frame, by_call) = level.witnesses.iter().find_map(with_call)?;
    Some(match frame.function_start {
        None => "the return address belongs to no function",
        start if start == by_call.function_start => {
            "the return address belongs to another row than the call"
        }
        _ => "the return address belongs to another function than the call",
    })
}

fn with_call(frame: &WitnessFrame) -> Option<(&WitnessFrame, &ByCall)> {
    frame.by_call.as_deref().map(|by_call| (frame, by_call))
}

/// Explains why the walk goes astray at `level`.
pub(super) fn write_astray(out: &mut dyn Write, level: &StackLevel) -> io::Result<()> {
    let (Some(reason), Some((first, by_call))) =
        (astray(level), level.witnesses.iter().find_map(with_call))
    else {
        return Ok(());
    };
    writeln!(out, "  {DIFFERENT}the walk goes astray at #{}{DIFFERENT:#}: {reason}", level.depth)?;
    let place = |symbol: &Option<SharedText>, offset: Option<u64>, address: Option<Address>| {
        let symbol = symbol.as_ref();
        let symbol = symbol.map_or_else(|| "?".to_owned(), |symbol| at_offset(symbol, offset));
        let file = first.file.as_ref().zip(address);
        let file = file.map(|(file, address)| format!(", {address} in {file}"));
        format!("{symbol}{}", file.unwrap_or_default())
    };
    let at = place(&first.symbol, first.symbol_offset, first.file_address);
    writeln!(out, "    looked up {}, the return address: {at}", first.looked_up)?;
    let all = || level.witnesses.iter().filter_map(with_call);
    for (frame, _) in all() {
        write_found(out, frame.witness, &Found::of(frame))?;
    }
    // The offset of the byte itself.
    let offset = by_call.symbol_offset.and_then(|offset| offset.checked_sub(1));
    let at = place(&by_call.symbol, offset, by_call.file_address);
    writeln!(out, "    the byte before it is in the call: {at}")?;
    for (frame, by_call) in all() {
        let ByCall { row, caller, end, .. } = by_call;
        let found = Found { row: row.as_ref(), caller: caller.as_ref(), end: end.as_deref() };
        write_found(out, frame.witness, &found)?;
    }
    Ok(())
}

/// What a witness has found.
struct Found<'f> {
    row: Option<&'f WalkRow>,
    caller: Option<&'f FrameValues>,
    end: Option<&'f str>,
}

impl<'f> Found<'f> {
    fn of(frame: &'f WitnessFrame) -> Found<'f> {
        let WitnessFrame { row, caller, end, .. } = frame;
        Found { row: row.as_ref(), caller: caller.as_ref(), end: end.as_deref() }
    }
}

fn write_found(out: &mut dyn Write, witness: Witness, found: &Found<'_>) -> io::Result<()> {
    let name = witness.name();
    match found.row {
        Some(row) => writeln!(out, "    {name:<6}  row {}", row_text(row))?,
        None => writeln!(out, "    {name:<6}  no row")?,
    }
    match (found.caller, found.end) {
        (Some(caller), None) => writeln!(out, "            caller {}", values(caller)),
        (Some(caller), Some(end)) => {
            writeln!(out, "            caller {}; {end}", values(caller))
        }
        (None, end) => writeln!(out, "            {}", end.unwrap_or_default()),
    }
}

fn row_text(row: &WalkRow) -> String {
    let WalkRow { start, end, frame } = row;
    format!("{start}..{end}  CFA={}  RA={}  FP={}", frame.cfa, frame.signed_ra(), frame.fp)
}

fn values(values: &FrameValues) -> String {
    let FrameValues { pc, sp, fp } = values;
    let text =
        |value: Option<_>| value.map_or("unknown".to_owned(), |value: Address| value.to_string());
    format!("PC={pc}  SP={}  FP={}", text(*sp), text(*fp))
}
