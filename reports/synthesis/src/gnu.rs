//! The section that GNU as and ld of a release write. All of it was observed by running them.

mod accepted;
mod frames;
mod plt;
mod translate;

use sframe_oracle::cfi::Fde;
use sframe_oracle::coverage::Cause;
use sframe_validator::section::FreType;
use sframe_validator::{Abi, Version};

use crate::encode::Form;
use crate::model::{Function, Losses};
use crate::place::Place;
use crate::source::{Source, lose};

/// A release of GNU binutils, one for each version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// 2.40, which writes version 1.
    V2_40,
    /// 2.44, which writes version 2 with start fields relative to the section.
    V2_44,
    /// 2.47.50, which writes version 3.
    V2_47_50,
}

impl Release {
    /// Every release, oldest first.
    pub const ALL: [Release; 3] = [Release::V2_40, Release::V2_44, Release::V2_47_50];

    /// The format's version that it writes.
    #[must_use]
    pub const fn version(self) -> Version {
        match self {
            Release::V2_40 => Version::V1,
            Release::V2_44 => Version::V2,
            Release::V2_47_50 => Version::V3,
        }
    }

    /// Its number: `2.40`, `2.44` or `2.47.50`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Release::V2_40 => "2.40",
            Release::V2_44 => "2.44",
            Release::V2_47_50 => "2.47.50",
        }
    }

    /// Whether it writes SFrame for the machine.
    #[must_use]
    pub const fn supports(self, abi: Abi) -> bool {
        !matches!((self, abi), (Release::V2_40 | Release::V2_44, Abi::S390x))
    }

    pub(crate) fn form(self, abi: Abi, place: Place) -> Form {
        Form {
            version: self.version(),
            abi,
            place,
            without_lowest: self != Release::V2_47_50,
            pcrel: self == Release::V2_47_50,
            // observed: the assembler for s390x pads the sections of objects.
            padded: abi == Abi::S390x && place == Place::Relocatable,
        }
    }
}

/// The causes about which the translation decides. [`sframe_oracle::coverage::examine`] finds what keeps a function out of a
/// correct section of a version. GNU as describes some of these functions nevertheless, most of them wrongly.
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

/// The functions that the release describes.
pub(crate) fn functions(
    source: &Source<'_, '_>,
    release: Release,
    form: &Form,
) -> (Vec<Function>, Losses) {
    let (mut found, mut losses) = (Vec::new(), Losses::default());
    let mut stubs = plt::Tables::of(source, release);
    source.each(|fde, context| {
        let cause = source.cause(fde, release.version(), context);
        // The linker writes these itself.
        if stubs.are_in(fde) {
            return;
        }
        let function = match cause.filter(|cause| !DECIDED.contains(cause)) {
            Some(cause) => Err(cause),
            None => describe(source, fde, release, form).map_err(|own| cause.unwrap_or(own)),
        };
        match function {
            Ok(function) => found.push(function),
            Err(cause) => {
                lose(&mut losses, fde, cause);
                found.extend(without_rows(fde, cause, release));
            }
        }
    });
    found.extend(stubs.entries());
    (found, losses)
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
) -> Result<Function, Cause> {
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
    if form.can_express(&function) { Ok(function) } else { Err(Cause::RaExpression) }
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
