//! Sound sections of every version and machine. The ones that a reader accepts show which formats it knows.

use sframe_validator::section::Flags;
use sframe_validator::unwind::{Cfa, Frame, Recovery};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Version};

use super::file::of_section;
use crate::torture::case::{Case, Duty, Kind};

/// One case for each version and each machine that it is defined for. Version 2 has two: function starts as GNU as 2.44
/// writes them, and as errata 1 defines them.
pub(super) fn cases() -> Vec<Case> {
    let formats = [
        ("v1", Version::V1, Flags::SORTED),
        ("v2", Version::V2, Flags::SORTED),
        ("v2-pcrel", Version::V2, Flags::SORTED | Flags::PCREL),
        ("v3", Version::V3, Flags::SORTED | Flags::PCREL),
    ];
    let case = |(name, version, flags): (&str, Version, u8), abi: Abi| {
        let mut builder = two_functions(version, abi);
        let section = builder.with(|s| s.header.flags = flags).build().ok()?.bytes;
        let name = format!("sound/{name}-{}", abi.name().to_lowercase());
        of_section(&name, Kind::Sound, Duty::Read, &section)
    };
    let defined = |version, abi| (version, abi) != (Version::V1, Abi::S390x);
    let machines = |version| Abi::ALL.into_iter().filter(move |abi| defined(version, *abi));
    let cases = formats
        .into_iter()
        .flat_map(|format| machines(format.1).filter_map(move |abi| case(format, abi)));
    cases.collect()
}

/// An empty section. In version 2, function starts count from the section and not from their fields, as most readers
/// expect.
pub(super) fn builder(version: Version, abi: Abi) -> SectionBuilder {
    let mut builder = SectionBuilder::new(version, abi);
    if version == Version::V2 {
        builder.with(|s| s.header.flags = Flags::SORTED);
    }
    builder
}

/// Two functions of 16 bytes. The first saves its registers at 4 bytes from its start, the second never does.
pub(super) fn two_functions(version: Version, abi: Abi) -> SectionBuilder {
    let mut builder = builder(version, abi);
    let first = FunctionBuilder::new(0x1000, 16).row(0, at_entry(abi)).row(4, saved(abi));
    builder.function(first).function(FunctionBuilder::new(0x1010, 16).row(0, at_entry(abi)));
    builder
}

/// The row at a function's entry.
pub(super) fn at_entry(abi: Abi) -> Frame {
    let (offset, ra) = match abi {
        Abi::Amd64 => (8, Recovery::AtCfa(-8)),
        Abi::S390x => (160, Recovery::Unchanged),
        Abi::Aarch64Big | Abi::Aarch64Little => (0, Recovery::Unchanged),
    };
    frame(abi, offset, ra, Recovery::Unchanged)
}

/// The row after the registers have been saved, where each ABI's compilers save them.
fn saved(abi: Abi) -> Frame {
    let (offset, ra, fp) = match abi {
        Abi::Amd64 => (16, -8, -16),
        Abi::S390x => (320, -48, -72),
        Abi::Aarch64Big | Abi::Aarch64Little => (16, -8, -16),
    };
    frame(abi, offset, Recovery::AtCfa(ra), Recovery::AtCfa(fp))
}

fn frame(abi: Abi, offset: i64, ra: Recovery, fp: Recovery) -> Frame {
    let cfa = Cfa::RegisterOffset { register: abi.sp(), offset };
    Frame { cfa, ra, fp, ra_signed: false }
}
