//! The forecast in the record of a file.

use sframe_record::{Forecast, Loss, Parts, Predicted, Sizes};
use sframe_synthesis::{self as synthesis, Account, Encoding, SynthesisError};
use sframe_validator::elf::Elf;

use super::coverage::place;
use super::elf_type;
use super::names::Names;

/// The identifier of an encoding: `gnu-2.44`, or `smallest-v3`.
pub fn encoding_name(encoding: Encoding) -> String {
    match encoding {
        Encoding::Gnu(release) => format!("gnu-{}", release.name()),
        Encoding::Smallest(version) => format!("smallest-v{}", version.number()),
    }
}

/// The sizes of a file, without any section.
pub(crate) fn forecast(elf: &Elf<'_>) -> Forecast<'static> {
    let synthesis::Sizes {
        file,
        loaded_file,
        loaded_memory,
        code,
        eh_frame,
        eh_frame_hdr,
        debug_frame,
        orc,
        sframe,
    } = synthesis::Sizes::of(elf);
    Forecast {
        machine: elf.abi().map(|abi| abi.name().into()),
        elf_type: Some(elf_type(elf)),
        sizes: Sizes {
            file,
            loaded_file,
            loaded_memory,
            code,
            eh_frame,
            eh_frame_hdr,
            debug_frame,
            orc,
            sframe,
        },
        gc_sections: false,
        without_cfi: 0,
        sections: Vec::new(),
    }
}

/// A section that would be written, or why it is not known.
pub(crate) fn predicted(
    encoding: Encoding,
    section: Result<synthesis::Forecast, SynthesisError>,
    names: &Names<'_, '_>,
) -> Predicted<'static> {
    let encoding = encoding_name(encoding).into();
    match section {
        Ok(section) => Predicted {
            encoding,
            losses: section.losses.iter().map(|lost| loss(lost, names)).collect(),
            ..section.section.map_or_else(Predicted::default, account)
        },
        Err(error) => unknown(encoding, &error.to_string()),
    }
}

/// A section that is not known.
pub(crate) fn unknown(encoding: sframe_record::Text<'static>, reason: &str) -> Predicted<'static> {
    Predicted {
        encoding,
        unknown: 1,
        reason: Some(reason.to_owned().into()),
        ..Predicted::default()
    }
}

/// The bytes of a section by what they hold.
pub const fn parts(account: &Account) -> Parts {
    let parts = account.parts;
    Parts {
        header: parts.header.saturating_add(parts.auxiliary_header),
        index: parts.index,
        attributes: parts.attributes,
        row_starts: parts.row_starts,
        row_info: parts.row_info,
        data_words: parts.data_words,
        unused: parts.unused,
    }
}

fn account(account: Account) -> Predicted<'static> {
    Predicted {
        files: 1,
        bytes: account.size,
        parts: parts(&account),
        functions: account.functions,
        flexible: account.flexible,
        rows: account.rows,
        described_bytes: account.code,
        repeated: account.shareable,
        ..Predicted::default()
    }
}

fn loss(loss: &synthesis::Loss, names: &Names<'_, '_>) -> Loss<'static> {
    Loss {
        cause: loss.cause.name().into(),
        functions: loss.functions,
        bytes: loss.bytes,
        examples: vec![place(loss.example.start, loss.example.bytes(), names)],
    }
}
