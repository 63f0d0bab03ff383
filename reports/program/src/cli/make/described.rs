//! The code that a made section does not describe, and why a section would describe none.

use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::compare;
use sframe_record::numbers::{counted, grouped, percent};
use sframe_synthesis::{Loss, Place, synthesize_code};
use sframe_validator::elf::{Elf, SHT_NOBITS, SectionHeaders};
use sframe_validator::{Abi, Version};

use crate::cli::args::make::Witness;

/// `SHF_EXECINSTR`.
const EXECUTABLE: u64 = 4;

/// `not described: 2,540 bytes of 87,886 (2.8 %), which are padding or have no CFI`. The padding between functions has no CFI; if there is more code
/// without CFI, and the machine code describes more than CFI, `--from code` is named.
pub(super) fn without_cfi(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Option<String> {
    let bytes = compare(elf, &[], cfi, |_| ()).bytes;
    let (without, all) = (bytes.neither, bytes.total());
    let text = format!(
        "not described: {} of {} ({}), which are padding or have no CFI",
        counted(without, "byte"),
        grouped(all),
        percent(without, all)
    );
    let by_code = (without > all / 10).then(|| described_by_code(elf, cfi)).flatten();
    let is_more = |by_code: &u64| *by_code > all.saturating_sub(without);
    let instead = by_code.filter(is_more).map(|by_code| {
        format!("; --from code describes {} ({})", grouped(by_code), percent(by_code, all))
    });
    (without > 0).then(|| text + &instead.unwrap_or_default())
}

/// The bytes that a section made from machine code describes.
fn described_by_code(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Option<u64> {
    let made = synthesize_code(elf, cfi, Version::V3, Place::of(elf)).ok()?;
    Some(made.code.saturating_sub(made.unknown))
}

/// Why no function can be described: what the file lacks.
pub(super) fn nothing(elf: &Elf<'_>, from: Witness, losses: &[Loss]) -> String {
    let why = lacking(elf, from, losses);
    format!("the section would describe no function: {why}")
}

fn lacking(elf: &Elf<'_>, from: Witness, losses: &[Loss]) -> String {
    let code: u64 = elf.executable().map(|(_, size)| size).fold(0, u64::saturating_add);
    let is_code = |flags: u64| flags & EXECUTABLE != 0;
    let mut sections = elf.sections().iter();
    if let Some(loss) = losses.first() {
        let all = losses.iter().map(|loss| loss.functions).fold(0, u64::saturating_add);
        return format!(
            "none of {} in its CFI can be, the first because of {}",
            counted(all, "function"),
            loss.cause.name()
        );
    }
    if sections.any(|s| is_code(s.flags) && s.sh_type == SHT_NOBITS && s.size > 0) {
        return "the file has no code or CFI of its own, like a debug file; use the program or library to which it belongs"
            .to_owned();
    }
    if code == 0 && elf.sections().iter().any(|s| s.name.bytes().starts_with(b".gnu.lto_")) {
        return "the object has no machine code before the link (LTO); use the linked file, or compile with -ffat-lto-objects or -fno-lto"
            .to_owned();
    }
    if code == 0 {
        return "the file has no code".to_owned();
    }
    if elf.section_headers() != SectionHeaders::Listed {
        return "the file has no section headers, and neither PT_GNU_EH_FRAME nor PT_DYNAMIC leads to CFI or symbols".to_owned();
    }
    let code = counted(code, "byte");
    match (from, elf.abi()) {
        (Witness::Cfi, Some(Abi::S390x) | None) => format!("{code} of code have no CFI"),
        (Witness::Cfi, _) => {
            format!(
                "{code} of code have no CFI; --from code describes what the machine code proves"
            )
        }
        (Witness::Code, _) => format!(
            "neither symbols nor CFI say where functions start in {code} of code, or no frame is known"
        ),
    }
}
