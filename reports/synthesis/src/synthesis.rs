//! From a file's CFI to a section.

use core::cell::Cell;
use core::fmt;

use sframe_oracle::cfi::{Cfi, Fde, RowContext};
use sframe_validator::elf::Elf;
use sframe_validator::section::Section;
use sframe_validator::write::BuildError;
use sframe_validator::{Abi, Version};

use crate::account::{Account, account_of};
use crate::encode::Form;
use crate::gnu::{self, Release};
use crate::measure::Visit;
use crate::model::{Function, Loss, Losses};
use crate::place::{Place, Written};
use crate::smallest;
use crate::source::Source;

/// How a section is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The fewest bytes with the same meaning.
    Smallest(Version),
    /// As GNU as and ld of a release write it.
    Gnu(Release),
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Encoding; 6] = [
        Encoding::Gnu(Release::V2_40),
        Encoding::Gnu(Release::V2_44),
        Encoding::Gnu(Release::V2_47_50),
        Encoding::Smallest(Version::V1),
        Encoding::Smallest(Version::V2),
        Encoding::Smallest(Version::V3),
    ];

    /// The version of the section.
    #[must_use]
    pub const fn version(self) -> Version {
        match self {
            Encoding::Smallest(version) => version,
            Encoding::Gnu(release) => release.version(),
        }
    }

    /// Whether it exists for the ABI: version 1 has no s390x.
    #[must_use]
    pub const fn supports(self, abi: Abi) -> bool {
        match self {
            Encoding::Smallest(version) => !matches!((version, abi), (Version::V1, Abi::S390x)),
            Encoding::Gnu(release) => release.supports(abi),
        }
    }
}

/// A section made from CFI, or from another section.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The section.
    pub written: Written,
    /// The account of its bytes.
    pub account: Account,
    /// The functions that it describes, in the order in which they were added.
    pub functions: Vec<Function>,
    /// The functions that it leaves out, by cause.
    pub losses: Vec<Loss>,
}

/// Why no section was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SynthesisError {
    /// SFrame is not defined for the machine.
    Machine,
    /// The version has no variant for the ABI.
    VersionOfAbi,
    /// The machine's code is not examined.
    NoCodeWitness,
    /// The format's fields cannot hold the section.
    Build(BuildError),
    /// The section that was made cannot be read back.
    Section(sframe_validator::section::Error),
}

impl core::error::Error for SynthesisError {}

impl fmt::Display for SynthesisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SynthesisError::Machine => f.write_str("SFrame is not defined for this machine"),
            SynthesisError::VersionOfAbi => f.write_str("this version is not defined for the ABI"),
            SynthesisError::NoCodeWitness => f.write_str(
                "the code of this machine is not examined, only that of AMD64 and AArch64",
            ),
            SynthesisError::Build(error) => error.fmt(f),
            SynthesisError::Section(error) => error.fmt(f),
        }
    }
}

/// Makes a section from a file's CFI, in the order of [`Cfi::load_all`], for a place in that file.
///
/// # Errors
/// [`SynthesisError`].
pub fn synthesize(
    elf: &Elf<'_>,
    cfi: &[Cfi<'_>],
    encoding: Encoding,
    place: Place,
) -> Result<Synthesis, SynthesisError> {
    let source = Source::new(elf, cfi).ok_or(SynthesisError::Machine)?;
    let plan = Plan::new(&source, encoding, place)?;
    let mut functions = Vec::new();
    let losses = plan.each(&mut |function, _| functions.push(function));
    finish(&plan.form, functions, losses)
}

/// Writes a section, and reads it back.
pub(crate) fn finish(
    form: &Form,
    functions: Vec<Function>,
    losses: Vec<Loss>,
) -> Result<Synthesis, SynthesisError> {
    let written = form.write(&functions).map_err(SynthesisError::Build)?;
    let section = Section::parse(&written.bytes, written.placement(form.place))
        .map_err(SynthesisError::Section)?;
    let account = account_of(&section).map_err(SynthesisError::Section)?;
    Ok(Synthesis { account, functions, losses, written })
}

/// What a section is made from, and how.
pub(crate) struct Plan<'s, 'e, 'c> {
    source: &'s Source<'e, 'c>,
    encoding: Encoding,
    pub(crate) form: Form,
}

impl<'s, 'e, 'c> Plan<'s, 'e, 'c> {
    pub(crate) fn new(
        source: &'s Source<'e, 'c>,
        encoding: Encoding,
        place: Place,
    ) -> Result<Self, SynthesisError> {
        if !encoding.supports(source.abi) {
            return Err(SynthesisError::VersionOfAbi);
        }
        let form = match encoding {
            Encoding::Smallest(version) => smallest::form(version, source.abi, place),
            Encoding::Gnu(release) => gnu::form(release, source.abi, place),
        };
        Ok(Plan { source, encoding, form })
    }

    /// Passes each function of the section to `visit`. Returns those that it leaves out.
    pub(crate) fn each(&self, visit: Visit<'_>) -> Vec<Loss> {
        let mut functions = self.functions();
        let mut losses = Losses::default();
        let count = Cell::new(0_u64);
        let visit = &mut |function: Function, measured| {
            count.set(count.get() + 1);
            visit(function, measured);
        };
        self.source.each(|fde, context| functions.visit((fde, context), &mut losses, visit));
        functions.finish(count.get(), &losses, visit);
        losses.sorted()
    }

    /// Makes the functions one after the other.
    pub(crate) fn functions(&self) -> Functions<'s, 'e, 'c> {
        match self.encoding {
            Encoding::Smallest(_) => Functions::Smallest(self.source, self.form),
            Encoding::Gnu(release) => {
                Functions::Gnu(gnu::Functions::new(self.source, release, self.form))
            }
        }
    }
}

/// The functions of a section, which must be visited in the order of the file.
pub(crate) enum Functions<'s, 'e, 'c> {
    Smallest(&'s Source<'e, 'c>, Form),
    Gnu(gnu::Functions<'s, 'e, 'c>),
}

impl<'c> Functions<'_, '_, 'c> {
    /// Passes a function to `visit`, or adds it to the losses.
    pub(crate) fn visit(
        &mut self,
        function: (&Fde<'c>, &mut RowContext),
        losses: &mut Losses,
        visit: Visit<'_>,
    ) {
        match self {
            Functions::Smallest(source, form) => {
                smallest::visit(source, form, function, losses, visit);
            }
            Functions::Gnu(functions) => functions.visit(function, losses, visit),
        }
    }

    /// Passes the functions that come last to `visit`. `passed` is the number of functions that it got before.
    pub(crate) fn finish(&self, passed: u64, losses: &Losses, visit: Visit<'_>) {
        if let Functions::Gnu(functions) = self
            && (passed > 0 || functions.are_padded(losses))
        {
            functions.finish(visit);
        }
    }
}
