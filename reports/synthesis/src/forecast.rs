//! What SFrame would cost a file, and what it would lose.

use sframe_oracle::cfi::Cfi;
use sframe_validator::elf::{Elf, ElfKind, PT_LOAD, SHT_NOBITS};

use crate::account::Account;
use crate::gnu::Release;
use crate::model::Loss;
use crate::place::Place;
use crate::source::Source;
use crate::synthesis::{Encoding, Plan, SynthesisError};
use crate::tally::Tally;

/// What SFrame would cost a file, and what it would lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// How the section is encoded.
    pub encoding: Encoding,
    /// The account of the section; `None` if the file would have none, because nothing would be in it.
    pub section: Option<Account>,
    /// The functions that the section leaves out, by cause.
    pub losses: Vec<Loss>,
    /// The sizes with which the section is compared.
    pub sizes: Sizes,
}

/// The sizes of a file's parts in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sizes {
    /// The file.
    pub file: u64,
    /// The bytes that are loaded from the file; 0 for a relocatable object.
    pub loaded_file: u64,
    /// The memory into which they are loaded, with zeros; 0 for a relocatable object.
    pub loaded_memory: u64,
    /// The bytes of executable sections or segments.
    pub code: u64,
    /// `.eh_frame`, all sections of that name.
    pub eh_frame: u64,
    /// `.eh_frame_hdr`.
    pub eh_frame_hdr: u64,
    /// `.debug_frame`, compressed or not, which is not loaded.
    pub debug_frame: u64,
    /// ORC tables of kernels and modules: `.orc_unwind` and `.orc_unwind_ip`.
    pub orc: u64,
    /// The SFrame sections that the file has already.
    pub sframe: u64,
}

impl Sizes {
    /// Measures a file.
    #[must_use]
    pub fn of(elf: &Elf<'_>) -> Sizes {
        let named = |name: &[u8]| {
            let sections = elf.sections().iter().filter(|section| section.name.bytes() == name);
            sum(sections
                .filter(|section| section.sh_type != SHT_NOBITS)
                .map(|section| section.size))
        };
        let loaded = || elf.segments().iter().filter(|segment| segment.p_type == PT_LOAD);
        Sizes {
            file: elf.data().len() as u64,
            loaded_file: sum(loaded().map(|segment| segment.file_size)),
            loaded_memory: sum(loaded().map(|segment| segment.memory_size)),
            code: sum(elf.executable().map(|(_, size)| size)),
            eh_frame: named(b".eh_frame"),
            eh_frame_hdr: named(b".eh_frame_hdr"),
            debug_frame: named(b".debug_frame").saturating_add(named(b".zdebug_frame")),
            orc: named(b".orc_unwind").saturating_add(named(b".orc_unwind_ip")),
            sframe: sum(elf.sframe_sections().map(|section| section.size)),
        }
    }
}

fn sum(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

/// Predicts the section that a file with this CFI, in the order of [`Cfi::load_all`], would have.
///
/// # Errors
/// [`SynthesisError`].
pub fn forecast(
    elf: &Elf<'_>,
    cfi: &[Cfi<'_>],
    encoding: Encoding,
) -> Result<Forecast, SynthesisError> {
    let source = Source::new(elf, cfi).ok_or(SynthesisError::Machine)?;
    let plan = Plan::new(&source, encoding, Place::of(elf))?;
    let mut tally = Tally::new(plan.form);
    let losses = plan.each(&mut |function, measured| {
        tally.add(&function, &measured);
    });
    Ok(Forecast::new(elf, encoding, tally, losses))
}

impl Forecast {
    /// Leaves out the section if the linker does with `--gc-sections`.
    // observed: GNU ld 2.40 and 2.44 discard every `.sframe` section, on AMD64 and AArch64, as nothing refers to it.
    pub(crate) fn collect_sections(&mut self) {
        if matches!(self.encoding, Encoding::Gnu(release) if release < Release::V2_47_50) {
            self.section = None;
        }
    }

    pub(crate) fn new(
        elf: &Elf<'_>,
        encoding: Encoding,
        tally: Tally,
        losses: Vec<Loss>,
    ) -> Forecast {
        let account = tally.finish();
        // observed: GNU as writes a header alone if it cannot describe any function.
        let is_header = matches!(encoding, Encoding::Gnu(_))
            && elf.kind() == ElfKind::Relocatable
            && !losses.is_empty();
        let exists = account.functions > 0 || is_header;
        Forecast { encoding, section: exists.then_some(account), losses, sizes: Sizes::of(elf) }
    }
}
