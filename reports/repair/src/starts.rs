//! Decides where the functions of a linked file start.
//!
//! Until version 2, a start field may count from the section or from itself. GNU as until 2.44 writes objects for
//! linkers that convert the second into the first. lld and gold do not, so that the header is wrong about the fields. A
//! reading is accepted if CFI or symbols confirm every function, and the other reading is not confirmed.

use sframe_validator::unwind::CodeAddress;

use crate::change::Change;
use crate::code::Known;
use crate::error::RepairError;
use crate::parts::{Part, Start};

/// Sets the starts of all functions.
pub(crate) fn decide(
    known: &Known,
    parts: &mut [Part<'_>],
    changes: &mut Vec<Change>,
) -> Result<(), RepairError> {
    let is_only = parts.len() == 1;
    let mut functions = 0;
    for part in parts {
        let stated = part.stated();
        // Fields that count from themselves need no adjustment, and only a linker that knows SFrame sorts functions.
        let is_known = !part.counts_from_section() || is_only && part.is_sorted();
        let starts = match is_known || part.starts.is_empty() {
            true => stated,
            false => {
                let from_fields = counted_from_fields(part, &stated);
                match (confirms(known, part, &stated), confirms(known, part, &from_fields)) {
                    (true, false) => stated,
                    (false, true) => {
                        functions += from_fields.len();
                        from_fields
                    }
                    (true, true) => {
                        return Err(RepairError::UndecidedStarts { offset: part.offset });
                    }
                    (false, false) => return Err(RepairError::WrongStarts { offset: part.offset }),
                }
            }
        };
        let start = |address| Start { place: CodeAddress::absolute(address), relocation: None };
        part.starts = starts.into_iter().map(|address| Some(start(address))).collect();
    }
    if functions > 0 {
        changes.push(Change::StartsAdjusted { functions });
    }
    Ok(())
}

/// The starts if fields count from themselves.
fn counted_from_fields(part: &Part<'_>, stated: &[u64]) -> Vec<u64> {
    let places = (0..stated.len()).map(|index| part.stored.entry_offset(index));
    stated.iter().zip(places).map(|(start, place)| start.wrapping_add(place)).collect()
}

/// Whether the rest of the file knows every function. Functions without bytes, which CFI of linked files lacks, only have
/// to be in code.
fn confirms(known: &Known, part: &Part<'_>, starts: &[u64]) -> bool {
    let (mut exact, mut all) = (0, true);
    for (function, start) in part.stored.functions.iter().zip(starts) {
        let place = CodeAddress::absolute(*start);
        let has = known.has(place, function.size);
        exact += usize::from(has && function.size > 0);
        all &= has || function.size == 0 && known.is_code(place, 0);
    }
    all && exact > 0
}
