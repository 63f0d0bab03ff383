//! The smallest section with the same meaning at every PC.
//!
//! | Saving | Why nothing is lost |
//! |---|---|
//! | adjacent rows with equal frames are one row | a row is valid up to the next one |
//! | rows without bytes are omitted | no PC finds them |
//! | start fields are as wide as the function's last row needs; GNU as goes by the function's size | V3 2.4 |
//! | each row's words are as narrow as its values allow | their size is a field of each row |
//! | only functions that need it are flexible (V3) | the type is a field of each function |
//! | a linker's lazy stubs are a head and one block that repeats | V2 2.3.1 |
//!
//! Two savings are possible and not made:
//!
//! - Equal row blocks of several functions could be stored once. The specification describes the rows of each function
//!   (V3 2.2), and does not say whether two functions can refer to the same ones. [`crate::Account::shareable`] counts
//!   the bytes.
//! - An outermost function of version 3 could be an entry without rows (V3 1.2), at least 2 bytes less than one with a
//!   row. GNU as also writes such entries for functions that it cannot describe, so readers cannot rely on the meaning.

use sframe_oracle::cfi::{Fde, RowContext};
use sframe_oracle::coverage::Cause;
use sframe_validator::unwind::{Frame, Recovery};
use sframe_validator::{Abi, Version};

use crate::encode::Form;
use crate::measure::{Visit, measure};
use crate::model::{Function, Losses, merge};
use crate::place::Place;
use crate::source::{Source, lose, read_function};
use crate::stubs::fold;

/// The form of a smallest section.
pub(crate) const fn form(version: Version, abi: Abi, place: Place) -> Form {
    let pcrel = !matches!(version, Version::V1);
    Form { version, abi, place, without_lowest: false, pcrel, padded: false, zero_slots: false }
}

/// Passes a function to `visit`, or in parts, or adds it to the losses if `form` cannot describe it.
pub(crate) fn visit<'c>(
    source: &Source<'_, 'c>,
    form: &Form,
    (fde, context): (&Fde<'c>, &mut RowContext),
    losses: &mut Losses,
    visit: Visit<'_>,
) {
    if fde.size() == 0 {
        return lose(losses, fde, Cause::ZeroSize);
    }
    let function = read_function(fde, context).map(|function| lossless(function, form));
    let (function, measured) = match function.map(|function| (measure(form, &function), function)) {
        Ok((Some(measured), function)) => (function, measured),
        Ok((None, _)) => {
            let cause = source.cause(fde, form.version, context);
            let cause = cause.filter(|cause| *cause != Cause::Plt);
            // Producers see no obstacle: the return address is not at the ABI's fixed offset, and the
            // version has no other place for it.
            return lose(losses, fde, cause.unwrap_or(Cause::RaExpression));
        }
        Err(cause) => return lose(losses, fde, cause),
    };
    if source.is_stub(function.start) && form.version > Version::V1 {
        for part in fold(function) {
            if let Some(measured) = measure(form, &part) {
                visit(part, measured);
            }
        }
    } else {
        visit(function, measured);
    }
}

/// Rewrites the rows in the form in which SFrame states the same.
fn lossless(mut function: Function, form: &Form) -> Function {
    for row in &mut function.rows {
        if row.frame.ra == Recovery::Undefined {
            row.frame = Frame::OUTERMOST;
        }
    }
    function.rows.dedup_by(|next, row| merge(row, next));
    if form.version < Version::V3 {
        function.signal = false;
    }
    function
}
