//! The section that GNU as and ld of a release write. All of it was observed by running them.

mod frames;
mod plt;
mod release;
mod translate;

use sframe_oracle::cfi::{Fde, RowContext};
use sframe_oracle::coverage::Cause;
use sframe_validator::Abi;
use sframe_validator::section::FreType;

pub use release::Release;

use crate::encode::Form;
use crate::measure::{Found, Measured, measure};
use crate::model::{Function, Losses};
use crate::place::Place;
use crate::source::{Source, lose};

/// The form of the sections that a release writes.
pub(crate) fn form(release: Release, abi: Abi, place: Place) -> Form {
    Form {
        version: release.version(),
        abi,
        place,
        without_lowest: release != Release::V2_47_50,
        pcrel: release == Release::V2_47_50,
        // observed: the assembler for s390x pads the sections of objects.
        padded: abi == Abi::S390x && place == Place::Relocatable,
    }
}

/// The causes about which the translation decides. [`sframe_oracle::coverage::examine`] finds what keeps a function out
/// of a correct section of a version. GNU as describes some of these functions nevertheless, most of them wrongly.
const DECIDED: [Cause; 8] = [
    Cause::ZeroSize,
    Cause::CfaRegister,
    Cause::RegisterSave,
    Cause::OtherRegisterSave,
    Cause::ValueOffset,
    Cause::UndefinedFp,
    Cause::UnsupportedEscape,
    Cause::RememberFirst,
];

/// The functions of a file as a release describes them, one after the other.
pub(crate) struct Functions<'s, 'e, 'c> {
    source: &'s Source<'e, 'c>,
    release: Release,
    form: Form,
    stubs: plt::Tables<'s, 'e, 'c>,
}

impl<'s, 'e, 'c> Functions<'s, 'e, 'c> {
    pub(crate) fn new(source: &'s Source<'e, 'c>, release: Release, form: Form) -> Self {
        Functions { source, release, form, stubs: plt::Tables::of(source, release) }
    }

    /// For functions of assembled code alone.
    pub(crate) fn without_stubs(source: &'s Source<'e, 'c>, release: Release, form: Form) -> Self {
        Functions { source, release, form, stubs: plt::Tables::default() }
    }

    /// Passes a function to `found`, or adds it to the losses if the release does not describe it.
    pub(crate) fn visit(
        &mut self,
        (fde, context): (&Fde<'c>, &mut RowContext),
        losses: &mut Losses,
        found: Found<'_>,
    ) {
        let (source, release, form) = (self.source, self.release, &self.form);
        let cause = source.cause(fde, release.version(), context);
        // The linker writes these itself.
        if self.stubs.are_in(fde) {
            return;
        }
        let function = match cause.filter(|cause| !DECIDED.contains(cause)) {
            Some(cause) => Err(cause),
            None => describe(source, fde, release, form).map_err(|own| cause.unwrap_or(own)),
        };
        match function {
            Ok((function, measured)) => found(function, measured),
            Err(cause) => {
                lose(losses, fde, cause);
                if let Some(function) = without_rows(fde, cause, release)
                    && let Some(measured) = measure(form, &function)
                {
                    found(function, measured);
                }
            }
        }
    }

    /// Passes the entries that the linker writes for stubs to `found`.
    pub(crate) fn finish(&self, found: Found<'_>) {
        for function in self.stubs.entries() {
            if let Some(measured) = measure(&self.form, &function) {
                found(function, measured);
            }
        }
    }
}

/// A function as the release describes it.
///
/// # Errors
/// The cause why it does not.
fn describe(
    source: &Source<'_, '_>,
    fde: &Fde<'_>,
    release: Release,
    form: &Form,
) -> Result<(Function, Measured), Cause> {
    let size = u32::try_from(fde.size()).map_err(|_| Cause::OffsetRange)?;
    let cie = fde.cie();
    let mut function = Function {
        start: fde.start(),
        size,
        signal: cie.signal,
        pauth_key_b: cie.pauth_key_b,
        block: None,
        start_width: Some(FreType::for_start(size)),
        rows: translate::translate(fde, release)?,
    };
    frames::simplify(&mut function, release, source.abi);
    let measured = measure(form, &function).ok_or(Cause::RaExpression)?;
    Ok((function, measured))
}

/// The entry without rows that 2.47.50 writes for some functions that it cannot describe.
fn without_rows(fde: &Fde<'_>, cause: Cause, release: Release) -> Option<Function> {
    let signal = fde.cie().signal;
    let is_kept = signal || cause == Cause::NoInitialRules;
    let is_kept = is_kept && release == Release::V2_47_50 && cause != Cause::Plt;
    Some(Function {
        start: fde.start(),
        size: u32::try_from(fde.size()).ok().filter(|_| is_kept)?,
        signal,
        pauth_key_b: fde.cie().pauth_key_b,
        block: None,
        start_width: None,
        rows: Vec::new(),
    })
}
