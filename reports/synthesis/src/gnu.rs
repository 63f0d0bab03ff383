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
use crate::measure::{Measured, Visit, measure};
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
        zero_slots: abi == Abi::S390x,
    }
}

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

    /// Passes a function to `visit`, or adds it to the losses if the release does not describe it.
    pub(crate) fn visit(
        &mut self,
        (fde, context): (&Fde<'c>, &mut RowContext),
        losses: &mut Losses,
        visit: Visit<'_>,
    ) {
        let (source, release, form) = (self.source, self.release, &self.form);
        // The linker writes these itself.
        if self.stubs.are_in(fde) {
            return;
        }
        if source.is_stub(fde.start()) {
            return lose(losses, fde, Cause::Plt);
        }
        let described = match source.labels.are_in(fde) {
            // observed: "CFI insn CFI_label", in every release.
            true => Err(Cause::UnsupportedEscape),
            false => describe(fde, release, form),
        };
        match described {
            Ok((function, measured)) => visit(function, measured),
            Err(own) => {
                // The rows show more than the instruction at which the assembler gave up.
                let cause = source.cause(fde, release.version(), context);
                lose(losses, fde, cause.unwrap_or(own));
                if let Some(function) = without_rows(fde, release)
                    && let Some(measured) = measure(form, &function)
                {
                    visit(function, measured);
                }
            }
        }
    }

    /// Whether assemblers make sections that describe no function, of which the linker makes one with entries for stubs.
    // observed: on s390x, where they fill up the header.
    pub(crate) fn are_padded(&self, losses: &Losses) -> bool {
        self.source.abi == Abi::S390x && losses.first().is_some()
    }

    /// Passes the entries that the linker writes for stubs to `visit`.
    // observed: it writes none if no input has a section, nor if no input describes a function, unless they are padded.
    pub(crate) fn finish(&self, visit: Visit<'_>) {
        for function in self.stubs.entries() {
            if let Some(measured) = measure(&self.form, &function) {
                visit(function, measured);
            }
        }
    }
}

/// A function as the release describes it.
///
/// # Errors
/// The cause why it does not.
fn describe(fde: &Fde<'_>, release: Release, form: &Form) -> Result<(Function, Measured), Cause> {
    let size = u32::try_from(fde.size()).map_err(|_| Cause::OffsetRange)?;
    let translated = translate::translate(fde, release)?;
    let cie = fde.cie();
    let function = Function {
        start: fde.start(),
        size,
        signal: cie.signal && release == Release::V2_47_50,
        pauth_key_b: cie.pauth_key_b,
        block: None,
        start_width: Some(FreType::for_start(size)),
        flexible: translated.flexible,
        rows: translated.rows,
    };
    if function.rows.len() as u64 > u64::from(form.version.max_rows()) {
        return Err(Cause::RowLimit);
    }
    let measured = measure(form, &function).ok_or(Cause::OffsetRange)?;
    Ok((function, measured))
}

/// The entry without rows that 2.47.50 writes for a signal frame that it cannot describe.
fn without_rows(fde: &Fde<'_>, release: Release) -> Option<Function> {
    let is_kept = fde.cie().signal && release == Release::V2_47_50;
    let size = u32::try_from(fde.size()).ok().filter(|_| is_kept)?;
    Some(Function {
        start: fde.start(),
        size,
        signal: true,
        pauth_key_b: fde.cie().pauth_key_b,
        block: None,
        start_width: Some(FreType::for_start(size)),
        flexible: false,
        rows: Vec::new(),
    })
}
