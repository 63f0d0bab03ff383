//! Faults that a producer could make. Each changes one property of the section.

use sframe_validator::Version;
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use super::Twin;
use crate::generate::FunctionPlan;
use sframe_mutate::{Seeded, when};

/// A fault of the section.
#[derive(Debug)]
pub struct Fault {
    /// The name of the fault.
    pub name: &'static str,
    make: fn(&mut Twin, &mut Seeded) -> Option<()>,
}

impl Fault {
    /// The twin with the fault; `None` if the fault cannot be made in it.
    #[must_use]
    pub fn make(&self, twin: &Twin, random: &mut Seeded) -> Option<Twin> {
        let mut faulty = twin.clone();
        (self.make)(&mut faulty, random)?;
        Some(faulty)
    }
}

fn any_function<'t>(twin: &'t mut Twin, random: &mut Seeded) -> Option<&'t mut FunctionPlan> {
    let count = twin.plan.functions.len();
    twin.plan.functions.get_mut(random.below(count.max(1)))
}

/// A row that is not just an outermost frame.
fn any_row<'t>(twin: &'t mut Twin, random: &mut Seeded) -> Option<&'t mut Frame> {
    let rows = &mut any_function(twin, random)?.rows;
    let place = random.below(rows.len());
    let (_, frame) = rows.get_mut(place)?;
    (*frame != Frame::OUTERMOST).then_some(frame)
}

/// `Some` if a row differs from the preceding one. If there is no caller, other rules do not count.
fn differs_from_previous(rows: &[(u32, Frame)], place: usize) -> Option<()> {
    let before = place.checked_sub(1).map(|before| rows[before].1);
    when(before != Some(rows[place].1))
}

/// All faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "another CFA offset",
        make: |twin, random| {
            let by = 8 << random.below(8);
            let frame = any_row(twin, random)?;
            let (Cfa::RegisterOffset { offset, .. } | Cfa::Dereference { offset, .. }) =
                &mut frame.cfa
            else {
                return None;
            };
            *offset += by;
            Some(())
        },
    },
    Fault {
        name: "another CFA base",
        make: |twin, random| {
            let abi = twin.program.abi;
            let frame = any_row(twin, random)?;
            let (Cfa::RegisterOffset { register, .. } | Cfa::Dereference { register, .. }) =
                &mut frame.cfa
            else {
                return None;
            };
            *register = if *register == abi.sp() { abi.fp() } else { abi.sp() };
            Some(())
        },
    },
    Fault {
        name: "a CFA loaded or not loaded",
        make: |twin, random| {
            let frame = any_row(twin, random)?;
            frame.cfa = match frame.cfa {
                Cfa::RegisterOffset { register, offset } => Cfa::Dereference { register, offset },
                Cfa::Dereference { register, offset } => Cfa::RegisterOffset { register, offset },
                Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => return None,
            };
            Some(())
        },
    },
    Fault {
        name: "another place of FP",
        make: |twin, random| {
            let slot = -16 - 8 * random.below(64) as i64;
            let frame = any_row(twin, random)?;
            let before = frame.fp;
            frame.fp = match before {
                Recovery::AtCfa(_) if slot % 16 == 0 => Recovery::Unchanged,
                _ => Recovery::AtCfa(slot),
            };
            when(frame.fp != before)
        },
    },
    Fault {
        name: "another place of RA",
        make: |twin, random| {
            let slot = -16 - 8 * random.below(64) as i64;
            let frame = any_row(twin, random)?;
            let before = frame.ra;
            frame.ra = Recovery::AtCfa(slot);
            when(frame.ra != before)
        },
    },
    Fault {
        name: "a return address signed or not signed",
        make: |twin, random| {
            when(twin.program.abi.is_aarch64())?;
            let frame = any_row(twin, random)?;
            frame.ra_signed = !frame.ra_signed;
            Some(())
        },
    },
    Fault {
        name: "a frame without a caller",
        make: |twin, random| {
            *any_row(twin, random)? = Frame::OUTERMOST;
            Some(())
        },
    },
    Fault {
        name: "the other mark for signal frames",
        make: |twin, random| {
            when(twin.plan.version == Version::V3)?;
            let function = any_function(twin, random)?;
            function.signal = !function.signal;
            Some(())
        },
    },
    Fault {
        name: "the other key",
        make: |twin, random| {
            when(twin.program.abi.is_aarch64())?;
            let function = any_function(twin, random)?;
            function.key_b = !function.key_b;
            when(function.rows.iter().any(|(_, frame)| frame.ra_signed))
        },
    },
    Fault {
        name: "a row that is missing",
        make: |twin, random| {
            let rows = &mut any_function(twin, random)?.rows;
            when(rows.len() > 1)?;
            let place = random.below(rows.len());
            differs_from_previous(rows, place)?;
            rows.remove(place);
            Some(())
        },
    },
    Fault {
        name: "a row that starts too late",
        make: |twin, random| {
            let unit = twin.program.abi.instruction_alignment();
            let function = any_function(twin, random)?;
            let place = random.below(function.rows.len());
            differs_from_previous(&function.rows, place)?;
            let next = function.rows.get(place + 1).map_or(function.size, |(start, _)| *start);
            let (start, _) = function.rows.get_mut(place)?;
            *start += unit;
            when(*start < next)
        },
    },
    Fault {
        name: "a function that is missing",
        make: |twin, random| {
            when(!twin.plan.functions.is_empty())?;
            let place = random.below(twin.plan.functions.len());
            twin.plan.functions.remove(place);
            Some(())
        },
    },
    Fault {
        name: "a function that ends early",
        make: |twin, random| {
            let unit = twin.program.abi.instruction_alignment();
            let function = any_function(twin, random)?;
            function.size = function.size.checked_sub(unit).filter(|size| *size > 0)?;
            Some(())
        },
    },
];
