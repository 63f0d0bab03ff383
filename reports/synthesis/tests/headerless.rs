//! Forecasts for files without section headers are those of the same files with headers.
//!
//! The truth is each file with its headers. Its `.symtab` is hidden, because only headers lead to it. Three sizes
//! differ: without headers, all of an executable segment is code, `.debug_frame` is not found, and `.eh_frame` ends with its
//! terminator, after which linkers may write zeros.

use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Forecast, SynthesisError, forecast};
use sframe_validator::Version;
use sframe_validator::elf::{Elf, SHT_PROGBITS, SHT_SYMTAB, Segment};
use sframe_validator::write::elf::claims;

/// `PT_GNU_EH_FRAME`.
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;

/// What becomes of a file in each release's default encoding.
fn forecasts(file: &[u8]) -> Vec<Result<Forecast, SynthesisError>> {
    let elf = Elf::parse(file).expect("headers");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let in_eh_frame: Vec<_> = cfi.into_iter().filter(|cfi| cfi.name() == ".eh_frame").collect();
    let encodings = [
        Encoding::Smallest(Version::V1),
        Encoding::Smallest(Version::V2),
        Encoding::Smallest(Version::V3),
    ];
    let made = encodings.into_iter().map(|encoding| forecast(&elf, &in_eh_frame, encoding));
    made.map(|made| {
        made.map(|mut made| {
            (made.sizes.code, made.sizes.debug_frame, made.sizes.eh_frame) = (0, 0, 0);
            made
        })
    })
    .collect()
}

/// The file without `.symtab`, and without section headers; `None` if it has no CFI to which PT_GNU_EH_FRAME leads.
fn both(mut file: Vec<u8>) -> Option<(Vec<u8>, Vec<u8>)> {
    let elf = Elf::parse(&file).ok().filter(|elf| elf.abi().is_some())?;
    let is_cfi = |segment: &Segment| segment.p_type == PT_GNU_EH_FRAME;
    elf.segments().iter().find(|segment| is_cfi(segment))?;
    let tables = elf.sections().iter().filter(|section| section.sh_type == SHT_SYMTAB);
    let tables: Vec<u32> = tables.map(|section| section.index).collect();
    for index in tables {
        claims::section(&mut file, index, |header| header.sh_type = SHT_PROGBITS)?;
    }
    let mut bare = file.clone();
    claims::no_sections(&mut bare)?;
    Some((file, bare))
}

#[test]
fn forecasts_do_not_need_section_headers() {
    let mut paths = sframe_corpus::golden(&["exe", "so"]);
    paths.extend(sframe_corpus::files_of_roots());
    let mut count = 0;
    for path in paths {
        let Some((whole, bare)) = both(std::fs::read(&path).expect("readable")) else { continue };
        assert_eq!(forecasts(&bare), forecasts(&whole), "{}", path.display());
        count += 1;
    }
    assert!(count >= 26, "{count}");
}
