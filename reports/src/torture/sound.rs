//! Sound sections of every version and machine: which of them a reader reads says what it knows.

use sframe_validator::builder::{FunctionBuilder, SectionBuilder};
use sframe_validator::unwind::{Cfa, Frame, Recovery};
use sframe_validator::{Abi, Version};

use super::cases::{Case, Duty, Kind, of_section};

/// One case for each version and machine that the version is defined for.
pub(super) fn cases() -> Vec<Case> {
    let formats = [Version::V1, Version::V2, Version::V3]
        .into_iter()
        .flat_map(|version| Abi::ALL.map(|abi| (version, abi)))
        .filter(|format| *format != (Version::V1, Abi::S390x));
    let case = |(version, abi): (Version, Abi)| {
        let section = two_functions(version, abi).build().ok()?.bytes;
        let name = format!("sound/v{}-{}", version.number(), abi.name().to_lowercase());
        Some(of_section(&name, Kind::Sound, Duty::Read, &section))
    };
    formats.filter_map(case).collect()
}

/// Two functions of 16 bytes: one saves its registers 4 bytes from its start, one never does.
pub(super) fn two_functions(version: Version, abi: Abi) -> SectionBuilder {
    let mut builder = SectionBuilder::new(version, abi);
    let first = FunctionBuilder::new(0x1000, 16).row(0, at_entry(abi)).row(4, saved(abi));
    builder.function(first).function(FunctionBuilder::new(0x1010, 16).row(0, at_entry(abi)));
    builder
}

/// What holds at a function's entry.
pub(super) fn at_entry(abi: Abi) -> Frame {
    let (offset, ra) = match abi {
        Abi::Amd64 => (8, Recovery::AtCfa(-8)),
        Abi::S390x => (160, Recovery::Unchanged),
        Abi::Aarch64Big | Abi::Aarch64Little => (0, Recovery::Unchanged),
    };
    frame(abi, offset, ra, Recovery::Unchanged)
}

/// What holds once the registers are saved, as each ABI's compilers save them.
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
